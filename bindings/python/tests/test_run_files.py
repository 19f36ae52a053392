# SPDX-License-Identifier: GPL-2.0-only
"""Samples and timelines of runs."""

import collections
import copy
import json
from pathlib import Path

import distributed_training as dt
import pytest
from test_job_life import LIVED
from timeline import check_timeline, read_timeline


def test_timeline_is_sound(tmp_path):
    """Slices of a thread do not overlap, and each flow event joins two slices of one message."""
    path = tmp_path / "trace.json.gz"
    dt.CollectiveBenchmark(
        ranks=4, bytes="1M", trace=path, trace_ranks="0-1,3", sample="10us", results=tmp_path / "r"
    ).run()
    events = read_timeline(path)
    slices = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            slices[event["pid"], event["tid"]].append(event)
    assert {pid for pid, _ in slices} == {0, 1, 3}
    for thread in slices.values():
        thread.sort(key=lambda event: event["ts"])
        for first, second in zip(thread, thread[1:]):
            assert first["ts"] + first["dur"] <= second["ts"] + 1e-6
    ends = collections.defaultdict(dict)
    for event in events:
        if event["ph"] in "sf":
            at = [s for s in slices[event["pid"], event["tid"]] if s["ts"] == event["ts"]]
            ends[event["id"]][event["ph"]] = at[0]
    # A ring of 4 has 6 steps; of its 4 links, 0 -> 1 and 3 -> 0 have both ends in the timeline.
    assert len(ends) == 2 * 2 * 6
    for end in ends.values():
        assert end["s"]["args"] == end["f"]["args"]
        assert end["s"]["pid"] == end["s"]["args"]["from_rank"]
        assert end["f"]["pid"] == end["f"]["args"]["to_rank"]
        assert end["f"]["name"].startswith("bucket 0, step ")
    # Counters are the samples.
    samples = dt.read_results(tmp_path / "r", "sample")
    counters = [event for event in events if event["ph"] == "C"]
    assert [next(iter(event["args"].values())) for event in counters] == list(samples["value"])
    assert set(samples["quantity"]) >= {"utilization", "rate_bps"}


# Names as in config.json of Hugging Face.
TRANSFORMER = {
    "num_hidden_layers": 4,
    "hidden_size": 256,
    "num_attention_heads": 8,
    "intermediate_size": 1024,
    "vocab_size": 1024,
    "max_position_embeddings": 128,
}


@pytest.mark.extensive
@pytest.mark.parametrize(
    "options",
    [
        {"ranks": 4, "iterations": 2, "bucket": "4M", "sample": "100us"},
        {"ranks": 4, "iterations": 1, "straggler": "1:1.5", "compute_jitter": "lognormal"},
        {"ranks": 3, "iterations": 1, "transport": "tcp", "gradient_priority": "layer"},
        {"ranks": 3, "iterations": 1, "collective": "parameter-server", "overlap": False},
        {"ranks": 4, "iterations": 1, "collective": "switchml", "workload": "alexnet"},
        LIVED,
        {
            "tensor": 2,
            "pipeline": 2,
            "data": 2,
            "global_batch": 8,
            "iterations": 1,
            "model": "json",
        },
    ],
)
def test_timelines_of_jobs_keep_the_rules(tmp_path, options):
    trace = tmp_path / "trace.json"
    if "model" in options:
        options = {**options, "model": tmp_path / "model.json"}
        options["model"].write_text(json.dumps(TRANSFORMER), encoding="ascii")
    dt.TrainingJob(**options, trace=trace).run()
    events = read_timeline(trace)
    phases = {event["ph"] for event in events}
    assert phases >= {"X", "M"} and ("C" in phases) == ("sample" in options)
    assert phases >= {"s", "f"} or options.get("collective") == "switchml"
    processes = {event["pid"] for event in events if event["ph"] == "X"}
    assert processes >= set(range(options.get("ranks", 8)))


def test_a_damaged_timeline_is_noticed(tmp_path):
    """Each rule finds what breaks it."""
    trace = tmp_path / "trace.json"
    job = {"ranks": 2, "iterations": 1, "bucket": "4M", "sample": "1ms"}
    dt.TrainingJob(**job, trace=trace).run()
    sound = read_timeline(trace)
    first = {phase: i for i, event in reversed(list(enumerate(sound))) for phase in event["ph"]}

    thread = [i for i, event in enumerate(sound) if event["ph"] == "X" and event["tid"] == 1]
    second = next(i for i in thread[1:] if sound[i]["pid"] == sound[thread[0]]["pid"])

    def damage(change):
        events = copy.deepcopy(sound)
        change(events)
        with pytest.raises((AssertionError, KeyError, IndexError)):
            check_timeline(events)

    damage(lambda events: events[first["X"]].pop("dur"))
    damage(lambda events: events[first["X"]].update(ph="B"))
    damage(lambda events: events[second].update(ts=events[second]["ts"] - 1))  # into the first
    damage(lambda events: events[first["X"]].update(ts=-1))
    damage(lambda events: events[first["X"]].update(tid=77))
    damage(lambda events: events[first["M"]].update(args={}))
    damage(lambda events: events.append({**events[first["M"]], "args": {"name": "other"}}))
    damage(lambda events: events.remove(events[first["M"]]))
    damage(lambda events: events.remove(events[first["s"]]))
    damage(lambda events: events[first["f"]].update(ts=0))
    damage(lambda events: events[first["f"]].update(cat="other"))
    damage(lambda events: events.insert(first["X"], events.pop(first["s"])))
    damage(lambda events: events[first["C"]].update(ts=1e12))
    damage(lambda events: events[first["C"]].update(args={"value": "3"}))


@pytest.mark.parametrize("transport", ["rdma", "tcp", "uec"])
def test_samples_change_nothing(tmp_path, transport):
    options = {"ranks": 3, "bytes": "0,256K", "transport": transport}
    path = tmp_path / "results.sqlite"
    plain = dt.CollectiveBenchmark(**options).run()
    sampled = dt.CollectiveBenchmark(**options, sample="5us", results=path).run()
    assert sampled.rows.equals(plain.rows)
    samples = dt.read_results(path, "sample")
    assert set(samples["quantity"]) >= {"utilization", "queue_bytes"}
    # The time of the line by samples is that of the counters.
    links = dt.read_results(path, "link_counter").set_index(["node", "port"])
    for port, series in samples[samples["quantity"] == "utilization"].groupby(["node", "port"]):
        ends = list(series["time_s"][1:]) + [series["time_s"].iloc[-1] + 5e-6]
        busy = sum(
            (end - start) * value
            for start, end, value in zip(series["time_s"], ends, series["value"])
        )
        assert busy == pytest.approx(links.loc[port, "busy_s"], rel=0.05, abs=1e-6)


def test_what_was_not_simulated_is_recorded(program, tmp_path):
    """The table `simulation` has the numbers of the JSON document."""
    workload = Path(__file__).with_name("small-workload.csv")
    words = [f"--workload={workload}", "--ranks=4", "--iterations=30", "--json=-"]
    runs = [["--repeat=derive"], ["--repeat=simulate", "--steady-state=simulate"]]
    runs += [["--repeat=derive", "--compute-jitter=lognormal:cv=0.01"]]
    found = []
    for number, more in enumerate(runs, 1):
        process = program("training-job", *words, *more, f"--results={tmp_path}/r")
        assert process.returncode == 0, process.stderr
        document = json.loads(process.stdout)
        (row,) = dt.read_results(tmp_path / "r", "simulation", run_id=number).to_dict("records")
        assert row["packet_hops"] == document["packet_hops"]
        assert row["skipped_packet_hops"] == document["skipped_packet_hops"]
        assert row["derived_iterations"] == document.get("iterations_derived", 0)
        assert row["simulated_collectives"] == document.get("collectives_simulated", 0)
        assert row["derived_collectives"] == document.get("collectives_derived", 0)
        rows = dt.read_results(tmp_path / "r", run_id=number)
        assert row["derived_iterations"] == rows["derived"].sum()
        derived = set(rows["iteration"][rows["derived"]])
        for table in ("collective", "compute_phase"):
            marked = dt.read_results(tmp_path / "r", table, run_id=number)
            assert set(marked["iteration"][marked["derived"]]) == derived
        messages = dt.read_results(tmp_path / "r", "message", run_id=number)
        assert messages["derived"].any() == bool(derived) and not messages["derived"].all()
        found.append(row)
    assert found[0]["derived_iterations"] > 0 and found[0]["skipped_packet_hops"] > 0
    assert found[1]["derived_iterations"] == found[1]["skipped_packet_hops"] == 0
    assert found[2]["derived_iterations"] == 0
    bench = ["--ranks=4", "--bytes=64M", "--results=" + str(tmp_path / "b"), "--json=-"]
    document = json.loads(program("collective-benchmark", *bench).stdout)
    (row,) = dt.read_results(tmp_path / "b", "simulation").to_dict("records")
    assert row["skipped_packet_hops"] == document["skipped_packet_hops"] > 0


@pytest.mark.parametrize(
    "options, message",
    [
        ({"sample": "10us"}, "--sample=10us without results, trace and report"),
        ({"trace_ranks": "0"}, "--trace-ranks=0 without trace"),
        ({"trace": "t.json", "trace_ranks": "2"}, "--trace-ranks=2 .allowed: ranks below 2"),
        ({"trace": "t.json", "trace_ranks": "1-0"}, "--trace-ranks=1-0 .allowed: "),
        ({"results": "r", "sweep": "algorithms"}, "--sweep with --results"),
    ],
)
def test_refusals(tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=message):
        dt.CollectiveBenchmark(ranks=2, bytes="8", **options).run()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("option", ["--sample=10us", "--trace-ranks=.", "--trace=t --trace-ranks=2"])
@pytest.mark.parametrize(
    "name", ["collective-benchmark", "flow-benchmark", "training-job", "multitree-allreduce"]
)
def test_nothing_precedes_a_refusal(tmp_path, monkeypatch, program, name, option):
    monkeypatch.chdir(tmp_path)
    ranks = [] if name == "multitree-allreduce" else ["--ranks=2"]
    if not ranks and "--trace=" in option:
        pytest.skip("has simulations of unlike sizes")
    process = program(name, *ranks, *option.split())
    assert (process.returncode, process.stdout) == (2, "")
    assert not list(tmp_path.iterdir())
