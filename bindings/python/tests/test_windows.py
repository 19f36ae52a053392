# SPDX-License-Identifier: GPL-2.0-only
"""Runs with windows of events, without them, and with ns-3's own event loop have equal files."""

import json
import pathlib
import re
import sqlite3

import pytest

WINDOWS_OFF = "--ns3::training::WindowSimulatorImpl::Windows=false"
NS3_LOOP = "--SimulatorImplementationType=ns3::DefaultSimulatorImpl"
WORKLOAD = "--workload=" + str(pathlib.Path(__file__).with_name("small-workload.csv"))
LEAVES = "--topology=leaf-spine:leaves=2,spines=2"

# What a run costs depends on the event loop, and the configuration names it.
COST = re.compile(r"configuration|cpu_s|wall_s|\w+_per_cpu_s|\w+_memory_MiB|scheduler")
# Of the table run; the others are the time of day.
RUN_COLUMNS = ("run_id", "program", "version", "seed", "state", "reason")

JOBS = """
[[job]]
name = "a"
workload = "WORKLOAD"
ranks = 4
iterations = 2
placement = "spread"

[[job]]
name = "b"
workload = "WORKLOAD"
ranks = 4
iterations = 2
placement = "spread"
arrival = "200us"
"""


def strip(value):
    """Return a JSON document without the cost of the run."""
    if isinstance(value, dict):
        return {key: strip(each) for key, each in value.items() if not COST.fullmatch(key)}
    if isinstance(value, list):
        return [strip(each) for each in value]
    return value


def read_database(path):
    """Return all rows of all tables, in their order in the file."""
    with sqlite3.connect(path) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        tables = {}
        for (name,) in sorted(names):
            columns = ", ".join(RUN_COLUMNS) if name == "run" else "*"
            tables[name] = connection.execute(f"SELECT {columns} FROM {name}").fetchall()
    return tables


def observe(program, folder, name, arguments):
    """Run a program in a folder; return its exit status, and its files without costs."""
    folder.mkdir()
    files = {
        "json": folder / "result.json",
        "results": folder / "result.sqlite",
        "trace": folder / "timeline.json",
    }
    options = [f"--{option}={path}" for option, path in files.items() if option in NAMES[name]]
    process = program(name, *arguments, *options)
    seen = {"status": process.returncode, "document": strip(json.loads(files["json"].read_text()))}
    if "results" in NAMES[name]:  # all rows in their order in the file
        seen.update(read_database(files["results"]))
    if "trace" in NAMES[name]:
        seen["timeline"] = files["trace"].read_text().splitlines()
    return seen


NAMES = {
    "training-job": ("json", "results", "trace"),
    "collective-benchmark": ("json", "results", "trace"),
    "shared-cluster": ("json", "results"),
    "flow-benchmark": ("json", "results"),
}

CASES = {
    "dcqcn": ["training-job", "--ranks=8", LEAVES, "--iterations=2", "--sample=20us"],
    "many to one": [
        "training-job",
        "--ranks=8",
        LEAVES,
        "--collective=direct",
        "--iterations=2",
        "--sample=20us",
    ],
    "sprayed": [
        "training-job",
        "--ranks=8",
        LEAVES,
        "--iterations=2",
        "--path=spray",
        "--recovery=selective-repeat",
        "--loss=0.001",
        "--sample=20us",
    ],
    "uec": ["training-job", "--ranks=8", LEAVES, "--iterations=2", "--transport=uec"],
    "tcp": ["training-job", "--ranks=4", LEAVES, "--iterations=2", "--transport=tcp"],
    "link fails": [
        "training-job",
        "--ranks=8",
        "--topology=fat-tree:k=4",
        "--iterations=3",
        "--fault=switch0-switch8:down,from=100us,until=500us",
        "--reroute-delay=50us",
        "--sample=20us",
    ],
    "switch restarts": [
        "training-job",
        "--ranks=8",
        LEAVES,
        "--iterations=2",
        "--fault=switch3:restart,from=100us,until=200us",
    ],
    "links lose, disorder and duplicate": [
        "training-job",
        "--ranks=4",
        LEAVES,
        "--iterations=2",
        "--payload=real",
        "--fault=*:duplicate=0.002,loss=0.001;host3:reorder=0.002/3us",
    ],
    "switchml": ["training-job", "--ranks=8", LEAVES, "--iterations=2", "--collective=switchml"],
    "switchml, loss": [
        "collective-benchmark",
        "--ranks=8",
        LEAVES,
        "--collective=switchml",
        "--payload=real",
        "--bytes=256K",
        "--loss=0.002",
    ],
    "sharp": [
        "training-job",
        "--ranks=16",
        "--topology=fat-tree:k=4",
        "--iterations=2",
        "--collective=sharp",
    ],
    "all to all": [
        "collective-benchmark",
        "--ranks=16",
        "--topology=fat-tree:k=4",
        "--operation=all-to-all",
        "--collective=direct",
        "--bytes=4K,1M",
        "--sample=10us",
    ],
    "background": [
        "training-job",
        "--ranks=4",
        LEAVES,
        "--iterations=2",
        "--background=websearch:load=0.3",
        "--sample=20us",
    ],
    "shared cluster": ["shared-cluster", "--ranks=16", "--topology=fat-tree:k=4"],
    "flows": [
        "flow-benchmark",
        "--preset=hpcc",
        "--ranks=20",
        "--warm-up=50us",
        "--duration=150us",
        "--congestion-control=dcqcn",
    ],
}


@pytest.mark.extensive
@pytest.mark.parametrize("case", CASES)
def test_files_are_equal(program, tmp_path, case):
    name, *arguments = CASES[case]
    if name == "training-job":
        arguments.append(WORKLOAD)
    if name == "shared-cluster":
        jobs = tmp_path / "jobs.toml"
        jobs.write_text(JOBS.replace("WORKLOAD", WORKLOAD.partition("=")[2]))
        arguments.append(f"--jobs={jobs}")
    expected = observe(program, tmp_path / "windows", name, arguments)
    assert expected["status"] == 0
    for number, option in enumerate((WINDOWS_OFF, NS3_LOOP)):
        now = observe(program, tmp_path / str(number), name, [*arguments, option])
        assert now.keys() == expected.keys()
        for part in expected:
            assert now[part] == expected[part], (part, option)
