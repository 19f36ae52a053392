# SPDX-License-Identifier: GPL-2.0-only
"""MULTITREE's trees match an independent implementation of the published program; the example.

The hashes are SHA-256 of that implementation's trees in the format of --print-trees. They also
check which variants give the same trees.
"""

import hashlib

import pytest

TREES = [
    (
        "torus:2x2",
        "ab7b8fb9cee0930860964169245bbd0bfc717f608025a149ad9c22062b897510",
        ["id last", "sorted last", "id any"],
    ),
    (
        "torus:3x3",
        "ac588ac30a06d173eefe2c05c16ae1bd93b62baef595c671a50e54cff517c1c2",
        ["id last", "sorted last", "id any"],
    ),
    (
        "torus:4x4",
        "f72be481b709e8fd210633ad4ee43c2120e5ed60fe9ad1d05946b29777c7e135",
        ["id last", "sorted last", "id any"],
    ),
    (
        "mesh:3x3",
        "c577d22f76c91b74317a39962ad6a0f0d038a4ca5fb425eaf19f5bef24c84b40",
        ["id last"],
    ),
    (
        "mesh:3x3",
        "0657b090cc329d15a639cdac7739be52e71829c14e04d3cfa05f8ec0d6b2be41",
        ["sorted last"],
    ),
    (
        "mesh:3x3",
        "f3a49b839944715ef3c59c2c5553283f3f21c3bed55139b67ef78a8d956d809f",
        ["id any"],
    ),
    (
        "mesh:4x4",
        "c43f450a2015e2d93af6d02f1eb423184dfa12460eb7d6b2eb3f76f4068a1a50",
        ["id last"],
    ),
    (
        "mesh:4x4",
        "20b37d18a7770c350be9248c843731a6ecc00a7d7126334f07c9386a57ee2552",
        ["sorted last"],
    ),
    (
        "mesh:4x4",
        "cd66d8ce257ca85e4b2a371917d0eeef2412531d66578ea1b5893457cbede477",
        ["id any"],
    ),
    (
        "two-switch:hosts-per-switch=8",
        "e7599daf19c2da2641291ea23a127dfbd75251b975a886ce48b77729e31936a4",
        ["id last", "id any"],
    ),
    (
        "two-switch:hosts-per-switch=8",
        "fa750cb372f04da1da5a7299e21cfe8e877c9bc1d5cad9feaf5f8f6ea8ecfc79",
        ["sorted last"],
    ),
    (
        "m-ary-n-tree:m=4,n=2",
        "e7599daf19c2da2641291ea23a127dfbd75251b975a886ce48b77729e31936a4",
        ["id last", "id any"],
    ),
    (
        "m-ary-n-tree:m=4,n=2",
        "feb6d40a51cc2a036f328436e9177a05baff6f43aec84453b4a61e2968b2edc4",
        ["sorted last"],
    ),
    (
        "bigraph:m=2,n=8",
        "67846b7ac56c64b3ffd1349be94bd052885daaeaa004607fbd77747e735d26a5",
        ["id last", "id any"],
    ),
    (
        "bigraph:m=2,n=8",
        "70a391ac3fdcd4c8bcc669d8c848e72eb6795371329f097f7ed2fcae53e2369b",
        ["sorted last"],
    ),
    (
        "bigraph:m=4,n=8",
        "5e0d2535025664174e6c93e65c6237b7768159cce120081a105ead4230f7f3a0",
        ["id last", "id any"],
    ),
    (
        "bigraph:m=4,n=8",
        "7a6965954f22afebd8c81ccd2fc7a7d4260366b86097e0a4284ccb537753d8a2",
        ["sorted last"],
    ),
]


@pytest.mark.parametrize("topology, digest, variants", TREES)
def test_trees(program, topology, digest, variants):
    for variant in variants:
        order, stop = variant.split()
        process = program(
            "collective-benchmark",
            f"--collective=multitree:order={order},stop={stop}",
            f"--topology={topology}",
            "--print-trees",
        )
        assert process.returncode == 0, process.stderr
        trees = process.stdout.rstrip("\n")
        assert hashlib.sha256(trees.encode()).hexdigest() == digest, (topology, variant)


def test_trees_of_some_ranks(program):
    process = program(
        "collective-benchmark",
        "--collective=multitree",
        "--topology=single-switch",
        "--ranks=3",
        "--print-trees",
    )
    assert process.stdout == "0:1<0@0,2<0@1;1:0<1@0,2<1@2;2:0<2@1,1<2@2\n"


def test_set_up(program):
    """A ring of N has 2 (N - 1) sends and receives per rank, a tree of N ranks as many edges."""
    for algorithm in ("ring", "multitree"):
        process = program(
            "collective-benchmark",
            "--set-up",
            f"--collective={algorithm}",
            "--topology=torus:4x4",
            "--ranks=16",
            "--bytes=1M",
        )
        assert process.returncode == 0, process.stderr
        ranks, actions, seconds, kept, peak = process.stdout.splitlines()[-1].split()
        assert (int(ranks), int(actions)) == (16, 16 * 15 * 2 * 2)
        assert 0 <= float(seconds) < 10
        assert 0 < float(kept) < 1
        assert 0 <= float(peak) < 100


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--set-up", "--json=-"], "--set-up with --json (allowed: without)"),
        (["--set-up", "--sweep=algorithms"], "--set-up with --sweep (allowed: without)"),
        (["--set-up", "--operation=all-to-all-v", "--collective=swing"], "has no all-to-all-v"),
        (["--print-trees"], "--collective=ring (allowed: multitree)"),
        (["--order=id"], "--order=id: written as --collective=multitree:order=id (allowed: "),
        (["--stop=last"], "--stop=last: written as --collective=multitree:stop=last (allowed: "),
        (["--collective=multitree:order=none", "--print-trees"], "'order=none' (allowed: "),
        (
            ["--collective=multitree", "--print-trees", "--topology=torus:2x2", "--ranks=5"],
            "(allowed: 1 to 4",
        ),
    ],
)
def test_refused(program, arguments, message):
    process = program("collective-benchmark", *arguments)
    assert process.returncode == 2
    assert message in process.stderr
    assert process.stdout == ""


def test_example(program_json):
    result = program_json(
        "multitree-allreduce",
        "--part=sizes",
        "--topology=mesh:4x4",
        "--topology=bigraph:m=2,n=8",
        "--bytes=64K,4M",
    )
    steps = {(row["topology"], row["contender"]): row for row in result["steps"]}
    for row in steps.values():
        assert row["published"] in (None, row["ours"])
    assert steps["mesh:4x4", "MULTITREE"]["published"] == 16
    assert steps["mesh:4x4", "2D-ring"]["published"] == 12
    assert steps["bigraph:m=2,n=8", "HDRM"]["published"] == 8
    rows = {(row["topology"], row["contender"], row["bytes"]): row for row in result["rows"]}
    assert len(rows) == 2 * 5 * 2
    for (topology, contender, size), row in rows.items():
        assert row["algbw_GBps"] == pytest.approx(size / row["time_us"] / 1e3)
        best = rows[topology, "MULTITREE-MSG", size]["time_us"]
        assert contender == "MULTITREE-MSG" or row["time_us"] > best
    # On a mesh the corners receive 15/16 of the vector twice over two links of 16 GB/s, and
    # packets have one head flit for sixteen.
    large = 4 << 20
    messages = rows["mesh:4x4", "MULTITREE-MSG", large]["time_us"]
    packets = rows["mesh:4x4", "MULTITREE", large]["time_us"]
    ideal = 16 / 16 * large / 16e3
    assert ideal < messages < 1.15 * ideal
    assert packets / messages == pytest.approx(17 / 16, rel=0.02)


def test_example_figures(program_json):
    result = program_json("multitree-allreduce", "--part=scaling", "--sides=2,4")
    assert [row["nodes"] for row in result["rows"]] == [4] * 5 + [16] * 5
    assert result["figures"] == [], "no figures are published for so few nodes"
    faster = program_json("multitree-allreduce", "--part=scaling", "--sides=4", "--rate=256Gbps")
    for slow, fast in zip(result["rows"][5:], faster["rows"]):
        assert 1.4 < slow["time_us"] / fast["time_us"] < 2
    last = program_json(
        "multitree-allreduce",
        "--part=sizes",
        "--topology=mesh:4x4",
        "--bytes=1K",
        "--stop=last",
    )
    published = {row["contender"]: row["published"] for row in last["steps"]}
    assert published["MULTITREE"] == last["steps"][-1]["ours"] == 20


def test_example_iterations(program_json):
    result = program_json("multitree-allreduce", "--part=networks")
    # Cycles of SCALE-Sim's model, and samples that a node's 16 elements sum up, 32 at a time.
    compute = {
        "AlphaGoZero": (1232674, 1573620),
        "FasterRCNN": (17023566, 13258944),
        "GoogLeNet": (9342687, 6854208),
        "NCF": (916002, 11042704),
        "ResNet-50": (17302718, 25502912),
        "Transformer": (7341086, 77418328),
    }
    iterations = {row["network"]: row for row in result["iterations"]}
    for name, (cycles, parameters) in compute.items():
        row = iterations[name]
        assert row["compute_Mcycles"] == pytest.approx(cycles * 1e-6)
        assert row["aggregation_Mcycles"] == pytest.approx(parameters / 32 * 1e-6, rel=1e-3)
        rest = row["compute_Mcycles"] + row["aggregation_Mcycles"]
        # All steps of a ring on the line, with head flits; additions of each step come on top.
        line = 2 * 63 / 64 * 4 * parameters / 16 * 17 / 16 * 1e-6
        assert line < row["ring_Mcycles"] < 1.1 * line
        share = row["ring_Mcycles"] / (rest + row["ring_Mcycles"])
        assert row["ring_share_percent"] == pytest.approx(100 * share)
        assert row["less_than_ring_percent"] < row["ring_share_percent"]
        gain = 1 - row["multitree_Mcycles"] / row["ring_Mcycles"]
        assert row["less_than_ring_percent"] == pytest.approx(100 * share * gain)
        assert 1 <= row["overlapped_speedup_ring_2d"] <= row["overlapped_speedup_ring"]
    figures = {row["figure"]: row for row in result["figures"]}
    most = figures["largest saving of an all-reduce that takes no time, over ring"]
    saving = figures["NCF, Transformer: largest saving over ring"]
    assert saving["published"] == 81 and saving["ours"] < 70 < most["ours"]
    assert figures["NCF, Transformer: largest saving over 2D-ring"]["ours"] == pytest.approx(
        30, abs=3
    )


@pytest.mark.extensive
def test_example_interfaces(program_json):
    result = program_json("multitree-allreduce", "--part=interfaces")
    figures = {row["figure"]: row for row in result["figures"]}
    for name, tolerance in (
        ("torus:4x4, alpha: 1 interface, packets, 30 steps", 0.01),
        ("torus:4x4, gamma: 1 interface, messages, 30 steps", 0.01),
        ("torus:8x8, alpha: 1 interface, packets, 126 steps", 0.01),
        ("torus:8x8, beta: 4 interfaces, packets, 34 steps", 0.03),
        ("torus:8x8, gamma: 1 interface, messages, 126 steps", 0.01),
        ("torus:8x8, delta: 4 interfaces, messages, 34 steps", 0.03),
    ):
        row = figures[name]
        assert row["expected"] * (1 - tolerance) < row["ours"] < row["expected"], name
    gain = figures["torus:8x8: gain of message over packet flow control, 1 interface"]
    assert gain["expected"] == 6.25
    assert gain["ours"] == pytest.approx(6.25, abs=0.1)
    assert figures["torus:8x8: entries of the largest schedule table"]["ours"] <= 128
    assert figures["mesh:8x8: entries of the largest schedule table"]["ours"] > 128


def test_large_vectors_are_on_a_line(program_json):
    options = ["--part=sizes", "--topology=mesh:4x4", "--bytes=16M"]
    quick = program_json("multitree-allreduce", *options)["rows"]
    full = program_json("multitree-allreduce", *options, "--full")["rows"]
    assert [row["contender"] for row in quick] == [row["contender"] for row in full]
    assert quick[0]["time_us"] != full[0]["time_us"]
    for row, exact in zip(quick, full):
        assert row["time_us"] == pytest.approx(exact["time_us"], rel=0.03), row["contender"]


@pytest.mark.parametrize(
    "argument, message",
    [
        ("--sides=4x", "--sides"),
        ("--sides=0", "torus:0x0"),
        ("--topology=taurus", "taurus"),
        ("--bytes=", "--bytes"),
        ("--mtu=100", "--mtu"),
    ],
)
def test_example_refuses(program, argument, message):
    process = program("multitree-allreduce", argument)
    assert process.returncode == 2
    assert message in process.stderr
