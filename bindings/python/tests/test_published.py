# SPDX-License-Identifier: GPL-2.0-only
"""What papers publish, examples/published.toml: programs use all of it, and it says whose it is."""

import re
import sys

import pytest
from conftest import REPOSITORY

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PUBLISHED = tomllib.loads((REPOSITORY / "examples/published.toml").read_text("utf-8"))


def read_sources(paper):
    """Return the code of a paper, with headers of examples/ and the program of the library that it includes."""
    source = next(REPOSITORY.glob(f"examples/p*/{paper}.cc"))
    text = source.read_text("utf-8")
    for name in re.findall(r'^#include "([a-z-]+\.h)"', text, re.M):
        text += (source.parent / name).read_text("utf-8")
    for name in re.findall(r'^#include "ns3/([a-z]+-program)\.h"', text, re.M):
        for path in REPOSITORY.glob(f"program/measure/{name}.cc"):
            text += path.read_text("utf-8")
    return text


def get_tables(paper):
    """Return the tables of a paper by name: "" for its own, then those of its parts."""
    parts = {name: part for name, part in PUBLISHED[paper].items() if isinstance(part, dict)}
    return {"": PUBLISHED[paper], **parts}


@pytest.mark.parametrize("paper", PUBLISHED)
def test_programs_use_all_that_is_published(paper):
    code = read_sources(paper)
    for name, table in get_tables(paper).items():
        lists = [key for key, value in table.items() if isinstance(value, list)]
        for key in [name, *table.get("rows", {}), *lists]:
            words = ["GetCases()"] if key == "cases" else [f'"{key}"']
            if "-" in key:  # of names that a loop ends
                words.append(f'"{key.rpartition("-")[0]}-"')
            assert not key or any(word in code for word in words), f"{name}.{key}"
    rows = {row for table in get_tables(paper).values() for row in table.get("rows", {})}
    assert set(re.findall(r'[Pp]aper\.Add\(\s*"([^"]*[^"-])"', code)) <= rows


def get_case_names(value):
    """Return the names of all values of the cases in a table, also of cases in cases."""
    if isinstance(value, dict):
        return set(value).union(*map(get_case_names, value.values()))
    return set().union(*map(get_case_names, value)) if isinstance(value, list) else set()


@pytest.mark.parametrize("paper", PUBLISHED)
def test_published_rows_name_their_source(paper):
    for name, table in get_tables(paper).items():
        for key, row in table.get("rows", {}).items():
            role = row.get("role", "predicted")
            assert role in ("predicted", "calibration", "property") or role.startswith("{"), f"{name}.{key}"
            if "published" in row:
                assert row.get("source", table.get("source")), f"{name}.{key}"
            if isinstance(row.get("published"), str):
                code = read_sources(paper)
                names = get_case_names(PUBLISHED[paper])
                assert row["published"] in names or f'"{row["published"]}"' in code, f"{name}.{key}"


@pytest.mark.parametrize("paper", [name for name in PUBLISHED if "description" in PUBLISHED[name]])
def test_parts_are_those_of_the_program(describe, paper):
    (part,) = [option for option in describe(paper)["options"] if option["name"] == "part"]
    tables = get_tables(paper)
    explained = {name: tables[name]["help"] for name in part["words"] if name != "all"}
    assert part["help"] == "; ".join(f"{name}: {text}" for name, text in explained.items())
