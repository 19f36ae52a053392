# SPDX-License-Identifier: GPL-2.0-only
"""Runs side by side: first the options that differ, then the numbers."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Union

from .collective_benchmark import BenchmarkResult
from .program import OUTPUTS, Result, get_program_class
from .sweep_frame import get_measured
from .sweep_store import read_rows

if TYPE_CHECKING:
    import pandas

MOST_RUNS = 20

_SQLITE = b"SQLite format 3\0"


def compare(results: Sequence[Union[Result, str, os.PathLike[str]]]) -> pandas.DataFrame:
    """Return a column per run: the options that differ between the runs, then all measured numbers.

    Args:
        results: results, files of ``--json=FILE``, and stores, each run of which is a column.

    Raises ValueError for less than two or more than twenty runs, and for files of other kinds.
    """
    import pandas

    runs: dict[str, Result] = {}
    for number, each in enumerate(results):
        for name, result in _read(each, number).items():
            runs[name if name not in runs else f"{name} ({number})"] = result
    if not 2 <= len(runs) <= MOST_RUNS:
        raise ValueError(f"{len(runs)} runs (allowed: 2 to {MOST_RUNS})")
    frames = {name: result.to_frame() for name, result in runs.items()}
    for name, frame in frames.items():
        if len(frame) > 1:
            raise ValueError(f"{name} has {len(frame)} rows (allowed: results of one row)")
    columns = {name: frame.iloc[0] for name, frame in frames.items()}
    measured = dict.fromkeys(k for k, f in frames.items() for k in get_measured(f, runs[k]))
    table = pandas.DataFrame(columns, dtype=object)
    is_equal = [len({repr(value) for value in table.loc[name]}) == 1 for name in table.index]
    told = [n for n, same in zip(table.index, is_equal) if not same and not OUTPUTS.fullmatch(n)]
    options = [name for name in told if name not in measured]
    return table.loc[[*options, *[name for name in table.index if name in measured]]]


def _read(source: Union[Result, str, os.PathLike[str]], number: int) -> dict[str, Result]:
    """Return the results of a source by the name of their column."""
    if isinstance(source, Result):
        return {f"run {number}": source}
    path = Path(source)
    content = path.read_bytes()
    if content.startswith(_SQLITE):
        rows = [row for row in read_rows(path) if row["result"]]
        return {
            f"{path.name}:{index}": get_program_class(row["program"]).result_type(json.loads(row["result"]))
            for index, row in enumerate(rows)
        }
    try:
        document = json.loads(content)
        kind = BenchmarkResult if "rows" in document else Result
        return {path.name: kind({**document, "configuration": document["configuration"]})}
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{path} (allowed: files of --json=FILE, and stores of sweeps)") from None
