# SPDX-License-Identifier: GPL-2.0-only
"""job-life: the account of a life adds up, lives are reproducible, wrong input is refused."""

import json
import re
import shlex
from pathlib import Path

import pytest

from conftest import REPOSITORY

import distributed_training as dt


def test_the_time_of_a_life_adds_up():
    result = dt.JobLife(failures="rsc-1", gpus=1024, days=30, lives=3, repair="30h", spares=1).run()
    uses = {row["use"]: row["hours"] for row in result.life["uses"]}
    elapsed = uses.pop("elapsed")
    assert elapsed == pytest.approx(30 * 24)
    assert sum(uses.values()) == pytest.approx(elapsed, rel=1e-12)
    assert uses["waiting for spares"] > 0
    assert result.life["expected_effective_ratio"] is None  # no closed form with repairs


def test_lives_follow_the_run(program_json):
    arguments = ["job-life", "--part=life", "--lives=2"]
    first, again, other = (
        program_json(*arguments, *more)["life"] for more in ([], [], ["--RngRun=2"])
    )
    assert first == again
    assert first["effective_ratio"] != other["effective_ratio"]
    assert first["effective_ratio"] == pytest.approx(first["expected_effective_ratio"], abs=0.01)


def test_the_price_is_that_of_all_gpus(program_json):
    life = program_json("job-life", "--part=life", "--price-gpu-hour=2", "--days=10")["life"]
    assert life["dollars"] == pytest.approx(2 * 16384 * 240)
    assert life["dollars_per_iteration"] == pytest.approx(life["dollars"] / life["iterations"])


@pytest.mark.parametrize(
    "argument, allowed",
    [
        ("--iteration=0", "more than 0"),
        ("--interval=1s", "at least an iteration, 6221ms"),
        ("--interval=soon", "auto, or a time with a unit"),
        ("--load-time=-1s", "auto, or a time with a unit"),
        ("--failures=llama4", "file, llama3, rsc-1, rsc-2"),
        ("--failures=llama3:shape=0", "0.1 to 10"),
        ("--failures=llama3:factor=1e6", "at most 1e9 failures"),
        ("--failures=file:/nowhere", "cannot be read"),
        ("--lives=100000", "at most 1e9 checkpoints"),
        ("--storage-rate=1bps", "less than 100 years"),
        ("--gpus=0", "1 to"),
    ],
)
def test_refusals(program, argument, allowed):
    more = ["--days=36500"] if argument.startswith("--lives") else []
    process = program("job-life", argument, *more)
    assert process.returncode == 2
    (line,) = process.stderr.splitlines()
    assert allowed in line
    assert process.stdout == ""


@pytest.fixture(name="saved", scope="module")
def fixture_saved(program_json):
    """Times of a checkpoint of 12 MB of two ranks at one storage host, blocking and asynchronous."""
    workload = Path(__file__).with_name("small-workload.csv")
    common = [f"--workload={workload}", "--ranks=2", "--bytes=12MB", "--storage-rate=40Gbps"]
    return [
        program_json("checkpoint-times", *common, *more)
        for more in (
            ["--congestion-control=none"],
            ["--congestion-control=none", "--asynchronous=true"],
        )
    ]


def test_a_checkpoint_takes_the_time_of_its_bytes(saved):
    blocking, asynchronous = saved
    assert blocking["bound_s"] == pytest.approx(12e6 * 8 / 40e9)
    # The first share is on the line to storage for 0.5 to 1 ms, as both arrive together; then
    # storage writes.
    for seconds in (blocking["checkpoint_s"], asynchronous["drain_s"]):
        assert seconds == pytest.approx(2.4e-3 + 12e6 * 8 / 100e9, rel=0.1)
    assert blocking["drain_s"] is None
    # Shares leave storage one after the other: 1.2 ms to read each, 0.5 ms for the last one to go.
    assert blocking["load_s"] == pytest.approx(2.4e-3 + 6e6 * 8 / 100e9, rel=0.1)
    # A copy of 6 MB, then a drain that slows iterations, but less than a blocking one.
    assert 6e6 * 8 / 100e9 <= asynchronous["checkpoint_s"] < blocking["checkpoint_s"]


def test_the_spans_are_options_of_a_life(saved, program_json):
    for times in saved:
        name, *options = times["job_life"].split()
        life = program_json(name, *options, "--part=life", "--days=1", "--lives=1")
        assert life["configuration"]["gpus"] == 2
        assert life["life"]["checkpoint_s"] == pytest.approx(times["checkpoint_s"], abs=1e-9)


def test_storage_needs_hosts(program):
    process = program("checkpoint-times", "--ranks=16", "--topology=fat-tree:k=4")
    assert process.returncode == 2
    (line,) = process.stderr.splitlines()
    assert "17" in line


def test_the_energy_of_a_run_is_in_json_and_sqlite(tmp_path):
    path = tmp_path / "results.sqlite"
    workload = Path(__file__).with_name("small-workload.csv")
    result = dt.TrainingJob(
        workload=workload,
        ranks=2,
        iterations=2,
        energy="h100:gpu-active=700",
        price_gpu_hour=3600,
        results=path,
    ).run()
    (row,) = dt.read_results(path, "energy").to_dict("records")
    energy = result.data["energy"]
    assert {key: row[key] for key in energy} == energy
    assert row["power_model"] == "h100:gpu-active=700"
    assert row["dollars"] == pytest.approx(2 * row["seconds"])
    parts = ("compute", "waiting", "host", "switch", "bit")
    assert row["joules"] == pytest.approx(sum(row[f"{part}_joules"] for part in parts))


@pytest.mark.parametrize(
    "argument, allowed",
    [
        ("--energy=h200", "h100, llmservingsim"),
        ("--energy=h100:link-bit=-1", "link-bit=0 to"),
        ("--price-gpu-hour=-1", "0 to"),
        ("--price-port-hour=free", "0 to"),
    ],
)
def test_refusals_of_energy(program, argument, allowed):
    process = program("training-job", argument)
    assert process.returncode == 2
    (line,) = process.stderr.splitlines()
    assert allowed in line
    assert process.stdout == ""


SMALL = Path(__file__).with_name("small-workload.csv")
LIVED = {
    "workload": SMALL,
    "ranks": 3,
    "iterations": 5,
    "checkpoint": "asynchronous",
    "checkpoint_every": 2,
    "checkpoint_bytes": "3MB",
    "storage_hosts": 2,
    "fail": ["rank1:900us", "node0:2500us,node2:2500us"],
    "spares": 1,
    "repair": "3ms",
    "detection": "100us",
    "rendezvous": "200us",
}
PARTS = ("productive", "checkpoint", "lost", "detection", "waiting", "restart")


def test_the_parts_of_a_life_are_the_same_everywhere(program, tmp_path):
    results, trace, document = (tmp_path / name for name in ("r.sqlite", "trace.json", "r.json"))
    options = [
        f"--{name.replace('_', '-')}={value}"
        for name, values in LIVED.items()
        for value in (values if isinstance(values, list) else [values])
    ]
    process = program(
        "training-job",
        *options,
        "--payload=real",
        f"--results={results}",
        f"--trace={trace}",
        f"--json={document}",
    )
    assert process.returncode == 0, process.stderr
    life = json.loads(document.read_text())["life"]
    assert sum(life[f"{part}_ps"] for part in PARTS) == life["wall_ps"]
    assert life["effective_ratio"] == life["productive_ps"] / life["wall_ps"]
    assert all(life[f"{part}_ps"] > 0 for part in PARTS)
    assert life["failures"] == 3

    rows = dt.read_results(results, "life")
    sums = rows.groupby("kind")["length_ps"].sum()
    assert {part: sums[part] for part in PARTS} == {part: life[f"{part}_ps"] for part in PARTS}
    spans = rows[rows.kind != "write"]
    assert spans.start_s.iloc[0] == 0
    assert list(spans.start_s.iloc[1:]) == list(spans.end_s.iloc[:-1])
    writes = rows[rows.kind == "write"]
    assert len(writes) == life["checkpoints"]
    failed = set(rows[rows.kind == "detection"].node)
    assert failed == {"rank1", "node2"}  # of two at a time the last one
    assert set(rows[rows.kind == "lost"].detail) <= {"work", "checkpoint"}

    (line,) = [line for line in process.stdout.splitlines() if line.startswith("life: ")]
    numbers = [float(word) for word in line.split() if word[0].isdigit()]
    names = ("wall", *PARTS)
    assert numbers == [pytest.approx(life[f"{name}_ps"] * 1e-12, abs=6e-7) for name in names]
    assert "3 failures" in process.stdout

    events = [e for e in json.loads(trace.read_text()) if e.get("ph") == "X"]
    drawn = [event for event in events if event["name"] in PARTS]
    assert len(drawn) == len(spans)
    assert sum(event["dur"] for event in drawn) == pytest.approx(life["wall_ps"] * 1e-6)
    assert [event["name"] for event in events].count("write") == len(writes)


def test_lost_iterations_are_not_in_the_results(tmp_path):
    path = tmp_path / "results.sqlite"
    result = dt.TrainingJob(**LIVED, results=path).run()
    for table in ("iteration", "collective", "link_iteration"):
        assert sorted(set(dt.read_results(path, table).iteration)) == list(range(6))
    iterations = dt.read_results(path)
    assert list(iterations.iteration) == list(range(6))
    assert list(iterations.iteration_time_s) == list(result.iterations.iteration_time_s)
    collectives = dt.read_results(path, "collective")
    assert not collectives.duplicated(["rank", "iteration", "communicator", "sequence"]).any()
    again = dt.TrainingJob(**LIVED).run()
    assert again.data["life"] == result.data["life"]


def test_failures_of_a_log(program_json):
    arguments = [
        "training-job",
        f"--workload={SMALL}",
        "--ranks=4",
        "--iterations=40",
        "--checkpoint=blocking",
        "--checkpoint-bytes=40K",
        "--storage-rate=1Tbps",
        "--failures=rsc-1:factor=1e9",
    ]
    first, other = (program_json(*arguments, *more) for more in ([], ["--RngRun=2"]))
    assert first["life"]["failures"] > 0
    assert first["life"]["wall_ps"] != other["life"]["wall_ps"]
    assert len(first["iterations"]) == 41


@pytest.mark.parametrize(
    "options, allowed",
    [
        (["--fail=rank9:1ms"], "rank0 to rank3"),
        (["--fail=rank0:1"], "a time with a unit"),
        (["--fail=rank0"], "TARGET:TIME"),
        (["--fail=host0-host1:1ms"], "host0-switch0"),
        (["--failures=llama4"], "llama3"),
        (["--spares=1"], "with failures or fail"),
        (["--detection=1ms"], "with failures or fail"),
        (["--checkpoint-every=2"], "with checkpoint="),
        (["--storage-rate=1Gbps"], "with checkpoint="),
        (["--checkpoint=blocking", "--snapshot-rate=1Gbps"], "checkpoint=asynchronous"),
        (["--checkpoint=now"], "none|blocking|asynchronous"),
        (["--checkpoint=blocking", "--checkpoint-bytes=0"], "checkpoint-bytes"),
        (["--fail=rank0:1ms", "--collective=switchml"], "collectives on hosts"),
        (["--fail=rank0:1ms", "--collective=nic-ring"], "collectives on hosts"),
        (["--fail=rank0:1ms", "--nic=inceptionn"], "none"),
        (["--fail=rank0:1ms", "--codec=thc"], "none"),
        (["--fail=rank0:1ms", "--gradients=learn", "--workload=auto"], "learn nothing"),
        (["--fail=rank0:1ms", "--energy=h100"], "energy"),
        (["--checkpoint=blocking", "--repeat=derive"], "simulate"),
        (["--checkpoint=blocking", "--topology=ring:4"], "behind 4 ranks"),
    ],
)
def test_refusals_of_failures_by_packets(program, tmp_path, options, allowed):
    path = tmp_path / "results.sqlite"
    arguments = [f"--workload={SMALL}", "--ranks=4", *options, f"--results={path}"]
    process = program("training-job", *arguments)
    assert process.returncode == 2
    (line,) = process.stderr.splitlines()
    assert allowed in line
    assert process.stdout == ""
    assert not path.exists()


def test_failures_that_come_too_fast_end_the_run(program, tmp_path):
    document = tmp_path / "r.json"
    process = program(
        "training-job",
        f"--workload={SMALL}",
        "--ranks=4",
        "--failures=llama3:factor=1e12",
        f"--json={document}",
    )
    assert process.returncode == 3
    (line,) = process.stderr.splitlines()
    assert "failures come faster than the job makes progress" in line
    life = json.loads(document.read_text())["life"]
    assert life["productive_ps"] == 0
    assert sum(life[f"{part}_ps"] for part in PARTS) == life["wall_ps"]


def test_the_example_of_the_documentation(program):
    text = (REPOSITORY / "doc/job-life.rst").read_text(encoding="utf-8")
    command, output = re.search(
        r'run "(training-job [^"]*--fail=[^"]*)"\n\n.. code-block:: none\n\n((?:   .*\n)+)', text
    ).groups()
    process = program(*shlex.split(command))
    assert process.returncode == 0, process.stderr
    lines = process.stdout.splitlines()
    assert [line.strip() for line in output.splitlines()] == [
        line for line in lines if line.startswith(("life:", "effective training"))
    ]
