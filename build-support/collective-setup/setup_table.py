#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Prints what the set-up of collectives takes: the table in doc/performance/collectives.rst.

Usage: setup_table.py PROGRAM [--only=TEXT] [--most=RANKS] [--runs=N]

PROGRAM is a built collective-benchmark. Each schedule is built by a process of its own; the table
has the least processor time of N runs (1), the memory that the schedule keeps, and the growth of
the peak while it is built. The last column is the time per action.
"""

import argparse
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
BYTES_PER_RANK = 1 << 16

TORI = {64: "torus:8x8", 1024: "torus:32x32", 4096: "torus:64x64", 8192: "torus:64x128"}
FAT_TREES = {64: "fat-tree:k=8", 512: "fat-tree:k=16", 1024: "fat-tree:k=16"}
SWITCHES = {64: "single-switch", 1024: "single-switch", 8192: "single-switch"}
SERVERS = {n: f"rail-optimized:gpus=8,servers={n // 8}" for n in (64, 1024, 8192)}
SMALL_SERVERS = {n: f"rail-optimized:gpus=4,servers={n // 4}" for n in (64, 1024, 8192)}
BIGRAPHS = {64: "bigraph:m=4,n=16", 1024: "bigraph:m=16,n=64", 8192: "bigraph:m=32,n=256"}


def up_to(most, networks):
    """Return the networks of at most so many ranks: more would take minutes, or all memory."""
    return {ranks: topology for ranks, topology in networks.items() if ranks <= most}


# Algorithm, operation, networks by the number of ranks.
ROWS = (
    ("ring", "all-reduce", SWITCHES),
    ("bidirectional-ring", "all-reduce", SWITCHES),
    ("multi-ring", "all-reduce", up_to(1024, SERVERS)),
    (f"nccl-graph:file={HERE / 'graph.xml'}", "all-reduce", up_to(1024, SMALL_SERVERS)),
    ("recursive-doubling", "all-reduce", SWITCHES),
    ("rabenseifner", "all-reduce", SWITCHES),
    ("circulant", "all-reduce", SWITCHES),
    ("hou", "all-reduce", SWITCHES),
    ("hdrm", "all-reduce", BIGRAPHS),
    ("double-binary-tree", "all-reduce", SWITCHES),
    ("binomial", "broadcast", SWITCHES),
    ("scatter-all-gather", "broadcast", up_to(1024, SWITCHES)),
    ("chain", "all-reduce", SWITCHES),
    ("parameter-server", "all-reduce", SWITCHES),
    ("hierarchical", "all-reduce", SERVERS),
    ("dimension-wise", "all-reduce", TORI),
    ("per-dimension:all-reduce=ring+ring", "all-reduce", TORI),
    ("ring-2d", "all-reduce", TORI),
    ("swing", "all-reduce", TORI),
    ("multitree", "all-reduce", up_to(4096, TORI)),
    ("multitree", "all-reduce", up_to(1024, FAT_TREES)),
    ("tacos", "all-gather", up_to(4096, TORI)),
    ("tacos", "all-gather", up_to(512, FAT_TREES)),
    ("direct", "all-to-all", SWITCHES),
    ("pairwise", "all-to-all", SWITCHES),
    ("bruck", "all-to-all", SWITCHES),
    ("hierarchical-all-to-all", "all-to-all", up_to(1024, SERVERS)),
    ("dissemination", "barrier", SWITCHES),
)


def measure(program, algorithm, operation, ranks, topology):
    """Return the actions, seconds, megabytes and peak mebibytes of a schedule, as text."""
    done = subprocess.run(
        [
            program,
            "--set-up",
            f"--collective={algorithm}",
            f"--operation={operation}",
            f"--topology={topology}",
            f"--ranks={ranks}",
            f"--bytes={ranks * BYTES_PER_RANK}",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        return None, done.stderr.strip()
    return done.stdout.splitlines()[-1].split()[1:], ""


def main():
    """Run the program."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("program")
    parser.add_argument("--only", default="", help="text in the name of an algorithm")
    parser.add_argument("--most", type=int, default=8192, help="ranks")
    parser.add_argument("--runs", type=int, default=1, help="of each schedule")
    arguments = parser.parse_args()
    print(f"{'':24} {'':10} {'ranks':>6} {'actions':>12} {'s':>8} {'MB':>9} {'MiB':>8} {'us':>7}")
    for algorithm, operation, networks in ROWS:
        name = algorithm.partition(":")[0]
        for ranks, topology in networks.items():
            if arguments.only not in name or ranks > arguments.most:
                continue
            runs = [
                measure(arguments.program, algorithm, operation, ranks, topology)
                for _ in range(arguments.runs)
            ]
            if runs[0][0] is None:
                print(f"{name:24} {operation:10} {ranks:6} {runs[0][1]}", flush=True)
                continue
            actions, seconds, kept, peak = min((run for run, _ in runs), key=lambda r: float(r[1]))
            each = 1e6 * float(seconds) / int(actions)
            print(
                f"{name:24} {operation:10} {ranks:6} {int(actions):12,} {float(seconds):8.3f} "
                f"{float(kept):9.3f} {float(peak):8.2f} {each:7.4f}  {topology}",
                flush=True,
            )


if __name__ == "__main__":
    main()
