# SPDX-License-Identifier: GPL-2.0-only
"""Every kind of fault with every transport and recovery: a correct result or a clear error."""

import json

import pytest

import distributed_training as dt

COLLECTIVE = ["--ranks=8", "--topology=fat-tree:k=4", "--bytes=1MB", "--payload=real"]
COLLECTIVE += ["--warmup=0"]

TRANSPORTS = {
    "rdma go-back-n": ["--transport=rdma", "--recovery=go-back-n"],
    "rdma selective-repeat": ["--transport=rdma", "--recovery=selective-repeat"],
    "tcp": ["--transport=tcp"],
}

HARMLESS = [
    "*:loss=0.001",
    "*:loss=0.01",
    "*:burst-loss=0.001/0.2",
    "*:ber=1e-7",
    "*:duplicate=0.05",
    "*:reorder=0.05/5us",
    "switch0-switch8:down,from=50us,until=3ms",
    "switch0:restart,from=50us,until=150us",
    "switch0:restart,from=50us",
    "host3:receive-rate=10Gbps",
]


@pytest.fixture(scope="module")
def undisturbed(program_json):
    """The time of the collective by transport, without faults."""
    return {
        name: program_json("collective-benchmark", *COLLECTIVE, *options)["rows"][0]["time_us"]
        for name, options in TRANSPORTS.items()
    }


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("fault", HARMLESS)
def test_result_is_right_in_spite_of(program_json, undisturbed, fault, transport):
    options = [*COLLECTIVE, *TRANSPORTS[transport], f"--fault={fault}"]
    (row,) = program_json("collective-benchmark", *options)["rows"]
    assert row["verified"] is True
    # A fault without effect would prove nothing. (Not all links of the failed paths are used.)
    if not fault.startswith("switch0"):
        assert row["time_us"] != undisturbed[transport]


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("fault", ["host3:down,from=50us", "*:loss=1", "switch0:down"])
def test_what_cannot_work_ends_with_one_line(program, fault, transport):
    process = program(
        "collective-benchmark", *COLLECTIVE, *TRANSPORTS[transport], f"--fault={fault}", "--json=-"
    )
    assert process.returncode == 3
    document = json.loads(process.stdout)
    assert document["state"] == "failed" and document["rows"] == []
    (line,) = process.stderr.splitlines()
    assert line == f"collective-benchmark: stuck: {document['reason']}"
    for word in ("stuck: rank", "waits in all-reduce 0 (ring) at step", "from rank", "failed"):
        assert word in line


def test_a_stuck_run_that_holds_packets_ahead_of_a_gap_ends_in_order(program):
    process = program(
        "collective-benchmark",
        *["--ranks=16", "--topology=torus:4x4", "--bytes=400000", "--payload=real", "--warmup=0"],
        *["--recovery=selective-repeat", "--congestion-control=window"],
        "--fault=*:burst-loss=0.1/0.3",
    )
    assert process.returncode == 3
    assert len(process.stderr.splitlines()) == 1


@pytest.mark.parametrize("system", ["switchml", "atp", "sharp", "nvls", "switch-ps"])
def test_a_system_in_the_network_that_may_not_be_replaced_ends_with_one_line(program, system):
    process = program(
        "collective-benchmark",
        "--ranks=4",
        "--bytes=4M",
        "--warmup=0",
        f"--collective={system}",
        "--fault=switch0:down,from=50us",
        "--ns3::training::InNetworkCommunicator::OnFailure=error",
        "--json=-",
    )
    assert process.returncode == 3
    document = json.loads(process.stdout)
    assert document["state"] == "failed" and document["rows"] == []
    (line,) = process.stderr.splitlines()
    assert line == f"collective-benchmark: stuck: {document['reason']}"
    assert f"waits in all-reduce 0 ({system}), which has failed; rank " in line


def test_a_stuck_run_ends_with_frames_kept_out_of_order(program):
    """The frames are freed when the program ends, after its static objects."""
    process = program(
        "collective-benchmark",
        "--collective=atp",
        "--topology=local-switch-torus:2x2",
        "--bytes=256",
        "--payload=real",
        "--delay=0",
        "--loss=0.2",
        "--recovery=selective-repeat",
    )
    assert process.returncode == 3
    (line,) = process.stderr.splitlines()
    assert "stuck: rank" in line


def test_faults_add_up_and_come_from_files(program_json, tmp_path):
    faults = ["*:loss=0.002", "host3:receive-rate=20Gbps", "switch0:restart,from=50us"]
    (tmp_path / "faults").write_text("# three\n" + "\n".join(faults) + "\n")
    ways = [
        [f"--fault={fault}" for fault in faults],
        [f"--fault={';'.join(faults)}"],
        [f"--fault=@{tmp_path}/faults"],
    ]
    rows = [program_json("collective-benchmark", *COLLECTIVE, *way)["rows"] for way in ways]
    for each in rows:
        assert each[0]["verified"] is True
        assert each[0]["time_us"] == rows[0][0]["time_us"]
    # A slow host alone: losses and a restart come on top. (Losses alone may take longer than losses
    # at other packets, as one timeout more decides.)
    alone = program_json("collective-benchmark", *COLLECTIVE, ways[0][1])["rows"]
    assert alone[0]["time_us"] < rows[0][0]["time_us"]
    job = dt.CollectiveBenchmark(fault=faults)
    assert job.get_arguments() == ways[0]
    assert dt.CollectiveBenchmark(fault=faults[0]).get_arguments() == ways[0][:1]


@pytest.mark.parametrize(
    "fault, allowed",
    [
        ("host99:down", "hosts 0 to 15"),
        ("host0-host1:down", "link"),
        ("*:loss=1.5", "0 to 1"),
        ("*:melt", "loss"),
        ("host3:receive-rate=0Gbps", "receive-rate"),
        ("@/does/not/exist", "/does/not/exist"),
    ],
)
def test_faults_that_mean_nothing_are_refused(program, fault, allowed):
    process = program("collective-benchmark", *COLLECTIVE, f"--fault={fault}")
    assert process.returncode == 2
    (line,) = process.stderr.splitlines()
    assert allowed in line


def test_a_wrong_line_of_a_file_is_named(program, tmp_path):
    (tmp_path / "faults").write_text("*:loss=0.1\n\n*:loss=2\n")
    process = program("collective-benchmark", *COLLECTIVE, f"--fault=@{tmp_path}/faults")
    assert process.returncode == 2
    assert f"{tmp_path}/faults:3" in process.stderr


def test_json_shows_the_faults(program):
    process = program("collective-benchmark", *COLLECTIVE, "--fault=*:loss=0.001", "--json=-")
    assert "*:loss=0.001" in json.dumps(json.loads(process.stdout)["configuration"])
