# SPDX-License-Identifier: GPL-2.0-only
"""Draws the answers to four questions about a run: which link is the bottleneck, how long does each
bucket wait, how many pauses does each port send, how do queues grow?

    ./ns3w python bindings/python/examples/four_questions.py RESULTS FOLDER
"""

import sys
from pathlib import Path

import matplotlib

import distributed_training as dt

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "four questions"  # the same file each time
matplotlib.rcParams["svg.fonttype"] = "none"

import matplotlib.pyplot  # noqa: E402

LINKS = 12
QUEUES = 4
BARS = "#4477aa"
WAIT = "#bbbbbb"


def save(axes, folder, name):
    """Write the figure of some axes."""
    axes.spines[["top", "right"]].set_visible(False)
    file = Path(folder) / f"question-{name}.svg"
    axes.figure.savefig(file, metadata={"Date": None})


def make_axes(rows):
    """Return axes for a number of horizontal bars."""
    size = (6.4, 1.2 + 0.26 * rows)
    axes = matplotlib.pyplot.subplots(figsize=size, layout="constrained")[1]
    axes.invert_yaxis()
    return axes


def draw_links(results, folder):
    """The busiest directions of links."""
    links = dt.read_results(results, "link_counter")
    links = links.sort_values("utilization", ascending=False, kind="stable").head(LINKS)
    axes = make_axes(len(links))
    axes.barh(links["node"] + " -> " + links["peer"], 100 * links["utilization"], color=BARS)
    axes.set_xlabel("utilization (%)")
    axes.set_xlim(0, 100)
    save(axes, folder, "bottleneck")


def draw_buckets(results, folder):
    """Wait and network time of the buckets of the last iteration."""
    buckets = dt.read_results(results, "bucket_wait")
    buckets = buckets[buckets["iteration"] == buckets["iteration"].max()]
    names = [f"{row.bucket}: {row.layers}" for row in buckets.itertuples()]
    axes = make_axes(len(buckets))
    axes.barh(names, 1e3 * buckets["wait_s"], color=WAIT, label="wait")
    network = 1e3 * buckets["network_s"]
    axes.barh(names, network, left=1e3 * buckets["wait_s"], color=BARS, label="network")
    axes.set_xlabel("time (ms)")
    axes.legend(frameon=False)
    save(axes, folder, "buckets")


def draw_pauses(results, folder):
    """Pause frames by port."""
    ports = dt.read_results(results, "link_counter").query("pauses > 0")
    ports = ports.sort_values("pauses", ascending=False, kind="stable").head(LINKS)
    names = [f"{row.node} port {row.port} to {row.peer}" for row in ports.itertuples()]
    axes = make_axes(len(ports))
    axes.barh(names, ports["pauses"], color=BARS)
    axes.set_xlabel("pause frames sent")
    save(axes, folder, "pauses")


def draw_queues(results, folder):
    """Queue lengths over time of the ports with the longest queues."""
    samples = dt.read_results(results, "sample").query("quantity == 'queue_bytes'")
    axes = matplotlib.pyplot.subplots(figsize=(6.4, 3.2), layout="constrained")[1]
    keys = ["node", "peer", "port", "priority"]
    peaks = samples.groupby(keys)["value"].max().sort_values(ascending=False, kind="stable")
    for key in peaks.index[:QUEUES]:
        rows = samples[(samples[keys] == list(key)).all(axis=1)]
        label = f"{key[0]} -> {key[1]}"
        axes.step(1e3 * rows["time_s"], rows["value"] / 1e3, where="post", label=label)
    axes.set_xlabel("simulated time (ms)")
    axes.set_ylabel("queue (kB)")
    axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    save(axes, folder, "queues")


def main(results, folder):
    for draw in (draw_links, draw_buckets, draw_pauses, draw_queues):
        draw(results, folder)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("four_questions.py: RESULTS FOLDER (allowed: a results file and a folder)")
    main(*sys.argv[1:])
