# SPDX-License-Identifier: GPL-2.0-only
"""The program fabric-benchmark, which has no class in the package."""

import math

import pytest


@pytest.mark.parametrize(
    "pattern, messages, links",
    [("neighbour", 8, 2), ("permutation", 8, 2), ("incast:3", 3, 2), ("all-to-all", 56, 2)],
)
def test_packet_hops_without_loss(program_json, pattern, messages, links):
    result = program_json(
        "fabric-benchmark", "--ranks=8", f"--pattern={pattern}", "--bytes=100001", "--mtu=1000"
    )
    assert result["dropped_frames"] == 0
    assert result["data_packet_hops"] == messages * links * math.ceil(100001 / 1000)
    assert result["data_packet_hops_per_cpu_s"] > 0


def test_workload_and_what_changes_it(program_json):
    result = program_json("fabric-benchmark", "--workload=W1", "--bytes=1000", "--ranks=4")
    assert result["data_packet_hops"] == 4 * 2
    assert result["configuration"]["delay"] == "1us"
    assert result["configuration"]["resolved"]["mtu"] == 1000


def test_one_host_has_nobody_to_send_to(program_json):
    assert program_json("fabric-benchmark", "--ranks=1")["data_packet_hops"] == 0


@pytest.mark.parametrize(
    "argument",
    ["--pattern=ring", "--pattern=incast:0", "--pattern=incast:16", "--workload=W4", "--bytes=-1"],
)
def test_refusals(program, argument):
    process = program("fabric-benchmark", argument)
    assert process.returncode == 2
    assert argument in process.stderr and "allowed" in process.stderr
    assert process.stderr.count("\n") == 1 and process.stdout == ""


def test_dead_links_end_the_run(program):
    process = program("fabric-benchmark", "--ranks=2", "--bytes=1000", "--loss=1")
    assert process.returncode == 3
    assert "2 of 2 messages have not arrived" in process.stderr and "failed" in process.stderr
    assert process.stdout == ""
