# SPDX-License-Identifier: GPL-2.0-only
"""The command line of the package: distributed-training COMMAND, and each program by its name."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shlex
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from .build import BuildNotFound, find_build
from .calibration import MOST_BYTES as CALIBRATED
from .calibration import calibrate, summarize_calibration
from .comparison import compare
from .completion import SHELLS, make_completion, make_manual
from .expectation import SIZES, expect
from .grids import read_grid
from .near_names import did_you_mean
from .program import Program, get_program_class, to_keyword
from .report_page import report
from .sweep_store import CHANGED, read_rows
from .sweeps import read_sweep, sweep
from .units import split_unit
from .validation import MOST_BYTES, summarize_validation, to_bytes, validate
from .validation_page import write_validation_page

if TYPE_CHECKING:
    import pandas

_BAD_INPUT = 2


def _execute(name: str, words: list[str]) -> NoReturn:
    """Become a program."""
    build = find_build()
    path = build.get_program(name)
    sys.stdout.flush()
    os.execve(path, [name, *words], build.get_environment())


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("program", help="such as training-job, which is also a command by itself")
    parser.add_argument("options", nargs=argparse.REMAINDER, help="of the program; -h lists them")


def _run(arguments: argparse.Namespace) -> int:
    names = sorted(find_build().examples)
    if arguments.program not in names:
        near = did_you_mean(arguments.program, names)
        raise ValueError(f"{arguments.program}{near} (allowed: {', '.join(names)})")
    _execute(arguments.program, arguments.options)


def _add_rerun(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("store", help="store of a sweep")
    parser.add_argument("row", type=int, help="number in the column `job`; its first run is repeated")
    parser.add_argument("options", nargs=argparse.REMAINDER, help="more options of the program")


def _rerun(arguments: argparse.Namespace) -> int:
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for row in read_rows(arguments.store):
        rows.setdefault((row["program"], row["arguments"]), row)
    if not 0 <= arguments.row < len(rows):
        allowed = f"0 to {len(rows) - 1}" if rows else "none, as the store is empty"
        raise ValueError(f"row {arguments.row} of {arguments.store} (allowed: {allowed})")
    row = list(rows.values())[arguments.row]
    kept = shlex.split(row["command"])
    if kept[0] == "cd":  # the folder that names of files are relative to
        os.chdir(kept[1])
    words = [*json.loads(row["arguments"]), f"--RngRun={row['run']}", *arguments.options]
    print(shlex.join([row["program"], *words]), file=sys.stderr)
    _execute(row["program"], words)


def _add_compare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("results", nargs="+", help="files of --json=FILE, or stores of sweeps")


def _compare(arguments: argparse.Namespace) -> int:
    table = compare(arguments.results)
    print(table.drop(index="notes", errors="ignore").to_string(na_rep="-"))
    if "notes" in table.index:  # sentences, which would widen the columns
        for name, text in table.loc["notes"].items():
            print(f"{name}: {text or 'no notes'}")
    return 0


def _add_completion(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS)


def _completion(arguments: argparse.Namespace) -> int:
    print(make_completion(arguments.shell), end="")
    return 0


def _add_man(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("program", help="such as training-job")


def _man(arguments: argparse.Namespace) -> int:
    try:
        print(make_manual(get_program_class(arguments.program)), end="")
    except KeyError:
        raise ValueError(f"{arguments.program} (allowed: names that `run` knows)") from None
    return 0


def _add_sweep(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("grid", help="TOML file")
    parser.add_argument("--store", help="file that keeps the runs; in place of the grid's")
    parser.add_argument("--runs", type=int, help="runs of each job; in place of the grid's")
    parser.add_argument("--workers", type=int, help="runs at a time; in place of the grid's")
    parser.add_argument("--retries", type=int, help="tries after a failure; in place of the grid's")
    parser.add_argument("--changed", choices=CHANGED, help="kept runs of another build or inputs")
    parser.add_argument("--dask", metavar="ADDRESS", help="scheduler of Dask, whose workers run")
    parser.add_argument("--csv", help="file for all columns")
    parser.add_argument("--show", help="columns of the printed table, separated by commas")


@contextlib.contextmanager
def _make_executor(address: str | None, retries: int) -> Iterator[Executor | None]:
    """Yield an executor of Dask, or none. The runs of a lost worker are made by another one."""
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError:
        needed = "needs pip install distributed-training[sweep]"
        raise ValueError(f"--dask={address} {needed} (allowed: with it)") from None
    with Client(address) as client, client.get_executor(retries=retries) as executor:
        print(f"dashboard: {client.dashboard_link}", file=sys.stderr)
        yield executor


def _sweep(arguments: argparse.Namespace) -> int:
    grid = read_grid(arguments.grid)
    for name in ("store", "runs", "workers", "retries", "changed"):
        if getattr(arguments, name) is not None:
            grid[name] = getattr(arguments, name)
    if not grid["jobs"]:
        raise ValueError(f"{arguments.grid}: no jobs (allowed: a grid with at least one)")
    with _make_executor(arguments.dask, grid.get("retries", 0)) as executor:
        frame = sweep(**grid, executor=executor)
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
    parser.add_argument("--hue", "--by", help="column with one curve per value")
    parser.add_argument("--col", help="column with one picture per value, side by side")
    parser.add_argument("--row", help="column with one picture per value, one below the other")


def _plot(arguments: argparse.Namespace) -> int:
    import matplotlib

    from . import plot

    matplotlib.use("Agg")
    names = {name: getattr(arguments, name) for name in ("x", "y", "hue", "col", "row")}
    figure: Any = plot.sweep(read_sweep(arguments.store), **names).figure
    figure.savefig(arguments.file)
    return 0


def _add_report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("results", help="results file")
    parser.add_argument("--output", required=True, help="page: .html")
    parser.add_argument("--run", type=int, action="append", help="run; may be repeated")


def _report(arguments: argparse.Namespace) -> int:
    report(arguments.results, arguments.output, arguments.run)
    return 0


def _check_outputs(*paths: str | None) -> None:
    for path in paths:
        if path and path != "-" and not os.access(Path(path).parent, os.W_OK):
            raise ValueError(f"{path}: no file can be written there")


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
    _check_outputs(arguments.html, arguments.json, arguments.summary)
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


def _add_expect(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--machine", required=True, help="name of a machine")
    parser.add_argument("--nodes", type=int, default=1, help="number of its servers [1]")
    parser.add_argument("--operation", default="all-reduce", help="a collective [all-reduce]")
    parser.add_argument("--bytes", default=SIZES, help=f"sizes [{SIZES}]")
    parser.add_argument("--csv", metavar="FILE", help="file for the rows")


def _expect(arguments: argparse.Namespace) -> int:
    rows = expect(arguments.machine, arguments.nodes, arguments.operation, arguments.bytes)
    if arguments.csv:
        rows.to_csv(arguments.csv, index=False)
    print(rows.to_string(index=False, float_format="{:.2f}".format))
    return 0


def _add_calibrate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--machine", required=True, help="machine whose constants are fitted")
    parser.add_argument(
        "--measured",
        required=True,
        metavar="FILE,...",
        help="outputs of nccl-tests, rccl-tests, OSU's benchmarks or perftest, as printed",
    )
    parser.add_argument(
        "--constants",
        metavar="NAME,...",
        help="up to four times or rates, OPTION or OPTION.KEY [the usual ones that rows depend on]",
    )
    parser.add_argument("--ranks", type=int, help="number of ranks, for files that do not say it")
    parser.add_argument(
        "--most", metavar="BYTES", help="size of the largest collectives that are run [64M]"
    )
    parser.add_argument("--workers", type=int, help="runs at a time [number of cores]")
    parser.add_argument("--csv", metavar="FILE", help="file for the rows")
    parser.add_argument(
        "--output", metavar="FILE", help="file for --machine=FILE [MACHINE-calibrated.toml]"
    )


def _calibrate(arguments: argparse.Namespace) -> int:
    output = arguments.output or f"{arguments.machine.partition(':')[0]}-calibrated.toml"
    if not output.endswith(".toml"):
        raise ValueError(f"--output={output} (allowed: a name that ends with .toml)")
    _check_outputs(output, arguments.csv)
    found = calibrate(
        arguments.machine,
        arguments.measured.split(","),
        arguments.constants.split(",") if arguments.constants else None,
        arguments.ranks,
        CALIBRATED if arguments.most is None else to_bytes(arguments.most),
        arguments.workers,
    )
    Path(output).write_text(found.machine_file, encoding="utf-8")
    if arguments.csv:
        found.rows.to_csv(arguments.csv, index=False)
    for frame in (found.rows, summarize_calibration(found.rows), found.constants):
        print(frame.to_string(index=False, na_rep="-", float_format="{:.4g}".format), end="\n\n")
    print(f"{output}: for --machine={output}")
    return 0


# Name: help, function that adds the arguments, function that returns the exit status.
_COMMANDS: dict[str, tuple[str, Any, Any]] = {
    "run": ("run a program", _add_run, _run),
    "sweep": ("run a grid, or the rest of it", _add_sweep, _sweep),
    "report": ("write a page that shows what limits a run", _add_report, _report),
    "validate": ("compare simulated with measured and published numbers", _add_validate, _validate),
    "expect": ("print what nccl-tests should show on a machine", _add_expect, _expect),
    "calibrate": ("fit a machine to what was measured on it", _add_calibrate, _calibrate),
    "plot": ("draw a column of a sweep, with confidence intervals", _add_plot, _plot),
    "rerun": ("run a row of a sweep once more", _add_rerun, _rerun),
    "compare": ("print two to twenty runs side by side", _add_compare, _compare),
    "completion": ("print what makes a shell complete options", _add_completion, _completion),
    "man": ("print the manual page of a program, for man -l -", _add_man, _man),
}


class _Version(argparse.Action):
    """Prints the versions of the package and of its programs."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        try:
            _execute("training-job", ["--version"])
        except BuildNotFound as error:
            print(f"{parser.prog}: {error}", file=sys.stderr)
            sys.exit(_BAD_INPUT)


def run_program() -> int:
    """Be the program of the name that this was called by; the exit status if there is none."""
    name = Path(sys.argv[0]).name
    try:
        _execute(name, sys.argv[1:])
    except BuildNotFound as error:
        print(f"{name}: {error}", file=sys.stderr)
        return _BAD_INPUT


def main(words: list[str] | None = None) -> int:
    """Run a command and return its exit status: 2 for bad input, 1 if rows have errors."""
    parser = argparse.ArgumentParser(prog="distributed-training", allow_abbrev=False)
    parser.add_argument("--version", action=_Version, nargs=0, help="versions, commit and ns-3")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, (text, add, _) in _COMMANDS.items():
        add(commands.add_parser(name, help=text, description=text))
    arguments = parser.parse_args(words)
    try:
        status = int(_COMMANDS[arguments.command][2](arguments))
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # nobody reads on, as after `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the end of Python
        return 128 + signal.SIGPIPE
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
