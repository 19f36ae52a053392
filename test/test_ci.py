# SPDX-License-Identifier: GPL-2.0-only
"""Tests of what CI runs: .ci/run and its stages, the workflow that calls it, and the program that
compares texts with the outputs of commands. CI itself is not run."""

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / ".ci/run"
WORKFLOW = (ROOT / ".github/workflows/ci.yml").read_text(encoding="ascii")
STAGES = re.search(r'^all="(.*)"$', SCRIPT.read_text(encoding="ascii"), re.M)[1].split()
PROGRAM = ROOT / "build-support/documented_output.py"
COST = "cost of the simulation: {} s CPU, {} M events, 2.00 M packet-hops ({} M/s), {} MiB"


def call(command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


@pytest.fixture
def checkout(tmp_path):
    """A folder in which .ci/run finds commands that only say how they were called."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(SCRIPT, tmp_path / ".ci")
    tools = tmp_path / "bin"
    tools.mkdir()
    names = "ns3w python3 tshark chromium shellcheck doxygen clang-format git".split()
    for name in names:
        path = tmp_path / name if name == "ns3w" else tools / name
        path.write_text(
            f'#!/bin/sh\necho "{name} $*" >>"{tmp_path}/calls"\n'
            "case $* in\n"
            "'test --all') echo '3 passed, 1 failed'; exit 1 ;;\n"
            "*=wheel*) echo '5 passed, 0 failed' ;;\n"
            '*--mpi*) echo \'2 passed, 0 failed\'; echo "Building CXX object" >>"$NS3W_BUILDS" ;;\n'
            "grep*) exit 1 ;;\n"
            "esac\n"
        )
        path.chmod(0o755)
    for folder in "model helper program examples test build-support".split():
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.cc").touch()
    environment = tmp_path / "cache/distributed-training/ci-python"
    (environment / "bin").mkdir(parents=True)
    for name in ("python", "clang-format"):
        (environment / "bin" / name).symlink_to(tools / "clang-format")
    packages = tmp_path / "build-support/python-packages"
    packages.mkdir()
    for path in (packages / "ci.txt", environment / "installed.txt"):
        path.write_text("a==1\n")

    def run(*stages):
        path = f"{tools}:/usr/bin:/bin"
        variables = {"PATH": path, "XDG_CACHE_HOME": str(tmp_path / "cache"), "HOME": "/nowhere"}
        done = call([tmp_path / ".ci/run", *stages], env=variables, cwd="/")
        calls = tmp_path / "calls"
        words = calls.read_text().splitlines() if calls.exists() else []
        calls.unlink(missing_ok=True)
        words = [re.sub(r"/\S+/html", "html", line) for line in words]
        return done, [line for line in words if not line.startswith(("chromium", "python3 -c"))]

    return run


@pytest.mark.parametrize(
    "stages, last, commands",
    [
        (["style"], "4 passed, 0 failed", ["clang-format ", "git grep", "shellcheck .ci/run"]),
        (
            ["docs"],
            "3 passed, 0 failed",
            ["clang-format -m sphinx", "python3 build-support/sentence_length.py"],
        ),
        (["build"], "1 passed, 1 failed", ["ns3w build"]),  # nothing was compiled
        (["tests"], "5 passed, 2 failed", ["ns3w test"]),
        (["wheel"], "7 passed, 1 failed", ["ns3w --ns3=wheel test"]),
        (["mpi"], "3 passed, 0 failed", ["ns3w test --mpi"]),
        (["mpi", "wheel"], "10 passed, 0 failed", ["ns3w --ns3=wheel test", "ns3w test --mpi"]),
        (
            ["readme"],
            "1 passed, 0 failed",
            ["python3 build-support/documented_output.py README.md"],
        ),
    ],
)
def test_stages_are_chosen(checkout, stages, last, commands):
    done, calls = checkout(*stages)
    lines = done.stdout.splitlines()
    assert lines[-1] == last, done.stdout + done.stderr
    assert done.returncode == int(not last.endswith(" 0 failed"))
    assert len(calls) == len(commands)
    assert all(line.startswith(command) for line, command in zip(calls, commands)), calls
    checks = [line[4:] for line in lines if line.startswith("=== ")][1::2]
    times = [line for line in lines if re.match(r" +\d+ s  ", line)]
    assert len(times) == len(checks) and lines[-1 - len(times) : -1] == times
    for line, name in zip(times, checks):
        assert re.fullmatch(r" +\d+ s  (.*): (ok|FAILED \(\d+\))", line)[1] in name


def test_without_a_stage_all_are_run(checkout):
    everything, calls = checkout()
    assert everything.stdout.splitlines()[-1] == "21 passed, 1 failed"
    done, same = checkout(*STAGES)
    assert (same, done.stdout.splitlines()[-1]) == (calls, "21 passed, 1 failed")


def test_unknown_stages_are_refused(checkout):
    done, calls = checkout("style", "fly")
    assert (done.returncode, done.stdout, calls) == (2, "", [])
    assert done.stderr == f".ci/run fly: allowed are {', '.join(STAGES)}\n"


def test_workflow_runs_every_stage_on_every_system():
    used = re.findall(r"^ +stages: (.*)$", WORKFLOW, re.M)
    assert sorted(" ".join(used).split()) == sorted(STAGES)
    assert 'image: ["debian:12", "ubuntu:24.04"]' in WORKFLOW
    assert "run: .ci/run ${{ matrix.stages }}" in WORKFLOW
    assert "ns3: [ns-3.48, master]" in WORKFLOW
    assert WORKFLOW.count("/root/.cache/distributed-training\n") == 2


@pytest.mark.skipif(not shutil.which("actionlint"), reason="there is no actionlint")
def test_workflows_are_valid():
    done = call(["actionlint", "-no-color", *sorted((ROOT / ".github/workflows").iterdir())])
    assert done.returncode == 0, done.stdout


@pytest.mark.skipif(not shutil.which("shellcheck"), reason="there is no shellcheck")
def test_script_is_clean():
    done = call(["shellcheck", SCRIPT])
    assert done.returncode == 0, done.stdout


@pytest.fixture
def documented_output(monkeypatch):
    """The program as a Python module."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    spec = importlib.util.spec_from_file_location("documented_output", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "documented_output", module)
    spec.loader.exec_module(module)
    return module


def write_text(path, blocks):
    """Write blocks (language, content, line before) as a text of either kind."""
    text = "First.\n"
    for language, content, *before in blocks:
        if path.suffix == ".md":
            text += "".join(f"\n<!-- {line} -->" for line in before)
            text += f"\n```{language}\n{content}\n```\n\nWords.\n"
        else:
            lines = content.replace("\n", "\n   ").replace("\n   \n", "\n\n")
            text += "".join(f"\n.. {line}\n" for line in before)
            text += f"\n.. code-block:: {language or 'text'}\n   :name: x\n\n   {lines}\n\nWords.\n"
    path.write_text(text)
    return text


def run_text(path, *words):
    done = call([sys.executable, PROGRAM, *words, path], cwd=path.parent)
    return done, path.read_text()


@pytest.mark.parametrize("suffix", [".md", ".rst"])
@pytest.mark.parametrize(
    "blocks, last",
    [
        ([("sh", "echo one\necho two"), ("", "one\ntwo")], "3 passed, 0 failed"),
        ([("sh", "printf 'a\\n\\n  b\\n'"), ("", "a\n\n  b")], "2 passed, 0 failed"),
        ([("sh", "# words\n$ echo \\\n  one"), ("text", "one")], "2 passed, 0 failed"),
        ([("sh", "echo one"), ("", "two")], "1 passed, 1 failed"),
        ([("sh", "false"), ("", "two")], "0 passed, 2 failed"),
        ([("sh", "false", "not run: it takes long")], "0 passed, 1 failed"),
        ([("sh", "echo 1"), ("", "1"), ("", "1")], "2 passed, 1 failed"),
        ([("sh", "echo 1"), ("sh", "false", "not run: no"), ("", "1")], "1 passed, 1 failed"),
        ([("", "one")], "0 passed, 1 failed"),
        ([("", "a formula", "not run: no output"), ("sh", "true")], "1 passed, 0 failed"),
        ([("sh", "test -x ns3w && touch here")], "1 passed, 0 failed"),
        ([], "0 passed, 1 failed"),
    ],
)
def test_outputs_are_compared(tmp_path, suffix, blocks, last):
    text = write_text(tmp_path / f"text{suffix}", blocks)
    done, same = run_text(tmp_path / f"text{suffix}")
    assert done.stdout.splitlines()[-1] == last, done.stdout + done.stderr
    assert done.returncode == int(not last.endswith(" 0 failed"))
    assert same == text
    assert len(list(tmp_path.iterdir())) == 1 and not (ROOT / "here").exists()


@pytest.mark.parametrize(
    "numbers, same",
    [
        (("1.57", "14.99", "7.12", "21"), True),
        (("12.50", "14.99", "0.12", "1021"), True),
        (("1.57", "18.80", "7.12", "21"), False),
        (("1.57", "14.99", "7.12", "x"), False),
    ],
)
def test_costs_are_compared_by_their_form(documented_output, numbers, same):
    hide = documented_output.hide_costs
    right = COST.format("1.00", "14.99", "9.99", "20")
    assert (hide(f"x\n{right}\n") == hide(f"x\n{COST.format(*numbers)}\n")) == same
    assert hide("a buffer of 32 MiB") == "a buffer of 32 MiB"


@pytest.mark.parametrize("suffix", [".md", ".rst"])
def test_blocks_are_written_anew(tmp_path, suffix):
    path = tmp_path / f"text{suffix}"
    cost = COST.format("1.00", "14.99", "9.99", "20")
    blocks = [
        ("sh", "echo one; echo; echo two"),
        ("", "two"),
        ("sh", f"echo '{cost}'"),
        ("", cost.replace("20 MiB", "30 MiB")),  # is right as it is
        ("sh", "echo three"),
        ("", "four\nfive"),
    ]
    write_text(path, blocks)
    done, changed = run_text(path, "--update")
    assert done.stdout.splitlines()[-1] == "6 passed, 0 failed"
    blocks[1], blocks[5] = ("", "one\n\ntwo"), ("", "three")
    assert changed == write_text(path, blocks)
    assert run_text(path)[0].returncode == 0


def test_python_is_saved_under_its_name(tmp_path):
    path = tmp_path / "text.rst"
    write_text(path, [("python", "print(1 + 1)"), ("sh", f"{sys.executable} sum.py"), ("", "2")])
    path.write_text(path.read_text().replace("First.", "Save this as ``sum.py``. It adds:"))
    assert run_text(path)[0].stdout.splitlines()[-1] == "2 passed, 0 failed"


@pytest.mark.parametrize("size, last", [(1000, "0 passed, 1 failed"), (1001, "1 passed, 0 failed")])
def test_commands_write_the_pictures_that_they_name(tmp_path, size, last):
    path = tmp_path / "text.md"
    write_text(path, [("sh", f"head -c {size} /dev/zero >picture.svg")])
    assert run_text(path)[0].stdout.splitlines()[-1] == last
    write_text(path, [("sh", "true picture.svg")])
    assert run_text(path)[0].stdout.splitlines()[-1] == "0 passed, 1 failed"


@pytest.mark.parametrize("words", [[], ["--update"], ["missing.md"], [PROGRAM], ["--fix", "x.md"]])
def test_wrong_arguments_are_refused_by_one_line(tmp_path, words):
    done = call([sys.executable, PROGRAM, *words], cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "allowed" in done.stderr


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        *(f"doc/{name}.rst" for name in ("tutorial", "choosing-a-network", "coming-from")),
    ],
)
def test_texts_show_outputs_of_their_commands(documented_output, name):
    """By their order alone; `.ci/run readme` runs them."""
    path = ROOT / name
    blocks = documented_output.read_blocks(path.read_text(encoding="ascii"), path.suffix)
    outputs = [i for i, block in enumerate(blocks) if block.language in documented_output.OUTPUT]
    assert len(outputs) >= 2
    for i in outputs:
        assert blocks[i - 1].language in documented_output.COMMANDS and not blocks[i - 1].exempt
    fences = len(re.findall(r"^```$|^ *\.\. code-block::", path.read_text(), re.M))
    assert fences >= len(blocks) > 5
