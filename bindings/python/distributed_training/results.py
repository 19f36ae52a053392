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

TABLES = (
    "run",
    "iteration",
    "collective",
    "message",
    "link_counter",
    "link_iteration",
    "sample",
    "compute_phase",
    "critical_path",
    "nic_counter",
    "codec_counter",
    "learning",
    "energy",
    "life",
    "flow",
    "job",
    "simulation",
)
"""The tables of a results file; the documentation lists their columns."""

VIEWS = ("bucket", "bucket_wait", "bottleneck", "slowest_message", "binding")
"""The views of a results file, which answer questions from its tables."""

LAYOUT_VERSION = 1
"""The newest layout that read_results() supports."""


def read_results(
    path: str | os.PathLike[str], table: str = "iteration", run_id: int | None = None
) -> pandas.DataFrame:
    """Read a table of a results file, even while other processes write to it.

    Times of day become Timestamps, `warmup`, `verified` and `derived` booleans, and `configuration`
    a dict.

    Args:
        path: the file.
        table: one of TABLES or VIEWS.
        run_id: the run to read; all by default.

    Raises ValueError if there is no such table, or the file is not a results file, has a newer
    version, or is so old that it lacks the table; FileNotFoundError if there is no file.
    """
    import pandas

    if table not in TABLES + VIEWS:
        near = did_you_mean(table, TABLES + VIEWS)
        raise ValueError(f"table {table!r}{near} (allowed: {', '.join(TABLES + VIEWS)})")
    path = os.fspath(path)
    if not os.path.exists(path):
        raise FileNotFoundError(f"results file {path!r}: there is no such file")
    query, values = f"SELECT * FROM {table}", ()  # one of TABLES or VIEWS: needs no escaping
    if run_id is not None:
        query, values = query + " WHERE run_id = ?", (run_id,)  # type: ignore[assignment]
    try:
        with contextlib.closing(open_results(path)) as connection:
            layout = connection.execute("PRAGMA user_version").fetchone()[0]
            if layout > LAYOUT_VERSION:
                raise ValueError(
                    f"results file {path!r}: has layout version {layout} of a newer program "
                    f"(allowed: up to {LAYOUT_VERSION})"
                )
            names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master")]
            there = [name for name in TABLES + VIEWS if name in names]
            if "run" in there and table not in there:
                raise ValueError(
                    f"results file {path!r}: has no table {table!r}, as an older program wrote it; a "
                    f"run that is added to it adds the table (allowed: {', '.join(there)})"
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
