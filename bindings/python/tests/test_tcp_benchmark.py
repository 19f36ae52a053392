# SPDX-License-Identifier: GPL-2.0-only
"""tcp-benchmark: the same transfers over point-to-point devices and over the fabric."""

import pytest

WAYS = ["BulkSend, point-to-point", "BulkSend, fabric", "TcpTransport, fabric"]


@pytest.mark.parametrize("hops, flows, size", [(2, 1, 1), (3, 3, 100_000), (6, 2, 1_000_000)])
def test_all_ways_send_the_same_packets(program_json, hops, flows, size):
    rows = program_json(
        "tcp-benchmark", f"--hops={hops}", f"--flows={flows}", f"--bytes={size}", "--pairs=1"
    )["rows"]
    assert [row["way"] for row in rows] == WAYS
    segments = -(-size // 8960)
    for row in rows[:2]:
        # SYN, its answer, an acknowledgement, segments; more acknowledgements and the FIN may follow.
        assert row["packet_hops"] >= flows * hops * (2 + segments)
        assert row["dropped_packets"] == 0
    assert rows[0]["packet_hops"] == rows[1]["packet_hops"]
    assert rows[0]["ratio"] == 1


@pytest.mark.parametrize("hops", [2, 3, 7])
def test_a_segment_takes_three_trips(program_json, hops):
    options = [f"--hops={hops}", "--flows=1", "--bytes=1000", "--delay=1ms", "--pairs=1"]
    for row in program_json("tcp-benchmark", *options)["rows"]:
        # One way each for SYN, its answer, and the segment; the lines take below 0.1 us a packet.
        trips = 3 * hops * 1000
        assert trips < row["simulated_time_us"] < trips + 3 * hops * 0.1


@pytest.mark.parametrize(
    "option, allowed",
    [
        ("--hops=1", "2 to 64"),
        ("--flows=0", "1 to 1024"),
        ("--bytes=0", "a size of 1 to 1TiB"),
        ("--rate=1bps", "4611686"),
        ("--delay=2s", "up to 1s"),
        ("--mtu=575", "576 to 65535"),
        ("--pairs=0", "1 to 1000"),
        ("--congestion-control=cubic", "ns3::TcpCubic"),
        ("--congestion-control=ns3::TcpCubic:C=x", "FastConvergence"),
    ],
)
def test_refusals(program, option, allowed):
    process = program("tcp-benchmark", option)
    assert process.returncode == 2
    (line,) = process.stderr.splitlines()
    assert "(allowed" in line and allowed in line
    assert process.stdout == ""
