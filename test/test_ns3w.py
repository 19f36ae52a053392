# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the script `ns3w` and of the lists of files that it shares with the builds."""

import hashlib
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def ns3w(tmp_path, monkeypatch):
    """The script as a Python module, with an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
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
        ("source_files", ["model/**/*.cc", "helper/**/*.cc"]),
        ("header_files", ["model/**/*.h", "helper/**/*.h"]),
        ("test_files", ["test/*.cc"]),
        ("example_names", ["examples/*.cc"]),
    ],
)
def test_lists_of_files_are_complete_and_sorted(ns3w, name, patterns):
    found = [str(path.relative_to(ROOT)) for pattern in patterns for path in ROOT.glob(pattern)]
    if name == "example_names":
        found = [Path(path).stem for path in found]
    assert ns3w.module_list(name) == sorted(found)


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


@pytest.mark.parametrize(
    "version, number, cppyy",
    [
        ("3.35", 35, None),
        ("3.37", 37, "2.4.2"),
        ("3.44", 44, "3.5.0"),
        ("3.46.1", 46, "3.5.0"),
        ("3-dev", 999, "3.5.0"),
    ],
)
def test_cppyy_follows_the_release(tmp_path, ns3w, version, number, cppyy):
    build = ns3w.select_build(str(fake_tree(tmp_path / "tree", version)))
    assert build.number() == number
    assert build.cppyy() == cppyy


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


def test_release_is_verified_unpacked_and_kept(tmp_path, ns3w, monkeypatch):
    archive = make_release(tmp_path)
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    monkeypatch.setattr(ns3w, "RELEASE_SHA256", digest)
    monkeypatch.setattr(ns3w, "RELEASE_URL", archive.as_uri())
    release = ns3w.get_release()
    assert (release / "VERSION").read_text() == "3.37\n"
    assert (release / "src/core").is_dir()
    assert not (release / "doc").exists()
    assert not (release / "netanim").exists()
    archive.unlink()
    assert ns3w.get_release() == release


def test_wrong_or_missing_archives_are_refused(tmp_path, ns3w, monkeypatch):
    def no_debian(directory):
        raise OSError("not here")

    monkeypatch.setattr(ns3w, "RELEASE_URL", make_release(tmp_path).as_uri())
    monkeypatch.setattr(ns3w, "download_from_debian", no_debian)
    with pytest.raises(ns3w.Failure) as failure:
        ns3w.get_release()
    assert "wrong SHA-256" in str(failure.value)
    assert "not here" in str(failure.value)
    assert failure.value.status == 2
    assert not (ns3w.CACHE / "ns-3.37").exists()


def test_killed_unpacking_is_repeated(tmp_path, ns3w, monkeypatch):
    archive = make_release(tmp_path)
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    monkeypatch.setattr(ns3w, "RELEASE_SHA256", digest)
    monkeypatch.setattr(ns3w, "RELEASE_URL", archive.as_uri())
    partial = ns3w.CACHE / "unpacking-ns-3.37"
    partial.mkdir(parents=True)
    (partial / "half-of-a-file").write_text("")
    release = ns3w.get_release()
    assert not (release / "half-of-a-file").exists()


def test_missing_packages_without_rights_name_the_command(tmp_path, ns3w, monkeypatch):
    def which(name):
        return "/usr/bin/apt-get" if name == "apt-get" else None

    monkeypatch.setattr(ns3w.shutil, "which", which)
    monkeypatch.setattr(ns3w.os, "geteuid", lambda: 1000)
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
