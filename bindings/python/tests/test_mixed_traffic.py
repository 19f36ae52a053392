# SPDX-License-Identifier: GPL-2.0-only
"""mixed-traffic: all-reduces beside applications of ns-3, over a gateway, on own nodes."""

import pytest

BYTES = 1 << 18
FLOWS = ["client to last host, TCP", "host 0 to client, UDP", "host 0 to last host, TCP"]


def test_applications_share_the_fabric_with_all_reduces(program_json):
    def run(traffic):
        return program_json("mixed-traffic", f"--bytes={BYTES}", f"--traffic={traffic}")

    alone, beside = run("false"), run("true")
    assert alone["flows"] == []
    assert alone["dropped_frames"] == {}
    assert alone["all_reduces"] == beside["all_reduces"] == 5
    # 4 ranks at 10 Gbit/s
    least = 2 * 3 / 4 * BYTES * 8 / 10e9
    assert least < alone["all_reduce_s"] < 1.2 * least < beside["all_reduce_s"]
    for document in (alone, beside):
        busbw = 2 * 3 / 4 * BYTES * 1e-9 / document["all_reduce_s"]
        assert document["busbw_GBps"] == pytest.approx(busbw, rel=1e-9)
    flows = {flow["flow"]: flow for flow in beside["flows"]}
    assert sorted(flows) == FLOWS
    for flow in flows.values():
        assert 0 < flow["received_packets"] <= flow["sent_packets"]
    # 100 Mbit/s in datagrams of 1000 bytes, for 20 ms; 28 bytes of headers
    log = flows["host 0 to client, UDP"]
    assert log["sent_packets"] in (249, 250)
    assert log["goodput_gbps"] == pytest.approx(log["received_packets"] * 1028 * 8e-9 / 20e-3)
    # The link of the client: 1 Gbit/s, 50 us, 2 bytes of PPP; then two or three links at 10 Gbit/s
    assert log["delay_us"] > 50 + 1030 * 8e-3
    assert flows["client to last host, TCP"]["goodput_gbps"] < 1
    # The copy has at most the half of host 0's line that the ranks leave it, or all of it later.
    assert 1 < flows["host 0 to last host, TCP"]["goodput_gbps"] < 10


def test_a_client_behind_csma(program_json):
    """ARP, Ethernet frames and a shared medium behind the gateway: what is inside stays the same."""
    options = ("mixed-traffic", f"--bytes={BYTES}", "--duration=10ms")
    link, csma = (
        program_json(*options, f"--client-link={name}") for name in ("point-to-point", "csma")
    )
    assert link["all_reduces"] == csma["all_reduces"] == 5
    flows = {flow["flow"]: flow for flow in csma["flows"]}
    assert sorted(flows) == FLOWS
    # Both ends want the medium all the time: they wait for each other, and queues overflow.
    for flow in (flows["host 0 to client, UDP"], flows["client to last host, TCP"]):
        assert 10 < flow["received_packets"] <= flow["sent_packets"]
        # 1 us, and 1028 bytes or more in a frame with 18 others, at 1 Gbit/s
        assert flow["delay_us"] > 1 + 1046 * 8e-3 and flow["goodput_gbps"] < 1


@pytest.mark.parametrize(
    "option, allowed",
    [
        ("--ranks=1", "2 to 128"),
        ("--ranks=129", "2 to 128"),
        ("--duration=0", "more than 0"),
        ("--rounds=0", "1 to"),
        ("--client-link=wifi", "point-to-point|csma"),
        ("--ns3::training::HostDevice::Program=0", "PrintAttributes=ns3::training::HostDevice"),
        ("--ns3::training::SwitchDevice::Programs=1", "PrintAttributes=ns3::training::Switch"),
    ],
)
def test_refusals(program, option, allowed):
    process = program("mixed-traffic", option)
    assert process.returncode == 2
    assert process.stdout == ""
    assert process.stderr.count("\n") == 1
    assert option.split("=")[0] in process.stderr
    assert allowed in process.stderr


def test_odd_sizes(program_json):
    for options in (["--bytes=0"], ["--bytes=1", "--ranks=3"], ["--bytes=9999", "--ranks=2"]):
        document = program_json("mixed-traffic", *options, "--duration=5ms")
        assert document["all_reduces"] == 5, options
