# SPDX-License-Identifier: GPL-2.0-only
"""Runs in parallel."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed, wait
from typing import TYPE_CHECKING, Any, Union

from .program import Program, Result

if TYPE_CHECKING:
    import pandas

Outcome = Union[Result, Exception]


def _count_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _run(job: Program[Any]) -> Result:
    result: Result = job.run()
    return result


def run_each(
    jobs: Iterable[Program[Any]], executor: Executor | None = None
) -> Iterator[tuple[int, Outcome]]:
    """Run jobs in parallel and yield (index of the job, its result) as each one ends.

    Instead of a result there may be the exception raised by run(): a failed run does not end the
    others. If the caller stops early or is interrupted (Ctrl-C), pending runs are cancelled and
    runs in progress are ended.

    Args:
        jobs: the runs.
        executor: executor that waits for the runs, which are separate processes; by default as
            many threads as there are cores.
    """
    jobs = list(jobs)
    own = executor is None
    pool = executor or ThreadPoolExecutor(_count_cores())
    futures = {pool.submit(_run, job): index for index, job in enumerate(jobs)}
    finished = False
    try:
        for future in as_completed(futures):
            error = future.exception()
            if error is not None and not isinstance(error, Exception):
                raise error
            yield futures[future], error or future.result()
        finished = True
    finally:
        if not finished:
            for future in futures:
                future.cancel()
            left = set(futures)
            while left:  # a run may still start its child
                for job in jobs:
                    job.cancel()
                left = wait(left, timeout=0.1).not_done if own else set()
        if own:
            pool.shutdown()


def sweep(jobs: Iterable[Program[Any]], executor: Executor | None = None) -> pandas.DataFrame:
    """Run jobs in parallel and return a DataFrame: their parameters and their numbers.

    There is one row per job, in the order of the jobs (for a CollectiveBenchmark, one row per
    size), with the job's index in the column `job`. The column `error` is empty, or the reason of a
    failed run; the other runs continue. On a terminal a bar shows the progress.

        sweep(TrainingJob(ranks=n, transport=t) for n in (4, 8, 16) for t in ("rdma", "tcp"))

    Args:
        jobs: the runs.
        executor: any executor of concurrent.futures; see run_each().
    """
    import pandas
    from tqdm import tqdm

    jobs = list(jobs)
    outcomes: dict[int, Outcome] = {}
    runs = run_each(jobs, executor)
    bar = tqdm(runs, total=len(jobs), unit="run", disable=not sys.stderr.isatty())
    try:
        outcomes.update(bar)
    finally:
        bar.close()
        runs.close()  # type: ignore[attr-defined]

    frames = []
    for index, job in enumerate(jobs):
        outcome = outcomes[index]
        if isinstance(outcome, Exception):
            names = {name.replace("_", "-"): value for name, value in job.parameters.items()}
            names.update(names.pop("attributes", {}))
            frame = pandas.DataFrame([{**names, "error": f"{type(outcome).__name__}: {outcome}"}])
        else:
            frame = outcome.to_frame().assign(error="")
        frame.insert(0, "job", index)
        frames.append(frame)
    return pandas.concat(frames, ignore_index=True) if frames else pandas.DataFrame()
