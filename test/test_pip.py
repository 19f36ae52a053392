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
    pytest.importorskip("scikit_build_core")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(ROOT / "build-support")
    monkeypatch.chdir(ROOT)  # as pip does
    path = ROOT / "build-support/pip_backend.py"
    spec = importlib.util.spec_from_file_location("pip_backend", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def list_programs():
    text = (ROOT / "CMakeLists.txt").read_text(encoding="ascii")
    return sorted(re.search(r"^set\(example_names\n(.*?)^\)", text, re.M | re.S).group(1).split())


def list_headers():
    text = (ROOT / "CMakeLists.txt").read_text(encoding="ascii")
    listed = re.search(r"^set\(header_files\n(.*?)^\)", text, re.M | re.S).group(1)
    return sorted(Path(name).name for name in listed.split())


def read_project():
    tomllib = pytest.importorskip("tomllib" if sys.version_info >= (3, 11) else "tomli")
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_metadata_needs_no_build(tmp_path, backend, monkeypatch):
    monkeypatch.setattr(backend, "WheelBuild", None)  # calling it would raise TypeError
    assert backend.get_requires_for_build_sdist() == []
    folder = tmp_path / backend.prepare_metadata_for_build_wheel(str(tmp_path))
    assert folder.name == f"{STEM}.dist-info"
    metadata = email.message_from_string((folder / "METADATA").read_text())
    assert metadata["Name"] == "distributed-training"
    assert metadata["Version"] == VERSION
    assert metadata["License-Expression"] == "GPL-2.0-only"
    assert metadata["License-File"] == "LICENSE"
    assert metadata["Requires-Python"] == ">=3.9"
    assert metadata["Author"] == "the distributed-training developers"
    assert metadata.get_payload().strip() == (ROOT / "README.md").read_text().strip()
    assert set(metadata.get_all("Provides-Extra")) == {"docs", "search", "sweep", "test"}
    needs = metadata.get_all("Requires-Dist")
    release = re.search(
        r"^ns3==(\S+)", (ROOT / "build-support/python-packages/wheel.txt").read_text(), re.M
    )
    assert f"ns3==={release.group(1)}".replace("===", "==") in needs
    extras = {re.sub("[\"']", "'", need) for need in needs if "extra ==" in need}
    assert {"distributed; extra == 'sweep'", "joblib; extra == 'sweep'"} <= extras
    assert {"breathe; extra == 'docs'", "sphinx; extra == 'docs'"} <= extras
    assert "pytest; extra == 'test'" in extras


def test_every_program_is_a_command():
    programs = dict.fromkeys(list_programs(), "distributed_training.__main__:run_program")
    command = {"distributed-training": "distributed_training.__main__:main"}
    assert read_project()["scripts"] == {**command, **programs}


def test_packages_that_the_sources_import_are_required():
    """What the package imports is its own, of the standard library, or among the dependencies."""
    known = {"distributed_training", "__future__", "libcppyy", "typing_extensions"}  # of mypy
    package = ROOT / "bindings/python/distributed_training"
    imported = set()
    for path in package.glob("*.py"):
        imported |= set(re.findall(r"^ *(?:import|from) ([A-Za-z_]\w*)", path.read_text(), re.M))
    others = imported - known - set(getattr(sys, "stdlib_module_names", imported)) - {"tomllib"}
    project = read_project()
    needs = project["dependencies"] + project["optional-dependencies"]["sweep"]
    names = {re.match(r"[\w-]+", need).group(0) for need in needs}
    assert others <= names | {"numpy", "cppyy"}  # of pandas, of ns3


def test_packages_of_tests_are_installed_and_named():
    """No test skips in CI for want of a package, and the extra `test` has what `./ns3w test` installs."""
    asked = set()
    for path in (ROOT / "bindings/python/tests").glob("*.py"):
        asked |= set(re.findall(r"\bneed\(\"(\w+)\"\)", path.read_text(encoding="utf-8")))
    asked = {name.replace("_", "-").replace("nbformat", "nbclient") for name in asked}
    assert {"axe-core-python", "optuna", "xarray"} <= asked
    installed = (ROOT / "build-support/python-packages/tests.txt").read_text(encoding="ascii")
    assert asked <= set(re.findall(r"^([\w-]+)==", installed, re.M))
    extra = read_project()["optional-dependencies"]["test"]
    assert asked <= {re.match(r"[\w-]+", need).group(0) for need in extra}


def test_conda_recipe_has_the_versions_and_packages_of_the_project():
    recipe = (ROOT / "build-support/conda/meta.yaml").read_text(encoding="ascii")
    parts = dict(re.findall(r"^  (\w+):\n((?:    - .*\n)+)", recipe, re.M))
    (ns3,) = [need for need in read_project()["dependencies"] if need.startswith("ns3")]
    assert f"install --no-deps {ns3.replace(' ', '')}\n" in parts["script"]
    names = {re.match(r"[\w-]+", need).group(0) for need in read_project()["dependencies"]}
    run = set(re.findall(r"- ([\w-]+?)(?:-base)?$", parts["run"], re.M))
    assert names - {"ns3", "tomli"} <= run
    host = set(re.findall(r"- ([\w-]+)$", parts["host"], re.M))
    assert {"pip", "scikit-build-core"} <= host  # conda-build makes no environment for the build


def list_package():
    """The Python files of the package, by their names in the wheel."""
    package = "distributed_training"
    sources = ROOT / "bindings/python" / package
    names = {f"{package}/{path.name}" for path in sources.iterdir() if path.is_file()}
    for folder in ("measured", "report_parts"):
        names |= {f"{package}/{folder}/{each.name}" for each in sources.glob(f"{folder}/*")}
    return names


def test_wheel_has_every_python_file_with_its_hash(tmp_path, backend):
    from scikit_build_core import build as core

    name = core.build_wheel(str(tmp_path), {"wheel.cmake": "false"})
    with zipfile.ZipFile(tmp_path / name) as wheel:
        names = wheel.namelist()
        assert len(names) == len(set(names))
        package = "distributed_training"
        expected = list_package()
        files = ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")
        expected |= {f"{STEM}.dist-info/{file}" for file in files}
        assert set(names) == expected
        assert wheel.read(f"{package}/VERSION").decode().strip() == VERSION  # no link
        rows = list(csv.reader(wheel.read(f"{STEM}.dist-info/RECORD").decode().splitlines()))
        assert {row[0] for row in rows} == expected
        for file, digest, size in rows[:-1]:
            content = wheel.read(file)
            value = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode()
            assert (digest, size) == (f"sha256={value.rstrip('=')}", str(len(content)))
        modes = {entry.filename: entry.external_attr >> 16 & 0o777 for entry in wheel.infolist()}
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
@pytest.mark.parametrize("editable", [False, True])
def test_install_from_the_build_of_ns3w(tmp_path, editable):
    """pip finds the module compiled; the result of a run is that of the build itself."""
    pytest.importorskip("scikit_build_core")
    # An environment of its own, which finds the packages of this one: pip installs programs, too.
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    site = next(tmp_path.glob("venv/lib/python*/site-packages"))
    folders = [folder for folder in sys.path if folder.endswith("-packages")]
    (site / "others.pth").write_text("\n".join(folders))
    python = tmp_path / "venv/bin/python"
    command = [python, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation"]
    command += ["--ignore-installed", "-e" if editable else ROOT] + [ROOT] * editable
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    process = subprocess.run(command, capture_output=True, text=True, env=clean)
    assert process.returncode == 0, process.stdout + process.stderr
    native = site / "distributed_training/native"
    package = {f"{path.relative_to(site)}" for path in native.rglob("*") if path.is_file()}
    prefix = "distributed_training/native"
    expected = {f"{prefix}/bin/{program}" for program in list_programs()}
    expected |= {f"{prefix}/bin/{program}.describe.json" for program in list_programs()}
    expected |= {f"{prefix}/include/ns3/{header}" for header in list_headers()}
    expected |= {
        f"{prefix}/bin/published.toml",
        f"{prefix}/build-info.json",
        f"{prefix}/include/ns3/distributed-training-module.h",
        f"{prefix}/lib/libns3.44-distributed-training.so",
    }
    assert package == expected
    programs = native / "bin"
    info = json.loads(Path(os.environ["DISTRIBUTED_TRAINING_BUILD"]).read_text())
    parts = Path(os.path.normpath(info["libraries"][0])).parts
    (site / "ns3").symlink_to(Path(*parts[: parts.index("site-packages") + 2]))
    code = "print(repr(dt.TrainingJob(ranks=4).run().iteration_time_s), dt.find_build().profile)"
    other = tmp_path / "elsewhere"
    other.mkdir()
    environment = {**clean, "PYTHONDONTWRITEBYTECODE": "1", "LD_LIBRARY_PATH": ""}
    build = environment.pop("DISTRIBUTED_TRAINING_BUILD")
    start = [python, "-c", f"import distributed_training as dt\n{code}"]
    here = subprocess.run(start, capture_output=True, text=True, env=environment, cwd=other)
    assert here.returncode == 0, here.stderr
    there = call(ROOT / "bindings/python", code, DISTRIBUTED_TRAINING_BUILD=build)
    assert here.stdout == there.stdout
    # The programs find ns-3 by themselves, and so do the commands, which have their names.
    published = programs / "published.toml"
    published.write_text(published.read_text().replace("of NTT", "as installed"))
    for words in (
        [programs / "training-job", "--ranks=1"],
        [python.parent / "training-job", "--ranks", "1"],
        [python.parent / "distributed-training", "run", "training-job", "--ranks=1"],
        [python.parent / "distributed-training", "--version"],
        [programs / "fpga-ring", "--help"],
    ):
        process = subprocess.run(words, env=environment, cwd=other, capture_output=True, text=True)
        assert process.returncode == 0, process.stderr
        assert VERSION in process.stdout or "--version" not in words
    assert "as installed" in process.stdout
    refused = subprocess.run([python.parent / "training-job", "--rnks=1"], env=environment)
    assert refused.returncode == 2
