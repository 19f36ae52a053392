# SPDX-License-Identifier: GPL-2.0-only
"""Programs of users: one file of C++, compiled against a build of the module."""

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from .console import Failure

SOURCES = (".cc", ".cpp", ".cxx")


def is_source(word):
    """Return whether a word names a file of C++ rather than a program of the module."""
    return word.endswith(SOURCES) or "/" in word


def find_source(word):
    """Return the path of a file of C++. Raises Failure if there is none of that name."""
    path = Path(word).expanduser()
    if not word.endswith(SOURCES):
        raise Failure(f"run {word}: allowed are files named {', '.join('*' + s for s in SOURCES)}")
    if not os.path.isfile(path):  # also if the name is too long
        files = [other.name for other in path.parent.glob("*") if other.is_file()]
        here = ", ".join(sorted(name for name in files if name.endswith(SOURCES))[:8]) or "none"
        raise Failure(f"run {word}: there is no such file; allowed in its folder: {here}")
    return path.resolve()


def get_commands(info, source, binary):
    """Return the commands that compile and link a source, from a build-info.json's content."""
    own, *others = info["include_dirs"]
    compile_command = [
        "ccache",
        "c++",
        f"-std=c++{info['cxx_standard']}",
        "-O3",
        "-Wall",
        "-Wextra",
    ]
    compile_command += [f"-D{name}" for name in info["definitions"]]
    if "NS3_ASSERT_ENABLE" not in info["definitions"]:
        compile_command.append("-DNDEBUG")
    compile_command += [f"-I{source.parent}", "-isystem", own]
    compile_command += [f"-idirafter{directory}" for directory in others]
    link_command = ["c++", f"{binary}.o", "-o", binary, "-Wl,--no-as-needed", *info["libraries"]]
    folders = dict.fromkeys(str(Path(library).parent) for library in info["libraries"])
    link_command += [f"-Wl,-rpath,{folder}" for folder in folders]
    return [[*compile_command, "-c", source, "-o", f"{binary}.o"], link_command]


def build_user_program(build, source, variables):
    """Compile a source against a build; return the executable.

    What the compiler says is passed on as it is, on the standard error.
    """
    digest = hashlib.sha256(str(source).encode()).hexdigest()[:10]
    name = re.sub(r"[^A-Za-z0-9._-]", "-", source.stem)
    binary = build.directory / "programs" / f"{name}-{digest}"
    binary.parent.mkdir(parents=True, exist_ok=True)
    info = json.loads(build.info.read_text())
    for command in get_commands(info, source, binary):
        command = [str(word) for word in command]
        done = subprocess.run(command, stdout=sys.stderr, env=variables)
        if done.returncode:
            binary.unlink(missing_ok=True)
            raise Failure(f"{source} does not compile: see the compiler's messages above", 1)
    return binary
