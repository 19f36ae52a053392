# SPDX-License-Identifier: GPL-2.0-only
"""The program hpcc-fct, which has no class in the package."""

import pytest

QUICK = ["--scale=16", "--warm-up=200us", "--duration=2ms"]


@pytest.mark.parametrize("algorithm", ["hpcc", "dcqcn", "dctcp", "timely", "swift", "window"])
def test_slowdowns(program_json, algorithm):
    result = program_json("hpcc-fct", f"--congestion-control={algorithm}", *QUICK)
    assert sum(row["flows"] for row in result["rows"]) == result["flows"] > 20
    assert result["all_flows"] > result["flows"]
    assert result["dropped_frames"] == 0
    for row in result["rows"]:
        assert row["published_p95"] is None, "a smaller cluster cannot be compared"
        if row["flows"]:
            assert 1 <= row["p50"] <= row["p95"] <= row["p99"] < 100


def test_alone_a_flow_takes_its_ideal_time(program_json):
    arguments = ["--flow-sizes=fbhadoop", "--scale=16", "--warm-up=0", "--load=0.001"]
    idle = program_json("hpcc-fct", "--congestion-control=none", "--duration=50ms", *arguments)
    assert idle["flows"] > 50
    for row in idle["rows"]:
        if row["flows"]:
            assert row["p50"] < 1.005, "neither waiting nor telemetry"


def test_published_columns(program_json):
    arguments = ["--warm-up=0", "--duration=10us"]
    rows = program_json("hpcc-fct", *arguments)["rows"]
    assert [row["published_p95"] for row in rows][:3] == [1.3, 1.5, 1.7]
    rows = program_json("hpcc-fct", "--load=0.5", *arguments)["rows"]
    assert all(row["published_p95"] is None for row in rows)
    rows = program_json("hpcc-fct", "--flow-sizes=fbhadoop", *arguments)["rows"]
    assert rows[0]["published_p99"] == 2.12 and rows[-1]["published_p99"] is None


def test_arguments_go_before_the_paper(program_json):
    # At 50 % no flow queues, but a long flow takes twice the time.
    argument = "--ns3::training::RdmaHpcc::Eta=0.5"
    slow = program_json("hpcc-fct", argument, *QUICK)
    fast = program_json("hpcc-fct", *QUICK)
    assert slow["rows"][-1]["p50"] > 1.2 * fast["rows"][-1]["p50"]


def test_the_ideal_time_counts_the_pipelines_of_switches(program_json):
    argument = "--ns3::training::SwitchDevice::PipelineDelay=20us"
    rows = program_json("hpcc-fct", argument, "--load=0.01", *QUICK)["rows"]
    assert all(0.99 < row["p50"] < 1.05 for row in rows if row["flows"])


@pytest.mark.parametrize(
    "argument",
    ["--scale=3", "--scale=32", "--duration=0", "--load=0", "--load=1", "--flow-sizes=x"]
    + ["--duration=9000000s", "--warm-up=9000000s"],
)
def test_refusals(program, argument):
    process = program("hpcc-fct", argument)
    assert process.returncode == 2
    assert argument.split("=")[0] in process.stderr and "allowed" in process.stderr
