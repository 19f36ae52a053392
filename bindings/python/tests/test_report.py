# SPDX-License-Identifier: GPL-2.0-only
"""Reports: what is on the page, where it comes from, and how a browser shows it."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

import distributed_training as dt
from browser import Page, find_browser
from conftest import REPOSITORY, ask, get_line, need
from distributed_training.__main__ import main
from test_option_names import PROGRAMS
from timeline import read_timeline

WORKLOAD = Path(__file__).with_name("small-workload.csv")
JOB = [f"--workload={WORKLOAD}", "--ranks=4", "--iterations=2"]
TWO_JOBS = """
[[job]]
name = "first"
ranks = 4
iterations = 2
workload = "{0}"
[[job]]
name = "second"
ranks = 2
iterations = 2
workload = "{0}"
"""


def read_page(path):
    """Return the data of a page."""
    text = Path(path).read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>") and text.endswith("</html>\n")
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    return json.loads(data)


def get_rows(run, name):
    return [dict(zip(run[name]["columns"], row)) for row in run[name]["rows"]]


@pytest.fixture(scope="module")
def job(program, tmp_path_factory):
    """A job with a results file and a page."""
    folder = tmp_path_factory.mktemp("job")
    words = [*JOB, "--topology=leaf-spine:leaves=2,spines=1,hosts-per-leaf=2", "--sample=20us"]
    process = program(
        "training-job", *words, f"--results={folder}/r.sqlite", f"--report={folder}/run.html"
    )
    assert process.returncode == 0, process.stderr
    assert sorted(os.listdir(folder)) == ["r.sqlite", "run.html"]
    return folder


def test_both_languages_make_the_same_page(job, tmp_path):
    dt.report(job / "r.sqlite", tmp_path / "python.html")
    main(["report", str(job / "r.sqlite"), f"--output={tmp_path}/command.html"])
    page = (job / "run.html").read_bytes()
    assert (tmp_path / "python.html").read_bytes() == page
    assert (tmp_path / "command.html").read_bytes() == page


def test_the_page_has_the_rows_of_the_file(job):
    (run,) = read_page(job / "run.html")["runs"]
    tables = {
        "iteration": "iteration",
        "bucket": "bucket",
        "path": "critical_path",
        "compute": "compute_phase",
        "collective": "collective",
        "link": "link_counter",
        "message": "message",
    }
    for name, table in tables.items():
        ((count,),) = ask(job / "r.sqlite", f"SELECT count(*) FROM {table}")
        assert run[name]["total"] == count > 0, name
        assert len(run[name]["rows"]) == min(count, 200 if name == "message" else count), name
    ((sentence,),) = ask(job / "r.sqlite", "SELECT sentence FROM binding")
    assert get_rows(run, "binding")[0]["sentence"] == sentence
    slowest = get_rows(run, "message")[0]["time_s"]
    ((longest,),) = ask(job / "r.sqlite", "SELECT max(end_s - start_s) FROM message")
    assert slowest == pytest.approx(longest, rel=1e-12)


def test_critical_path_and_phases_fit_the_iterations(job):
    iterations = dt.read_results(job / "r.sqlite")
    path = dt.read_results(job / "r.sqlite", "critical_path")
    assert list(path["step"]) == list(range(len(path)))
    assert list(path["start_s"][1:]) == pytest.approx(list(path["end_s"][:-1]), abs=1e-15)
    last = iterations.iloc[-1]
    assert path["start_s"].iloc[0] == pytest.approx(last["start_s"], abs=1e-15)
    assert path["end_s"].iloc[-1] == pytest.approx(last["end_s"], abs=1e-15)
    phases = dt.read_results(job / "r.sqlite", "compute_phase")
    # 100 us forward and 200 us backward of the workload, on every rank in every iteration
    times = (phases["end_s"] - phases["start_s"]).groupby(phases["phase"])
    assert list(times.get_group("forward")) == pytest.approx(12 * [100e-6], rel=1e-9)
    backward = phases[phases["phase"] == "backward"]
    assert set(zip(backward["rank"], backward["iteration"])) == {
        (rank, iteration) for rank in range(4) for iteration in range(3)
    }


def test_what_binds_follows_from_the_tables(job):
    """An independent computation: the link that sends most in the measured iterations."""
    path = job / "r.sqlite"
    iterations = dt.read_results(path)
    measured = iterations[~iterations["warmup"]]
    links = dt.read_results(path, "link_iteration")
    links = links[links["iteration"].isin(measured["iteration"])]
    counters = dt.read_results(path, "link_counter").set_index(["node", "port"])
    busy = {}
    for row in links.itertuples():
        rate = counters.loc[(row.node, row.port), "rate_bps"]
        key = (row.node, row.peer)
        busy[key] = busy.get(key, 0) + 8 * (row.bytes + 20 * row.frames) / rate
    share = max(busy.values()) / measured["communication_time_s"].sum()
    (row,) = dt.read_results(path, "binding").itertuples()
    assert row.share == pytest.approx(min(share, 1), rel=1e-9)
    assert tuple(row.link.split(" -> ")) in [key for key in busy if busy[key] == max(busy.values())]
    idle = 1 - measured["compute_time_s"].sum() / measured["iteration_time_s"].sum()
    assert idle > 0.05 and row.what == ("link" if share >= 0.7 else "latency")
    assert f"{100 * row.share:.0f} %" in row.sentence and row.link in row.sentence


@pytest.mark.parametrize(
    "words, what",
    [
        (["--compute-scale=1000"], "computation"),
        (["--straggler=1:30", "--compute-scale=10"], "waiting"),
        (["--rate=1Gbps"], "link"),
        (["--delay=1ms"], "latency"),
    ],
)
def test_what_binds(program, tmp_path, words, what):
    process = program("training-job", *JOB, *words, f"--results={tmp_path}/r")
    assert process.returncode == 0, process.stderr
    ((found, sentence),) = ask(tmp_path / "r", "SELECT what, sentence FROM binding")
    assert found == what, sentence
    assert sentence.startswith(
        {"computation": "Computation binds", "waiting": "Waiting binds", "link": "The link "}.get(
            what, "No link binds"
        )
    )


def test_pauses_are_in_the_sentence(program, tmp_path):
    """An incast that fills the buffer of the only switch: it alone sends pauses."""
    words = ["--ranks=16", "--pattern=incast:15", "--bytes=4M", "--congestion-control=none"]
    process = program("fabric-benchmark", *words, f"--results={tmp_path}/r")
    assert process.returncode == 0, process.stderr
    ((sentence, share),) = ask(tmp_path / "r", "SELECT sentence, pause_share FROM binding")
    ((pauses,),) = ask(tmp_path / "r", "SELECT sum(pauses) FROM link_counter")
    assert pauses > 0 and share == 1
    assert (
        sentence.startswith("The link switch0 -> host") and "sent 100 % of the pauses" in sentence
    )


@pytest.mark.parametrize(
    "name, words",
    [
        ("training-job", [*JOB[:1], "--ranks=1", "--iterations=1"]),
        ("training-job", [*JOB[:1], "--ranks=3", "--iterations=1", "--mtu=1001"]),
        ("training-job", [*JOB[:1], "--ranks=2", "--transport=tcp"]),
        ("collective-benchmark", ["--ranks=1", "--bytes=1K"]),
        ("collective-benchmark", ["--ranks=3", "--bytes=0,4K"]),
        ("collective-benchmark", ["--ranks=4", "--collective=switchml", "--bytes=1M"]),
    ],
)
def test_odd_runs(program, tmp_path, name, words):
    """Also without --results: nothing but the page remains."""
    place = tmp_path / "temporary"
    place.mkdir()
    os.environ["TMPDIR"] = str(place)
    try:
        process = program(name, *words, f"--report={tmp_path}/run.html")
    finally:
        del os.environ["TMPDIR"]
    assert process.returncode == 0, process.stderr
    assert sorted(os.listdir(tmp_path)) == ["run.html", "temporary"] and not os.listdir(place)
    data = read_page(tmp_path / "run.html")
    (run,) = data["runs"]
    assert data["left_out"] == 0
    assert not [query for query in run if isinstance(run[query], dict) and "missing" in run[query]]
    assert get_rows(run, "run")[0]["state"] == "finished"
    assert get_rows(run, "binding")[0]["sentence"]


def test_samples_of_windows(program, tmp_path):
    words = [*JOB[:2], "--iterations=1", "--transport=tcp", "--sample=5us"]
    process = program("training-job", *words, f"--results={tmp_path}/r")
    assert process.returncode == 0, process.stderr
    rows = dt.read_results(tmp_path / "r", "sample").query("quantity == 'window_bytes'")
    assert set(rows["node"]) == {f"host{rank}" for rank in range(4)}
    assert rows["value"].min() > 1000  # at least a segment


@pytest.mark.parametrize(
    "system, most",
    [
        ("switchml:slots=64", 64),
        ("atp:slots=200", 200),
        ("sharp:credits=48", 48 + 512),  # of the streaming tree, and of the one that locks it
        ("nvls", 8 * 512),
        ("switch-ps:slots=32", 32),
        ("switch-ps:slots=32,optimizer=sgd", 32),
    ],
)
def test_samples_of_slots(program, tmp_path, system, most):
    """A slow rank makes the sums wait for it; in the end no slot is in use."""
    words = [*JOB[:1], "--ranks=4", "--iterations=1", "--sample=1us", "--straggler=1:1.5"]
    words += ["--topology=rail-optimized:servers=1,gpus=4"] if system == "nvls" else []
    words += ["--topology=single-switch:hosts=5"] if system.startswith("atp") else []
    process = program("training-job", *words, f"--collective={system}", f"--results={tmp_path}/r")
    assert process.returncode == 0, process.stderr
    rows = dt.read_results(tmp_path / "r", "sample").query("quantity == 'slots'")
    assert len(rows) > 2 and set(rows["job"]) == {0}
    for _, series in rows.groupby("node"):
        assert 0 < series["value"].max() <= most and series["value"].iloc[-1] == 0
        assert (series["value"].diff() != 0).all()


def test_stale_gradients_take_no_slot(program, tmp_path):
    words = [*JOB[:1], "--ranks=2", "--iterations=1", "--sample=5us", f"--results={tmp_path}/r"]
    words += ["--collective=switch-ps:optimizer=sgd,staleness=1"]
    process = program("training-job", *words)
    assert process.returncode == 0, process.stderr
    samples = dt.read_results(tmp_path / "r", "sample")
    assert len(samples) > 0 and "slots" not in set(samples["quantity"])


SWITCH_JOBS = """
[[job]]
name = "{0}"
ranks = {1}
iterations = {2}
workload = "{3}"
straggler = "1:1.5"
"""


@pytest.mark.parametrize("system", ["atp", "switchml"])
def test_slots_of_jobs_that_share_a_switch(program, tmp_path, system):
    """Each job has a series of its own, which ends with the job."""
    jobs = [("first", 3, 1), ("second", 2, 3), ("third", 2, 2)]
    text = "".join(SWITCH_JOBS.format(*job, WORKLOAD) for job in jobs)
    (tmp_path / "jobs.toml").write_text(text, encoding="ascii")
    words = [f"--jobs={tmp_path}/jobs.toml", "--ranks=8", "--alone=false", "--sample=1us"]
    words += [f"--collective={system}", f"--results={tmp_path}/r", f"--trace={tmp_path}/t.json"]
    process = program("shared-cluster", *words, f"--report={tmp_path}/run.html")
    assert process.returncode == 0, process.stderr
    rows = dt.read_results(tmp_path / "r", "sample", run_id=1).query("quantity == 'slots'")
    assert set(rows["job"]) == {0, 1, 2} and set(rows["node"]) == {"switch0"}
    ends = dict(ask(tmp_path / "r", "SELECT job, end_s FROM job"))
    for job, series in rows.groupby("job"):
        assert series["value"].max() > 0 and series["value"].iloc[-1] == 0
        assert series["time_s"].iloc[-1] <= ends[job] + 2e-6
    cluster = read_page(tmp_path / "run.html")["runs"][0]
    shown = [row for row in get_rows(cluster, "sample") if row["quantity"] == "slots"]
    assert {row["job"] for row in shown} == {0, 1, 2}
    events = json.loads((tmp_path / "t.json").read_text(encoding="ascii"))
    tracks = {event["name"] for event in events if event["ph"] == "C"}
    assert {"switch0 slots", "switch0 job 1 slots", "switch0 job 2 slots"} <= tracks


def test_jobs_of_a_cluster(program, tmp_path):
    """A run of the cluster, and one of each job with the links of the cluster."""
    (tmp_path / "jobs.toml").write_text(TWO_JOBS.format(WORKLOAD), encoding="ascii")
    words = [f"--jobs={tmp_path}/jobs.toml", "--ranks=6", "--alone=false", "--sample=20us"]
    words += [f"--trace={tmp_path}/t.json", f"--results={tmp_path}/r"]
    process = program("shared-cluster", *words, f"--report={tmp_path}/run.html")
    assert process.returncode == 0, process.stderr
    cluster, first, second = read_page(tmp_path / "run.html")["runs"]
    assert [run["links_of"] for run in (cluster, first, second)] == [1, 1, 1]
    assert [job["name"] for job in get_rows(cluster, "job")] == ["first", "second"]
    assert [job["name"] for job in get_rows(second, "job")] == ["second"]
    assert first["link"] == cluster["link"] and first["sample"]["total"] > 0
    assert cluster["iteration"]["total"] == 0 and second["iteration"]["total"] == 2
    assert {row["rank"] for row in get_rows(first, "compute")} == {0, 1, 2, 3}
    assert {row["rank"] for row in get_rows(second, "compute")} == {4, 5}
    assert {row["rank"] for row in get_rows(second, "collective")} == {4, 5}
    assert {row["rank"] for row in get_rows(second, "path")} <= {4, 5}
    spans = [event for event in read_timeline(tmp_path / "t.json") if event["ph"] == "X"]
    assert {event["pid"] for event in spans} == set(range(6))
    assert {event["name"] for event in spans if event["tid"] == 1} >= {"forward", "backward"}


def test_an_older_file(job, tmp_path):
    """Without the views and tables of reports: the page says so and draws the rest."""
    path = tmp_path / "old.sqlite"
    path.write_bytes((job / "r.sqlite").read_bytes())
    connection = sqlite3.connect(path)
    views = connection.execute("SELECT name FROM sqlite_master WHERE type = 'view'").fetchall()
    for (view,) in views:
        connection.execute(f"DROP VIEW {view}")
    connection.execute("DROP TABLE compute_phase")
    connection.execute("DROP TABLE critical_path")
    connection.execute("DROP TABLE job")
    connection.execute("ALTER TABLE sample DROP COLUMN job")
    connection.commit()
    connection.close()
    dt.report(path, tmp_path / "old.html")
    (run,) = read_page(tmp_path / "old.html")["runs"]
    assert run["binding"] == {"missing": "no such table: binding"}
    assert run["compute"] == {"missing": "no such table: compute_phase"}
    assert run["link"]["total"] > 0 and run["iteration"]["total"] == 3
    (before,) = read_page(job / "run.html")["runs"]
    assert run["sample"] == before["sample"] and run["series"] == before["series"]


def test_limits_are_told(job, tmp_path):
    """Of many runs the last ones, with fewer rows each."""
    path = tmp_path / "many.sqlite"
    path.write_bytes((job / "r.sqlite").read_bytes())
    connection = sqlite3.connect(path)
    columns = "program, version, seed, configuration, started, finished, state, reason"
    for _ in range(24):
        connection.execute(
            f"INSERT INTO run ({columns}) SELECT {columns} FROM run WHERE run_id = 1"
        )
    connection.commit()
    connection.close()
    dt.report(path, tmp_path / "many.html")
    data = read_page(tmp_path / "many.html")
    assert data["left_out"] == 5
    assert [run["run_id"] for run in data["runs"]] == list(range(6, 26))
    dt.report(path, tmp_path / "some.html", run_id=[1, 25])
    first, last = read_page(tmp_path / "some.html")["runs"]
    assert first["message"]["total"] > len(first["message"]["rows"]) == 100
    assert last["message"]["rows"] == []
    with pytest.raises(ValueError, match="no run 99"):
        dt.report(path, tmp_path / "none.html", run_id=99)
    assert not (tmp_path / "none.html").exists()


def test_text_cannot_leave_the_data(job, tmp_path):
    path = tmp_path / "r.sqlite"
    path.write_bytes((job / "r.sqlite").read_bytes())
    connection = sqlite3.connect(path)
    name = "</script><script>window.broken = 1</script><!-- <script> /*library*/ /*data*/"
    connection.execute("UPDATE collective SET layers = ?", (name,))
    connection.commit()
    connection.close()
    dt.report(path, tmp_path / "run.html")
    (run,) = read_page(tmp_path / "run.html")["runs"]
    assert {row["layers"] for row in get_rows(run, "bucket")} == {name}


def test_refusals(program, tmp_path):
    (tmp_path / "mine.html").write_text("<html>my page</html>", encoding="ascii")
    before = sorted(os.listdir(tmp_path))
    for path, words in {
        tmp_path / "mine.html": "is something else",
        tmp_path / "no/run.html": "there is no directory",
        tmp_path: "is a directory",
    }.items():
        for name in ("training-job", "collective-benchmark", "shared-cluster", "flow-benchmark"):
            process = program(name, f"--report={path}", f"--results={tmp_path}/r")
            line = get_line(process, 2)
            assert line.startswith(f"{name}: --report: ") and words in line, line
    line = get_line(program("training-job", *JOB, "--report=/x.html", "--runs=2"), 2)
    assert "--report" in line
    assert sorted(os.listdir(tmp_path)) == before
    (tmp_path / "text").write_text("text", encoding="ascii")
    for source, error in {
        tmp_path / "text": ValueError,
        tmp_path / "none": FileNotFoundError,
    }.items():
        with pytest.raises(error):
            dt.report(source, tmp_path / "run.html")
    assert main(["report", str(tmp_path / "none"), f"--output={tmp_path}/run.html"]) == 2
    result = dt.TrainingJob(workload=WORKLOAD, ranks=2, iterations=1).run()
    with pytest.raises(ValueError, match="has no results file"):
        dt.report(result, tmp_path / "run.html")


def test_nothing_to_draw(program, tmp_path):
    """A part of an experiment that simulates nothing has no page."""
    process = program("job-validation", "--part=operations", f"--report={tmp_path}/run.html")
    line = get_line(process, 2)
    assert "--report" in line and "nothing was simulated (allowed: " in line
    assert not (tmp_path / "run.html").exists()


def test_a_result_is_drawn(tmp_path):
    options = {"workload": WORKLOAD, "iterations": 1, "results": tmp_path / "r"}
    result = dt.TrainingJob(ranks=2, **options).run()
    dt.TrainingJob(ranks=3, **options).run()
    dt.report(result, tmp_path / "run.html")
    (run,) = read_page(tmp_path / "run.html")["runs"]
    assert run["run_id"] == 1


def test_a_stuck_run_has_a_page(program, tmp_path):
    words = [*JOB[:2], "--iterations=1000", "--fault=host1:down,from=5ms"]
    line = get_line(program("training-job", *words, f"--report={tmp_path}/run.html"), 3)
    (run,) = read_page(tmp_path / "run.html")["runs"]
    (row,) = get_rows(run, "run")
    assert row["state"] == "failed" and line.endswith(row["reason"])
    assert 0 < run["iteration"]["total"] < 1000


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM"])
def test_a_killed_run_has_no_half_page(build, tmp_path, name):
    """None after SIGKILL; after SIGTERM a page of the run so far."""
    words = [build.get_program("training-job"), *JOB[:2], "--iterations=1000000"]
    words += [f"--results={tmp_path}/r", f"--report={tmp_path}/run.html"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen(words, env=build.get_environment(), **pipes) as process:
        for line in process.stdout:
            if line.startswith("2 "):
                process.send_signal(getattr(signal, name))
    if name == "SIGKILL":
        assert "run.html" not in os.listdir(tmp_path)
    else:
        (run,) = read_page(tmp_path / "run.html")["runs"]
        assert get_rows(run, "run")[0]["state"] == "failed"
    assert not [file for file in os.listdir(tmp_path) if file.endswith(".part")]


EXPERIMENTS = [
    ("checkpoint-times", [JOB[0], "--ranks=2", "--bytes=8K"]),
    ("collective-benchmark", ["--ranks=2", "--bytes=4K"]),
    ("disaggregated-serving", ["--count=1", "--prompt=8", "--output=2"]),
    ("fabric-benchmark", ["--ranks=4", "--bytes=100K", "--pattern=all-to-all"]),
    ("flow-benchmark", ["--ranks=8", "--flow-sizes=alistorage", "--duration=100us"]),
    ("flow-benchmark", ["--preset=hpcc", "--ranks=20", "--warm-up=0s", "--duration=200us"]),
    ("fpga-ring", ["--part=rates", "--bytes=64K"]),
    ("in-network-aggregation", ["--part=atp", "--bytes=64K", "--jobs=3"]),
    ("in-network-aggregation", ["--part=sharp"]),
    ("inceptionn", ["--scale=1000"]),
    ("job-validation", ["--part=experts"]),
    ("mixed-traffic", ["--ranks=2", "--bytes=8K", "--duration=2ms"]),
    ("multitree-allreduce", ["--part=sizes", "--topology=torus:2x2", "--bytes=64"]),
    ("nccl-tables", ["--most=1M"]),
    ("shared-cluster", [f"--jobs={REPOSITORY}/examples/shared-cluster.toml", "--ranks=16"]),
    ("switch-barrier", ["--ranks=3", "--rounds=5"]),
    ("switch-parameter-server", ["--part=descent"]),
    ("tcp-benchmark", ["--hops=2", "--flows=2", "--bytes=100K", "--pairs=1"]),
    ("topology-codesign", ["--part=operations", "--nodes=4"]),
    ("training-job", [JOB[0], "--ranks=2", "--iterations=1"]),
]
FILE_OPTIONS = {"results", "trace", "trace-ranks", "sample", "report"}


def test_every_program_with_a_network_records_it(describe):
    """The manual names the programs without a network; the options, and the tests, are of the rest."""
    have = {}
    for name in PROGRAMS:
        have[name] = {option["name"] for option in describe(name)["options"]} & FILE_OPTIONS
    text = " ".join((REPOSITORY / "doc/report.rst").read_text(encoding="utf-8").split())
    (sentence,) = re.findall(r"Two programs simulate none, [^.]*\.", text)
    without = set(re.findall("``(.*?)``", sentence))
    assert {name for name in have if not have[name]} == without
    assert all(have[name] == FILE_OPTIONS for name in set(PROGRAMS) - without)
    assert {name for name, _ in EXPERIMENTS} == set(PROGRAMS) - without


def strip(value):
    """Return a document without costs, which depend on the machine, and the configuration."""
    if isinstance(value, dict):
        machine = re.compile("cpu|wall|setup|peak_M|MiB|events|configuration|skipped_packet_hops")
        left_out = ("comparison", "ratio")
        return {
            key: strip(each)
            for key, each in value.items()
            if not machine.search(key) and key not in left_out
        }
    return [strip(each) for each in value] if isinstance(value, list) else value


@pytest.mark.takes_forever
@pytest.mark.parametrize("name, words", EXPERIMENTS)
def test_experiments(program, tmp_path, name, words):
    """Every program records links, messages or collectives, and a timeline; saved options repeat its run."""
    files = [f"--results={tmp_path}/r", f"--trace={tmp_path}/t.json", "--sample=10us"]
    saved = tmp_path / "run.toml"
    plain = program(name, *words, "--json=-", f"--save-config={saved}")
    process = program(name, f"--config={saved}", *files, f"--report={tmp_path}/run.html")
    assert process.returncode == 0, process.stderr
    left, right = (strip(json.loads(each.stdout)) for each in (plain, process))
    assert left == right  # what is simulated is the same with and without records
    runs = read_page(tmp_path / "run.html")["runs"]
    assert len(runs) == min(20, len(ask(tmp_path / "r", "SELECT * FROM run")))
    for run in runs:
        recorded = run["message"]["total"] + run["collective"]["total"]
        # The run of a cluster has the links, those of its jobs the rest.
        assert run["link"]["total"] > 0 and recorded + run["job"]["total"] > 0
        assert get_rows(run, "run")[0]["state"] == "finished"
    assert any(run["message"]["total"] + run["collective"]["total"] for run in runs)
    assert [event for event in read_timeline(tmp_path / "t.json") if event["ph"] == "X"]


# ---- in a browser ----

needs_browser = pytest.mark.skipif(
    not find_browser(), reason="no Chromium is installed (Debian: apt-get install chromium)"
)


@pytest.mark.extensive
@needs_browser
def test_a_browser_shows_the_page(job):
    ((sentence,),) = ask(job / "r.sqlite", "SELECT sentence FROM binding")
    with Page(job / "run.html") as page:
        assert page.evaluate("document.getElementById('sentence').textContent") == f"{sentence}."
        drawn = page.evaluate(
            "Object.fromEntries([...document.querySelectorAll('section')]"
            ".map(s => [s.id, s.dataset.drawn]))"
        )
        assert drawn == {
            "jobs": "nothing",
            "iterations": "chart",
            "buckets": "chart",
            "layers": "table",
            "path": "chart",
            "timeline": "chart",
            "links": "picture",
            "traffic": "chart",
            "queues": "chart",
            "messages": "chart",
            "omitted": "table",
        }
        for section in ("iterations", "buckets", "path", "timeline", "traffic"):
            count = f"document.querySelectorAll('#{section} .barlayer path').length"
            assert page.evaluate(count) > 0, section
        for section in ("queues", "messages"):
            count = f"document.querySelectorAll('#{section} .scatterlayer path').length"
            assert page.evaluate(count) > 0, section
        ((links,),) = ask(job / "r.sqlite", "SELECT count(*) FROM link_counter")
        assert page.evaluate("document.querySelectorAll('path.link').length") == links
        distances = (  # from the buttons above a chart to the chart
            "[...document.querySelectorAll('.chart')].map(chart => chart.getBoundingClientRect().top"
            " - chart.querySelector('.modebar').getBoundingClientRect().bottom)"
        )
        assert len(page.evaluate(distances)) == 7
        assert all(-1 <= distance < 5 for distance in page.evaluate(distances))
        # the tip of a link, of a bar; the chooser of ranks; that of quantities
        page.point("document.querySelector('path.link[data-link=\"host0 -> switch0\"]')")
        tip = page.wait("document.getElementById('tip').textContent")
        assert tip.startswith("host0 -> switch0 (port 0, 100 Gbit/s)\nutilization: ")
        page.point("document.querySelector('#buckets .barlayer .points path:last-child')")
        assert "ranks" in page.wait("document.querySelector('#buckets .hoverlayer').textContent")
        for text, names in {"1,3": ["rank 1", "rank 3"], "2-9": ["rank 2", "rank 3"]}.items():
            page.choose("#timeline-ranks", text)
            labels = (
                "[...document.querySelectorAll('#timeline .ytick text')].map(t => t.textContent)"
            )
            assert page.evaluate(labels) == names
        for text in ("7", "x", ""):
            page.choose("#timeline-ranks", text)
            assert page.evaluate("document.getElementById('timeline').dataset.drawn") == "nothing"
        quantities = [
            row[0] for row in ask(job / "r.sqlite", "SELECT DISTINCT quantity FROM sample")
        ]
        listed = "[...document.querySelectorAll('#series-quantity option')].map(o => o.value)"
        assert sorted(page.evaluate(listed)) == sorted(quantities)
        for quantity in quantities:
            page.choose("#series-quantity", quantity)
            traces = "document.querySelectorAll('#queues .scatterlayer .trace').length"
            assert page.evaluate(traces) > 0, quantity
        assert page.complaints == []
        assert [url for url in page.requests if not url.startswith(("file://", "data:"))] == []
        assert len([url for url in page.requests if url.startswith("file://")]) == 1


def test_terms_are_those_of_the_glossary():
    page = (REPOSITORY / "model/results/report/page.html").read_text(encoding="ascii")
    glossary = (REPOSITORY / "doc/glossary.rst").read_text(encoding="ascii")
    terms = re.findall(r'<dt id="term-([\w-]+)">(.*?)</dt><dd>(.*?)</dd>', page)
    assert len(terms) > 8
    for link, term, text in terms:
        assert link == term.replace(" ", "-")
        entry = re.search(rf"^   {term}\n((?:      .*\n)+)", glossary, re.M)[1]
        assert " ".join(entry.split()).replace(" (see below)", "").startswith(text), term
    assert set(re.findall(r'href="#term-([\w-]+)"', page)) <= {link for link, *_ in terms}


def test_the_command_of_a_page_repeats_the_run(program, program_json, tmp_path):
    """Also options with spaces, lists, attributes, and those of a file."""
    (tmp_path / "run.toml").write_text("ranks = 4\nloss = 0.001\n", encoding="ascii")
    words = [JOB[0], f"--config={tmp_path}/run.toml", "--straggler=0:2", "--straggler=1:3"]
    words += ["--RngRun=3", "--ns3::training::RdmaNic::AckInterval=2", "--overlap=false"]
    process = program(
        "training-job", *words, f"--report={tmp_path}/run.html", f"--results={tmp_path}/r"
    )
    assert process.returncode == 0, process.stderr
    (run,) = read_page(tmp_path / "run.html")["runs"]
    given = json.loads(get_rows(run, "run")[0]["configuration"])["given"]
    assert sorted(given) == sorted([*words[:1], *words[2:], "--ranks=4", "--loss=0.001"])
    first, second = (program_json("training-job", *each) for each in (words, given))
    assert first["iteration_time_s"] == second["iteration_time_s"]
    if find_browser():
        with Page(tmp_path / "run.html") as page:
            command = page.evaluate("document.getElementById('command').textContent")
        assert command.split() == ["training-job", *given]


def test_the_command_has_the_schedule_of_pipelines(program, tmp_path):
    """Its option also names schedules of collectives, so the program moves the value."""
    words = ["--model=megatron-1.7b", "--pipeline=2", "--global-batch=2", "--schedule=gpipe", "--sequence=64"]
    process = program("training-job", *words, "--iterations=1", f"--report={tmp_path}/run.html")
    assert process.returncode == 0, process.stderr
    (run,) = read_page(tmp_path / "run.html")["runs"]
    configuration = json.loads(get_rows(run, "run")[0]["configuration"])
    assert sorted(configuration["given"]) == sorted([*words, "--iterations=1"])
    assert (configuration["pipeline-schedule"], configuration["schedule"]) == ("gpipe", "")


def test_bytes_over_time_are_all_bytes(job):
    (run,) = read_page(job / "run.html")["runs"]
    rows = get_rows(run, "traffic")
    for communicator, total in ask(
        job / "r.sqlite", "SELECT communicator, sum(bytes) FROM message GROUP BY communicator"
    ):
        assert sum(row["bytes"] for row in rows if row["communicator"] == communicator) == total
    ((last,),) = ask(job / "r.sqlite", "SELECT max(end_s) FROM message")
    assert [200 * row["width_s"] for row in rows] == pytest.approx([last] * len(rows))
    assert min(row["part"] for row in rows) >= 0 and max(row["part"] for row in rows) == 199


LUMINANCE = """
const parts = color => (color.match(/[\\d.]+/g) || []).map(Number);
const light = color => parts(color).slice(0, 3).map(v => v / 255)
  .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const behind = node => {
  for (; node; node = node.parentElement) {
    const color = getComputedStyle(node).backgroundColor;
    if (parts(color)[3] !== 0) return color;
  }
  return "rgb(255, 255, 255)";
};
"""
# Text of the page, but for that of charts, whose contrast to the page is below 4.5.
FAINT = (
    "(() => {"
    + LUMINANCE
    + """
  const faint = [];
  for (const node of document.querySelectorAll("h1, h2, h3, p, a, span, code, td, th, dt, dd, li, label, select, input")) {
    if (!node.textContent.trim() || node.closest(".chart") || !node.offsetParent) continue;
    const [a, b] = [light(getComputedStyle(node).color), light(behind(node))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) faint.push(`${node.tagName} ${node.textContent.slice(0, 40)}`);
  }
  return faint;
})()"""
)
# What a reader of the screen needs: names of controls, pictures and regions, one main part, ids once.
UNNAMED = """(() => {
  const bad = [];
  for (const node of document.querySelectorAll("select, input")) if (!node.labels.length) bad.push(node.id);
  for (const node of document.querySelectorAll("[role=figure], [role=group], svg#network"))
    if (!node.getAttribute("aria-label")) bad.push(node.className);
  for (const node of document.querySelectorAll(".chart")) if (node.getAttribute("role") !== "figure") bad.push("chart");
  for (const node of document.querySelectorAll(".scroll")) if (node.tabIndex !== 0) bad.push("scroll");
  for (const node of document.querySelectorAll("thead th")) if (node.scope !== "col") bad.push(node.textContent);
  const ids = [...document.querySelectorAll("[id]")].map(node => node.id).filter(id => !id.startsWith("Plotly"));
  bad.push(...ids.filter((id, i) => ids.indexOf(id) !== i));
  if (document.querySelectorAll("main").length !== 1 || document.querySelectorAll("h1").length !== 1) bad.push("main");
  return bad;
})()"""


@pytest.mark.extensive
@needs_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 600])
def test_a_page_is_accessible(job, scheme, width):
    with Page(job / "run.html", width=width) as page:
        page.prefer(scheme)
        is_dark = (
            page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
        )
        assert is_dark == (scheme == "dark")
        assert page.evaluate(FAINT) == [] and page.evaluate(UNNAMED) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for table in page.evaluate(
            "[...document.querySelectorAll('.scroll')].map(s => [s.scrollWidth, s.clientWidth,"
            " getComputedStyle(s).overflowX])"
        ):
            assert table[0] <= table[1] or table[2] == "auto"
        assert page.complaints == []


@pytest.mark.extensive
@needs_browser
@pytest.mark.skipif(sys.version_info < (3, 10), reason="axe-core-python needs Python 3.10")
def test_axe_finds_nothing(job):
    """By axe-core, of the package axe-core-python."""
    package = need("axe_core_python")
    axe = (Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    for scheme in ("light", "dark"):
        with Page(job / "run.html") as page:
            page.prefer(scheme)
            page.evaluate(f"{axe}; axe.run().then(r => {{ window.found = r; }}); 0")
            page.wait("window.found")
            found = "found.violations.map(v => `${v.id}: ${v.nodes.map(n => n.html).slice(0, 3)}`)"
            assert page.evaluate(found) == []
            assert page.evaluate("found.passes.length") > 15


@pytest.mark.extensive
@needs_browser
def test_lanes_of_the_timeline(job):
    """A lane for each bucket, whose bars do not overlap; a thing has one color on the whole page."""
    with Page(job / "run.html") as page:
        page.choose("#timeline-iteration", "all")
        traces = page.evaluate(
            "document.querySelector('#timeline .chart').data.filter(t => t.type === 'bar')"
            ".map(t => ({name: t.name, color: t.marker.color, y: t.y, base: t.base, x: t.x}))"
        )
        lanes = {}
        for trace in traces:
            for lane, start, length in zip(trace["y"], trace["base"], trace["x"]):
                lanes.setdefault(lane, []).append((start, start + length))
        for spans in lanes.values():
            spans.sort()
            assert all(a[1] <= b[0] + 1e-9 for a, b in zip(spans, spans[1:]))
        ((count,),) = ask(job / "r.sqlite", "SELECT count(*) FROM collective WHERE end_s > 0")
        bars = {trace["name"]: len(trace["x"]) for trace in traces}
        assert bars["all-reduce"] == count
        ((phases,),) = ask(job / "r.sqlite", "SELECT count(*) FROM compute_phase")
        assert sum(n for name, n in bars.items() if name not in ("all-reduce", "wait")) == phases
        colors = page.evaluate(
            "[...document.querySelectorAll('.chart')].flatMap(c => c.data)"
            ".filter(t => t.marker && typeof t.marker.color === 'string' && t.name)"
            ".map(t => [t.name.replace(/ \\d+$/, ''), t.marker.color])"
        )
        for name in ("all-reduce", "forward", "backward", "wait"):
            assert len({color for each, color in colors if each == name}) == 1, name


@pytest.mark.extensive
@needs_browser
def test_many_bars_are_summarized(job, tmp_path):
    """All of a run is drawn; zooming in shows single bars."""
    path = tmp_path / "r.sqlite"
    path.write_bytes((job / "r.sqlite").read_bytes())
    connection = sqlite3.connect(path)
    ((end,),) = connection.execute("SELECT max(end_s) FROM compute_phase").fetchall()
    connection.executemany(
        "INSERT INTO compute_phase (run_id, rank, iteration, phase, start_s, end_s) VALUES (1, ?, 2, 'tiny', ?, ?)",
        [
            (rank, end * (1 + i / 9e3), end * (1 + (i + 0.5) / 9e3))
            for rank in range(2)
            for i in range(9000)
        ],
    )
    connection.commit()
    connection.close()
    dt.report(path, tmp_path / "run.html")
    chart = "document.querySelector('#timeline .chart')"
    tiny = f"{chart}.data.find(t => t.name === 'tiny')"
    with Page(tmp_path / "run.html") as page:
        assert "18" in page.evaluate("document.getElementById('timeline-note').textContent")
        count = f"{chart}.data.filter(t => t.type === 'bar').reduce((n, t) => n + t.x.length, 0)"
        assert page.evaluate(count) <= 4000
        last = page.evaluate(f"Math.max(...{tiny}.base.map((b, i) => b + {tiny}.x[i]))")
        before = page.evaluate(f"{tiny}.x.length")
        page.evaluate(f"Plotly.relayout({chart}, {{'xaxis.range': [{last} * 0.99, {last}]}}); 0")
        page.wait(f"{tiny}.hovertext.length > 0 && !{tiny}.hovertext.some(t => / x tiny/.test(t))")
        assert page.evaluate(f"{tiny}.x.length") != before
        assert page.complaints == []


@pytest.mark.extensive
@needs_browser
def test_ranks_that_the_page_cuts_are_told(job, tmp_path):
    """The page has the first 20 000 phases of the last iteration: all of ranks 0 to 3, a part of rank 4."""
    path = tmp_path / "r.sqlite"
    path.write_bytes((job / "r.sqlite").read_bytes())
    connection = sqlite3.connect(path)
    connection.executemany(
        "INSERT INTO compute_phase (run_id, rank, iteration, phase, start_s, end_s) VALUES (1, ?, 2, 'tiny', ?, ?)",
        [(rank, i / 9e6, (i + 0.5) / 9e6) for rank in range(9) for i in range(4800)],
    )
    connection.commit()
    connection.close()
    dt.report(path, tmp_path / "run.html")
    with Page(tmp_path / "run.html") as page:
        note = "document.getElementById('timeline-note').textContent"
        assert page.evaluate("document.getElementById('timeline-ranks').value") == "0,1,2,3,4"
        assert page.evaluate(note).endswith(" Only a part of rank 4 is on this page.")
        page.choose("#timeline-ranks", "0,3")
        assert "Only a part" not in page.evaluate(note)


@pytest.mark.extensive
@needs_browser
def test_picture_of_the_documentation(environment, tmp_path):
    """The script that takes it; the height of the picture, from its header, is that of a whole page."""
    script = REPOSITORY / "build-support/report_picture.py"
    picture = tmp_path / "report.png"
    subprocess.run([sys.executable, script, picture], env=environment, check=True)
    for path in (picture, REPOSITORY / "doc/images/report.png"):
        data = path.read_bytes()
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        assert int.from_bytes(data[16:20], "big") == 1000
        assert int.from_bytes(data[20:24], "big") > 3000


@pytest.mark.extensive
@needs_browser
@pytest.mark.parametrize(
    "name, words",
    [
        ("training-job", [*JOB[:1], "--ranks=1", "--iterations=1"]),
        ("collective-benchmark", ["--ranks=9", "--topology=torus:3x3", "--bytes=4K"]),
        ("collective-benchmark", ["--ranks=6", "--topology=full-mesh", "--bytes=4K"]),
        ("switch-barrier", ["--ranks=2", "--rounds=2"]),
    ],
)
def test_a_browser_shows_odd_runs(program, tmp_path, name, words):
    process = program(name, *words, f"--report={tmp_path}/run.html")
    assert process.returncode == 0, process.stderr
    with Page(tmp_path / "run.html") as page:
        assert page.evaluate("document.getElementById('links').dataset.drawn") == "picture"
        shapes = "[...document.querySelectorAll('#network circle, #network rect')].length"
        assert page.evaluate(shapes) > 0
        assert page.complaints == []


@pytest.mark.extensive
@needs_browser
def test_a_browser_shows_text_as_text(job, tmp_path):
    path = tmp_path / "r.sqlite"
    path.write_bytes((job / "r.sqlite").read_bytes())
    connection = sqlite3.connect(path)
    name = "</script><img src=x onerror=window.broken=1><script>window.broken=1</script>"
    connection.execute("UPDATE collective SET layers = ?, operation = ?", (name, name))
    connection.execute("UPDATE run SET state = 'failed', reason = ?", (name,))
    connection.commit()
    connection.close()
    dt.report(path, tmp_path / "run.html")
    with Page(tmp_path / "run.html") as page:
        assert page.evaluate("window.broken") is None
        assert name in page.evaluate("document.getElementById('state').textContent")
        assert page.evaluate("document.querySelectorAll('img').length") == 0
        assert page.complaints == []


@pytest.mark.extensive
@needs_browser
def test_a_browser_chooses_jobs(program, tmp_path):
    (tmp_path / "jobs.toml").write_text(TWO_JOBS.format(WORKLOAD), encoding="ascii")
    words = [f"--jobs={tmp_path}/jobs.toml", "--ranks=6", "--alone=false"]
    process = program("shared-cluster", *words, f"--report={tmp_path}/run.html")
    assert process.returncode == 0, process.stderr
    with Page(tmp_path / "run.html") as page:
        options = "[...document.querySelectorAll('#runs option')].map(o => o.textContent)"
        assert page.evaluate(options) == ["1", "2, job first", "3, job second"]
        assert page.evaluate("document.getElementById('iterations').dataset.drawn") == "nothing"
        page.choose("#runs", "2")
        assert page.evaluate("document.body.dataset.run") == "3"
        assert page.evaluate("document.getElementById('iterations').dataset.drawn") == "chart"
        assert page.evaluate("document.getElementById('links').dataset.drawn") == "picture"
        assert page.complaints == []


@pytest.mark.takes_forever
@needs_browser
def test_a_large_network_is_shown_by_layers(program, tmp_path):
    words = [
        "--ranks=400",
        "--topology=leaf-spine:leaves=20,spines=4,hosts-per-leaf=20",
        "--bytes=40K",
    ]
    words += ["--collective=recursive-doubling", "--warmup=0", f"--report={tmp_path}/run.html"]
    process = program("collective-benchmark", *words)
    assert process.returncode == 0, process.stderr
    assert os.path.getsize(tmp_path / "run.html") < 20e6
    start = time.monotonic()
    with Page(tmp_path / "run.html") as page:
        assert time.monotonic() - start < 30
        assert page.evaluate("document.getElementById('links').dataset.drawn") == "layers"
        counts = page.evaluate(
            "[...document.querySelectorAll('#layer-heat tr')].slice(1)"
            ".map(row => Number(row.children[1].textContent))"
        )
        assert counts == [400, 400, 80, 80]  # up and down, of hosts and of leaves
        assert page.evaluate("document.getElementById('omitted').textContent.includes('message')")
        assert page.complaints == []
