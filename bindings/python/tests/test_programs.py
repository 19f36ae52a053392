# SPDX-License-Identifier: GPL-2.0-only
"""TrainingJob and CollectiveBenchmark: the numbers of the C++ programs, their errors, Ctrl-C."""

import contextlib
import datetime
import inspect
import json
import math
import os
import pickle
import pty
import re
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import PACKAGE, get_cpu_s, wait_for_cpu

import distributed_training as dt

# The cost of a run differs from run to run.
COST = {"cpu_s", "packet_hops_per_cpu_s", "peak_memory_MiB"}

WORKLOAD = Path(__file__).with_name("small-workload.csv")
SMALL = {"workload": WORKLOAD, "ranks": 4, "bucket": "256K", "compute_scale": 0.5}
SMALL_ARGUMENTS = [f"--workload={WORKLOAD}", "--ranks=4", "--bucket=256K", "--compute-scale=0.5"]
ENDLESS = "dt.TrainingJob(workload='vgg16', ranks=16, iterations=1000000)"


def without_cost(document):
    return {key: value for key, value in document.items() if key not in COST}


@pytest.mark.parametrize("transport", ["rdma", "tcp", "uec", "mrc"])
def test_numbers_are_those_of_the_program(program_json, transport):
    expected = program_json("training-job", *SMALL_ARGUMENTS, f"--transport={transport}")
    result = dt.TrainingJob(**SMALL, transport=transport).run()
    assert without_cost(result.data) == without_cost(expected)
    for name, value in without_cost(expected).items():
        if not isinstance(value, list) or name == "warnings":
            assert getattr(result, name) == value, name
    assert result.iterations.reset_index().to_dict("records") == expected["iterations"]


def test_system_of_astra_sim(program, program_json, tmp_path):
    network, system = tmp_path / "network.yml", tmp_path / "system.json"
    network.write_text(
        "topology: [Ring, Switch]\nnpus_count: [2, 2]\nbandwidth: [50, 25]\nlatency: [100, 500]\n"
    )
    keys = {
        "all-reduce-implementation": ["ring", "halvingDoubling"],
        "collective-optimization": "localBWAware",
        "preferred-dataset-splits": 2,
        "endpoint-delay": 1000,
        "scheduling-policy": "LIFO",
    }
    system.write_text(json.dumps(keys))
    arguments = [*SMALL_ARGUMENTS, f"--topology=astra-network:{network}", "--payload=real"]

    def run(*more):
        result = program_json("training-job", *arguments, *more)
        assert all(iteration["verified"] for iteration in result["iterations"])
        return result

    by_file = run(f"--system={system}")
    chosen = by_file["configuration"]
    assert chosen["host-latency"] == "1us"
    order = "--ns3::training::ScheduledCommunicator::Order=lifo"
    by_hand = run(f"--collective={chosen['collective']}", "--host-latency=1us", order)
    assert by_file["iteration_time_s"] == by_hand["iteration_time_s"]
    # What is given counts more.
    assert run(f"--system={system}", "--collective=ring")["configuration"]["host-latency"] == "0ps"
    # Two splits use both dimensions at the same time.
    whole = keys | {"preferred-dataset-splits": 1}
    system.write_text(json.dumps(whole))
    assert run(f"--system={system}")["iteration_time_s"] > by_file["iteration_time_s"]

    system.write_text(json.dumps(whole | {"boost-mode": 1}))
    refused = program("training-job", *arguments, f"--system={system}")
    assert refused.returncode == 2
    assert "boost-mode is '1' (allowed: " in refused.stderr
    lenient = program("training-job", *arguments, f"--system={system}", "--lenient")
    assert "boost-mode: something that is not simulated here" in lenient.stdout
    flat = whole | {"all-reduce-implementation": ["ring"]}
    system.write_text(json.dumps(flat))
    refused = program("training-job", *arguments, f"--system={system}")
    assert "has 1 algorithms (allowed: 2, one for each dimension" in refused.stderr


def test_same_seed_same_numbers_and_others_with_another():
    def run(run):
        return without_cost(dt.TrainingJob(**SMALL, loss=0.01, run=run).run().data)

    assert run(1) == run(1)
    assert run(1)["iteration_time_s"] != run(2)["iteration_time_s"]


def test_real_payload_is_verified():
    result = dt.TrainingJob(**SMALL, payload="real").run()
    assert result.iterations["verified"].all()


def test_benchmark_rows_are_those_of_the_program(program_json):
    expected = program_json("collective-benchmark", "--ranks=4", "--bytes=8,64K,1M")
    result = dt.CollectiveBenchmark(ranks=4, bytes=[8, "64K", "1M"]).run()
    assert without_cost(result.data) == without_cost(expected)
    assert result.rows.to_dict("records") == expected["rows"]
    assert list(result.to_frame()["bytes"]) == [8, 65536, 1 << 20]


def test_schedule_files(program, tmp_path):
    xml = Path(__file__).parents[3] / "examples/msccl-allpairs.xml"
    options = {"ranks": 4, "bytes": "64K", "payload": "real"}
    for transport in ("rdma", "tcp", "uec", "mrc"):
        result = dt.CollectiveBenchmark(schedule=xml, transport=transport, **options).run()
        assert result.rows["verified"].all()
        assert result.configuration["resolved"]["algorithm"] == "allpairs"
    job = dt.TrainingJob(**{**SMALL, "payload": "real", "schedule": xml, "segments": 2}).run()
    assert job.iterations["verified"].all()
    times = [dt.CollectiveBenchmark(collective="ring", **options).run().rows["time_us"][0]]
    for file in (tmp_path / "ring.json", tmp_path / "ring.xml"):
        dt.CollectiveBenchmark(collective="ring", export_schedule=file, **options).run()
        times.append(dt.CollectiveBenchmark(schedule=file, **options).run().rows["time_us"][0])
    assert times == [times[0]] * 3
    listing = program("collective-benchmark", "--ranks=2", "--bytes=8", "--print-schedule")
    assert listing.stdout.startswith(
        "all-reduce by ring: 2 ranks, 2 chunks, 1 copy, 1 segment, 2 steps\nrank 0\n"
        "  0: step 0, send to rank 1: chunks 1\n"
    )
    with pytest.raises(ValueError, match="5 ranks.*allowed: 4"):
        dt.CollectiveBenchmark(schedule=xml, **{**options, "ranks": 5}).run()
    with pytest.raises(ValueError, match="no/schedule.json"):
        dt.CollectiveBenchmark(export_schedule="no/schedule.json", **options).run()


def check_candidates(candidates, names):
    """Each collective has all algorithms, and the fastest one that fits is chosen."""
    for _, rows in candidates.groupby(["ranks", "operation", "bytes"]):
        assert set(rows["algorithm"]) == names and len(rows) == len(names)
        fit = rows[rows["unfit"] == ""]
        assert fit["expected_us"].is_monotonic_increasing and (fit["expected_us"] > 0).all()
        assert (fit["latency_us"] <= fit["expected_us"]).all() and (fit["steps"] >= 1).all()
        assert rows[rows["unfit"] != ""]["expected_us"].isna().all()
        assert list(rows["is_chosen"]) == [True] + [False] * (len(rows) - 1)


def test_auto_and_sweep(tmp_path):
    options = {"ranks": 8, "topology": "torus:2x4", "bytes": ["64", "256K"]}
    sweep = dt.CollectiveBenchmark(sweep="algorithms", **options).run()
    auto = dt.CollectiveBenchmark(collective="auto", **options).run()
    for fastest, row in zip(sweep.data["fastest"], auto.data["rows"]):
        assert row["algorithm"] == fastest["auto"]
        assert row["time_us"] == pytest.approx(fastest["auto_time_us"], rel=0.01)
        assert row["choice"].startswith(f"{row['algorithm']} for all-reduce of ")
        rows = sweep.rows[sweep.rows["bytes"] == row["bytes"]]
        assert rows["time_us"].min() == fastest["time_us"]
    assert (sweep.rows["efficiency"] <= 1).all()
    unfit = {entry["algorithm"]: entry["reason"] for entry in sweep.data["unfit"]}
    assert "bigraph" in unfit["hdrm"]
    job = dt.TrainingJob(**{**SMALL, "collective": "auto", "payload": "real"}).run()
    assert job.iterations["verified"].all()
    assert job.choices and all("expected" in text for text in job.choices.values())
    check_candidates(auto.candidates, set(sweep.rows["algorithm"]) | set(unfit))
    for _, size in auto.candidates.groupby("bytes"):
        assert set(size["algorithm"][size["unfit"] != ""]) == set(unfit)
    check_candidates(job.candidates, set(auto.candidates["algorithm"]))
    assert dt.TrainingJob(**SMALL).run().candidates.empty
    jobs = [{"workload": SMALL["workload"], "ranks": 2, "iterations": 1}]
    shared = dt.SharedCluster(jobs=jobs, ranks=4, collective="auto").run()
    check_candidates(shared.candidates, set(auto.candidates["algorithm"]))
    assert set(shared.candidates["ranks"]) == {2}
    with pytest.raises(ValueError, match="--sweep=sizes .allowed: algorithms"):
        dt.CollectiveBenchmark(sweep="sizes").run()
    with pytest.raises(ValueError, match="--sweep with --print-schedule .* .allowed: without"):
        dt.CollectiveBenchmark(sweep="algorithms", export_schedule=tmp_path / "x.json").run()


PROGRAMS = [
    dt.CollectiveBenchmark,
    dt.DisaggregatedServing,
    dt.FabricBenchmark,
    dt.FlowBenchmark,
    dt.FpgaRing,
    dt.GradientCodec,
    dt.Inceptionn,
    dt.InNetworkAggregation,
    dt.JobValidation,
    dt.MultitreeAllreduce,
    dt.NcclTables,
    dt.SharedCluster,
    dt.SwitchParameterServer,
    dt.TcpBenchmark,
    dt.TopologyCodesign,
    dt.TrainingJob,
]


@pytest.mark.parametrize("kind", PROGRAMS)
def test_every_option_is_a_keyword(describe, kind):
    description = describe(kind.name)
    assert kind.describe() == description
    options = {option["name"]: option for option in description["options"]}
    expected = [name for name in options if name != "json" and not name.startswith("print-")]
    keywords = [name.replace("-", "_") for name in expected]
    assert list(inspect.signature(kind).parameters) == [*keywords, "seed", "run", "attributes"]
    table = kind.options()
    assert list(table.index) == keywords
    for keyword, name in zip(keywords, expected):
        for column in table:
            value, expected_value = table[column][keyword], options[name][column]
            missing = expected_value is None and value != value  # NaN in a table of numbers
            assert missing or value == expected_value
        line = f"    {keyword}: {options[name]['help']}; {options[name]['allowed']}"
        assert line in kind.__doc__.splitlines() or f"{line} [" in kind.__doc__
    assert kind.__doc__.startswith(kind.__dict__["__doc__"]._text + "\n\nKeywords")


def test_alternatives_are_those_of_the_program(describe):
    description = describe("collective-benchmark")
    choices = [option for option in description["options"] if "kind" in option]
    assert {"congestion-control", "host-model", "path"} <= {option["name"] for option in choices}
    for option in choices:
        alternatives = description["kinds"][option["kind"]]
        table = dt.CollectiveBenchmark.alternatives(option["name"].replace("-", "_"))
        assert list(dict.fromkeys(table["name"])) == [a["name"] for a in alternatives]
        keys = [key["name"] for a in alternatives for key in a["keys"]]
        assert [key for key in table["key"] if key] == keys
    for keyword in ("ranks", "colour"):
        with pytest.raises(KeyError, match=keyword):
            dt.CollectiveBenchmark.alternatives(keyword)


def test_description_is_kept_until_the_program_changes(build, monkeypatch, tmp_path):
    script = tmp_path / "training-job"
    runs = tmp_path / "runs"
    script.write_text(
        f"#!/bin/sh\necho x >> {runs}\nexec {build.get_program('training-job')} $*\n",
        encoding="utf-8",
    )
    script.chmod(0o755)
    info = json.loads(Path(os.environ["DISTRIBUTED_TRAINING_BUILD"]).read_text(encoding="utf-8"))
    info["examples"]["training-job"] = str(script)
    (tmp_path / "build-info.json").write_text(json.dumps(info), encoding="utf-8")
    monkeypatch.setenv("DISTRIBUTED_TRAINING_BUILD", str(tmp_path / "build-info.json"))

    def describe_elsewhere():
        code = "import distributed_training as dt; print(len(dt.TrainingJob.describe()['options']))"
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": str(PACKAGE)},
            check=True,
        )
        return len(runs.read_text(encoding="utf-8").split())

    assert describe_elsewhere() == 1
    assert describe_elsewhere() == 1
    os.utime(script, ns=(1, 1))
    assert describe_elsewhere() == 2
    Path(f"{script}.describe.json").write_text("[]", encoding="utf-8")
    assert describe_elsewhere() == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "build-info.json",
        "runs",
        "training-job",
        "training-job.describe.json",
    ]


def test_an_old_or_broken_program_says_why(build, monkeypatch, tmp_path):
    script = tmp_path / "nccl-tables"
    script.write_text("#!/bin/sh\necho 'nccl-tables: no' >&2\nexit 2\n", encoding="utf-8")
    script.chmod(0o755)
    info = json.loads(Path(os.environ["DISTRIBUTED_TRAINING_BUILD"]).read_text(encoding="utf-8"))
    info["examples"]["nccl-tables"] = str(script)
    (tmp_path / "build-info.json").write_text(json.dumps(info), encoding="utf-8")
    monkeypatch.setenv("DISTRIBUTED_TRAINING_BUILD", str(tmp_path / "build-info.json"))
    with pytest.raises(RuntimeError, match="--describe=json: nccl-tables: no"):
        dt.NcclTables()


def test_help_without_a_build(monkeypatch):
    monkeypatch.delenv("DISTRIBUTED_TRAINING_BUILD")
    assert dt.TrainingJob.__doc__.startswith("Training of a model")
    assert "Keywords" not in dt.TrainingJob.__doc__
    assert "parameters" in inspect.signature(dt.TrainingJob).parameters


def test_other_programs_run(program_json):
    result = dt.TopologyCodesign(part="operations", nodes=4).run()
    expected = program_json("topology-codesign", "--part=operations", "--nodes=4")
    assert result.rows.to_dict("records") == expected["rows"]
    assert result.figures.to_dict("records") == expected["figures"]
    assert result.version == expected["version"]
    with pytest.raises(AttributeError, match="colour"):
        result.colour


def test_values_are_converted():
    job = dt.TrainingJob(
        overlap=False,
        ranks=4,
        compute_scale=0.5,
        delay=datetime.timedelta(microseconds=2),
        seed=7,
        run=3,
        attributes={
            "ns3::training::RdmaNic::AckInterval": 32,
            "ns3::training::RdmaDcqcn::ClampTarget": True,
        },
    )
    assert set(job.get_arguments()) == {
        "--overlap=false",
        "--ranks=4",
        "--compute-scale=0.5",
        "--delay=2us",
        "--RngSeed=7",
        "--RngRun=3",
        "--ns3::training::RdmaNic::AckInterval=32",
        "--ns3::training::RdmaDcqcn::ClampTarget=true",
    }


def test_numpy_values_are_converted():
    numpy = pytest.importorskip("numpy")
    job = dt.TrainingJob(ranks=numpy.int64(4), loss=numpy.float64(0.25), overlap=numpy.bool_(False))
    assert set(job.get_arguments()) == {"--ranks=4", "--loss=0.25", "--overlap=false"}


def test_attributes_have_an_effect():
    few = dt.TrainingJob(**SMALL).run()
    many = dt.TrainingJob(**SMALL, attributes={"ns3::training::RdmaNic::AckInterval": 1}).run()
    assert many.packet_hops > few.packet_hops
    assert many.configuration["ns3::training::RdmaNic::AckInterval"] == "1"


@pytest.mark.parametrize(
    "parameters, argument",
    [
        ({"ranks": 0}, "--ranks=0"),
        ({"ranks": -1}, "--ranks=-1"),
        ({"ranks": "many"}, "--ranks=many"),
        ({"ranks": 17, "topology": "fat-tree:k=4"}, "17 ranks on topology 'fat-tree:k=4'"),
        ({"compute_scale": float("nan")}, "--compute-scale=nan"),
        ({"rate": "100"}, "--rate=100"),
        ({"delay": 5}, "--delay=5"),
        ({"mtu": "255"}, "--mtu=255"),
        ({"mtu": "9001"}, "--mtu=9001"),
        ({"transport": "udp"}, "--transport=udp"),
        ({"workload": "missing.csv"}, "missing.csv"),
        ({"results": "/missing/results.sqlite"}, "/missing"),
        ({"attributes": {"ns3::training::RdmaNic::Colour": 1}}, "ns3::training::RdmaNic::Colour"),
        ({"attributes": {"ranks": 4}}, "ranks"),
    ],
)
def test_bad_input_is_a_value_error_with_the_text_of_the_program(program, parameters, argument):
    with pytest.raises(ValueError) as error:
        dt.TrainingJob(**parameters).run()
    text = str(error.value)
    assert argument in text and "\n" not in text
    if "attributes" not in parameters:
        direct = program("training-job", *dt.TrainingJob(**parameters).get_arguments())
        assert direct.returncode == 2
        assert direct.stderr == f"training-job: {text}\n"


@pytest.mark.parametrize(
    "parameters, text",
    [
        ({"colour": 1}, "no keyword 'colour' (allowed: "),
        ({"rank": 4}, "no keyword 'rank'; did you mean 'ranks'? (allowed: "),
        ({"json": "-"}, "no keyword 'json'"),
        ({"print_topology": True}, "no keyword 'print_topology'"),
        ({"ranks": object()}, "ranks=<object"),
        ({"ranks": 4.0}, "ranks=4.0 (allowed: 1 to "),
        ({"ranks": True}, "ranks=True (allowed: 1 to "),
        ({"ranks": [4]}, "ranks=[4] (allowed: 1 to "),
        ({"overlap": 1}, "overlap=1 (allowed: true|false)"),
        ({"loss": [0.1]}, "loss=[0.1] (allowed: 0 to 1)"),
        ({"rate": 100}, "rate=100 (allowed: a rate with a unit: bps, "),
        ({"bucket": 1.5}, "bucket=1.5 (allowed: a size of "),
        ({"transport": 1}, "transport=1 (allowed: mrc, rdma, tcp, uec; "),
        ({"workload": 1.5}, "workload=1.5 (allowed: "),
        ({"results": {}}, "results={} (allowed: text that is not empty)"),
        ({"fault": 1}, "fault=1 (allowed: "),
        ({"fault": [1, object()]}, "is neither text nor number"),
    ],
)
def test_wrong_types_and_names_are_type_errors(parameters, text):
    with pytest.raises(TypeError, match=re.escape(text)):
        dt.TrainingJob(**parameters)


def test_runs_give_means_and_keep_each_run(tmp_path):
    options = {**SMALL, "topology": "leaf-spine", "compute_jitter": "lognormal:cv=0.2"}
    path = tmp_path / "results.sqlite"
    result = dt.TrainingJob(**options, runs=3, run=5, results=path).run()
    times = [dt.TrainingJob(**options, run=run).run().iteration_time_s for run in (5, 6, 7)]
    assert list(result.runs["run"]) == [5, 6, 7]
    assert list(result.runs["iteration_time_s"]) == times
    assert result.iteration_time_s == pytest.approx(statistics.mean(times))
    half = 4.3027 * statistics.stdev(times) / math.sqrt(3)  # Student's t, 2 degrees of freedom
    assert result.confidence_95["iteration_time_s"] == pytest.approx(half, rel=1e-3)
    assert list(result.iterations.loc[6].index) == [0, 1, 2, 3]
    assert list(dt.read_results(path, "run")["seed"]) == [5, 6, 7]

    options = {"ranks": 8, "topology": "leaf-spine", "collective": "direct", "bytes": ["64K", "1M"]}
    result = dt.CollectiveBenchmark(**options, runs=3).run()
    rows = [dt.CollectiveBenchmark(**options, run=run).run().rows for run in (1, 2, 3)]
    for size in (0, 1):
        times = [frame["time_us"][size] for frame in rows]
        assert [run["rows"][size]["time_us"] for run in result.data["runs"]] == times
        assert result.rows["time_us"][size] == pytest.approx(statistics.mean(times))
        half = 4.3027 * statistics.stdev(times) / math.sqrt(3)
        assert result.rows["time_us_95"][size] == pytest.approx(half, rel=1e-3)

    options = {"ranks": 8, "topology": "leaf-spine", "pattern": "permutation", "bytes": "1M"}
    result = dt.FabricBenchmark(**options, runs=3).run()
    times = [dt.FabricBenchmark(**options, run=run).run().simulated_time_us for run in (1, 2, 3)]
    assert list(result.runs["simulated_time_us"]) == times
    assert result.simulated_time_us == pytest.approx(statistics.mean(times))


@pytest.mark.parametrize(
    "kind, parameters, text",
    [
        (dt.TrainingJob, {"trace": "x"}, "--runs=2 with --trace (allowed: without)"),
        (dt.CollectiveBenchmark, {"sweep": "algorithms"}, "--runs=2 with --sweep (allowed: "),
        (dt.FabricBenchmark, {"compare_acks": True}, "--runs=2 with --compare-acks (allowed: "),
    ],
)
def test_runs_refuse_what_is_for_one(kind, parameters, text):
    with pytest.raises(ValueError, match=re.escape(text)):
        kind(ranks=2, runs=2, **parameters).run()


def test_inputs_are_said(program):
    output = program(
        "training-job",
        "--workload=alexnet",
        "--ranks=2",
        "--iterations=1",
        "--batch=1",
        "--gpu=v100",
        "--compute-jitter=normal",
        "--straggler=1:2",
        "--host-latency=1us",
        "--host-jitter=exponential",
    ).stdout.splitlines()
    marking = "# ECN for dcqcn: switches mark "
    benchmark = ["--ranks=2", "--bytes=8", "--host-latency=3us", "--host-jitter=normal:cv=0.1"]
    for more in ([], ["--runs=2"], ["--sweep=algorithms"]):
        lines = program("collective-benchmark", *benchmark, *more).stdout.splitlines()
        assert lines[-1] == "inputs: host model none; host latency 3us, jitter normal:cv=0.1"
        assert lines[1].startswith(marking)
    for name, *words in [
        ["fabric-benchmark", "--ranks=2", "--bytes=1M"],
        ["fabric-benchmark", "--ranks=2", "--bytes=1M", "--runs=2"],
        ["flow-benchmark", "--preset=hpcc", "--ranks=20", "--warm-up=10us", "--duration=100us"],
        ["multitree-allreduce", "--part=sizes", "--topology=torus:2x2", "--bytes=1K"],
        ["nccl-tables", "--most=8"],
    ]:
        last = program(name, *words).stdout.splitlines()[-1]
        assert last.startswith("inputs: host model ")
        assert json.loads(program(name, *words, "--json=-").stdout)["inputs"] == last[8:]
    assert " on v100, " in output[0]
    assert output[-2].startswith("straggler time: ")
    assert output[-1] == (
        "inputs: compute times of v100, 9319 samples/s (Lambda TF); compute jitter normal; "
        "straggler 1:2; host model none; host latency 1us, jitter exponential"
    )


def test_queue_pairs_spread_flows():
    # In the step between the leaves, four flows are hashed to four spines.
    options = {"ranks": 8, "topology": "leaf-spine:leaves=2,spines=4,hosts-per-leaf=4"}
    options |= {"collective": "recursive-doubling", "bytes": "1M", "runs": 10}
    one = dt.CollectiveBenchmark(**options).run().rows
    split = dt.CollectiveBenchmark(**options, queue_pairs=8, split=True).run().rows
    assert split["time_us"][0] < 0.8 * one["time_us"][0]
    for split in (True, False):
        real = {**options, "queue_pairs": 3, "split": split, "bytes": "64K", "payload": "real"}
        assert dt.CollectiveBenchmark(**real).run().rows["verified"].all()
    for wrong in ({"queue_pairs": 65}, {"split": True}, {"queue_pairs": 2, "transport": "tcp"}):
        with pytest.raises(ValueError, match="allowed"):
            dt.CollectiveBenchmark(**options, **wrong).run()


def test_each_bucket_waits_for_the_announcement_of_its_turn(program_json, tmp_path):
    buckets = 40
    workload = tmp_path / "layers.csv"
    rows = [f"layer {i},10000,5,10" for i in range(buckets)]
    workload.write_text("\n".join(["layer,parameters,forward_us,backward_us", *rows]) + "\n")

    def measure_cost(delay_us):
        """Return how much longer the sums of an iteration take in the order of layers."""
        arguments = [f"--workload={workload}", "--ranks=8", f"--delay={delay_us}us", "--bucket=1"]
        arguments += ["--iterations=2", "--overlap=false", "--topology=single-switch"]

        def get_time(priority):
            job = program_json("training-job", *arguments, f"--gradient-priority={priority}")
            return job["iterations"][-1]["communication_time_s"]

        return get_time("layer") - get_time("none")

    # A frame without payload over two links: twice the delay, and its own time, which is the same.
    near, far = measure_cost(0.5), measure_cost(5)
    assert near > buckets * 2 * 0.5e-6
    assert far - near == pytest.approx(buckets * 2 * 4.5e-6, abs=1e-11)


def test_options_have_keywords():
    with pytest.raises(TypeError):
        dt.TrainingJob("resnet50")


def test_stuck_simulation():
    with pytest.raises(dt.SimulationStuck, match="rank 1 waits in all-reduce 0.*step 0.*chunk 1"):
        dt.TrainingJob(**{**SMALL, "ranks": 2}, loss=1).run()


def test_missing_build(monkeypatch, tmp_path):
    monkeypatch.delenv("DISTRIBUTED_TRAINING_BUILD")
    with pytest.raises(dt.BuildNotFound, match="ns3w python SCRIPT"):
        dt.TrainingJob().run()
    monkeypatch.setenv("DISTRIBUTED_TRAINING_BUILD", str(tmp_path / "build-info.json"))
    with pytest.raises(dt.BuildNotFound, match="build-info.json"):
        dt.TrainingJob().run()


def test_repr():
    job = dt.TrainingJob(workload="alexnet", ranks=4, compute_scale=0.1)
    assert repr(job) == "TrainingJob(workload='alexnet', ranks=4, compute_scale=0.1)"
    text = repr(dt.TrainingJob(**SMALL).run())
    assert f"{WORKLOAD}, 4 ranks, single-switch, 100Gbps, rdma (dcqcn), ring" in text
    assert re.search(r"iteration time +[\d.]+ us", text)
    assert re.search(r"busbw +[\d.]+ GB/s", text)
    assert re.search(r"scaling efficiency +0\.\d+", text)
    assert re.search(r"simulated with +[\d.]+ k packet-hops in [\d.]+ m?s CPU", text)
    rows = repr(dt.CollectiveBenchmark(ranks=2, bytes="1M").run()).splitlines()
    assert rows[1].split()[0] == "bytes" and rows[2].split()[0] == "1048576"


def test_jobs_and_results_can_be_pickled():
    job = pickle.loads(pickle.dumps(dt.TrainingJob(**SMALL)))
    assert job == dt.TrainingJob(**SMALL)
    result = job.run()
    assert pickle.loads(pickle.dumps(result)).data == result.data


def find_children(pid):
    """Return the ids of the children of a process, zombies included."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        children = [int(word) for word in file.read().split()]
    for task in os.listdir(f"/proc/{pid}/task"):
        if task != str(pid):
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
                children += [int(word) for word in file.read().split()]
    return children


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.extensive
@pytest.mark.parametrize(
    "statement, children",
    [(f"{ENDLESS}.run()", 1), (f"dt.sweep([{ENDLESS}], ThreadPoolExecutor(2), runs=3)", 2)],
    ids=["run", "sweep"],
)
def test_interrupt_ends_children(environment, statement, children):
    script = f"""
import os, signal, distributed_training as dt
from concurrent.futures import ThreadPoolExecutor
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
try:
    {statement}
except KeyboardInterrupt:
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        print("interrupted, no child left")
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    started = []
    try:
        deadline = time.monotonic() + 30
        while len(find_children(process.pid)) < children and time.monotonic() < deadline:
            time.sleep(0.05)
        started = find_children(process.pid)
        assert len(started) == children
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate()
        if "sweep" in statement:  # the sweep's own executor: its threads end with their runs
            assert "interrupted" in output or not any(map(is_alive, started)), errors
        else:
            assert output == "interrupted, no child left\n", errors
        assert not any(map(is_alive, started))
    finally:
        for child in [process.pid, *started]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        process.communicate()


def find_with(text):
    """Return the ids of the processes whose arguments contain a text, without zombies.

    A program tries ns-3's arguments in a child that it forks, which has the same arguments for some
    milliseconds and does not count.
    """
    found = {}
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if text.encode() in path.read_bytes():
                state = path.with_name("stat").read_text(encoding="utf-8")
                found[int(path.parent.name)] = int(state.rpartition(")")[2].split()[1])
    return [process for process, parent in found.items() if parent not in found]


def describe(processes):
    """Return state, parent and signals of processes, as Linux shows them."""
    return "".join(Path(f"/proc/{process}/status").read_text() for process in processes)


def wait_until(condition, hold_s=1.0):
    """Wait until a condition has held for a while without a break; return whether it has."""
    deadline = time.monotonic() + 120  # a loaded machine takes half a minute to start Python
    held_since = None
    while (now := time.monotonic()) < deadline:
        if not condition():
            held_since = None
        elif held_since is None:
            held_since = now
        elif now - held_since >= hold_s:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel ends the children")
def test_a_process_that_nobody_has_waited_for_has_ended(program, monkeypatch):
    with subprocess.Popen([sys.executable, "-c", ""]) as parent:
        os.waitid(os.P_PID, parent.pid, os.WEXITED | os.WNOWAIT)
        monkeypatch.setenv("DISTRIBUTED_TRAINING_PARENT", str(parent.pid))
        assert program("flow-benchmark", "--preset=hpcc").returncode == -signal.SIGKILL


@pytest.mark.extensive
@pytest.mark.skipif(sys.platform != "linux", reason="the kernel ends the children")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGKILL"])
@pytest.mark.parametrize(
    "statement",
    [
        "job.run()",
        "dt.sweep([job], ThreadPoolExecutor(2), runs=5)",
        "dt.sweep([job], ProcessPoolExecutor(2), runs=5)",
    ],
    ids=["run", "threads", "processes"],
)
def test_no_simulation_survives_the_process_that_started_it(environment, tmp_path, statement, name):
    workload = tmp_path / "workload.csv"
    workload.write_bytes(WORKLOAD.read_bytes())
    script = f"""
import os, signal, distributed_training as dt
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it
job = dt.TrainingJob(workload=os.environ["MARK"], ranks=16, iterations=1000000)
{statement}
"""
    children = 1 if statement == "job.run()" else 2
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        env={**environment, "MARK": str(workload)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        assert wait_until(lambda: len(find_with(str(workload))) == children, hold_s=0)
        process.send_signal(getattr(signal, name))
        process.wait()
        assert wait_until(lambda: not find_with(str(workload))), describe(find_with(str(workload)))
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # the workers of a pool
        process.wait()


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel ends the children")
def test_a_program_whose_parent_is_gone_ends_at_once(build):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    process = subprocess.run(
        [build.get_program("training-job"), "--iterations=1000000"],
        env={**build.get_environment(), "DISTRIBUTED_TRAINING_PARENT": str(gone.pid)},
        capture_output=True,
    )
    assert process.returncode == -signal.SIGKILL


def test_output_that_is_no_result_is_named(tmp_path, monkeypatch):
    job = dt.TrainingJob(**SMALL)
    impostor = tmp_path / "program"
    for output, expected in [
        ("usage: none", "output begins with 'usage: none'"),
        ("", "output is empty"),
    ]:
        impostor.write_text(f"#! /bin/sh\nprintf '{output}'\n")
        impostor.chmod(0o755)
        monkeypatch.setattr(job, "get_command", lambda: [str(impostor)])
        with pytest.raises(RuntimeError, match=expected) as error:
            job.run()
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("given, used", [(None, "glibc.malloc.hugetlb=1"), ("none", "none")])
def test_programs_use_huge_pages_unless_told_otherwise(tmp_path, monkeypatch, given, used):
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    if given:
        monkeypatch.setenv("GLIBC_TUNABLES", given)
    seen = tmp_path / "seen"
    program = tmp_path / "program"
    program.write_text(f'#! /bin/sh\nprintf "$GLIBC_TUNABLES" > {seen}\n')
    program.chmod(0o755)
    job = dt.TrainingJob(**SMALL)
    monkeypatch.setattr(job, "get_command", lambda: [str(program)])
    with pytest.raises(RuntimeError, match="output is empty"):
        job.run()
    assert seen.read_text() == used


def test_what_prints_text_is_refused():
    for name in ("print_trees", "print_schedule", "print_topology"):
        with pytest.raises(TypeError, match=f"no keyword '{name}'"):
            dt.CollectiveBenchmark(**{name: True})
    with pytest.raises(ValueError, match="'PrintGlobals' prints text .* .allowed: ns3::TypeName"):
        dt.CollectiveBenchmark(attributes={"PrintGlobals": True})


def run_on_terminal(environment, script):
    """Run a Python script whose standard error is a terminal; return (output, text shown)."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE, stderr=theirs
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            block = os.read(ours, 65536)
        except OSError:
            break
        if not block:
            break
        shown += block
    os.close(ours)
    output = process.communicate()[0]
    return output.decode(), shown.decode()


@pytest.mark.extensive
def test_progress_is_shown_on_a_terminal(environment):
    # Several seconds long: the line is first written after a quarter of a second.
    job = 'dt.TrainingJob(ranks=16, iterations=10, repeat="simulate", steady_state="simulate")'
    script = f"import distributed_training as dt; print({job}.run().version)"
    output, shown = run_on_terminal(environment, script)
    assert output.strip() == dt.__version__
    assert re.search(r"\d+ %  simulated", shown)
    assert shown.endswith("\r\x1b[K")  # and is erased at the end


def interrupt_long_run(build, arguments, until="", cpu_s=0):
    """Start a long run on a terminal, interrupt it when a text is shown; return what is shown, and the
    seconds of CPU until then.

    Without a text standard error is a pipe, and the run takes these seconds.
    """
    ours, theirs = pty.openpty() if until else os.pipe()
    name, *options = arguments
    process = subprocess.Popen(
        [build.get_program(name), *options],
        env=build.get_environment(),
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    while until and until.encode() not in shown:
        shown += os.read(ours, 65536)
    wait_for_cpu(process, cpu_s)
    cpu_s = get_cpu_s(process)
    process.send_signal(signal.SIGTERM)  # a process in the background ignores SIGINT
    with contextlib.suppress(OSError):  # of a terminal whose other end is closed
        while block := os.read(ours, 65536):
            shown += block
    process.wait()
    os.close(ours)
    return shown.decode(), cpu_s


@pytest.mark.extensive
def test_a_long_run_is_estimated_on_a_terminal(build, program_json):
    arguments = ["training-job", "--ranks=16", "--iterations=10000"]
    shown, cpu_s = interrupt_long_run(build, arguments, "s left")
    match = re.match(
        r"estimate: (\S+) packet-hops, (?:up to )?(\d+) s of CPU, (\d+) MiB for 10001 iterations",
        shown,
    )
    one = program_json("training-job", "--ranks=16", "--iterations=1", "--warmup=0")
    # Acknowledgements are not estimated.
    assert float(match[1]) / 10001 == pytest.approx(one["packet_hops"], rel=0.2)
    assert re.search(r"\d+ %  simulated .* s left", shown)
    shown, _ = interrupt_long_run(build, arguments, cpu_s=cpu_s + 0.5)
    assert re.fullmatch(r"training-job: interrupted .*\n", shown)


@pytest.mark.extensive
@pytest.mark.parametrize(
    "program_name, short, long, times, what",
    [
        ("collective-benchmark", ["--bytes=4M"], ["--bytes=8G"], 2048, "1 sizes, 2 times each"),
        ("fabric-benchmark", ["--bytes=4M"], ["--bytes=16G"], 4096, "16 messages"),
        ("flow-benchmark", ["--duration=2ms"], ["--duration=4s"], 2000, r"\d+ flows"),
    ],
)
def test_other_long_runs_are_estimated(build, program_json, program_name, short, long, times, what):
    common = ["--ranks=16", "--topology=fat-tree:k=4"]
    common += ["--flow-sizes=fixed:bytes=1M"] if program_name == "flow-benchmark" else []
    # Packets of steady states cost nothing, so that the run would end before it is interrupted.
    common += ["--steady-state=simulate"] if program_name == "collective-benchmark" else []
    # A line of progress would change what fabric-benchmark measures.
    until = "MiB for" if program_name == "fabric-benchmark" else "s left"
    shown, _ = interrupt_long_run(build, [program_name, *common, *long], until)
    match = re.match(
        rf"estimate: (\S+) packet-hops, (?:up to )?(\d+) s of CPU, (\d+) MiB for {what}", shown
    )
    one = program_json(program_name, *common, *short)
    hops = one["packet_hops"] if "packet_hops" in one else one["data_packet_hops"]
    assert float(match[1]) / times == pytest.approx(hops, rel=0.3)


@pytest.mark.extensive
@pytest.mark.parametrize(
    "words, rel",
    [
        (["--collective=switchml"], 0.1),
        (
            ["--collective=switchml", "--topology=leaf-spine:leaves=4,spines=1,hosts-per-leaf=4"],
            0.1,
        ),
        (["--collective=atp", "--topology=single-switch:hosts=17", "--ranks=16"], 0.2),
        (["--collective=sharp"], 0.4),
        (["--collective=switch-ps"], 0.1),
        (["--nic=inceptionn:ratio=2"], 0.2),
        (["--codec=fp16"], 1.2),
    ],
)
def test_long_runs_with_sums_in_the_network_or_codes_are_estimated(build, program_json, words, rel):
    words = ["collective-benchmark", "--ranks=16", "--steady-state=simulate", *words]
    shown, _ = interrupt_long_run(build, [*words, "--bytes=16G"], "s left")
    match = re.match(
        r"estimate: (?:up to )?(\S+) packet-hops, (up to )?(\d+) s of CPU, .* for 1 sizes", shown
    )
    assert bool(match[2]) == words[-1].startswith("--codec")
    hops = program_json(*words, "--bytes=8M")["packet_hops"]
    assert float(match[1]) / 2048 == pytest.approx(hops, rel=rel)


@pytest.mark.extensive
def test_a_long_sweep_is_estimated(build):
    arguments = ["collective-benchmark", "--ranks=16", "--sweep=algorithms", "--bytes=1G"]
    shown, _ = interrupt_long_run(build, [*arguments, "--steady-state=simulate"], "s left")
    assert re.match(r"estimate: \S+ packet-hops, \d+ s of CPU, .* for up to \d+ algorithms", shown)
    assert re.search(r"\r\x1b\[K\S+, algorithm 1 of \d+: +\d+ %  simulated .* s left", shown)


@pytest.mark.extensive
def test_a_long_run_of_jobs_is_estimated(build, program_json, tmp_path):
    job = tmp_path / "job.toml"
    job.write_text('workload = "resnet50"\nranks = 8\niterations = 10000\n')
    jobs = ["shared-cluster", f"--job={job}", f"--job={job}", "--ranks=16"]
    shown, _ = interrupt_long_run(build, jobs, "s left")
    match = re.match(
        r"estimate: (\S+) packet-hops, (?:up to )?(\d+) s of CPU, (\d+) MiB for 2 jobs", shown
    )
    one = program_json("training-job", "--ranks=8", "--iterations=1", "--warmup=0")
    assert float(match[1]) / 20000 == pytest.approx(one["packet_hops"], rel=0.2)
    assert re.search(r"\d+ %  simulated .* s left", shown)


@pytest.mark.extensive
@pytest.mark.parametrize(
    "words",
    [
        ["checkpoint-times", "--ranks=16", "--bytes=400G"],
        ["disaggregated-serving", "--count=20000", "--arrival-rate=100"],
        ["job-validation", "--part=replicas"],
        ["nccl-tables"],
    ],
)
def test_experiments_show_their_progress(build, words):
    """On a terminal a simulation has a line of its own, which is erased; a pipe gets nothing."""
    shown, cpu_s = interrupt_long_run(build, words, "s left")
    assert re.search(r"\d+ %  simulated .* s left", shown), shown
    shown, _ = interrupt_long_run(build, words, cpu_s=cpu_s + 0.5)
    assert re.fullmatch(rf"{words[0]}: interrupted .*\n", shown), shown


@pytest.mark.extensive
def test_the_time_left_falls(build):
    """Of a run at a constant speed; other programs on the machine may slow it down."""
    words = ["collective-benchmark", "--ranks=8", "--bytes=16G", "--steady-state=simulate"]
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [build.get_program(words[0]), *words[1:]],
        env=build.get_environment(),
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    while shown.count(b"s left") < 12:
        shown += os.read(ours, 65536)
    process.kill()
    process.wait()
    os.close(ours)
    left = [int(text) for text in re.findall(r"  (\d+) s left", shown.decode())]
    done = [int(text) for text in re.findall(r"(\d+) %  simulated", shown.decode())]
    assert len(left) >= 12 and done == sorted(done)
    rises = sum(max(0, after - before) for before, after in zip(left, left[1:]))
    assert rises <= 0.3 * left[0] and left[-1] < left[0]


def test_gradients_of_two_bytes(tmp_path):
    """A ring sends 2 (n - 1) times the bytes of a vector, whatever n divides."""
    sent = {}
    for gradient_bytes in (None, 4, 2):
        path = tmp_path / f"{gradient_bytes}.sqlite"
        job = dt.TrainingJob(
            workload="resnet50",
            ranks=3,
            iterations=1,
            warmup=0,
            gradient_bytes=gradient_bytes,
            results=path,
        )
        job.run()
        sent[gradient_bytes] = int(dt.read_results(path, "message")["bytes"].sum())
    parameters = 25557032
    assert sent == {None: 16 * parameters, 4: 16 * parameters, 2: 8 * parameters}
    for arguments, text in [
        ({"gradient_bytes": 3}, "--gradient-bytes=3 .allowed: 2, 4"),
        ({"gradient_bytes": 2, "payload": "real"}, "--gradient-bytes=2 with payload real .allowed"),
        ({"gradient_bytes": 2, "codec": "fp16"}, "--gradient-bytes=2 with a codec .allowed: 4"),
        ({"gradient_bytes": 2, "collective": "sharp"}, "--gradient-bytes=2 with collective sharp"),
        ({"gradient_bytes": 2, "workload": "dlrm-hybrid-parallel"}, "--gradient-bytes=2 with work"),
    ]:
        with pytest.raises(ValueError, match=text):
            dt.TrainingJob(ranks=4, **arguments).run()


def test_errors_are_the_same_on_a_terminal(environment):
    script = """
import distributed_training as dt
try:
    dt.TrainingJob(ranks=0).run()
except ValueError as error:
    print(error)
"""
    output, shown = run_on_terminal(environment, script)
    assert output.startswith("--ranks=0 (allowed: ")
    assert shown == ""


@pytest.mark.parametrize(
    "arguments, allowed",
    [
        (["--rate=101Tbps"], "up to 100Tbps"),
        (["--delay=101s"], "up to 100s"),
        (["--delay=100s", "--topology=torus:60", "--ranks=60"], "a round trip of"),
        (["--ns3::training::SwitchDevice::PipelineDelay=1000000s"], "up to 4000 s"),
        (["--ns3::training::SwitchDevice::HeadroomScale=1e300"], "up to 1e+18"),
        (["--buffer=40000"], "--buffer"),
        (
            ["--congestion-control=swift", "--ns3::training::RdmaSwift::ScalingFrom=200"],
            "above ScalingFrom, 200",
        ),
        (["--ns3::training::RdmaSwift::HopTarget=9000000s"], "--PrintAttributes"),
        (["--ns3::training::RdmaNic::Mtu=1000"], "--mtu"),
        (["--transport=tcp", "--ns3::TcpSocket::RcvBufSize=1000"], "ns3::TcpSocket::SegmentSize"),
        (["--transport=tcp", "--ns3::TcpSocketState::MaxPacingRate=0bps"], "more"),
    ],
)
def test_values_that_could_not_be_simulated_are_refused(program, arguments, allowed):
    process = program("collective-benchmark", "--ranks=4", "--bytes=8", *arguments)
    assert process.returncode == 2
    (line,) = process.stderr.splitlines()
    assert "(allowed: " in line and allowed in line
    assert process.stdout == ""


@pytest.mark.parametrize(
    "name",
    [
        "fpga-ring",
        "in-network-aggregation",
        "inceptionn",
        "job-validation",
        "multitree-allreduce",
        "nccl-tables",
        "switch-parameter-server",
        "topology-codesign",
    ],
)
def test_attributes_that_clusters_set_are_refused(program, name):
    process = program(name, "--ns3::training::RdmaNic::PathHops=3")
    assert process.returncode == 2
    (line,) = process.stderr.splitlines()
    assert "PathHops=3: the program sets it (allowed: " in line
    assert process.stdout == ""


def test_one_packet_over_the_fastest_link_without_delay(program_json):
    options = ["--ranks=2", "--bytes=256", "--rate=100Tbps", "--delay=0", "--mtu=256"]
    (row,) = program_json("collective-benchmark", *options)["rows"]
    assert 0 < row["time_us"] < 0.001


@pytest.mark.parametrize(
    "argument, allowed",
    [
        ("--bytes=1K,0", "1 and more each"),
        ("--rate=51Tbps", "1Mbps to 50Tbps"),
        ("--rate=1Kbps", "1Mbps to 50Tbps"),
        ("--delay=101s", "0 to 100s"),
    ],
)
def test_the_ring_refuses_before_it_prints(program, argument, allowed):
    process = program("fpga-ring", argument)
    assert process.returncode == 2
    (line,) = process.stderr.splitlines()
    assert line.startswith("fpga-ring: --") and line.endswith(f" (allowed: {allowed})")
    assert process.stdout == ""
