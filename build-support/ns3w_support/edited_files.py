# SPDX-License-Identifier: GPL-2.0-only
"""Files that were edited since the last build. Each has a unit of its own from then on, so that it alone
is compiled again (units.cmake)."""

import subprocess

from .files import write_if_different


def set_edited_apart(here, units, files):
    """Write the units again if files have been edited. `units` is the folder that has them, and its file
    compiled.txt the time of the last build; without it, nothing has been built."""
    try:
        last = float((units / "compiled.txt").read_text())
    except (FileNotFoundError, ValueError):
        return
    paths = [name for name in files if (here / name).stat().st_mtime > last]
    known = read_lines(units / "edited.txt")
    if set(paths) <= set(known):
        return
    edited = sorted({*paths, *known})
    if len(edited) > len([*units.glob("library-edited-*.cc")]):
        edited = []  # too many: they join their neighbours again
    write_if_different(units / "edited.txt", "\n".join(edited) + "\n")
    script = here / "build-support/units.cmake"
    subprocess.run(["cmake", f"-DUNITS={units}", "-P", script], check=True)


def note_build(units, start):
    """Record when the build began that has just ended well."""
    if units.is_dir():
        write_if_different(units / "compiled.txt", f"{start}\n")


def read_lines(path):
    return path.read_text().split() if path.exists() else []
