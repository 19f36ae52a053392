# SPDX-License-Identifier: GPL-2.0-only
"""job-life: the account of a life adds up, lives are reproducible, wrong input is refused."""

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
        ("--load=-1s", "auto, or a time with a unit"),
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
