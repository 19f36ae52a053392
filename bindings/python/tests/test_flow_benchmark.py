# SPDX-License-Identifier: GPL-2.0-only
"""The program flow-benchmark: flows conserved, in every output, and refusals."""

import csv
import sqlite3

import pytest

QUICK = ["--flow-sizes=alistorage", "--ranks=6", "--duration=100us"]


def write_flows(path, rows):
    path.write_text(f"{len(rows)}\n" + "".join(f"{row}\n" for row in rows), encoding="utf-8")
    return f"--flow-file={path}"


@pytest.mark.parametrize("transport", ["rdma", "tcp", "uec", "mrc"])
@pytest.mark.parametrize("pattern", ["random", "permutation", "incast:senders=5"])
def test_flows_are_conserved(program_json, transport, pattern):
    result = program_json(
        "flow-benchmark",
        f"--transport={transport}",
        f"--pattern={pattern}",
        "--list-flows",
        *QUICK,
    )
    flows = result["list"]
    assert len(flows) == result["ended_flows"] <= result["all_flows"]
    assert sum(flow["bytes"] for flow in flows) == result["ended_bytes"] <= result["bytes"]
    measured = [flow for flow in flows if flow["measured"]]
    assert len(measured) == result["flows"] == result["all"]["flows"] > 0
    assert sum(row["flows"] for row in result["rows"]) == result["flows"]
    assert max(flow["slowdown"] for flow in measured) >= result["all"]["p999_slowdown"]
    for flow in flows:
        assert flow["source"] != flow["destination"]
        assert flow["time_s"] == pytest.approx(flow["end_s"] - flow["start_s"], abs=1e-11)
        assert flow["slowdown"] == pytest.approx(flow["time_s"] / flow["idle_time_s"])
        assert flow["slowdown"] > 0.9999


@pytest.mark.parametrize(
    "network",
    [
        ["--topology=fat-tree:k=4"],
        ["--topology=torus:4x4"],
        ["--topology=leaf-spine", "--mtu=1001"],
        ["--topology=rail-optimized:servers=4,gpus=4", "--rate=400Gbps"],
    ],
)
def test_a_lone_flow_has_a_slowdown_of_1(program_json, tmp_path, network):
    sizes = [1, 1000, 4097, 1000000, 10000000]
    rows = [f"0 15 3 100 {size} {2 + i / 100}" for i, size in enumerate(sizes)]
    flows = write_flows(tmp_path / "flows.txt", rows)
    result = program_json("flow-benchmark", flows, "--list-flows", *network)
    assert [flow["bytes"] for flow in result["list"]] == sizes
    for flow in result["list"]:
        assert flow["slowdown"] == pytest.approx(1, abs=6e-3 if "torus" in network[0] else 1e-4)
    assert result["flows"] == result["all_flows"] == len(sizes)


def test_every_output_has_the_same_flows(program_json, tmp_path):
    paths = [tmp_path / "runs.sqlite", tmp_path / "flows.csv"]
    outputs = [f"--results={paths[0]}", f"--csv={paths[1]}"]
    result = program_json("flow-benchmark", "--list-flows", *outputs, *QUICK)
    with open(paths[1], encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    connection = sqlite3.connect(paths[0])
    connection.row_factory = sqlite3.Row
    stored = connection.execute("SELECT * FROM flow ORDER BY flow").fetchall()
    connection.close()
    listed = sorted(result["list"], key=lambda flow: flow["flow"])
    rows.sort(key=lambda row: int(row["flow"]))
    assert len(rows) == len(stored) == len(listed) > 0
    for flow, row, line in zip(listed, stored, rows):
        for name, value in flow.items():
            assert float(row[name]) == pytest.approx(float(value))
            assert float(line[name]) == pytest.approx(float(value))
    again = program_json("flow-benchmark", "--list-flows", *outputs, *QUICK)
    assert again["list"] == result["list"]


def test_two_flows_share_a_link(program_json, tmp_path):
    flows = write_flows(tmp_path / "flows.txt", ["0 2 3 1 10000000 0", "1 2 3 1 10000000 0"])
    result = program_json("flow-benchmark", flows, "--ranks=3", "--congestion-control=none")
    assert result["all"]["p50_slowdown"] == pytest.approx(2, rel=0.01)


@pytest.mark.parametrize(
    "arguments, text",
    [
        (["--ranks=1"], "--ranks=1 (allowed: 2 and more)"),
        (["--load=0"], "--load=0"),
        (["--duration=0"], "--duration=0ps (allowed: more than 0"),
        (["--duration=200s"], "--duration=200s (allowed: more than 0, up to 100s)"),
        (["--warm-up=200s"], "--warm-up=200s"),
        (["--pattern=randm"], "--pattern=randm; did you mean random?"),
        (["--pattern=incast:senders=16"], "senders=16 among 16 hosts (allowed: 1 to 15)"),
        (["--flow-sizes=fixed:bytes=1", "--duration=1s", "--load=0.9"], "--duration=1s for "),
        (["--flow-file=/nowhere"], "flow file /nowhere: cannot be read"),
        (["--flow-file=x", "--load=0.2"], "--load with --flow-file=x (allowed: one of them"),
        (["--list-flows"], "--list-flows without --json"),
        (["--port-pairs=stripe"], "--port-pairs=stripe (allowed: turns"),
        (["--path=schedule"], "--path=schedule (allowed: "),
        (["--csv=/no/such/folder/x.csv"], "--csv: "),
    ],
)
def test_refusals(program, arguments, text):
    process = program("flow-benchmark", *arguments)
    assert process.returncode == 2
    (line,) = process.stderr.splitlines()
    assert text in line
    assert process.stdout == ""


def test_files_of_others_stay(program, tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("a,b\n", encoding="utf-8")
    process = program("flow-benchmark", f"--csv={path}", *QUICK)
    assert process.returncode == 2 and "has other content" in process.stderr
    assert path.read_text(encoding="utf-8") == "a,b\n"


def test_a_dead_host_is_named(program, tmp_path):
    flows = write_flows(tmp_path / "flows.txt", ["0 1 3 1 1000 0"])
    process = program("flow-benchmark", flows, "--ranks=3", "--fault=host1-switch0:down")
    assert process.returncode == 3
    assert "flow 0 from host 0 to host 1 failed" in process.stderr
