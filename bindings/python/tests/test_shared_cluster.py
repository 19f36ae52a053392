# SPDX-License-Identifier: GPL-2.0-only
"""The program shared-cluster, and its class."""

import json
import pathlib

import distributed_training as dt
import pytest

NAME = "shared-cluster"
WORKLOAD = str(pathlib.Path(__file__).with_name("small-workload.csv"))
JOBS = [
    {"name": "a", "workload": WORKLOAD, "ranks": 2, "iterations": 2},
    {"name": "b", "workload": WORKLOAD, "ranks": 3, "iterations": 1, "straggler": ["0:2"]},
]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of two jobs: its result and its results file."""
    path = tmp_path_factory.mktemp("shared") / "results.sqlite"
    return dt.SharedCluster(jobs=JOBS, ranks=6, results=path).run(), path


def test_frames_of_jobs(run):
    result, _ = run
    assert list(result.jobs.index) == ["a", "b"]
    assert list(result.jobs["ranks"]) == [2, 3]
    assert list(result.jobs["hosts"]) == [[0, 1], [2, 3, 4]]
    assert list(result.iterations.index) == [("a", 0), ("a", 1), ("b", 0)]
    for name in ("a", "b"):
        times = result.iterations.loc[name]["iteration_time_s"]
        assert list(times) == result.jobs["iteration_times_s"][name]
        assert result.jobs["iteration_time_s"][name] == pytest.approx(times.mean(), rel=1e-12)
        # A port of a switch for each host: the jobs share no link.
        assert result.jobs["slowdown"][name] == 1
        bound = result.iterations.loc[name]["lower_bound_s"]
        assert (0 < bound).all()
        assert (bound <= result.iterations.loc[name]["communication_time_s"]).all()
    assert result.makespan_s == result.jobs["end_s"].max()
    assert "2 jobs, 6 hosts" in repr(result)


def test_results_file_has_a_run_for_each_job(run):
    result, path = run
    runs = dt.read_results(path, "run")
    assert set(runs["program"]) == {NAME}
    assert set(runs["state"]) == {"finished"}
    assert len(runs) == 3
    jobs = dt.read_results(path, "job").set_index("name")
    assert set(jobs["run_id"]) == {1}
    assert list(jobs["job"]) == [0, 1]
    assert list(jobs["hosts"]) == ["0-1", "2-4"]
    assert dt.read_results(path, "link_counter")["run_id"].unique() == [1]
    configurations = runs.set_index("run_id")["configuration"]
    assert "keys" not in configurations[1]
    for name, job in jobs.iterrows():
        assert job["slowdown"] == 1
        assert configurations[job["job_run_id"]]["keys"]["name"] == name
        rows = dt.read_results(path, run_id=int(job["job_run_id"]))
        assert list(rows["iteration_time_s"]) == result.jobs["iteration_times_s"][name]
        messages = dt.read_results(path, "message", run_id=int(job["job_run_id"]))
        assert set(messages["source"]) == set(result.jobs["hosts"][name])
        collectives = dt.read_results(path, "collective", run_id=int(job["job_run_id"]))
        assert collectives["iteration"].max() + 1 == len(rows)


def test_what_binds_each_job(run):
    """A link at a host of the job; in the results file as in the document."""
    result, path = run
    jobs = dt.read_results(path, "job").set_index("name")
    for name, binding in result.jobs["binding"].items():
        hosts = {f"host{host}" for host in result.jobs["hosts"][name]}
        assert hosts & set(binding["link"].split(" -> ")), binding
        (row,) = dt.read_results(path, "binding", int(jobs["job_run_id"][name])).to_dict("records")
        assert {key: row[key] for key in binding} == binding
    links = [binding["link"] for binding in result.jobs["binding"]]
    assert len(set(links)) == 2


def test_keys_of_jobs(describe):
    keys = dt.SharedCluster.job_keys()
    job = {option["name"]: option for option in describe("training-job")["options"]}
    for name in ("workload", "model", "tensor", "zero", "compute-jitter", "straggler"):
        assert keys["allowed"][name] == job[name]["allowed"]
    assert {"name", "ranks", "arrival", "placement", "priority"} < set(keys.index)


def test_jobs_that_are_no_tables():
    with pytest.raises(TypeError, match="jobs: 3 .allowed: a dict for each job"):
        dt.SharedCluster(jobs=[3])
    with pytest.raises(ValueError, match="unknown key 'rank'; did you mean ranks"):
        dt.SharedCluster(jobs=[{"rank": 3}]).run()
    cluster = dt.SharedCluster(jobs=JOBS, ranks=6)
    assert "--jobs=jobs.toml" in cluster.get_arguments()


def test_a_file_for_each_job(program, program_json, tmp_path):
    path = tmp_path / "job.toml"
    path.write_text(f"workload = {json.dumps(WORKLOAD)}\nranks = 2\niterations = 1\n")
    result = program_json(NAME, f"--job={path}", f"--job={path}", "--ranks=4", "--alone=false")
    assert [job["name"] for job in result["jobs"]] == ["job0", "job1"]
    assert result["jobs"][0]["slowdown"] is None
    process = program(NAME)
    assert process.returncode == 2
    assert "--jobs= (allowed: a TOML file, or --job=FILE)" in process.stderr


@pytest.mark.parametrize("transport", ["rdma", "tcp", "uec"])
def test_a_stuck_job_beside_endless_traffic(program, tmp_path, transport):
    """Ranks that wait for each other's message before they send, while other flows go on."""
    trace = tmp_path / "trace.goal"
    trace.write_text(
        "num_ranks 2\nrank 0 {\na: recv 8b from 1\nb: send 8b to 1\nb requires a\n}\n"
        "rank 1 {\na: recv 8b from 0\nb: send 8b to 0\nb requires a\n}\n"
    )
    jobs = tmp_path / "jobs.toml"
    jobs.write_text(
        f'[[job]]\nname = "stuck"\nworkload = "{trace}"\n'
        f"[[job]]\nworkload = {json.dumps(WORKLOAD)}\nranks = 2\niterations = 1\n"
    )
    results = tmp_path / "results.sqlite"
    document = tmp_path / "results.json"
    process = program(
        NAME,
        f"--jobs={jobs}",
        f"--results={results}",
        f"--json={document}",
        "--ranks=4",
        "--rate=1Gbps",
        f"--transport={transport}",
        "--background=fixed:bytes=100K,load=0.01",
    )
    assert process.returncode == 3
    assert process.stderr.startswith(
        f"{NAME}: stuck: job stuck: communicator 1, rank 0 waits for tensor 0 (8 bytes) from "
        "rank 1; beside background traffic, no rank has received anything for 1s"
    )
    assert process.stderr.endswith("; jobs that have not ended: stuck\n")
    states = dict(dt.read_results(results, "run")[["run_id", "state"]].values)
    assert states == {1: "failed", 2: "failed", 3: "finished"}
    assert "no rank has received" in dt.read_results(results, "run")["reason"][1]
    rows = dt.read_results(results, "job").set_index("name")
    assert list(rows["job_run_id"]) == [2, 3]
    assert rows["end_s"]["stuck"] == rows["iteration_time_s"]["stuck"] == 0
    assert rows["end_s"]["job1"] == rows["iteration_time_s"]["job1"] > 0
    failed = json.loads(document.read_text())
    assert failed["state"] == "failed"
    assert process.stderr == f"{NAME}: stuck: {failed['reason']}\n"
    assert failed["makespan_s"] is None
    stuck, other = failed["jobs"]
    assert stuck["end_s"] is None and stuck["iterations"] == []
    assert other["end_s"] == rows["end_s"]["job1"] and len(other["iterations"]) == 1
    assert other["slowdown"] is None


@pytest.mark.parametrize("collective", ["switchml:slots=64", "atp:slots=1,window=16"])
def test_jobs_share_the_slots_of_a_switch(program_json, tmp_path, collective):
    """Sums are compared; the counters of the jobs are the same in JSON and SQLite."""
    jobs = tmp_path / "jobs.toml"
    job = f"[[job]]\nworkload = {json.dumps(WORKLOAD)}\nranks = 2\niterations = 1\n"
    jobs.write_text(job + job)
    results = tmp_path / "results.sqlite"
    document = program_json(
        NAME,
        f"--jobs={jobs}",
        "--ranks=4",
        "--topology=single-switch:hosts=6",
        f"--collective={collective}",
        "--payload=real",
        f"--results={results}",
    )
    rows = dt.read_results(results, "job").set_index("name")
    for row in document["jobs"]:
        counters = row["in_network"]
        fates = ("added", "repeated", "collisions", "passed")
        assert counters["packets"] == sum(counters[fate] for fate in fates)
        assert counters["packets"] == counters["sent"] + counters["resent"]
        assert counters["slots"] == (32 if "switchml" in collective else 1)
        assert (counters["collisions"] > 0) == ("atp" in collective)
        assert row["slowdown"] >= 1
        for name in ("slots", "sent", "resent", "packets", "evicted", *fates):
            assert rows[name][row["name"]] == counters[name]


def test_frame_of_jobs_has_the_counters_of_switches():
    frame = dt.SharedCluster(jobs=JOBS, ranks=6, collective="switchml:slots=90").run().jobs
    assert list(frame["slots"]) == [45, 45]
    assert (frame["completed"] * frame["ranks"] == frame["added"]).all()


def test_a_failing_switch_names_the_job(program, tmp_path):
    """A job whose switch is lost ends the run, and the document has the reason."""
    jobs = tmp_path / "jobs.toml"
    job = f"[[job]]\nworkload = {json.dumps(WORKLOAD)}\nranks = 2\niterations = 1\n"
    jobs.write_text(f'{job}name = "a"\n{job}name = "b"\n')
    document = tmp_path / "results.json"
    process = program(
        NAME,
        f"--jobs={jobs}",
        "--ranks=4",
        "--collective=switchml:on-failure=error,failure-timeout=20ms",
        "--fault=host2-switch0:down,from=0us",
        f"--json={document}",
    )
    assert process.returncode == 3
    assert process.stderr.startswith(f"{NAME}: stuck: job b: rank ")
    failed = json.loads(document.read_text())
    assert "switchml" in failed["reason"]
    assert failed["jobs"][1]["in_network"]["added"] < failed["jobs"][0]["in_network"]["added"]


def test_reads_from_storage(tmp_path):
    """The storage host sends what the others read, and receives what they write."""
    for reads, receives in ((0, True), (1, False)):
        path = tmp_path / f"{reads}.sqlite"
        dt.TrainingJob(
            workload=WORKLOAD,
            ranks=2,
            topology="single-switch:hosts=4",
            background=f"fixed:bytes=10K,load=0.5,pattern=storage,reads={reads}",
            results=path,
        ).run()
        counters = dt.read_results(path, "link_counter").set_index(["node", "peer"])["bytes"]
        sent = counters["host3"].sum()
        received = counters.xs("host3", level="peer").sum()
        assert (received > 10 * sent) if receives else (sent > 10 * received)


def test_a_better_algorithm_for_a_job_is_named(program_json, tmp_path):
    """A ring in place of what four ports of a torus allow; alone in the cluster, or not."""
    job = tmp_path / "job.toml"
    job.write_text('workload = "resnet50"\nranks = 16\niterations = 1\n', encoding="ascii")
    words = ["shared-cluster", f"--job={job}", "--ranks=16", "--alone=false"]
    (warning,) = program_json(*words, "--topology=torus:4x4", "--collective=ring")["warnings"]
    assert warning.startswith("job job0: communication takes ")
    assert "with ring, " in warning and "--collective=auto" in warning
    assert program_json(*words, "--collective=ring")["warnings"] == []
    job.write_text(job.read_text("ascii").replace("16", "8"), encoding="ascii")
    jobs = [*words, f"--job={job}", "--topology=torus:4x4"]
    warnings = program_json(*jobs, "--collective=ring")["warnings"]
    assert [warning.split(":")[0] for warning in warnings] == ["job job0", "job job1"]


def test_sweep_of_shared_clusters():
    """Jobs in tables are as different as the tables."""
    job = {"name": "a", "workload": "resnet50", "ranks": 2, "iterations": 1, "batch": 1}
    lists = [[job], [{**job, "batch": 2}], [job]]
    jobs = dt.SharedCluster.grid(jobs=lists, ranks=[2, 4])
    frame = dt.sweep(jobs)
    assert (frame["error"] == "").all()
    alone = [each.run().makespan_s for each in jobs]
    assert frame["makespan_s"].tolist() == alone
    assert alone[0] < alone[2] and alone[4] == alone[0]
