# SPDX-License-Identifier: GPL-2.0-only
"""Fixtures of the tests. They use the build named by DISTRIBUTED_TRAINING_BUILD."""

import importlib
import json
import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[3]
PACKAGE = REPOSITORY / "bindings/python"
sys.path.insert(0, str(PACKAGE))

import distributed_training as dt  # noqa: E402


def need(package):
    """Import a package that only `./ns3w test` installs; a test that runs elsewhere may skip it."""
    if "NS3_DIR" in os.environ:
        return importlib.import_module(package)
    return pytest.importorskip(package, reason=f"{package} is not installed: ./ns3w test does it")


def get_cpu_s(process):
    """Return the seconds of CPU that a process has taken, as Linux counts them."""
    state = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8")
    user, system = state.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def wait_for_cpu(process, cpu_s):
    """Wait until a process has computed for some seconds, or has ended."""
    while process.poll() is None and get_cpu_s(process) < cpu_s:
        time.sleep(0.01)


def get_line(process, status):
    """Return the one line that a failed program has written."""
    assert process.returncode == status, process.stderr
    assert process.stderr.count("\n") == 1 and process.stderr.endswith("\n"), process.stderr
    return process.stderr[:-1]


def ask(path, sql):
    """Return the rows of a query to a results file."""
    connection = sqlite3.connect(path)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def start(build, name, *words, **more):
    """Return a program that runs, with pipes for its output."""
    return subprocess.Popen(
        [build.get_program(name), *words],
        env=build.get_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **more,
    )


@pytest.fixture(scope="session")
def build():
    return dt.find_build()


@pytest.fixture(scope="session")
def environment():
    """The environment of a child process that imports the package."""
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(PACKAGE), os.environ.get("PYTHONPATH", "")]),
    }


@pytest.fixture(scope="session")
def program(build):
    """Run a program directly and return the finished process."""

    def run(name, *arguments):
        return subprocess.run(
            [build.get_program(name), *arguments],
            env=build.get_environment(),
            capture_output=True,
            text=True,
        )

    return run


@pytest.fixture(scope="session")
def program_json(program):
    """Run a program directly and return its JSON output, which its schema describes."""
    jsonschema = need("jsonschema")
    schema = json.loads((REPOSITORY / "doc/results.schema.json").read_text("utf-8"))

    def run(name, *arguments):
        process = program(name, *arguments, "--json=-")
        assert process.returncode == 0, process.stderr
        document = json.loads(process.stdout)
        # Options such as --check and --runs have documents of their own.
        own = schema["$defs"].get(name, {"required": [None]})
        root = f"#/$defs/{name}" if set(own["required"]) <= set(document) else "#/properties/schema"
        jsonschema.validate(
            document if "defs" in root else document["schema"],
            {"$ref": root, **{key: schema[key] for key in ("$schema", "$defs", "properties")}},
            jsonschema.Draft202012Validator,
        )
        return document

    return run


@pytest.fixture(scope="session")
def describe(program):
    """Return the JSON of a program's --describe."""

    def run(name):
        process = program(name, "--describe=json")
        assert process.returncode == 0, process.stderr
        return json.loads(process.stdout)

    return run
