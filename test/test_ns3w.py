# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the script `ns3w` and of the lists of files that it shares with the builds."""

import hashlib
import importlib.machinery
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def ns3_release(ns3w):
    """The part of the script that gets the release of ns-3."""
    return sys.modules["ns3w_support.ns3_release"]


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
        ("header_files", ["model/**/*.h", "helper/**/*.h", "program/**/*.h"]),
        ("test_files", ["test/*.cc"]),
        ("example_names", ["examples/*.cc"]),
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


def test_header_names_are_unique(ns3w):
    names = [Path(path).name for path in ns3w.module_list("header_files")]
    assert len(names) == len(set(names))


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
        ["run", "training-job", "--plot-topology=torus"],
        ["--extension=/does/not/exist", "run", "training-job"],
        [f"--extension={ROOT / 'test/extensions/topology'}", "clean"],
    ],
)
def test_wrong_arguments_are_refused_by_one_line(tmp_path, words):
    result = call(tmp_path, *words)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("ns3w: ")
    assert result.stderr.count("\n") == 1
    assert "allowed" in result.stderr


def test_unknown_program_is_refused_before_anything_is_built(tmp_path, ns3w):
    tree = fake_tree(tmp_path / "tree")
    result = call(tmp_path, "run", "no-such-program", NS3_DIR=str(tree))
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


def test_missing_packages_without_rights_name_the_command(tmp_path, ns3w, monkeypatch):
    def which(name):
        return "/usr/bin/apt-get" if name == "apt-get" else None

    monkeypatch.setattr(shutil, "which", which)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(ns3w.Failure) as failure:
        ns3w.need("ninja", "cmake")
    assert "sudo apt-get install" in str(failure.value)
    assert "ninja-build cmake" in str(failure.value)
    assert failure.value.status == 2


def test_two_at_once_wait_for_each_other(tmp_path, ns3w):
    code = "import sys, fcntl; f = open(sys.argv[1], 'w'); fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)"
    lock = ns3w.CACHE / "locks/something"
    with ns3w.locked("something"):
        assert subprocess.run([sys.executable, "-c", code, lock], capture_output=True).returncode
    assert not subprocess.run([sys.executable, "-c", code, lock], capture_output=True).returncode


def test_failing_command_shows_the_end_of_its_output(tmp_path, ns3w, capsys):
    with pytest.raises(ns3w.Failure) as failure:
        ns3w.work("trying", ["sh", "-c", "echo reason; exit 3"], tmp_path / "log")
    assert failure.value.status == 1
    assert "reason" in capsys.readouterr().err


def test_idle_command_is_silent(tmp_path, ns3w, capsys):
    ns3w.work("trying", ["echo", "no work to do"], tmp_path / "log", idle="no work")
    assert capsys.readouterr().err == ""
    ns3w.work("trying", ["echo", "[1/2] building"], tmp_path / "log", idle="no work")
    assert "trying" in capsys.readouterr().err
