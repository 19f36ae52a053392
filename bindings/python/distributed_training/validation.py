# SPDX-License-Identifier: GPL-2.0-only
"""Measured and published numbers beside ours: validate()."""

from __future__ import annotations

import csv
import itertools
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Union

from .collective_benchmark import CollectiveBenchmark
from .near_names import did_you_mean
from .program import Program, get_program_class
from .sweeps import make_bar, run_each
from .training_job import TrainingJob

if TYPE_CHECKING:
    import pandas

PROGRAMS = (
    "fpga-ring",
    "in-network-aggregation",
    "inceptionn",
    "job-validation",
    "multitree-allreduce",
    "nccl-tables",
    "switch-parameter-server",
    "topology-codesign",
)
"""Programs that print published numbers beside ours, each a table."""

MOST_BYTES = 256 << 20
"""Default size of the largest collectives that are simulated."""

JOBS = "llm-steps"
"""The table of whole jobs, which takes 80 minutes: it runs only if it is named."""

_MEASURED = Path(__file__).with_name("measured")
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_COLUMNS = ("table", "source", "row", "role", "unit", "published", "ours", "error_percent")


class _Run(NamedTuple):
    """A run of a program, and how its result becomes rows."""

    job: Union[Program[Any], None]  # None: its rows have no number of ours
    table: str
    head: dict[str, str]  # of a measured table; empty for a program of published numbers
    rows: list[dict[str, str]]


def validate(
    only: Union[list[str], None] = None,
    most_bytes: int = MOST_BYTES,
    workers: Union[int, None] = None,
) -> pandas.DataFrame:
    """Run everything that has been measured or published, and return it beside ours.

    The columns are table, source, row, role, unit, published, ours and error_percent. A role is
    "calibration (NAME)", if that row gave a constant of ours; "property", if it follows from
    definitions or other rows, without a simulated network; else "predicted". Measured tables
    are CSV files in the folder measured/ of this package: their columns are options of
    collective-benchmark, "published" and "calibrates", and their comments give title, source,
    unit and the column of the result. A table of training-job has names and options of its rows.
    Other tables are those of the programs in PROGRAMS.

    Args:
        only: names of tables; by default all, see list_validations(). Whole jobs, "llm-steps",
            take 80 minutes; they have no numbers of ours unless they are named here.
        most_bytes: size of the largest collectives; larger rows have no number of ours.
        workers: runs at a time; by default the number of cores.

    A run that fails leaves its rows out, and the others in: frame.attrs["failures"] lists why.

    Raises ValueError for an unknown table.
    """
    import pandas

    names = list_validations()
    for name in only or []:
        if name not in names:
            near = did_you_mean(name, names)
            raise ValueError(f"table {name!r}{near} (allowed: {', '.join(names)})")
    planned = [
        run
        for name in names
        if not only or name in only
        for run in _plan(name, int(most_bytes), not only)
    ]
    found = {i: list(_read(run, {})) for i, run in enumerate(planned) if not run.job}
    jobs = {i: run.job for i, run in enumerate(planned) if run.job}
    indices = list(jobs)
    failures: list[str] = []
    with make_bar(len(jobs)) as bar:
        for number, result in run_each(jobs.values(), workers=workers):
            run = planned[indices[number]]
            if isinstance(result, Exception):
                failures.append(f"{run.table}: {result}")
            else:
                found[indices[number]] = list(_read(run, result.data))
            bar.update()
    rows = [row for index in sorted(found) for row in found[index]]
    frame = pandas.DataFrame(rows, columns=list(_COLUMNS))
    frame.attrs["failures"] = failures
    frame["error_percent"] = 100 * (frame["ours"] / frame["published"] - 1)
    return frame


def list_validations() -> list[str]:
    """Return the names of the tables: the measured ones, then those of programs."""
    return [*sorted(path.stem for path in _MEASURED.glob("*.csv")), *PROGRAMS]


def summarize_errors(errors: pandas.Series) -> dict[str, float]:
    """Return how many errors there are, and of their sizes the median, 90th percentile and largest."""
    sizes = errors.abs().dropna()
    return {
        "predicted": len(sizes),
        "median_percent": sizes.median(),
        "p90_percent": sizes.quantile(0.9),
        "worst_percent": sizes.max(),
    }


def summarize_validation(frame: pandas.DataFrame) -> pandas.DataFrame:
    """Return a row for each table of validate(): how many rows, and the errors of predicted ones.

    Errors are absolute values, %: the median, the 90th percentile, the largest. Rows that are
    neither predicted nor without a number of ours are counted as calibrations and properties.
    """
    import pandas

    summaries = []
    for name, rows in frame.groupby("table", sort=False):
        summaries.append(
            {
                "table": name,
                "rows": len(rows),
                "calibration": int(rows["role"].str.startswith("calibration").sum()),
                "property": int((rows["role"] == "property").sum()),
                "not_run": int(rows["ours"].isna().sum()),
                **summarize_errors(rows.loc[rows["role"] == "predicted", "error_percent"]),
            }
        )
    return pandas.DataFrame(summaries)


def _plan(name: str, most_bytes: int, leaves_jobs: bool) -> Iterator[_Run]:
    """Yield the runs of a table: one for all sizes of a measured operation, or for a job."""
    if name in PROGRAMS:
        yield _Run(get_program_class(name)(), name, {}, [])
        return
    head, rows = _read_measured(_MEASURED / f"{name}.csv")
    if name == JOBS:
        for row in rows:
            job = None if leaves_jobs else TrainingJob(**_parse_options(row["options"]))
            yield _Run(job, name, head, [row])
        return
    own = ("bytes", "published", "calibrates")

    def get_options(row: dict[str, str]) -> dict[str, Any]:
        return {key.replace("-", "_"): value for key, value in row.items() if key not in own}

    for options, group in itertools.groupby(rows, get_options):
        listed = list(group)
        sizes = [row["bytes"] for row in listed if to_bytes(row["bytes"]) <= most_bytes]
        # Of an operation whose rows are all larger the smallest one is run.
        sizes = sizes or [min((row["bytes"] for row in listed), key=to_bytes)]
        yield _Run(CollectiveBenchmark(**options, bytes=sizes), name, head, listed)


def _read_measured(path: Path) -> tuple[dict[str, str], list[dict[str, str]]]:
    """Return the comments of a table, NAME: TEXT, and its rows."""
    lines = path.read_text(encoding="ascii").splitlines()
    comments = [line[2:].split(": ", 1) for line in lines if line.startswith("# ")]
    return dict(comments), list(csv.DictReader(line for line in lines if line[:1] != "#"))


def _parse_options(text: str) -> dict[str, Any]:
    """Return options of a command line as keywords."""
    words = [word[2:].partition("=") for word in shlex.split(text)]
    options = {name: value if equals else "true" for name, equals, value in words}
    attributes = {name: value for name, value in options.items() if name.startswith("ns3::")}
    keywords = {k.replace("-", "_"): v for k, v in options.items() if k not in attributes}
    return {**keywords, "attributes": attributes}


def to_bytes(text: str) -> int:
    """Return a size such as 64M in bytes. Raises ValueError for another text."""
    number = text.rstrip("KMG")
    if not number.isascii() or not number.isdigit() or text[len(number) :] not in _UNITS:
        raise ValueError(f"{text!r} is no size (allowed: bytes, also with K, M or G)")
    return int(number) * _UNITS[text[len(number) :]]


def _show_bytes(size: int) -> str:
    """Return a size in the largest unit in which it is a whole number."""
    unit = max((unit for unit in _UNITS if size % _UNITS[unit] == 0), key=_UNITS.__getitem__)
    return f"{size // _UNITS[unit]} {unit + 'iB' if unit else 'bytes'}"


def _read(run: _Run, data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a run."""
    if run.head:
        result = run.head["result"]
        ours = {row["bytes"]: row[result] for row in data.get("rows", [])}
        for row in run.rows:
            length = to_bytes(row["bytes"]) if "bytes" in row else None
            yield {
                "table": run.table,
                "source": run.head["source"],
                "row": row["row"]
                if length is None
                else f"{row['operation']}, {row['ranks']} GPUs, {_show_bytes(length)}",
                "role": f"calibration ({row['calibrates']})" if row["calibrates"] else "predicted",
                "unit": run.head["unit"],
                "published": float(row["published"]),
                "ours": data.get(result) if length is None else ours.get(length),
            }
        return
    for name, rows in data.items():
        for row in rows if isinstance(rows, list) else []:
            if isinstance(row, dict) and "published_GBps" in row:
                size = _show_bytes(int(row["bytes"]))
                text = f"{row['cluster']}: {row['operation']}, {row['algorithm']}, {size}"
                numbers = {"unit": "GB/s", "published": row["published_GBps"]}
                row = {"figure": text, **row, **numbers, "ours": row["nccl_GBps"]}
            elif name == "steps":  # of schedules, which no packet takes part in
                text = f"steps of {row['contender']}, {row['topology']}"
                row = {"figure": text, "role": "property", **row}
            if not isinstance(row, dict) or row.get("ours") is None:
                continue
            if row.get("figure") and row.get("published"):
                kept = {name: row.get(name, "") for name in ("source", "unit", "published", "ours")}
                role = row.get("role") or "predicted"
                yield {"table": run.table, "row": row["figure"], "role": role, **kept}
