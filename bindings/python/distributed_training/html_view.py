# SPDX-License-Identifier: GPL-2.0-only
"""How notebooks show a result: a table, a strip of the time, and what the time follows from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

COMPUTE = "#4477aa"
WAITING = "#bbbbbb"
EXPOSED = "#ee6677"


def make_table(title: str, rows: Iterable[Sequence[str]]) -> str:
    """Return a table of names and values, with a title."""
    lines = "".join(
        f'<tr><th style="text-align:left" scope="row">{escape(name)}</th><td>{escape(value)}</td></tr>'
        for name, value in rows
    )
    return f"<table><caption>{escape(title)}</caption><tbody>{lines}</tbody></table>"


def make_strip(parts: Mapping[str, tuple[float, str]]) -> str:
    """Return a bar that is divided as times are: times and colours by name. Empty for no time."""
    total = sum(time for time, _ in parts.values())
    if not total > 0:
        return ""
    bars, words = "", []
    for name, (time, color) in parts.items():
        text = f"{name} {100 * time / total:.1f} %"
        words.append(text)
        bars += (
            f'<span title="{escape(text)}" style="display:inline-block;height:1em;'
            f'width:{100 * time / total:.3f}%;background:{color}"></span>'
        )
    label = escape(", ".join(words))
    return (
        f'<div role="img" aria-label="{label}" style="width:32em;max-width:100%;white-space:nowrap;'
        f'font-size:1em;overflow:hidden">{bars}</div><div>{label}</div>'
    )
