# SPDX-License-Identifier: GPL-2.0-only
"""The example switch-parameter-server: closed forms, the trace of a worker, refusals."""

import pytest

# ResNet-50.
GRADIENT_BYTES = 4 * 25557032


@pytest.fixture(scope="module")
def result(program_json):
    return program_json("switch-parameter-server")


@pytest.mark.extensive
def test_rows_are_close_to_their_closed_forms(result):
    rows = result["rows"]
    assert len({row["figure"] for row in rows}) == len(rows)
    compared = [row for row in rows if None not in (row["expected"], row["ours"])]
    assert len(compared) == len(rows) - 4  # a survey, two of a trace without a formula, a fit
    for row in compared:
        if row["unit"] == "2^-24":  # 20 iterations of float32
            assert 0 < row["ours"] < 20
        else:
            assert row["ours"] == pytest.approx(row["expected"], rel=0.05)


@pytest.mark.extensive
def test_the_server_of_the_paper_leaves_workers_waiting(result):
    shares = {
        row["figure"].removesuffix(": share of time that it waits"): row["ours"]
        for row in result["rows"]
        if row["figure"].endswith("waits")
    }
    assert len(shares) == 6
    for name, share in shares.items():
        assert (share > 50) == name.endswith("on a host"), name


def test_trace_of_a_worker(result):
    trace = result["trace"]
    interval = 0.005
    assert [row["time_s"] for row in trace] == pytest.approx(
        [interval * i for i in range(len(trace))]
    )
    # Three iterations: gradients go out and weights come in, in frames with headers.
    for key in ("sent_Gbps", "received_Gbps"):
        assert all(0 <= row[key] <= 10 for row in trace)
        moved = sum(row[key] for row in trace) * interval * 1e9 / 8
        assert 1.01 < moved / (3 * GRADIENT_BYTES) < 1.04
    least = min(row["memory_MB"] for row in trace)
    assert least == pytest.approx(2 * GRADIENT_BYTES * 1e-6)
    for before, row in zip(trace, trace[1:]):
        if row["phase"] in ("wait", "update"):
            assert row["memory_MB"] == least
        elif row["phase"] == before["phase"]:  # it grows on the way forward only
            sign = 1 if row["phase"] == "forward" else -1
            assert sign * (row["memory_MB"] - before["memory_MB"]) >= 0
        if row["phase"] == before["phase"] == "forward":
            assert row["sent_Gbps"] == 0  # no overlap
    order = [row["phase"] for before, row in zip(trace, trace[1:]) if row["phase"] != before["phase"]]
    assert [phase for phase in order if phase != "update"] == ["backward", "wait", "forward"] * 2 + [
        "backward",
        "wait",
    ]


@pytest.mark.parametrize(
    "argument, message",
    [
        ("--interval=9us", "--interval=9us (allowed: 10us to 1s)"),
        ("--interval=2s", "--interval=2s (allowed: 10us to 1s)"),
        ("--part=figure4", "--part"),
    ],
)
def test_refused(program, argument, message):
    process = program("switch-parameter-server", argument)
    assert process.returncode == 2
    (line,) = process.stderr.splitlines()
    assert message in line
    assert process.stdout == ""
