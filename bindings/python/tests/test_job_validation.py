# SPDX-License-Identifier: GPL-2.0-only
"""The program job-validation: calibrations reproduce their rows, predictions the published ones."""

import math

import pytest


@pytest.fixture(scope="module")
def rows(program_json):
    """Return a function that runs a part and returns its rows by figure."""

    def run(part):
        result = program_json("job-validation", f"--part={part}")
        found = {row["figure"]: row for row in result["rows"]}
        assert len(found) == len(result["rows"])
        for row in found.values():
            assert row["role"] in ("calibration", "predicted", "property")
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
        assert row["role"] == "property"
        assert row["published"] == pytest.approx(8192 * 1536 / 1024 / tokens)
        assert row["ours"] == pytest.approx(unit * (192 + 7 / 8) + fixed)
    # One row from the other, with all exchanges of replicas hidden: bubbles and micro-batches alone.
    for name, ours, published in (
        ("2560 GPUs from 512", 55.102 * (56 + 7 / 8) / (288 + 7 / 8), 11.185),
        ("512 GPUs from 2560", 11.185 * (288 + 7 / 8) / (56 + 7 / 8), 55.102),
    ):
        row = table[f"{name}: exchanges of replicas hidden"]
        assert row["role"] == "property"
        assert row["ours"] == pytest.approx(ours)
        assert row["published"] == published


@pytest.mark.takes_forever
def test_replicas(rows):
    table = rows("replicas")
    assert len(table) == 4 * 3
    # Layers, embeddings of words and of places; all parts of a GPU, whose NICs are 8 of a server.
    for name, hidden, layers, tensor, alone, both in (
        ("1B, tensor 1", 1920, 24, 1, 1076, 1153),
        ("2B, tensor 2", 2304, 30, 2, 1026, 1101),
        ("4B, tensor 4", 3072, 36, 4, 1162, 1242),
        ("8B, tensor 8", 4096, 42, 8, 1343, 1380),
    ):
        assert table[f"{name}: iteration without replicas"]["ours"] == alone
        parameters = (12 * layers * hidden**2 + (51200 + 1024) * hidden) / tensor
        line = 2 * 2 * parameters * 127 / 128 / (25e9 * 8 / tensor) * 1e3
        more = table[f"{name}: replicas add"]
        assert more["published"] == both - alone
        assert more["expected"] == pytest.approx(line, rel=2e-3)
        assert 1.01 < more["ours"] / more["expected"] < 1.03, "headers"
        iteration = table[f"{name}: iteration with replicas"]
        assert iteration["published"] == both
        assert iteration["ours"] == pytest.approx(alone + more["ours"])


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


@pytest.mark.takes_forever
def test_torchtitan(rows):
    table = rows("torchtitan")
    # Times on 8 GPUs give the speed of a GPU; those on 128 have the same but for exchanges.
    for name, few, many in (
        ("bf16", 5762, 5605),
        ("bf16, compiled", 6667, 6514),
        ("fp8, compiled", 8532, 8380),
    ):
        near = table[f"8B, FSDP, {name}, 8 GPUs"]
        far = table[f"8B, FSDP, {name}, 128 GPUs"]
        assert (near["role"], far["role"]) == ("calibration", "predicted")
        assert (near["published"], far["published"]) == (few, many)
        assert near["ours"] == pytest.approx(few, rel=1e-3)
        # Only the first gather and the last reduction are not hidden, and both have the same rate.
        assert far["ours"] == pytest.approx(near["ours"], rel=0.01)
        assert abs(far["error_percent"]) < 4
    ratio = table["405B, 512 GPUs: interleaved over 1F1B, 8 micro-batches and 2 chunks assumed"]
    assert ratio["expected"] == pytest.approx(15 / 11.5)
    assert ratio["ours"] == pytest.approx(15 / 11.5)
    assert ratio["published"] == pytest.approx(1.28)
    assert len(table) == 2 * 3 + 1


@pytest.mark.extensive
def test_sockets(rows):
    table = rows("sockets")
    # Five tables of four sizes; each of the five constants of the host model was fitted to a row.
    assert len(table) == 20
    assert {row["unit"] for row in table.values()} == {"us"}
    chosen = {name for name, row in table.items() if row["role"] == "calibration"}
    assert chosen == {
        "2 hosts, kernel TCP, one message, broadcast, 8 bytes",
        "2 hosts, kernel TCP, one message, broadcast, 128M bytes",
        "2 hosts, kernel TCP, all-reduce, 512K bytes",
        "2 x 4 A100, kernel TCP, bytes for all ranks, all-to-all, 64 bytes",
        "2 x 4 A100, kernel TCP, bytes for all ranks, all-to-all, 1G bytes",
    }
    for name in chosen:
        assert table[name]["ours"] == pytest.approx(table[name]["published"], rel=0.05)
    # Four rings, in and out of a server, at the rate of the exchange: 4.29 GB in and out in 417 ms.
    row = table["2 x 4 A100, kernel TCP, all-reduce, 128M bytes"]
    crossing = 2 * 4 * (2 * 7 / 8 * (128 << 20) / 4)
    assert row["published"] == 45691
    assert row["ours"] == pytest.approx(crossing / (2**32 / 417125), rel=0.01)
    # Those of doc/validation.rst that are more than 15 % off.
    far = {name for name, row in table.items() if abs(row["error_percent"]) > 15}
    assert far == {
        "2 x 4 A100, kernel TCP, all-reduce, 8 bytes",
        "2 x 4 A100, kernel TCP, all-reduce, 512K bytes",
        "2 hosts, kernel TCP, bytes for all ranks, all-to-all, 8M bytes",
    }


def get_copies(places):
    """Return the mean number of places of 8 of 256 experts, divided among places."""
    return places * (1 - math.comb(256 - 256 // places, 8) / math.comb(256, 8))


def test_normal_experts(rows):
    table = rows("experts")
    for name, near, far, published in (
        ("dispatch", 153, 58, {16: 43, 64: 51}),
        ("combine", 158, 57, {16: 43, 64: 50}),
    ):
        # The slower line gives the rate of a calibration; a rate counts what stays, too.
        for figure, line, value in (
            ("8 ranks: rate of NVLink", 160 * 8 / 7, near),
            ("32 ranks: rate of a NIC", 50 * 4 / 3, far),
        ):
            row = table[f"normal, {name}, {figure}"]
            assert row["role"] == "calibration"
            assert row["published"] == value
            assert row["ours"] == pytest.approx(value, rel=1e-3)
            assert row["expected"] == pytest.approx(line)
        # With two nodes NVLink is the slower line, as a token has 3.3 copies in each.
        ratio = get_copies(2) / get_copies(16)
        for ranks, line, ours in (
            (16, 160 * 8 / 7 * ratio, near * ratio),
            (64, 50 * 8 / 7, far * 3 / 4 * 8 / 7),
        ):
            row = table[f"normal, {name}, {ranks} ranks: rate of a NIC"]
            assert row["role"] == "predicted"
            assert row["published"] == published[ranks]
            assert row["expected"] == pytest.approx(line, rel=5e-3), "4096 tokens, not all"
            assert row["ours"] == pytest.approx(ours, rel=5e-3)


@pytest.mark.extensive
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
    # The optimizer of ZeRO-3 is that of ZeRO++: 30 bytes of a parameter in memory, and all else.
    for name in ("ZeRO-3", "ZeRO++"):
        optimizer = table[f"{name}, optimizer"]
        assert optimizer["ours"] == 139.5
        assert optimizer["expected"] == pytest.approx(30 * parameters / 64 / 0.9e12 * 1e3, rel=1e-3)
        assert table[f"{name}, iteration"]["ours"] == pytest.approx(
            sum(table[f"{name}, {part}"]["ours"] for part in ("forward", "backward", "optimizer"))
        )
    # Kernels: parameters are quantized by 64 and by 16 ranks and restored twice, gradients
    # quantized; recomputation, gradients and they take at least the time of the backward pass.
    kernels = (3 / 16 + 3 + 2.5) * parameters / 0.9e12 * 1e3
    work = 3 * 2 * parameters * 512 / 39e12 * 1e3
    assert table["ZeRO++, backward"]["ours"] > work + kernels
    gain = table["speed-up of ZeRO++"]
    assert gain["ours"] == pytest.approx(
        table["ZeRO-3, iteration"]["ours"] / table["ZeRO++, iteration"]["ours"]
    )
