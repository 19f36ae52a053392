# SPDX-License-Identifier: GPL-2.0-only
"""Tests of what pip builds: metadata, files, and an install from the build that ns3w has made."""

import base64
import csv
import email
import hashlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
VERSION = (ROOT / "VERSION").read_text().strip()
STEM = f"distributed_training-{VERSION}"
WHEEL_BUILD = os.environ.get("NS3_DIR") == "wheel"


@pytest.fixture
def backend(monkeypatch):
    """The backend of pip, as a module."""
    if sys.version_info < (3, 11):
        pytest.importorskip("tomli")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(ROOT / "build-support")
    path = ROOT / "build-support/pip_backend.py"
    spec = importlib.util.spec_from_file_location("pip_backend", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def list_programs():
    return sorted(path.stem for path in ROOT.glob("examples/*.cc"))


def list_headers():
    text = (ROOT / "CMakeLists.txt").read_text(encoding="ascii")
    listed = re.search(r"^set\(header_files\n(.*?)^\)", text, re.M | re.S).group(1)
    return sorted(Path(name).name for name in listed.split())


def make_native(folder):
    """What build_native() leaves, without a compiler."""
    for name in list_programs():
        path = folder / "bin" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("program")
        path.chmod(0o755)
    (folder / "bin/published.toml").write_text("papers")
    for name in list_headers():
        path = folder / "include/ns3" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("header")
    (folder / "lib").mkdir()
    (folder / "lib/libns3.44-distributed-training.so").write_bytes(bytes(range(256)))
    (folder / "build-info.json").write_text("{}")


def test_metadata_needs_no_build(tmp_path, backend, monkeypatch):
    monkeypatch.setattr(backend, "build_native", None)  # calling it would raise TypeError
    assert backend.get_requires_for_build_wheel() == []
    folder = tmp_path / backend.prepare_metadata_for_build_wheel(str(tmp_path))
    assert folder.name == f"{STEM}.dist-info"
    metadata = email.message_from_string((folder / "METADATA").read_text())
    assert metadata["Name"] == "distributed-training"
    assert metadata["Version"] == VERSION
    assert metadata["License"] == "GPL-2.0-only"
    assert metadata["Requires-Python"] == ">=3.9"
    assert metadata.get_payload() == (ROOT / "README.md").read_text()
    assert set(metadata.get_all("Provides-Extra")) == {"dask", "test"}
    needs = metadata.get_all("Requires-Dist")
    release = re.search(
        r"^ns3==(\S+)", (ROOT / "build-support/python-packages/wheel.txt").read_text(), re.M
    )
    assert f"ns3 == {release.group(1)}" in needs
    extras = [need for need in needs if "extra ==" in need]
    assert extras == ["distributed; extra == 'dask'"] + [
        f"{package}; extra == 'test'"
        for package in ("distributed", "ipykernel", "nbclient", "pytest")
    ]
    tags = email.message_from_string((folder / "WHEEL").read_text())
    assert tags["Tag"] == backend.get_tag()
    assert tags["Root-Is-Purelib"] == "false"


def test_packages_that_the_sources_import_are_required(backend):
    """What the package imports is its own, of the standard library, or among the dependencies."""
    known = {"distributed_training", "__future__", "libcppyy"}
    package = ROOT / "bindings/python/distributed_training"
    imported = set()
    for path in package.glob("*.py"):
        imported |= set(re.findall(r"^ *(?:import|from) ([A-Za-z_]\w*)", path.read_text(), re.M))
    others = imported - known - set(getattr(sys, "stdlib_module_names", imported)) - {"tomllib"}
    project = backend.read_project()
    needs = {re.match(r"[\w-]+", need).group(0) for need in project["dependencies"]}
    assert others <= needs | {"numpy", "cppyy"}  # of pandas, of ns3


def test_wheel_has_every_file_with_its_hash(tmp_path, backend, monkeypatch):
    monkeypatch.setattr(backend, "build_native", make_native)
    name = backend.build_wheel(str(tmp_path))
    assert re.fullmatch(rf"{re.escape(STEM)}-py3-none-linux_\w+\.whl", name)
    with zipfile.ZipFile(tmp_path / name) as wheel:
        names = wheel.namelist()
        assert len(names) == len(set(names))
        package = "distributed_training"
        sources = ROOT / "bindings/python" / package
        expected = {f"{package}/{path.name}" for path in sources.iterdir() if path.is_file()}
        for folder in ("measured", "report_parts"):
            expected |= {f"{package}/{folder}/{each.name}" for each in sources.glob(f"{folder}/*")}
        expected |= {f"{package}/native/bin/{program}" for program in list_programs()}
        expected |= {f"{package}/native/bin/{program}.describe.json" for program in list_programs()}
        expected |= {f"{package}/native/include/ns3/{header}" for header in list_headers()}
        expected |= {
            f"{package}/native/bin/published.toml",
            f"{package}/native/build-info.json",
            f"{package}/native/lib/libns3.44-distributed-training.so",
        }
        expected |= {
            f"{STEM}.dist-info/{file}" for file in ("LICENSE", "METADATA", "RECORD", "WHEEL")
        }
        assert set(names) == expected
        assert wheel.read(f"{package}/VERSION").decode().strip() == VERSION  # no link
        rows = list(csv.reader(wheel.read(f"{STEM}.dist-info/RECORD").decode().splitlines()))
        assert {row[0] for row in rows} == expected
        for file, digest, size in rows[:-1]:
            content = wheel.read(file)
            value = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode()
            assert (digest, size) == (f"sha256={value.rstrip('=')}", str(len(content)))
        modes = {entry.filename: entry.external_attr >> 16 & 0o777 for entry in wheel.infolist()}
        assert modes[f"{package}/native/bin/training-job"] == 0o755
        assert modes[f"{package}/build.py"] == 0o644


def test_source_archive_has_what_a_build_reads(tmp_path, backend):
    name = backend.build_sdist(str(tmp_path))
    assert name == f"{STEM}.tar.gz"
    with tarfile.open(tmp_path / name) as archive:
        names = {entry.removeprefix(f"{STEM}/") for entry in archive.getnames()}
        metadata = archive.extractfile(f"{STEM}/PKG-INFO").read().decode()
    lists = re.findall(r"^    (\S+\.(?:cc|h))$", (ROOT / "CMakeLists.txt").read_text(), re.M)
    assert len(lists) > 500
    tools = ["CMakeLists.txt", "ns3w", "VERSION", "LICENSE", "README.md", "pyproject.toml"]
    tools += ["build-support/pip_backend.py", "build-support/standalone.cmake"]
    tools += ["bindings/python/distributed_training/__init__.py", *lists]
    assert set(tools) <= names
    assert not [name for name in names if "__pycache__" in name or name.startswith(".git/")]
    assert email.message_from_string(metadata)["Version"] == VERSION


@pytest.fixture
def installed(tmp_path):
    """A copy of the package without its folder of tests, as pip would put it into site-packages."""
    site = tmp_path / "site-packages"
    target = site / "distributed_training"
    target.mkdir(parents=True)
    for path in (ROOT / "bindings/python/distributed_training").iterdir():
        if path.is_file():
            (target / path.name).write_bytes(path.read_bytes())
    return site


def call(site, code, **variables):
    environment = {**os.environ, "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("DISTRIBUTED_TRAINING_BUILD", None)
    environment.update(variables)
    command = [sys.executable, "-c", f"import distributed_training as dt\n{code}"]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def test_installed_build_is_found_without_variables(installed):
    native = installed / "distributed_training/native"
    native.mkdir()
    (installed / "ns3").mkdir()
    (installed / "ns3/__init__.py").write_text("raise ImportError('ns3 must not be imported')\n")
    info = {
        "ns3_version": "3.44",
        "profile": "release",
        "cxx_standard": 20,
        "definitions": [],
        "include_dirs": ["include", "ns3/include"],
        "libraries": ["ns3/lib64/libns3.44-core.so", "lib/libns3.44-distributed-training.so"],
        "examples": {"training-job": "bin/training-job"},
        "cppyy": "3.5.0",
    }
    (native / "build-info.json").write_text(json.dumps(info))
    code = "b = dt.find_build(); print(*b.include_dirs, *b.libraries, *b.examples.values())"
    process = call(installed, code)
    assert process.stdout.split() == [
        f"{native}/include",
        f"{installed}/ns3/include",
        f"{installed}/ns3/lib64/libns3.44-core.so",
        f"{native}/lib/libns3.44-distributed-training.so",
        f"{native}/bin/training-job",
    ], process.stderr
    # The variable has precedence, and an error names it.
    process = call(installed, "dt.find_build()", DISTRIBUTED_TRAINING_BUILD="/nowhere.json")
    assert "BuildNotFound" in process.stderr and "/nowhere.json" in process.stderr
    (native / "build-info.json").write_text("{")
    process = call(installed, "dt.find_build()")
    assert "BuildNotFound" in process.stderr and str(native) in process.stderr


def test_missing_build_names_the_ways_to_one(installed):
    process = call(installed, "dt.TrainingJob(ranks=1)")
    assert "BuildNotFound" in process.stderr
    for text in ("pip install .", "./ns3w python", "DISTRIBUTED_TRAINING_BUILD"):
        assert text in process.stderr


@pytest.mark.extensive
@pytest.mark.skipif(not WHEEL_BUILD, reason="pip would compile everything: needs --ns3=wheel test")
def test_install_from_the_build_of_ns3w(tmp_path):
    """pip finds the module compiled; the result of a run is that of the build itself."""
    site = tmp_path / "site"
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation"]
    command += ["--target", site, ROOT]
    process = subprocess.run(command, capture_output=True, text=True)
    assert process.returncode == 0, process.stdout + process.stderr
    programs = site / "distributed_training/native/bin"
    assert sorted(path.name for path in programs.iterdir() if not path.suffix) == list_programs()
    info = json.loads(Path(os.environ["DISTRIBUTED_TRAINING_BUILD"]).read_text())
    parts = Path(os.path.normpath(info["libraries"][0])).parts
    (site / "ns3").symlink_to(Path(*parts[: parts.index("site-packages") + 2]))
    code = "print(repr(dt.TrainingJob(ranks=4).run().iteration_time_s), dt.find_build().profile)"
    other = tmp_path / "elsewhere"
    other.mkdir()
    here = call(site, code)
    assert here.returncode == 0, here.stderr
    build = os.environ["DISTRIBUTED_TRAINING_BUILD"]
    there = call(ROOT / "bindings/python", code, DISTRIBUTED_TRAINING_BUILD=build)
    assert here.stdout == there.stdout
    # The programs find ns-3 by themselves.
    environment = {**os.environ, "LD_LIBRARY_PATH": ""}
    published = programs / "published.toml"
    published.write_text(published.read_text().replace("of NTT", "as installed"))
    for words in (["training-job", "--ranks=1"], ["fpga-ring", "--help"]):
        words[0] = programs / words[0]
        process = subprocess.run(words, env=environment, cwd=other, capture_output=True, text=True)
        assert process.returncode == 0, process.stderr
    assert "as installed" in process.stdout
