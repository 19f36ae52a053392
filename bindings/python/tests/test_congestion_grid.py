# SPDX-License-Identifier: GPL-2.0-only
"""Every congestion control against none, over sizes of packets, delays and patterns of traffic."""

import json

import pytest

CONTROLS = "dcqcn dctcp hpcc nscc power-tcp rccc swift theta-power-tcp timely window".split()
PACKETS = (1024, 4096, 9000)
DELAYS_US = (0.5, 10, 100)
# Beside faster lines, DCQCN leaves the last ones to its timer of 300 us.
LIMITS = {("dcqcn", "rates"): 1.65, "dcqcn": 1.35, "timely": 1.35}


def star(folder, lines):
    """Write a switch and hosts, by the rate in Gbit/s and the delay in us of their links."""
    links = [
        {"a": host, "b": len(lines), "rate": f"{rate}Gbps", "delay": f"{delay}us"}
        for host, (rate, delay) in enumerate(lines)
    ]
    path = folder / f"{hash(tuple(lines))}.json"
    path.write_text(json.dumps({"hosts": len(lines), "switches": 1, "links": links}))
    return f"--topology=file:{path}"


def get_options(pattern, delay, folder):
    """Return the options of a pattern; messages are at least four bandwidth-delay products."""
    product = int(100e9 / 8 * 4 * delay * 1e-6)
    to_one = ["--ranks=9", "--operation=reduce", "--collective=direct"]
    each = f"--bytes={max(1 << 20, 4 * product)}"
    rates = [(rate, delay) for rate in (100, 25, 50, 100, 400, 25, 50, 100, 400)]
    trips = [(100, delay)] * 5 + [(100, 5 * delay)] * 4
    return {
        "ring": ["--ranks=4", f"--bytes={4 * max(1 << 20, 2 * product)}"],
        "all-to-all": [
            "--ranks=8",
            "--operation=all-to-all",
            "--collective=direct",
            f"--bytes={max(8 << 20, 4 * product)}",
        ],
        "incast": [*to_one, each],
        "round-trips": [*to_one, star(folder, trips), each],
        "rates": [*to_one, star(folder, rates), each],
    }[pattern]


@pytest.mark.takes_forever
@pytest.mark.parametrize("pattern", ["ring", "all-to-all", "incast", "round-trips", "rates"])
def test_no_control_wastes_a_network(pattern, program_json, tmp_path):
    faults = []
    for mtu in PACKETS:
        for delay in DELAYS_US:
            options = get_options(pattern, delay, tmp_path)

            def measure(control):
                transport = "uec" if control in ("nscc", "rccc") else "rdma"
                document = program_json(
                    "collective-benchmark",
                    *options,
                    f"--transport={transport}",
                    f"--congestion-control={control}",
                    f"--mtu={mtu}",
                    f"--delay={delay}us",
                    "--warmup=0",
                )
                faults.extend(text for text in document["warnings"] if "no link was busy" in text)
                return document["rows"][0]["time_us"]

            best = measure("none")
            for control in CONTROLS:
                ratio = measure(control) / best
                limit = LIMITS.get((control, pattern), LIMITS.get(control, 1.25))
                if ratio > limit:
                    faults.append(f"{control}, {mtu} bytes, {delay} us: {ratio:.3f}")
    assert faults == []


@pytest.mark.parametrize("line_gbps", [1, 10, 25])
@pytest.mark.parametrize("mtu", PACKETS)
def test_credit_of_a_slow_receiver(line_gbps, mtu, program_json, tmp_path):
    """One sender at 100 Gbit/s: the line of the receiver is full, but for headers and credit."""
    document = program_json(
        "collective-benchmark",
        star(tmp_path, [(line_gbps, 0.5), (100, 0.5)]),
        "--ranks=2",
        "--operation=reduce",
        "--collective=direct",
        f"--bytes={250000 * line_gbps}",
        "--transport=uec",
        "--congestion-control=rccc",
        f"--mtu={mtu}",
        "--warmup=0",
    )
    assert document["rows"][0]["time_us"] < 100 + 2000 * (1 + 130 / mtu) * 1.04


@pytest.mark.parametrize(
    "options, parts",
    [
        (
            ["--congestion-control=swift", "--ns3::training::RdmaSwift::BaseTarget=20us"],
            [
                "BaseTarget=20us is below the round trip of the idle network, 200.7 us",
                "host0 -> host1, port 0, connection 3, and 1 more sent",
                "by swift, its round trip of ",
                "is above its target of ",
                "see ns3::training::RdmaSwift::BaseTarget",
            ],
        ),
        (
            ["--congestion-control=timely:low-threshold=50us,high-threshold=60us"],
            [
                *["LowThreshold=50us is below", "HighThreshold=60us is below", "host0 -> host1"],
                *["by timely:low-threshold=50us,high-threshold=60us, its round trip of ", "is above its HighThreshold of 60us"],
            ],
        ),
        (
            [
                *["--transport=tcp", "--congestion-control=ns3::TcpBbr:original", "--delay=500ns"],
                *["--operation=broadcast", "--collective=binomial", "--bytes=8M"],
            ],
            ["host0 -> host1, port 0, connection 1 sent", "ns3::TcpBbr:original", "corrected class"],
        ),
        (
            # A lost frame is sent again after 100 ms.
            [
                *["--loss=2e-2", "--recovery=go-back-n", "--delay=500ns"],
                *["--operation=broadcast", "--collective=binomial", "--bytes=10M"],
                "--ns3::training::RdmaNic::RetransmissionTimeout=100ms",
            ],
            ["host0 -> host1", "sent nothing for", "a timer of recovery go-back-n (see --recovery)"],
        ),
    ],
)
def test_flows_that_stand_still_are_reported(options, parts, program_json, build):
    version = [int(part) for part in build.ns3_version.split(".")[:2]]
    if "ns3::TcpBbr:original" in " ".join(options) and version > [3, 40]:
        pytest.skip("BBR of this ns-3 does not stand still")
    document = program_json(
        "collective-benchmark",
        *["--ranks=2", "--delay=50us", "--bytes=40M", "--warmup=0"],
        *options,
    )
    warnings = "\n".join(document["warnings"])
    assert "while no link was busy above" in warnings and "on its path: " in warnings
    for part in parts:
        assert part in warnings


def test_slow_flow_beside_busy_links(program_json, tmp_path):
    """Find a flow of 1 ms that stands still, while others fill links that it does not cross."""
    links = [{"a": h, "b": 4, "rate": "100Gbps", "delay": "500ns"} for h in (0, 1)]
    links += [{"a": h, "b": 5, "rate": "100Gbps", "delay": "10us"} for h in (2, 3)]
    links += [{"a": 4, "b": 5, "rate": "100Gbps", "delay": "500ns"}]
    network = tmp_path / "network.json"
    network.write_text(json.dumps({"hosts": 4, "switches": 2, "links": links}))
    flows = tmp_path / "flows.txt"
    flows.write_text("2\n0 1 3 100 100000000 0\n2 3 3 100 2000000 0\n")
    document = program_json(
        "flow-benchmark",
        "--ranks=4",
        f"--topology=file:{network}",
        f"--flow-file={flows}",
        "--congestion-control=swift",
        "--ns3::training::RdmaSwift::BaseTarget=5us",
    )
    (slow,) = [text for text in document["warnings"] if "no link was busy" in text]
    assert slow.startswith("host2 -> host3") and "by swift" in slow
