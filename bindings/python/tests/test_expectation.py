# SPDX-License-Identifier: GPL-2.0-only
"""expect(): what nccl-tests should show on a machine."""

import subprocess
import sys

import distributed_training as dt
import pytest


def test_rows_are_those_of_the_benchmark(program_json):
    rows = dt.expect("dgx-h100", nodes=2, sizes="8:8M:x64")
    words = ("--machine=dgx-h100", "--ranks=16", "--bytes=8:8M:x64")
    own = program_json("collective-benchmark", *words)["rows"]
    assert list(rows["time_us"]) == [row["time_us"] for row in own]
    assert list(rows["why"])[::3] == ["latency", "rate"]
    assert set(rows["protocol"]) <= {"ll", "ll128", "simple"}
    chosen = list(zip(rows["algorithm"], rows["protocol"]))
    for number, (before, one) in enumerate(zip(chosen, chosen[1:]), 1):
        text = rows["knee"][number]
        names = [" ".join(each).removesuffix(" -") for each in (one, before)]
        assert (f"{' after '.join(names)}: " in text) == (one != before)
        limits = list(rows["why"])[number - 1 : number + 1]
        assert (text != "-") == (one != before or limits[0] != limits[1])
    assert rows["knee"][0] == "-" and "links reach 90%" in rows["knee"].iloc[-1]


def test_refusals():
    with pytest.raises(ValueError, match="machine 'dgx-h10'; did you mean"):
        dt.expect("dgx-h10")
    with pytest.raises(ValueError, match="nodes=0 .allowed: 1 or more"):
        dt.expect("dgx-h100", nodes=0)


def test_command(environment, tmp_path):
    def run(*words):
        command = [sys.executable, "-m", "distributed_training", "expect", *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True, cwd=tmp_path)

    good = run("--machine=a100-mesh4", "--bytes=8:1K:x8", "--csv=rows.csv")
    assert good.returncode == 0 and "why" in good.stdout
    assert (tmp_path / "rows.csv").read_text().count("\n") == 4
    bad = run("--machine=none")
    assert bad.returncode == 2 and bad.stderr.startswith("expect: machine 'none' (allowed: a100-mesh4")
