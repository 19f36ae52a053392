# SPDX-License-Identifier: GPL-2.0-only
"""Simulations in several processes have the results of one: `./ns3w test --mpi`."""

import contextlib
import functools
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
WORKLOAD = f"--workload={ROOT}/bindings/python/tests/small-workload.csv"

# What a run costs, and what names the run, may differ; nothing else.
COST = {
    "cpu_s",
    "setup_cpu_s",
    "wall_s",
    "events",
    "packet_hops_per_cpu_s",
    "data_packet_hops_per_cpu_s",
    "peak_memory_MiB",
    "setup_memory_MiB",
    "results",
}

LEAVES = ["--ranks=8", "--topology=leaf-spine"]
PODS = ["--ranks=16", "--topology=fat-tree:k=4"]
RUNS = {
    # Symmetric traffic: many frames are sent and arrive at the same time.
    "all-to-all": ["fabric-benchmark", *PODS, "--bytes=200K", "--pattern=all-to-all"],
    "pauses": ["fabric-benchmark", *PODS, "--bytes=1M", "--pattern=incast:15", "--buffer=1M"],
    "credits": [
        "fabric-benchmark",
        *PODS,
        "--bytes=200K",
        "--pattern=incast:15",
        "--ns3::training::SwitchDevice::FlowControl=credit",
        "--loss=0.001",
    ],
    "telemetry": [
        "fabric-benchmark",
        *PODS,
        "--bytes=200K",
        "--pattern=permutation",
        "--congestion-control=hpcc",
    ],
    "collective": ["collective-benchmark", *LEAVES, "--bytes=8:1M:x8", "--payload=real"],
    "torus": [
        "collective-benchmark",
        "--ranks=16",
        "--topology=torus:4x4",
        "--collective=multitree",
        "--path=schedule",
        "--bytes=64K",
        "--payload=real",
    ],
    "port-pairs": [
        "collective-benchmark",
        "--ranks=16",
        "--topology=local-switch-torus:2x2,nodes=4,switches=2",
        "--collective=hou",
        "--port-pairs=stripe",
        "--bytes=64K",
    ],
    "rails": [
        "collective-benchmark",
        "--ranks=16",
        "--topology=rail-optimized:servers=4,gpus=4",
        "--collective=hierarchical",
        "--bytes=64K",
    ],
    "sums in the network": [
        "collective-benchmark",
        *LEAVES,
        "--collective=switchml",
        "--bytes=256K",
        "--payload=real",
        "--loss=0.001",
    ],
    "aggregation tree": [
        "collective-benchmark",
        *PODS,
        "--collective=sharp",
        "--bytes=8,256K",
        "--payload=real",
        "--loss=0.001",
    ],
    "sums in the network and at a server": [
        "collective-benchmark",
        "--ranks=7",
        "--topology=leaf-spine:leaves=4,hosts-per-leaf=2",
        "--collective=atp:slots=1000",
        "--bytes=256K",
        "--payload=real",
        "--loss=0.001",
    ],
    "another draw of paths": ["collective-benchmark", *PODS, "--bytes=1M", "--RngRun=7"],
    "spray": ["collective-benchmark", *PODS, "--bytes=1M", "--path=spray"],
    "duplicates over TCP": [
        "collective-benchmark",
        *LEAVES,
        "--bytes=1M",
        "--transport=tcp",
        "--fault=*:duplicate=0.05",
    ],
    "selective repeat": [
        "collective-benchmark",
        *LEAVES,
        "--bytes=1M",
        "--recovery=selective-repeat",
        "--fault=*:loss=0.002,reorder=0.01/2us",
        "--payload=real",
    ],
    # Requests, acknowledgements, NACKs and trimmed frames cross the border.
    "Ultra Ethernet": [
        "collective-benchmark",
        *PODS,
        "--transport=uec",
        "--collective=parameter-server",
        "--bytes=1M",
        "--payload=real",
    ],
    # The same with credits, requests for credit, and losses of all of them.
    "Ultra Ethernet with credit": [
        "collective-benchmark",
        *PODS,
        "--transport=uec",
        "--congestion-control=nscc:receiver-credit=true",
        "--collective=parameter-server",
        "--bytes=256K",
        "--loss=0.001",
        "--payload=real",
    ],
    "job over Ultra Ethernet": ["training-job", WORKLOAD, *LEAVES, "--transport=uec"],
    "codes of engines in NICs": [
        "collective-benchmark",
        *PODS,
        "--nic=inceptionn:bound=-8",
        "--payload=real",
        "--gradients=normal",
        "--loss=0.001",
        "--bytes=1M",
    ],
    "job with codes over TCP": [
        "training-job",
        WORKLOAD,
        *LEAVES,
        "--transport=tcp",
        "--nic=inceptionn:ratio=8",
    ],
    "ring of engines in NICs": [
        "collective-benchmark",
        *PODS,
        "--collective=nic-ring",
        "--payload=real",
        "--loss=0.001",
        "--bytes=256K",
    ],
    "restart of a switch": [
        "collective-benchmark",
        *LEAVES,
        "--bytes=1M",
        "--fault=switch0:restart,from=50us,until=150us",
    ],
    "job": ["training-job", WORKLOAD, *LEAVES, "--payload=real", "--loss=0.001"],
    "job over TCP": ["training-job", WORKLOAD, *LEAVES, "--transport=tcp", "--loss=0.0005"],
    "job with jitter": [
        "training-job",
        WORKLOAD,
        *LEAVES,
        "--compute-jitter=lognormal:cv=0.3",
        "--straggler=3:1.5",
        "--host-latency=2us",
        "--host-jitter=exponential",
        "--queue-pairs=4",
        "--split",
    ],
    "job with a server in a switch": [
        "training-job",
        WORKLOAD,
        *LEAVES,
        "--payload=real",
        "--loss=0.001",
        "--collective=switch-ps:optimizer=momentum",
    ],
    "job with a server": [
        "training-job",
        WORKLOAD,
        *PODS,
        "--collective=parameter-server:servers=4",
    ],
}


def run(processes, *words, extension=None):
    command = [sys.executable, ROOT / "ns3w"]
    if extension:
        command.append(f"--extension={ROOT}/test/extensions/{extension}")
    command += ["run", *words, f"--mpi={processes}"]
    return subprocess.run(command, capture_output=True, text=True)


def results_of(value):
    """Return what may not differ of a JSON value."""
    if isinstance(value, dict):
        return {key: results_of(item) for key, item in value.items() if key not in COST}
    return [results_of(item) for item in value] if isinstance(value, list) else value


@functools.lru_cache(None)
def get_json(processes, *words, extension=None):
    process = run(processes, *words, "--json=-", extension=extension)
    assert process.returncode == 0, process.stderr
    document = json.loads(process.stdout)
    # What binds depends on counters at the ends of iterations, which several processes lack.
    assert document.pop("binding", None) is None or processes == 1
    return results_of(document)


def get_rows(path):
    """Return all rows of all tables but that of the runs, without what may differ."""
    with sqlite3.connect(path) as database:
        tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        rows = {}
        for (table,) in tables:
            if table != "run":
                rows[table] = database.execute(f"SELECT * FROM {table}").fetchall()
        return rows


def test_machines_of_a_file(tmp_path, monkeypatch):
    """Two names of this machine, and a script in place of ssh: Open MPI takes them for two machines."""
    agent = tmp_path / "agent"
    # Each has a folder of its own for sessions: two daemons that make one at a time fail.
    lines = ["#!/bin/sh", "shift", "TMPDIR=$(mktemp -d)", "export TMPDIR", 'sh -c "$*"', "status=$?"]
    lines += ['rm -rf "$TMPDIR"', "exit $status", ""]
    agent.write_text("\n".join(lines), encoding="ascii")
    agent.chmod(0o755)
    monkeypatch.setenv("OMPI_MCA_plm_rsh_agent", str(agent))
    machines = tmp_path / "machines"
    machines.write_text("first.example slots=1\nsecond.example slots=1\n", encoding="ascii")
    words = ["collective-benchmark", *LEAVES, "--bytes=100K"]
    results = tmp_path / "run.sqlite"
    there = get_json(2, *words, f"--results={results}", f"--hostfile={machines}")
    here = get_json(1, *words)
    assert there["rows"] == here["rows"] and there["packet_hops"] == here["packet_hops"]
    with sqlite3.connect(results) as database:
        assert database.execute("SELECT state FROM run").fetchall() == [("finished",)]


@pytest.mark.parametrize("words", RUNS.values(), ids=RUNS.keys())
def test_results_are_those_of_one_process(words):
    alone = get_json(1, *words)
    for processes in (2, 3):
        assert get_json(processes, *words) == alone


def test_packets_of_ultra_ethernet_are_trimmed_and_lost_across_the_border():
    for name in ("Ultra Ethernet", "Ultra Ethernet with credit"):
        figures = get_json(2, *RUNS[name])["uec"]
        assert figures["trimmed_packets"] > 0
        assert figures["repeated_packets"] > 0
        # Each trimmed packet causes a NACK, unless that is lost.
        if "loss" not in " ".join(RUNS[name]):
            assert figures["nacks"] == figures["trimmed_packets"] == figures["repeated_packets"]
            assert figures["timeouts"] == figures["duplicate_packets"] == 0
        else:
            assert figures["timeouts"] > 0


def test_frames_of_an_extension_cross_the_border_of_processes():
    words = ["collective-benchmark", *LEAVES, "--collective=adder", "--bytes=16K", "--payload=real"]
    alone, shared = (get_json(n, *words, extension="switch-program") for n in (1, 2))
    assert alone["rows"][0]["verified"]
    assert shared == alone


def test_one_file_of_results(tmp_path):
    words = ["training-job", WORKLOAD, *LEAVES, "--compute-jitter=lognormal:cv=0.3"]
    for processes in (1, 2):
        assert run(processes, *words, f"--results={tmp_path}/{processes}").returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1", "2"]
    alone, rows = get_rows(tmp_path / "1"), get_rows(tmp_path / "2")
    assert len(rows["iteration"]) == 4
    assert len(rows["message"]) > 100
    assert len({row[2] for row in rows["critical_path"]}) > 1  # ranks
    for table in ("link_iteration", "limitation"):  # none sees all ports
        assert alone.pop(table) and not rows.pop(table)
    assert rows == alone


def test_every_port_is_captured_once(tmp_path):
    for processes in (1, 2):
        prefix = tmp_path / str(processes) / "a"
        prefix.parent.mkdir()
        words = ["collective-benchmark", *LEAVES, "--bytes=100K", f"--pcap={prefix}"]
        assert run(processes, *words).returncode == 0
    files = [path.name for path in sorted((tmp_path / "1").iterdir())]
    assert len(files) > 16
    assert files == [path.name for path in sorted((tmp_path / "2").iterdir())]
    for name in files:
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


@pytest.mark.parametrize(
    "words, allowed",
    [
        (["--ranks=16", "--topology=leaf-spine", "--mpi=5"], "1 to 4, the number of switches"),
        (["--ranks=16", "--mpi=2"], "1 to 1, the number of switches"),
        (["--ranks=x", "--mpi=2"], "1 to 1048576"),
    ],
)
def test_what_cannot_be_shared_is_refused_in_one_line(words, allowed):
    command = [sys.executable, ROOT / "ns3w", "run", "fabric-benchmark", *words]
    process = subprocess.run(command, capture_output=True, text=True)
    assert process.returncode == 2
    assert allowed in process.stderr
    assert len(process.stderr.splitlines()) == 1
    assert process.stdout == ""


def test_a_program_for_one_process_says_so():
    process = run(2, "flow-benchmark")
    assert process.returncode == 2
    assert re.fullmatch(r"flow-benchmark: --mpi=2 \(allowed: 1, .*\)\n", process.stderr)


def test_another_event_loop_is_refused():
    words = ["fabric-benchmark", *LEAVES, "--bytes=8"]
    process = run(2, *words, "--SimulatorImplementationType=ns3::DefaultSimulatorImpl")
    assert process.returncode == 2
    assert "with 2 processes (allowed: 1 process)" in process.stderr
    assert len(process.stderr.splitlines()) == 1


def test_processes_without_windows():
    words = [*RUNS["pauses"], "--ns3::training::WindowSimulatorImpl::Windows=false"]
    assert get_json(2, *words) == get_json(1, *words)


def test_no_comparison_in_several_processes():
    process = run(2, "fabric-benchmark", "--ranks=8", "--topology=leaf-spine", "--compare-acks")
    assert process.returncode == 2
    assert "--compare-acks (allowed in one process only" in process.stderr


def test_a_dead_host_ends_all_processes():
    words = ["collective-benchmark", *LEAVES, "--bytes=1M", "--fault=host3:down,from=50us"]
    alone, shared = run(1, *words), run(2, *words)
    assert shared.returncode == alone.returncode == 3
    assert "rank 4 waits in all-reduce 0 (ring)" in shared.stderr
    assert shared.stderr == alone.stderr


def test_iterations_are_written_before_the_end(tmp_path):
    words = ["training-job", WORKLOAD, *LEAVES, "--iterations=1000000", "--mpi=2"]
    command = [sys.executable, ROOT / "ns3w", "run", *words, f"--results={tmp_path}/r"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            if line.startswith("20 "):  # printed when it is over, many halts later than iteration 1
                process.terminate()
    rows = get_rows(tmp_path / "r")
    assert len(rows["iteration"]) >= 20
    assert len(rows["message"]) > 20 * 100


def test_a_signal_keeps_the_iterations_since_the_last_halt(tmp_path):
    """The processes do not wait for the next halt, because mpirun kills them a second later."""
    workload = tmp_path / "workload.csv"
    workload.write_text("layer,parameters,forward_us,backward_us\nonly,1000000,10,20\n")
    words = ["training-job", f"--workload={workload}", "--ranks=64", "--topology=fat-tree:k=8"]
    words += ["--iterations=1000000", f"--results={tmp_path}/r", f"--json={tmp_path}/j", "--mpi=2"]
    command = [sys.executable, ROOT / "ns3w", "run", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        begin = time.monotonic()
        for line in process.stdout:
            if line.startswith("0 warm-up"):  # printed at the first halt
                break
        time.sleep((time.monotonic() - begin) / 8)
        process.terminate()
        process.stdout.read()
    with sqlite3.connect(tmp_path / "r") as database:
        ((state, reason),) = database.execute("SELECT state, reason FROM run").fetchall()
        ((end,),) = database.execute("SELECT max(end_s) FROM iteration").fetchall()
    assert state == "failed" and reason.startswith("interrupted by SIGTERM")
    # Between two halts, of which there is one every 10 ms, with the iterations until then.
    at = float(re.search(r"\(at (.*) s\)", reason).group(1))
    assert abs(at / 0.01 - round(at / 0.01)) > 1e-4
    assert at - 0.002 < end <= at
    iterations = json.loads((tmp_path / "j").read_text())["iterations"]
    assert len(iterations) == len(get_rows(tmp_path / "r")["iteration"])


def find_simulations(workload):
    """Return the ids of the programs, not that of mpirun, that run with a workload."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = path.read_bytes().split(b"\0")
            if b"training-job" in words[0] and f"--workload={workload}".encode() in words:
                found.append(int(path.parent.name))
    return found


def test_no_process_survives_a_killed_mpirun(tmp_path):
    workload = tmp_path / "workload.csv"
    workload.write_text("layer,parameters,forward_us,backward_us\nonly,1000000,10,20\n")
    words = ["training-job", f"--workload={workload}", *LEAVES, "--iterations=1000000", "--mpi=2"]
    with subprocess.Popen(
        [sys.executable, ROOT / "ns3w", "run", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        while len(find_simulations(workload)) < 2 and process.poll() is None:
            time.sleep(0.05)
        started = find_simulations(workload)
        process.send_signal(signal.SIGKILL)
    assert len(started) == 2
    try:
        deadline = time.monotonic() + 20
        while find_simulations(workload) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert find_simulations(workload) == []
    finally:
        for each in find_simulations(workload):
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
