# SPDX-License-Identifier: GPL-2.0-only

"""What a run does not use is said."""

import json
from pathlib import Path

import pytest

import distributed_training as dt

JOB = {"workload": "resnet50", "ranks": 2, "iterations": 1, "warmup": 0}


def test_flow_files_name_nodes_of_the_topology(tmp_path, program):
    topology = tmp_path / "nodes.txt"
    topology.write_text(
        "4 1 3\n0\n1 0 100Gbps 1us 0\n2 0 100Gbps 1us 0\n3 0 100Gbps 1us 0\n", encoding="ascii"
    )
    flows = tmp_path / "nodes.flow"
    flows.write_text("1\n1 3 3 100 1000000 0\n\nsource destination\n", encoding="ascii")
    options = [f"--topology=file:{topology}", f"--flow-file={flows}"]
    text = program("flow-benchmark", *options).stdout
    assert "hosts as nodes 1 to 3 of the topology's file" in text
    assert "line behind the flows that the first line declares" in text
    document = json.loads(program("flow-benchmark", *options, "--list-flows", "--json=-").stdout)
    (flow,) = document["list"]
    assert (flow["source"], flow["destination"]) == (0, 2)


@pytest.mark.parametrize(
    "control, attribute, is_idle",
    [
        ("hpcc", "ns3::training::RdmaNic::AckInterval=1", True),
        ("dcqcn", "ns3::training::RdmaNic::AckInterval=4", False),
        ("hpcc", "ns3::training::RdmaDcqcn::G=0.1", True),
        ("dcqcn", "ns3::training::RdmaDcqcn::G=0.1", False),
        ("dcqcn", "ns3::TcpSocket::SegmentSize=1000", True),
    ],
)
def test_attributes_without_effect(program, control, attribute, is_idle):
    options = ["--ranks=2", "--bytes=64K", f"--congestion-control={control}", f"--{attribute}"]
    text = program("collective-benchmark", *options).stdout
    assert (f"warning: {attribute} has no effect" in text) == is_idle


def test_protocols_of_msccl_send_their_flags(tmp_path):
    source = Path(__file__).parents[3] / "examples/msccl-allpairs.xml"
    times = {}
    for protocol in ("Simple", "LL", "LL128"):
        file = tmp_path / f"{protocol}.xml"
        text = source.read_text(encoding="ascii")
        file.write_text(text.replace('proto="Simple"', f'proto="{protocol}"'), encoding="ascii")
        copy = tmp_path / f"{protocol}.json"
        options = {"ranks": 4, "bytes": "8M", "payload": "real"}
        rows = dt.CollectiveBenchmark(schedule=file, export_schedule=copy, **options).run().rows
        assert rows["verified"].all()
        times[protocol] = rows["time_us"][0]
        again = dt.CollectiveBenchmark(schedule=copy, **options).run().rows
        assert again["time_us"][0] == times[protocol]
    assert times["LL"] == pytest.approx(2 * times["Simple"], rel=0.05)
    assert times["LL128"] == pytest.approx(128 / 120 * times["Simple"], rel=0.01)
    file.write_text(text.replace('proto="Simple"', 'proto="Bogus"'), encoding="ascii")
    with pytest.raises(ValueError, match='proto="Bogus".*allowed: Simple, LL, LL128'):
        dt.CollectiveBenchmark(schedule=file, ranks=4, bytes="8M").run()


def test_a_failure_after_the_end_never_happens(program):
    options = [f"--{name}={value}" for name, value in JOB.items()]
    text = program("training-job", *options, "--fail=rank1:100s").stdout
    assert "life: the job ends before rank1:100s, which never happens" in text
    assert dt.TrainingJob(**JOB, fail=["rank1:100s"]).run().life["missed_failures"] == [
        "rank1:100s"
    ]
    early = dt.TrainingJob(**JOB, fail=["rank1:1ms"], repair="1ms").run().life
    assert early["missed_failures"] == [] and early["failures"] == 1


def test_a_length_comes_from_the_option(program, tmp_path):
    model = tmp_path / "model.json"
    model.write_text(
        '{"hidden": 64, "heads": 8, "layers": 2, "feed_forward": 128, "vocabulary": 100}',
        encoding="ascii",
    )
    options = [f"--model={model}", "--ranks=2", "--check"]
    assert "2 ranks, " in program("training-job", *options, "--sequence=64").stdout
    refused = program("training-job", *options).stderr
    assert "no max_position_embeddings (allowed: with --sequence=N, " in refused


@pytest.mark.parametrize("priority", ["none", "layer"])
def test_each_part_of_the_critical_path_has_a_name(priority):
    job = dt.TrainingJob(
        workload="resnet50", ranks=4, iterations=1, gradient_priority=priority, rate="25Gbps"
    ).run()
    parts = {part["task"]: part["time_s"] for part in job.critical_path["parts"]}
    assert all(parts)
    model = dt.TrainingJob(workload="resnet50", ranks=1, iterations=1).run().critical_path["parts"]
    alone = {part["task"]: part["time_s"] for part in model}
    assert parts["backward"] <= alone["backward"] * (1 + 1e-9)
    assert sum(parts.values()) == pytest.approx(job.critical_path["time_s"], rel=1e-9)
    assert priority == "none" or parts["update"] < alone["update"]


def test_titles_of_serving_and_of_shared_clusters_name_deviations(program, tmp_path):
    jobs = tmp_path / "jobs.toml"
    jobs.write_text('[[job]]\nname = "a"\nworkload = "resnet50"\nranks = 2\n', encoding="ascii")
    for name, options in {
        "shared-cluster": [f"--jobs={jobs}", "--ranks=4"],
        "disaggregated-serving": ["--count=2"],
    }.items():
        text = program(name, *options, "--loss=0.0001", "--path=adaptive", "--RngRun=3").stdout
        assert text.splitlines()[0].endswith(", loss 0.0001, path adaptive, run 3")
        assert "warning: losses are random, and this is one seed of them (see --RngRun)" in text
