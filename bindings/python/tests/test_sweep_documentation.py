# SPDX-License-Identifier: GPL-2.0-only
"""doc/sweeps.rst and the notebook are run, and their tables match the code."""

import contextlib
import doctest
import inspect
import re
import sqlite3

import pytest

from conftest import REPOSITORY, need
from test_documentation import read_names, read_table

import distributed_training as dt
from distributed_training import grids

CHAPTER = REPOSITORY / "doc/sweeps.rst"
NOTEBOOK = REPOSITORY / "bindings/python/examples/sweep.ipynb"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty current directory, in which figures can be drawn."""
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_grid(folder):
    block = re.search(r"\.\. code-block:: toml\n\n((?:   .*\n|\n)+)", CHAPTER.read_text()).group(1)
    (folder / "grid.toml").write_text(inspect.cleandoc(block))


@pytest.mark.extensive
def test_examples_of_the_chapter(folder):
    write_grid(folder)
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    result = doctest.testfile(str(CHAPTER), module_relative=False, optionflags=options)
    assert result.attempted > 10 and result.failed == 0


@pytest.mark.extensive
def test_commands_of_the_chapter(folder, capsys):
    from distributed_training.__main__ import main

    write_grid(folder)
    commands = re.findall(r"\./ns3w python -m distributed_training (.*)", CHAPTER.read_text())
    assert len(commands) == 2
    for command in commands:
        assert main(command.split()) == 0, capsys.readouterr().err
    assert (folder / "grid.csv").exists() and (folder / "grid.svg").exists()


@pytest.mark.extensive
def test_notebook(folder, environment, monkeypatch):
    """A kernel of Jupyter prints what it shows, draws a figure, and has a bar of progress."""
    nbclient, nbformat = need("nbclient"), need("nbformat")
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR"):
        monkeypatch.setenv(name, str(folder / name.lower()))
    monkeypatch.setenv("PYTHONPATH", environment["PYTHONPATH"])
    monkeypatch.delenv("MPLBACKEND", raising=False)
    stored = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(stored)
    assert stored.cells[0].source.count("`pip install .`") == 1
    fresh = nbformat.from_dict(stored)
    for cell in fresh.cells:
        cell.pop("outputs", None)
    nbclient.NotebookClient(fresh, kernel_name="python3").execute()

    def get_text(cell, stream):
        parts = [part for part in cell.outputs if part.get("name") == stream]
        return "".join(part.text for part in parts)

    code = [cell for cell in fresh.cells if cell.cell_type == "code"]
    shown = [cell for cell in stored.cells if cell.cell_type == "code"]
    printed = [get_text(cell, "stdout") for cell in code]
    assert printed == [get_text(cell, "stdout") for cell in shown]
    assert sum(bool(text) for text in printed) == 2
    assert "30/30" in get_text(code[0], "stderr")
    assert [i for i, cell in enumerate(code) if "image/png" in str(cell.outputs)] == [2]


def test_columns(tmp_path):
    store = tmp_path / "runs.sqlite"
    result = dt.SwitchBarrier(ranks=1, rounds=1).run()
    frame = dt.sweep([dt.SwitchBarrier(ranks=1, rounds=1)], store=store)
    added = [name for name in frame if name not in result.to_frame() and name != "run"]
    assert added == read_names("sweep-columns")
    with contextlib.closing(sqlite3.connect(store)) as connection:
        columns = [row[1] for row in connection.execute("PRAGMA table_info(sweep_run)")]
    assert columns == read_names("sweep-store")


def test_keys_and_defaults_of_a_grid():
    assert read_names("sweep-grid") == ["program", *grids._SETTINGS, "common", "grid"]
    defaults = {
        row[0].strip("`"): row[1].strip("`") for row in read_table("sweep-grid")
    }
    parameters = inspect.signature(dt.sweep).parameters
    for name in ("runs", "retries", "changed"):
        assert defaults[name] == str(parameters[name].default)
    for name in ("store", "workers"):
        assert parameters[name].default is None
