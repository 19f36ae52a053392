# SPDX-License-Identifier: GPL-2.0-only
"""The example topology-codesign: closed forms of its collectives, output, refusals."""

import math

import pytest

MIB = 1 << 20
LOCAL = 64e3  # bytes per us of a link within a package
HOP = 0.095  # us


@pytest.fixture(scope="module")
def operations(program_json):
    return program_json("topology-codesign", "--part=operations")


def test_operations_take_what_closed_forms_say(operations):
    rows = operations["rows"]
    assert len(rows) == sum(2 * (1 + 2 * nodes) for nodes in (4, 8))
    for row in rows:
        n, k = row["nodes"], row["switches"]
        part = MIB / n / LOCAL
        extra = 0
        if k == 0:
            steps = 2 * (n - 1) if row["what"] == "all-reduce" else n - 1
            volume = 2 * (n - 1) if row["what"] == "all-reduce" else n * (n - 1) / 2
            expected = steps * HOP + volume * part
        elif row["what"] == "all-reduce":
            links = k if row["striped"] else 1
            expected = math.log2(n) * (2 * HOP + n * part / links)
        elif row["striped"]:
            expected = (n - 1) * (2 * HOP + part / k)
        else:  # so many messages in sequence, or one more where two begin with a switch
            expected = 2 * HOP + math.ceil((n - 1) / k) * part
            extra = part
        # A packet is 64 ns, and a message in k parts ends with packets that are not full.
        assert expected < row["time_us"] < 1.05 * expected + 0.4 + extra, row


def test_figures_are_those_of_the_rows(operations):
    times = {
        (row["what"], row["nodes"], row["switches"], row["striped"]): row["time_us"]
        for row in operations["rows"]
    }
    figures = [figure for figure in operations["figures"] if figure["unit"] == "%"]
    assert len(figures) == 4
    for figure in figures:
        what, nodes = figure["figure"].split(", N=")
        ring = times[what, int(nodes), 0, True]
        assert figure["reading"] == f"k={nodes}, striped"
        ours = times[what, int(nodes), int(nodes), True]
        assert figure["ours"] == pytest.approx(100 * (ours / ring - 1))
        everything = [
            100 * (time / ring - 1)
            for (other, n, k, _), time in times.items()
            if (other, n) == (what, int(nodes)) and k > 0
        ]
        best = min(everything, key=lambda value: abs(value - figure["published"]))
        assert figure["closest"] == pytest.approx(best)
        assert abs(figure["closest"] - figure["published"]) < 2


def test_steps_and_best_number_of_switches(operations):
    figures = {figure["figure"]: figure for figure in operations["figures"]}
    steps = figures["all-to-all, steps saved, N=8"]
    assert steps["published"] == steps["closest"] == 28 - 7
    assert steps["ours"] == pytest.approx(21, abs=0.5)
    for nodes, published in ((4, 3), (8, 4)):
        best = figures[f"best k, all-reduce, N={nodes}"]
        assert best["published"] == best["closest"] == published
        assert 1 <= best["ours"] <= nodes


def test_tables(program_json):
    tables = program_json("topology-codesign", "--part=tables")["tables"]
    ours = {row["parameter"]: row["ours"] for row in tables}
    assert len(tables) == len(ours) == 15
    assert ours["DLRM_HybridParallel"].startswith("7 all-reduce + 2 all-to-all per iteration, 51.378 us")
    assert ours["link and router in a package"] == "95ns"
    assert ours["link and router between packages"] == "205ns"


def test_hardware_is_that_of_dsent(program_json):
    figures = program_json("topology-codesign", "--part=hardware")["figures"]
    # DSENT 0.91: mm2, and W with 0.3 flits per port and cycle, of routers by ports.
    area = {4: 0.36685, 7: 0.91000, 8: 1.14233, 9: 1.40038}
    power = {4: 0.082427, 7: 0.160278, 8: 0.189053, 9: 0.220420}
    for what, of in (("energy", power), ("area", area)):
        for nodes, switches in ((4, 3), (8, 4)):
            (figure,) = [f for f in figures if f["figure"] == f"{what}, by a model, N={nodes}"]
            proposed = 4 * nodes * of[switches + 5] + 4 * switches * of[nodes]
            change = 100 * (proposed / (4 * nodes * of[7]) - 1)
            assert figure["ours"] == pytest.approx(change, rel=0.02)
    assert [figure["published"] for figure in figures] == [7.65, 1.78, 12.42, 25.07]


@pytest.mark.extensive
def test_trainings(program_json):
    result = program_json("topology-codesign", "--part=training", "--nodes=4")
    rows = [row for row in result["rows"] if row["striped"]]
    # Compute of two iterations, which does not overlap.
    compute = {
        "DLRM_HybridParallel": 51.386,
        "MLP_ModelParallel": 195.206,
        "MLP_HybridParallel_Data_Model": 236.649,
    }
    for row in rows:
        assert row["time_us"] > 2 * compute[row["what"]]
        if row["switches"] == 0:
            assert row["speedup"] == 1
        else:
            assert 1 < row["speedup"] < 2
    model = [row for row in rows if row["what"] == "MLP_ModelParallel"]
    assert [(row["switches"], row["gather_first"]) for row in model] == [
        (switches, first) for first in ("package", "torus") for switches in (0, 3, 4)
    ]
    (figure,) = [row for row in result["figures"] if row["figure"] == "MLP_ModelParallel, N=4"]
    assert figure["published"] == 1.22
    assert figure["closest"] == pytest.approx(1.22, abs=0.02)
    assert figure["closest_reading"] == "k=3, striped, all-gather torus first"


def test_text_and_options(program, tmp_path):
    process = program(
        "topology-codesign",
        "--part=sizes",
        "--nodes=4",
        "--bytes=64K",
        f"--json={tmp_path}/out.json",
    )
    assert process.returncode == 0
    assert "published: always" in process.stdout
    assert (tmp_path / "out.json").read_text().count('"speedup"') == 4


@pytest.mark.parametrize(
    "argument, message",
    [
        ("--nodes=1", "--nodes=1 (allowed: 2 to 64 each)"),
        ("--nodes=4x", "--nodes"),
        ("--nodes=65", "--nodes=65"),
        ("--bytes=", "--bytes"),
        ("--mtu=100", "--mtu"),
        ("--segments=0", "--segments"),
        ("--part=energy", "--part"),
    ],
)
def test_refused(program, argument, message):
    process = program("topology-codesign", argument)
    assert process.returncode == 2
    assert message in process.stderr
    assert process.stdout == ""
