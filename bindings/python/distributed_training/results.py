# SPDX-License-Identifier: GPL-2.0-only
"""Reads the SQLite files written by `--results`."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import urllib.parse
from typing import TYPE_CHECKING

from .near_names import did_you_mean

if TYPE_CHECKING:
    import pandas

LAYOUT_VERSION = 1
"""The newest layout that read_results() supports."""


def list_tables(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """List the tables and views of a results file, which the documentation describes.

    Raises FileNotFoundError if there is no file; ValueError if it is not a results file, or has a
    newer version.
    """
    with contextlib.closing(_open_layout(os.fspath(path))) as connection:
        return _get_names(connection)


def read_results(
    path: str | os.PathLike[str], table: str = "iteration", run_id: int | None = None
) -> pandas.DataFrame:
    """Read a table of a results file, even while other processes write to it.

    Times of day become Timestamps, `warmup`, `verified` and `derived` booleans, and `configuration`
    a dict.

    Args:
        path: the file.
        table: one of list_tables().
        run_id: the run to read; all by default.

    Raises ValueError if there is no such table, or the file is not a results file or has a newer
    version; FileNotFoundError if there is no file.
    """
    import pandas

    path = os.fspath(path)
    query, values = f"SELECT * FROM {table}", ()  # one of the file: needs no escaping
    if run_id is not None:
        query, values = query + " WHERE run_id = ?", (run_id,)  # type: ignore[assignment]
    try:
        with contextlib.closing(_open_layout(path)) as connection:
            names = _get_names(connection)
            if table not in names:
                raise ValueError(
                    f"results file {path!r}: has no table {table!r}{did_you_mean(table, names)} "
                    f"(allowed: {', '.join(names)}; a run that is added to a file of an older "
                    "program adds tables)"
                )
            frame = pandas.read_sql_query(query, connection, params=values)
    except (sqlite3.Error, pandas.errors.DatabaseError) as error:
        raise ValueError(f"results file {path!r}: {error}") from None
    for name in ("warmup", "verified", "derived"):
        if name in frame:
            frame[name] = frame[name].astype(bool)
    if table == "run":
        frame["configuration"] = frame["configuration"].map(json.loads)
        for name in ("started", "finished"):
            frame[name] = pandas.to_datetime(frame[name])
    return frame


def _open_layout(path: str) -> sqlite3.Connection:
    """Open a results file of a layout that is known."""
    if not os.path.exists(path):
        raise FileNotFoundError(f"results file {path!r}: there is no such file")
    connection = None
    try:
        connection = open_results(path)
        layout = connection.execute("PRAGMA user_version").fetchone()[0]
        if "run" not in _get_names(connection):
            raise ValueError(f"results file {path!r}: has no runs (allowed: a results file)")
        if layout > LAYOUT_VERSION:
            raise ValueError(
                f"results file {path!r}: has layout version {layout} of a newer program "
                f"(allowed: up to {LAYOUT_VERSION})"
            )
    except (sqlite3.Error, ValueError) as error:
        if connection:
            connection.close()
        if isinstance(error, ValueError):
            raise
        raise ValueError(f"results file {path!r}: {error}") from None
    return connection


def _get_names(connection: sqlite3.Connection) -> tuple[str, ...]:
    """Return the tables and views, tables first, each in the order of creation."""
    query = (
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE "
        "'sqlite_%' ORDER BY type, rowid"
    )
    return tuple(row[0] for row in connection.execute(query))


def open_results(path: str) -> sqlite3.Connection:
    """Open a database for reading, even in a directory without write permission."""
    uri = "file:" + urllib.parse.quote(os.path.abspath(path)) + "?mode=ro"
    connection = sqlite3.connect(uri, uri=True, timeout=60)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError:
        connection.close()
        if os.path.exists(path + "-wal") or os.access(os.path.dirname(path) or ".", os.W_OK):
            raise
        connection = sqlite3.connect(uri + "&immutable=1", uri=True)
    return connection
