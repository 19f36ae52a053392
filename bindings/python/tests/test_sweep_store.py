# SPDX-License-Identifier: GPL-2.0-only
"""Sweeps whose runs are kept in a file: kills, several processes, failures, other programs."""

import contextlib
import json
import os
import queue
import random
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import types
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

from conftest import REPOSITORY, need

import distributed_training as dt
from distributed_training import sweeps
from distributed_training.sweep_frame import get_quantile
from distributed_training.sweep_store import SweepStore

WORKLOAD = Path(__file__).with_name("small-workload.csv")
JITTER = {"workload": WORKLOAD, "iterations": 1, "compute_jitter": "lognormal"}
COST = ["packet_hops_per_cpu_s", "cpu_s", "peak_memory_MiB"]
CHANGING = [*COST, "started", "wall_time_s"]


def make_jobs():
    return dt.TrainingJob.grid(**JITTER, ranks=[1, 2, 3], transport=["rdma", "tcp"])


@pytest.fixture(scope="module")
def undisturbed():
    return dt.sweep(make_jobs(), runs=2)


def compare(frame, expected):
    """Whether two sweeps have equal rows, but for the cost of the simulation."""
    assert list(frame) == list(expected)
    assert frame.drop(columns=CHANGING).equals(expected.drop(columns=CHANGING))


def count_finished(store):
    with contextlib.suppress(FileNotFoundError, ValueError):
        return len(dt.read_sweep(store, each_run=True))
    return 0


@pytest.mark.extensive
def test_kept_runs_are_not_repeated(tmp_path, undisturbed, monkeypatch):
    store = tmp_path / "runs.sqlite"
    jobs = make_jobs()
    compare(dt.sweep(jobs[:2], store=store, runs=2), undisturbed[:2])
    first = dt.sweep(jobs, store=store, runs=2, workers=1)
    compare(first, undisturbed)
    monkeypatch.setattr(dt.TrainingJob, "run", None)  # nothing may run
    again = dt.sweep(jobs, store=store, runs=2)
    assert again.equals(first)
    backwards = dt.sweep(jobs[::-1], store=store, runs=2)
    assert list(backwards["command"]) == list(first["command"])[::-1]
    assert dt.sweep([jobs[3]] * 2, store=store)["job"].tolist() == [0, 1]
    assert [path.name for path in tmp_path.iterdir()] == ["runs.sqlite"]


def test_read_sweep(tmp_path, undisturbed):
    store = tmp_path / "runs.sqlite"
    dt.sweep(make_jobs(), store=store, runs=2)
    compare(dt.read_sweep(store), undisturbed)
    each = dt.read_sweep(store, each_run=True)
    assert list(each["run"]) == [1, 2] * 6
    means = each.groupby(["ranks", "transport"], sort=False)["iteration_time_s"].mean()
    assert list(means) == pytest.approx(list(undisturbed["iteration_time_s"]), rel=1e-15)
    assert not [name for name in each if "-" in name]


def test_means_and_intervals_are_those_of_the_programs():
    """A sweep with runs=5 and a job with runs=5 are the same measurement."""
    job = {**JITTER, "ranks": 3, "run": 4}
    ours = dt.sweep([dt.TrainingJob(**job)], runs=5).iloc[0]
    theirs = dt.TrainingJob(**job, runs=5).run()
    for name, mean in theirs._numbers().items():
        if name in theirs.confidence_95:
            assert ours[name] == pytest.approx(mean, rel=1e-12), name
            width = pytest.approx(theirs.confidence_95[name], rel=1e-4, abs=1e-15)
            assert ours[f"{name}_95"] == width, name
    assert ours["iteration_time_s_95"] > 0
    assert ours["runs"] == 5
    frame = theirs.to_frame()
    assert frame["iteration_time_s_95"][0] == theirs.confidence_95["iteration_time_s"]
    sizes = [dt.CollectiveBenchmark(ranks=4, bytes="8,64K", host_jitter="exponential")]
    sizes[0].parameters["host_latency"] = "1us"
    ours = dt.sweep(sizes, runs=3)
    rows = dt.CollectiveBenchmark(**sizes[0].parameters, runs=3).run().rows
    assert list(ours["bytes"]) == [8, 65536] and list(ours["job"]) == [0, 0]
    assert list(ours["time_us"]) == pytest.approx(list(rows["time_us"]))
    assert list(ours["time_us_95"]) == pytest.approx(list(rows["time_us_95"]), rel=1e-4)
    assert (ours["time_us_95"] > 0).all()


def test_quantiles_of_student():
    """Tables of the t distribution, two-sided 95 %."""
    table = {1: 12.7062, 2: 4.3027, 3: 3.1824, 4: 2.7764, 9: 2.2622, 30: 2.0423, 120: 1.9799}
    for freedom, quantile in table.items():
        assert get_quantile(freedom) == pytest.approx(quantile, abs=5e-5)


def test_command_repeats_a_row(tmp_path, undisturbed, build):
    row = undisturbed.iloc[3]
    command = row["command"]
    assert command.endswith("--RngRun=1 --runs=2")
    output = subprocess.check_output(
        [*shlex.split(command), "--json=-"], env=build.get_environment(), cwd=tmp_path
    )
    repeated = json.loads(output)["iteration_time_s"]
    assert repeated == pytest.approx(row["iteration_time_s"], rel=1e-12)


def test_command_with_a_relative_path(tmp_path, monkeypatch):
    folder = tmp_path / "two words"
    folder.mkdir()
    shutil.copy(WORKLOAD, folder / "layers.csv")
    monkeypatch.chdir(folder)
    row = dt.sweep([dt.TrainingJob(workload="layers.csv", iterations=1, ranks=2)]).iloc[0]
    assert row["command"].startswith(f"cd '{folder}' && /")
    repeated = subprocess.run(row["command"], shell=True, cwd="/", capture_output=True, text=True)
    assert repeated.returncode == 0 and "2 ranks" in repeated.stdout


def test_refused_arguments(tmp_path):
    job = dt.TrainingJob(**JITTER)
    for arguments, text in [
        ({"runs": 0}, r"runs=0 \(allowed: 1 to 10000\)"),
        ({"workers": 0}, "workers=0"),
        ({"retries": -1}, "retries=-1"),
        ({"changed": "ignore"}, "allowed: recompute, keep, refuse"),
    ]:
        with pytest.raises(ValueError, match=text):
            dt.sweep([job], **arguments)
    with pytest.raises(TypeError, match="runs of the sweep or of its jobs"):
        dt.sweep([dt.TrainingJob(**JITTER, runs=2)], runs=2)
    with pytest.raises(ValueError, match="run='one'"):
        dt.sweep([dt.TrainingJob(**JITTER, run="one")])
    with pytest.raises(ValueError, match="allowed: as the keyword 'run'"):
        dt.TrainingJob(**JITTER, attributes={"RngRun": 2})


def test_files_that_are_no_stores(tmp_path):
    text = tmp_path / "text.sqlite"
    text.write_text("no database" * 100)
    results = tmp_path / "results.sqlite"
    dt.TrainingJob(**JITTER, ranks=1, results=results).run()
    newer = tmp_path / "newer.sqlite"
    assert dt.sweep([], store=newer).empty
    with contextlib.closing(sqlite3.connect(newer)) as connection:
        connection.execute("PRAGMA user_version = 2")
    for path, message in [
        (text, "not a database"),
        (results, "allowed: a new file, or the store of a sweep"),
        (newer, "newer program"),
        (tmp_path / "missing/store.sqlite", "unable to open"),
    ]:
        before = path.read_bytes() if path.exists() else None
        with pytest.raises(ValueError, match=message):
            dt.sweep([], store=path)
        if path.exists():
            assert path.read_bytes() == before
            with pytest.raises(ValueError, match=message):
                dt.read_sweep(path)
    with pytest.raises(FileNotFoundError, match="none.sqlite"):
        dt.read_sweep(tmp_path / "none.sqlite")
    assert dt.sweep([], store=tmp_path / "none.sqlite").empty
    assert dt.read_sweep(tmp_path / "none.sqlite").empty
    (tmp_path / "begun.sqlite").touch()  # a kill before the first transaction leaves this
    assert dt.read_sweep(tmp_path / "begun.sqlite").empty
    assert dt.sweep([], store=tmp_path / "begun.sqlite").empty


def test_failures_are_kept_and_tried_again(tmp_path, monkeypatch):
    store = tmp_path / "runs.sqlite"
    counter = tmp_path / "attempts"
    original = dt.TrainingJob.run

    def fail_twice(self, progress=True):
        if self.parameters["ranks"] == 2:
            with counter.open("a") as file:
                file.write("x")
            if counter.stat().st_size <= 2:
                raise RuntimeError("ended by signal 9: out of memory")
        return original(self, progress)

    monkeypatch.setattr(dt.TrainingJob, "run", fail_twice)
    jobs = dt.TrainingJob.grid(**JITTER, ranks=[0, 1, 2])
    frame = dt.sweep(jobs, store=store)
    assert list(frame["attempts"]) == [1, 1, 1]
    assert frame["error"][0].startswith("ValueError: --ranks=0")
    assert list(frame["error"][1:]) == ["", "RuntimeError: ended by signal 9: out of memory"]
    assert list(frame["ranks"]) == [0, 1, 2]
    assert dt.sweep(jobs, store=store).equals(frame)
    assert dt.read_sweep(store)["error"].equals(frame["error"])
    assert counter.stat().st_size == 1
    frame = dt.sweep(jobs, store=store, retries=2)
    assert list(frame["attempts"]) == [2, 1, 3]
    assert list(frame["error"] == "") == [False, True, True]
    assert frame["iteration_time_s"].notna().tolist() == [False, True, True]
    counter.unlink()
    fresh = dt.sweep(jobs, retries=2)
    assert list(fresh["attempts"]) == [1, 1, 3]  # a refused input stays one


def test_mean_of_the_runs_that_did_not_fail(monkeypatch):
    original = dt.TrainingJob.run

    def fail_once(self, progress=True):
        if self.parameters["run"] == 2:
            raise RuntimeError("no memory")
        return original(self, progress)

    monkeypatch.setattr(dt.TrainingJob, "run", fail_once)
    row = dt.sweep([dt.TrainingJob(**JITTER, ranks=2)], runs=3).iloc[0]
    assert row["error"] == "RuntimeError: no memory"
    assert row["runs"] == 2
    times = [dt.TrainingJob(**JITTER, ranks=2, run=run).run().iteration_time_s for run in (1, 3)]
    assert row["iteration_time_s"] == pytest.approx(sum(times) / 2, rel=1e-15)


def die(self, progress=True):
    os.kill(os.getpid(), signal.SIGKILL)


def test_workers_that_die_are_no_failures_of_runs(tmp_path, undisturbed, monkeypatch):
    """Their runs are shown with the reason, and made by the next sweep."""
    store = tmp_path / "runs.sqlite"
    with monkeypatch.context() as patch:
        patch.setattr(dt.TrainingJob, "run", die)
        with ProcessPoolExecutor(1) as executor:
            frame = dt.sweep(make_jobs(), executor, store=store, runs=2, workers=1)
    assert frame["error"].str.startswith("BrokenProcessPool").all()
    assert list(frame["attempts"]) == [0] * 6
    assert dt.read_sweep(store).empty
    compare(dt.sweep(make_jobs(), store=store, runs=2), undisturbed)


def test_another_build_of_the_program(tmp_path, monkeypatch):
    store = tmp_path / "runs.sqlite"
    jobs = [dt.TrainingJob(**JITTER, ranks=1)]
    first = dt.sweep(jobs, store=store).iloc[0]
    assert first["note"] == "" and first["version"] == dt.__version__
    with contextlib.closing(sqlite3.connect(store)) as connection:
        with connection:
            connection.execute("UPDATE sweep_run SET build = 'b1', version = '0.1.0'")
    with pytest.raises(ValueError, match="1 runs of another program .*version 0.1.0, build b1"):
        dt.sweep(jobs, store=store, changed="refuse")
    kept = dt.sweep(jobs, store=store, changed="keep").iloc[0]
    assert (kept["build"], kept["note"]) == ("b1", "kept from version 0.1.0, build b1")
    assert kept["started"] == first["started"]
    row = dt.sweep(jobs, store=store).iloc[0]
    assert row["note"] == "replaces version 0.1.0, build b1"
    assert row["build"] == first["build"] and row["started"] > first["started"]
    assert dt.sweep(jobs, store=store, changed="refuse").iloc[0].equals(row)


def test_input_files_with_other_contents(tmp_path):
    store = tmp_path / "runs.sqlite"
    workload = tmp_path / "layers.csv"
    shutil.copy(WORKLOAD, workload)
    files = {"results": tmp_path / "results.sqlite", "trace": tmp_path / "trace.json"}
    jobs = [dt.TrainingJob(workload=workload, iterations=1, ranks=2, **files)]
    assert jobs[0].get_input_files() == [str(workload)]
    first = dt.sweep(jobs, store=store).iloc[0]
    assert jobs[0].get_input_files() == [str(workload)]  # not those that it has written
    assert dt.sweep(jobs, store=store).iloc[0].equals(first)
    os.utime(workload)
    assert dt.sweep(jobs, store=store).iloc[0].equals(first)
    lines = workload.read_text().splitlines()
    workload.write_text("\n".join(lines[:-1]) + "\n")
    second = dt.sweep(jobs, store=store).iloc[0]
    assert second["note"] == f"replaces other contents of {workload}"
    assert second["iteration_time_s"] < first["iteration_time_s"]


def test_one_sweep_of_a_process_has_a_store(tmp_path):
    store = tmp_path / "runs.sqlite"
    with SweepStore(store):
        with pytest.raises(ValueError, match="in use by another sweep of this process"):
            dt.sweep([], store=store)
    assert dt.sweep([], store=store).empty


SCRIPT = """
import sys
import distributed_training as dt
sys.path.insert(0, sys.argv[1])
from test_sweep_store import make_jobs
frame = dt.sweep(make_jobs(), store=sys.argv[2], runs=2, workers=1)
frame.to_pickle(sys.argv[3])
"""


def start(store, output, environment):
    command = [sys.executable, "-c", SCRIPT, str(Path(__file__).parent), str(store), str(output)]
    return subprocess.Popen(command, env=environment, start_new_session=True)


@pytest.mark.extensive
def test_killed_and_resumed_sweep_is_equal_to_an_undisturbed_one(
    tmp_path, environment, undisturbed
):
    """SIGKILL at random moments, each after at least one more run; the last one is left to end."""
    import pandas

    store, output = tmp_path / "runs.sqlite", tmp_path / "frame.pickle"
    chance = random.Random(1)
    kills = 0
    finished = count_finished(store)
    while finished < 8:
        process = start(store, output, environment)
        try:
            while count_finished(store) == finished and process.poll() is None:
                time.sleep(0.01)
            time.sleep(chance.uniform(0, 0.05))
        finally:
            process.kill()
            process.wait()
        kills += 1
        with contextlib.closing(sqlite3.connect(store)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert count_finished(store) > finished
        finished = count_finished(store)
    assert kills >= 2 and not output.exists()
    before = dt.read_sweep(store, each_run=True)["started"].to_list()
    assert start(store, output, environment).wait() == 0
    compare(pandas.read_pickle(output), undisturbed)
    after = dt.read_sweep(store, each_run=True)["started"].to_list()
    assert len(set(before) - set(after)) == 0, "a kept run was repeated"
    assert [path.name for path in tmp_path.iterdir() if "lock" in path.name] == []


@pytest.mark.takes_forever
def test_example_of_a_killed_sweep(environment):
    """60 points, killed at random moments: rows equal to those of an undisturbed sweep."""
    script = REPOSITORY / "bindings/python/examples/killed_sweep.py"
    command = [sys.executable, script]
    process = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert process.returncode == 0, process.stdout + process.stderr
    undisturbed, killed, rows = process.stdout.splitlines()
    assert undisturbed.startswith("undisturbed: ")
    assert re.fullmatch(r"60 rows of \d+ finished runs: equal", rows)
    times, kept = re.match(r"killed (\d+) times, with \[(.*)\] runs kept", killed).groups()
    counts = [int(count) for count in kept.split(",")]
    assert len(counts) == int(times) >= 3
    assert counts == sorted(counts) and 0 < counts[0] < 60


@pytest.mark.extensive
def test_two_processes_share_a_store(tmp_path, environment, undisturbed):
    """Each run is made once, and both have all rows; a killed process leaves its claims."""
    import pandas

    store = tmp_path / "runs.sqlite"
    outputs = [tmp_path / "1", tmp_path / "2"]
    processes = [start(store, output, environment) for output in outputs]
    assert [process.wait() for process in processes] == [0, 0]
    frames = [pandas.read_pickle(output) for output in outputs]
    compare(frames[0], undisturbed)
    assert frames[0].equals(frames[1])
    assert list(frames[0]["attempts"]) == [2] * 6
    assert not store.with_name("runs.sqlite.lock").exists()


CLAIM = """
import sys
import distributed_training as dt
from distributed_training.sweep_store import SweepStore
sys.path.insert(0, sys.argv[1])
from test_sweep_store import make_jobs
with SweepStore(sys.argv[2]) as store:
    for run_id in store.add([dt.TrainingJob(**job.parameters, run=1) for job in make_jobs()]):
        assert store.claim(run_id)
    print("claimed", flush=True)
    sys.stdin.read()
"""


def test_claims_end_with_their_process(tmp_path, environment, monkeypatch):
    store = tmp_path / "runs.sqlite"
    command = [sys.executable, "-c", CLAIM, str(Path(__file__).parent), str(store)]
    pipe = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    looks = queue.SimpleQueue()
    monkeypatch.setattr(sweeps, "_POLL_S", 0.01)
    clock = types.SimpleNamespace(**vars(time))
    clock.sleep = lambda seconds: looks.put(time.sleep(seconds))
    monkeypatch.setattr(sweeps, "time", clock)
    with (
        subprocess.Popen(command, env=environment, **pipe) as process,
        ThreadPoolExecutor(1) as ours,
    ):
        try:
            assert process.stdout.readline() == "claimed\n"
            frame = ours.submit(dt.sweep, make_jobs(), store=store)
            for _ in range(3):
                looks.get()
            assert not frame.done() and count_finished(store) == 0
        finally:
            process.kill()
        assert len(frame.result()) == 6
    assert count_finished(store) == 6
    assert not store.with_name("runs.sqlite.lock").exists()


def test_workers_limit_the_runs_at_a_time():
    started = []

    class Job:
        def __init__(self, index):
            self.index = index

        def run(self, progress=True):
            time.sleep(0.01)
            return self.index

        def cancel(self):
            pass

    def make():
        for index in range(7):
            started.append(index)
            yield Job(index)

    with ThreadPoolExecutor(5) as executor:
        each = dt.run_each(make(), executor, workers=2)
        first = next(each)
        assert len(started) == 2
        assert sorted([first, *each]) == [(index, index) for index in range(7)]


def test_progress_in_terminal_and_notebook_only(monkeypatch, capsys):
    job = dt.TrainingJob(**JITTER, ranks=1)
    dt.sweep([job])
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    dt.sweep([job])
    assert "1/1" in capsys.readouterr().err
    monkeypatch.undo()

    class ZMQInteractiveShell:
        config = {"IPKernelApp": {}}

    python = types.SimpleNamespace(get_ipython=ZMQInteractiveShell)
    monkeypatch.setitem(sys.modules, "IPython", python)
    assert not sweeps.make_bar(1).disable


@pytest.mark.extensive
def test_dask(tmp_path, monkeypatch):
    """The example; its rows are those of threads."""
    need("distributed")
    monkeypatch.syspath_prepend(REPOSITORY / "bindings/python/examples")
    import dask_sweep

    store = tmp_path / "runs.sqlite"
    frame = dask_sweep.main(store)
    assert (frame["error"] == "").all() and frame["time_us"].nunique() == 6
    jobs = dt.CollectiveBenchmark.grid(bytes="1M", ranks=[2, 4, 8], transport=["rdma", "tcp"])
    assert dt.sweep(jobs, store=store).equals(frame)
    compare(dt.sweep(jobs), frame)


@pytest.mark.extensive
def test_dask_loses_a_worker(tmp_path, environment):
    """A worker is killed in its runs: others make them, and no row is missing."""
    distributed = need("distributed")
    grid = tmp_path / "grid.toml"
    store = tmp_path / "runs.sqlite"
    keys = '[grid]\nworkload = "resnet50"\nsteady_state = "simulate"\n'
    grid.write_text(keys + "ranks = [2, 3, 4, 5, 6, 7]\n")
    command = [sys.executable, "-m", "distributed_training", "sweep", grid, f"--store={store}"]
    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=":0") as cluster:
        with distributed.Client(cluster) as client:
            ids = client.run(os.getpid)
            address = f"--dask={cluster.scheduler_address}"
            process = subprocess.Popen([*command, address], env=environment, stdout=subprocess.PIPE)
            while not any(client.processing().values()):
                assert process.poll() is None
                time.sleep(0.01)
            busy = next(worker for worker, keys in client.processing().items() if keys)
            os.kill(ids[busy], signal.SIGKILL)
            output = process.communicate()[0].decode()
    assert process.returncode == 0, output
    rows = dt.read_sweep(store)
    assert rows["ranks"].tolist() == [2, 3, 4, 5, 6, 7] and (rows["error"] == "").all()
    local = dt.sweep(**{**dt.read_grid(grid), "jobs": dt.read_grid(grid)["jobs"][:2]})
    assert local["iteration_time_s"].tolist() == rows["iteration_time_s"].tolist()[:2]
