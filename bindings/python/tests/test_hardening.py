# SPDX-License-Identifier: GPL-2.0-only
"""What programs do when the world is against them: full disks, signals, locks, hostile files."""

import errno
import json
import os
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import time
from pathlib import Path

import pytest

from conftest import ask, get_line, start, wait_for_cpu

WORKLOAD = Path(__file__).with_name("small-workload.csv")
JOB = ["training-job", f"--workload={WORKLOAD}", "--ranks=4", "--iterations=1", "--warmup=0"]
BENCHMARK = ["collective-benchmark", "--ranks=4", "--bytes=1K", "--warmup=0"]


# ---- where a program runs ----


@pytest.mark.parametrize("prefix", ["OMPI_COMM_WORLD_", "PMI_"])
def test_a_build_without_mpi_ignores_its_variables(build, tmp_path, prefix):
    environment = {**build.get_environment(), f"{prefix}SIZE": "4", f"{prefix}RANK": "1"}

    def run(*words):
        return subprocess.run(
            [build.get_program(words[0]), *words[1:]],
            env=environment,
            capture_output=True,
            text=True,
        )

    process = run(*JOB, "--json=-", f"--results={tmp_path}/r")
    assert process.returncode == 0
    assert len(json.loads(process.stdout)["iterations"]) == 1
    assert ask(tmp_path / "r", "SELECT state FROM run") == [("finished",)]
    assert "--ranks=0" in get_line(run("training-job", "--ranks=0"), 2)


@pytest.mark.parametrize(
    "words",
    [
        [*BENCHMARK, "--json=-"],
        BENCHMARK,
        JOB,
        ["training-job", "--help"],
        ["training-job", "--describe=json"],
        ["training-job", "--PrintTypeIds"],
        [*BENCHMARK, "--print-topology"],
    ],
    ids=lambda words: " ".join(words[-2:]),
)
def test_output_that_cannot_be_written_is_told(build, words):
    with open("/dev/full", "w", encoding="ascii") as full:
        process = subprocess.run(
            [build.get_program(words[0]), *words[1:]],
            env=build.get_environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert "standard output" in get_line(process, 1)


def test_environment_of_ns3_is_checked_and_recorded(build):
    def run(variable, value, *words):
        return subprocess.run(
            [build.get_program("collective-benchmark"), *BENCHMARK[1:], *words],
            env={**build.get_environment(), variable: value},
            capture_output=True,
            text=True,
        )

    attribute = "ns3::training::RdmaNic::AckInterval"
    process = run("NS_ATTRIBUTE_DEFAULT", f"{attribute}=1", "--json=-")
    assert json.loads(process.stdout)["configuration"][attribute] == "1"
    process = run("NS_GLOBAL_VALUE", "RngRun=7", "--json=-")
    assert json.loads(process.stdout)["configuration"]["RngRun"] == "7"
    process = run("NS_GLOBAL_VALUE", "RngRun=7", "--RngRun=3", "--json=-")
    assert json.loads(process.stdout)["configuration"]["RngRun"] == "3"
    for variable, value, part in [
        ("NS_GLOBAL_VALUE", "RngRun=-1", "RngRun=-1"),
        ("NS_GLOBAL_VALUE", "RngRum=1", "RngRum=1"),
        ("NS_GLOBAL_VALUE", "RngRun", "allowed: NAME=VALUE"),
        ("NS_GLOBAL_VALUE", "RngRun=x", "RngRun=x"),  # ns-3 aborts, before the program begins
        ("NS_GLOBAL_VALUE", "RngRun=3;RngSeed=1e3", "RngSeed=1e3"),
        ("NS_ATTRIBUTE_DEFAULT", "ns3::training::RdmaNic::Mtu=999", "the program sets it"),
        ("NS_ATTRIBUTE_DEFAULT", "ns3::training::RdmaNic::Colour=1", "no attribute 'Colour'"),
    ]:
        line = get_line(run(variable, value), 2)
        assert variable in line and part in line and "(allowed: " in line
    line = get_line(run("NS_ATTRIBUTE_DEFAULT", f"{attribute}=1", f"--{attribute}=2"), 2)
    assert "NS_ATTRIBUTE_DEFAULT" in line


@pytest.mark.extensive
def test_a_realtime_simulator_is_refused_and_leaves_no_process(program):
    option = "--SimulatorImplementationType=ns3::RealtimeSimulatorImpl"
    line = get_line(program(*BENCHMARK, option), 2)
    assert option in line and "(allowed: " in line


@pytest.mark.skipif(not shutil.which("c++"), reason="there is no compiler")
def test_no_process_for_a_probe(build, tmp_path):
    """As at the limit of processes of a user, which does not hold for root."""
    library = tmp_path / "nofork.so"
    source = "#include <cerrno>\nextern \"C\" int fork() { errno = EAGAIN; return -1; }\n"
    command = ["c++", "-shared", "-fPIC", "-x", "c++", "-", "-o", library]
    subprocess.run(command, input=source, text=True, check=True)
    for words, what in [
        ([*BENCHMARK, "--RngRun=2"], "no process can be started"),
        (["fabric-benchmark", "--ranks=2", "--runs=2"], "no process for a run"),
    ]:
        process = subprocess.run(
            [build.get_program(words[0]), *words[1:]],
            env={**build.get_environment(), "LD_PRELOAD": str(library)},
            capture_output=True,
            text=True,
        )
        line = get_line(process, 1)
        assert what in line and os.strerror(errno.EAGAIN) in line


# ---- results of runs that do not end well ----


def test_a_stuck_benchmark_keeps_its_rows(program, tmp_path):
    words = ["collective-benchmark", "--ranks=4", "--bytes=4K,64K,1M,16M", "--warmup=0"]
    path = tmp_path / "x.json"
    process = program(*words, "--fault=host1:down,from=200us", f"--json={path}")
    line = get_line(process, 3)
    document = json.loads(path.read_text(encoding="ascii"))
    assert [row["bytes"] for row in document["rows"]] == [4096, 65536, 1 << 20]
    assert document["state"] == "failed"
    assert line == f"collective-benchmark: stuck: {document['reason']}"


def test_a_stuck_job_keeps_its_iterations(program, tmp_path):
    words = [*JOB[:3], "--iterations=1000", f"--results={tmp_path}/r", "--fault=host1:down,from=5ms"]
    process = program(*words, "--json=-")
    line = get_line(process, 3)
    document = json.loads(process.stdout)
    assert document["state"] == "failed" and line.endswith(document["reason"])
    (run,) = ask(tmp_path / "r", "SELECT state, reason FROM run")
    assert run == ("failed", document["reason"])
    ((count,),) = ask(tmp_path / "r", "SELECT count(*) FROM iteration")
    assert count == len(document["iterations"]) > 0


@pytest.mark.parametrize(
    "words",
    [
        [*JOB[:3], "--iterations=2", "--warmup=0"],
        ["collective-benchmark", "--ranks=4", "--bytes=1M", "--warmup=0"],
    ],
    ids=lambda words: words[0],
)
def test_a_stuck_run_keeps_the_runs_before(program, words):
    # The second loss of a packet in a row ends a run, which happens in some.
    words = [*words, "--loss=0.012", "--ns3::training::RdmaNic::RetryLimit=1", "--runs=40"]
    process = program(*words, "--json=-")
    line = get_line(process, 3)
    document = json.loads(process.stdout)
    runs = [run["run"] for run in document["runs"]]
    assert runs == list(range(1, len(runs) + 1)) and 0 < len(runs) < 40
    assert document["state"] == "failed"
    assert document["reason"].startswith(f"run {len(runs) + 1}: ")
    assert line.endswith(document["reason"].partition(": ")[2])
    assert document["inputs"] and document["configuration"]["runs"] == 40
    if "iterations" in document:
        assert len(document["iterations"]) == 2 * len(runs)
    else:
        assert [row["bytes"] for row in document["rows"]] == [1 << 20]


@pytest.mark.parametrize("name", ["training-job", "collective-benchmark", "fabric-benchmark"])
def test_a_stuck_first_run(program, name):
    options = {"training-job": JOB[1:], "collective-benchmark": BENCHMARK[1:]}.get(name, [])
    process = program(name, *options, "--ranks=4", "--runs=3", "--loss=1", "--json=-")
    get_line(process, 3)
    document = json.loads(process.stdout)
    assert document["runs"] == [] and document["state"] == "failed"
    assert document["reason"].startswith("run 1") and document["configuration"]["runs"] == 3


@pytest.mark.extensive
@pytest.mark.parametrize("more", [[], ["--runs=2"], ["--sweep=algorithms"]], ids=str)
def test_warnings_of_all_simulations(program, program_json, more):
    words = ["collective-benchmark", "--ranks=4", "--bytes=8M", "--path=adaptive", *more]
    words += ["--silence=slow"]  # Cubic's flows of the binomial algorithm
    text = "path choice adaptive reorders segments, which TCP takes for losses"
    warnings = program_json(*words, "--transport=tcp")["warnings"]
    assert warnings and {line.split(": ")[-1] for line in warnings} == {text}
    assert len(warnings) == (1 if more != ["--sweep=algorithms"] else len(set(warnings)))
    table = program(*words, "--transport=tcp").stdout
    assert all(f"warning: {line} (--silence=path)\n" in table for line in warnings)
    assert "warning: " not in program(*words, "--transport=tcp", "--silence=path,slow").stdout
    assert program_json(*words)["warnings"] == []


def test_a_stuck_algorithm_does_not_end_a_sweep(program):
    words = ["collective-benchmark", "--ranks=4", "--bytes=16K", "--sweep=algorithms", "--warmup=0"]
    fault = "--fault=host0-switch0:down,from=8us"
    process = program(*words, fault, "--json=-")
    assert "stuck: " in get_line(process, 3)
    document = json.loads(process.stdout)
    failed = [row["algorithm"] for row in document["rows"] if "failure" in row]
    assert 0 < len(failed) < len(document["rows"])
    assert {row["algorithm"] for row in document["fastest"]}.isdisjoint(failed)
    assert document["state"] == "failed" and document["reason"].startswith(failed[0])
    table = program(*words, fault)
    assert table.returncode == 3
    assert len(re.findall(r"^\S+ +16384 stuck: ", table.stdout, re.MULTILINE)) == len(failed)


ENDING = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGQUIT]


@pytest.mark.parametrize("number", ENDING)
def test_a_signal_keeps_what_is_done(build, tmp_path, number):
    json_file, trace = tmp_path / "j", tmp_path / "t"
    words = [*JOB[:3], "--iterations=1000000", f"--results={tmp_path}/r"]
    words += [f"--json={json_file}", f"--trace={trace}"]
    with start(build, *words, preexec_fn=lambda: signal.signal(number, signal.SIG_DFL)) as process:
        for line in process.stdout:
            if line.startswith("20 "):
                process.send_signal(number)
                break
        process.stdout.read()
        errors = process.stderr.read()
    assert process.returncode == -number
    assert re.fullmatch(rf"training-job: interrupted by {number.name} \(at .* s\)\n", errors)
    document = json.loads(json_file.read_text(encoding="ascii"))
    assert document["state"] == "failed"
    assert document["reason"].startswith(f"interrupted by {number.name}")
    assert len(document["iterations"]) >= 20
    assert json.loads(trace.read_text(encoding="ascii"))
    assert ask(tmp_path / "r", "SELECT state, reason FROM run") == [
        ("failed", document["reason"])
    ]
    ((count,),) = ask(tmp_path / "r", "SELECT count(*) FROM iteration")
    assert count == len(document["iterations"])
    assert not list(tmp_path.glob("*.part"))


def test_a_pipe_that_closes_keeps_what_is_done(build, tmp_path):
    """As `| head -1`: the next run ends, and its row and the JSON say why."""
    words = ["collective-benchmark", "--ranks=8", "--bytes=8:256M:x2"]
    words += [f"--json={tmp_path}/j", f"--results={tmp_path}/r"]
    with start(build, *words) as process:
        process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read()
    assert process.returncode == -signal.SIGPIPE
    assert re.fullmatch(r"collective-benchmark: interrupted by SIGPIPE \(at .* s\)\n", errors)
    document = json.loads((tmp_path / "j").read_text(encoding="ascii"))
    assert document["rows"] and document["reason"].startswith("interrupted by SIGPIPE")
    rows = ask(tmp_path / "r", "SELECT state, reason FROM run")
    assert rows[-1] == ("failed", document["reason"])


@pytest.mark.parametrize("option", ["-h", "--describe=json", "--PrintTypeIds"])
def test_nobody_reads_the_help_to_its_end(build, option):
    """As `| head -1`: the program ends as others do, without a word."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [build.get_program("training-job"), option]
    process = subprocess.run(
        command, env=build.get_environment(), stdout=writer, stderr=subprocess.PIPE, text=True
    )
    os.close(writer)
    assert (process.returncode, process.stderr) == (-signal.SIGPIPE, "")


@pytest.mark.extensive
def test_a_lock_of_another_program_loses_nothing(build, tmp_path):
    path = tmp_path / "r.sqlite"
    with start(build, *JOB[:3], "--iterations=300", f"--results={path}") as process:
        for line in process.stdout:
            if line.startswith("2 "):
                break
        database = sqlite3.connect(path, isolation_level=None, timeout=60)
        database.execute("BEGIN IMMEDIATE")
        for line in process.stdout:  # the simulation goes on
            if line.startswith("300 "):
                break
        ((count,),) = database.execute("SELECT count(*) FROM iteration").fetchall()
        assert count < 301
        assert "locked" in process.stderr.readline()
        database.execute("COMMIT")
        database.close()
        process.stdout.read()
        process.stderr.read()
    assert process.returncode == 0
    assert ask(path, "SELECT state FROM run") == [("finished",)]
    assert ask(path, "SELECT count(*) FROM iteration") == [(301,)]


def test_a_deleted_database_is_noticed(build, tmp_path):
    path = tmp_path / "r.sqlite"
    with start(build, *JOB[:3], "--iterations=5000", f"--results={path}") as process:
        process.stdout.readline()
        for line in process.stdout:
            if line.startswith("2 "):
                break
        for file in tmp_path.iterdir():
            file.unlink()
        process.stdout.read()
        errors = process.stderr.read()
    assert process.returncode == 1
    assert re.fullmatch(r"training-job: results file '.*': has been deleted or .*\n", errors)


@pytest.mark.extensive
def test_simulated_time_does_not_overflow(program, tmp_path):
    # 6 steps of a ring with 200 s each: 3844 iterations until the limit of 2^62 ps.
    far = [*JOB[:2], "--delay=100s", "--bucket=100M", "--warmup=0"]
    words = [*far, "--ranks=4", "--iterations=4000"]
    process = program(*words, f"--results={tmp_path}/r")
    assert "limit of simulated time" in get_line(process, 3)
    ((first, last),) = ask(tmp_path / "r", "SELECT min(start_s), max(end_s) FROM iteration")
    assert first == 0 and 4.6e6 < last < 2**63 * 1e-12
    for words in (
        [*BENCHMARK, "--bytes=1048575TiB"],
        [*BENCHMARK, "--bytes=1048575TiB", "--sweep=algorithms"],
        ["fabric-benchmark", "--bytes=1048575TiB"],
        [*far, "--ranks=2", "--iterations=11530"],  # 2 steps each, the lower bound
        [*JOB, "--compute-scale=1000000", "--iterations=1000000"],
    ):
        process = program(*words)
        line = get_line(process, 2)
        assert "s of simulated time (allowed: up to 4611686 s)" in line and process.stdout == ""


# ---- input that would take all memory, or crash ----


@pytest.mark.parametrize("ranks", [[], ["--ranks=4"]])
def test_a_topology_from_the_pipe_of_a_shell_is_read_once(build, program, tmp_path, ranks):
    path = tmp_path / "topology.json"
    words = ["collective-benchmark", "--bytes=8K"]
    process = program(*words, "--topology=torus:4x2", "--ranks=8", f"--export-topology={path}")
    assert process.returncode == 0, process.stderr
    for text, status in ((path.read_text(encoding="utf-8"), 0), ("{}", 2)):
        process = subprocess.run(
            [build.get_program(words[0]), words[1], "--topology=file:/dev/stdin", *ranks],
            env=build.get_environment(),
            input=text,
            capture_output=True,
            text=True,
        )
        assert process.returncode == status, process.stderr
        assert f"{ranks[0][8:] if ranks else 8} ranks" in process.stdout or status
    assert "/dev/stdin" in process.stderr and "empty" not in process.stderr


def test_bytes_that_are_no_text_are_not_printed(build):
    process = subprocess.run(
        [build.get_program("collective-benchmark"), b"--topology=\xff\xc3\xa4"],
        env=build.get_environment(),
        capture_output=True,
    )
    assert process.returncode == 2 and "--topology=?\xe4 " in process.stderr.decode()


def test_sizes_from_zero(program_json):
    rows = program_json("collective-benchmark", "--ranks=4", "--warmup=0", "--bytes=0:1K:1M")["rows"]
    assert [row["bytes"] for row in rows] == [0]
    rows = program_json("collective-benchmark", "--ranks=4", "--warmup=0", "--bytes=0:9:4")["rows"]
    assert [row["bytes"] for row in rows] == [0, 4, 8]


def test_as_many_hosts_as_a_switch_has_ports(program):
    line = get_line(program("collective-benchmark", "--bytes=4", "--ranks=1048576"), 2)
    assert "65536 ports or more (allowed: up to 65535)" in line


@pytest.mark.parametrize("option", ["topology=file:", "schedule="])
@pytest.mark.parametrize(
    "text", ['{"hosts":2,"links":' + "[" * 50000, "{" + '"a":{' * 50000, "<a>" * 30000]
)
def test_nested_files(program, tmp_path, option, text):
    path = tmp_path / "deep"
    path.write_text("\n" + text, encoding="ascii")
    line = get_line(program(*BENCHMARK, f"--{option}{path}"), 2)
    path.write_text("\n" + text, encoding="utf-8-sig")  # with a byte order mark
    get_line(program(*BENCHMARK, f"--{option}{path}"), 2)
    if option == "schedule=" or text[0] == "{":
        assert f"{path}:2: nested too deeply (allowed: up to 64 levels)" in line


@pytest.mark.parametrize(
    "option", ["--topology=file:/dev/zero", "--schedule=/dev/zero", "--fault=@/dev/zero"]
)
def test_files_without_end(program, option):
    line = get_line(program(*BENCHMARK, option), 2)
    assert "/dev/zero: is too long (allowed: up to 256 MiB)" in line


def test_a_name_from_a_file_is_printable(program, tmp_path):
    schedule = tmp_path / "s.json"
    assert program(*BENCHMARK, f"--export-schedule={schedule}").returncode == 0
    document = json.loads(schedule.read_text(encoding="ascii"))
    document["algorithm"] = 'evil\n\x1b[31m\u202e<&"' + "x" * 1000
    evil = tmp_path / "evil.json"
    evil.write_text(json.dumps(document), encoding="ascii")
    words = [*BENCHMARK, f"--schedule={evil}"]
    exported = tmp_path / "evil.xml"
    process = program(*words, f"--export-schedule={exported}")
    assert process.returncode == 0
    head = process.stdout.splitlines()[0]
    assert head.startswith("# all-reduce, evil??[31m???<&\"xxx") and len(head) < 300
    again = program(*BENCHMARK, f"--schedule={exported}")
    assert again.returncode == 0 and again.stdout.splitlines()[0] == head
    get_line(program(*words, "--fault=host1:down"), 3)


def test_long_values_are_shortened(program):
    for option in ("--ranks=", "--topology=", "--bytes=", "--collective=", "--"):
        line = get_line(program("collective-benchmark", option + "9" * 100000), 2)
        assert len(line) < 5000 and "[...]" in line


@pytest.mark.parametrize(
    "words, part",
    [
        ([*BENCHMARK, "--payload=real", "--bytes=1024G", "--rate=100Tbps"], "--bytes=1099511627776"),
        ([*BENCHMARK, "--bytes=1048575TiB", "--rate=100Tbps"], "--bytes="),
        ([*BENCHMARK, "--topology=torus:1024x1024"], "topology 'torus:1024x1024'"),
        ([*BENCHMARK, "--ranks=20000", "--topology=full-mesh"], "topology 'full-mesh': needs about"),
        (["fabric-benchmark", "--ranks=60000", "--pattern=all-to-all"], "--pattern=all-to-all: "),
        (["disaggregated-serving", "--compute-efficiency=1e-308"], "--compute-efficiency=1e-308: "),
        (["fabric-benchmark", "--duration=1000h", "--ranks=1024"], "--duration=3600000s: "),
        (["fabric-benchmark", "--duration=1000h", "--ranks=1024", "--runs=2"], "3600000s: "),
        (
            [*BENCHMARK, "--ranks=32", "--topology=torus:32", "--fault=*:duplicate=1"],
            "*:duplicate=1: makes",
        ),
        (
            [*BENCHMARK, "--collective=switch-ps", "--ns3::training::SwitchPsCommunicator::Cores=9999"],
            "Cores=9999",
        ),
    ],
)
def test_memory_that_cannot_be_had_is_refused(program, words, part):
    begin = time.monotonic()
    line = get_line(program(*words), 2)
    assert part in line and "(allowed: " in line
    assert time.monotonic() - begin < 60


def test_a_schedule_that_takes_all_memory(program, tmp_path):
    gpus = "".join(
        f'<gpu id="{i}" i_chunks="1048576" o_chunks="1048576" s_chunks="0"></gpu>'
        for i in range(4096)
    )
    path = tmp_path / "bomb.xml"
    path.write_text(
        f'<algo name="bomb" nchunksperloop="1048576" ngpus="4096" coll="allreduce">{gpus}</algo>',
        encoding="ascii",
    )
    line = get_line(program(*BENCHMARK, "--ranks=4096", f"--schedule={path}"), 2)
    assert str(path) in line and "GiB of memory (allowed: " in line


def test_a_signal_is_no_failure_of_the_network(build):
    with start(build, "fabric-benchmark", "--ranks=2", "--bytes=1TB") as process:
        wait_for_cpu(process, 1)
        process.terminate()
        output, errors = process.communicate()
    assert process.returncode == -signal.SIGTERM and output == ""
    # Before the simulation the signal ends the program without words.
    assert re.fullmatch(r"(fabric-benchmark: interrupted by SIGTERM .*\n)?", errors)


@pytest.mark.parametrize("codec", ["--codec=fp8:place=message", "--nic=block-float"])
def test_sums_that_cannot_be_coded_end_the_run(program, tmp_path, codec):
    numbers = tmp_path / "gradients.f32"
    numbers.write_bytes(struct.pack("<256f", *[3e38] * 256))  # two of them are infinite
    options = ["--payload=real", f"--gradients=file:{numbers}", codec]
    line = get_line(program(*BENCHMARK, *options), 4)
    assert line.startswith("collective-benchmark: codec: ") and "inf" in line
