# SPDX-License-Identifier: GPL-2.0-only
"""The program disaggregated-serving."""

import json

import pytest

NAME = "disaggregated-serving"
SMALL = ["--count=8", "--prompt=64", "--output=3", "--arrival-rate=100"]


def test_every_request_is_served(program_json):
    result = program_json(NAME, *SMALL, "--prefill=2", "--decode=2", "--routing=round-robin")
    assert result["requests_done"] == 8
    assert result["tokens"] == 24
    assert result["key_value_bytes"] == 8 * 64 * 131072  # llama3-8b: 32 layers, 8 heads of 128
    for number, row in enumerate(result["requests"]):
        assert row["tokens"] == 3
        assert row["prefill_instance"] == number % 2
        parts = ("prefill_wait_s", "prefill_s", "memory_wait_s", "transfer_s")
        assert row["ttft_s"] == pytest.approx(sum(row[part] for part in parts), abs=1e-12)
        assert row["end_to_end_s"] > row["ttft_s"]
    assert result["attainment"] == 1
    assert result["goodput_per_s"] == result["requests_per_s"]
    strict = program_json(NAME, *SMALL, "--ttft-objective=1ns")
    assert strict["attainment"] == 0


def test_a_faster_network_moves_keys_and_values_sooner(program_json):
    slow, fast = (
        program_json(NAME, "--count=1", "--output=1", f"--rate={rate}", "--transfer=whole")
        for rate in ("10Gbps", "100Gbps")
    )
    assert slow["prefill_s"] == fast["prefill_s"]
    # Within the headers of packets: 134 MB at line rate take 107 and 10.7 ms.
    ratio = slow["transfer_s"] / fast["transfer_s"]
    assert ratio == pytest.approx(10, rel=0.01)
    assert fast["transfer_s"] == pytest.approx(1024 * 131072 * 8 / 100e9, rel=0.03)


def test_tensor_parallel_instances(program_json):
    result = program_json(NAME, *SMALL, "--prefill-tensor=2", "--decode-tensor=4")
    assert result["requests_done"] == 8
    assert result["key_value_bytes_per_token"] == 131072


def test_overload_is_reported(program, program_json):
    options = ["--count=40", "--prompt=2048", "--output=1", "--arrival-rate=100"]
    result = program_json(NAME, *options)
    assert result["overloaded"]
    assert result["warnings"][-1].startswith("overload: ")
    assert "warning: overload: requests arrive faster" in program(NAME, *options).stdout
    assert not program_json(NAME, *SMALL)["overloaded"]


def test_a_trace(program_json, tmp_path):
    trace = tmp_path / "trace.csv"
    trace.write_text(
        "TIMESTAMP,ContextTokens,GeneratedTokens\n"
        "2023-11-16 18:15:46.6805900,374,4\n"
        "2023-11-16 18:15:50.9951690,396,1\n"
    )
    rows = program_json(NAME, f"--requests={trace}")["requests"]
    assert [(row["prompt"], row["output"]) for row in rows] == [(374, 4), (396, 1)]
    assert rows[1]["arrival_s"] == pytest.approx(4.314579, abs=1e-9)
    assert len(program_json(NAME, f"--requests={trace}", "--count=1")["requests"]) == 1
    trace.write_text("time_s,prompt,output\n")
    assert program_json(NAME, f"--requests={trace}")["requests_done"] == 0


@pytest.mark.parametrize(
    "options, message",
    [
        (["--gpu-memory=1GB"], "--gpu-memory=1000000000 (allowed: at least 160"),
        (["--model=none"], "unknown transformer 'none' (allowed: deepseek-v3, "),
        (["--decode-tensor=5"], "--decode-tensor=5 (allowed: divisors of 32, the heads of"),
        (["--ranks=1"], "--ranks=1 (allowed: at least 2, the GPUs of all instances)"),
        (["--prompt=500000"], "request 0: 500000 + 64 tokens (allowed: up to 487819, for which a"),
        (["--requests=/nowhere"], "cannot read the requests in /nowhere"),
        (["--requests=x.csv", "--prompt=5"], "--prompt with --requests=x.csv (allowed: one of"),
        (["--arrival-rate=1e-6"], "arrival rate 1e-06/s: request "),
        (["--prefill=0"], "--prefill=0 (allowed: 1 to "),
        (
            ["--rate=1Mbps", "--prompt=1000000", "--gpu-memory=1TB"],
            "--rate=1Mbps: takes at least 1.048576e+08 s",
        ),
    ],
)
def test_refusals_are_one_line(program, options, message):
    process = program(NAME, *options)
    assert process.returncode == 2
    assert process.stdout == ""
    assert process.stderr.startswith(f"{NAME}: {message}")
    assert process.stderr.count("\n") == 1


def test_models_whose_layers_differ_are_refused(program, tmp_path):
    model = tmp_path / "model.json"
    sizes = {"hidden": 64, "heads": 8, "feed_forward": 128, "vocabulary": 64, "sequence": 64}
    model.write_text(json.dumps({**sizes, "layers": [{}, {"feed_forward": 64}]}))
    process = program(NAME, f"--model={model}")
    assert process.returncode == 2
    assert f"model={model} with a list of layers (allowed: models whose layers" in process.stderr


def test_a_network_that_loses_all_frames_is_stuck(program):
    process = program(NAME, "--count=2", "--loss=1")
    assert process.returncode == 3
    assert process.stderr.startswith(f"{NAME}: stuck: 0 of 2 requests are done; rank 1 waits for")


def test_traffic_of_others_delays_keys_and_values(program_json):
    options = ["--count=2", "--output=2", "--ranks=4", "--rate=25Gbps", "--transfer=whole"]
    alone = program_json(NAME, *options)
    beside = program_json(NAME, *options, "--background=fixed:bytes=1M,load=0.5")
    assert "background" not in alone
    assert beside["background"]["flows"] > 0
    assert beside["transfer_s"] > 1.2 * alone["transfer_s"]
    assert beside["prefill_s"] == alone["prefill_s"]
