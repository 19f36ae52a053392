# SPDX-License-Identifier: GPL-2.0-only
"""job-life: the account of a life adds up, lives are reproducible, wrong input is refused."""

from pathlib import Path

import pytest

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
