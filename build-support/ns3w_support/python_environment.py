# SPDX-License-Identifier: GPL-2.0-only
"""Virtual environments with the packages that ../python-packages lists."""

import hashlib
import json
import sys
from pathlib import Path

from .console import CACHE, locked, work
from .files import read_json, write_whole
from .system_packages import need

LISTS = Path(__file__).parents[1] / "python-packages"


def environment(version, *lists):
    """Return the directory of a virtual environment with the packages of the named lists, for builds
    with a release of ns-3."""
    python = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    directory = CACHE / f"{python}-ns-{version}"
    stamp = directory / "installed.json"
    files = [LISTS / f"{name}.txt" for name in lists]
    wanted = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    have = read_json(stamp, {})
    if wanted.items() <= have.items():
        return directory
    need("py:ensurepip")
    if any(name.startswith("cppyy") for name in lists):
        need("c++", "py:Python.h")
    with locked(directory.name):
        have = read_json(stamp, {})
        if not have:
            command = [sys.executable, "-m", "venv", "--clear", directory]
            work(f"making a Python environment in {directory}", command, CACHE / "venv.log")
        pip = [directory / "bin/python", "-m", "pip", "install", "--disable-pip-version-check"]
        # The lists are complete, and what builds a package comes from them, too.
        part = directory / "requirements.txt"
        pip += ["--require-hashes", "--no-deps", "--no-build-isolation", "-r", part]
        for path in files:
            if have.get(path.name) != wanted[path.name]:
                for text in path.read_text().split("\n\n")[1:]:
                    write_whole(part, text)
                    what = text.split("==")[0] if text.count("==") == 1 else path.stem
                    work(f"installing {what}", pip, CACHE / "pip.log", downloads=True)
        write_whole(stamp, json.dumps({**have, **wanted}))
    return directory
