# SPDX-License-Identifier: GPL-2.0-only
"""Runs in parallel, and sweeps whose runs are kept in a file."""

from __future__ import annotations

import contextlib
import datetime
import itertools
import os
import sys
import time
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from typing import TYPE_CHECKING, Any, Optional, Protocol, Union

from .program import Program, Result, SimulationStuck, WrongResult
from .sweep_frame import make_frame
from .sweep_store import Attempts, SweepStore, read_rows

if TYPE_CHECKING:
    import pandas

Outcome = Union[Result, Exception]

MAX_RUNS = 10000

_POLL_S = 0.2  # between looks at the runs of other processes


class _Job(Protocol):
    """What runs in a worker: a Program, or several attempts at one."""

    def run(self, progress: bool = True) -> Any: ...

    def cancel(self) -> None: ...


def _count_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _run(job: _Job) -> Any:
    return job.run(progress=False)


def _submit(pool: Executor, job: _Job) -> Future[Any]:
    try:
        return pool.submit(_run, job)
    except BrokenExecutor as error:
        future: Future[Any] = Future()
        future.set_exception(error)
        return future


def run_each(
    jobs: Iterable[Program[Any]], executor: Executor | None = None, workers: int | None = None
) -> Iterator[tuple[int, Outcome]]:
    """Run jobs in parallel and yield (index of the job, its result) as each one ends.

    Instead of a result there may be the exception raised by run(): a failed run does not end the
    others. If the caller stops early or is interrupted (Ctrl-C), pending runs are cancelled and
    runs in progress are ended.

    Args:
        jobs: the runs; an iterator is asked for the next one when a worker is free.
        executor: any executor of concurrent.futures; its workers wait for the runs, which are
            separate processes. By default these are threads.
        workers: runs at a time. The default is the number of cores; with an executor, all jobs are
            handed to it at once.
    """
    return _run_each(jobs, executor, workers)


def _run_each(
    jobs: Iterable[_Job], executor: Executor | None, workers: int | None
) -> Generator[tuple[int, Any], None, None]:
    if workers is not None and workers < 1:
        raise ValueError(f"workers={workers} (allowed: 1 or more)")
    own = executor is None
    if own:
        workers = workers or _count_cores()
    pool = executor or ThreadPoolExecutor(workers)
    waiting = enumerate(jobs)
    running: dict[Future[Any], tuple[int, _Job]] = {}
    finished = False
    try:
        while True:
            free = None if workers is None else workers - len(running)
            for index, job in itertools.islice(waiting, free):
                running[_submit(pool, job)] = index, job
            if not running:
                break
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                index, _ = running.pop(future)
                error = future.exception()
                if error is not None and not isinstance(error, Exception):
                    raise error
                yield index, error or future.result()
        finished = True
    finally:
        if not finished:
            for future in running:
                future.cancel()
            left = set(running)
            while left:  # a run may still start its child
                for _, job in running.values():
                    job.cancel()
                left = wait(left, timeout=0.1).not_done if own else set()
        if own:
            pool.shutdown()


class _Tries:
    """A job, and how often it may be tried."""

    def __init__(self, job: Program[Any], most: int) -> None:
        self.job = job
        self._most = most

    def run(self, progress: bool = True) -> Attempts:
        """Run the job until it succeeds, at most `most` times; what it refuses is final."""
        started = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")
        begin = time.monotonic()
        number, final = 0, False
        while not final:
            number += 1
            result, text, final = None, "", True
            try:
                result = self.job.run(progress=progress).data
            except Exception as error:
                text = f"{type(error).__name__}: {error}"
                # These follow from the input; others, such as a lack of memory, may pass.
                final = isinstance(error, (ValueError, SimulationStuck, WrongResult))
                final = final or number >= self._most
        return Attempts(number, started, time.monotonic() - begin, result, text)

    def cancel(self) -> None:
        self._most = 0
        self.job.cancel()


def _split(job: Program[Any], runs: int) -> list[Program[Any]]:
    """Return the runs of a job: the same parameters with other run numbers."""
    if not 1 <= runs <= MAX_RUNS:
        raise ValueError(f"runs={runs} (allowed: 1 to {MAX_RUNS})")
    if runs > 1 and "runs" in job.parameters:
        raise TypeError(f"runs={runs} of {job!r} (allowed: runs of the sweep or of its jobs)")
    try:
        first = int(job.parameters.get("run", 1))
    except ValueError:
        raise ValueError(f"run={job.parameters['run']!r} of {job!r} (allowed: integers)") from None
    return [type(job)(**{**job.parameters, "run": first + i}) for i in range(runs)]


class _Sweep:
    """The runs of a sweep that are still to be made."""

    def __init__(self, kept: SweepStore, jobs: dict[int, Program[Any]], retries: int) -> None:
        self._kept = kept
        self._jobs = jobs
        self._retries = retries
        self.missing = [run_id for run_id in jobs if self._count(run_id)]
        self._claimed: list[int] = []

    def _count(self, run_id: int) -> int:
        return self._kept.count_attempts_left(run_id, self._retries)

    def _claim(self) -> Iterator[_Tries]:
        """Claim and yield the runs that nobody makes."""
        for run_id in list(self.missing):
            if self._kept.claim(run_id):
                if count := self._count(run_id):
                    self._claimed.append(run_id)
                    yield _Tries(self._jobs[run_id], count)
                else:  # another process made it
                    self._kept.release(run_id)
                    self.missing.remove(run_id)

    def run(
        self, executor: Executor | None, workers: int | None
    ) -> Generator[dict[int, str], None, None]:
        """Make the runs, and wait for those that other processes make.

        After each step yield the runs that are not in the store, with the reason: workers failed,
        not the runs.
        """
        lost: dict[int, str] = {}
        while self.missing:
            self._claimed = []
            with contextlib.closing(_run_each(self._claim(), executor, workers)) as outcomes:
                for index, outcome in outcomes:
                    run_id = self._claimed[index]
                    if isinstance(outcome, Attempts):
                        self._kept.save(run_id, self._jobs[run_id], outcome)
                    else:
                        lost[run_id] = f"{type(outcome).__name__}: {outcome}"
                    self._kept.release(run_id)
                    self.missing.remove(run_id)
                    yield lost
            yield lost
            if self.missing and not self._claimed:
                time.sleep(_POLL_S)


def sweep(
    jobs: Iterable[Program[Any]],
    executor: Executor | None = None,
    *,
    store: Optional[Union[str, os.PathLike[str]]] = None,
    runs: int = 1,
    workers: int | None = None,
    retries: int = 0,
    changed: str = "recompute",
) -> pandas.DataFrame:
    """Run jobs in parallel and return a DataFrame: their parameters and their numbers.

    There is one row per job, in the order of the jobs (for a CollectiveBenchmark, one row per
    size), with the job's index in the column `job`. The column `error` is empty, or the reason of a
    failed run; the other runs continue. A terminal or a notebook shows a bar of progress.

        sweep(TrainingJob(ranks=n, transport=t) for n in (4, 8, 16) for t in ("rdma", "tcp"))

    With a store, finished runs and failures are kept as they end, and the next sweep makes only the
    runs that are not there, after an interrupt or a kill, too. Several processes may share a store:
    each run is made once.

    Args:
        jobs: the runs.
        executor: any executor of concurrent.futures; see run_each().
        store: file of this sweep's runs, created if it does not exist; read_sweep() reads it.
        runs: runs of each job, with the numbers `run`, `run` + 1, ... (ns-3's RngRun). A row then
            has means, and in NAME_95 half the width of their 95 % confidence intervals.
        workers: runs at a time; see run_each().
        retries: how often a failed run is tried again, in this sweep or a later one. Refused
            input, a stuck simulation or a wrong sum is not tried again within a sweep.
        changed: what happens to kept runs of another build of the program, or whose input files
            have other contents: "recompute", "keep" or "refuse". The column `note` tells.

    Raises ValueError and TypeError for values that are not allowed, and ValueError for a file that
    is not a store.
    """
    if retries < 0:
        raise ValueError(f"retries={retries} (allowed: 0 or more)")
    split = [_split(job, runs) for job in jobs]
    each = list(itertools.chain.from_iterable(split))
    with SweepStore(store, changed) as kept:
        run_ids = kept.add(each)
        by_id = dict(zip(run_ids, each))
        rest = _Sweep(kept, by_id, retries)
        lost: dict[int, str] = {}
        with make_bar(len(by_id)) as bar, contextlib.closing(rest.run(executor, workers)) as steps:
            bar.update(len(by_id) - len(rest.missing))
            for lost in steps:
                bar.update(len(by_id) - len(rest.missing) - bar.n)
        rows = kept.read(run_ids)
    for row in rows:
        row["error"] = lost.get(row["run_id"], row["error"])
    remaining = iter(rows)
    return make_frame([list(itertools.islice(remaining, len(part))) for part in split])


def read_sweep(store: Union[str, os.PathLike[str]], each_run: bool = False) -> pandas.DataFrame:
    """Read the kept runs of a sweep, even while it is running.

    Returns a row per job as sweep() does, or with each_run=True a row per run. The order is that in
    which the jobs were added. Raises FileNotFoundError, and ValueError for a file that is no store.
    """
    rows = read_rows(store)
    if each_run:
        return make_frame([[row] for row in rows])
    points: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        points.setdefault((row["program"], row["arguments"]), []).append(row)
    return make_frame(list(points.values()))


def make_bar(total: int) -> Any:
    """Return a progress bar for a terminal or a notebook; elsewhere it is silent."""
    from tqdm.auto import tqdm

    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    shown = sys.stderr.isatty() or type(shell).__name__ == "ZMQInteractiveShell"
    return tqdm(total=total, unit="run", disable=not shown)
