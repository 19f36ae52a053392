# SPDX-License-Identifier: GPL-2.0-only
"""Results files of older programs are read, drawn, and continued."""

import sqlite3
from pathlib import Path

import pytest

import distributed_training as dt
from test_report import get_rows, read_page

LAYOUT = Path(__file__).with_name("old-results.sql")
WORKLOAD = Path(__file__).with_name("small-workload.csv")
OLD_TABLES = ["run", "iteration", "collective", "message", "link_counter"]


@pytest.fixture
def old(tmp_path):
    """A results file of the oldest layout."""
    path = tmp_path / "old.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(LAYOUT.read_text(encoding="ascii"))
    connection.close()
    return path


def test_tables_are_read(old):
    assert [len(dt.read_results(old, table)) for table in OLD_TABLES] == [1, 2, 16, 32, 4]
    (run,) = dt.read_results(old, "run").itertuples()
    assert run.configuration["ranks"] == 2 and run.finished > run.started
    iterations = dt.read_results(old, run_id=1)
    assert list(iterations["warmup"]) == [True, False]
    assert iterations["iteration_time_s"][1] == pytest.approx(306e-6, rel=0.01)
    assert len(dt.read_results(old, run_id=2)) == 0


def test_what_is_not_there_is_named(old):
    names = dt.list_tables(old)
    assert sorted(names) == sorted(OLD_TABLES)
    with pytest.raises(ValueError) as caught:
        dt.read_results(old, "energy")
    assert str(caught.value).endswith(
        f": has no table 'energy' (allowed: {', '.join(names)}; a run that is added to a file of an "
        "older program adds tables)"
    )


def test_report(old, tmp_path):
    """The page names what the file lacks."""
    before = old.read_bytes()
    dt.report(old, tmp_path / "run.html")
    (run,) = read_page(tmp_path / "run.html")["runs"]
    assert get_rows(run, "run")[0]["state"] == "finished"
    assert run["binding"] == {"missing": "no such table: binding"}
    assert run["link"]["missing"].startswith("no such column: ")
    assert old.read_bytes() == before


def test_program_adds_a_run_and_what_is_missing(program, old, tmp_path):
    """The rows of the old run stay, and a page draws them."""
    before = {table: dt.read_results(old, table) for table in OLD_TABLES}
    words = [f"--workload={WORKLOAD}", "--ranks=2", "--iterations=1", "--bucket=64K"]
    process = program("training-job", *words, f"--results={old}", f"--report={tmp_path}/new.html")
    assert process.returncode == 0, process.stderr
    (run,) = read_page(tmp_path / "new.html")["runs"]
    assert run["run_id"] == 2 and not [part for part in run.values() if "missing" in str(part)]
    for table, rows in before.items():
        now = dt.read_results(old, table, run_id=1)
        assert now[list(rows)].equals(rows), table
    for table in {*dt.list_tables(old)} - {*OLD_TABLES}:
        dt.read_results(old, table)
    assert "energy" in dt.list_tables(old) and "binding" in dt.list_tables(old)
    new = dt.read_results(old, run_id=2)
    same = dt.read_results(old, run_id=1)
    assert list(new["iteration_time_s"]) == list(same["iteration_time_s"])
    dt.report(old, tmp_path / "old.html", run_id=1)
    (run,) = read_page(tmp_path / "old.html")["runs"]
    counts = {"iteration": 2, "bucket": 8, "collective": 16, "message": 32, "link": 4}
    assert {name: run[name]["total"] for name in counts} == counts
    assert get_rows(run, "binding")[0]["sentence"]
