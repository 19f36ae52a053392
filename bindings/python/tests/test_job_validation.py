# SPDX-License-Identifier: GPL-2.0-only
"""The program job-validation: calibrations reproduce their rows, predictions the published ones."""

import pytest


@pytest.fixture(scope="module")
def rows(program_json):
    """Return a function that runs a part and returns its rows by figure."""

    def run(part):
        result = program_json("job-validation", f"--part={part}")
        found = {row["figure"]: row for row in result["rows"]}
        assert len(found) == len(result["rows"])
        for row in found.values():
            assert row["role"] in ("calibration", "predicted")
            if row["published"] is None:
                assert row["error_percent"] is None
            else:
                error = 100 * (row["ours"] / row["published"] - 1)
                assert row["error_percent"] == pytest.approx(error)
        return found

    return run


def test_mlperf(rows):
    table = rows("mlperf")
    # Two equations: micro-batches and a bubble of (8 - 1) / 8 of one, and what is not hidden.
    unit = (55.102 - 11.185) / (288 - 56)
    fixed = 55.102 - unit * (288 + 7 / 8)
    assert table["time of a micro-batch"]["ours"] == pytest.approx(unit)
    assert table["time that is not hidden"]["ours"] == pytest.approx(fixed)
    for gpus, batches, seconds in ((512, 288, 55.102), (2560, 56, 11.185)):
        row = table[f"{gpus} GPUs, {batches} micro-batches"]
        assert row["role"] == "calibration"
        assert row["ours"] == pytest.approx(seconds)
    for tokens in (311, 328, 326):
        row = table[f"1024 GPUs, 192 micro-batches: {tokens} tokens/s of a GPU in one release"]
        assert row["role"] == "predicted"
        assert row["published"] == pytest.approx(8192 * 1536 / 1024 / tokens)
        assert row["ours"] == pytest.approx(unit * (192 + 7 / 8) + fixed)
    # What is hidden is between nothing and everything.
    for name, seconds in (("2560 GPUs from 512", 11.185), ("512 GPUs from 2560", 55.102)):
        both = sorted(
            table[f"{name}: {what}"]["ours"]
            for what in ("all is hidden", "exchanges of replicas exposed")
        )
        assert both[0] < seconds < both[1]


def test_operations(rows):
    table = rows("operations")
    assert len(table) == 10
    for row in table.values():
        # The graph counts the output layer's operations as the formula does.
        assert row["ours"] == pytest.approx(row["published"], rel=5e-4)
    assert table["megatron-1008b, 3072 GPUs"]["published"] == pytest.approx(102.63, abs=0.005)


def test_experts(rows):
    table = rows("experts")
    # Two equations: 7 of 8 parts leave a GPU; dispatch has 8 bits and a byte for 32 of them.
    dispatch = 128 * 8 * 7168 * (1 + 1 / 32)
    combine = 128 * 8 * 7168 * 2
    rate = (combine - dispatch) * 7 / 8 / 37e-6
    kernels = 77 - 1e6 * dispatch * 7 / 8 / rate
    assert table["rate of NVLink"]["ours"] == pytest.approx(rate * 1e-9)
    assert table["time of kernels beside the exchange"]["ours"] == pytest.approx(kernels)
    for name, size in (("dispatch", dispatch), ("combine", combine)):
        near = table[f"low latency, {name}, 8 ranks"]
        assert near["expected"] == pytest.approx(near["published"])
        assert near["ours"] == pytest.approx(near["expected"], rel=0.02)
        far = table[f"low latency, {name}, 16 ranks"]
        assert far["expected"] == pytest.approx(kernels + 1e6 * size / 2 / 50e9)
        assert far["expected"] < far["ours"] < 1.04 * far["expected"], "headers"
        line = table[f"normal, {name}, 16 ranks: rate of a NIC"]
        assert 0.97 * 50 < line["ours"] < 50


def test_zero(rows):
    table = rows("zero")
    forward = table["ZeRO-3, forward"]
    assert forward["role"] == "calibration"
    assert forward["ours"] == pytest.approx(forward["published"], rel=1e-3)
    rate = table["rate of a NIC that the forward pass of ZeRO-3 implies"]["ours"]
    parameters = 12 * 40 * 6144**2 + 13 * 40 * 6144 + (51200 + 512) * 6144
    bits = 16 * parameters * 63 / 64
    assert forward["expected"] == pytest.approx(bits / rate * 1e-6, rel=1e-3)
    # Gathered again, and reduced: twice the bytes. Half of them, and an eighth, with ZeRO++.
    backward = table["ZeRO-3, backward"]
    assert backward["expected"] == pytest.approx(2 * forward["expected"])
    assert 1 < backward["ours"] / backward["expected"] < 1.05
    quantized = table["ZeRO++, forward"]
    assert quantized["expected"] == pytest.approx(forward["expected"] / 2)
    assert 1 < quantized["ours"] / quantized["expected"] < 1.05
    gain = table["speed-up of ZeRO++"]
    assert gain["ours"] == pytest.approx(
        table["ZeRO-3, iteration"]["ours"] / table["ZeRO++, iteration"]["ours"]
    )
