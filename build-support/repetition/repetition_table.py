#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares jobs with --repeat=derive and the same jobs with --repeat=simulate.

Usage: repetition_table.py PROGRAM [--only=TEXT] [--lengths] < jobs.txt

PROGRAM is a built training-job. Each line of jobs.txt is the options of a job; without
--iterations it has 16. The table has how many iterations were derived, the largest difference of an
iteration time, whether all other results but the cost are equal, and the ratio of the processor
times. With --lengths it has the ratio of the
processor times of 64 and of 8 iterations with --repeat=derive instead, the median of three pairs.
The exit status is 1 if a difference is 1 % or more.
"""

import json
import os
import shlex
import statistics
import subprocess
import sys

LIMIT = 0.01
COST = {"cpu_s", "events", "packet_hops_per_cpu_s", "peak_memory_MiB", "skipped_packet_hops"}
REPETITION = {
    "iterations_simulated",
    "iterations_derived",
    "not_derived",
    "derived_about",
    "collectives_simulated",
    "collectives_derived",
}


def run(program: str, options: str, *more: str) -> tuple[dict, float]:
    """Return the JSON document of a job, and its processor time in seconds."""
    command = [program, *shlex.split(options), *more, "--json=-"]
    before = os.times()
    done = subprocess.run(command, capture_output=True, text=True)
    after = os.times()
    if done.returncode != 0:
        raise SystemExit(f"{shlex.join(command)}: {done.stderr.strip()}")
    cpu = after.children_user + after.children_system
    cpu -= before.children_user + before.children_system
    return json.loads(done.stdout), cpu


def strip(document: dict) -> dict:
    """Return what both runs of a job must agree on."""
    skipped = COST | REPETITION | {"configuration"}
    rest = {key: value for key, value in document.items() if key not in skipped}
    rest["iterations"] = [
        {key: value for key, value in iteration.items() if key != "derived"}
        for iteration in document["iterations"]
    ]
    return rest


def compare_repeats(program: str, jobs: list[str]) -> int:
    """Print the table of differences; return the exit status."""
    worst = 0.0
    exact = 0
    ratios = []
    print(f"{'derived':>9} {'diff %':>8} {'rest':>8} {'cpu':>6}  options")
    for options in jobs:
        length = [] if "--iterations=" in options else ["--iterations=16"]
        whole, whole_cpu = run(program, options, *length, "--repeat=simulate")
        short, short_cpu = run(program, options, *length, "--repeat=derive")
        times = [[each["iteration_time_s"] for each in d["iterations"]] for d in (whole, short)]
        difference = max(abs(b / a - 1) for a, b in zip(*times, strict=True))
        is_equal = strip(whole) == strip(short)
        worst = max(worst, difference)
        exact += difference == 0 and is_equal
        ratios.append(short_cpu / whole_cpu)
        note = short.get("not_derived", short.get("derived_about", ""))
        derived = f"{short['iterations_derived']} of {len(times[0])}"
        print(
            f"{derived:>9} {100 * difference:8.4f} {'equal' if is_equal else 'differs':>8} "
            f"{ratios[-1]:6.2f}  {options}" + (f"  # {note}" if note else ""),
            flush=True,
        )
    print(
        f"{len(jobs)} jobs, {exact} of them with difference 0 in all results; largest difference "
        f"{100 * worst:.4f} %; median ratio of processor times {statistics.median(ratios):.2f}"
    )
    return 0 if worst < LIMIT else 1


def compare_lengths(program: str, jobs: list[str]) -> int:
    """Print the table of 8 and 64 iterations; return the exit status."""
    print(f"{'8, s':>8} {'64, s':>8} {'ratio':>6}  options")
    for options in jobs:
        pairs = []
        for _ in range(3):
            few = run(program, options, "--repeat=derive", "--iterations=8")[1]
            many = run(program, options, "--repeat=derive", "--iterations=64")[1]
            pairs.append((few, many))
        few, many = (statistics.median(column) for column in zip(*pairs, strict=True))
        ratio = statistics.median(b / a for a, b in pairs)
        print(f"{few:8.2f} {many:8.2f} {ratio:6.2f}  {options}", flush=True)
    return 0


def main() -> int:
    """Run the program."""
    program, *rest = sys.argv[1:]
    only = next((each.split("=", 1)[1] for each in rest if each.startswith("--only=")), "")
    lines = [line.strip() for line in sys.stdin]
    jobs = [line for line in lines if line and not line.startswith("#") and only in line]
    return (compare_lengths if "--lengths" in rest else compare_repeats)(program, jobs)


if __name__ == "__main__":
    sys.exit(main())
