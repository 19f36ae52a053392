# SPDX-License-Identifier: GPL-2.0-only
"""Output files: nothing else is overwritten, each is whole or absent, and each fails alone."""

import json
import os
import resource
import subprocess
from pathlib import Path

import pytest

from conftest import ask, get_line

WORKLOAD = Path(__file__).with_name("small-workload.csv")
JOB = ["training-job", f"--workload={WORKLOAD}", "--ranks=4", "--iterations=1", "--warmup=0"]
BENCHMARK = ["collective-benchmark", "--ranks=4", "--bytes=1K", "--warmup=0"]


def test_files_of_another_kind_are_not_overwritten(program, tmp_path):
    database = tmp_path / "d.sqlite"
    assert program(*JOB, f"--results={database}").returncode == 0
    workload = tmp_path / "w.csv"
    workload.write_bytes(WORKLOAD.read_bytes())
    text = tmp_path / "notes.json"
    text.write_text('{"hosts": "of the party"}', encoding="ascii")
    schedule, topology = tmp_path / "s.json", tmp_path / "t.json"
    assert program(*BENCHMARK, f"--export-schedule={schedule}").returncode == 0
    assert program(*BENCHMARK, f"--export-topology={topology}").returncode == 0
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    journal = Path("/dev/null-journal")
    journals = journal.exists()
    assert set(before) == {database, workload, text, schedule, topology}
    for options in [
        [f"--json={database}"],
        [f"--trace={database}"],
        [f"--export-topology={database}"],
        [f"--export-schedule={database}"],
        [f"--results={database}", f"--json={database}"],
        [f"--results={database}", f"--trace={tmp_path}/./d.sqlite"],
        [f"--json={tmp_path}/new", f"--trace={tmp_path}/new"],
        [f"--workload={workload}", f"--json={workload}"],
        [f"--workload=file:{workload}", f"--trace={workload}"],
        [f"--topology=file:{topology}", f"--export-topology={topology}"],
        [f"--schedule={schedule}", f"--export-schedule={schedule}"],
        [f"--json={text}"],
        [f"--json={schedule}"],
        [f"--trace={topology}"],
        ["--results=/dev/null"],
        [f"--export-topology={tmp_path}/new", "--workload=nosuch"],
        [f"--export-schedule={tmp_path}/new", "--fault=host9:down"],
    ]:
        line = get_line(program(*JOB, *options), 2)
        assert options[-1].split("=")[0].lstrip("-") in line or "nosuch" in line, line
        assert "(allowed: " in line
        assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert journal.exists() == journals


def test_files_of_the_same_kind_are_replaced_as_a_whole(program, tmp_path):
    target = tmp_path / "real.json"
    link = tmp_path / "link.json"
    link.symlink_to(target)
    for words in (JOB, BENCHMARK, JOB):
        assert program(*words, f"--json={link}").returncode == 0
        document = json.loads(target.read_text(encoding="ascii"))
        assert "state" not in document and document["version"]
    trace = tmp_path / "t.json"
    for _ in range(2):
        assert program(*JOB, f"--trace={trace}").returncode == 0
        assert json.loads(trace.read_text(encoding="ascii"))
    assert link.is_symlink()
    assert {path.name for path in tmp_path.iterdir()} == {"real.json", "link.json", "t.json"}
    assert program(*JOB, "--json=/dev/null").returncode == 0


def test_a_file_that_cannot_be_written_at_the_end(build, program, tmp_path):
    assert "/dev/full" in get_line(program(*JOB, "--json=/dev/full"), 1)
    path = tmp_path / "j.json"
    assert program(*BENCHMARK, f"--json={path}").returncode == 0
    before = path.read_bytes()
    process = subprocess.run(
        [build.get_program(JOB[0]), *JOB[1:], f"--json={path}"],
        env=build.get_environment(),
        capture_output=True,
        text=True,
        restore_signals=False,  # keeps SIGXFSZ ignored
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
    )
    assert str(path) in get_line(process, 1)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


def test_named_pipes_are_refused(build, program, tmp_path):
    """Opening one would wait for another program, in silence."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for option in [
        f"--workload={pipe}",
        f"--workload=file:{pipe}",
        f"--topology=file:{pipe}",
        f"--schedule={pipe}",
        f"--fault=@{pipe}",
        f"--extension={pipe}",
        f"--json={pipe}",
        f"--trace={pipe}",
        f"--results={pipe}",
        f"--export-topology={pipe}",
        f"--export-schedule={pipe}",
    ]:
        line = get_line(program(*JOB, option), 2)
        assert str(pipe) in line and "is a named pipe" in line and "(allowed: " in line
    process = subprocess.run(  # the pipe of a shell
        [build.get_program(JOB[0]), "--workload=/dev/stdin", *JOB[2:]],
        env=build.get_environment(),
        input=WORKLOAD.read_text(encoding="ascii"),
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr


def run_with_small_files(build, words, limit):
    """Run a program whose files may have so many bytes."""
    return subprocess.run(
        [build.get_program(words[0]), *words[1:]],
        env=build.get_environment(),
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )


@pytest.mark.parametrize(
    "option, limit", [("--trace=", 20000), ("--pcap=", 20000), ("--report=", 500000)]
)
def test_an_output_fails_alone(build, tmp_path, option, limit):
    """The others are whole, and the status says that one is missing."""
    words = [*JOB, f"{option}{tmp_path}/lost", f"--json={tmp_path}/j"]
    process = run_with_small_files(build, words, limit)
    assert "lost" in get_line(process, 1) and "mean" in process.stdout
    document = json.loads((tmp_path / "j").read_text(encoding="ascii"))
    assert len(document["iterations"]) == 1 and "state" not in document
    assert not list(tmp_path.glob("*.part"))


def test_a_database_fails_alone(build, tmp_path):
    words = [*JOB[:3], "--iterations=200", f"--results={tmp_path}/r", f"--json={tmp_path}/j"]
    process = run_with_small_files(build, words, 1 << 20)
    assert f"results file '{tmp_path}/r'" in get_line(process, 1)
    document = json.loads((tmp_path / "j").read_text(encoding="ascii"))
    assert len(document["iterations"]) == 201


def test_a_planted_link_is_not_followed(build, tmp_path):
    """The name under which an output grows can be guessed."""
    (tmp_path / "mine").write_text("mine", encoding="ascii")
    script = 'ln -s mine "$2/j.$$.part"; exec "$1" --ranks=2 --bytes=8 "--json=$2/j"'
    process = subprocess.run(
        ["sh", "-c", script, "sh", build.get_program("collective-benchmark"), str(tmp_path)],
        env=build.get_environment(),
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr
    assert (tmp_path / "mine").read_text(encoding="ascii") == "mine"
    assert not (tmp_path / "j").is_symlink() and json.loads((tmp_path / "j").read_bytes())["rows"]


@pytest.mark.parametrize("name", ["file:u.db", "file:mem?mode=memory", ":memory:"])
def test_names_of_databases_are_names_of_files(build, tmp_path, name):
    process = subprocess.run(
        [build.get_program("collective-benchmark"), *BENCHMARK[1:], f"--results={name}"],
        env=build.get_environment(),
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr
    assert os.listdir(tmp_path) == [name]
    assert ask(tmp_path / name, "SELECT state FROM run") == [("finished",)]


@pytest.mark.parametrize("words", [JOB, BENCHMARK], ids=lambda words: words[0])
def test_other_files_are_refused_before_output(program, tmp_path, words):
    (tmp_path / "text").write_text("text", encoding="ascii")
    for path in ("/dev/null", tmp_path / "text"):
        process = program(*words, f"--results={path}")
        assert "--results: results file" in get_line(process, 2) and process.stdout == ""


@pytest.mark.parametrize("option", ["json", "results", "trace", "report"])
def test_long_names_are_refused_at_the_start(program, tmp_path, option):
    process = program(*BENCHMARK, f"--{option}={tmp_path}/{'a' * 245}")
    assert get_line(process, 2).endswith(
        "the name has 245 bytes (allowed: up to 235, as it grows under a longer name)"
    )
    assert process.stdout == "" and not os.listdir(tmp_path)


@pytest.mark.parametrize(
    "words, ending, refused",
    [
        (JOB, "--check", "results"),
        (JOB, "--summary", "trace"),
        (JOB, "--export-goal={}/g", "json"),
        (JOB, "--print-topology", "json"),
        (BENCHMARK, "--print-schedule", "results"),
        (BENCHMARK, "--print-topology", "pcap"),
    ],
)
def test_outputs_that_would_not_be_written_are_refused(program, tmp_path, words, ending, refused):
    ending = ending.format(tmp_path)
    process = program(*words, ending, f"--{refused}={tmp_path}/x")
    name = ending.split("=")[0]
    allowed = f"{name} with --{refused} (allowed: without, as nothing is simulated)"
    assert get_line(process, 2) == f"{words[0]}: {allowed}"
    assert not os.listdir(tmp_path)
