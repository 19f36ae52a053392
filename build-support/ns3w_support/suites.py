# SPDX-License-Identifier: GPL-2.0-only
"""ns-3's suites by its test-runner, which runs one of them: as many at a time as there are cores."""

import concurrent.futures
import json
import os
import re
import subprocess
import tempfile
import time

from .console import Failure
from .files import read_json
from .progress import Progress

CASE_VARIABLE = "DISTRIBUTED_TRAINING_TEST_CASE"  # read by test/test-case.h


def list_cases(runner):
    """Return {suite: [case]}; the cases are those that can be chosen. Raises Failure."""
    environment = {**os.environ, CASE_VARIABLE: ""}
    output = subprocess.run([runner, "--list"], env=environment, stdout=subprocess.PIPE, text=True)
    lines = [line.partition("\t") for line in output.stdout.splitlines()]
    suites = {name: [] for name, tab, _ in lines if not tab}
    if not suites:
        raise Failure(f"{runner} --list names no suite", 1)
    for name, tab, case in lines:
        if tab:
            suites[name].append(case)
    return suites


def run_suite(runner, name, fullness, folder, variables):
    """Run a suite; return (number of its cases, exit status, seconds, what it says of failures)."""
    begin = time.monotonic()
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "errors": "replace"}
    with tempfile.TemporaryDirectory() as files:
        command = [runner, f"--suite={name}", f"--fullness={fullness}", f"--tempdir={files}"]
        command += ["--verbose", "--stop-on-failure"]
        process = subprocess.run(command, cwd=folder, env=variables, **options)
    cases = len(re.findall("^  (PASS|FAIL) ", process.stdout, re.M))
    words = "".join(re.findall("^(?! *PASS |FAIL ).*\n?", process.stdout, re.M))
    return cases, process.returncode, round(time.monotonic() - begin, 3), words


def run_suites(runner, names, folder, cores, options):
    """Run suites, the longest of the last time first; return (passed, failed).

    A suite without a case of the fullness does not count.
    """
    file = folder / "suite-seconds.json"
    seconds = read_json(file, {})
    variables = {**os.environ, **({CASE_VARIABLE: options.case} if options.case else {})}
    fixed = options.fullness, folder, variables
    names = sorted(names, key=lambda name: -seconds.get(name, float("inf")))
    progress = Progress("suites", names, seconds)
    passed = failed = 0
    pool = concurrent.futures.ThreadPoolExecutor(cores)
    try:
        runs = {pool.submit(run_suite, runner, name, *fixed): name for name in names}
        for run in concurrent.futures.as_completed(runs):
            name, (cases, status, elapsed, words) = runs[run], run.result()
            progress.erase()
            if status:
                failed += 1
                reason = "FAIL" if status == 1 else f"CRASH ({status})"
                print(f"{reason} {name}\n{words}", end="", flush=True)
            elif cases:
                passed += 1
                print(f"PASS {name} {elapsed:.1f} s", flush=True)
            if not options.case:
                seconds[name] = elapsed
            progress.advance(name)
    finally:
        progress.erase()
        pool.shutdown(cancel_futures=True)
        file.write_text(json.dumps(seconds))
    return passed, failed
