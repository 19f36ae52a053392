# SPDX-License-Identifier: GPL-2.0-only
"""Timelines of a pipeline of four ranks, by 1F1B and interleaved. A figure in doc/.

    ./ns3w python bindings/python/examples/pipeline_timeline.py [FILE.svg]

Eight layers of the size of Llama 3 8B, eight micro-batches of one sequence. Messages between stages
are those of the simulated network. Without a file name the times are printed and no figure is drawn.
"""

from __future__ import annotations

import json
import pathlib
import sys
import tempfile
from dataclasses import dataclass
from typing import Any

import distributed_training as dt

STAGES = 4
LAYERS = 8
MICRO_BATCHES = 8
RATES = ["25Gbps", "50Gbps", "100Gbps", "200Gbps", "400Gbps"]
DRAWN_RATE = "100Gbps"
COMPUTE = 1  # thread of a rank's computations in a timeline
# Names as in config.json of Hugging Face. The vocabulary is small, so that stages are equal.
MODEL = {
    "num_hidden_layers": LAYERS,
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 1024,
    "max_position_embeddings": 2048,
}
SCHEDULES = {"1F1B": ("1f1b", 1), "interleaved, 2 stages a rank": ("interleaved:v=2", 2)}


@dataclass
class Pass:
    """A forward or backward pass of a micro-batch through the layers of a stage."""

    rank: int
    is_forward: bool
    chunk: int
    micro_batch: int
    start: float
    end: float


def find_place(number: int, chunks: int) -> tuple[int, int]:
    """Return chunk and micro-batch of the n-th forward pass of a rank (Narayanan et al., SC 2021).

    Chunks take turns, for as many micro-batches as there are stages.
    """
    turn, inside = divmod(number, STAGES)
    return turn % chunks, turn // chunks * STAGES + inside


def find_messages(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Select the slices of messages at their receivers."""
    return [event for event in events if event.get("args", {}).get("to_rank") == event["pid"]]


def find_passes(events: list[dict[str, Any]], chunks: int) -> list[Pass]:
    """Join the computations of each rank, which the timeline lists by layer, into passes."""
    passes = []
    for rank in range(STAGES):
        done = {True: 0, False: 0}
        left = 0  # layers, or gradients of weights, of the pass that are still to come
        for event in events:
            name = event["name"]
            if event["pid"] != rank or event["tid"] != COMPUTE or name == "update":
                continue
            if left == 0 and name != "output":
                is_forward = "gradient" not in name
                chunk, micro_batch = find_place(done[is_forward], chunks)
                chunk = chunk if is_forward else chunks - 1 - chunk
                done[is_forward] += 1
                left = LAYERS // STAGES // chunks
                if not is_forward:  # two blocks of a layer, and the output layer
                    left = 2 * left + (rank == STAGES - 1 and chunk == chunks - 1)
                passes.append(Pass(rank, is_forward, chunk, micro_batch, event["ts"], 0))
            passes[-1].end = event["ts"] + event["dur"]
            left -= name in ("feed-forward", "weight gradient")
    return passes


def run(schedule: str, rate: str) -> tuple[float, list[dict[str, Any]]]:
    """Return the time of an iteration, ms, and the events of its timeline, in order of time."""
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder, "model.json")
        model.write_text(json.dumps(MODEL), encoding="ascii")
        trace = pathlib.Path(folder, "trace.json")
        result = dt.TrainingJob(
            model=model,
            ranks=STAGES,
            pipeline=STAGES,
            micro_batch=1,
            global_batch=MICRO_BATCHES,
            pipeline_schedule=schedule,
            gpu="h100",
            rate=rate,
            iterations=1,
            warmup=0,
            trace=trace,
        ).run()
        events = [event for event in json.loads(trace.read_text()) if event["ph"] == "X"]
    return 1e3 * result.iteration_time_s, sorted(events, key=lambda event: event["ts"])


def draw(timelines: dict[str, tuple[list[Pass], list[dict[str, Any]]]], path: str) -> None:
    """Draw a panel for each schedule: bars are passes, lines are messages between ranks."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "pipeline-timeline"
    import matplotlib.pyplot as plt

    colours = {(True, 0): "#7fb3d5", (True, 1): "#2e86c1", (False, 0): "#a9d18e", (False, 1): "#548235"}
    figure, panels = plt.subplots(
        len(timelines), 1, sharex=True, figsize=(9, 2.4 * len(timelines)), layout="constrained"
    )
    for panel, (title, (passes, events)) in zip(panels, timelines.items()):
        for one in passes:
            length = (one.end - one.start) * 1e-3
            panel.barh(
                one.rank,
                length,
                left=one.start * 1e-3,
                height=0.62,
                color=colours[one.is_forward, one.chunk],
                edgecolor="white",
                linewidth=0.4,
            )
            middle = one.start * 1e-3 + length / 2
            panel.text(middle, one.rank, one.micro_batch, ha="center", va="center", fontsize=5)
        for event in find_messages(events):
            sender, receiver = event["args"]["from_rank"], event["pid"]
            side = 0.31 if receiver > sender else -0.31
            panel.plot(
                [event["ts"] * 1e-3, (event["ts"] + event["dur"]) * 1e-3],
                [sender + side, receiver - side],
                color="black",
                linewidth=0.5,
            )
        panel.set_title(title, loc="left", fontsize=9)
        panel.set_yticks(range(STAGES), [f"rank {rank}" for rank in range(STAGES)])
        panel.invert_yaxis()
        panel.spines[["top", "right"]].set_visible(False)
    panels[-1].set_xlabel("time (ms)")
    figure.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)


def main(path: str | None = None) -> None:
    """Run both schedules at several rates, print times, and draw those of one rate into a file."""
    timelines = {}
    print(f"{'iteration time (ms)':<30}" + "".join(f"{rate:>10}" for rate in RATES))
    for title, (schedule, chunks) in SCHEDULES.items():
        times = []
        for rate in RATES:
            time_ms, events = run(schedule, rate)
            times.append(time_ms)
            if rate == DRAWN_RATE:
                label = f"{title}, {rate.replace('Gbps', ' Gbit/s')}: {time_ms:.1f} ms"
                timelines[label] = (find_passes(events, chunks), events)
        print(f"{title:<30}" + "".join(f"{time_ms:10.2f}" for time_ms in times))
    if path:
        draw(timelines, path)


if __name__ == "__main__":
    main(*sys.argv[1:2])
