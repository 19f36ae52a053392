# SPDX-License-Identifier: GPL-2.0-only
"""Grids of jobs, in Python and in TOML files; the command line of the package; plots of sweeps."""

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

import distributed_training as dt
from distributed_training import __main__ as command_line
from distributed_training.program import get_program_names

WORKLOAD = Path(__file__).with_name("small-workload.csv")

GRID = f"""
program = "training-job"
runs = 2

[common]
workload = "{WORKLOAD}"
iterations = 1
compute_jitter = "lognormal"

[[grid]]
ranks = [1, 2]
transport = ["rdma", "tcp"]

[[grid]]
ranks = 3
fault = [["*:loss=0.000001"]]
"""


@pytest.fixture
def grid(tmp_path):
    path = tmp_path / "grid.toml"
    path.write_text(GRID)
    return path


def run(*words):
    """Run a command of the package in this process."""
    return command_line.main([os.fspath(word) for word in words])


def test_every_program_has_a_class(build):
    assert set(build.examples) - set(get_program_names()) <= {"shared-cluster"}
    assert set(get_program_names()) <= set(build.examples)


def test_switch_barrier():
    result = dt.SwitchBarrier(ranks=3, rounds=5).run()
    assert result.barrier_us == pytest.approx(result.lower_bound_us)
    assert (result.multicasts, result.frames_sent_again) == (5, 0)
    lossy = dt.SwitchBarrier(ranks=3, rounds=50, loss=0.1).run()
    assert lossy.barrier_us > lossy.lower_bound_us and lossy.frames_sent_again > 0


def test_grid_in_python():
    jobs = dt.TrainingJob.grid(ranks=[1, 2], rate="10Gbps", transport=("rdma", "tcp"))
    assert jobs == [
        dt.TrainingJob(ranks=ranks, rate="10Gbps", transport=transport)
        for ranks in (1, 2)
        for transport in ("rdma", "tcp")
    ]
    assert dt.TrainingJob.grid() == [dt.TrainingJob()]
    assert dt.TrainingJob.grid(ranks=[]) == []
    with pytest.raises(TypeError, match="did you mean 'ranks'"):
        dt.TrainingJob.grid(rank=[1, 2])


def test_grid_in_a_file(grid):
    common = {"workload": str(WORKLOAD), "iterations": 1, "compute_jitter": "lognormal"}
    jobs = dt.TrainingJob.grid(**common, ranks=[1, 2], transport=["rdma", "tcp"])
    jobs.append(dt.TrainingJob(**common, ranks=3, fault=["*:loss=0.000001"]))
    assert dt.read_grid(grid) == {"jobs": jobs, "runs": 2}
    grid.write_text('program = "collective-benchmark"\nworkers = 3\n[grid]\nbytes = ["8,64K"]\n')
    benchmark = {"jobs": [dt.CollectiveBenchmark(bytes="8,64K")], "workers": 3}
    assert dt.read_grid(grid) == benchmark
    grid.write_text("")
    assert dt.read_grid(grid) == {"jobs": [dt.TrainingJob()]}


@pytest.mark.parametrize(
    "text, message",
    [
        ("grid = 3", "grid = 3 (allowed: a table of keywords)"),
        ("common = [1]", "common = [1] (allowed: a table of keywords)"),
        ('runs = "2"', "runs = '2' (allowed: an integer)"),
        ("runs = true", "runs = True (allowed: an integer)"),
        ("store = 1", "store = 1 (allowed: a text)"),
        ("seeds = 2", "key 'seeds' (allowed: program, store, runs, workers, retries, changed, "),
        ("worker = 2", "key 'worker'; did you mean 'workers'? (allowed: program, "),
        ('program = "training"', "'training'; did you mean 'training-job'? (allowed: checkpoint-"),
        ("[grid]\nrank = [1]", "TrainingJob has no keyword 'rank'; did you mean 'ranks'?"),
        ("[grid]\nranks = [1.5]", "ranks=1.5 (allowed: "),
        ("[common]\nranks = 2\n[grid]\nranks = [1]", "grid.ranks is in common, too"),
        ("runs = 1\nruns = 2", "(at "),
        ("[grid", "(at "),
    ],
)
def test_bad_files(grid, capsys, text, message):
    grid.write_text(text)
    with pytest.raises(ValueError) as caught:
        dt.read_grid(grid)
    assert str(caught.value).startswith(f"{grid}: ") and message in str(caught.value)
    assert run("sweep", grid) == 2
    output = capsys.readouterr()
    assert output.out == "" and output.err == f"sweep: {caught.value}\n"


@pytest.mark.extensive
def test_command_sweep(grid, tmp_path, capsys):
    import pandas

    store, table = tmp_path / "runs.sqlite", tmp_path / "runs.csv"
    assert run("sweep", grid, "--store", store, "--csv", table, "--workers=1") == 0
    output = capsys.readouterr()
    assert output.err == ""
    lines = output.out.splitlines()
    assert lines[0].split() == [
        "ranks",
        "transport",
        "fault",
        "iteration_time_s",
        "iteration_time_s_95",
    ]
    assert len(lines) == 6
    frame = dt.sweep(**dt.read_grid(grid))
    columns = ["ranks", "transport", "iteration_time_s", "iteration_time_s_95", "runs"]
    assert pandas.read_csv(table)[columns].equals(frame[columns])
    assert run("sweep", grid, "--store", store, "--runs=1", "--show=events,busbw_GBps") == 0
    assert capsys.readouterr().out.split()[:5] == [
        "ranks",
        "transport",
        "fault",
        "events",
        "busbw_GBps",
    ]
    assert run("sweep", grid, "--store", store, "--show=colour") == 2
    assert capsys.readouterr().err == (
        "sweep: --show=colour (allowed: the columns that --csv writes)\n"
    )
    assert len(dt.read_sweep(store, each_run=True)) == 10


def test_command_sweep_with_failures(grid, capsys):
    grid.write_text(f'[grid]\nworkload = "{WORKLOAD}"\niterations = 1\nranks = [0, 1]')
    assert run("sweep", grid) == 1
    output = capsys.readouterr()
    assert output.err == "sweep: 1 of 2 rows have errors\n"
    assert "ValueError: --ranks=0" in output.out
    grid.write_text("[grid]\nranks = []")
    assert run("sweep", grid) == 2
    assert (
        capsys.readouterr().err == f"sweep: {grid}: no jobs (allowed: a grid with at least one)\n"
    )
    assert run("sweep", grid.parent / "none.toml") == 2
    assert "none.toml: No such file or directory" in capsys.readouterr().err


@pytest.mark.extensive
def test_command_plot(grid, tmp_path, capsys, environment):
    pytest.importorskip("matplotlib")
    store, picture = tmp_path / "runs.sqlite", tmp_path / "times.svg"
    dt.sweep(**dt.read_grid(grid), store=store)
    words = ["plot", store, picture, "--x=ranks", "--y=iteration_time_s", "--by=transport"]
    command = [sys.executable, "-m", "distributed_training", *words]
    process = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (process.returncode, process.stdout) == (0, ""), process.stderr
    assert picture.stat().st_size > 1000
    assert run("plot", store, picture, "--x=ranks", "--y=iteration_time") == 2
    assert capsys.readouterr().err.startswith(
        "plot: column 'iteration_time'; did you mean 'iteration_time_s'? (allowed: job, "
    )
    assert run("plot", store, picture, "--x=ranks", "--y=iteration_time_s") == 2
    assert "transport rdma, tcp" in capsys.readouterr().err
    assert run("plot", store, tmp_path / "times.doc", *words[3:]) == 2
    assert "doc" in capsys.readouterr().err
    assert run("plot", tmp_path / "none", picture, "--x=ranks", "--y=iteration_time_s") == 2
    assert "there is no such file" in capsys.readouterr().err


@pytest.mark.extensive
def test_plot_of_a_sweep(grid):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    frame = dt.sweep(**dt.read_grid(grid))
    axes = dt.plot.sweep(frame, "ranks", "iteration_time_s", by="transport")
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["rdma", "tcp"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("ranks", "iteration time")
    assert list(axes.get_xticks()) == [1, 2, 3]
    rdma = frame[frame["transport"] == "rdma"]
    line, _, (bars,) = axes.containers[0].lines
    assert list(line.get_ydata()) == list(rdma["iteration_time_s"])
    for segment, (_, row) in zip(bars.get_segments(), rdma.iterrows()):
        mean, width = row["iteration_time_s"], row["iteration_time_s_95"]
        assert list(segment[:, 1]) == [mean - width, mean + width]
    single = dt.sweep(dt.read_grid(grid)["jobs"])  # one run: no interval
    with pytest.raises(ValueError, match="2 rows have transport rdma, and differ in ranks 1, 2"):
        dt.plot.sweep(single[single["ranks"] < 3], "transport", "busbw_GBps")
    two = single[single["ranks"] == 2]
    axes = dt.plot.sweep(two, "transport", "busbw_GBps")
    assert axes.get_ylabel() == "busbw (GB/s)" and axes.get_legend() is None
    assert list(axes.containers[0].lines[0].get_xdata()) == list(two["transport"])
    assert math.isclose(axes.get_ylim()[0], 0)
    for columns in (("rank", "busbw_GBps"), ("ranks", "version"), ("ranks", "events", "no")):
        with pytest.raises(ValueError, match="column '(rank|version|no)'"):
            dt.plot.sweep(single, *columns)


def make_frame():
    """Times of two algorithms at two rates, with two losses, of three runs each."""
    import pandas

    rows = [
        {"rate": rate, "collective": name, "loss": str(loss), "run": run, "time_s": time + run}
        for time, name in ((10.0, "ring"), (20.0, "tree"))
        for rate in (10, 100)
        for loss in (0, 0.01)
        for run in (1, 2, 3)
    ]
    return pandas.DataFrame(rows)


def test_rows_at_an_equal_x():
    """Runs are drawn as their mean and its band; another option that differs is refused."""
    pytest.importorskip("matplotlib").use("Agg")
    frame = make_frame()
    with pytest.raises(ValueError) as caught:
        dt.plot.sweep(frame, "rate", "time_s", hue="collective")
    assert str(caught.value) == (
        "6 rows have rate 10, collective ring, and differ in loss 0, 0.01 (allowed: such an option as "
        "hue, col or row, or rows with one value of it)"
    )
    axes = dt.plot.sweep(frame[frame["loss"] == "0"], "rate", "time_s", hue="collective")
    assert [list(line.get_ydata()) for line in axes.lines] == [[12.0, 12.0], [22.0, 22.0]]
    # Three runs with a standard deviation of 1: Student's t with two degrees of freedom.
    heights = axes.collections[0].get_paths()[0].vertices[:, 1]
    half = 4.302652729911275 / 3**0.5
    assert math.isclose(max(heights), 12 + half, rel_tol=1e-9)
    assert math.isclose(min(heights), 12 - half, rel_tol=1e-9)


def test_pictures_side_by_side():
    pytest.importorskip("matplotlib").use("Agg")
    axes = dt.plot.sweep(make_frame(), "rate", "time_s", hue="collective", col="loss")
    pictures = axes.figure.axes
    assert [each.get_title() for each in pictures] == ["loss 0", "loss 0.01"]
    assert [len(each.lines) for each in pictures] == [2, 2]
    names = {"hue": "run", "col": "collective", "row": "loss"}
    pictures = dt.plot.sweep(make_frame(), "rate", "time_s", **names).figure.axes
    assert len(pictures) == 4
    assert pictures[3].get_title() == "collective tree, loss 0.01"
    for wrong in ({"hue": ["rate", "loss"]}, {"col": "los"}, {"row": 3}):
        with pytest.raises(ValueError, match="column .* [(]allowed: rate, collective, loss, run, time_s"):
            dt.plot.sweep(make_frame(), "rate", "time_s", **wrong)
    with pytest.raises(ValueError, match="axes with col or row"):
        dt.plot.sweep(make_frame(), "rate", "time_s", hue="loss", axes=axes, col="collective")


def test_a_port_that_never_queues_lowers_no_ecn_threshold(program):
    """The link between host and router may be as fast as it likes."""
    notes = [
        program("collective-benchmark", f"--topology=mesh:4x4{rate}", "--ranks=16", "--bytes=1M")
        .stdout.splitlines()[1]
        .partition(" at ")[0]
        for rate in ("", ",host-rate=10Tbps", ",host-rate=100Tbps")
    ]
    assert notes[0].startswith("# ECN for dcqcn: ") and len(set(notes)) == 1
