# SPDX-License-Identifier: GPL-2.0-only
"""validate(): what was measured or published, beside ours."""

import json
import subprocess
import sys

import distributed_training as dt
import pytest
from conftest import REPOSITORY
from distributed_training import validation
from distributed_training.validation_page import write_validation_page

OTHERS = (*validation.PROGRAMS, validation.JOBS)
MEASURED = [name for name in dt.list_validations() if name not in OTHERS]


def read_table(name):
    return validation._read_measured(validation._MEASURED / f"{name}.csv")


@pytest.mark.parametrize("name", MEASURED)
def test_measured_tables_are_complete(name, describe):
    head, rows = read_table(name)
    assert {"title", "source", "result", "unit"} <= set(head)
    options = {option["name"] for option in describe("collective-benchmark")["options"]}
    assert set(rows[0]) - {"published", "calibrates"} <= options
    keys = [(row["machine"], row["operation"], row["ranks"], row["bytes"]) for row in rows]
    assert len(set(keys)) == len(keys)
    assert all(float(row["published"]) > 0 and row["calibrates"] is not None for row in rows)


@pytest.mark.parametrize("name", MEASURED)
def test_constants_of_calibration_rows_exist(name):
    _, rows = read_table(name)
    machines = {row["machine"].partition(":")[0] for row in rows}
    texts = [
        (REPOSITORY / f"helper/machine/{machine}-machine.cc").read_text() for machine in machines
    ]
    texts += [path.read_text() for path in REPOSITORY.glob("model/communicator/*-host-model.cc")]
    constants = [row["calibrates"] for row in rows if row["calibrates"]]
    assert all(any(constant in text for text in texts) for constant in constants)
    assert len(constants) == len(set(constants)) <= 4


def test_rows_of_a_measured_table(tmp_path, program_json):
    frame = dt.validate(["nvlink-mesh-a100"], most_bytes=8192, workers=1)
    _, rows = read_table("nvlink-mesh-a100")
    assert list(frame["published"]) == [float(row["published"]) for row in rows]
    assert frame["ours"].notna().sum() == sum(int(row["bytes"]) <= 8192 for row in rows)
    options = ("--machine=a100-mesh4", "--operation=all-reduce", "--ranks=4", "--bytes=1K")
    own = program_json("collective-benchmark", *options)
    (one,) = frame[frame["row"] == "all-reduce, 4 GPUs, 1 KiB"].to_dict("records")
    assert one["ours"] == own["rows"][0]["time_us"]
    assert one["role"] == "calibration (local-latency)"
    assert one["error_percent"] == pytest.approx(100 * (one["ours"] / one["published"] - 1))

    (summary,) = dt.summarize_validation(frame).to_dict("records")
    errors = sorted(abs(frame[frame["role"] == "predicted"]["error_percent"].dropna()))
    assert summary["predicted"] == len(errors) and summary["worst_percent"] == errors[-1]
    assert summary["calibration"] == 4
    assert summary["not_run"] + summary["predicted"] + 1 == summary["rows"]  # a calibration row ran

    page = tmp_path / "page.html"
    write_validation_page(frame, page)
    assert page.read_text().count("<tr>") + page.read_text().count("<tr ") == len(rows) + 3
    write_validation_page(frame, page)  # replaces its own kind only
    page.write_text("mine")
    with pytest.raises(ValueError, match="something else"):
        write_validation_page(frame, page)
    assert page.read_text() == "mine"


def test_whole_jobs_run_only_if_they_are_named(monkeypatch):
    def run_each(jobs, workers):
        kinds = [type(job) for job in jobs]
        yield from ((i, RuntimeError(kind.__name__)) for i, kind in enumerate(kinds))

    monkeypatch.setattr(validation, "run_each", run_each)
    head, rows = read_table(validation.JOBS)
    frame = dt.validate()
    assert list(frame["row"]) == [row["row"] for row in rows]  # all others failed here
    assert frame["ours"].isna().all()
    assert not [text for text in frame.attrs["failures"] if "TrainingJob" in text]
    named = dt.validate([validation.JOBS])
    assert named.attrs["failures"] == [f"{validation.JOBS}: TrainingJob"] * len(rows)
    assert head["result"] in dt.TrainingJob.quantities().index


@pytest.mark.parametrize("row", read_table(validation.JOBS)[1], ids=lambda row: row["row"])
def test_whole_jobs_have_a_lower_bound(row):
    options = {**validation._parse_options(row["options"]), "check": "true"}
    if int(options["ranks"]) > 256:
        options["replicas"] = "simulate"  # comparing all ranks takes a while
    bound = dt.TrainingJob(**options).run().lower_bound_s
    # Megatron Bridge trains fewer sequences on H100 than the efficiency of MLPerf's rows gives.
    least = 0.75 if row["row"] == "1024 H100, Megatron Bridge 25.11" else 0.8
    assert least < bound / float(row["published"]) < 1.1


def test_rows_of_a_program(program_json):
    frame = dt.validate(["switch-parameter-server"], workers=1)
    rows = program_json("switch-parameter-server")["rows"]
    rows = [row for row in rows if row["published"] and row["ours"] is not None]
    assert list(frame["row"]) == [row["figure"] for row in rows]
    assert list(frame["error_percent"]) == pytest.approx([row["error_percent"] for row in rows])


def test_runs_that_fail_leave_the_others(monkeypatch):
    def run_each(jobs, workers):
        listed = list(jobs)
        yield 0, RuntimeError("no memory")
        yield 1, listed[1].run()

    monkeypatch.setattr(validation, "run_each", run_each)
    frame = dt.validate(["nvlink-mesh-a100"], most_bytes=8)
    assert frame.attrs["failures"] == ["nvlink-mesh-a100: no memory"]
    _, rows = read_table("nvlink-mesh-a100")
    assert 0 < len(frame) < len(rows)


def test_every_program_of_published_numbers_is_a_table():
    text = (REPOSITORY / "examples/published.toml").read_text()
    programs = {line[1:-1] for line in text.splitlines() if line[:1] == "[" and "." not in line}
    assert set(validation.PROGRAMS) == programs - {"job-life"}  # its rows are constants


def test_command(environment, tmp_path):
    def run(*words):
        command = [sys.executable, "-m", "distributed_training", "validate", *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True, cwd=tmp_path)

    bad = run("--only=rack")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr.startswith("validate: table 'rack'; did you mean") and "racks" in bad.stderr
    there = run("--only=racks", "--html=no/page.html")
    assert (there.returncode, there.stderr) == (2, "validate: no/page.html: no file can be written there\n")
    assert run("--most=1X").stderr.startswith("validate: '1X' is no size (allowed: ")
    good = run("--only=nvlink-mesh-a100", "--most=8", "--json=rows.json")
    assert good.returncode == 0 and "median_percent" in good.stdout
    rows = json.loads((tmp_path / "rows.json").read_text())["rows"]
    assert {row["role"] for row in rows if row["ours"]} == {"predicted"}


@pytest.mark.takes_forever
def test_page_of_validation_is_current(environment, tmp_path):
    """doc/validation.csv is what the command writes."""
    command = [sys.executable, "-m", "distributed_training", "validate", "--summary=validation.csv"]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, cwd=tmp_path)
    own = (tmp_path / "validation.csv").read_text()
    assert own == (REPOSITORY / "doc/validation.csv").read_text()
