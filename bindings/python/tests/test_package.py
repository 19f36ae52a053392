# SPDX-License-Identifier: GPL-2.0-only
"""The package as a whole: imports, times, the C++ classes."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

WORKLOAD = Path(__file__).with_name("small-workload.csv")

LONGEST_START = 1.5  # s, from the start of Python to the start of the simulation

SCRIPT = """
import sys, distributed_training as dt
dt.TrainingJob(ranks=1).run()
print([name for name in ("pandas", "matplotlib", "cppyy", "tqdm") if name in sys.modules])
"""

NAMESPACE_SCRIPT = """
import distributed_training as dt
ns = dt.ns
ns.training.UsePicoseconds()
topology = ns.training.BuildTopology("fat-tree:k=4", 16, ns.DataRate("100Gbps"), ns.Time("500ns"))
print(topology.hosts, topology.switches, topology.links.size())
print(ns.CreateObject[ns.training.RdmaNic]().GetSettings().mtu)
try:
    ns.training.BuildTopology("circle", 1, ns.DataRate("1Gbps"), ns.Time("1us"))
except ns.training.ConfigurationError as error:
    print("circle" in str(error))

def measure(ranks, size):
    options = ns.training.ClusterOptions()
    options.ranks = ranks
    cluster = ns.training.Cluster(options)
    run = ns.training.GuardedRun(cluster)
    operation = ns.training.CollectiveOperation.ALL_REDUCE
    seconds = ns.training.MeasureCollective(cluster, run, operation, size, False, 1).seconds
    del run
    return seconds

print(round(1e6 * measure(4, 1 << 20), 3))
ns.Simulator.Destroy()
"""


RUN_SCRIPT = """
import json, sys
import distributed_training as dt
ns = dt.ns

def train(payload):
    options = ns.training.TrainingRunOptions()
    options.workload = sys.argv[1]
    options.bucket = 256 << 10
    options.payload = payload
    options.cluster.ranks = 4
    run = ns.training.TrainingRun(options)
    times = []
    run.OnIteration(lambda record: times.append(record.iterationTimeS))
    result = run.Run()
    assert times == [record.iterationTimeS for record in result.iterations]
    return json.loads(str(result.ToJson().Write()))

print(json.dumps([train("virtual"), train("real")]))
options = ns.training.TrainingRunOptions()
options.iterations = 0
try:
    ns.training.TrainingRun(options)
except ns.training.ConfigurationError as error:
    print(str(error))
"""


def run_script(script, environment, *arguments):
    start = time.monotonic()
    process = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr
    return process.stdout.splitlines(), time.monotonic() - start


def test_importing_and_running_is_quick_and_imports_nothing_heavy(environment):
    times = []
    for _ in range(3):
        output, seconds = run_script(SCRIPT, environment)
        assert output == ["[]"]
        times.append(seconds)
    assert min(times) < LONGEST_START


@pytest.mark.extensive
def test_namespace(build, environment, program_json):
    pytest.importorskip("cppyy", reason="cppyy is not installed: distributed_training.ns needs it")
    if build.cppyy is None:
        pytest.skip(f"there is no cppyy for ns-{build.ns3_version}")
    output, _ = run_script(NAMESPACE_SCRIPT, environment)
    assert output[:3] == ["16 20 48", "4096", "True"]
    arguments = ["--ranks=4", "--bytes=1M", "--warmup=0"]
    row = program_json("collective-benchmark", *arguments)["rows"][0]
    assert float(output[3]) == round(row["time_us"], 3)


def test_namespace_needs_a_compiler(build, environment, tmp_path):
    if build.cppyy is None:
        pytest.skip(f"there is no cppyy for ns-{build.ns3_version}")
    command = [sys.executable, "-c", "import distributed_training as dt; dt.ns"]
    bare = {**environment, "PATH": str(tmp_path)}
    process = subprocess.run(command, env=bare, capture_output=True, text=True)
    assert process.returncode == 1
    assert process.stderr.splitlines()[-1].startswith(
        "ImportError: distributed_training.ns needs a C++ compiler, c++ ("
    )


@pytest.mark.extensive
def test_training_run_in_this_process(build, environment, program_json):
    pytest.importorskip("cppyy", reason="cppyy is not installed: distributed_training.ns needs it")
    if build.cppyy is None:
        pytest.skip(f"there is no cppyy for ns-{build.ns3_version}")
    output, _ = run_script(RUN_SCRIPT, environment, str(WORKLOAD))
    for payload, result in zip(("virtual", "real"), json.loads(output[0])):
        arguments = [f"--workload={WORKLOAD}", "--bucket=256K", f"--payload={payload}", "--ranks=4"]
        expected = program_json("training-job", *arguments)
        assert expected.pop("schema") == 3  # of what programs write
        for document in (result, expected):
            for key in ("cpu_s", "packet_hops_per_cpu_s", "peak_memory_MiB"):
                del document[key]
            del document["configuration"]["json"]
            for option in ("runs", "check", "summary", "system", "export-goal", "given"):  # of the program
                document["configuration"].pop(option, None)
        assert result == expected
    assert "iterations 0 (allowed: 1 to 1000000)" in output[-1]


def test_unknown_name():
    import distributed_training as dt

    for name, near in {
        "colour": "'colour'$",
        "TrainingJb": r"'TrainingJb'; did you mean 'TrainingJob'\?$",
        "trainingjob": r"did you mean 'TrainingJob'\?$",
        "__wrapped__": "'__wrapped__'$",  # tools ask for such names
    }.items():
        with pytest.raises(AttributeError, match=near):
            getattr(dt, name)
    assert "ns" in dir(dt)


def test_unknown_member_of_a_result():
    import distributed_training as dt

    result = dt.TrainingJob(workload=WORKLOAD, ranks=1, iterations=1).run()
    with pytest.raises(AttributeError, match="did you mean 'iteration_time_s'"):
        result.iteration_time
    assert not hasattr(result, "_repr_latex_")
