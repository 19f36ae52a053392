# SPDX-License-Identifier: GPL-2.0-only
"""A few cases of each fuzzer, and the fuzzers themselves: `fuzz.py` runs more cases."""

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "bindings/python")]

import cases  # noqa: E402
import fuzz  # noqa: E402


@pytest.mark.extensive
@pytest.mark.parametrize("kind", fuzz.KINDS)
def test_odd_input_is_refused_or_works(kind):
    assert list(fuzz.try_cases(kind, seed=1, count=120)) == []


@pytest.mark.parametrize("kind", fuzz.KINDS)
def test_cases_repeat_and_differ(kind):
    texts = [str(fuzz.make_case(kind, 1, index)) for index in range(20)]
    assert texts == [str(fuzz.make_case(kind, 1, index)) for index in range(20)]
    assert texts != [str(fuzz.make_case(kind, 2, index)) for index in range(20)]
    contents = {str((text, fuzz.make_case(kind, 1, i).files)) for i, text in enumerate(texts)}
    assert len(contents) == 20


ROW = '{"configuration": {"payload": "real"}, "rows": [{"time_us": %s, "verified": %s}]}'


@pytest.mark.parametrize(
    "script, finding",
    [
        ("kill -SEGV $$", "signal 11"),
        ("exit 1", "exit status 1"),
        ("exit 4", "exit status 4"),
        ("echo 'p: bad' >&2; echo more >&2; exit 2", "not one line"),
        ("echo 'bad' >&2; exit 2", "no name of the program"),
        ("exit 2", "not one line"),
        ("echo text; echo 'p: bad' >&2; exit 2", "refusal after output"),
        ("echo > out; echo 'p: bad' >&2; exit 2", "after writing ['out']"),
        ("echo > input", "input was changed"),
        ("rm input", "input was changed"),
        ("printf 'p: \\033[2J\\n' >&2; exit 2", "control characters"),
        ("echo 'Traceback (most recent call last)' >&2; exit 2", "'Traceback'"),
        ("echo 'x.cc:1:2: runtime error: overflow' >&2", "runtime error"),
        ("exit 3", "no reason"),
        ("echo '{'", "no JSON"),
        ("echo '{\"a\": NaN}'", "NaN in JSON"),
        (f"echo '{ROW % (1, 'false')}'", "a wrong sum"),
        (f"echo '{ROW % (-1, 'true')}'", "rows.time_us = -1"),
        ("echo '{' > out.json", "out.json is no JSON"),
        ("printf 'SQLite format 3\\000 and nothing' > out", "file is not a database"),
    ],
)
def test_what_must_not_happen_is_found(tmp_path, script, finding):
    program = tmp_path / "p"
    program.write_text(f"#! /bin/sh\n{script}\n")
    program.chmod(0o755)
    folder = tmp_path / "folder"
    folder.mkdir()

    class Build:
        profile = "optimized"
        get_program = staticmethod(lambda name: str(program))
        get_environment = staticmethod(dict)

    case = cases.Case("p", ["--file=input", "--json=-"], {"input": b"text"})
    with pytest.raises(cases.Finding) as error:
        cases.run(case, Build, folder)
    assert finding in str(error.value)


def test_command_line_of_the_fuzzer():
    command = [sys.executable, HERE / "fuzz.py", "--kind=files", "--cases=3", "--seed=1"]
    process = subprocess.run(command, capture_output=True, text=True)
    assert (process.returncode, process.stderr) == (0, "")
    assert process.stdout == "files: 3 cases, 0 findings so far\n"
    for words in (["--kind=x"], ["--case=1"], ["--cases=x"]):
        process = subprocess.run([sys.executable, HERE / "fuzz.py", *words], capture_output=True)
        assert process.returncode == 2
