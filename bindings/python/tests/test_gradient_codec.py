# SPDX-License-Identifier: GPL-2.0-only
"""The program gradient-codec: files of float32, refusals, the list of codecs."""

import math
import random
import struct

import pytest

import distributed_training as dt

INCEPTIONN = "inceptionn:bound=-10,variant=bounded"


def write_floats(path, values):
    path.write_bytes(struct.pack(f"<{len(values)}f", *values))
    return path


@pytest.fixture
def gradients(tmp_path):
    source = random.Random(1)
    values = [source.gauss(0, 0.01) for _ in range(1001)]
    return write_floats(tmp_path / "gradients.f32", values)


def test_round_trip(program_json, gradients, tmp_path):
    code, decoded = tmp_path / "code", tmp_path / "decoded.f32"
    result = program_json(
        "gradient-codec", f"--codec={INCEPTIONN}", f"--input={gradients}", f"--output={code}"
    )
    assert result["numbers"] == 1001
    assert result["code_bytes"] == code.stat().st_size
    assert result["ratio"] == pytest.approx(4004 / result["code_bytes"])
    # The last group of one number has the tags of eight.
    bits = sum(one["bits"] * one["numbers"] for one in result["classes"]) + 2 * 7
    assert math.ceil(bits / 8) == result["code_bytes"]
    back = program_json(
        "gradient-codec",
        f"--codec={INCEPTIONN}",
        f"--input={code}",
        "--decode",
        "--count=1001",
        f"--output={decoded}",
    )
    assert back["bytes"] == 4004
    values = struct.unpack("<1001f", gradients.read_bytes())
    errors = [abs(a - b) for a, b in zip(values, struct.unpack("<1001f", decoded.read_bytes()))]
    assert max(errors) == result["largest_error"] < 2**-10
    assert math.fsum(errors) / 1001 == pytest.approx(result["mean_error"])


def test_every_codec_in_the_list_codes_a_file(gradients, tmp_path):
    listed = dt.GradientCodec(list=True).run().codecs
    assert list(listed["name"]) == list(
        dict.fromkeys(dt.GradientCodec.alternatives("codec")["name"])
    )
    assert {"inceptionn", "fp8", "powersgd", "thc"} <= set(listed["name"])
    empty = write_floats(tmp_path / "empty", [])
    for name in listed["name"]:
        result = dt.GradientCodec(codec=name, input=gradients).run()
        assert result.data["ratio"] > 1 or name in ("omnireduce", "threshold"), name
        assert dt.GradientCodec(codec=name, input=empty).run().data["numbers"] == 0


def test_random_numbers_follow_the_run(gradients):
    def get_error(run):
        return dt.GradientCodec(codec="natural", input=gradients, run=run).run().data["mean_error"]

    assert get_error(1) == get_error(1) != get_error(2)


def test_refusals(program, gradients, tmp_path):
    code = tmp_path / "code"
    assert program("gradient-codec", f"--input={gradients}", f"--output={code}").returncode == 0
    short = tmp_path / "short"
    short.write_bytes(code.read_bytes()[:-1])
    odd = tmp_path / "odd"
    odd.write_bytes(b"12345")
    special = write_floats(tmp_path / "special", [1, math.inf])
    output = tmp_path / "output"
    decode = ("--decode", f"--output={output}")
    for arguments, text in [
        ((), "--input: no file"),
        ((f"--input={odd}",), "5 bytes (allowed: float32, a multiple of 4 bytes)"),
        ((f"--input={special}", "--codec=qsgd"), "number 1 is infinite"),
        ((f"--input={tmp_path}/none",), "no file that can be read"),
        ((f"--input={tmp_path}",), "no file that can be read"),
        ((f"--input={gradients}", f"--output={gradients}"), "--input names the same file"),
        ((f"--input={gradients}", "--count=3"), "--count has no effect without --decode"),
        ((f"--input={code}", *decode), "--count: is needed by --decode"),
        ((f"--input={code}", *decode, "--count=2000"), "ends"),
        ((f"--input={code}", *decode, "--count=900"), "is too long"),
        ((f"--input={short}", *decode, "--count=1001"), "ends"),
        ((f"--input={gradients}", *decode, "--count=4000"), "inceptionn: a code of 4004 bytes"),
        ((f"--input={code}", *decode, f"--count={1 << 40}"), "--count: needs about"),
        ((f"--input={gradients}", "--codec=inceptionn:shares=50/50/1/0"), "add to 100"),
        ((f"--input={gradients}", "--codec=inceptionn:ratio=0.5"), "ratio=0.5"),
        ((f"--input={gradients}", "--codec=powersgd", f"--output={output}"), "whole buckets"),
        ((f"--input={gradients}", "--codec=zip"), "inceptionn"),
        (("--list", f"--input={gradients}"), "--input has no effect with --list"),
    ]:
        process = program("gradient-codec", *arguments)
        assert process.returncode == 2, (arguments, process)
        assert process.stdout == ""
        assert process.stderr.count("\n") == 1
        assert text in process.stderr, (text, process.stderr)
        assert not output.exists()


def test_speed_is_measured_on_demand(program_json, gradients):
    result = program_json("gradient-codec", f"--input={gradients}", "--repetitions=200")
    assert result["encode_MBps"] > 0
    assert result["decode_MBps"] > 0
