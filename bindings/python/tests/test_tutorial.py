# SPDX-License-Identifier: GPL-2.0-only
"""The tutorial and the gallery: what their texts say is so. build-support/documented_output.py runs the
commands."""

import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PACKAGE, REPOSITORY

import distributed_training as dt

TUTORIAL = REPOSITORY / "doc/tutorial.rst"
TEXT = TUTORIAL.read_text(encoding="ascii")


def read_blocks(text, language):
    """Return the code blocks of a language, without their indentation."""
    found = re.findall(
        rf"^( *)\.\. code-block:: {language}\n(?:\1   :.*\n)*\n((?:\1   .*\n|\n)+)", text, re.M
    )
    return [re.sub(rf"^{indent}   ", "", body, flags=re.M).strip() for indent, body in found]


COMMANDS = [line for block in read_blocks(TEXT, "sh") for line in block.splitlines()]
RUNS = [line for line in COMMANDS if line.startswith(("./ns3w run", "./ns3w python"))]


def make_command(build, line):
    """Return the command that ns3w would execute, from what is built."""
    words = shlex.split(line)[1:]
    kind, name, *options = words
    if kind == "python":
        path = REPOSITORY / name
        return [sys.executable, str(path) if path.exists() else name, *options]
    plots = [word.partition("=")[2] for word in options if word.startswith("--plot-topology=")]
    if plots:
        rest = [word for word in options if not word.startswith("--plot-topology=")]
        return [sys.executable, "-m", "distributed_training.plot", name, plots[0], *rest]
    return [build.get_program(name), *options]


def execute(build, environment, folder, line, *more):
    """Run a line of the documentation in a folder; return its output."""
    variables = {**environment, **build.get_environment(), "MPLBACKEND": "Agg"}
    variables["PYTHONPATH"] = os.pathsep.join([str(PACKAGE), environment.get("PYTHONPATH", "")])
    command = [*make_command(build, line), *more]
    process = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True)
    assert process.returncode == 0, f"{line}\n{process.stderr}"
    return process.stdout


@pytest.fixture
def folder(tmp_path):
    """A folder with the files that the tutorial tells to save."""
    (script,) = read_blocks(TEXT, "python")
    (tmp_path / "question.py").write_text(script + "\n")
    return tmp_path


def test_other_commands_are_those_of_ns3w():
    assert len(RUNS) >= 7
    assert [line for line in COMMANDS if line not in RUNS] == ["./ns3w info"]
    script = REPOSITORY / "ns3w"
    done = subprocess.run([sys.executable, script, "info"], capture_output=True, text=True)
    assert done.returncode == 0
    assert "free" in done.stdout


@pytest.mark.extensive
def test_first_training_says_what_the_text_says(build, environment, folder):
    line, with_report = [
        line for line in RUNS if line in read_blocks(TEXT, "sh") and "resnet50" in line
    ]
    assert with_report == f"{line} --report=run.html"
    files = "--results=run.sqlite", "--json=-"
    result = json.loads(execute(build, environment, folder, with_report, *files))
    efficiency = re.search(r"The efficiency of (\d+) %", TEXT).group(1)
    assert f"{100 * result['scaling_efficiency']:.0f}" == efficiency
    path = result["critical_path"]
    share = re.search(r"all-reduce 4, the last one, takes\s+(\d+) % of the time", TEXT).group(1)
    (last,) = [part for part in path["parts"] if part["task"] == "all-reduce 4"]
    assert f"{100 * last['time_s'] / path['time_s']:.0f}" == share
    assert path["busiest_link"].startswith("host")
    (binding,) = dt.read_results(folder / "run.sqlite", "binding").itertuples()
    share = re.search(r"a link of a host, which is busy for (\d+) % of the communication", TEXT)
    assert binding.link.startswith("host") and f"{100 * binding.share:.0f}" == share.group(1)
    assert binding.sentence in (folder / "run.html").read_text(encoding="utf-8")
    links = dt.read_results(folder / "run.sqlite", "link_counter")
    of_host = links["node"].str.startswith("host") | links["peer"].str.startswith("host")
    loads = links[of_host].groupby("node")["utilization"].max()
    hosts = loads[loads.index.str.startswith("host")]
    assert hosts.min() > 0.95 * hosts.max()
    assert (links[~of_host]["utilization"] < 0.01).mean() > 0.5
    waits = dt.read_results(folder / "run.sqlite", "bucket_wait")
    assert waits[waits["bucket"] == waits["bucket"].max()]["wait_s"].min() > 0


@pytest.mark.extensive
def test_remedies_help(build, environment, folder):
    """Both lines of step 5 are faster than step 2."""
    times = []
    for line in [each for each in RUNS if "resnet50" in each and "--report" not in each]:
        result = json.loads(execute(build, environment, folder, line, "--json=-"))
        times.append(result["iteration_time_s"])
    first, *remedies = times
    assert len(remedies) == 2
    assert max(remedies) < first


def test_gallery_shows_every_figure_with_its_command(describe):
    text = (REPOSITORY / "doc/gallery.rst").read_text(encoding="ascii")
    shown = set(re.findall(r"image:: images/(\S+)", text))
    assert shown == {path.name for path in (REPOSITORY / "doc/images").iterdir()}
    commands = [line for block in read_blocks(text, "sh") for line in block.splitlines()]
    assert len(commands) == len(shown)
    for name, line in zip(re.findall(r"image:: images/(\S+)", text), commands):
        words = shlex.split(line)
        if name not in re.split("[ =]", line):  # one of several files of a script
            pattern = re.sub(r"-\w+\.", "-{name}.", name)
            assert pattern in (REPOSITORY / words[2]).read_text("ascii"), f"{line}: {name}"
        if words[:2] == ["./ns3w", "run"]:
            options = {f"--{option['name']}" for option in describe(words[2])["options"]}
            used = {word.partition("=")[0] for word in words[3:]} - {"--plot-topology"}
            assert used <= options
        else:
            script = words[2] if words[0] == "./ns3w" else words[1]
            is_module = script == "-m" and importlib.util.find_spec(words[3])
            assert is_module or Path(REPOSITORY / script).is_file()


@pytest.mark.extensive
@pytest.mark.parametrize(
    "script, argument, pictures",
    [
        ("three_figures.py", ".", ["figure-roofline.svg", "figure-slowdown.svg", "figure-speedup.svg"]),
        ("worker_trace.py", "worker-trace.svg", ["worker-trace.svg"]),
        pytest.param(
            *("accuracy_over_time.py", "accuracy-over-time.png", ["accuracy-over-time.png"]),
            marks=pytest.mark.takes_forever,
        ),
    ],
)
def test_scripts_of_the_gallery_draw_their_figures(environment, tmp_path, script, argument, pictures):
    """Those that no other test and no page runs."""
    command = [sys.executable, REPOSITORY / "bindings/python/examples" / script, argument]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == pictures
    for name in pictures:
        drawn, shown = tmp_path / name, REPOSITORY / "doc/images" / name
        assert drawn.read_bytes()[:4] == shown.read_bytes()[:4]
        assert drawn.stat().st_size == pytest.approx(shown.stat().st_size, rel=0.5)
