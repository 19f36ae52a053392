# SPDX-License-Identifier: GPL-2.0-only
"""The DataFrame of a sweep: a row per job, with means and confidence intervals over its runs."""

from __future__ import annotations

import functools
import json
import math
import shlex
from typing import TYPE_CHECKING, Any

from .program import Program, Result, get_program_class, to_keyword

if TYPE_CHECKING:
    import pandas
    import xarray

    from .sweep_store import Row

KEPT_COLUMNS = ("program", "ns3_version", "build", "started", "attempts", "wall_time_s")
"""columns of the store, in addition to those of the result, from the first run; of `attempts` and
`wall_time_s` the sum over the runs"""


@functools.lru_cache(maxsize=None)
def get_quantile(freedom: int) -> float:
    """Return the quantile 0.975 of Student's t distribution (Abramowitz and Stegun, 26.7.3-4)."""
    low, high = 0.0, math.pi / 2  # atan(t / sqrt(freedom))
    for _ in range(60):
        angle = (low + high) / 2
        cosine = math.cos(angle)
        term = cosine if freedom % 2 else 1.0
        total = 0.0
        for index in range(2 + freedom % 2, freedom + 1, 2):
            total += term
            term *= cosine**2 * (index - 1) / index
        within = math.sin(angle) * total
        if freedom % 2:
            within = (angle + within) * 2 / math.pi
        low, high = (angle, high) if within < 0.95 else (low, angle)
    return math.sqrt(freedom) * math.tan(low)


def make_frame(jobs: list[list[Row]]) -> pandas.DataFrame:
    """Return the rows of jobs, each given by its runs, with the job's index in the column `job`."""
    import pandas

    frames = []
    for index, runs in enumerate(jobs):
        frame = _make_rows(runs)
        frame = frame.rename(columns={"job": "job_files"})  # an option of shared-cluster
        frame.insert(0, "job", index)
        frames.append(frame)
    return pandas.concat(frames, ignore_index=True) if frames else pandas.DataFrame()


def _make_rows(runs: list[Row]) -> pandas.DataFrame:
    """Return the rows of a job."""
    import pandas

    kind = get_program_class(runs[0]["program"])
    results = [kind.result_type(json.loads(run["result"])) for run in runs if run["result"]]
    if not results:
        frame = pandas.DataFrame([_read_arguments(runs[0])])
    elif len(runs) == 1:
        frame = results[0].to_frame()
    else:
        frame = _average(kind.row_keys, results)
    added = {name: runs[0][name] for name in KEPT_COLUMNS}
    added["attempts"] = sum(run["attempts"] for run in runs)
    added["wall_time_s"] = sum(run["wall_time_s"] or 0.0 for run in runs)
    added["command"] = _join_commands(kind, runs)
    for name in ("note", "error"):
        added[name] = "; ".join(dict.fromkeys(run[name] for run in runs if run[name]))
    return frame.assign(**added)


def _average(row_keys: tuple[str, ...], results: list[Result]) -> pandas.DataFrame:
    """Return the means of measured columns over runs, and half the widths of their intervals."""
    import pandas

    together = pandas.concat([result.to_frame() for result in results], ignore_index=True)
    together = together.drop(columns="run", errors="ignore")
    groups = together.groupby(list(row_keys) or (lambda _: 0), sort=False, dropna=False)
    frame = groups.first().reset_index(drop=not row_keys)[together.columns]
    for name in get_measured(together, results[0]):
        frame[name] = groups[name].mean().to_numpy()
        if name not in Result.__annotations__:  # these are the cost of the simulation
            count = groups[name].count().to_numpy()
            widths = groups[name].std().to_numpy() / count**0.5
            quantiles = [get_quantile(number - 1) if number > 1 else math.nan for number in count]
            frame.insert(frame.columns.get_loc(name) + 1, f"{name}_95", widths * quantiles)
    frame["runs"] = len(results)
    return frame


def get_measured(frame: pandas.DataFrame, result: Result) -> list[str]:
    """Return the columns of a result's frame that are numbers and no configuration."""
    configuration = {to_keyword(name) for name in result.get_parameters()}
    numbers = [name for name in frame if frame[name].dtype.kind in "if"]
    return [name for name in numbers if name not in configuration]


def _read_arguments(run: Row) -> dict[str, Any]:
    """Return the parameters of a run that has no result."""
    parameters: dict[str, Any] = {}
    for argument in json.loads(run["arguments"]):
        name, _, text = argument[2:].partition("=")
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        parameters[to_keyword(name)] = value
    return {**parameters, "run": run["run"]}


def _join_commands(kind: type[Program[Any]], runs: list[Row]) -> str:
    """Return the command that repeats the runs: a program that has --runs makes them itself."""
    commands = [run["command"] for run in runs if run["command"]]
    options = [option["name"] for option in kind.describe()["options"]]
    if len(commands) > 1 and len(commands) == len(runs) and "runs" in options:
        return f"{commands[0]} --runs={len(runs)}"
    return "; ".join(commands)


def to_xarray(frame: pandas.DataFrame) -> xarray.Dataset:
    """Return a sweep as a Dataset of xarray, whose dimensions are what its jobs differ in.

    These are options that differ between commands, rows of a benchmark such as its sizes, and the run
    number of read_sweep(..., each_run=True). Points that no job has are missing values. Columns with
    one value for all rows are attributes of the dataset.

    Args:
        frame: result of sweep() or read_sweep().

    Raises ValueError if two rows have the same place, as jobs that are there twice have.
    """
    dimensions = _find_dimensions(frame)
    same = frame[frame.duplicated(dimensions, keep=False)]
    if len(same):
        raise ValueError(
            f"{len(same)} rows share a place by {', '.join(dimensions)} (allowed: one row for each)"
        )
    rest = [name for name in frame if name not in dimensions]
    fixed = {name for name in rest if frame[name].map(repr).nunique() == 1}
    data = frame.drop(columns=list(fixed)).set_index(dimensions).to_xarray()
    return data.assign_attrs({name: frame[name].iloc[0] for name in rest if name in fixed})


def _find_dimensions(frame: pandas.DataFrame) -> list[str]:
    """Return the columns that tell the rows of a sweep apart, or `job`."""
    options: list[dict[str, str]] = []
    for command in frame["command"]:
        words = [word[2:].partition("=") for word in shlex.split(command) if word[:2] == "--"]
        options.append({to_keyword(name): value for name, _, value in words})
    names = [name for name in dict.fromkeys(n for each in options for n in each) if name in frame]
    found = [name for name in names if len({each.get(name) for each in options}) > 1]
    for program in frame["program"].unique():
        keys = [*get_program_class(program).row_keys, "run"]
        found += [key for key in keys if key in frame and frame[key].nunique() > 1]
    return list(dict.fromkeys(found)) or ["job"]
