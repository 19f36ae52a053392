# SPDX-License-Identifier: GPL-2.0-only
"""Required tools and headers of the system; apt installs missing ones."""

import contextlib
import importlib.util
import os
import shlex
import shutil
import subprocess
import sysconfig
from pathlib import Path

from .console import CACHE, Failure, say, work

BUILD_TOOLS = ("c++", "cmake", "ninja", "ccache", "sqlite3.h", "toml++/toml.h", "zlib.h")
MPI_TOOLS = ("mpirun", "mpic++")


def compiler():
    """Return the words of the C++ compiler's command: of CXX, as for CMake, or c++."""
    return shlex.split(os.environ.get("CXX", "")) or ["c++"]


def need(*names):
    """Make sure that tools, C++ headers and Python modules (py:*) exist; install them by apt."""
    packages = {
        "c++": "g++",
        "ninja": "ninja-build",
        "mpirun": "openmpi-bin",
        "mpic++": "libopenmpi-dev",
        "sqlite3.h": "libsqlite3-dev",
        "toml++/toml.h": "libtomlplusplus-dev",
        "zlib.h": "zlib1g-dev",
        "boost/graph/adjacency_list.hpp": "libboost-dev",
        "py:ensurepip": "python3-venv",
        "py:Python.h": "python3-dev",
    }

    def present(name):
        if name == "py:Python.h":
            return Path(sysconfig.get_path("include"), "Python.h").exists()
        if name.startswith("py:"):
            return importlib.util.find_spec(name[3:]) is not None
        if name.endswith((".h", ".hpp")):
            probe = [*compiler(), *shlex.split(os.environ.get("CXXFLAGS", ""))]
            probe += ["-std=c++17", "-x", "c++", "-fsyntax-only", "-"]
            text = f"#include <{name}>\n".encode()
            quiet = {"input": text, "stderr": subprocess.DEVNULL}
            return present("c++") and not subprocess.run(probe, **quiet).returncode
        return shutil.which(compiler()[0] if name == "c++" else name)

    if "c++" in names and "CXX" in os.environ and not present("c++"):
        raise Failure(f"CXX={os.environ['CXX']}: allowed is a compiler of C++ that is there")
    missing = [packages.get(name, name) for name in names if not present(name)]
    if not missing:
        return
    if not shutil.which("apt-get"):
        raise Failure(f"please install what Debian calls {' '.join(missing)}")
    install = ["apt-get", "install", "-y", "--no-install-recommends", *missing]
    prefix = []
    if os.geteuid():
        prefix = ["sudo", "-n"]
        test = [*prefix, "true"]
        if not shutil.which("sudo") or subprocess.run(test, capture_output=True).returncode:
            raise Failure(f"missing: {' '.join(missing)}. Type: sudo {shlex.join(install)}")
    say(f"missing, installing by apt: {' '.join(missing)}")
    prefix += ["env", "DEBIAN_FRONTEND=noninteractive"]
    log = CACHE / "apt.log"
    quiet = {"stdin": subprocess.DEVNULL}
    with contextlib.suppress(Failure):  # old package lists may suffice
        work("apt-get update", [*prefix, "apt-get", "update"], log, downloads=True, **quiet)
    try:
        work(shlex.join(install), [*prefix, *install], log, downloads=True, **quiet)
    except Failure as failure:
        reason = "no network" if failure.status == 2 else "apt-get failed"
        raise Failure(
            f"missing: {' '.join(missing)} ({reason}). Connect this machine, or install them by other "
            f"means; details: {log}"
        ) from None
