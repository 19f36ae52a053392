# SPDX-License-Identifier: GPL-2.0-only
"""No timer expires on a network that loses nothing, however slow or shared it is."""

import pytest


@pytest.mark.parametrize("recovery", ["go-back-n", "selective-repeat", "out-of-order"])
@pytest.mark.parametrize("rate", ["1Gbps", "10Gbps"])
def test_an_incast_repeats_nothing(program_json, recovery, rate):
    result = program_json(
        "fabric-benchmark",
        *["--ranks=17", "--pattern=incast:16", "--bytes=2000000", "--congestion-control=none"],
        *[f"--rate={rate}", f"--recovery={recovery}"],
    )
    assert result["dropped_frames"] == 0
    assert result["repeated_packets"] == 0


@pytest.mark.parametrize("system", ["switchml", "switch-ps", "atp"])
def test_a_slow_line_takes_as_much_longer_as_it_is_slower(program_json, system):
    times = [
        program_json(
            "collective-benchmark",
            *["--ranks=4", "--bytes=2M", "--warmup=0", "--delay=0"],
            *[f"--collective={system}", f"--rate={rate}"],
        )["rows"][0]["time_us"]
        for rate in ("10Gbps", "500Mbps")
    ]
    assert times[1] / times[0] == pytest.approx(20, rel=0.2)


@pytest.mark.parametrize("transport", ["rdma", "uec"])
def test_a_run_with_many_repeats_says_so(program_json, transport):
    options = ["--ranks=2", "--bytes=4M", f"--transport={transport}"]
    warnings = program_json("collective-benchmark", *options, "--loss=0.05")["warnings"]
    (warning,) = [text for text in warnings if "% of the packets again" in text]
    assert "--congestion-control" in warning
    assert program_json("collective-benchmark", *options)["warnings"] == []
