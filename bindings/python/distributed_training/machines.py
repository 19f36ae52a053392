# SPDX-License-Identifier: GPL-2.0-only
"""Data of the machines, from the description of a program."""

from __future__ import annotations

from typing import Any

from .collective_benchmark import CollectiveBenchmark
from .near_names import did_you_mean


def find_machine(name: str) -> dict[str, Any]:
    """Return `gpus` of a server of a machine, and its `defaults` by option.

    Raises ValueError for an unknown machine.
    """
    machines: dict[str, dict[str, Any]] = CollectiveBenchmark.describe()["machines"]
    if name not in machines:
        near = did_you_mean(name, list(machines))
        raise ValueError(f"machine {name!r}{near} (allowed: {', '.join(machines)})")
    return machines[name]
