# SPDX-License-Identifier: GPL-2.0-only
"""The package as a whole: imports, times, the C++ classes."""

import subprocess
import sys
import time

import pytest

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
print(ns.CreateObject[ns.training.RdmaNic]().GetMtu())
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


def run_script(script, environment):
    start = time.monotonic()
    process = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=120
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


def test_namespace(build, environment, program_json):
    pytest.importorskip("cppyy", reason="cppyy is not installed: distributed_training.ns needs it")
    if build.cppyy is None:
        pytest.skip(f"there is no cppyy for ns-{build.ns3_version}")
    output, _ = run_script(NAMESPACE_SCRIPT, environment)
    assert output[:3] == ["16 20 48", "4096", "True"]
    arguments = ["--ranks=4", "--bytes=1M", "--warmup=0"]
    row = program_json("collective-benchmark", *arguments)["rows"][0]
    assert float(output[3]) == round(row["time_us"], 3)


def test_unknown_name():
    import distributed_training as dt

    with pytest.raises(AttributeError):
        getattr(dt, "colour")
    assert "ns" in dir(dt)
