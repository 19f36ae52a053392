# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the script `ns3w` and of the lists of files that it shares with the builds."""

import contextlib
import hashlib
import http.server
import importlib.machinery
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import threading
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def ns3_release(ns3w):
    """The part of the script that gets the release of ns-3."""
    return sys.modules["ns3w_support.ns3_release"]


@pytest.fixture
def builds(ns3w):
    """The part of the script that builds."""
    return sys.modules["ns3w_support.builds"]


@pytest.fixture
def ns3w(tmp_path, monkeypatch):
    """The script as a Python module, with an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in [name for name in sys.modules if name.startswith("ns3w_support")]:
        monkeypatch.delitem(sys.modules, name)  # read the place of the cache again
    loader = importlib.machinery.SourceFileLoader("ns3w", str(ROOT / "ns3w"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("ns3w", loader))
    loader.exec_module(module)
    return module


def call(tmp_path, *words, **variables):
    environment = dict(os.environ, NS3_DIR="", XDG_CACHE_HOME=str(tmp_path / "cache"))
    environment.update(variables)
    return subprocess.run(
        [sys.executable, ROOT / "ns3w", *words], env=environment, capture_output=True, text=True
    )


def fake_tree(path, version="3.40"):
    """A folder that looks like an ns-3 tree, with what a user's own build leaves behind."""
    (path / "src/core").mkdir(parents=True)
    (path / "contrib/other").mkdir(parents=True)
    (path / "build").mkdir()
    (path / "VERSION").write_text(version + "\n")
    (path / ".lock-ns3_linux_build").write_text("mine")
    return path


@pytest.mark.parametrize(
    "name, patterns",
    [
        ("source_files", ["model/**/*.cc", "helper/**/*.cc", "program/**/*.cc"]),
        ("test_files", ["test/*.cc"]),
        ("example_names", ["examples/programs/*.cc", "examples/papers/*.cc"]),
    ],
)
def test_lists_of_files_are_complete_and_sorted(ns3w, name, patterns):
    found = [str(path.relative_to(ROOT)) for pattern in patterns for path in ROOT.glob(pattern)]
    if name == "example_names":
        found = [Path(path).stem for path in found]
    assert ns3w.module_list(name) == sorted(found)


def test_every_source_begins_with_copyright_and_licence():
    header = (
        "/*\n * Copyright (c) 2026 The distributed-training authors\n *\n"
        " * SPDX-License-Identifier: GPL-2.0-only\n */\n"
    )
    folders = ("model", "helper", "program", "examples", "test")
    sources = [path for folder in folders for path in ROOT.joinpath(folder).rglob("*.[hc]*")]
    sources = [path for path in sources if path.suffix in (".h", ".cc")]
    assert len(sources) > 300
    assert [path for path in sources if not path.read_text().startswith(header)] == []


def test_public_headers_exist_and_all_headers_have_names_of_their_own(ns3w):
    public = ns3w.module_list("header_files")
    headers = [path for room in ("model", "helper", "program") for path in ROOT.glob(f"{room}/**/*.h")]
    assert public == sorted(set(public))
    assert set(public) < {str(path.relative_to(ROOT)) for path in headers}
    assert len({path.name for path in headers}) == len(headers)


def test_help_fits_on_a_screen(tmp_path):
    result = call(tmp_path, "--help")
    lines = result.stdout.splitlines()
    assert result.returncode == 0
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 100
    for word in ("run", "test", "python", "shell", "clean", "source", "wheel", "PATH", "NS3_DIR"):
        assert word in result.stdout
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["fly"],
        ["--ns3=wheel", "fly"],
        ["--ns3=/does/not/exist", "test"],
        ["clean", "--everything"],
        ["run", "training-job", "--mpi=0"],
        ["run", "training-job", "--hostfile=machines"],
        ["run", "training-job", "--mpi=2", "--hostfile=/does/not/exist"],
        ["run", "training-job", "--plot-topology=torus"],
        ["--extension=/does/not/exist", "run", "training-job"],
        [f"--extension={ROOT / 'test/extensions/topology'}", "clean"],
        ["run", "training-job --x='"],
        ["run", "two\nlines\x1b[31m\udcff"],
        ["test", "--mpi", "--sanitize"],
        ["--ns3=wheel", "test", "--sanitize"],
        ["--profile-guided", "--ns3=wheel", "build"],
        ["--profile-guided", "test", "--sanitize"],
        ["--profile-guided", "run", "training-job", "--mpi=2"],
        ["--profile-guided", "clean"],
        ["--profile-guided", "info"],
        ["--profile-guided=yes", "build"],
    ],
)
def test_wrong_arguments_are_refused_by_one_line(tmp_path, words):
    result = call(tmp_path, *words)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("ns3w: ")
    assert result.stderr.count("\n") == 1
    assert result.stderr[:-1].isprintable()
    assert "allowed" in result.stderr


@pytest.mark.parametrize(
    "text, line",
    [
        ("one slots=2\n\n# more\ntwo.org slots = 30 # big\n10.0.0.1", None),
        ("one slots=2\ntwo slots=0", ":2: two slots=0: allowed are NAME and NAME slots=N"),
        ("one two", ":1: one two: allowed are"),
        ("", " has 0 slots; allowed is up to that"),
        ("one slots=32", " has 32 slots; allowed is up to that"),
    ],
)
def test_files_of_machines(tmp_path, ns3w, monkeypatch, text, line):
    mpi = sys.modules["ns3w_support.mpi"]
    commands = []
    monkeypatch.setattr(mpi.os, "execvpe", lambda *words: commands.append(words))
    file = tmp_path / "machines"
    file.write_text(text, encoding="ascii")
    if line:
        with pytest.raises(ns3w.Failure) as failure:
            mpi.mpi_run("33", ["program"], 2, str(file))
        assert line in str(failure.value) and not commands
        return
    assert mpi.count_slots(str(file)) == 33
    mpi.mpi_run("33", ["program"], 2, str(file))
    _, command, environment = commands[0]
    assert command == ["mpirun", "--hostfile", str(file), "-n", "33", "program"]
    assert mpi.PARENT_VARIABLE not in environment  # the process is on another machine


def test_unusable_cache_is_refused_by_one_line(tmp_path):
    tree = fake_tree(tmp_path / "tree")
    (tmp_path / "file").write_text("")
    for home in (Path("/dev/null"), tmp_path / "file"):
        result = call(tmp_path, "build", NS3_DIR=str(tree), XDG_CACHE_HOME=str(home))
        assert result.returncode == 2
        assert result.stderr.startswith(f"ns3w: {home}/distributed-training")
        assert result.stderr.count("\n") == 1
        assert "allowed by XDG_CACHE_HOME" in result.stderr


def test_relative_cache_home_is_ignored(tmp_path, ns3w, monkeypatch):
    cache_home = sys.modules["ns3w_support.console"].cache_home
    assert cache_home() == tmp_path / "cache"
    monkeypatch.setenv("HOME", str(tmp_path))
    for value in ("cache", "./cache", ""):
        monkeypatch.setenv("XDG_CACHE_HOME", value)
        assert cache_home() == tmp_path / ".cache"


def test_spaces_in_paths(tmp_path, builds, ns3w, monkeypatch):
    monkeypatch.setattr(builds, "HERE", tmp_path / "my check-out")
    monkeypatch.setattr(builds, "CACHE", tmp_path / "my cache")
    monkeypatch.setattr(builds, "module_list", lambda name: [])
    build = ns3w.select_build(str(fake_tree(tmp_path / "tree")))
    assert build.directory.parent == tmp_path / "my cache/builds"
    assert build.directory.name.startswith("my-check-out-")
    commands = []
    monkeypatch.setattr(builds, "need", lambda *names: None)
    monkeypatch.setattr(builds, "work", lambda what, command, *rest, **more: commands.append(command))
    build.configure()
    # CMake would divide it.
    flags = [word for word in commands[0] if str(word).startswith("-DCMAKE_CXX_FLAGS=")]
    assert flags == ["-DCMAKE_CXX_FLAGS="]


@pytest.mark.parametrize("line", ["no-such-program", "no-such-program " + 99 * "--option "])
def test_unknown_program_is_refused_before_anything_is_built(tmp_path, ns3w, line):
    """Also if the quoted line is too long for the name of a file."""
    tree = fake_tree(tmp_path / "tree")
    result = call(tmp_path, "run", line, NS3_DIR=str(tree))
    assert result.returncode == 2
    assert "training-job" in result.stderr
    assert not (tmp_path / "cache").exists()


def test_tree_is_mirrored_and_left_alone(tmp_path, ns3w):
    tree = fake_tree(tmp_path / "tree")
    before = sorted(map(str, tree.rglob("*")))
    build = ns3w.select_build(str(tree))
    build.link_tree()
    build.link_tree()
    assert sorted(map(str, tree.rglob("*"))) == before
    assert (build.directory / "contrib/distributed-training").resolve() == ROOT
    assert (build.directory / "contrib/other").resolve() == tree / "contrib/other"
    assert (build.directory / "src/core").resolve() == tree / "src/core"
    assert not (build.directory / "build").exists()
    assert not (build.directory / ".lock-ns3_linux_build").exists()


REQUIREMENTS = [
    ("3.36", 17, "2.4.2"),
    ("3.37", 17, "2.4.2"),
    ("3.40", 17, "2.4.2"),
    ("3.41", 20, "2.4.2"),
    ("3.42", 20, "3.5.0"),
    ("3.44", 20, "3.5.0"),
    ("3.45", 20, "3.5.0"),
    ("3.46.1", 23, "3.5.0"),
    ("3.48", 23, "3.5.0"),
    ("3-dev", 23, "3.5.0"),
]


@pytest.mark.parametrize("version, standard, cppyy", [("3.35", 17, None), *REQUIREMENTS])
def test_standard_and_cppyy_follow_the_release(tmp_path, ns3w, version, standard, cppyy):
    build = ns3w.select_build(str(fake_tree(tmp_path / "tree", version)))
    assert (build.cxx_standard, build.cppyy) == (standard, cppyy)


@pytest.mark.skipif(not shutil.which("cmake"), reason="there is no cmake")
def test_cmake_reads_the_same_requirements(tmp_path):
    script = tmp_path / "script.cmake"
    lines = [f"include({ROOT}/build-support/ns3-versions.cmake)"]
    for version, _, _ in REQUIREMENTS:
        lines.append(f"get_ns3_requirements({version} standard cppyy)")
        lines.append(f'message("{version} ${{standard}} ${{cppyy}}")')
    script.write_text("\n".join(lines))
    result = subprocess.run(["cmake", "-P", script], capture_output=True, text=True, check=True)
    assert [tuple(line.split()) for line in result.stderr.splitlines()] == [
        (version, str(standard), cppyy) for version, standard, cppyy in REQUIREMENTS
    ]


def test_documented_versions_are_those_of_the_table(ns3w):
    text = (ROOT / "doc/versions.rst").read_text()
    table = text[text.index(":name: versions") :].split("\n\nThe C++", 1)[0]
    rows = [re.split(r"\n     - ", row.strip()) for row in re.split(r"\n   \* - ", table)[2:]]
    documented = [(row[0].split()[0], row[2].strip(), row[3].strip()) for row in rows]
    lines = (ROOT / "build-support/ns3-versions.txt").read_text().splitlines()
    assert documented == [tuple(line.split()) for line in lines if line.strip().startswith("3.")]


def test_version_is_written_once():
    version = (ROOT / "VERSION").read_text().strip()
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    package = ROOT / "bindings/python/distributed_training"
    assert (package / "VERSION").resolve() == ROOT / "VERSION"
    command = [sys.executable, "-c", "import distributed_training as dt; print(dt.__version__)"]
    environment = {**os.environ, "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    assert subprocess.check_output(command, env=environment, text=True).strip() == version
    folders = ("model", "helper", "program", "examples", "bindings", "build-support", "doc")
    sources = [path for folder in folders for path in ROOT.joinpath(folder).rglob("*.*")]
    sources += [ROOT / "CMakeLists.txt", ROOT / "ns3w", ROOT / "wscript"]
    copies = [
        path for path in sources if path.is_file() and f'"{version}"' in path.read_text("latin-1")
    ]
    assert copies == []
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"\n## {version}" in (ROOT / "CHANGES.md").read_text()


def test_sanitizers_have_a_build_of_their_own(tmp_path, builds, ns3w, monkeypatch):
    tree = str(fake_tree(tmp_path / "tree"))
    commands = []
    monkeypatch.setattr(builds, "need", lambda *names: None)
    monkeypatch.setattr(builds, "work", lambda what, command, *rest, **more: commands.append(command))
    both = [ns3w.select_build(tree), ns3w.select_build(tree, sanitize=True)]
    assert both[0].directory != both[1].directory
    found = []
    for build, profile, definitions in (
        (both[0], "optimized", []),
        (both[1], "sanitized", ["NS3_ASSERT_ENABLE"]),
    ):
        build.configure()
        words = [str(word).replace(str(build.directory), "BUILD") for word in commands.pop()]
        found.append({word for word in words if word.startswith("-D")})
        build.write_build_info()
        info = json.loads(build.info.read_text())
        assert (info["profile"], info["definitions"]) == (profile, definitions)
        assert info["examples"]["training-job"].endswith("-training-job-optimized")
    # What compiles ns-3 is the same, so ccache has it.
    assert found[0] <= found[1]
    added = dict(word.split("=", 1) for word in found[1] - found[0])
    assert set(added) == {
        "-DDISTRIBUTED_TRAINING_COMPILE_OPTIONS",
        "-DCMAKE_EXE_LINKER_FLAGS",
        "-DCMAKE_SHARED_LINKER_FLAGS",
    }
    assert all("-fsanitize=address,undefined" in value for value in added.values())


def test_programs_use_huge_pages_unless_told_otherwise(builds):
    variables = {}
    builds.use_huge_pages(variables)
    assert variables == {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
    variables = {"GLIBC_TUNABLES": "mine"}
    builds.use_huge_pages(variables)
    assert variables == {"GLIBC_TUNABLES": "mine"}


def test_profiles_are_recorded_again_when_code_changes(tmp_path, builds, ns3w, monkeypatch):
    """A build of its own, in two steps: instrumented and run, then compiled with the profiles."""
    training = sys.modules["ns3w_support.profile_training"]
    here = tmp_path / "checkout"
    for name in ("model/fabric/port.cc", "model/fabric/port.h", "model/system/job.cc"):
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text(name)
    done = []
    rooms = list(training.ROOMS)

    def work(what, command, *rest, **more):
        words = [str(word) for word in command]
        profile = [word for word in words if word.startswith("-DDISTRIBUTED_TRAINING_PROFILE=")]
        done.append("".join(profile).rpartition("=")[2] or what.split()[0])
        if done[-1] == "training":
            assert "--steady-state=simulate" in words
            for room in rooms:
                folder = more["cwd"] / f"obj/model/{room}"
                folder.mkdir(parents=True, exist_ok=True)
                (folder / "x.gcda").write_text("profile")

    for module in (builds, training):
        monkeypatch.setattr(module, "work", work)
    tree = str(fake_tree(tmp_path / "tree"))
    ordinary = ns3w.select_build(tree)
    monkeypatch.setattr(builds, "need", lambda *names: None)
    monkeypatch.setattr(builds, "ninja", lambda *words: done.append("ninja"))
    monkeypatch.setattr(builds, "module_list", lambda name: [])
    monkeypatch.setattr(builds, "HERE", here)
    monkeypatch.setattr(training, "get_compiler", lambda: "gcc 12")
    monkeypatch.setattr(ns3w.Build, "profile_guided", True)
    build = ns3w.select_build(tree)
    assert build.directory != ordinary.directory

    def make():
        done.clear()
        build.make("training-job")
        return done

    everything = ["generate", "ninja", *["training"] * len(training.RUNS), "use", "ninja"]
    assert make() == everything
    assert json.loads(build.info.read_text())["profile"] == "profile-guided"
    assert make() == ["ninja"]
    (here / "model/system/job.cc").write_text("not profiled")
    assert make() == ["ninja"]
    for name in ("model/fabric/port.cc", "model/fabric/port.h"):
        (here / name).write_text("changed")
        assert make() == everything
    monkeypatch.setattr(training, "get_compiler", lambda: "gcc 13")
    assert make() == everything
    # Runs without a profile of each room count for nothing, and profiles of earlier runs are gone.
    (here / "model/fabric/port.h").write_text("changed again")
    missing = rooms.pop()
    for _ in range(2):
        with pytest.raises(ns3w.Failure, match=f"no profile of model/{missing}"):
            make()
        assert done[-1] == "training"
    rooms.append(missing)
    assert make()[-2:] == ["use", "ninja"]
    assert make() == ["ninja"]


def test_profiled_rooms_are_those_of_cmake(ns3w):
    training = sys.modules["ns3w_support.profile_training"]
    text = (ROOT / "build-support/profile-guided.cmake").read_text()
    assert f'"^model/({"|".join(training.ROOMS)})/"' in text
    assert all((ROOT / "model" / room).is_dir() for room in training.ROOMS)
    assert set(training.PROGRAMS) <= set(ns3w.module_list("example_names"))


@pytest.mark.parametrize(
    "text, allowed",
    [
        ("c++ (Debian 12.2.0) 12.2.0\nCopyright (C) 2022 Free Software Foundation, Inc.", True),
        ("Debian clang version 14.0.6\nTarget: x86_64-pc-linux-gnu", False),
        ("", False),
    ],
)
def test_profiles_need_gcc(tmp_path, ns3w, monkeypatch, text, allowed):
    compiler = tmp_path / "compiler"
    compiler.write_text(f"#!/bin/sh\ncat << 'END'\n{text}\nEND\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    get_compiler = sys.modules["ns3w_support.profile_training"].get_compiler
    if allowed:
        assert get_compiler() == text.splitlines()[0]
        return
    with pytest.raises(ns3w.Failure, match="--profile-guided: the compiler is .*; allowed is gcc"):
        get_compiler()


@pytest.mark.parametrize("text", ["", "{", '["cut', "\udcff", "[]"])
def test_damaged_records_count_as_absent(tmp_path, builds, monkeypatch, text):
    """A kill or a full disk may have left them, before they were written whole."""
    build = builds.select_build(str(fake_tree(tmp_path / "tree")))
    python = tmp_path / "cache/distributed-training"
    python /= f"python{sys.version_info[0]}.{sys.version_info[1]}-ns-3.40"
    done = []
    for module in (builds, sys.modules["ns3w_support.python_environment"]):
        monkeypatch.setattr(module, "need", lambda *names: None)
        monkeypatch.setattr(
            module, "work", lambda what, *rest, **more: done.append(what.split()[0])
        )
    for stamp, action, expected in [
        (build.directory / "configured.json", build.configure, ["configuring"]),
        (python / "installed.json", build.python_environment, ["making", *["installing"] * 5]),
    ]:
        done.clear()
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.write_bytes(text.encode("utf-8", "surrogateescape"))
        action()
        assert done == expected
        assert json.loads(stamp.read_text())
        action()
        assert done == expected  # not again


def test_files_are_written_whole_or_not_at_all(tmp_path, builds, monkeypatch):
    path = tmp_path / "record.json"
    builds.write_whole(path, "old")

    def full(*paths):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError):
        builds.write_whole(path, "new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["record.json"]
    assert path.read_text() == "old"


def test_python_packages_are_pinned_with_hashes(builds):
    lists = {path.stem: path for path in ROOT.glob("build-support/python-packages/*.txt")}
    versions = {cppyy for _, _, cppyy in REQUIREMENTS}
    assert set(lists) == {"ci", "tests", "tools", "wheel"} | {f"cppyy-{version}" for version in versions}
    for name, path in lists.items():
        entries = re.sub(r" \\\n +", " ", path.read_text()).splitlines()
        entries = [line for line in entries if line and not line.startswith("#")]
        for line in entries:
            pin = r"[A-Za-z0-9-]+==[\w.]+( ; [^-]+)?( --hash=sha256:[0-9a-f]{64})+"
            assert re.fullmatch(pin, line), (name, line)
        if name.startswith("cppyy"):
            assert name.replace("cppyy-", "cppyy==") in [line.split()[0] for line in entries]
    assert f"ns3=={builds.WHEEL}" in lists["wheel"].read_text()


def test_stale_forwarding_headers_are_removed(tmp_path, ns3w):
    build = ns3w.select_build(str(fake_tree(tmp_path / "tree")))
    folder = build.output / "include/ns3"
    folder.mkdir(parents=True)
    current = ns3w.module_list("header_files")[0]
    contrib = build.directory / "contrib/distributed-training"
    (folder / Path(current).name).write_text(f'#include "{contrib}/{current}"\n')
    (folder / "moved.h").write_text(f'#include "{contrib}/model/elsewhere/moved.h"\n')
    (folder / "node.h").write_text(f'#include "{build.directory}/src/network/model/node.h"\n')
    build.drop_stale_headers()
    assert sorted(path.name for path in folder.iterdir()) == sorted([Path(current).name, "node.h"])


def make_release(tmp_path):
    """A small archive of the release's shape."""
    source = tmp_path / "ns-allinone-3.37"
    (source / "ns-3.37/src/core").mkdir(parents=True)
    (source / "ns-3.37/doc").mkdir()
    (source / "netanim").mkdir()
    (source / "ns-3.37/VERSION").write_text("3.37\n")
    (source / "ns-3.37/doc/manual").write_text("long")
    archive = tmp_path / "archive.tar.bz2"
    with tarfile.open(archive, "w:bz2") as tar:
        tar.add(source, source.name)
    return archive


def test_unpacked_files_belong_to_whoever_unpacks_them(tmp_path, ns3_release, monkeypatch):
    source = tmp_path / "ns-allinone-3.37/ns-3.37"
    source.mkdir(parents=True)
    (source / "VERSION").write_text("3.37\n")
    (source / "VERSION").chmod(0o666)
    archive = tmp_path / "archive.tar.bz2"

    def by_somebody(member):
        member.uid = member.gid = 1000
        return member

    with tarfile.open(archive, "w:bz2") as tar:
        tar.add(source.parent, source.parent.name, filter=by_somebody)
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    monkeypatch.setattr(ns3_release, "RELEASE_SHA256", digest)
    monkeypatch.setattr(ns3_release, "RELEASE_URL", archive.as_uri())
    state = (ns3_release.get_release() / "VERSION").stat()
    assert (state.st_uid, state.st_gid) == (os.geteuid(), os.getegid())
    assert state.st_mode & 0o777 == 0o644


class Server(http.server.BaseHTTPRequestHandler):
    """Serves `content` with ranges; cuts each connection after `cut` bytes."""

    content = b""
    cut = None
    asked = []

    def do_GET(self):
        first = int(self.headers.get("Range", "bytes=0-")[len("bytes=") : -1])
        self.asked.append(first)
        if first and first >= len(self.content):
            return self.send_error(416)
        self.send_response(206 if first else 200)
        self.send_header("Content-Length", str(len(self.content) - first))
        self.end_headers()
        end = None if self.cut is None else first + self.cut
        self.wfile.write(self.content[first:end])

    def log_message(self, *words):
        pass


@pytest.fixture
def server(tmp_path, ns3_release, monkeypatch):
    """Serves the archive of a release. The part of it that is downloaded is server.part."""
    archive = make_release(tmp_path).read_bytes() + bytes(10000)
    handler = type("Handler", (Server,), {"content": archive, "asked": []})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as here:
        threading.Thread(target=here.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{here.server_port}/ns.tar.bz2"
        monkeypatch.setattr(ns3_release, "RELEASE_URL", url)
        monkeypatch.setattr(ns3_release, "RELEASE_SHA256", hashlib.sha256(archive).hexdigest())
        monkeypatch.setenv("no_proxy", "*")

        def no_debian(directory):
            raise OSError("not here")

        monkeypatch.setattr(ns3_release, "download_from_debian", no_debian)
        handler.part = ns3_release.CACHE / "downloads/ns.tar.part"
        handler.part.parent.mkdir(parents=True)
        yield handler
        here.shutdown()


def test_cut_download_is_continued(ns3_release, server):
    server.cut = 4000
    assert (ns3_release.get_release() / "VERSION").read_text() == "3.37\n"
    assert server.asked == list(range(0, len(server.content), 4000))
    assert not server.part.exists()


@pytest.mark.parametrize(
    "kept, asked",
    [
        (lambda whole: whole[:5000], [5000]),
        (lambda whole: whole, []),
        (lambda whole: whole + b"more", ["size + 4", 0]),
        (lambda whole: bytes(len(whole)), ["size", 0]),
        (lambda whole: bytes(5000), [5000, 0]),
    ],
    ids=["part", "whole", "too long", "wrong", "wrong part"],
)
def test_killed_download_is_continued_or_repeated(ns3_release, server, kept, asked):
    server.part.write_bytes(kept(server.content))
    ns3_release.get_release()
    assert server.asked == [eval(str(each), {"size": len(server.content)}) for each in asked]


def test_server_that_brings_nothing_is_given_up_and_the_part_kept(ns3_release, server):
    server.part.write_bytes(server.content[:5000])
    server.cut = 0
    with pytest.raises(ns3_release.Failure, match="cut after 5000 of"):
        ns3_release.get_release()
    assert server.asked == [5000]
    assert server.part.read_bytes() == server.content[:5000]


def test_server_with_something_else_is_given_up(ns3_release, server):
    server.content = bytes(20000)
    with pytest.raises(ns3_release.Failure, match="wrong SHA-256"):
        ns3_release.get_release()
    assert server.asked == [0]
    assert not server.part.exists()


def test_release_is_verified_unpacked_and_kept(tmp_path, ns3_release, monkeypatch):
    archive = make_release(tmp_path)
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    monkeypatch.setattr(ns3_release, "RELEASE_SHA256", digest)
    monkeypatch.setattr(ns3_release, "RELEASE_URL", archive.as_uri())
    release = ns3_release.get_release()
    assert (release / "VERSION").read_text() == "3.37\n"
    assert (release / "src/core").is_dir()
    assert not (release / "doc").exists()
    assert not (release / "netanim").exists()
    archive.unlink()
    assert ns3_release.get_release() == release


def test_wrong_or_missing_archives_are_refused(tmp_path, ns3_release, monkeypatch):
    def no_debian(directory):
        raise OSError("not here")

    monkeypatch.setattr(ns3_release, "RELEASE_URL", make_release(tmp_path).as_uri())
    monkeypatch.setattr(ns3_release, "download_from_debian", no_debian)
    with pytest.raises(ns3_release.Failure) as failure:
        ns3_release.get_release()
    assert "wrong SHA-256" in str(failure.value)
    assert "not here" in str(failure.value)
    assert failure.value.status == 2
    assert not (ns3_release.CACHE / "ns-3.37").exists()


def test_killed_unpacking_is_repeated(tmp_path, ns3_release, monkeypatch):
    archive = make_release(tmp_path)
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    monkeypatch.setattr(ns3_release, "RELEASE_SHA256", digest)
    monkeypatch.setattr(ns3_release, "RELEASE_URL", archive.as_uri())
    partial = ns3_release.CACHE / "unpacking-ns-3.37"
    partial.mkdir(parents=True)
    (partial / "half-of-a-file").write_text("")
    release = ns3_release.get_release()
    assert not (release / "half-of-a-file").exists()


def test_missing_packages_without_rights_name_the_command(tmp_path, builds, ns3w, monkeypatch):
    def which(name):
        return "/usr/bin/apt-get" if name == "apt-get" else None

    monkeypatch.setattr(shutil, "which", which)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(ns3w.Failure) as failure:
        builds.need("ninja", "cmake")
    assert "sudo apt-get install" in str(failure.value)
    assert "ninja-build cmake" in str(failure.value)
    assert failure.value.status == 2


def test_log_of_packages_is_in_the_cache(builds, ns3w, monkeypatch):
    packages = sys.modules["ns3w_support.system_packages"]
    logs = []
    monkeypatch.setattr(
        shutil, "which", lambda name: "/usr/bin/apt-get" if name == "apt-get" else None
    )
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(packages, "work", lambda what, command, log, **rest: logs.append(log))
    builds.need("ninja")
    assert {log.parent for log in logs} == {ns3w.CACHE}


def test_logs_do_not_follow_links(tmp_path, builds):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    log = tmp_path / "log"
    log.symlink_to(victim)
    with contextlib.suppress(OSError):
        builds.work("trying", ["echo", "output"], log)
    assert victim.read_text() == "precious"


def test_two_at_once_wait_for_each_other(tmp_path, ns3w):
    code = "import sys, fcntl; f = open(sys.argv[1], 'w'); fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)"
    lock = ns3w.CACHE / "locks/something"
    with ns3w.locked("something"):
        assert subprocess.run([sys.executable, "-c", code, lock], capture_output=True).returncode
    assert not subprocess.run([sys.executable, "-c", code, lock], capture_output=True).returncode


def test_failing_command_shows_the_end_of_its_output(tmp_path, builds, ns3w, capsys):
    with pytest.raises(ns3w.Failure) as failure:
        builds.work("trying", ["sh", "-c", "echo reason; exit 3"], tmp_path / "log")
    assert failure.value.status == 1
    assert "reason" in capsys.readouterr().err


def test_build_says_how_far_it_is(tmp_path, builds, monkeypatch, capsys):
    (tmp_path / "build.ninja").write_text(
        "rule touch\n  command = echo warned && touch $out\n  description = Building CXX object $out\n"
        "build one: touch\nbuild two: touch one\n"
    )
    monkeypatch.setattr(sys.modules["ns3w_support.progress"], "PIPE_SECONDS", 0)
    builds.ninja(tmp_path, ["two"], tmp_path / "log", dict(os.environ))
    said = capsys.readouterr().err
    assert "building" in said
    assert "1 of 2 steps of the build, 0 min" in said and "2 of 2 steps of the build\n" in said
    assert "warned" not in said and "warned" in (tmp_path / "log").read_text()
    builds.ninja(tmp_path, ["two"], tmp_path / "log", dict(os.environ))
    assert capsys.readouterr().err == ""


def test_build_has_a_plan_after_a_change_of_its_rules(tmp_path, builds, monkeypatch, capsys):
    rules = (
        "rule configure\n  command = cp new.ninja build.ninja\n  generator = 1\n"
        "build build.ninja: configure new.ninja\n"
    )
    (tmp_path / "build.ninja").write_text(rules + "build one: phony\n")
    more = "rule touch\n  command = touch $out\n  description = Building CXX object $out\n"
    (tmp_path / "new.ninja").write_text(rules + more + "build one: touch\n")
    os.utime(tmp_path / "build.ninja", (0, 0))
    monkeypatch.setattr(sys.modules["ns3w_support.progress"], "PIPE_SECONDS", 0)
    builds.ninja(tmp_path, ["one"], tmp_path / "log", dict(os.environ))
    assert "1 of 1 steps of the build\n" in capsys.readouterr().err


def test_outputs_of_all_builds_are_collected(tmp_path, builds, ns3w, monkeypatch):
    """An earlier build of a run may have warnings; its log is replaced by that of the next one."""
    outputs = tmp_path / "builds"
    monkeypatch.setenv("NS3W_BUILDS", str(outputs))
    status = iter([0, 1])

    (tmp_path / "build.ninja").touch()

    def work(what, command, log, show, env):
        log.write_text(f"warning of {command[-1]}\n")
        if next(status):
            raise ns3w.Failure("failed")

    monkeypatch.setattr(builds, "work", work)
    builds.ninja(tmp_path, ["one"], tmp_path / "build.log", {})
    with pytest.raises(ns3w.Failure):
        builds.ninja(tmp_path, ["two"], tmp_path / "build.log", {})
    assert outputs.read_text() == "warning of one\nwarning of two\n"


@pytest.mark.skipif(not shutil.which("cmake"), reason="there is no cmake")
def test_edited_files_have_units_of_their_own(tmp_path, ns3w):
    edited_files = sys.modules["ns3w_support.edited_files"]
    names = [f"model/core/{letter}.cc" for letter in "abcdefghi"]
    units = tmp_path / "units"
    for folder in (units, tmp_path / "model/core"):
        folder.mkdir(parents=True)
    (tmp_path / "build-support").symlink_to(ROOT / "build-support")
    for name in names:
        (tmp_path / name).touch()
    (units / "library.txt").write_text("".join(f"library-core-1.cc {n} ../{n}\n" for n in names))
    (units / "test.txt").touch()
    for number in range(1, 9):
        (units / f"library-edited-{number}.cc").touch()
    edited_files.note_build(units, time.time() + 60)

    def edit(*edited):
        for name in edited:
            os.utime(tmp_path / name, times=(time.time(), time.time() + 120))
        edited_files.set_edited_apart(tmp_path, units, names)
        texts = [path.read_text() for path in sorted(units.glob("*.cc"))]
        return [files for text in texts if (files := re.findall(r'#include "../(.*)"', text))]

    assert edit(names[1]) == [[names[0], *names[2:]], [names[1]]]
    assert edit(names[0]) == [names[2:], [names[0]], [names[1]]]
    assert edit(*names) == [names]  # more than can have units of their own
