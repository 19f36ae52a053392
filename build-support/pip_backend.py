# SPDX-License-Identifier: GPL-2.0-only
"""The build backend of pip: scikit-build-core, with the tools, the ns-3 and the build folder of ns3w.

scikit-build-core does not install headers of the system, and would build in a folder of its own against the
ns-3 of an environment that has another path each time. `./ns3w --ns3=wheel build` does the first and
configures a folder that stays, so that the second installation compiles only what has changed.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from scikit_build_core import build as core
from scikit_build_core.build import *  # noqa: F403  # the hooks that need no compiler

sys.dont_write_bytecode = True  # keeps the checkout clean

from ns3w_support.builds import CORES, HERE, WheelBuild, module_list  # noqa: E402
from ns3w_support.console import Failure, locked, say  # noqa: E402

# What pip's isolation of builds sets, and what must not reach the virtual environments of ns3w.
ISOLATION = ("PYTHONPATH", "PYTHONNOUSERSITE", "PIP_TARGET", "PIP_PREFIX", "PIP_USER")


def _build(hook: Any, folder: str, config_settings: Any, metadata_directory: str | None) -> str:
    for name in ISOLATION:
        os.environ.pop(name, None)
    build = WheelBuild()
    is_new = not build.directory.exists()
    try:
        with locked(build.directory.name):
            build.configure()
            # It names the place of scikit-build-core, which differs each time, and would empty the folder.
            (build.directory / ".skbuild-info.json").unlink(missing_ok=True)
            os.environ.update(build.build_variables())
            settings = {
                "build-dir": str(build.directory),
                "build.targets": ";".join(module_list("example_names")),
                "cmake.args": "-GNinja",
                "cmake.source-dir": str(build.source),
            }
            for name, value in build.definitions().items():
                settings[f"cmake.define.{name}"] = str(value)
            os.environ.setdefault("CMAKE_BUILD_PARALLEL_LEVEL", str(CORES))
            return str(hook(folder, {**settings, **(config_settings or {})}, metadata_directory))
    except Failure as failure:
        say(failure)
        raise SystemExit(failure.status) from None
    finally:
        # The unpacked archive that this file is in will be removed, and so is its build.
        if is_new and HERE.is_relative_to(Path(tempfile.gettempdir()).resolve()):
            shutil.rmtree(build.directory, ignore_errors=True)


def build_wheel(
    wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None
) -> str:
    """Build the module and write the wheel; return its name."""
    return _build(core.build_wheel, wheel_directory, config_settings, metadata_directory)


def build_editable(
    wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None
) -> str:
    """As build_wheel(), for a package whose Python files are those of this checkout."""
    return _build(core.build_editable, wheel_directory, config_settings, metadata_directory)
