# SPDX-License-Identifier: GPL-2.0-only
"""Writes the types of the keywords of all programs, from their descriptions, for editors and mypy:

    ./ns3w python build-support/python_keywords.py

A keyword that several programs have with one type is in the table that these share.
"""

from __future__ import annotations

import sys
from pathlib import Path

import distributed_training as dt
from distributed_training.program import Program

FILE = Path(__file__).parents[1] / "bindings/python/distributed_training/keywords.pyi"

HEAD = '''\
# SPDX-License-Identifier: GPL-2.0-only
# Written by build-support/python_keywords.py from the descriptions of the programs.

from collections.abc import Iterable, Mapping
from datetime import timedelta
from os import PathLike
from typing import Any, Literal, TypedDict, Union

_Bytes = Union[int, str]
_List = Union[str, Iterable[Any]]
_Path = Union[str, PathLike[str]]
_Text = Union[str, float, PathLike[str], Iterable[Any]]
_Time = Union[str, int, timedelta]
'''

TYPES = {
    "boolean": "bool",
    "bytes": "_Bytes",
    "choice": "_Path",
    "count": "int",
    "list": "_List",
    "number": "float",
    "rate": "str",
    "text": "_Text",
    "time": "_Time",
}


def get_type(option, kinds):
    """Return the annotation of an option: its type, and the names that its value may have."""
    names = [each["name"] for each in kinds.get(option.get("kind"), [])] + option.get("words", [])
    kind = "bool" if "true" in option.get("words", []) else TYPES.get(option["type"])
    literal = f"Literal[{', '.join(map(repr, names))}]".replace("'", '"') if names else None
    if kind and literal:
        return f"Union[{literal}, {kind}]"
    return kind or literal or "str"


def make_keywords():
    """Return the text of the file."""
    programs = {}  # of each keyword with its type
    for program in Program.__subclasses__():
        kinds = program.describe()["kinds"]
        for keyword, option in program._get_options().items():
            programs.setdefault((keyword, get_type(option, kinds)), []).append(program.__name__)
    groups = {}
    for (keyword, kind), names in programs.items():
        groups.setdefault(tuple(sorted(names)), []).append((keyword, kind))
    text = HEAD + "\nclass _Ns3(TypedDict, total=False):\n    seed: int\n    run: int\n"
    text += "    attributes: Mapping[str, Any]\n"
    parents = {program.__name__: ["_Ns3"] for program in Program.__subclasses__()}
    own = {}
    for number, (names, keywords) in enumerate(sorted(groups.items())):
        lines = "".join(f"    {keyword}: {kind}\n" for keyword, kind in sorted(keywords))
        if len(names) == 1:
            own[names[0]] = lines
            continue
        text += f"\nclass _Shared{number}(TypedDict, total=False):\n{lines}"
        for name in names:
            parents[name].append(f"_Shared{number}")
    for name in sorted(parents):
        text += f"\nclass {name}({', '.join(parents[name])}, total=False):\n{own.get(name, '    ...' + chr(10))}"
    return text


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        sys.exit(FILE.read_text(encoding="ascii") != make_keywords())
    FILE.write_text(make_keywords(), encoding="ascii")
    print(f"written for distributed-training {dt.__version__}: {FILE}")
