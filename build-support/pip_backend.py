# SPDX-License-Identifier: GPL-2.0-only
"""Builds the Python package for pip (PEP 517), with the compiled module in it.

The compiler runs only here, in build_wheel(): the build is that of `./ns3w --ns3=wheel build`, so pip
and ns3w share it, and ccache has what one of them has compiled. `cmake --install` then copies the
library, the programs and the headers into distributed_training/native of the wheel. They find the
libraries of ns-3 in the package ns3, which stands beside them.

Messages of the build: pip install -v .
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

sys.dont_write_bytecode = True  # keeps the checkout clean

from ns3w_support.builds import WheelBuild, module_list  # noqa: E402
from ns3w_support.console import Failure, say, work  # noqa: E402

HERE = Path(__file__).resolve().parents[1]
PACKAGE = "distributed_training"
NATIVE = f"{PACKAGE}/native"
# Not in a source archive: what git keeps, and what builds leave behind.
UNNEEDED = {".git", ".ci", "build", "dist", "__pycache__", ".pytest_cache", "_build", "out"}
# What pip's isolation of builds sets, and what must not reach the virtual environments of ns3w.
ISOLATION = ("PYTHONPATH", "PYTHONNOUSERSITE", "PIP_TARGET", "PIP_PREFIX", "PIP_USER")


def read_project() -> dict[str, Any]:
    """Return the table `project` of pyproject.toml, with the version."""
    project = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {**project, "version": (HERE / "VERSION").read_text(encoding="ascii").strip()}


def make_metadata(project: dict[str, Any]) -> str:
    """Return the metadata of the package (PEP 566)."""
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"License: {project['license']['text']}",
        f"Requires-Python: {project['requires-python']}",
    ]
    lines += [f"Requires-Dist: {need}" for need in project["dependencies"]]
    for extra, needs in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {need}; extra == '{extra}'" for need in needs]
    lines += ["Description-Content-Type: text/markdown", ""]
    return "\n".join(lines) + "\n" + (HERE / project["readme"]).read_text(encoding="utf-8")


def get_tag() -> str:
    """Return the tag of the wheel: any Python 3, this system and processor."""
    return f"py3-none-{re.sub('[^A-Za-z0-9]', '_', sysconfig.get_platform())}"


def get_stem(project: dict[str, Any]) -> str:
    """Return how the names of archives begin."""
    return f"{project['name'].replace('-', '_')}-{project['version']}"


def write_information(folder: Path) -> None:
    """Write the folder .dist-info, without RECORD."""
    folder.mkdir(parents=True, exist_ok=True)
    project = read_project()
    (folder / "METADATA").write_text(make_metadata(project), encoding="utf-8")
    (folder / "WHEEL").write_text(
        f"Wheel-Version: 1.0\nGenerator: {project['name']} ({project['version']})\n"
        f"Root-Is-Purelib: false\nTag: {get_tag()}\n",
        encoding="ascii",
    )
    shutil.copyfile(HERE / "LICENSE", folder / "LICENSE")


def build_native(folder: Path) -> None:
    """Compile the module and install it into a folder, with a build-info.json.

    The paths in that file are relative: to the folder, or, below "ns3/", to the folder that has the
    package ns3.
    """
    for name in ISOLATION:
        os.environ.pop(name, None)
    try:
        build = WheelBuild()
        is_new = not build.directory.exists()
        try:
            build.make(*module_list("example_names"))
            install = ["cmake", "--install", build.directory, "--prefix", folder, "--strip"]
            work("collecting what is built", install, build.directory / "install.log")
            info = json.loads(build.info.read_text(encoding="utf-8"))
        finally:
            # The unpacked archive that this file is in will be removed, and so is its build.
            if is_new and HERE.is_relative_to(Path(tempfile.gettempdir()).resolve()):
                shutil.rmtree(build.directory, ignore_errors=True)
    except Failure as failure:
        say(failure)
        raise SystemExit(failure.status) from None
    *others, own = info["libraries"]
    info["libraries"] = [to_ns3_path(path) for path in others] + [f"lib/{Path(own).name}"]
    info["include_dirs"] = ["include", to_ns3_path(info["include_dirs"][-1])]
    info["examples"] = {name: f"bin/{name}" for name in info["examples"]}
    (folder / "build-info.json").write_text(json.dumps(info, indent=2) + "\n", encoding="ascii")


def to_ns3_path(path: str) -> str:
    """Return a path inside the package ns3, from "ns3/" on."""
    parts = Path(os.path.normpath(path)).parts
    return "/".join(parts[parts.index("site-packages") + 1 :])


def get_files(native: Path) -> dict[str, Path]:
    """Return the files of the package, by their names in the wheel."""
    package = HERE / "bindings/python" / PACKAGE
    names = [
        *package.glob("*.py"),
        *package.glob("report_parts/*"),
        *package.glob("measured/*.csv"),
        package / "py.typed",
        package / "VERSION",
    ]
    files = {f"{PACKAGE}/{path.relative_to(package)}": path for path in names}
    files.update(
        {
            f"{NATIVE}/{path.relative_to(native)}": path
            for path in native.rglob("*")
            if path.is_file()
        }
    )
    return dict(sorted(files.items()))


def write_wheel(path: Path, files: dict[str, Path], folder: str) -> None:
    """Write a wheel with its RECORD.

    Args:
        path: the wheel.
        files: the files by their names in the wheel.
        folder: name of the .dist-info.
    """
    record = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, source in files.items():
            content = source.read_bytes()
            entry = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            executable = source.stat().st_mode & stat.S_IXUSR
            entry.external_attr = (stat.S_IFREG | (0o755 if executable else 0o644)) << 16
            wheel.writestr(entry, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
            record.append(f"{name},sha256={digest.decode()},{len(content)}\n")
        wheel.writestr(f"{folder}/RECORD", "".join(record) + f"{folder}/RECORD,,\n")


# ------------------------------------------------------------------------------- hooks of PEP 517


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    return []


def get_requires_for_build_sdist(config_settings: Any = None) -> list[str]:
    return []


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Any = None) -> str:
    """Write the metadata without a build; return the name of its folder."""
    name = f"{get_stem(read_project())}.dist-info"
    write_information(Path(metadata_directory, name))
    return name


def build_wheel(
    wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None
) -> str:
    """Build the module and write the wheel; return its name."""
    stem = get_stem(read_project())
    name = f"{stem}-{get_tag()}.whl"
    with tempfile.TemporaryDirectory(prefix="distributed-training-") as part:
        native = Path(part, "native")
        information = Path(part, f"{stem}.dist-info")
        build_native(native)
        # The package keeps descriptions of programs beside them; what is listed is also uninstalled.
        for program in set((native / "bin").iterdir()) - set((native / "bin").glob("*.toml")):
            (program.parent / f"{program.name}.describe.json").write_text("{}")
        write_information(information)
        files = get_files(native)
        for path in sorted(information.iterdir()):
            files[f"{information.name}/{path.name}"] = path
        write_wheel(Path(wheel_directory, name), files, information.name)
    return name


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    """Write an archive of the sources; return its name."""
    stem = get_stem(read_project())
    with tempfile.TemporaryDirectory(prefix="distributed-training-") as part:
        metadata = Path(part, "PKG-INFO")
        metadata.write_text(make_metadata(read_project()), encoding="utf-8")

        def select(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            parts = Path(entry.name).parts
            unneeded = UNNEEDED.intersection(parts) or entry.name.endswith((".pyc", ".egg-info"))
            return None if unneeded else entry

        with tarfile.open(Path(sdist_directory, f"{stem}.tar.gz"), "w:gz") as archive:
            archive.add(HERE, stem, filter=select)
            archive.add(metadata, f"{stem}/PKG-INFO")
    return f"{stem}.tar.gz"
