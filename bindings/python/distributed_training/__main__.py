# SPDX-License-Identifier: GPL-2.0-only
"""The command line of the package: python -m distributed_training COMMAND."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .build import BuildNotFound
from .grids import read_grid
from .program import Program, to_keyword
from .report_page import report
from .sweep_store import CHANGED
from .sweeps import read_sweep, sweep
from .units import split_unit
from .validation import MOST_BYTES, summarize_validation, to_bytes, validate
from .validation_page import write_validation_page

if TYPE_CHECKING:
    import pandas

_BAD_INPUT = 2


def _add_sweep(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("grid", help="TOML file")
    parser.add_argument("--store", help="file that keeps the runs; in place of the grid's")
    parser.add_argument("--runs", type=int, help="runs of each job; in place of the grid's")
    parser.add_argument("--workers", type=int, help="runs at a time; in place of the grid's")
    parser.add_argument("--retries", type=int, help="tries after a failure; in place of the grid's")
    parser.add_argument("--changed", choices=CHANGED, help="kept runs of another build or inputs")
    parser.add_argument("--csv", help="file for all columns")
    parser.add_argument("--show", help="columns of the printed table, separated by commas")


def _sweep(arguments: argparse.Namespace) -> int:
    grid = read_grid(arguments.grid)
    for name in ("store", "runs", "workers", "retries", "changed"):
        if getattr(arguments, name) is not None:
            grid[name] = getattr(arguments, name)
    if not grid["jobs"]:
        raise ValueError(f"{arguments.grid}: no jobs (allowed: a grid with at least one)")
    frame = sweep(**grid)
    if arguments.csv:
        frame.to_csv(arguments.csv, index=False)
    print(_choose_columns(frame, grid["jobs"], arguments.show).to_string(index=False))
    unknown = [name for name in (arguments.show or "").split(",") if name and name not in frame]
    if unknown:  # the runs are done: they are shown and kept all the same
        raise ValueError(f"--show={unknown[0]} (allowed: the columns that --csv writes)")
    failed = int(frame["error"].ne("").sum())
    if failed:
        print(f"sweep: {failed} of {len(frame)} rows have errors", file=sys.stderr)
    return 1 if failed else 0


def _choose_columns(
    frame: pandas.DataFrame, jobs: list[Program[Any]], shown: str | None
) -> pandas.DataFrame:
    """Return the keywords that differ between jobs, the columns to be shown, notes and errors.

    By default the first measured column is shown, with its confidence interval.
    """
    keywords = dict.fromkeys(name for job in jobs for name in job.parameters)
    names = [k for k in keywords if len({repr(job.parameters.get(k)) for job in jobs}) > 1]
    names += jobs[0].row_keys
    if shown:
        names += shown.split(",")
    else:
        options = {to_keyword(option["name"]) for option in jobs[0].describe()["options"]}
        numbers = [k for k in frame if frame[k].dtype.kind == "f" and k not in options]
        measured = [k for k in numbers if split_unit(k.removesuffix("_95"))[1]]
        names += [k for k in measured[:2] if k.removesuffix("_95") == measured[0]]
    names += [name for name in ("note", "error") if frame[name].ne("").any()]
    return frame[[name for name in dict.fromkeys(names) if name in frame]]


def _add_plot(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("store", help="store of a sweep")
    parser.add_argument("file", help="picture: .svg, .pdf or .png")
    parser.add_argument("--x", required=True, help="column on the horizontal axis")
    parser.add_argument("--y", required=True, help="column on the vertical axis")
    parser.add_argument("--by", help="column with one curve per value")


def _plot(arguments: argparse.Namespace) -> int:
    import matplotlib

    from . import plot

    matplotlib.use("Agg")
    axes = plot.sweep(read_sweep(arguments.store), arguments.x, arguments.y, arguments.by)
    axes.figure.savefig(arguments.file)
    return 0


def _add_report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("results", help="results file")
    parser.add_argument("--output", required=True, help="page: .html")
    parser.add_argument("--run", type=int, action="append", help="run; may be repeated")


def _report(arguments: argparse.Namespace) -> int:
    report(arguments.results, arguments.output, arguments.run)
    return 0


def _add_validate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", help="names of tables, separated by commas")
    parser.add_argument(
        "--most",
        metavar="BYTES",
        help="size of the largest collectives, as 64M; larger rows are not run [256M]",
    )
    parser.add_argument("--workers", type=int, help="runs at a time [number of cores]")
    parser.add_argument("--json", metavar="FILE", help="file for all rows; - is the output")
    parser.add_argument("--html", metavar="FILE", help="page with all rows and plots")
    parser.add_argument("--summary", metavar="FILE", help="CSV file for a row of each table")


def _validate(arguments: argparse.Namespace) -> int:
    import pandas

    only = arguments.only.split(",") if arguments.only else None
    most = MOST_BYTES if arguments.most is None else to_bytes(arguments.most)
    for output in (arguments.html, arguments.json, arguments.summary):
        if output and output != "-" and not os.access(Path(output).parent, os.W_OK):
            raise ValueError(f"{output}: no file can be written there")
    frame = validate(only, most, arguments.workers)
    for failure in frame.attrs["failures"]:
        print(f"validate: {failure}", file=sys.stderr)
    status = int(bool(frame.attrs["failures"]))
    if arguments.html:
        write_validation_page(frame, arguments.html)
    if arguments.summary:
        summarize_validation(frame).round(1).to_csv(arguments.summary, index=False)
    if arguments.json:
        text = json.dumps({"rows": json.loads(frame.to_json(orient="records"))}, indent=2)
        if arguments.json == "-":
            print(text)
            return status
        Path(arguments.json).write_text(text + "\n", encoding="utf-8")
    with pandas.option_context("display.max_colwidth", 70, "display.float_format", "{:.4g}".format):
        for table, rows in frame.groupby("table", sort=False):
            print(f"{table}: {rows['source'].iloc[0]}")
            print(rows.drop(columns=["table", "source"]).to_string(index=False, na_rep="-"), end="\n\n")
        print(summarize_validation(frame).to_string(index=False, na_rep="-"))
    return status


# Name: help, function that adds the arguments, function that returns the exit status.
_COMMANDS: dict[str, tuple[str, Any, Any]] = {
    "sweep": ("run a grid, or the rest of it", _add_sweep, _sweep),
    "report": ("write a page that shows what limits a run", _add_report, _report),
    "validate": ("set what was measured or published beside ours", _add_validate, _validate),
    "plot": ("draw a column of a sweep, with confidence intervals", _add_plot, _plot),
}


def main(words: list[str] | None = None) -> int:
    """Run a command and return its exit status: 2 for bad input, 1 if rows have errors."""
    parser = argparse.ArgumentParser(prog="python -m distributed_training")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, (text, add, _) in _COMMANDS.items():
        add(commands.add_parser(name, help=text, description=text))
    arguments = parser.parse_args(words)
    try:
        return int(_COMMANDS[arguments.command][2](arguments))
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        print(f"{arguments.command}: {place}{error.strerror or error}", file=sys.stderr)
        return _BAD_INPUT
    except (BuildNotFound, TypeError, ValueError) as error:
        print(f"{arguments.command}: {error}", file=sys.stderr)
        return _BAD_INPUT
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
