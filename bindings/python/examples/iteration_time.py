# SPDX-License-Identifier: GPL-2.0-only
"""Explains the iteration time of ResNet-50 on 16 workers. The figure in README.md.

    ./ns3w python bindings/python/examples/iteration_time.py [FILE.png]

Without a file name the numbers are printed and no figure is drawn.
"""

from __future__ import annotations

import sys
from typing import Any

import distributed_training as dt


def make_job(**options: Any) -> dt.TrainingJob:
    """Return a job on the cluster of the figure."""
    return dt.TrainingJob(
        workload="resnet50", ranks=16, topology="fat-tree:k=4", iterations=1, **options
    )


JOBS = {
    "RDMA, ring": make_job(),
    "RDMA, ring, no overlap": make_job(overlap=False),
    "RDMA, 16 parameter servers": make_job(collective="parameter-server:servers=16"),
    "TCP Cubic, ring": make_job(transport="tcp"),
}


def main(path: str | None = None) -> None:
    """Run the jobs in parallel, print their iteration times, and draw them into a file."""
    results = {}
    for index, result in dt.run_each(JOBS.values()):
        if isinstance(result, Exception):
            raise result
        assert isinstance(result, dt.TrainingResult)
        results[index] = result
    labeled = {label: results[index] for index, label in enumerate(JOBS)}
    for label, result in labeled.items():
        print(f"{label:<28}{1e3 * result.iteration_time_s:8.2f} ms")
    if path:
        axes = dt.plot.iteration_breakdown(labeled)
        axes.set_title("ResNet-50 on 16 workers, 100 Gbit/s fat-tree", loc="left", fontsize=10)
        axes.figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:2])
