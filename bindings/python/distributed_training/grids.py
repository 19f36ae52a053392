# SPDX-License-Identifier: GPL-2.0-only
"""Sweeps described by a TOML file."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Union

from .near_names import did_you_mean
from .program import Program, get_program_class, get_program_names

_SETTINGS: dict[str, type] = {
    "store": str,
    "runs": int,
    "workers": int,
    "retries": int,
    "changed": str,
}


def read_grid(path: Union[str, os.PathLike[str]]) -> dict[str, Any]:
    """Return the arguments of sweep() that a TOML file describes::

        sweep(**read_grid("grid.toml"))

    `program` is the name of a program. `store`, `runs`, `workers`, `retries` and `changed` are as in
    sweep(). The table `grid` has keywords of the program: a list is an axis, any other value is the
    same everywhere; all combinations are run. Several tables `[[grid]]` are run one after the other,
    and the table `common` holds what they share.

    Raises FileNotFoundError, and ValueError with the file and the key for what is not allowed.
    """
    name = os.fspath(path)
    text = Path(path).read_bytes()
    try:
        return _read(_parse(text))
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name}: {error}") from None


def _parse(text: bytes) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib.loads(text.decode("utf-8"))


def _read(document: dict[str, Any]) -> dict[str, Any]:
    allowed = ("program", *_SETTINGS, "common", "grid")
    for key, value in document.items():
        if key not in allowed:
            near = did_you_mean(key, allowed)
            raise ValueError(f"key {key!r}{near} (allowed: {', '.join(allowed)})")
        kind = _SETTINGS.get(key)
        if kind and type(value) is not kind:
            what = "an integer" if kind is int else "a text"
            raise ValueError(f"{key} = {value!r} (allowed: {what})")
    programs = get_program_names()
    program = document.get("program", "training-job")
    if program not in programs:
        near = did_you_mean(program, programs)
        raise ValueError(f"program = {program!r}{near} (allowed: {', '.join(programs)})")
    common = document.get("common", {})
    grids = document.get("grid", {})
    grids = grids if isinstance(grids, list) else [grids]
    for key, tables in (("common", [common]), ("grid", grids)):
        if not all(isinstance(table, Mapping) for table in tables):
            raise ValueError(f"{key} = {tables[0]!r} (allowed: a table of keywords)")
    jobs: list[Program[Any]] = []
    for grid in grids:
        for key in grid:
            if key in common:
                raise ValueError(f"grid.{key} is in common, too (allowed: in one of them)")
        jobs += get_program_class(program).grid(**common, **grid)
    return {"jobs": jobs, **{key: document[key] for key in _SETTINGS if key in document}}
