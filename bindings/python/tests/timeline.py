# SPDX-License-Identifier: GPL-2.0-only
"""The rules of timelines: Google's "Trace Event Format", and what Perfetto's importer needs of it.

Perfetto sorts the events by time and keeps the order of the file among those of the same time. A flow
event belongs to the slice of its thread that is open then; without one it is dropped.
"""

import collections
import gzip
import json
import math
from pathlib import Path

# Keys of an event by its phase, beside ph, pid and name; those in brackets may be absent.
KEYS = {
    "X": {"tid", "ts", "dur", "[args]"},  # complete events: slices
    "C": {"ts", "args"},  # counters
    "M": {"tid", "args"},  # metadata
    "s": {"tid", "ts", "id", "cat"},  # flow events: where one starts
    "f": {"tid", "ts", "id", "cat", "bp"},  # and ends
}
METADATA = {
    "process_name": ("name", str),
    "process_sort_index": ("sort_index", int),
    "thread_name": ("name", str),
    "thread_sort_index": ("sort_index", int),
}
MAX_ID = (1 << 31) - 1  # of processes and threads
ROUNDING = 1e-6  # of times in microseconds: a picosecond


def read_timeline(path):
    """Return the events of a timeline that keeps the rules."""
    data = Path(path).read_bytes()
    if str(path).endswith(".gz"):
        data = gzip.decompress(data)
    events = json.loads(data.decode("utf-8"), parse_constant=_refuse)
    check_timeline(events)
    return events


def _refuse(constant):
    raise ValueError(f"{constant} is no JSON")


def check_timeline(events):
    """Fail for an event that a viewer would refuse, drop or draw in a wrong place."""
    assert isinstance(events, list) and events
    for event in events:
        _check_keys(event)
    _check_names(events)
    _check_slices(events)
    _check_flows(events)
    _check_counters(events)


def _check_keys(event):
    wanted = KEYS[event["ph"]]
    needed = {"ph", "pid", "name"} | {key for key in wanted if not key.startswith("[")}
    allowed = needed | {key.strip("[]") for key in wanted}
    assert needed <= set(event) <= allowed, event
    assert isinstance(event["name"], str) and event["name"], event
    for key in {"pid", "tid"} & set(event):
        assert type(event[key]) is int and 0 <= event[key] <= MAX_ID, event
    for key in {"ts", "dur"} & set(event):
        assert isinstance(event[key], (int, float)) and math.isfinite(event[key]), event
        assert event[key] >= 0, event
    assert isinstance(event.get("args", {}), dict), event


def _check_names(events):
    """Each process and each thread has one name, which may be repeated; all metadata is known."""
    named = {}
    for event in events:
        if event["ph"] == "M":
            key, kind = METADATA[event["name"]]
            assert set(event["args"]) == {key} and type(event["args"][key]) is kind, event
            of_thread = event["name"].startswith("thread")
            who = event["name"], event["pid"], event["tid"] if of_thread else None
            assert named.setdefault(who, event["args"][key]) == event["args"][key], event
    for event in events:
        if event["ph"] != "M":
            assert ("process_name", event["pid"], None) in named, event
        if event["ph"] in "Xsf":
            assert ("thread_name", event["pid"], event["tid"]) in named, event


def _check_slices(events):
    """Slices of a thread come in order, and each is within the one around it or after it."""
    open_ends = collections.defaultdict(list)
    last = collections.defaultdict(float)
    for event in events:
        if event["ph"] == "X":
            thread = event["pid"], event["tid"]
            start, end = event["ts"], event["ts"] + event["dur"]
            assert start >= last[thread], event
            last[thread] = start
            ends = open_ends[thread]
            while ends and ends[-1] <= start + ROUNDING:
                ends.pop()
            assert not ends or end <= ends[-1] + ROUNDING, event
            ends.append(end)


def _check_flows(events):
    """Each flow has one start and one end, which is not earlier, and both are in slices."""
    flows = collections.defaultdict(dict)
    slices = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            slices[event["pid"], event["tid"]].append(event)
        elif event["ph"] in "sf":
            assert event["ph"] not in flows[event["id"]], event
            flows[event["id"]][event["ph"]] = event
            around = slices[event["pid"], event["tid"]][-1]  # earlier in the file
            end = around["ts"] + around["dur"]
            assert around["ts"] <= event["ts"] <= end + ROUNDING, event
            assert event.get("bp", "e") == "e", event
    for flow in flows.values():
        assert set(flow) == {"s", "f"}, flow
        assert flow["s"]["ts"] <= flow["f"]["ts"], flow
        for key in ("name", "cat"):
            assert flow["s"][key] == flow["f"][key], flow


def _check_counters(events):
    """Each series of a counter has numbers, in the order of time."""
    last = collections.defaultdict(float)
    for event in events:
        if event["ph"] == "C":
            assert event["args"], event
            for series, value in event["args"].items():
                assert isinstance(value, (int, float)) and math.isfinite(value), event
                key = event["pid"], event["name"], series
                assert event["ts"] >= last[key], event
                last[key] = event["ts"]
