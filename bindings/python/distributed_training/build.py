# SPDX-License-Identifier: GPL-2.0-only
"""Finds the selected build of the C++ module."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "DISTRIBUTED_TRAINING_BUILD"
EXTENSIONS_VARIABLE = "DISTRIBUTED_TRAINING_EXTENSIONS"

_HELP = f"""\
Run the script by `./ns3w python SCRIPT` or in `./ns3w shell`, which build the module and set
{VARIABLE}. With a build of your own (cmake -S . -B build && cmake --build build):
export {VARIABLE}=$PWD/build/build-info.json"""


class BuildNotFound(RuntimeError):
    """There is no build of the C++ module; the text names the command that creates one."""


@dataclass(frozen=True)
class Build:
    """A build of the C++ module, described by its build-info.json."""

    ns3_version: str
    """release of ns-3, such as "3.37" """
    profile: str
    """build profile, such as "optimized" """
    include_dirs: tuple[str, ...]
    """directories for ``#include "ns3/x.h"``"""
    libraries: tuple[str, ...]
    """shared libraries in load order; the last one is the module"""
    examples: dict[str, str]
    """executable of each example program"""
    cppyy: str | None
    """compatible version of cppyy, None if there is none"""

    def get_program(self, name: str) -> str:
        """Return the path of an example's executable.

        Raises BuildNotFound if it has not been built.
        """
        path = self.examples.get(name)
        if path is None or not os.access(path, os.X_OK):
            raise BuildNotFound(f"the program {name} has not been built.\n{_HELP}")
        return path

    def get_environment(self) -> dict[str, str]:
        """Return the environment variables for a child process that runs an example."""
        directories = list(dict.fromkeys(os.path.dirname(path) for path in self.libraries))
        inherited = os.environ.get("LD_LIBRARY_PATH")
        if inherited:
            directories.append(inherited)
        return {**os.environ, "LD_LIBRARY_PATH": os.pathsep.join(directories)}


def find_build() -> Build:
    """Return the build selected by the environment variable DISTRIBUTED_TRAINING_BUILD.

    Its value is the path of a build-info.json, which `ns3w` and a CMake build of the module write.
    Raises BuildNotFound, with the command that creates a build, if there is none.
    """
    path = os.environ.get(VARIABLE)
    if not path:
        raise BuildNotFound(f"no build of the C++ module is known: {VARIABLE} is not set.\n{_HELP}")
    try:
        info = json.loads(Path(path).read_text(encoding="utf-8"))
        return Build(
            ns3_version=info["ns3_version"],
            profile=info["profile"],
            include_dirs=tuple(info["include_dirs"]),
            libraries=tuple(info["libraries"]),
            examples=dict(info["examples"]),
            cppyy=info["cppyy"],
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BuildNotFound(
            f"no build of the C++ module in {VARIABLE}={path}: {error!r}\n{_HELP}"
        ) from None


def get_extensions() -> list[str]:
    """Return the extension libraries that programs load, according to the environment."""
    return [path for path in os.environ.get(EXTENSIONS_VARIABLE, "").split(":") if path]
