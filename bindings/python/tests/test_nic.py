# SPDX-License-Identifier: GPL-2.0-only
"""Engines in NICs on the command line: errors of codecs on the wire, marks in captures, refusals."""

import json
import sqlite3
import struct
from array import array
from pathlib import Path

import pytest

from conftest import get_line

WORKLOAD = Path(__file__).with_name("small-workload.csv")
BENCHMARK = ["collective-benchmark", "--ranks=4", "--warmup=0", "--payload=real"]
JOB = ["training-job", f"--workload={WORKLOAD}", "--ranks=4", "--payload=real", "--warmup=0"]


def write_numbers(path, count, **others):
    """Write float32 numbers, some of them by index."""
    numbers = array("f", [0.001 * (i % 7) for i in range(count)])
    for index, value in others.items():
        numbers[int(index[1:])] = value
    path.write_bytes(numbers.tobytes())


@pytest.mark.parametrize("nic", ["fp8", "block-float", "int8", "natural", "qsgd"])
def test_a_sum_that_cannot_be_coded_ends_a_benchmark_with_status_4(program, tmp_path, nic):
    """Finite numbers, as files may hold no others, with an infinite sum."""
    write_numbers(tmp_path / "g", 4096, _1000=3e38)
    process = program(
        *[*BENCHMARK, "--bytes=1K,8K,16K", f"--nic={nic}", "--json=-"],
        f"--gradients=file:{tmp_path}/g",
    )
    line = get_line(process, 4)
    assert line.startswith("collective-benchmark: codec: "), line
    document = json.loads(process.stdout)
    assert document["state"] == "failed" and document["reason"].startswith("codec: ")
    assert [row["bytes"] for row in document["rows"]] == [1024]  # made before


@pytest.mark.parametrize("nic", ["fp8", "block-float"])
def test_a_sum_that_cannot_be_coded_ends_a_job_with_status_4(program, tmp_path, nic):
    for iteration in range(5):
        others = {"_5": 3e38} if iteration == 2 else {}
        write_numbers(tmp_path / f"g{iteration}", 1 << 20, **others)
    process = program(
        *[*JOB, "--iterations=5", f"--nic={nic}", "--json=-", f"--results={tmp_path}/r"],
        f"--gradients=file:{tmp_path}/g{{iteration}}",
    )
    line = get_line(process, 4)
    assert line.startswith("training-job: codec: "), line
    document = json.loads(process.stdout)
    assert document["state"] == "failed" and document["reason"].startswith("codec: ")
    assert len(document["iterations"]) == 2
    with sqlite3.connect(tmp_path / "r") as database:
        assert database.execute("SELECT state FROM run").fetchall() == [("failed",)]
        assert database.execute("SELECT COUNT(*) FROM iteration").fetchone() == (2,)


def read_packets(path):
    """Return the frames of a capture."""
    data = path.read_bytes()
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    at, frames = 24, []
    while at < len(data):
        _, _, size, _ = struct.unpack(order + "IIII", data[at : at + 16])
        frames.append(data[at + 16 : at + 16 + size])
        at += 16 + size
    return frames


@pytest.mark.parametrize("transport", ["rdma", "uec", "tcp"])
@pytest.mark.parametrize("tos, host", [(40, 40), (40, 44), (44, 44)])
def test_packets_of_gradients_are_marked_and_as_short_as_their_codes(
    program, tmp_path, transport, tos, host
):
    process = program(
        *["collective-benchmark", "--ranks=2", "--warmup=0", "--bytes=64K", "--mtu=1500"],
        *[f"--transport={transport}", f"--nic=inceptionn:ratio=4,tos={tos}", "--json=-"],
        *[f"--pcap={tmp_path}/p"],
        f"--ns3::training::ScheduledCommunicator::GradientTos={host}",
    )
    assert process.returncode == 0, process.stderr
    nic = json.loads(process.stdout)["nic"]
    frames = read_packets(tmp_path / "p-host0-0.pcap")
    ip = [frame[14:] for frame in frames if frame[12:14] == b"\x08\x00"]
    coded = [packet for packet in ip if packet[4:6] != b"\0\0" and packet[1] & 0xFC == host]
    if tos != host:
        assert nic["coded_packets"] == 0 and not coded
        return
    assert nic["coded_packets"] > 0 and coded
    # All that the two hosts send passes this port.
    assert len(coded) == nic["coded_packets"]
    plain = sum(int.from_bytes(packet[4:6], "big") >> 2 for packet in coded)
    assert plain == nic["plain_bytes"]
    # Headers take less than 100 bytes.
    length = sum(int.from_bytes(packet[2:4], "big") for packet in coded)
    assert nic["coded_bytes"] < length < nic["coded_bytes"] + 100 * len(coded)


@pytest.mark.parametrize("program_name", ["collective-benchmark", "training-job"])
def test_engines_that_code_nothing_are_reported(program, program_name):
    words = [program_name, "--ranks=2", "--nic=inceptionn:ratio=4,tos=44"]
    words += ["--bytes=8K"] if "benchmark" in program_name else ["--iterations=1"]
    process = program(*words)
    assert process.returncode == 0
    assert "NICs code nothing: hosts mark gradients with type of service 40, but" in process.stdout
    assert "warning: nothing was coded" in process.stdout


@pytest.mark.parametrize(
    "words, part",
    [
        (["--nic=inceptionn:shares=74.9/3.9/21.1/0.2"], "shares"),
        (["--nic=inceptionn:shares=50/50"], "shares"),
        (["--nic=inceptionn:shares=-1/1/50/50"], "shares"),
        (["--nic=inceptionn:ratio=17"], "ratio"),
        (["--nic=inceptionn:ratio=0.5"], "ratio"),
        (["--nic=inceptionn:ratio=nan"], "ratio"),
        (["--nic=inceptionn:ratio=4,shares=74.9/3.9/21.1/0.1"], "ratio"),
        (["--nic=inceptionn:bound=-7"], "bound=-7"),
        (["--nic=inceptionn:lines=8"], "lines"),
        (["--nic=inceptionn:lanes=0"], "lanes=0"),
        (["--nic=inceptionn:clock=0"], "clock=0"),
        (["--nic=inceptionn:owner=me"], "owner=me"),
        (["--nic=inceptionn:tos=41"], "type of service 41"),
        (["--nic=inceptionn"], "payload virtual"),
        (["--nic=powersgd"], "powersgd"),
        (["--nic=nothing"], "nothing"),
        (["--nic=inceptionn:ratio=4", "--collective=switchml"], "switchml"),
        (["--nic=fp16", "--collective=nic-ring:number-format=float16"], "number-format"),
        (["--collective=nic-ring:number-format=fp4"], "fp4"),
        (["--collective=nic-multitree:table-entries=1", "--topology=torus:2x2"], "table"),
    ],
)
def test_engines_that_cannot_work_are_refused_by_one_line(program, tmp_path, words, part):
    process = program("collective-benchmark", "--ranks=4", "--bytes=4K", *words, "--json=-")
    line = get_line(process, 2)
    assert part in line and "allowed" in line, line
    assert process.stdout == ""
