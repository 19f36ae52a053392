# SPDX-License-Identifier: GPL-2.0-only
"""Descriptions of programs: the JSON output of their option `--describe=json`."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import tempfile
from typing import Any

from .build import Build, find_build, get_extensions

_known: dict[str, tuple[Any, dict[str, Any]]] = {}  # by path of the program: state and description


def describe_program(name: str) -> dict[str, Any]:
    """Return the description of a program: its options, the kinds of alternatives and their keys.

    The user guide explains its members. A file next to the program caches it until the program or a
    library changes. Raises BuildNotFound.
    """
    build = find_build()
    path = build.get_program(name)
    state = _get_state(build, path)
    if path not in _known or _known[path][0] != state:
        _known[path] = (state, _read(path, state) or _ask(build, path, state))
    return _known[path][1]


def _get_state(build: Build, path: str) -> list[Any]:
    """Return a value that changes with every input of the description."""
    files = [path, *build.libraries, *get_extensions()]
    return [[file, os.stat(file).st_mtime_ns] for file in files if os.path.exists(file)]


def _read(path: str, state: list[Any]) -> dict[str, Any] | None:
    try:
        with open(path + ".describe.json", encoding="utf-8") as file:
            kept = json.load(file)
        return kept["description"] if kept["state"] == state else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _ask(build: Build, path: str, state: list[Any]) -> dict[str, Any]:
    process = subprocess.run(
        [path, "--describe=json"],
        env=build.get_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if process.returncode != 0:
        raise RuntimeError(f"{path} --describe=json: {process.stderr.strip()}")
    description: dict[str, Any] = json.loads(process.stdout)
    with contextlib.suppress(OSError):  # the directory of the build may be read-only
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=os.path.dirname(path), delete=False
        ) as file:
            json.dump({"state": state, "description": description}, file)
        os.replace(file.name, path + ".describe.json")
    return description
