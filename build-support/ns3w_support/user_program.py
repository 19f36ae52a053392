# SPDX-License-Identifier: GPL-2.0-only
"""Programs of users: one file of C++, compiled against a build of the module.

What the compiler has read decides which libraries of ns-3 are linked, and whether the next run
compiles again. The header of the whole module is precompiled once for all programs that include it,
with those of the modules of ns-3 that they are linked with anyway.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from .console import Failure, locked, say
from .files import read_json, write_if_different, write_whole
from .system_packages import compiler

SOURCES = (".cc", ".cpp", ".cxx")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"](.+?)[>"]', re.M)


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


def get_compiler(info):
    """Return the compiler and its options, from a build-info.json's content."""
    own, *others = info["include_dirs"]
    command = [*compiler(), f"-std=c++{info['cxx_standard']}", "-O3", "-Wall", "-Wextra"]
    command += [f"-D{name}" for name in info["definitions"]]
    if "NS3_ASSERT_ENABLE" not in info["definitions"]:
        command.append("-DNDEBUG")
    return [*command, "-isystem", own, *[f"-idirafter{directory}" for directory in others]]


def get_linker(info, binary, libraries):
    """Return the command that links an object with libraries."""
    folders = dict.fromkeys(str(Path(library).parent) for library in libraries)
    command = [*compiler(), f"{binary}.o", "-o", str(binary), "-Wl,--no-as-needed", *libraries]
    return command + [f"-Wl,-rpath,{folder}" for folder in folders]


def includes(source, header):
    """Return whether a file of a user, or another one that it includes, includes a header."""
    todo, seen = [source], set()
    while todo:
        path = todo.pop()
        if path not in seen and path.is_file():
            seen.add(path)
            names = INCLUDE.findall(path.read_text(errors="replace"))
            if header in names:
                return True
            todo += [folder / name for name in names for folder in (path.parent, source.parent)]
    return False


def read_modules(info):
    """Return header -> module of ns-3, from the headers that list those of each module."""
    modules = {}
    for folder in info["include_dirs"]:
        for path in Path(folder, "ns3").glob("*-module.h"):
            module = path.name[: -len("-module.h")]
            names = [path.name, *INCLUDE.findall(path.read_text(errors="replace"))]
            modules.update((name.rpartition("/")[2], module) for name in names)
    return modules


def find_libraries(info, files):
    """Return the libraries of ns-3 whose headers are among files, but those that all programs link."""
    folders = [f"{folder}/ns3" for folder in info["include_dirs"]]
    modules = read_modules(info)
    names = [os.path.split(file) for file in files]
    used = {modules[name] for folder, name in names if folder in folders and name in modules}
    linked = {Path(path).name for path in info["libraries"]}
    paths = [get_library(info, module) for module in used]
    return sorted(str(path) for path in paths if path.name not in linked)


def get_library(info, module):
    """Return the library of a module of ns-3, beside that of its core."""
    core = next(Path(path) for path in info["libraries"] if "-core" in Path(path).name)
    return core.with_name(core.name.replace("-core", f"-{module}"))


def write_common_header(info, path):
    """Write a header that includes those of all modules that every program is linked with."""
    linked = {Path(library).name for library in info["libraries"]}
    modules = sorted({*read_modules(info).values()})
    names = [module for module in modules if get_library(info, module).name in linked]
    text = "".join(f'#include "ns3/{module}-module.h"\n' for module in names)
    write_if_different(path, text)


def read_dependencies(path):
    """Return the files that a compiler has read, from what it writes with -MD -MT all."""
    text = path.read_text().replace("\\\n", " ").partition("all:")[2]
    words = re.findall(r"(?:\\.|[^\\\s])+", text)
    return [re.sub(r"\\(.)", r"\1", word).replace("$$", "$") for word in words]


def get_times(files):
    """Return the time of the last change of each file, None of one that is not there."""

    def get_time(file):
        try:
            return os.stat(file).st_mtime_ns
        except OSError:
            return None

    return {file: get_time(file) for file in files}


def make(output, command, inputs=None):
    """Run a command that writes a file, unless nothing has changed since the last time. The inputs are
    those that are given, or what the compiler says that it has read. Return them, and what failed.
    """
    stamp = Path(f"{output}.json")
    record = read_json(stamp, {})
    command = [os.path.realpath(shutil.which(command[0]) or command[0]), *command[1:]]
    times = record.get("times", {})
    if record.get("command") == command and output.exists() and get_times(times) == times:
        return list(times), None
    stamp.unlink(missing_ok=True)
    list_of_inputs = Path(f"{output}.d")
    more = ["-MD", "-MT", "all", "-MF", str(list_of_inputs)] if inputs is None else []
    more += ["-fdiagnostics-color=always"] if sys.stderr.isatty() else []
    start = time.time_ns()
    done = subprocess.run(
        [*command, *more],
        cwd=output.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    if done.returncode:
        return [], done.stdout or f"{command[0]} has failed ({done.returncode})\n"
    sys.stderr.write(done.stdout)  # warnings
    files = [command[0]]
    files += read_dependencies(list_of_inputs) if inputs is None else inputs
    times = get_times(os.path.join(output.parent, file) for file in files)
    if all(moment and moment < start for moment in times.values()):  # not changed meanwhile
        write_whole(stamp, json.dumps({"command": command, "times": times}))
    return list(times), None


def refuse_other_modules(build, source, info, said):
    """Raise Failure if the compiler misses a header of a module that the build does not have."""
    match = re.search(r"ns3/([\w-]+\.h): ", said)
    if not match:
        return
    name = match[1]
    tree = build.directory / "src"
    folders = [path.relative_to(tree).parts[0] for path in tree.glob(f"*/*/{name}")]
    folders += [name[: -len("-module.h")]] * name.endswith("-module.h")
    modules = sorted({*read_modules(info).values()})
    if folders and folders[0] not in modules and (tree / folders[0]).is_dir():
        raise Failure(
            f"{source}: ns3/{name} is of ns-3's module {folders[0]}; allowed are headers of "
            f"{', '.join(modules)}, and others in a tree of your own or with --ns3=wheel"
        )


def build_user_program(build, source, header):
    """Compile a source against a build; return the executable. The header is that of the whole module.

    What the compiler says is passed on as it is, on the standard error.
    """
    digest = hashlib.sha256(str(source).encode()).hexdigest()[:10]
    name = re.sub(r"[^A-Za-z0-9._-]", "-", source.stem)
    folder = build.directory / "programs"
    binary = folder / f"{name}-{digest}"
    common = folder / "common.h"
    folder.mkdir(parents=True, exist_ok=True)
    info = json.loads(build.info.read_text())

    def step(output, command, inputs=None):
        files, said = make(output, command, inputs)
        if said:
            refuse_other_modules(build, source, info, said)
            sys.stderr.write(said)
            reason = f"{source} does not compile: see the compiler's messages above"
            raise Failure(reason, 1)
        return files

    with locked(f"{folder.parent.name}-programs"):
        compiler = get_compiler(info)
        own = ["-include", str(common)] if includes(source, header) else []
        if own:  # it is the first thing that the compiler reads, as precompiled headers must be
            write_common_header(info, common)
            output = Path(f"{common}.gch")
            if not output.exists():
                say(f"precompiling {header}, once")
            step(output, [*compiler, "-x", "c++-header", str(common), "-o", str(output)])
        command = [*compiler, *own, f"-I{source.parent}", "-c", str(source), "-o", f"{binary}.o"]
        files = step(Path(f"{binary}.o"), command)
        more = find_libraries(info, files)
        if more:
            build.make_libraries(more)
        libraries = [*info["libraries"][:-1], *more, info["libraries"][-1]]
        step(binary, get_linker(info, binary, libraries), [f"{binary}.o", *libraries])
    return binary
