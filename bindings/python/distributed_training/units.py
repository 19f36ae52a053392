# SPDX-License-Identifier: GPL-2.0-only
"""Names and units of quantities, for readers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Optional


def scale(value: Optional[float], units: Iterable[tuple[float, str]]) -> str:
    """Return a number in the largest of the units (factor, name) in which it is at least 1."""
    if value is None or not math.isfinite(value):
        return "unknown"
    factor, unit = 1.0, ""
    for factor, unit in units:
        if abs(value) >= factor:
            break
    return f"{value / factor:.4g} {unit}".rstrip()


SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
COUNTS = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


def format_quantity(name: str, value: Optional[float]) -> tuple[str, str]:
    """Return a quantity's name in words and its value with the unit given by its suffix."""
    words, _, unit = name.rpartition("_")
    units = {"s": SECONDS, "GBps": ((1.0, "GB/s"),)}
    if unit in units:
        return words.replace("_", " "), scale(value, units[unit])
    return name.replace("_", " "), scale(value, ((1.0, ""),))


def split_unit(name: str) -> tuple[str, str]:
    """Return the name of a column in words, and its unit; empty if there is none."""
    words, _, unit = name.rpartition("_")
    unit = {"GBps": "GB/s"}.get(unit, unit)
    if words and unit in ("s", "us", "GB/s", "MiB"):
        return words.replace("_", " "), unit
    return name.replace("_", " "), ""
