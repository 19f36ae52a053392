# SPDX-License-Identifier: GPL-2.0-only
"""dt.connect(): trace sources of different signatures, errors, exceptions of the function."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("cppyy", reason="cppyy is not installed: distributed_training.ns needs it")

pytestmark = pytest.mark.extensive  # each test starts cppyy

WORKLOAD = Path(__file__).with_name("small-workload.csv")
APPLICATION = "/NodeList/*/ApplicationList/*/$ns3::training::TrainingApplication"
HOST = "/NodeList/*/DeviceList/*/$ns3::training::HostDevice"
NIC = "/NodeList/*/DeviceList/*/$ns3::training::RdmaNic"
SWITCH = "/NodeList/*/$ns3::training::SwitchDevice"

START = f"""
import json
import distributed_training as dt

ns = dt.ns

def make():
    options = ns.training.TrainingRunOptions()
    options.workload = {str(WORKLOAD)!r}
    options.bucket = 256 << 10
    options.iterations = 2
    options.warmup = 1
    options.cluster.ranks = 4
    return ns.training.TrainingRun(options)
"""

# Sources of nine signatures: numbers of 8, 16, 32 and 64 bits, text, times, records, pointers.
EVENTS = START + f"""
events = {{}}

def record(name, show):
    return lambda path, *arguments: events.setdefault(name, []).append([path, *show(*arguments)])

run = make()
counts = [
    dt.connect("{APPLICATION}/Finished", record("finished", lambda rank: [rank])),
    dt.connect("{APPLICATION}/IterationStart", record("start", lambda *numbers: numbers)),
    dt.connect(
        "{APPLICATION}/ComputePhase",
        record("phase", lambda rank, i, phase, a, b: [rank, i, phase, (b - a).GetPicoSeconds()]),
    ),
    dt.connect(
        "{APPLICATION}/CollectiveDone",
        record("done", lambda rank, i, number, tensor: [rank, i, number]),
    ),
    dt.connect(
        "{APPLICATION}/IterationEnd",
        record("end", lambda rank, i, measured: [rank, i, type(measured).__name__]),
    ),
    dt.connect(
        "{APPLICATION}/Arrival",
        record("arrival", lambda rank, task, number, tensor: [rank, type(task).__name__, number]),
    ),
    dt.connect("{SWITCH}/QueueLength", record("queue", lambda *numbers: numbers)),
    dt.connect("{NIC}/Completion", record("completion", lambda *numbers: numbers)),
    dt.connect("{SWITCH}/Drop", record("drop", lambda frame, port, reason: [port, reason])),
]
result = run.Run()
print(json.dumps([counts, events, len(result.iterations)]))
"""

ERRORS = START + """
run = make()
for path in PATHS:
    try:
        print(dt.connect(path, print))
    except ValueError as error:
        print(error)
try:
    dt.connect(PATHS[0], "text")
except TypeError as error:
    print(error)
"""

EXCEPTIONS = START + f"""
class Mine(Exception):
    def __init__(self, rank, iteration):
        super().__init__(f"rank {{rank}}, iteration {{iteration}}")
        self.rank = rank

def refuse(path, rank, iteration, measured):
    calls.append(rank)
    raise Mine(rank, iteration)

def interrupt(path, rank, iteration, measured):
    raise KeyboardInterrupt

for function in (refuse, interrupt):
    calls = []
    run = make()
    dt.connect("{APPLICATION}/IterationEnd", function)
    try:
        run.Run()
        print("no exception")
    except (Mine, KeyboardInterrupt) as error:
        print(type(error).__name__, error, getattr(error, "rank", None), len(calls))
    del run
run = make()
print(len(run.Run().iterations))
"""


@pytest.fixture
def call(build, environment):
    """Run a script in a process of its own; return the lines that it prints."""
    if build.cppyy is None:
        pytest.skip(f"there is no cppyy for ns-{build.ns3_version}")

    def run(script):
        command = [sys.executable, "-c", script]
        process = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert process.returncode == 0, process.stderr
        return process.stdout.splitlines()

    return run


def test_sources_of_many_signatures(call):
    counts, events, iterations = json.loads(call(EVENTS)[0])
    assert iterations == 3
    assert counts == [4, 4, 4, 4, 4, 4, 1, 4, 1]
    ranks = range(4)
    assert sorted(row[1] for row in events["finished"]) == list(ranks)
    every = [[rank, iteration] for rank in ranks for iteration in range(3)]
    assert sorted(row[1:] for row in events["start"]) == every
    assert sorted(row[1:3] for row in events["end"]) == every
    assert {row[3] for row in events["end"]} == {"RankIteration"}
    for path, rank, *_ in events["start"]:
        number = re.fullmatch(r"/NodeList/(\d+)/ApplicationList/0/.*/IterationStart", path)
        assert int(number.group(1)) == rank
    for _, _, _, phase, length in events["phase"]:
        assert phase in ("forward", "backward", "update")
        assert length > 0
    # Every rank completes the same collectives in each iteration.
    done = {}
    for _, rank, iteration, number in events["done"]:
        done.setdefault((rank, iteration), []).append(number)
    assert len(done) == 12
    assert len({tuple(sorted(numbers)) for numbers in done.values()}) == 1
    assert {row[2] for row in events["arrival"]} == {"GraphTask"}
    assert len(events["arrival"]) >= len(events["done"])
    for _, port, priority, size in events["queue"]:
        assert 0 <= port < 4 and 0 <= priority < 8 and size >= 0
    assert {size for _, _, _, size in events["queue"]} > {0}
    assert len({tuple(row) for row in events["completion"]}) == len(events["completion"])
    assert "drop" not in events  # nothing is lost


def test_errors_name_what_is_near(call):
    expected = {
        "/NodeList/*/$ns3::training::SwitchDevic/Mark": "did you mean ns3::training::SwitchDevice",
        "/NodeLst/*/x": "nothing matches 'NodeLst'; did you mean NodeList?",
        "/NodeList/*/DeviceLst/*/Drop": "did you mean DeviceList?",
        f"{APPLICATION}/IterationEn": "did you mean IterationEnd or IterationStart?",
        "/NodeList/77/$ns3::training::SwitchDevice/Mark": "nothing matches '77'; no such object",
        "/NodeList/*/$ns3::training::RdmaNic/Rate": "nothing matches '$ns3::training::RdmaNic'",
        "NodeList/0/x": "allowed: such as",
        "": "allowed: such as",
    }
    lines = call(ERRORS.replace("PATHS", repr(list(expected))))
    assert len(lines) == len(expected) + 1
    for line, (path, text) in zip(lines, expected.items()):
        assert line.startswith(f"path {path!r}") and text in line
    assert "what can be called" in lines[-1]


def test_exception_of_the_function_ends_the_run_and_is_raised(call):
    lines = call(EXCEPTIONS)
    assert re.fullmatch(r"Mine rank (\d), iteration 0 \1 1", lines[0])
    assert lines[1].split() == ["KeyboardInterrupt", "None", "0"]
    assert lines[2] == "3"  # another run in the same process
