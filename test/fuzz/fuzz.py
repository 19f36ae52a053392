# SPDX-License-Identifier: GPL-2.0-only
"""Runs the programs with odd input and reports what must not happen.

usage: ./ns3w python test/fuzz/fuzz.py [OPTION...]

  --kind=KIND    command-lines, files or faults; by default all, in turn
  --seed=N       of the random numbers [1]
  --cases=N      how many, of each kind [1000]
  --case=I       only this one, in a new folder fuzz-KIND-SEED-I that is kept; needs --kind

A case is a function of kind, seed and number, and of the options that the program has. The exit
status is 1 if there were findings.
"""

import argparse
import os
import random
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import command_lines
import faults
import files
from cases import Finding, run

from distributed_training import find_build
from distributed_training.description import describe_program

KINDS = {"command-lines": command_lines.make, "files": files.make, "faults": faults.make}


def make_case(kind, seed, index):
    return KINDS[kind](random.Random(f"{kind} {seed} {index}"), describe_program)


def try_case(kind, seed, index):
    """Run a case; return the text of its finding, or None."""
    case = make_case(kind, seed, index)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        try:
            run(case, find_build(), Path(folder))
        except Finding as finding:
            return f"--kind={kind} --seed={seed} --case={index}: {finding}\n  {case}"
    return None


def try_cases(kind, seed, count):
    """Run cases 0 to count - 1, as many at a time as there are cores; yield the findings."""
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        outcomes = pool.map(lambda index: try_case(kind, seed, index), range(count))
        yield from filter(None, outcomes)


def main(words):
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ", 1)[1])
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--case", type=int)
    options = parser.parse_args(words)
    if options.case is not None:
        if not options.kind:
            parser.error("--case needs --kind")
        folder = Path(f"fuzz-{options.kind}-{options.seed}-{options.case}")
        folder.mkdir()
        case = make_case(options.kind, options.seed, options.case)
        print(f"cd {folder}; {case}")
        try:
            run(case, find_build(), folder)
        except Finding as finding:
            print(finding)
            return 1
        return 0
    count = 0
    for kind in [options.kind] if options.kind else KINDS:
        for finding in try_cases(kind, options.seed, options.cases):
            print(finding, flush=True)
            count += 1
        print(f"{kind}: {options.cases} cases, {count} findings so far", flush=True)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
