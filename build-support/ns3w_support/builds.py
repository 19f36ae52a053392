# SPDX-License-Identifier: GPL-2.0-only
"""Builds of this module: with the release of ns-3, with the wheel of it, or in a tree of the user's."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from .console import CACHE, Failure, locked, say, work
from .edited_files import note_build, set_edited_apart
from .files import read_json, write_if_different, write_whole
from .ns3_release import get_release
from .ns3_versions import requirements
from .profile_training import PROGRAMS, get_profile_key, record_profiles
from .progress import Progress
from .python_environment import environment
from .system_packages import BUILD_TOOLS, MPI_TOOLS, need

MODULE = "distributed-training"
HERE = Path(__file__).resolve().parent.parent.parent
CORES = len(os.sched_getaffinity(0))
EXTENSIONS_VARIABLE = "DISTRIBUTED_TRAINING_EXTENSIONS"
WHEEL = "3.44.post0"
SANITIZERS = "-fsanitize=address,undefined"


def module_list(name):
    """Return a list of CMakeLists.txt, like `wscript`; empty if there is none."""
    text = (HERE / "CMakeLists.txt").read_text()
    found = re.search(rf"^set\({name}\n(.*?)^\)", text, re.M | re.S)
    return found.group(1).split() if found else []


def example_modules():
    """Return the modules of ns-3 that only examples use."""
    examples = module_list("example_names")
    return sorted({module for name in examples for module in module_list(f"{name}_modules")})


class Build:
    """This module, built with one ns-3, in a directory of this checkout."""

    extensions = []  # folders of extensions, the same for all commands
    profile_guided = False
    runner_target = "test-runner"

    def __init__(self, which, version, profile):
        digest = hashlib.sha256(f"{HERE}\n{which}\n{version}".encode()).hexdigest()[:10]
        # No space: configure scripts and makefiles of ns-3 do not expect one.
        self.directory = CACHE / "builds" / f"{re.sub(r'[^A-Za-z0-9._-]', '-', HERE.name)}-{digest}"
        self.version = version
        self.profile = profile
        self.info = self.directory / "build-info.json"
        self.units = self.directory / "units"
        self.cxx_standard, self.cppyy = requirements(version)

    def build_variables(self):
        # Checkouts share ccache, so absolute paths must not matter.
        return {
            **ccache_variables(),
            "CCACHE_BASEDIR": str(self.directory),
            "CCACHE_NOHASHDIR": "1",
            "CCACHE_IGNOREOPTIONS": "-DPROJECT_SOURCE_PATH=* -fmacro-prefix-map=*",
            **os.environ,
        }

    def make(self, *programs):
        """Configure, then build the named examples or everything."""
        with locked(self.directory.name):
            if self.profile_guided:
                self.train()
            self.configure()
            start = time.time()
            set_edited_apart(HERE, self.units, [*module_list("source_files"), *module_list("test_files")])
            self.compile(programs)
            note_build(self.units, start)
            libraries = [library for folder in self.extensions for library in self.extend(folder)]
        if libraries:
            known = filter(None, [os.environ.get(EXTENSIONS_VARIABLE)])
            os.environ[EXTENSIONS_VARIABLE] = os.pathsep.join([*map(str, libraries), *known])

    def extend(self, folder):
        """Build the extension in a folder, against this build; return its shared libraries."""
        digest = hashlib.sha256(str(folder).encode()).hexdigest()[:10]
        binaries = self.directory / "extensions" / f"{folder.name}-{digest}"
        if not (binaries / "build.ninja").exists():
            need(*BUILD_TOOLS)
            command = ["cmake", "-G", "Ninja", "-S", folder, "-B", binaries]
            command += [f"-D{MODULE}_DIR={self.directory}", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"]
            work(f"configuring {folder}", command, binaries / "configure.log")
        ninja(binaries, [], binaries / "build.log", ccache_variables())
        return sorted(binaries.glob("*.so"))

    def make_libraries(self, paths):
        """Build libraries of ns-3 that programs of users need; here they are there."""

    def get_test_targets(self, suites, files):
        """Return what chosen tests need, no target for everything."""
        if suites and not files:
            return [self.runner_target]
        return module_list("example_names") if files and not suites else []

    def python_environment(self, *more):
        """Return the directory of an environment for this build, with more lists of packages."""
        cppyy = [f"cppyy-{self.cppyy}"] if self.cppyy else []
        return environment(self.version, "tools", *cppyy, *more)

    def variables(self):
        """Environment variables of the commands `python`, `shell` and `test`."""
        info = json.loads(self.info.read_text())
        programs = self.directory / "bin"  # with the short names of the examples
        programs.mkdir(exist_ok=True)
        for name, path in info["examples"].items():
            (programs / name).unlink(missing_ok=True)
            (programs / name).symlink_to(path)
        folders = {
            "PATH": [self.python_environment() / "bin", programs],
            "LD_LIBRARY_PATH": [Path(path).parent for path in info["libraries"]],
            "PYTHONPATH": [HERE / "bindings/python"],
        }
        result = dict(os.environ, DISTRIBUTED_TRAINING_BUILD=str(self.info))
        result["PYTHONPYCACHEPREFIX"] = str(self.directory / "pycache")  # keeps the checkout clean
        for name, values in folders.items():
            values = [*dict.fromkeys(map(str, values)), *filter(None, [os.environ.get(name)])]
            result[name] = os.pathsep.join(values)
        use_huge_pages(result)
        return result


def use_huge_pages(variables):
    """Let glibc ask for huge pages, which large networks need (doc/performance/memory.rst)."""
    variables.setdefault("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1")


def ccache_variables():
    """Return the environment of compilers. ccache needs the second variable for precompiled headers."""
    sloppiness = "pch_defines,time_macros,include_file_ctime,include_file_mtime"
    return {"CCACHE_DIR": str(CACHE / "ccache"), "CCACHE_SLOPPINESS": sloppiness, **os.environ}


def ninja(directory, targets, log, variables):
    """Bring targets up to date; takes 0.1 s and is silent if they already are."""
    command = ["ninja", "-C", directory, f"-j{CORES}", *targets]
    # CMake first, if it has to run: the plan is that of a copy, as a dry run would not get beyond this check.
    check = ["ninja", "-C", directory, "build.ninja"]
    subprocess.run(check, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=variables)
    shutil.copyfile(directory / "build.ninja", directory / "plan.ninja")
    dry_run = [*command, "-n", "-f", "plan.ninja"]
    plan = subprocess.run(dry_run, stdout=subprocess.PIPE, text=True, errors="replace").stdout
    steps = {step: get_seconds(step) for step in get_steps(plan)}
    for step in steps:
        if step.endswith(".gch"):  # the preprocessor, which ccache asks, would read an old one
            (directory / step.split()[-1]).unlink(missing_ok=True)
    progress = Progress("steps of the build", steps, steps, say)
    try:
        work(
            f"building ({CORES} at a time)" if steps else None,
            command,
            log,
            lambda line: progress.advance(*get_steps(line)),
            env=variables,
        )
    finally:
        progress.erase()
        if os.environ.get("NS3W_BUILDS"):  # the outputs of all builds, for .ci/run
            with open(os.environ["NS3W_BUILDS"], "a") as builds:
                builds.write(log.read_text(errors="replace"))


def get_steps(output):
    """Return what ninja says it does, without its numbers."""
    return re.findall(r"^\[\d+/\d+\] (.*)", output, re.M)


def get_seconds(step):
    """Return about how long a step takes, for the time left: units of this module are large."""
    if "Building CXX" not in step:
        return 0.2
    return 20 if "/units/" in step and "-edited-" not in step else 2.5


class TreeBuild(Build):
    """Built inside a source tree of ns-3.

    The tree is a folder of links into the original. Two parts are local: contrib/, which adds a link
    to this module, and all outputs of configuring and building. So an original serves any number of
    checkouts and stays unchanged.
    """

    def __init__(self, which, original, mpi=False, sanitize=False):
        variant = which + " with sanitizers" * sanitize + " with profiles" * self.profile_guided
        super().__init__(variant, (original / "VERSION").read_text().strip(), "optimized")
        self.original = original
        self.is_release = which == "source"
        self.mpi = mpi
        self.sanitize = sanitize
        self.binaries = self.directory / "cmake-cache"
        self.units = self.binaries / "contrib" / MODULE / "units"
        self.output = self.directory / "build"
        self.include = self.output / "include"

    def link_tree(self):
        contrib = self.directory / "contrib"
        contrib.mkdir(parents=True, exist_ok=True)
        written = r"build|cmake-cache|testpy-output|contrib|__pycache__|\.git|\.lock-.*|\.waf.*"
        links = {contrib / entry.name: entry for entry in self.original.glob("contrib/*")}
        links[contrib / MODULE] = HERE
        for entry in self.original.iterdir():
            if not re.fullmatch(written, entry.name):
                links[self.directory / entry.name] = entry
        for link, target in links.items():
            link.unlink(missing_ok=True)
            link.symlink_to(target)

    def drop_stale_headers(self):
        """Remove forwarding headers in build/include to moved files, which ns-3 keeps."""
        folder = f"{self.directory}/contrib/{MODULE}/"
        headers = {f'#include "{folder}{name}"' for name in module_list("header_files")}
        stale = [
            stub
            for stub in (self.output / "include/ns3").glob("*.h")
            if folder in (text := stub.read_text()) and text.strip() not in headers
        ]
        for stub in stale:
            stub.unlink()
        return stale

    def train(self):
        """Record profiles, unless those of the last time still fit the code."""
        need(*BUILD_TOOLS)
        stamp = self.directory / "profiles.json"
        key = get_profile_key(HERE)
        if read_json(stamp) == key:
            return
        stamp.unlink(missing_ok=True)
        self.configure("generate")
        ninja(self.binaries, PROGRAMS, self.directory / "build.log", self.build_variables())
        record_profiles(self.binaries, self.example, self.directory / "training.log")
        write_whole(stamp, json.dumps(key))

    def configure(self, profile="use"):
        prefix = f"-fmacro-prefix-map={self.directory}/="
        options = {
            # ns-3's profile `optimized`
            "CMAKE_BUILD_TYPE": "release",
            "NS3_ASSERT": "OFF",
            "NS3_LOG": "OFF",
            "NS3_WARNINGS_AS_ERRORS": "OFF",
            "NS3_NATIVE_OPTIMIZATIONS": "ON",
            # For ccache: precompiled headers and __FILE__ would contain the path of the tree.
            # CMake passes on no quotes, so with a space in it builds do not share objects.
            "NS3_PRECOMPILE_HEADERS": "OFF",
            "CMAKE_CXX_FLAGS": "" if " " in str(self.directory) else prefix,
            # The minimum. NS3_TESTS adds ns-3's module `test`, which needs csma.
            "NS3_EXAMPLES": "ON",
            "NS3_TESTS": "ON",
            "NS3_ENABLED_MODULES": ";".join([MODULE, "csma", *example_modules()]),
            "NS3_FILTER_MODULE_EXAMPLES_AND_TESTS": MODULE,
            "NS3_MPI": "OFF",
            "DISTRIBUTED_TRAINING_NS3_UNITS": "ON" if self.is_release else "OFF",
        }
        if self.sanitize:  # this module only: ccache has ns-3 as it is in the ordinary build
            own = ["-O1", "-g1", "-fno-omit-frame-pointer", "-DNS3_ASSERT_ENABLE"]
            own += [SANITIZERS, "-fno-sanitize-recover=all"]  # a finding ends the program
            options["DISTRIBUTED_TRAINING_COMPILE_OPTIONS"] = ";".join(own)
            options["CMAKE_EXE_LINKER_FLAGS"] = SANITIZERS
            options["CMAKE_SHARED_LINKER_FLAGS"] = SANITIZERS
        if self.profile_guided:
            options["DISTRIBUTED_TRAINING_PROFILE"] = profile
        stamp = self.directory / "configured.json"
        last = read_json(stamp, {})
        if self.mpi or last.get("DISTRIBUTED_TRAINING_MPI"):  # once there, it does no harm
            options["DISTRIBUTED_TRAINING_MPI"] = "ON"
            need(*MPI_TOOLS)
        stale = self.drop_stale_headers()
        if last == options and not stale:
            return
        need(*BUILD_TOOLS, "boost/graph/adjacency_list.hpp")
        self.link_tree()
        command = ["cmake", "-G", "Ninja", "-S", self.directory, "-B", self.binaries]
        command += [f"-D{key}={value}" for key, value in options.items()]
        what = f"configuring ns-{self.version} in {self.directory}"
        work(what, command, self.directory / "configure.log", env=self.build_variables())
        write_whole(stamp, json.dumps(options))

    def compile(self, programs):
        targets = programs or [*module_list("example_names"), "test-runner"]
        targets = [*targets, *[f"{MODULE}-mpi"] * self.mpi]
        ninja(self.binaries, targets, self.directory / "build.log", self.build_variables())
        self.write_build_info()

    def make_libraries(self, paths):
        names = [Path(path).name for path in paths]
        with locked(self.directory.name):
            ninja(self.binaries, names, self.directory / "build.log", self.build_variables())

    def example(self, name):
        program = f"ns{self.version}-{name}-{self.profile}"
        return self.output / "contrib" / MODULE / "examples" / program

    def runner(self):
        return self.output / "utils" / f"ns{self.version}-test-runner-{self.profile}"

    def with_mpi(self):
        """Return the words before a program that has it use MPI."""
        # By name, as a path with a space would be taken for two libraries.
        library = f"LD_PRELOAD=lib{MODULE}-mpi.so"
        return ["env", f"LD_LIBRARY_PATH={self.library_path()}", library]

    def library_path(self):
        """Return LD_LIBRARY_PATH with the libraries of this build first."""
        folders = [str(self.output / "lib"), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
        return os.pathsep.join(folders)

    def write_build_info(self):
        """Describe the build for the Python package and extensions. Keys, all paths absolute:

        ns3_version   such as "3.37"
        profile       such as "optimized"; "sanitized" with sanitizers; "profile-guided"
        cxx_standard  the C++ standard that ns-3's headers need, such as 17
        definitions   preprocessor definitions of the build, such as "NS3_LOG_ENABLE"
        include_dirs  for #include "ns3/x.h"
        libraries     shared libraries in load order; the last one is this module
        examples      name of an example -> its executable (which may not have been built yet)
        cppyy         the compatible version of cppyy, null if there is none
        """
        names = ("core", "stats", "network", "bridge", "traffic-control", "internet", MODULE)
        suffix = f"-{self.profile}.so"
        profile = "profile-guided" if self.profile_guided else self.profile
        profile = "sanitized" if self.sanitize else profile
        libraries = [self.output / f"lib/libns{self.version}-{name}{suffix}" for name in names]
        info = {
            "ns3_version": self.version,
            "profile": profile,
            "cxx_standard": self.cxx_standard,
            "definitions": ["NS3_ASSERT_ENABLE"] if self.sanitize else [],  # logs are off
            "include_dirs": [str(self.include)],
            "libraries": [str(path) for path in libraries if path.exists()],
            "examples": {name: str(self.example(name)) for name in module_list("example_names")},
            "cppyy": self.cppyy,
        }
        write_if_different(self.info, json.dumps(info, indent=2) + "\n")
        write_if_different(
            self.directory / f"{MODULE}-config.cmake",
            f'set(DISTRIBUTED_TRAINING_BUILD "{self.info}")\n'
            f'include("{HERE}/build-support/{MODULE}-config.cmake")\n',
        )


class WafBuild(TreeBuild):
    """As above, for ns-3.35, the last release built by waf."""

    def __init__(self, which, original, mpi=False):
        super().__init__(which + " with MPI" * mpi, original, mpi)
        self.include = self.output

    def waf(self, what, *words):
        log = self.directory / f"{words[0]}.log"
        work(what, [sys.executable, "waf", *words], log, cwd=self.directory)

    def configure(self):
        if (self.directory / f".lock-waf_{sys.platform}_build").exists():
            return
        if sys.version_info >= (3, 12):
            raise Failure(f"ns-{self.version} is built by waf, which needs Python 3.11 or older")
        need("c++", "sqlite3.h", "zlib.h", "boost/graph/adjacency_list.hpp", "pkg-config")
        self.link_tree()
        options = ["--build-profile=optimized", "--enable-tests", "--enable-examples"]
        options += [f"--enable-modules={','.join([MODULE, *example_modules()])}", "--enable-rpath"]
        options += ["--disable-werror"]  # 3.35 is older than today's warnings
        if self.mpi:
            need(*MPI_TOOLS)
            options += ["--enable-mpi"]
        self.waf(f"configuring ns-{self.version} in {self.directory}", "configure", *options)

    def make_libraries(self, paths):
        pass  # waf builds all

    def with_mpi(self):
        return []  # ns-3's own option

    def compile(self, programs):
        self.waf("building by waf", "build", f"-j{CORES}")
        # Programs and libraries of waf do not know where the libraries are.
        os.environ["LD_LIBRARY_PATH"] = self.library_path()
        self.write_build_info()


class WheelBuild(Build):
    """Only this module, built standalone against the ns-3 of the pip wheel."""

    def __init__(self):
        super().__init__("wheel", WHEEL.split(".post")[0], "release")
        # Where tests look for their data; the same path from all builds, for ccache.
        self.source = self.directory / "contrib" / MODULE

    def configure(self):
        environment(self.version, "wheel")
        need(*BUILD_TOOLS, "boost/graph/adjacency_list.hpp")
        if (self.directory / "build.ninja").exists():
            return
        self.source.parent.mkdir(parents=True, exist_ok=True)
        self.source.unlink(missing_ok=True)
        self.source.symlink_to(HERE)
        command = ["cmake", "-G", "Ninja", "-S", self.source, "-B", self.directory]
        command += [f"-D{name}={value}" for name, value in self.definitions().items()]
        work(f"configuring in {self.directory}", command, self.directory / "configure.log")

    def definitions(self):
        """Return what CMake is told: by ns3w, and by scikit-build-core for pip."""
        python = environment(self.version, "wheel")
        prefix = next(python.glob("lib/python*/site-packages/ns3"))
        return {"CMAKE_PREFIX_PATH": prefix, "CMAKE_CXX_COMPILER_LAUNCHER": "ccache"}

    def compile(self, programs):
        log = self.directory / "build.log"
        ninja(self.directory, programs or ["all"], log, self.build_variables())

    def example(self, name):
        return self.directory / "examples" / name

    def runner(self):
        return self.directory / "test-runner"


def select_build(which, mpi=False, sanitize=False):
    if Build.profile_guided and (mpi or sanitize):
        other = "--mpi" if mpi else "--sanitize"
        raise Failure(f"--profile-guided {other}: allowed is one of them")
    if Build.profile_guided and which == "wheel":
        raise Failure("--profile-guided --ns3=wheel: allowed with --ns3=source or PATH")
    if which == "wheel":
        if mpi:
            raise Failure("--mpi --ns3=wheel: allowed with --ns3=source or PATH")
        if sanitize:
            raise Failure(
                "--sanitize: the ns-3 of the wheel is built; allowed with --ns3=source or PATH"
            )
        return WheelBuild()
    if which == "source":
        return TreeBuild(which, get_release(), mpi, sanitize)
    original = Path(which).expanduser().resolve()
    if not (original / "VERSION").is_file() or not (original / "src/core").is_dir():
        raise Failure(f"--ns3={which}: allowed are source, wheel, and the path of an ns-3 tree")
    if (original / "waf").exists():
        if sanitize or Build.profile_guided:
            option = "--sanitize" if sanitize else "--profile-guided"
            raise Failure(f"{option}: ns-3 in {original} is built by waf; allowed is 3.36 or newer")
        return WafBuild(str(original), original, mpi)
    return TreeBuild(str(original), original, mpi, sanitize)
