# SPDX-License-Identifier: GPL-2.0-only
"""The program fabric-benchmark, which has no class in the package."""

import json
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


@pytest.mark.parametrize("queue_pairs", [1, 3, 200])
def test_packets_are_spread_over_queue_pairs(program_json, queue_pairs):
    """100 full packets and a short one: the same number of hops for any number of queue pairs."""
    result = program_json(
        "fabric-benchmark",
        "--ranks=4",
        "--bytes=100001",
        "--mtu=1000",
        f"--queue-pairs={queue_pairs}",
        "--ns3::training::RdmaNic::AckInterval=1000",
    )
    assert result["data_packet_hops"] == 4 * 2 * 101
    # Only the last packet of each queue pair requests an acknowledgement.
    assert result["ack_packet_hops"] == 4 * 2 * min(queue_pairs, 101)


def test_empty_message_is_a_packet(program_json):
    result = program_json("fabric-benchmark", "--ranks=2", "--bytes=0", "--queue-pairs=3")
    assert result["data_packet_hops"] == 2 * 2


def test_compares_schedulers_and_acks(program_json):
    result = program_json(
        "fabric-benchmark",
        "--ranks=4",
        "--bytes=64000",
        "--mtu=1000",
        "--compare-schedulers",
        "--compare-acks",
    )
    rows = result["comparison"]
    bucket, heap, map_ = ("ns3::training::BucketScheduler", "ns3::HeapScheduler", "ns3::MapScheduler")
    assert [(row["scheduler"], row["packets_per_ack"]) for row in rows] == [
        (scheduler, interval) for interval in (16, 1) for scheduler in (bucket, heap, map_)
    ]
    assert [row["default"] for row in rows] == [True] + 5 * [False]
    assert rows[0]["ratio"] == 1
    for index, row in enumerate(rows):
        # The same network, for any event list.
        assert row["data_packet_hops"] == 4 * 2 * 64
        assert row["ack_packet_hops"] == 4 * 2 * 64 / row["packets_per_ack"]
        assert row["simulated_time_us"] == rows[index // 3 * 3]["simulated_time_us"]
        assert row["peak_memory_MiB"] >= row["setup_memory_MiB"] > 0
        rate = row["data_packet_hops_per_cpu_s"]
        assert math.isclose(row["ratio"], rate / rows[0]["data_packet_hops_per_cpu_s"])
    for key in set(rows[0]) - {"scheduler", "packets_per_ack", "default", "ratio"}:
        assert result[key] == rows[0][key]


def test_table_names_the_default(program):
    process = program("fabric-benchmark", "--ranks=2", "--bytes=1M", "--compare-schedulers")
    lines = process.stdout.splitlines()
    assert "(default)" in lines[-4] and "BucketScheduler" in lines[-4]
    assert "HeapScheduler" in lines[-3] and "MapScheduler" in lines[-2]
    assert process.stdout.count("(default)") == 1


@pytest.mark.parametrize(
    "option, other",
    [
        ("--compare-schedulers", "--SchedulerType=ns3::MapScheduler"),
        ("--compare-schedulers", "--pcap=x"),
        ("--compare-acks", "--pcap=x"),
        ("--queue-pairs=2000000", "--ranks=16"),
    ],
)
def test_options_that_do_not_go_together(program, option, other):
    process = program("fabric-benchmark", option, other)
    assert process.returncode == 2
    assert option in process.stderr and "allowed" in process.stderr
    assert process.stderr.count("\n") == 1 and process.stdout == ""


def test_failure_of_a_compared_run_is_told_once(program):
    process = program("fabric-benchmark", "--ranks=2", "--bytes=1000", "--loss=1", "--compare-acks")
    assert process.returncode == 3
    assert process.stderr.count("\n") == 1 and process.stdout == ""


@pytest.mark.parametrize(
    "argument",
    ["--pattern=ring", "--pattern=incast:0", "--pattern=incast:16", "--workload=W4", "--bytes=-1"]
    + ["--queue-pairs=0", "--queue-pairs=x", "--compare-schedulers=2", "--compare-acks=maybe"],
)
def test_refusals(program, argument):
    process = program("fabric-benchmark", argument)
    assert process.returncode == 2
    assert argument in process.stderr and "allowed" in process.stderr
    assert process.stderr.count("\n") == 1 and process.stdout == ""


@pytest.mark.parametrize("answers, topology", [(8, "single-switch"), (4, "torus:4"), (6, "torus:4")])
def test_hops_of_data_and_answers_are_told_apart(program_json, answers, topology):
    options = ["--ranks=4", "--bytes=4096", f"--topology={topology}"]
    options.append(f"--ns3::training::RdmaNic::AckPriority={answers}")
    result = program_json("fabric-benchmark", *options)
    assert result["data_packet_hops"] == result["ack_packet_hops"] > 0


@pytest.mark.parametrize("data", [0, 4, 7])  # 4: the class of lossless data after a dateline
def test_hops_are_those_of_data_whatever_their_class(program_json, data):
    options = ["--ranks=4", "--bytes=4096", "--topology=torus:4"]
    priority = f"--ns3::training::RdmaNic::DataPriority={data}"
    result = program_json("fabric-benchmark", *options, priority)
    usual = program_json("fabric-benchmark", *options)
    assert result["data_packet_hops"] == usual["data_packet_hops"]
    assert result["ack_packet_hops"] == usual["ack_packet_hops"]


def test_dead_links_end_the_run(program):
    process = program("fabric-benchmark", "--ranks=2", "--bytes=1000", "--loss=1")
    assert process.returncode == 3
    assert "2 of 2 messages have not arrived" in process.stderr and "failed" in process.stderr
    assert process.stdout == ""


CONTROLS = ["dcqcn", "dctcp", "hpcc", "power-tcp", "swift", "theta-power-tcp", "timely", "window"]


@pytest.mark.parametrize("senders", [2, 4, 8, 16])
@pytest.mark.parametrize("control", CONTROLS)
def test_incasts_at_default_settings_fill_the_line_fairly(program_json, control, senders):
    result = program_json(
        "fabric-benchmark",
        *[f"--ranks={senders + 1}", f"--pattern=incast:{senders}", "--duration=10ms"],
        f"--congestion-control={control}",
    )
    # ConnectX raises rates by a timer of 300 us: see the table of doc/model/congestion-attributes.rst.
    assert (0.85 if control == "dcqcn" else 0.9) <= result["utilization"] <= 1
    assert result["fairness"] >= 0.9
    assert result["repeated_packets"] == result["dropped_frames"] == 0
    assert result["warnings"] == []


PERMUTATION = ["--topology=fat-tree:k=4", "--pattern=permutation", "--bytes=2MB"]


@pytest.mark.parametrize("control", ["none", "dcqcn", "swift"])
@pytest.mark.parametrize("path", ["spray", "spray:by=pair", "adaptive"])
def test_sprayed_packets_are_not_taken_for_lost_ones(program_json, path, control):
    options = [*PERMUTATION, f"--congestion-control={control}"]
    result = program_json("fabric-benchmark", *options, f"--path={path}")
    assert result["repeated_packets"] == 0
    assert result["warnings"] == []
    one_path = program_json("fabric-benchmark", *options)
    assert result["simulated_time_us"] < one_path["simulated_time_us"]


@pytest.mark.parametrize("recovery", ["go-back-n", "selective-repeat"])
def test_spraying_that_looks_like_losses_is_reported(program, program_json, recovery):
    options = [*PERMUTATION, "--path=spray", f"--recovery={recovery}"]
    result = program_json("fabric-benchmark", *options)
    assert result["repeated_packets"] > 0
    (warning,) = result["warnings"]
    assert warning.startswith(f"path choice spray reorders packets, which recovery {recovery} takes")
    assert f"warning: {warning} (--silence=path)\n" in program("fabric-benchmark", *options).stdout


@pytest.mark.parametrize("control", ["window", "dcqcn"])
def test_spraying_balances_data_and_answers(program_json, control):
    """Two hosts that send to each other over two spines: each spine carries half of the bytes."""
    result = program_json(
        "fabric-benchmark",
        *["--ranks=2", "--topology=leaf-spine:leaves=2,spines=2,uplink=50Gbps", "--path=spray"],
        *["--bytes=20MB", f"--congestion-control={control}"],
    )
    assert result["utilization"] > (0.95 if control == "dcqcn" else 0.85)  # a window of one BDP


def test_a_fast_host_fills_slow_uplinks_and_their_queues(program_json):
    uplinks = "--topology=leaf-spine:leaves=2,spines=4,uplink=25Gbps"
    options = ["--ranks=2", "--pattern=incast:1", "--bytes=10MB", "--congestion-control=none"]
    sprayed = program_json("fabric-benchmark", uplinks, *options, "--path=spray")
    assert sprayed["utilization"] > 0.95
    one_path = program_json("fabric-benchmark", uplinks, *options)
    assert 0.24 < one_path["utilization"] < 0.26
    assert one_path["marked_frames"] > 0 and one_path["pause_frames"] > 0
    capped = "--ns3::training::RdmaNic::PathRateCap=true"
    result = program_json("fabric-benchmark", uplinks, *options, "--path=spray", capped)
    assert result["utilization"] < 0.26


def test_drops_in_a_lossless_class_are_reported(program, program_json):
    options = [
        *["--ranks=9", "--pattern=incast:8", "--bytes=1MB", "--congestion-control=none"],
        *["--buffer=300000", "--ns3::training::SwitchDevice::HeadroomScale=0"],
    ]
    result = program_json("fabric-benchmark", *options)
    (warning,) = result["warnings"]
    drops = result["dropped_frames"]
    assert drops > 0
    text = f"switch0 port 0 dropped {drops} frames of lossless class 3 for lack of buffer space"
    assert warning == text
    assert f"warning: {text} (--silence=drops)\n" in program("fabric-benchmark", *options).stdout


def test_packets_longer_than_roce_allows_are_reported(program_json):
    options = ["--ranks=2", "--bytes=100kB"]
    assert program_json("fabric-benchmark", *options, "--mtu=4096")["warnings"] == []
    (warning,) = program_json("fabric-benchmark", *options, "--mtu=9000")["warnings"]
    assert warning == "RoCE carries at most 4096 bytes a packet, not 9000 (see --mtu)"


CREDIT = "--ns3::training::SwitchDevice::FlowControl=credit"


def test_an_incast_with_credits_loses_and_pauses_nothing(program_json):
    """The same time as with pauses: the receiver's line is always busy."""
    options = ["--ranks=9", "--pattern=incast:8", "--bytes=1MB", "--congestion-control=none"]
    credits = program_json("fabric-benchmark", *options, CREDIT)
    pauses = program_json("fabric-benchmark", *options, "--buffer=1M")
    assert credits["dropped_frames"] == credits["pause_frames"] == 0
    assert pauses["pause_frames"] > 0
    assert credits["utilization"] == pytest.approx(pauses["utilization"], rel=0.01)


def write_ring(path, switches):
    """Write a ring of switches with a faster host each, without datelines."""
    links = [{"a": i, "b": switches + i, "rate": "400Gbps"} for i in range(switches)]
    links += [{"a": switches + i, "b": switches + (i + 1) % switches} for i in range(switches)]
    path.write_text(json.dumps({"hosts": switches, "switches": switches, "links": links}))


@pytest.mark.parametrize(
    "flow_control",
    [[CREDIT, "--ns3::training::SwitchDevice::CreditBuffer=20000"], ["--buffer=800000"]],
    ids=["credit", "pfc"],
)
def test_a_deadlock_is_reported(program, tmp_path, flow_control):
    write_ring(tmp_path / "ring.json", 8)
    process = program(
        "fabric-benchmark",
        *["--ranks=8", f"--topology=file:{tmp_path}/ring.json", "--pattern=all-to-all"],
        *["--bytes=3MB", "--congestion-control=none", *flow_control],
    )
    assert process.returncode == 3
    assert "deadlock of flow control: switch" in process.stderr
    assert "(priority 3)" in process.stderr


def test_a_pause_storm_is_reported(program_json):
    """A dead receiver holds up its sender; the watchdog frees what is behind."""
    result = program_json(
        "fabric-benchmark",
        *["--ranks=4", "--pattern=incast:3", "--bytes=1MB", "--congestion-control=none"],
        "--fault=host0:receive-rate=100Mbps,until=5ms",
        "--ns3::training::SwitchDevice::WatchdogDetection=1ms",
        "--ns3::training::SwitchDevice::WatchdogRestoration=1ms",
        "--ns3::training::SwitchDevice::WatchdogAction=forward",
    )
    (warning,) = [text for text in result["warnings"] if "storm" in text]
    assert warning == (
        "switch0 port 0 had 1 pause storms in lossless class 3, in which the watchdog ignored its "
        "pauses"
    )


def test_a_slow_host_is_not_taken_for_losses(program_json):
    """A host that takes longer than IRN's timeouts, with nothing lost."""
    result = program_json(
        "collective-benchmark",
        *["--ranks=8", "--topology=leaf-spine:leaves=4,spines=2", "--operation=all-to-all"],
        *["--collective=direct", "--bytes=2M", "--warmup=0", "--recovery=selective-repeat"],
        "--fault=host2:receive-rate=1Gbps",
    )
    go_back_n = program_json(
        "collective-benchmark",
        *["--ranks=8", "--topology=leaf-spine:leaves=4,spines=2", "--operation=all-to-all"],
        *["--collective=direct", "--bytes=2M", "--warmup=0"],
        "--fault=host2:receive-rate=1Gbps",
    )
    assert result["rows"][0]["time_us"] < 3 * go_back_n["rows"][0]["time_us"]
