# SPDX-License-Identifier: GPL-2.0-only
"""The command distributed-training: programs, rows once more, comparisons, completions, manual pages."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest

import distributed_training as dt
from distributed_training.completion import SHELLS, make_completion, make_manual
from distributed_training.program import get_program_class, get_program_names

SMALL = {"iterations": 1, "warmup": 0, "batch": 4}


@pytest.fixture
def call(environment):
    """Run the command; return the finished process."""

    def run(*words):
        command = [sys.executable, "-m", "distributed_training", *map(str, words)]
        return subprocess.run(command, env=environment, capture_output=True, text=True)

    return run


def test_programs_run_by_their_names(call, program, tmp_path):
    words = ["--ranks", "2", "--bytes=1K"]
    process = call("run", "collective-benchmark", *words)
    assert (process.returncode, process.stderr) == (0, "")
    table = [line for line in process.stdout.splitlines() if not line.startswith("cost ")]
    assert table and all(line in program("collective-benchmark", *words).stdout for line in table)
    assert call("run", "collective-benchmark", "--ranks=0").returncode == 2
    process = call("run", "colective-benchmark")
    assert process.returncode == 2
    assert process.stderr.startswith("run: colective-benchmark; did you mean 'collective-benchmark'?")
    assert call("--version").stdout == program("training-job", "--version").stdout
    assert call("--help").returncode == 0
    assert call("run", "training-job", "-h").stdout == program("training-job", "-h").stdout


def test_a_row_runs_once_more(call, tmp_path):
    store = tmp_path / "runs.sqlite"
    jobs = dt.TrainingJob.grid(ranks=[1, 2], compute_jitter="normal:cv=0.1", **SMALL)
    frame = dt.sweep(jobs, store=store, runs=2)
    kept = dt.read_sweep(store, each_run=True)
    process = call("rerun", store, 1, "--json=-")
    assert process.returncode == 0, process.stderr
    assert process.stderr.startswith("training-job --batch=4 ")
    first = kept[(kept["ranks"] == 2) & (kept["run"] == 1)]
    assert json.loads(process.stdout)["iteration_time_s"] == first["iteration_time_s"].item()
    assert frame["ranks"].tolist() == [1, 2]
    changed = json.loads(call("rerun", store, 1, "--ranks=3", "--json=-").stdout)
    assert changed["configuration"]["ranks"] == 3
    for row in (2, -1):
        process = call("rerun", "--", store, row)
        assert process.returncode == 2 and f"row {row} of {store} (allowed: 0 to 1)" in process.stderr
    assert call("rerun", tmp_path / "none.sqlite", 0).returncode == 2


def test_runs_side_by_side(call, program, tmp_path):
    files = [tmp_path / f"{ranks}.json" for ranks in (2, 4)]
    for file in files:
        program("training-job", f"--ranks={file.stem}", "--iterations=1", f"--json={file}")
    frame = dt.compare(files)
    assert list(frame.columns) == ["2.json", "4.json"]
    assert list(frame.index[:2]) == ["ranks", "hosts"]  # what differs, without the name of the file
    assert list(frame.loc["ranks"]) == [2, 4]
    results = [json.loads(file.read_text()) for file in files]
    times = [result["iteration_time_s"] for result in results]
    assert list(frame.loc["iteration_time_s"]) == times
    process = call("compare", *files)
    assert process.returncode == 0 and "iteration_time_s" in process.stdout
    slow = tmp_path / "slow.json"
    program("training-job", "--ranks=2", "--iterations=1", "--rate=10Gbps", f"--json={slow}")
    # Notes that differ stand below the table, whose columns stay narrow.
    *table, first, second = call("compare", files[0], slow).stdout.splitlines()
    assert table[1].split() == ["rate", "100Gbps", "10Gbps"] and max(map(len, table)) < 80
    assert re.match("2.json: ECN for dcqcn: .* at 100Gbps$", first)
    assert re.match("slow.json: ECN for dcqcn: .* at 10Gbps$", second)
    store = tmp_path / "runs.sqlite"
    dt.sweep(dt.TrainingJob.grid(ranks=[1, 2, 3], **SMALL), store=store)
    assert list(dt.compare([store]).loc["ranks"]) == [1, 2, 3]
    assert dt.compare([store, files[0]]).shape[1] == 4
    for sources in ([files[0]], 21 * [files[0]]):
        with pytest.raises(ValueError, match=rf"{len(sources)} runs \(allowed: 2 to 20\)"):
            dt.compare(sources)
    (tmp_path / "other.json").write_text("[1]")
    assert call("compare", files[0], tmp_path / "other.json").returncode == 2
    assert call("compare", files[0], tmp_path / "none.json").returncode == 2


def test_nobody_reads_to_the_end(environment):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "distributed_training", "man", "training-job"]
    process = subprocess.run(command, env=environment, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (process.returncode, process.stderr) == (128 + signal.SIGPIPE, "")


@pytest.mark.parametrize("shell", SHELLS)
def test_completions_know_all_options(shell):
    script = make_completion(shell)
    option = "-l {}" if shell == "fish" else "--{}"
    for name in get_program_names():
        description = get_program_class(name).describe()
        assert name in script
        assert all(option.format(each["name"]) in script for each in description["options"])
    assert "fat-tree" in script
    if shutil.which(shell):
        done = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
@pytest.mark.parametrize(
    "words, expected",
    [
        (["training-job", "--topolog"], ["--topology"]),
        (["training-job", "--topology", "=", "fat"], ["fat-tree"]),
        (["training-job", "--topology", "fat"], ["fat-tree"]),
        (["training-job", "--overlap", "="], ["true", "false"]),
        (["/usr/bin/training-job", "--vers"], ["--version"]),
        (["training-job", "--ranks", "=", "1"], []),
        (["job-life", "--topolog"], []),
    ],
)
def test_bash_completes(words, expected):
    script = make_completion("bash")
    script += f"COMP_WORDS=({' '.join(words)})\nCOMP_CWORD={len(words) - 1}\n"
    script += '_distributed_training\nprintf "%s\\n" "${COMPREPLY[@]}"\n'
    done = subprocess.run(["bash"], input=script, capture_output=True, text=True)
    assert done.stderr == ""
    assert [line for line in done.stdout.splitlines() if line] == expected


def test_manual_pages(call):
    for name in get_program_names():
        page = make_manual(get_program_class(name))
        for option in get_program_class(name).describe()["options"]:
            assert "\\fB\\-\\-" + option["name"].replace("-", "\\-") + "\\fR" in page
        if shutil.which("groff"):
            command = ["groff", "-man", "-Tascii", "-ww", "-Wbreak", "-z"]
            done = subprocess.run(command, input=page, capture_output=True, text=True)
            assert (done.returncode, done.stderr) == (0, ""), name
    assert call("man", "training-job").stdout == make_manual(dt.TrainingJob)
    assert call("man", "training").returncode == 2
