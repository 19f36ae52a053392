# SPDX-License-Identifier: GPL-2.0-only
"""The types of keywords: those of the programs, and mypy refuses others."""

import subprocess
import sys

import pytest
from conftest import PACKAGE, REPOSITORY, need

GOOD = '''
import datetime
import distributed_training as dt
import pandas

result = dt.TrainingJob(
    topology="fat-tree:k=4", ranks=4, overlap=False, transport="tcp", bucket="4MiB", delay="1us", run=2,
    straggler=["1:2"], compute_scale=0.5, attributes={"SchedulerType": "ns3::MapScheduler"},
).run()
time: float = result.data["iteration_time_s"]
frame: pandas.DataFrame = result.iterations
rows = dt.CollectiveBenchmark(bytes=1024, collective="ring", path="ecmp").run().rows
dt.SharedCluster(jobs=[{"name": "a", "ranks": 2}], ranks=4)
'''

BAD = {
    "dt.TrainingJob(topolgy=3)": "topolgy",
    "dt.TrainingJob(topology=3)": "topology",
    "dt.TrainingJob(ranks='four')": "ranks",
    "dt.TrainingJob(payload='vritual')": "payload",
    "dt.TrainingJob(overlap='yes')": "overlap",
    "dt.JobLife(topology='torus:4x4')": "topology",
    "dt.CollectiveBenchmark(attributes=3)": "attributes",
}


def test_keywords_are_those_of_the_programs(environment):
    """After a new option: ./ns3w python build-support/python_keywords.py"""
    script = REPOSITORY / "build-support/python_keywords.py"
    assert subprocess.run([sys.executable, script, "--check"], env=environment).returncode == 0


@pytest.mark.extensive
def test_mypy_refuses_what_programs_would(tmp_path):
    need("mypy")
    file = tmp_path / "jobs.py"
    lines = GOOD.splitlines() + list(BAD)
    file.write_text("\n".join(lines) + "\n")
    (tmp_path / "distributed_training").symlink_to(PACKAGE / "distributed_training")
    command = [sys.executable, "-m", "mypy", "--ignore-missing-imports", f"--cache-dir={tmp_path}/cache"]
    done = subprocess.run([*command, file.name], cwd=tmp_path, capture_output=True, text=True)
    found = [line for line in done.stdout.splitlines() if line.startswith("jobs.py:")]
    wrong = {}
    for line in found:
        wrong.setdefault(int(line.split(":")[1]), line)
    first = len(GOOD.splitlines()) + 1
    assert sorted(wrong) == list(range(first, first + len(BAD))), done.stdout + done.stderr
    for number, word in enumerate(BAD.values(), first):
        assert f'"{word}"' in wrong[number], wrong[number]


@pytest.mark.extensive
def test_mypy_accepts_the_package(tmp_path):
    need("mypy")
    command = [sys.executable, "-m", "mypy", "--ignore-missing-imports", f"--cache-dir={tmp_path}/cache"]
    done = subprocess.run(
        [*command, "distributed_training"], cwd=PACKAGE, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
