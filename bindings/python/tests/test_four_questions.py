# SPDX-License-Identifier: GPL-2.0-only
"""The four questions of doc/questions.rst: their run, SQL, Python and pictures."""

import doctest
import re
import shlex
import sqlite3
import subprocess
import sys

import pytest

from conftest import PACKAGE, REPOSITORY

import distributed_training as dt

CHAPTER = REPOSITORY / "doc/questions.rst"
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def read_section():
    return CHAPTER.read_text(encoding="ascii")


@pytest.fixture(scope="module")
def folder(program, tmp_path_factory):
    """A folder with the results file of the section."""
    (command,) = re.findall(r"\./ns3w run (training-job .*)", read_section())
    name, *words = shlex.split(command)
    folder = tmp_path_factory.mktemp("questions")
    words = [word.replace("run.sqlite", f"{folder}/run.sqlite") for word in words]
    process = program(name, *words)
    assert process.returncode == 0, process.stderr
    return folder


def test_python_and_sql_say_the_same(folder, monkeypatch):
    monkeypatch.chdir(folder)
    queries = re.findall(r"code-block:: sql\n\n   (SELECT .*)\n", read_section())
    lines = re.findall(r"^>>> (.*)$", read_section(), re.M)
    assert len(queries) == len(lines) == 4
    connection = sqlite3.connect("run.sqlite")
    for query, line in zip(queries, lines):
        frame = eval(line, {"dt": dt})
        rows = connection.execute(query).fetchall()
        assert rows == [tuple(row) for row in frame.itertuples(index=False)] and rows, query
    connection.close()


def test_examples_print_what_they_show(folder, monkeypatch):
    monkeypatch.chdir(folder)
    test = doctest.DocTestParser().get_doctest(read_section(), {"dt": dt}, "questions", "", 0)
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    runner.run(test)
    assert runner.summarize(verbose=False) == (0, 4)


@pytest.mark.extensive
def test_pictures(folder, environment):
    """The script draws the pictures of the section, whose texts have the numbers of the run."""
    script = PACKAGE / "examples/four_questions.py"
    subprocess.run(
        [sys.executable, script, folder / "run.sqlite", folder], env=environment, check=True
    )
    names = re.findall(r"image:: images/(question-.*\.svg)", read_section())
    assert len(names) == 4
    for name in names:
        drawn, stored = (
            re.findall(r"<text[^>]*>([^<]*)</text>", (place / name).read_text(encoding="utf-8"))
            for place in (folder, REPOSITORY / "doc/images")
        )
        assert drawn == stored and len(drawn) > 8, name
