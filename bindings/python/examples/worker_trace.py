# SPDX-License-Identifier: GPL-2.0-only
"""Memory and traffic of a worker that trains with a parameter server. A figure in doc/.

    ./ns3w python bindings/python/examples/worker_trace.py [FILE.svg]

Hashmi (Towards Alleviating Bottlenecks in Distributed Training of Deep Neural Nets, figure 4)
measured the memory of a GPU in this setting. Without a file name the busy share of each phase is
printed and no figure is drawn.
"""

from __future__ import annotations

import sys

import pandas as pd

import distributed_training as dt


def draw(trace: pd.DataFrame, path: str) -> None:
    """Draw memory and traffic over time."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "worker-trace"
    import matplotlib.pyplot as plt

    figure, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(7, 4))
    above.fill_between(trace["time_s"], trace["memory_MB"], step="post", linewidth=0)
    above.set_ylabel("memory in use (MB)")
    below.step(trace["time_s"], trace["received_Gbps"], label="received")
    below.step(trace["time_s"], trace["sent_Gbps"], label="sent")
    below.set_ylabel("Gbit/s")
    below.set_xlabel("time (s)")
    below.legend(loc="upper left", ncols=2, frameon=False)
    for axes in (above, below):
        axes.set_ylim(0, 1.4 * axes.get_ylim()[1])
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)


def main(path: str | None = None) -> None:
    """Run the training, print the share of each phase, and draw the trace into a file."""
    result = dt.SwitchParameterServer(part="trace").run()
    trace = pd.DataFrame(result.trace)
    for phase, share in trace["phase"].value_counts(normalize=True, sort=False).items():
        print(f"{phase:<10}{100 * share:6.1f} %")
    if path:
        draw(trace, path)


if __name__ == "__main__":
    main(*sys.argv[1:2])
