# SPDX-License-Identifier: GPL-2.0-only
"""What is on this machine: tools, builds, caches, and the disk that they take."""

import json
import os
import shutil
import subprocess
import sys

from .console import CACHE

TOOLS = ("c++", "cmake", "ninja", "ccache", "mpirun")


def get_disk_use(path):
    """Return the bytes that a file or folder takes on the disk; a file with several names counts
    once, and links are not followed."""
    seen = set()

    def count(entry):
        try:
            state = os.lstat(entry)
        except OSError:  # gone meanwhile
            return 0
        key = state.st_dev, state.st_ino
        if key in seen:
            return 0
        seen.add(key)
        return state.st_blocks * 512

    total = count(path)
    for folder, folders, files in os.walk(path):
        total += sum(count(os.path.join(folder, name)) for name in folders + files)
    return total


def format_size(size):
    """Return a number of bytes as text of at most 9 characters."""
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}"
        size /= 1024
    return f"{size:.1f} GiB"


def get_tool_version(name):
    """Return the first line of what a tool says of its version; None if there is no such tool."""
    if not shutil.which(name):
        return None
    done = subprocess.run([name, "--version"], capture_output=True, text=True, errors="replace")
    lines = (done.stdout or done.stderr).splitlines()
    return lines[0].strip() if lines else "installed"


def describe_build(directory, module):
    """Return what a build is of and what is in it, in one line."""
    try:
        info = json.loads((directory / "build-info.json").read_text())
        programs = sum(os.access(path, os.X_OK) for path in info["examples"].values())
        text = (
            f"ns-{info['ns3_version']}, {info['profile']}, "
            f"{programs} of {len(info['examples'])} programs"
        )
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        text = "not finished"
    source = os.path.realpath(directory / "contrib" / module)
    return f"{text}, of {source}" + ("" if os.path.isdir(source) else " (removed)")


def print_information(module, version, which, here):
    """Print everything; changes nothing, downloads nothing, builds nothing."""
    print(f"{module} {version} in {here}")
    print(f"ns-3: --ns3={which}")
    print("\ntools")
    print(f"  {'python':<8} Python {sys.version.split()[0]} ({sys.executable})")
    for name in TOOLS:
        print(f"  {name:<8} {get_tool_version(name) or 'missing'}")
    print(f"\ndisk, in {CACHE}")
    rows = []
    builds = sorted((CACHE / "builds").glob("*"))
    for directory in builds:
        name = f"builds/{directory.name}"
        rows.append((get_disk_use(directory), name, describe_build(directory, module)))
    notes = {
        "ccache": "compiled files, which all builds share",
        "downloads": "archive of ns-3",
        "locks": "one ns3w at a time",
    }
    for entry in sorted(CACHE.glob("*")):
        if entry.name != "builds":
            note = notes.get(entry.name, "")
            if entry.name.startswith("ns-"):
                note = "sources of ns-3"
            elif entry.name.startswith(("python", "ci-python")):
                note = "Python packages"
            rows.append((get_disk_use(entry), entry.name, note))
    width = max((len(name) for _, name, _ in rows), default=0)
    for size, name, note in rows:
        print(f"  {format_size(size):>9}  {name:<{width}}  {note}".rstrip())
    print(f"  {format_size(sum(size for size, _, _ in rows)):>9}  in all")
    free = shutil.disk_usage(next(path for path in (CACHE, *CACHE.parents) if path.exists())).free
    print(f"  {format_size(free):>9}  free")
    print("\n./ns3w clean removes the builds of this checkout, ./ns3w clean --all everything above")
