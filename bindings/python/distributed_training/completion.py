# SPDX-License-Identifier: GPL-2.0-only
"""Completion of command lines in shells, and manual pages, from the descriptions of the programs."""

from __future__ import annotations

import shlex
from typing import Any

from .build import find_build
from .description import describe_program
from .program import Program

SHELLS = ("bash", "zsh", "fish")

_COMMON = [
    {"name": "help", "help": "options, or details of an option or a value"},
    {"name": "version", "help": "version of the module, commit and ns-3", "type": "boolean"},
]


def _get_words(description: dict[str, Any], option: dict[str, Any]) -> list[str]:
    """Return the words that an option may have as its value, as far as they have names."""
    if option.get("type") == "boolean":
        return ["true", "false"]
    if option["name"] == "help":
        return [each["name"] for each in description["options"]]
    names = [each["name"] for each in description["kinds"].get(option.get("kind"), [])]
    return [*names, *option.get("words", [])]


def make_completion(shell: str) -> str:
    """Return a script that makes a shell complete options and the names of their values.

    Args:
        shell: "bash", "zsh" or "fish".

    Raises BuildNotFound, and KeyError for another shell.
    """
    programs = {name: describe_program(name) for name in sorted(find_build().examples)}
    make = {"bash": _make_bash, "zsh": _make_zsh, "fish": _make_fish}[shell]
    return f"# Completion of distributed-training, written by its command `completion {shell}`.\n" + (
        make({name: (each, [*each["options"], *_COMMON]) for name, each in programs.items()})
    )


_Programs = dict[str, tuple[dict[str, Any], list[dict[str, Any]]]]

_BASH = """
_distributed_training() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} last=${{COMP_WORDS[COMP_CWORD - 1]}} option= words=
    if [[ $current == "=" ]]; then
        option=$last current=
    elif [[ $last == "=" ]]; then
        option=${{COMP_WORDS[COMP_CWORD - 2]}}
    elif [[ $last == --* && $current != -* ]]; then
        option=$last
    fi
    case "${{COMP_WORDS[0]##*/}} $option" in
{cases}
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}}
complete -o default -F _distributed_training {programs}
"""


def _make_bash(programs: _Programs) -> str:
    cases = []
    for name, (description, options) in programs.items():
        names = " ".join(f"--{option['name']}" for option in options)
        cases.append(f'    "{name} ") words="{names}" ;;')
        for option in options:
            words = _get_words(description, option)
            if words:
                cases.append(f'    "{name} --{option["name"]}") words="{" ".join(words)}" ;;')
    return _BASH.format(cases="\n".join(cases), programs=" ".join(programs))


def _make_zsh(programs: _Programs) -> str:
    lines = []
    for name, (description, options) in programs.items():
        lines.append(f"_dt_{name.replace('-', '_')}() {{\n    _arguments \\")
        for option in options:
            words = _get_words(description, option)
            text = "".join(" " if letter in "[]:'\\" else letter for letter in option["help"])
            action = f"({' '.join(words)})" if words else "_files"
            lines.append(f"        '*--{option['name']}=[{text}]:value:{action}' \\")
        lines[-1] = lines[-1].removesuffix(" \\")
        lines.append(f"}}\ncompdef _dt_{name.replace('-', '_')} {name}")
    return "\n".join(lines) + "\n"


def _make_fish(programs: _Programs) -> str:
    lines = []
    for name, (description, options) in programs.items():
        for option in options:
            words = _get_words(description, option)
            values = f" -x -a {shlex.quote(' '.join(words))}" if words else " -r"
            text = "".join(" " if letter in "'\\" else letter for letter in option["help"])
            lines.append(f"complete -c {name} -l {option['name']} -d '{text}'{values}")
    return "\n".join(lines) + "\n"


def _to_roff(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join(f"\\&{line}" if line[:1] in (".", "'") else line for line in text.splitlines())


def make_manual(program: type[Program[Any]]) -> str:
    """Return the manual page of a program, for ``man -l -``."""
    description = program.describe()
    name = _to_roff(description["program"])
    purpose = _to_roff(" ".join(description["description"].split()))
    lines = [
        f'.TH "{description["program"].upper()}" 1 "" "distributed-training {description["version"]}"',
        f".SH NAME\n{name} \\- {purpose}",
        f".SH SYNOPSIS\n.B {name}\n[\\fB\\-\\-option\\fR=\\fIvalue\\fR] ...",
    ]
    group = ""
    for option in [*description["options"], *({**each, "group": "Help"} for each in _COMMON)]:
        if option["group"] != group:
            group = option["group"]
            lines.append(f".SH {_to_roff(group).upper()}")
        lines.append(f".TP\n\\fB\\-\\-{_to_roff(option['name'])}\\fR\n{_to_roff(option['help'])}")
        if "allowed" in option:
            initial = "" if option["default"] is None else f"; default: {option['default']}"
            lines.append(f".br\nallowed: {_to_roff(option['allowed'] + initial)}")
    lines.append(
        ".SH EXIT STATUS\n0: done, 1: failed, 2: refused, 3: stuck, 4: a wrong sum or a damaged code."
    )
    return "\n".join(lines) + "\n"
