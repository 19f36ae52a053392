# SPDX-License-Identifier: GPL-2.0-only
"""Pages that show what limits runs: report()."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import pathlib
import sqlite3
from collections.abc import Iterable
from typing import NamedTuple, Union

from .program import Result
from .results import open_results

MAX_RUNS = 20
"""Maximum number of runs on a page; of more, the last ones are drawn."""

_MIN_ROWS = 50  # of a query on a page of many runs
_PARTS = pathlib.Path(__file__).with_name("report_parts")
_BEGIN = b"<!DOCTYPE html>\n<!-- distributed-training report"


class _Query(NamedTuple):
    name: str
    limit: int
    sql: str


def report(
    source: Union[str, os.PathLike[str], Result],
    output: Union[str, os.PathLike[str]],
    run_id: Union[int, Iterable[int], None] = None,
) -> None:
    """Write a page (HTML) that shows what limits runs of a results file.

    It is the page of the option --report: iterations, buckets, critical path, timelines, links,
    queues, messages. It contains all it needs, and opens without a network. What an older results
    file lacks, the page names. The page is complete or unchanged.

    Args:
        source: a results file, or the result of a run with results=FILE: its newest run.
        output: the page.
        run_id: the runs that are drawn, one at a time; by default the last ones, up to MAX_RUNS.

    Raises ValueError if there is no such run, the file is not a results file, the result has none,
    or the page would replace a file of something else; OSError if a file cannot be read or written.
    """
    path, runs = _find_runs(source, run_id)
    output = os.fspath(output)
    check_output(output, _BEGIN)
    queries = _read_queries()
    drawn = runs[-MAX_RUNS:]
    try:
        with contextlib.closing(open_results(path)) as connection:
            dumps = [_dump(connection, queries, run, len(drawn)) for run in drawn]
    except sqlite3.Error as error:
        raise ValueError(f"results file {path!r}: {error}") from None
    data = '{"left_out":%d,"runs":[\n' % (len(runs) - len(drawn)) + ",\n".join(dumps) + "]}"
    page = (_PARTS / "page.html").read_text(encoding="ascii")
    library = gzip.decompress((_PARTS / "plotly-basic.min.js.gz").read_bytes()).decode()
    page = page.replace("/*data*/", data.replace("<", "\\u003c"), 1)
    page = page.replace("/*library*/", library, 1)
    write_page(output, page)


def write_page(output: str, page: str) -> None:
    """Write a page, complete or not at all."""
    growing = f"{output}.{os.getpid()}.part"
    try:
        with open(growing, "w", encoding="utf-8", newline="") as file:
            file.write(page)
        os.replace(growing, output)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.remove(growing)


def _find_runs(
    source: Union[str, os.PathLike[str], Result], run_id: Union[int, Iterable[int], None]
) -> tuple[str, list[int]]:
    """Return the results file and the runs that are drawn."""
    path = source
    if isinstance(source, Result):
        path = source.configuration.get("results") or ""
        if not path:
            raise ValueError("the run has no results file (allowed: a run with results=FILE)")
    path = os.fspath(path)  # type: ignore[arg-type]
    if not os.path.exists(path):
        raise FileNotFoundError(f"results file {path!r}: there is no such file")
    try:
        with contextlib.closing(open_results(path)) as connection:
            known = [row[0] for row in connection.execute("SELECT run_id FROM run ORDER BY run_id")]
            if isinstance(source, Result) and run_id is None:
                text = json.dumps(source.configuration, sort_keys=True)
                rows = connection.execute("SELECT run_id, configuration FROM run").fetchall()
                same = [r for r, c in rows if json.dumps(json.loads(c), sort_keys=True) == text]
                run_id = max(same, default=None)
    except sqlite3.Error as error:
        raise ValueError(f"results file {path!r}: {error}") from None
    if run_id is None:
        wanted = known
    else:
        wanted = [run_id] if isinstance(run_id, int) else sorted(run_id)
    for run in wanted:
        if run not in known:
            raise ValueError(f"results file {path!r}: no run {run} (allowed: {known or 'none'})")
    if not wanted:
        raise ValueError(f"results file {path!r}: has no run (allowed: a file with at least one)")
    return path, wanted


def check_output(path: str, begin: bytes) -> None:
    """Raise an error if a page that begins like this must not be written there."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise ValueError(f"report {path!r}: is no regular file (allowed: a new file or a report)")
    if os.path.exists(path) and os.path.getsize(path):
        with open(path, "rb") as file:
            if file.read(len(begin)) != begin:
                raise ValueError(
                    f"report {path!r}: is something else, which is not overwritten (allowed: a new "
                    "file or a report)"
                )


def _read_queries() -> list[_Query]:
    queries = []
    for block in (_PARTS / "queries.sql").read_text(encoding="ascii").split("-- query: ")[1:]:
        name, *lines = block.splitlines()
        limit = next(line for line in lines if line.startswith("-- limit: "))
        sql = "\n".join(line for line in lines if not line.startswith("--")) + "\n"
        queries.append(_Query(name, int(limit.split()[-1]), sql))
    return queries


def _ask(connection: sqlite3.Connection, sql: str, limit: int) -> str:
    """Return the rows of a query as JSON, or a JSON text that says why there are none."""
    try:
        names = [row[0] for row in connection.execute(f"SELECT * FROM ({sql}) LIMIT 0").description]
        columns = ", ".join(f'"{name}"' for name in names)
        total = connection.execute(f"SELECT count(*) FROM ({sql})").fetchone()[0]
        rows = connection.execute(
            f"SELECT json_group_array(json_array({columns})) FROM ({sql} LIMIT {limit})"
        ).fetchone()[0]
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise
        return json.dumps({"missing": str(error)}, separators=(",", ":"))
    listed = json.dumps(names, separators=(",", ":"))
    return f'{{"columns":{listed},"total":{total},"rows":{rows}}}'


def _dump(connection: sqlite3.Connection, queries: list[_Query], run: int, runs: int) -> str:
    """Return the rows of all queries for a run, as JSON."""
    links = run
    if connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'job'").fetchone()[0]:
        owner = f"SELECT coalesce(max(run_id), {run}) FROM job WHERE job_run_id = {run}"
        links = connection.execute(owner).fetchone()[0]
    text = f'{{"run_id":{run},"links_of":{links}'
    for query in queries:
        sql = query.sql.replace("@run", str(run)).replace("@links", str(links))
        limit = max(query.limit // runs, min(query.limit, _MIN_ROWS))
        text += f',\n"{query.name}":{_ask(connection, sql, limit)}'
    return text + "}"
