# SPDX-License-Identifier: GPL-2.0-only
"""The experiment of HPCC's paper: flow-benchmark --preset=hpcc."""

import pytest

QUICK = ["--preset=hpcc", "--ranks=20", "--warm-up=200us", "--duration=2ms"]


@pytest.mark.parametrize("algorithm", ["hpcc", "dcqcn", "dctcp", "timely", "swift", "window"])
def test_slowdowns(program_json, algorithm):
    result = program_json("flow-benchmark", f"--congestion-control={algorithm}", *QUICK)
    assert sum(row["flows"] for row in result["rows"]) == result["flows"] > 20
    assert result["all_flows"] > result["flows"]
    assert result["dropped_frames"] == 0
    assert result["published"] == [], "a smaller cluster cannot be compared"
    for row in result["rows"]:
        if row["flows"]:
            assert 1 <= row["p50_slowdown"] <= row["p95_slowdown"] <= row["p99_slowdown"] < 100


def test_alone_a_flow_takes_its_ideal_time(program_json):
    arguments = ["--flow-sizes=fbhadoop", "--load=0.001", "--congestion-control=none"]
    idle = program_json("flow-benchmark", *QUICK, *arguments, "--warm-up=0", "--duration=50ms")
    assert idle["flows"] > 50
    for row in idle["rows"]:
        if row["flows"]:
            assert row["p50_slowdown"] < 1.005, "neither waiting nor telemetry"


def test_published_slowdowns(program_json):
    arguments = ["--preset=hpcc", "--warm-up=0", "--duration=10us"]
    result = program_json("flow-benchmark", *arguments)
    published = result["published"]
    assert [row["published_p95_slowdown"] for row in published][:3] == [1.3, 1.5, 1.7]
    assert [row["bytes"] for row in published] == [row["bytes"] for row in result["rows"]]
    configuration = result["configuration"]
    assert (configuration["ranks"], configuration["topology"]) == (320, "pods:uplink=400Gbps")
    for changed in ("--load=0.5", "--ranks=160", "--topology=fat-tree:k=12", "--loss=1e-6"):
        assert program_json("flow-benchmark", *arguments, changed)["published"] == []
    rows = program_json("flow-benchmark", *arguments, "--flow-sizes=fbhadoop")["published"]
    assert rows[0]["published_p99_slowdown"] == 2.12
    assert rows[-1]["published_p99_slowdown"] is None and rows[-1]["p99_error_percent"] is None


def test_errors_are_those_of_the_rows(program_json, program):
    arguments = ["--preset=hpcc", "--warm-up=0", "--duration=100us"]
    result = program_json("flow-benchmark", *arguments)
    for row, compared in zip(result["rows"], result["published"]):
        for name in ("p95", "p99"):
            ours = row[f"{name}_slowdown"]
            assert compared[f"{name}_slowdown"] == ours
            if ours is not None:
                ratio = ours / compared[f"published_{name}_slowdown"]
                assert compared[f"{name}_error_percent"] == pytest.approx(100 * (ratio - 1))
    assert "median errors: p95 " in program("flow-benchmark", *arguments).stdout


def test_arguments_go_before_the_preset(program_json):
    # At 50 % no flow queues, but a long flow takes twice the time.
    argument = "--ns3::training::RdmaHpcc::Eta=0.5"
    slow = program_json("flow-benchmark", argument, *QUICK)
    fast = program_json("flow-benchmark", *QUICK)
    assert slow["rows"][-1]["p50_slowdown"] > 1.2 * fast["rows"][-1]["p50_slowdown"]
    slow = program_json("flow-benchmark", "--rate=50Gbps", "--list-flows", *QUICK)["list"]
    assert min(flow["time_s"] - flow["bytes"] / 6.25e9 for flow in slow) > 0


def test_the_ideal_time_counts_the_pipelines_of_switches(program_json):
    argument = "--ns3::training::SwitchDevice::PipelineDelay=20us"
    rows = program_json("flow-benchmark", argument, "--load=0.01", *QUICK)["rows"]
    assert all(0.99 < row["p50_slowdown"] < 1.05 for row in rows if row["flows"])


def test_a_flow_ends_with_its_last_acknowledgement(program_json, tmp_path):
    """The acknowledgement takes 2 links of 500 ns back, and its bytes on each."""
    file = tmp_path / "flows.txt"
    file.write_text("1\n0 1 3 1 6000000000 0\n", encoding="ascii")  # more than one WRITE
    command = ["flow-benchmark", f"--flow-file={file}", "--ranks=2", "--list-flows"]
    times = {}
    for end in ("arrival", "acknowledgement"):
        (flow,) = program_json(*command, f"--flow-end={end}")["list"]
        times[end] = flow["time_s"]
        assert flow["slowdown"] >= 1
    assert 1e-6 < times["acknowledgement"] - times["arrival"] < 1.1e-6


@pytest.mark.parametrize(
    "arguments",
    [
        ["--preset=swift"],
        ["--preset=hpcc", "--topology=pods:pods=0"],
        ["--preset=hpcc", "--load=0"],
        ["--preset=hpcc", "--flow-sizes=x"],
        ["--flow-end=acknowledgement", "--transport=tcp"],
        ["--flow-end=end"],
    ],
)
def test_refusals(program, arguments):
    process = program("flow-benchmark", *arguments)
    assert process.returncode == 2
    assert arguments[-1].split("=")[0] in process.stderr and "allowed" in process.stderr
