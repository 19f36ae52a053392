# SPDX-License-Identifier: GPL-2.0-only
"""Finds the selected build of the C++ module."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "DISTRIBUTED_TRAINING_BUILD"
EXTENSIONS_VARIABLE = "DISTRIBUTED_TRAINING_EXTENSIONS"

# Where `pip install` puts a build; see build-support/pip_backend.py. An editable package is in two folders.
_PLACES = [Path(folder, "native/build-info.json") for folder in sys.modules[__package__].__path__]
_INSTALLED = next((path for path in _PLACES if path.exists()), _PLACES[0])

_HELP = f"""\
Install the package by `pip install .`, which compiles the module. Or run the script by
`./ns3w python SCRIPT` or in `./ns3w shell`, which build the module and set {VARIABLE}. With a build of your own (cmake -S . -B build && cmake --build build):
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
        """Return the environment variables for a child process that runs an example.

        Unless GLIBC_TUNABLES is set, glibc asks for huge pages, which large networks need.
        """
        directories = list(dict.fromkeys(os.path.dirname(path) for path in self.libraries))
        inherited = os.environ.get("LD_LIBRARY_PATH")
        if inherited:
            directories.append(inherited)
        return {
            "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
            **os.environ,
            "LD_LIBRARY_PATH": os.pathsep.join(directories),
        }


def _to_installed_path(path: str) -> str:
    """Return the place of a file of the installed build, or of the package ns3 below "ns3/".

    Raises ValueError if there is no package ns3.
    """
    if not path.startswith("ns3/"):
        return str(_INSTALLED.parent / path)
    specification = importlib.util.find_spec("ns3")
    if specification is None or not specification.submodule_search_locations:
        raise ValueError("the Python package ns3 is missing, which `pip install` brings")
    return str(Path(specification.submodule_search_locations[0]).parent / path)


def find_build() -> Build:
    """Return the build selected by DISTRIBUTED_TRAINING_BUILD, or that of the installed package.

    The value of this environment variable is the path of a build-info.json, which `ns3w` and a CMake
    build of the module write. Without it, the build is the one that `pip install` compiled.

    Raises BuildNotFound, with the command that creates a build, if there is none.
    """
    path = os.environ.get(VARIABLE)
    is_installed = not path and _INSTALLED.exists()
    if not path and not is_installed:
        raise BuildNotFound(f"no build of the C++ module is known: {VARIABLE} is not set.\n{_HELP}")
    place = _to_installed_path if is_installed else str
    try:
        info = json.loads(Path(path or _INSTALLED).read_text(encoding="utf-8"))
        return Build(
            ns3_version=info["ns3_version"],
            profile=info["profile"],
            include_dirs=tuple(place(directory) for directory in info["include_dirs"]),
            libraries=tuple(place(library) for library in info["libraries"]),
            examples={name: place(program) for name, program in info["examples"].items()},
            cppyy=info["cppyy"],
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        source = f"{VARIABLE}={path}" if path else str(_INSTALLED)
        raise BuildNotFound(f"no build of the C++ module in {source}: {error!r}\n{_HELP}") from None


def get_extensions() -> list[str]:
    """Return the extension libraries that programs load, according to the environment."""
    return [path for path in os.environ.get(EXTENSIONS_VARIABLE, "").split(":") if path]
