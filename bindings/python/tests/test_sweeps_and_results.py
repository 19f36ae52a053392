# SPDX-License-Identifier: GPL-2.0-only
"""Sweeps, results files and plots."""

import json
import math
import re
import sqlite3
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

import distributed_training as dt

WORKLOAD = Path(__file__).with_name("small-workload.csv")
SMALL = {"workload": WORKLOAD, "iterations": 1}


def make_jobs():
    return [dt.TrainingJob(**SMALL, ranks=ranks) for ranks in (2, 0, 3)]


def test_sweep_keeps_going_and_keeps_the_order():
    frame = dt.sweep(make_jobs())
    assert list(frame["job"]) == [0, 1, 2]
    assert list(frame["ranks"]) == [2, 0, 3]
    assert list(frame["error"] == "") == [True, False, True]
    assert frame["error"][1].startswith("ValueError: --ranks=0")
    assert frame["iteration_time_s"][0] == make_jobs()[0].run().iteration_time_s
    assert frame["iteration_time_s"].isna()[1]


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_sweep_with_any_executor(kind):
    with kind(2) as executor:
        frame = dt.sweep(make_jobs(), executor)
    assert list(frame["error"] == "") == [True, False, True]


def test_sweep_of_benchmarks_has_a_row_a_size():
    jobs = (dt.CollectiveBenchmark(ranks=ranks, bytes="8,64K") for ranks in (2, 4))
    frame = dt.sweep(jobs)
    assert list(frame["job"]) == [0, 0, 1, 1]
    assert list(frame["bytes"]) == [8, 65536] * 2
    assert list(frame["ranks"]) == [2, 2, 4, 4]


def test_sweep_of_nothing():
    assert dt.sweep([]).empty


def test_run_each_yields_as_runs_end():
    outcomes = dict(dt.run_each(make_jobs()))
    assert isinstance(outcomes[0], dt.TrainingResult)
    assert isinstance(outcomes[1], ValueError)


@pytest.fixture(scope="module")
def results_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("results") / "runs of a day.sqlite"
    jobs = [dt.TrainingJob(**SMALL, ranks=2, results=path, run=run) for run in (1, 2)]
    assert (dt.sweep(jobs)["error"] == "").all()
    return path


def test_results_file(results_file):
    runs = dt.read_results(results_file, "run")
    assert set(runs["state"]) == {"finished"}
    assert set(runs["seed"]) == {1, 2}
    assert (runs["finished"] >= runs["started"]).all()
    assert runs["configuration"][0]["workload"] == str(WORKLOAD)
    job = dt.TrainingJob(**SMALL, ranks=2, run=1).run()
    run_id = runs[runs["seed"] == 1]["run_id"].iloc[0]
    iterations = dt.read_results(results_file, run_id=int(run_id))
    assert list(iterations["iteration_time_s"]) == list(job.iterations["iteration_time_s"])
    assert list(iterations["warmup"]) == [True, False]
    for table in dt.list_tables(results_file):
        # none in these runs
        absent = (
            "sample",
            "nic_counter",
            "codec_counter",
            "learning",
            "energy",
            "life",
            "input",
            "flow",
            "job",
        )
        rows = set() if table in absent else {1, 2}
        assert set(dt.read_results(results_file, table)["run_id"]) == rows, table
    # 2 ranks, 2 iterations: each rank sends 2(N-1) messages per bucket
    buckets = dt.read_results(results_file, "collective")["sequence"].nunique()
    assert len(dt.read_results(results_file, "message", run_id=1)) == 2 * 2 * 2 * buckets


def test_training_is_recorded_everywhere_alike(tmp_path):
    """In the list `learning` and in the results file, with the times of the iterations."""
    path = tmp_path / "results.sqlite"
    options = {"ranks": 3, "iterations": 3, "batch": 4}
    job = dt.TrainingJob(gradients="learn:samples=100,tests=40", **options, results=path)
    result = job.run()
    assert result.configuration["resolved"]["workload"] == "learn"
    assert result.configuration["resolved"]["payload"] == "real"
    rows = dt.read_results(path, "learning").drop(columns="run_id")
    assert rows.to_dict() == result.learning.to_dict()
    assert list(rows["end_s"]) == list(dt.read_results(path)["end_s"])
    assert all(40 * rows["test_accuracy"] % 1 == 0)
    assert job.run().learning.equals(result.learning)
    several = dt.TrainingJob(gradients="learn:samples=100,tests=40", **options, runs=2).run()
    assert list(several.learning["run"]) == 4 * [1] + 4 * [2]
    assert several.learning["test_loss"].nunique() == 8


@pytest.mark.parametrize("transport", ["rdma", "tcp"])
def test_engines_are_counted_everywhere_alike(tmp_path, transport):
    """In the JSON object `nic`, and per port in the results file."""
    path = tmp_path / "results.sqlite"
    options = {"workload": WORKLOAD, "ranks": 3, "transport": transport, "iterations": 1}
    real = dt.TrainingJob(**options, payload="real", nic="inceptionn:owner=coded", results=path)
    nic = real.run().data["nic"]
    assert nic["codec"] == "inceptionn" and nic["declared"] is False
    assert nic["drifted_elements"] == 0 < nic["elements"]
    assert nic["largest_error"] <= nic["error_bound"]
    rows = dt.read_results(path, "nic_counter")
    for name in ("coded_packets", "plain_bytes", "coded_bytes", "bypassed_bytes"):
        assert rows[name].sum() == nic[name], name
    classes = [json.loads(text) for text in rows["classes"]]
    total = {name: sum(each[name] for each in classes) for name in nic["classes"]}
    assert total == nic["classes"]
    assert 4 * sum(total.values()) == nic["plain_bytes"] + nic["bypassed_bytes"]
    declared = dt.TrainingJob(**options, nic="inceptionn:ratio=4").run().data["nic"]
    assert declared["declared"] is True
    assert sum(declared["classes"].values()) == 0 and "drifted_elements" not in declared


@pytest.mark.parametrize("codec", ["thc", "natural:start=1us", "top-k:feedback=true"])
def test_codecs_are_counted_everywhere_alike(tmp_path, codec):
    """In the JSON object `codec`, and per rank in the results file."""
    path = tmp_path / "results.sqlite"
    options = {"workload": WORKLOAD, "ranks": 3, "iterations": 2, "codec": codec}
    figures = dt.TrainingJob(**options, payload="real", results=path).run().data["codec"]
    assert figures["codec"] == codec.split(":")[0] and figures["declared"] is False
    assert figures["largest_error"] > 0 and figures["elements"] > 0
    rows = dt.read_results(path, "codec_counter")
    assert list(rows["rank"]) == [0, 1, 2]
    for name in ("encodings", "decodings", "plain_bytes", "coded_bytes"):
        assert rows[name].sum() == figures[name], name
    for name in ("encode_time_s", "decode_time_s"):
        assert rows[name].sum() == pytest.approx(figures[name]), name
    assert figures["ratio"] == figures["plain_bytes"] / figures["coded_bytes"] > 1
    collectives = dt.read_results(path, "collective")
    assert len(collectives) == 3 * 3 * collectives["sequence"].nunique()  # not one per exchange
    virtual = dt.TrainingJob(**options).run().data["codec"]
    assert virtual["coded_bytes"] == figures["coded_bytes"] and "elements" not in virtual


def test_trimmed_packets_are_counted_everywhere_alike(tmp_path):
    """In the JSON object `uec`, per port in the results file, and in the line of the program."""
    options = {"workload": WORKLOAD, "ranks": 8, "collective": "parameter-server", "iterations": 1}
    path = tmp_path / "results.sqlite"
    figures = dt.TrainingJob(**options, transport="uec", results=path).run().data["uec"]
    assert figures["trimmed_packets"] > 0
    assert figures["nacks"] == figures["repeated_packets"] == figures["trimmed_packets"]
    assert figures["timeouts"] == figures["duplicate_packets"] == 0
    with sqlite3.connect(path) as database:
        ports = database.execute(
            "SELECT node, port, trims FROM link_counter WHERE trims"
        ).fetchall()
        assert database.execute("SELECT sum(drops) FROM link_counter").fetchone() == (0,)
    assert sum(trims for _, _, trims in ports) == figures["trimmed_packets"]
    assert len(ports) == 1  # the link to the server


def test_results_file_in_a_read_only_directory(results_file, tmp_path):
    directory = tmp_path / "archive"
    directory.mkdir()
    copy = directory / "results.sqlite"
    copy.write_bytes(results_file.read_bytes())
    copy.chmod(0o444)
    directory.chmod(0o555)
    try:
        assert len(dt.read_results(copy, "run")) == 2
    finally:
        directory.chmod(0o755)


def test_bad_results_files(tmp_path, results_file):
    with pytest.raises(FileNotFoundError, match="missing"):
        dt.read_results(tmp_path / "missing.sqlite")
    with pytest.raises(ValueError, match=r"'nothing' \(allowed: run, codec_counter, collective"):
        dt.read_results(results_file, "nothing")
    with pytest.raises(ValueError, match=r"'botleneck'; did you mean 'bottleneck'\? \(allowed"):
        dt.read_results(results_file, "botleneck")
    text = tmp_path / "text.sqlite"
    text.write_text("no database" * 100)
    with pytest.raises(ValueError, match="text.sqlite"):
        dt.read_results(text)
    newer = tmp_path / "newer.sqlite"
    newer.write_bytes(results_file.read_bytes())
    with sqlite3.connect(newer) as connection:
        connection.execute("PRAGMA user_version = 2")
    connection.close()
    with pytest.raises(ValueError, match="newer program"):
        dt.read_results(newer)


TOPOLOGIES = {  # visible nodes and links; a host and its own router are one node
    "torus:4x4": (16, 32),
    "mesh:2x3x4": (24, 46),
    "hierarchical-torus:2x2,nodes=4": (16, 48),
    "local-switch-torus:2x2,nodes=4,switches=2": (24, 64),
    "fat-tree:k=4": (36, 48),
    "dragonfly:a=4,h=2,p=2": (108, 162),
    "rail-optimized:servers=2,gpus=4": (18, 32),
    "bigraph:m=4,n=4": (20, 20),
    "full-mesh:hosts=6": (6, 15),
    "single-switch:hosts=1": (2, 1),
}


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_plot_of_a_topology(topology, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = dt.plot.topology(topology, ranks=1)
    places = {tuple(line.get_xydata()[0]) for line in axes.get_lines()}
    assert len(axes.get_lines()) == len(places), "nodes on top of each other"
    drawn = sum(len(lines.get_segments()) for lines in axes.collections)
    assert (len(places), drawn) == TOPOLOGIES[topology]
    axes.figure.savefig(tmp_path / "topology.svg")
    assert (tmp_path / "topology.svg").stat().st_size > 1000


def test_plot_of_the_topology_of_a_program(tmp_path, capfd):
    """The function behind `./ns3w run PROGRAM --plot-topology=FILE`."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    options = ("fabric-benchmark", str(tmp_path / "ring.svg"), "--topology=ring", "--ranks=5")
    assert dt.plot.draw_program(*options) == 0
    assert "ring" in capfd.readouterr().out
    assert (tmp_path / "ring.svg").stat().st_size > 1000
    assert dt.plot.draw_program("fabric-benchmark", str(tmp_path / "no/ring.svg")) == 2
    assert "no/ring.svg cannot be written" in capfd.readouterr().err
    assert dt.plot.draw_program(*options, "--ranks=0") == 2


def test_plot_of_a_topology_that_is_none():
    with pytest.raises(ValueError, match="torus:0x4"):
        dt.plot.topology("torus:0x4")


def test_plots(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    result = dt.TrainingJob(**SMALL, ranks=2).run()
    axes = dt.plot.iteration_breakdown({"rdma": result, "again": result})
    assert [label.get_text() for label in axes.get_yticklabels()] == ["rdma", "again"]
    axes.figure.savefig(tmp_path / "breakdown.png")
    rows = dt.CollectiveBenchmark(ranks=2, bytes="0,8,64K").run()
    axes = dt.plot.bus_bandwidth({"rdma": rows})
    assert "GB/s" in axes.get_ylabel()
    axes.figure.savefig(tmp_path / "bandwidth.png")
    assert (tmp_path / "breakdown.png").stat().st_size > 1000


def test_plots_of_scaling_and_flows():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    results = {ranks: dt.TrainingJob(**SMALL, ranks=ranks).run() for ranks in (2, 4)}
    curve, ideal = dt.plot.speedup({"rdma": results}).lines
    assert list(curve.get_xdata()) == list(ideal.get_ydata()) == [2, 4]
    expected = 4 * results[2].iteration_time_s / results[4].iteration_time_s
    assert list(curve.get_ydata()) == [2, expected]
    point, roof = dt.plot.roofline({"rdma": results[4]}).lines
    (ratio,), (reached,) = point.get_data()
    assert ratio == results[4].compute_time_s / results[4].communication_time_s
    assert reached == 100 * results[4].compute_time_s / results[4].iteration_time_s
    assert reached <= 100 * min(1, ratio) * 1.0001 and roof.get_ydata()[-1] == 100
    flows = dt.FlowBenchmark(ranks=4, flow_sizes="websearch", load=0.5, duration="1ms").run()
    median, tail = dt.plot.slowdown({"dcqcn": flows}).lines
    rows = flows.rows[flows.rows["flows"] > 0]
    assert list(median.get_xdata()) == list(rows["bytes"])
    assert all(0.999999 <= low <= high for low, high in zip(median.get_ydata(), tail.get_ydata()))


def test_results_in_notebooks():
    """A table; of a job also a strip of the iteration, and what it follows from."""
    result = dt.TrainingJob(workload=WORKLOAD, ranks=2, iterations=1).run()
    html = result._repr_html_()
    assert html.count("<table>") == html.count("</table>") == 1
    assert 'role="img"' in html and "exposed communication" in html
    widths = [float(width) for width in re.findall(r"width:([0-9.]+)%;background", html)]
    assert len(widths) == 3 and math.isclose(sum(widths), 100, abs_tol=0.01)
    expected = 100 * result.compute_time_s / result.iteration_time_s
    assert math.isclose(widths[0], expected, abs_tol=0.01)
    assert f"busiest link: {result.critical_path['busiest_link']}".replace(">", "&gt;") in html
    table = dt.CollectiveBenchmark(ranks=2, bytes=1024).run()._repr_html_()
    assert "<caption>BenchmarkResult</caption>" in table and "packet hops" in table
