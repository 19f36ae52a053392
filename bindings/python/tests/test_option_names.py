# SPDX-License-Identifier: GPL-2.0-only
"""The options of all programs together: one name for one thing, and errors that name the right one."""

import collections
import re

import pytest
from conftest import REPOSITORY

PROGRAMS = re.search(
    r"^set\(example_names\n(.*?)\n\)",
    (REPOSITORY / "CMakeLists.txt").read_text("utf-8"),
    re.M | re.S,
).group(1)
PROGRAMS = PROGRAMS.split()

JOBS = REPOSITORY / "examples/shared-cluster.toml"

# Names with different types, and why.
DIFFERENT = {
    "bytes": "one size, or a list of sizes where a program measures several",
    "checkpoint": "how checkpoints are written, or how long training stands still for one",
    "collective": "an algorithm, and in programs with ranks also a system that sums in the network",
    "congestion-control": "any, or only classes of ns-3's TCP",
    "decode": "instances of a serving system; or codecs decode",
    "interval": "between checkpoints, which may be auto; or between samples",
    "jobs": "a number, or a file with their keys",
    "model": "a transformer, or also a workload",
    "output": "tokens, or a file",
    "pattern": "messages sent at once, or flows that arrive",
    "topology": "one, or a list where a program measures several",
    "workload": "of a job, or of a benchmark of the simulator",
}
# Names that differ by dashes only, and why.
ALIKE = {"warmup": "a number of iterations", "warm-up": "a time"}
# Names that no program may have, as another one means the same.
FORMER = {
    "algo": "collective",
    "distribution": "flow-sizes",
    "gpus-per-server": "server-gpus",
    "hosts": "ranks",
    "link-rate": "rate",
    "message-size": "bytes",
    "nodes-count": "nodes",
    "size": "bytes",
    "sizes": "bytes",
    "world-size": "ranks",
}


@pytest.fixture(scope="module")
def descriptions(describe):
    return {name: describe(name) for name in PROGRAMS}


def get_options(descriptions):
    for name, description in descriptions.items():
        for option in description["options"]:
            yield name, option


def test_one_name_has_one_type(descriptions):
    types = collections.defaultdict(set)
    for _, option in get_options(descriptions):
        types[option["name"]].add((option["type"], option.get("kind")))
    assert {name for name, found in types.items() if len(found) > 1} == set(DIFFERENT)


def test_one_thing_has_one_name(descriptions):
    names = {option["name"] for _, option in get_options(descriptions)}
    assert not names & set(FORMER)
    spellings = collections.defaultdict(set)
    for name in names:
        spellings[name.replace("-", "")].add(name)
    alike = set().union(*(found for found in spellings.values() if len(found) > 1))
    assert alike == set(ALIKE)


def test_what_is_allowed_is_complete(descriptions):
    for name, option in get_options(descriptions):
        alternatives = descriptions[name]["kinds"].get(option.get("kind"), [])
        for word in [*option.get("words", []), *(each["name"] for each in alternatives)]:
            assert word in option["allowed"], f"{name} --{option['name']}"


def misspell(word):
    """Return a word without its second letter but one, so that it is near to nothing else."""
    return word[:-2] + word[-1]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_misspelt_option_names_the_right_one(program, descriptions, name):
    names = {option["name"] for option in descriptions[name]["options"]}
    for option in sorted(names):
        wrong = misspell(option)
        if len(option) < 6 or wrong in names:
            continue
        process = program(name, f"--{wrong}=1")
        assert process.returncode == 2
        assert "did you mean --" in process.stderr, f"{name} --{wrong}"
        assert process.stdout == "" and process.stderr.count("\n") == 1
    process = program(name, "json=-")
    assert process.returncode == 2 and "did you mean --json=-?" in process.stderr


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_misspelt_value_names_the_right_one(program, descriptions, name):
    for option in descriptions[name]["options"]:
        words = option.get("words") or []
        if "kind" in option:
            words = [each["name"] for each in descriptions[name]["kinds"][option["kind"]]]
        words = [word for word in words if len(word) >= 6 and misspell(word) not in words]
        if not words or (option["type"] == "text" and "kind" not in option):
            continue
        word = max(words, key=len)
        more = [f"--jobs={JOBS}"] if name == "shared-cluster" else []
        more += ["--model=llama3-8b"] if option["name"] == "pipeline-schedule" else []
        process = program(name, f"--{option['name']}={misspell(word)}", *more)
        where = f"{name} --{option['name']}={misspell(word)}: {process.stderr}"
        assert process.returncode == 2, where
        assert "did you mean " in process.stderr and "(allowed" in process.stderr, where
        assert process.stdout == "" and process.stderr.count("\n") == 1, where
        for each in words:
            assert each in process.stderr, where
