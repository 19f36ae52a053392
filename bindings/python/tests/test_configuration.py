# SPDX-License-Identifier: GPL-2.0-only
"""Options that all programs share: files of options, logs, versions, and `--name value`."""

import logging
import os
import re

import pytest
from conftest import REPOSITORY

import distributed_training as dt
from distributed_training import error_stream

SMALL = ["--ranks=4", "--iterations=1", "--warmup=0", "--batch=4"]


def get_numbers(document):
    """What a run has measured, without its cost."""
    cost = ("cpu_s", "packet_hops_per_cpu_s", "peak_memory_MiB", "configuration")
    return {name: value for name, value in document.items() if name not in cost}


def test_saved_options_repeat_the_run(tmp_path, program, program_json):
    file = tmp_path / "run.toml"
    options = [*SMALL, "--topology=fat-tree:k=4", "--straggler=1:1.5", "--straggler=2:2", "--RngRun=3"]
    options += ["--overlap=false", "--ns3::training::RdmaNic::AckInterval=4", "--compute-scale=0.5"]
    first = program_json("training-job", *options, f"--save-config={file}")
    text = file.read_text()
    assert text.startswith("# Options of training-job, of distributed-training ")
    assert sorted(line.split(" = ")[0] for line in text.splitlines()[1:]) == sorted(
        ["batch", "compute-scale", "iterations", "json", "overlap", "ranks", "straggler", "topology"]
        + ["warmup", "RngRun", '"ns3::training::RdmaNic::AckInterval"']
    )
    assert 'straggler = ["1:1.5", "2:2"]' in text and "overlap = false" in text
    second = program_json("training-job", f"--config={file}")
    assert get_numbers(second) == get_numbers(first)
    changed = ("config", "save-config")
    for name, value in first["configuration"].items():
        assert name in changed or second["configuration"][name] == value, name
    # What is saved of a file and the command line together is what ran.
    again = tmp_path / "again.toml"
    third = program_json("training-job", f"--config={file}", "--ranks=3", f"--save-config={again}")
    assert third["configuration"]["ranks"] == 3
    assert again.read_text() == text.replace("ranks = 4", "ranks = 3").replace(
        text.splitlines()[0], again.read_text().splitlines()[0]
    )


@pytest.mark.parametrize(
    "name, words",
    [
        ("gradient-codec", ["--list"]),
        ("job-life", ["--days=1", "--RngRun=2"]),
        ("shared-cluster", [f"--jobs={REPOSITORY}/examples/shared-cluster.toml", "--ranks=16"]),
        ("switch-barrier", ["--ranks=3", "--rounds=5"]),
    ],
)
def test_saved_options_print_the_same(tmp_path, program, name, words):
    """Programs of all kinds; test_experiments compares the numbers of the rest."""
    outputs = []
    for options in ([*words, f"--save-config={tmp_path}/run.toml"], [f"--config={tmp_path}/run.toml"]):
        process = program(name, *options)
        assert (process.returncode, process.stderr) == (0, "")
        outputs.append(re.sub("(?m)^cost of the simulation: .*$", "", process.stdout))
    assert outputs[0] == outputs[1] != ""


def test_the_command_line_prevails(tmp_path, program_json):
    file = tmp_path / "run.toml"
    file.write_text('ranks = 3\nstraggler = ["1:1.5", "2:3"]\ncompute-scale = 2\nRngRun = 2\n')
    options = ["--iterations=1", "--warmup=0", "--batch=4", f"--config={file}"]
    configuration = program_json("training-job", *options)["configuration"]
    assert (configuration["ranks"], configuration["straggler"]) == (3, "1:1.5;2:3")
    assert (configuration["compute-scale"], configuration["RngRun"]) == (2, "2")
    options += ["--straggler=0:4", "--ranks", "2", "--RngRun=5"]
    configuration = program_json("training-job", *options)["configuration"]
    assert (configuration["ranks"], configuration["straggler"]) == (2, "0:4")
    assert configuration["RngRun"] == "5"
    other = tmp_path / "other.toml"  # of two files the later one
    other.write_text("ranks = 1")
    configuration = program_json("training-job", "--straggler=0:2", *options[:4], f"--config={other}")
    configuration = configuration["configuration"]
    assert (configuration["ranks"], configuration["compute-scale"]) == (1, 2)


@pytest.mark.parametrize(
    "text, refusal",
    [
        ("ranks = 4\nranx = 2", "{}:2: unknown option --ranx; did you mean --ranks?"),
        ("\n\nranks = 0", "{}:3: --ranks=0 (allowed: 1 to 1048576)"),
        ('topology = "fat-tre:k=4"', "{}:1: --topology=fat-tre:k=4; did you mean fat-tree?"),
        ("ranks = [4, ]\n[job]\nranks = 2", "{}:2: job (allowed: a text in quotes"),
        ("ranks = 1979-05-27", "{}:1: ranks (allowed: a text in quotes"),
        ("ranks = 4\nranks = 5", "{}:2: "),
        ("ranks = ", "{}:1: "),
        ('config = "other.toml"', "{}:1: config (allowed: on the command line)"),
        ("help = true", "{}:1: help (allowed: on the command line)"),
        ('PrintGroup = "x"', "{}:1: PrintGroup (allowed: on the command line)"),
        ('"a=b" = 1', "{}:1: a=b (allowed: "),
        ('"ns3::training::RdmaNic::No" = 1', "{}:1: --ns3::training::RdmaNic::No: type "),
        (None, "--config={} cannot be read (allowed: a TOML file)"),
    ],
)
def test_wrong_files_are_refused_with_their_line(tmp_path, program, text, refusal):
    file = tmp_path / "run.toml"
    saved = tmp_path / "saved.toml"
    if text is not None:
        file.write_text(text)
    process = program("training-job", f"--config={file}", f"--save-config={saved}")
    assert (process.returncode, process.stdout) == (2, "")
    assert process.stderr.startswith(f"training-job: {refusal.format(file)}"), process.stderr
    assert process.stderr.count("\n") == 1 and not saved.exists()


def test_no_other_file_is_overwritten(tmp_path, program):
    file = tmp_path / "mine.toml"
    file.write_text("ranks = 4\n")
    process = program("training-job", *SMALL, f"--save-config={file}")
    assert process.returncode == 2 and "saved options" in process.stderr
    assert file.read_text() == "ranks = 4\n"
    # Refused options are not what ran.
    process = program("training-job", "--tensor=2", f"--save-config={tmp_path}/none.toml")
    assert process.returncode == 2 and not (tmp_path / "none.toml").exists()


def test_programs_tell_their_version(program, build):
    version = (REPOSITORY / "VERSION").read_text().strip()
    for name in build.examples:
        for option in ("--version", "--PrintVersion"):
            process = program(name, option)
            assert process.returncode == 0, process.stderr
            pattern = rf"distributed-training {version} \(commit ([0-9a-f]+|unknown)\), ns-(.*)\n"
            assert re.fullmatch(pattern, process.stdout)[2].startswith(build.ns3_version)
        assert program(name, "-h").stdout == program(name, "--help").stdout != ""


def test_values_may_follow_names(program, program_json):
    joined = ["--bytes=1K", "--ranks=3", "--verify=true", "--strict", "--loss=0", "--RngRun=2"]
    apart = [word for words in joined for word in words.split("=")]
    documents = [program_json("collective-benchmark", *words) for words in (joined, apart)]
    assert documents[0]["configuration"] == documents[1]["configuration"]
    assert documents[0]["rows"] == documents[1]["rows"]
    assert program("training-job", "--help", "topology").stdout == (
        program("training-job", "--help=topology").stdout
    )
    for words, refusal in {
        ("--strict", "maybe"): "unexpected argument 'maybe'",
        ("--ranks",): "--ranks without value (allowed: 1 to 1048576)",
        ("--ranks", "--strict"): "--ranks without value (allowed: 1 to 1048576)",
        ("--ranks", "-4"): "--ranks=-4 (allowed: 1 to 1048576)",
        ("--ranks=2", "3"): "unexpected argument '3'",
        ("--colour", "red"): "unknown option --colour",
    }.items():
        process = program("collective-benchmark", *words)
        assert process.returncode == 2, words
        assert process.stderr.startswith(f"collective-benchmark: {refusal}"), process.stderr


def test_logs_reach_python(caplog):
    """Function calls and levels below info are debugging; errors of the program are not logs."""
    words = {"ranks": 2, "bytes": "1M", "warmup": 0, "loss": 0.01}
    quiet = dt.CollectiveBenchmark(**words).run()
    assert caplog.records == []
    with caplog.at_level(logging.DEBUG, "distributed_training"):
        loud = dt.CollectiveBenchmark(**words, log=["RdmaPacketMaker=logic"]).run()
        assert loud.rows["time_us"].equals(quiet.rows["time_us"])
        messages = [record.getMessage() for record in caplog.records]
        assert any(re.fullmatch(r"\+\S+s \d+ \[LOGIC\] .* sends packet \d+ again", each) for each in messages)
        assert {(record.name, record.levelno) for record in caplog.records} == {
            ("distributed_training", logging.DEBUG)
        }
        caplog.clear()
        errors = error_stream.ErrorStream(progress=False)
        with errors:
            os.write(errors.for_child, b"+0.5s -1 X:f(): [WARN ] late\n+1s 0 [INFO ] two [ERROR]\nx: +1s\nrest")
            errors.started()
        assert errors.text == "x: +1s\nrest"
        levels = [(record.levelname, record.getMessage()[:6]) for record in caplog.records]
        assert levels == [("WARNING", "+0.5s "), ("INFO", "+1s 0 ")]


def test_log_components_print_in_every_build(program):
    options = ["--ranks=2", "--bytes=1M", "--warmup=0", "--loss=0.01"]
    plain = program("collective-benchmark", *options)
    for name in ("RdmaPacketMaker", "TrainingRdmaPacketMaker"):
        logged = program("collective-benchmark", *options, f"--log={name}=logic")
        assert logged.returncode == 0
        tables = [re.sub("(?m)^cost .*$", "", each.stdout) for each in (logged, plain)]
        assert tables[0] == tables[1]
        lines = logged.stderr.splitlines()
        assert lines and all(re.match(r"\+[0-9.e-]+s \d+ (\[LOGIC\]|\w+:\w+\(.*\)$)", each) for each in lines)
        assert any("sends packet" in line and "again" in line for line in lines)
    assert program("collective-benchmark", *options, "--log=RdmaPacketMaker=error").stderr == plain.stderr
    for text, refusal in {
        "RdmaPacketMaiker=info": "; did you mean RdmaPacketMaker? (allowed: ",
        "RdmaPacketMaker": " (allowed: COMPONENT=LEVEL; levels: error, warn, ",
        "RdmaPacketMaker=loud": " (allowed: COMPONENT=LEVEL; levels: error, warn, ",
    }.items():
        process = program("collective-benchmark", f"--log={text}")
        assert process.returncode == 2
        assert process.stderr.startswith(f"collective-benchmark: --log={text}{refusal}")
