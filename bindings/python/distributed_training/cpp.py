# SPDX-License-Identifier: GPL-2.0-only
"""The C++ classes in Python, through cppyy."""

from __future__ import annotations

import os
import shutil
import warnings
from typing import Any

from .build import find_build, get_extensions


def load_namespace() -> Any:
    """Return the C++ namespace ns3, with this module's classes in `training`.

    Only the libraries of ns-3 that this module needs are loaded (core, network, internet and their
    dependencies). This takes about three seconds, much less than ns-3's own `from ns import ns`.
    cppyy itself is `ns.cppyy`. The extensions in DISTRIBUTED_TRAINING_EXTENSIONS are loaded, too.

    Raises ImportError if cppyy or a C++ compiler is missing or no version fits this ns-3, and BuildNotFound.
    """
    build = find_build()
    if build.cppyy is None:
        raise ImportError(
            f"there is no cppyy for ns-{build.ns3_version} (there is for 3.36 and newer)"
        )
    if shutil.which("c++") is None:  # cppyy asks it for the headers of C++, and would crash
        raise ImportError("distributed_training.ns needs a C++ compiler, c++ (Debian: apt-get install g++)")
    try:
        with warnings.catch_warnings():  # cppyy 2 says that pkg_resources, which it uses, will go
            warnings.simplefilter("ignore")
            import cppyy
            import libcppyy
    except ImportError as error:
        raise ImportError(
            f"distributed_training.ns needs cppyy: pip install cppyy=={build.cppyy} ({error})"
        ) from error

    libcppyy.AddSmartPtrType("Ptr")
    for directory in build.include_dirs:
        cppyy.add_include_path(directory)
    for library in [*build.libraries, *get_extensions()]:
        if not os.path.exists(library):
            raise ImportError(f"{library} is missing: build it again")
        cppyy.load_library(library)
    # Libraries first: they define the variables that headers initialize.
    for header in ("ns3/core-module.h", "ns3/distributed-training-module.h"):
        # Older releases of Boost use features that newer compilers warn about.
        if not cppyy.cppdef(
            '#pragma clang diagnostic ignored "-Wdeprecated-builtins"\n'
            '#pragma clang diagnostic ignored "-Winconsistent-missing-override"\n'
            f'#include "{header}"\n'
        ):
            raise ImportError(f"cannot load {header}")
    namespace = cppyy.gbl.ns3
    namespace.cppyy = cppyy
    _keep_callbacks(namespace.training.TrainingRun, "OnIteration")
    return namespace


def _keep_callbacks(class_: Any, name: str) -> None:
    """Make a C++ object own the Python function that its member function gets.

    Otherwise a lambda is gone when C++ calls it: cppyy holds no reference.
    """
    set_callback = getattr(class_, name)

    def set_and_keep(self: Any, callback: Any) -> None:
        set_callback(self, callback)
        setattr(self, f"_{name}", callback)

    setattr(class_, name, set_and_keep)
