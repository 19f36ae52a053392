# SPDX-License-Identifier: GPL-2.0-only
"""A sweep of 60 points that is killed at random moments and resumed, beside an undisturbed one.

    ./ns3w python bindings/python/examples/killed_sweep.py

The rows must be equal, except for what the simulation costs; the exit status is 1 if they are not.
"""

from __future__ import annotations

import multiprocessing
import os
import pathlib
import random
import sys
import tempfile
import time

import distributed_training as dt

WORKLOAD = """layer,parameters,forward_us,backward_us
first,50000,200,400
second,20000,100,200
"""
STORE = "runs.sqlite"
COST = ["started", "wall_time_s", "cpu_s", "packet_hops_per_cpu_s", "peak_memory_MiB"]


def make_jobs(directory: str) -> list[dt.Program[dt.TrainingResult]]:
    """Return 60 jobs."""
    return dt.TrainingJob.grid(
        workload=pathlib.Path(directory, "layers.csv"),
        iterations=1,
        compute_jitter="lognormal",
        transport=["rdma", "tcp"],
        rate=["100Gbps", "200Gbps", "400Gbps"],
        ranks=list(range(1, 11)),
    )


def sweep(directory: str) -> None:
    """Run what is missing."""
    dt.sweep(make_jobs(directory), store=os.path.join(directory, STORE))


def count_runs(store: str) -> int:
    """Return the number of kept runs."""
    return len(dt.read_sweep(store, each_run=True)) if os.path.exists(store) else 0


def main() -> int:
    """Kill and resume the sweep until it ends, and compare; return the exit status."""
    context = multiprocessing.get_context("spawn")
    chance = random.Random()
    with tempfile.TemporaryDirectory() as directory:
        pathlib.Path(directory, "layers.csv").write_text(WORKLOAD, encoding="ascii")
        store = os.path.join(directory, STORE)
        begin = time.monotonic()
        expected = dt.sweep(make_jobs(directory))
        print(f"undisturbed: {time.monotonic() - begin:.1f} s")
        begin = time.monotonic()
        kept = [0]
        while True:
            process = context.Process(target=sweep, args=(directory,))
            process.start()
            wanted = kept[-1] + chance.randint(1, 12)
            while process.is_alive() and count_runs(store) < wanted:
                time.sleep(0.02)
            process.join(chance.uniform(0, 0.1))
            if not process.is_alive():
                break
            process.kill()
            process.join()
            kept.append(count_runs(store))
        print(f"killed {len(kept) - 1} times, with {kept[1:]} runs kept", end="")
        print(f": {time.monotonic() - begin:.1f} s")
        resumed = dt.read_sweep(store)
        attempts = int(resumed["attempts"].sum())
    equal = resumed.drop(columns=COST).equals(expected.drop(columns=COST))
    print(f"{len(resumed)} rows of {attempts} finished runs: {'equal' if equal else 'DIFFERENT'}")
    return 0 if equal and process.exitcode == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
