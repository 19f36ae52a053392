# SPDX-License-Identifier: GPL-2.0-only
"""The file that keeps the runs of sweeps, finished ones and failures."""

from __future__ import annotations

import fcntl
import functools
import hashlib
import json
import os
import shlex
import sqlite3
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Optional, Union

from .build import find_build, get_extensions
from .program import Program

CHANGED = ("recompute", "keep", "refuse")
"""what a sweep may do with kept runs of another program or other input files"""

_APPLICATION_ID = 0x64747377  # "dtsw"
_LAYOUT_VERSION = 1
_TIMEOUT_S = 60  # for the transactions of other processes

_LAYOUT = """
CREATE TABLE IF NOT EXISTS sweep_run (
    run_id INTEGER PRIMARY KEY,
    program TEXT NOT NULL,
    arguments TEXT NOT NULL,
    run INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'missing',
    attempts INTEGER NOT NULL DEFAULT 0,
    started TEXT,
    wall_time_s REAL,
    command TEXT,
    version TEXT,
    ns3_version TEXT,
    build TEXT,
    input_files TEXT,
    note TEXT NOT NULL DEFAULT '',
    error TEXT NOT NULL DEFAULT '',
    result TEXT,
    UNIQUE (program, arguments, run)
)
"""

Row = dict[str, Any]
"""a run by column of the table sweep_run"""

_open_files: set[tuple[int, str]] = set()  # stores of this process, by its id and their path
_open_files_lock = threading.Lock()


@functools.lru_cache(maxsize=None)
def _hash(path: str, _mtime_ns: int, _size: int) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def hash_file(path: str) -> str:
    """Return the SHA-256 of a file; one that has not changed since is read once."""
    status = os.stat(path)
    return _hash(os.path.abspath(path), status.st_mtime_ns, status.st_size)


@dataclass(frozen=True)
class Origin:
    """What a result follows from, besides the arguments."""

    version: str
    ns3_version: str
    build: str
    """digest of the program, its libraries and extensions"""
    input_files: str
    """JSON object: SHA-256 by the file's name"""

    @staticmethod
    def find(job: Program[Any]) -> Origin:
        """Return the origin that a result of a job would have now."""
        build = find_build()
        binaries = [build.get_program(job.name), *build.libraries, *get_extensions()]
        hashes = "".join(hash_file(path) for path in binaries)
        return Origin(
            version=job.describe()["version"],
            ns3_version=build.ns3_version,
            build=hashlib.sha256(hashes.encode()).hexdigest()[:16],
            input_files=json.dumps({name: hash_file(name) for name in job.get_input_files()}),
        )

    def compare(self, row: Row) -> str:
        """Return what is different in a kept run; empty if nothing is."""
        if row["build"] != self.build:
            return f"version {row['version']}, build {row['build']}"
        before, now = json.loads(row["input_files"]), json.loads(self.input_files)
        names = [name for name in sorted({*before, *now}) if before.get(name) != now.get(name)]
        return f"other contents of {', '.join(names)}" if names else ""


@dataclass(frozen=True)
class Attempts:
    """The outcome of a run, which was tried once or several times."""

    number: int
    started: str
    """time of day of the first attempt (UTC)"""
    wall_time_s: float
    """duration of all attempts"""
    result: Optional[dict[str, Any]] = None
    """the JSON document of the program; None for a failure"""
    error: str = ""


class SweepStore:
    """Runs, each kept under its program, arguments and run number.

    A run is claimed before it begins, and no other process can claim it until this one releases it
    or ends, however it ends. A transaction saves each outcome, so that a kill at any moment loses
    only the runs in progress.

    Args:
        path: an SQLite file, which is created if it does not exist; None for a store in memory.
        changed: one of CHANGED.

    Raises ValueError for a file that is no store, that has a newer layout, or that another sweep of
    this process uses.
    """

    def __init__(self, path: Optional[Union[str, os.PathLike[str]]], changed: str = "recompute"):
        if changed not in CHANGED:
            raise ValueError(f"changed={changed!r} (allowed: {', '.join(CHANGED)})")
        self._changed = changed
        self._name = ":memory:" if path is None else os.path.realpath(os.fspath(path))
        self._locks = -1
        self._origins: dict[int, Origin] = {}
        if path is None:
            self._connection = _connect(self._name)
            _set_up(self._connection)
            return
        key = (os.getpid(), self._name)
        with _open_files_lock:
            if key in _open_files:
                raise ValueError(
                    f"store {self._name!r} is in use by another sweep of this process (allowed: one "
                    "at a time; a sweep of another process may use it)"
                )
            _open_files.add(key)
        try:
            self._connection = _connect(self._name)
            with _Transaction(self._connection):
                _set_up(self._connection)
            self._locks = _open_locks(self._name + ".lock")
        except BaseException:
            _open_files.discard(key)
            raise

    def __enter__(self) -> SweepStore:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()
        if self._locks >= 0:
            _close_locks(self._name + ".lock", self._locks)
            _open_files.discard((os.getpid(), self._name))

    def add(self, jobs: Iterable[Program[Any]]) -> list[int]:
        """Return the id of each job's run. Equal jobs have the same id.

        Raises ValueError if a kept run has changed and this is refused.
        """
        ids = []
        changes = []
        with _Transaction(self._connection):
            for job in jobs:
                key = _get_key(job)
                self._connection.execute(
                    "INSERT OR IGNORE INTO sweep_run (program, arguments, run) VALUES (?, ?, ?)",
                    key,
                )
                row = self._connection.execute(
                    "SELECT * FROM sweep_run WHERE program = ? AND arguments = ? AND run = ?", key
                ).fetchone()
                origin = self._origins[row["run_id"]] = Origin.find(job)
                if row["state"] != "missing" and (change := origin.compare(dict(row))):
                    changes.append(f"{row['command']}: {change}")
                ids.append(row["run_id"])
            if changes and self._changed == "refuse":
                raise ValueError(
                    f"store {self._name!r} has {len(changes)} runs of another program or other input "
                    f"files, such as {changes[0]} (allowed: changed='recompute' or 'keep')"
                )
        return ids

    def count_attempts_left(self, run_id: int, retries: int) -> int:
        """Return how often a run may be tried now, 0 if it needs none."""
        row = self.read([run_id])[0]
        if row["state"] == "missing" or self._is_replaced(row):
            return 1 + retries
        return max(0, 1 + retries - row["attempts"]) if row["state"] == "failed" else 0

    def _is_replaced(self, row: Row) -> bool:
        return self._changed == "recompute" and bool(self._origins[row["run_id"]].compare(row))

    def claim(self, run_id: int) -> bool:
        """Claim a run and return True, or False if another process has claimed it."""
        return self._locks < 0 or _lock(self._locks, fcntl.LOCK_EX | fcntl.LOCK_NB, run_id)

    def release(self, run_id: int) -> None:
        """Let other processes claim a run."""
        if self._locks >= 0:
            _lock(self._locks, fcntl.LOCK_UN, run_id)

    def save(self, run_id: int, job: Program[Any], attempts: Attempts) -> None:
        """Keep the outcome of a run."""
        row = self.read([run_id])[0]
        origin = self._origins[run_id]
        note, before = "", 0
        if row["state"] != "missing":
            change = origin.compare(row)
            note = f"replaces {change}" if change else row["note"]
            before = 0 if change else row["attempts"]
        finished = attempts.result is not None
        values = {
            "state": "finished" if finished else "failed",
            "attempts": before + attempts.number,
            "started": attempts.started,
            "wall_time_s": attempts.wall_time_s,
            "command": get_command_line(job),
            **vars(origin),
            "note": note,
            "error": attempts.error,
            "result": json.dumps(attempts.result) if finished else None,
        }
        names = ", ".join(f"{name} = ?" for name in values)
        with _Transaction(self._connection):
            self._connection.execute(
                f"UPDATE sweep_run SET {names} WHERE run_id = ?", (*values.values(), run_id)
            )

    def read(self, run_ids: Iterable[int]) -> list[Row]:
        """Return the runs with these ids, in this order, by column of the table."""
        query = "SELECT * FROM sweep_run WHERE run_id = ?"
        rows = [dict(self._connection.execute(query, (run_id,)).fetchone()) for run_id in run_ids]
        for row in rows:
            if self._changed == "keep" and row["state"] != "missing":
                change = self._origins[row["run_id"]].compare(row)
                row["note"] = f"kept from {change}" if change else row["note"]
        return rows


def read_rows(path: Union[str, os.PathLike[str]]) -> list[Row]:
    """Return the runs of a store that were tried, in the order in which they were added.

    Raises FileNotFoundError, and ValueError for a file that is no store or has a newer layout.
    """
    name = os.path.realpath(os.fspath(path))
    if not os.path.exists(name):
        raise FileNotFoundError(f"store {name!r}: there is no such file")
    connection = _connect(name)
    try:
        if _is_empty(connection):
            return []
        query = "SELECT * FROM sweep_run WHERE state != 'missing' ORDER BY run_id"
        return [dict(row) for row in connection.execute(query)]
    finally:
        connection.close()


def get_command_line(job: Program[Any]) -> str:
    """Return the command that repeats a run, for a shell in any directory."""
    line = shlex.join(job.get_command())
    extensions = get_extensions()
    if extensions:
        line = f"DISTRIBUTED_TRAINING_EXTENSIONS={shlex.quote(':'.join(extensions))} {line}"
    if any(not os.path.isabs(name) for name in job.get_input_files()):
        line = f"cd {shlex.quote(os.getcwd())} && {line}"
    return line


def _get_key(job: Program[Any]) -> tuple[str, str, int]:
    """Return program, arguments as JSON and run number: equal for jobs with equal results."""
    parameters = dict(sorted(job.parameters.items()))
    number = int(parameters.pop("run"))
    return job.name, json.dumps(type(job)(**parameters).get_key()), number


class _Transaction:
    """A transaction that has the write lock from its beginning, so that it cannot fail midway."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, *_: object) -> None:
        self._connection.execute("ROLLBACK" if kind else "COMMIT")


def _connect(name: str) -> sqlite3.Connection:
    connection = None
    try:
        connection = sqlite3.connect(name, timeout=_TIMEOUT_S, isolation_level=None)
        connection.row_factory = sqlite3.Row
        if not _is_empty(connection):
            _check(connection)
        return connection
    except BaseException as error:
        if connection is not None:
            connection.close()
        if isinstance(error, (sqlite3.Error, ValueError)):
            raise ValueError(f"store {name!r}: {error}") from None
        raise


def _is_empty(connection: sqlite3.Connection) -> bool:
    """Whether a database is new; a kill before its first transaction leaves it so."""
    return bool(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0)


def _set_up(connection: sqlite3.Connection) -> None:
    """Make a new file a store."""
    if _is_empty(connection):
        connection.execute(_LAYOUT)
        connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {_LAYOUT_VERSION}")


def _check(connection: sqlite3.Connection) -> None:
    if connection.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION_ID:
        raise ValueError("is another file (allowed: a new file, or the store of a sweep)")
    layout = connection.execute("PRAGMA user_version").fetchone()[0]
    if layout > _LAYOUT_VERSION:
        raise ValueError(
            f"has layout version {layout} of a newer program (allowed: up to {_LAYOUT_VERSION})"
        )


# Claims are locks on bytes of a file beside the store, because the kernel releases them when their
# process ends, and a lock in the store itself would interfere with those of SQLite. Every process
# that uses the store shares byte 0; whoever is alone at the end removes the file.


def _lock(file: int, kind: int, byte: int) -> bool:
    try:
        fcntl.lockf(file, kind, 1, byte)
        return True
    except OSError as error:
        if isinstance(error, (BlockingIOError, PermissionError)):  # claimed by another process
            return False
        raise


def _open_locks(path: str) -> int:
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        _lock(file, fcntl.LOCK_SH, 0)
        try:
            if os.path.samestat(os.fstat(file), os.stat(path)):
                return file
        except FileNotFoundError:  # removed between open and lock
            pass
        os.close(file)


def _close_locks(path: str, file: int) -> None:
    if _lock(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 0):
        os.unlink(path)
    os.close(file)
