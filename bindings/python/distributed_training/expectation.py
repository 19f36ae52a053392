# SPDX-License-Identifier: GPL-2.0-only
"""What nccl-tests should show on a machine: expect()."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from .collective_benchmark import CollectiveBenchmark
from .machines import find_machine

if TYPE_CHECKING:
    import pandas

SIZES = "8:64M:x2"
"""Default sizes, as nccl-tests with -b 8 -e 64M -f 2."""

_LATENCY = 1.25
_RATE = 0.9


def expect(
    machine: str, nodes: int = 1, operation: str = "all-reduce", sizes: str = SIZES
) -> pandas.DataFrame:
    """Return what nccl-tests should show on servers of a machine, a row for each size.

    The columns are bytes, time_us, algbw_GBps, busbw_GBps, algorithm, protocol, why and knee. `why`
    says what limits the time: "latency" up to 1.25 times the shortest time, "rate" from 0.9 of the
    highest bus bandwidth on, "both" between. `knee` says why a measured curve bends there: another
    limit than in the row before, or another algorithm or protocol, with the times that NCCL
    expects. Other rows have "-".

    Args:
        machine: name of a machine, as --machine.
        nodes: number of its servers; all their GPUs take part.
        operation: a collective.
        sizes: as --bytes.

    Raises ValueError for an unknown machine or fewer servers than 1, and what Program.run() raises.
    """
    ranks = nodes * int(find_machine(machine)["gpus"])
    if nodes < 1:
        raise ValueError(f"nodes={nodes} (allowed: 1 or more)")
    options: dict[str, Any] = {"operation": operation, "bytes": sizes}
    benchmark = CollectiveBenchmark(machine=machine, ranks=ranks, **options)
    rows = benchmark.run().rows.copy()
    rows["protocol"] = [
        _find_protocol(*choice) for choice in zip(rows["algorithm"], rows["choice"])
    ]
    rows["why"] = _find_limits(rows)
    rows["knee"] = _explain_knees(rows)
    columns = [
        "bytes",
        "time_us",
        "algbw_GBps",
        "busbw_GBps",
        "algorithm",
        "protocol",
        "why",
        "knee",
    ]
    return rows[columns]


def _find_protocol(algorithm: str, choice: str) -> str:
    """Return the protocol of an algorithm in "NCCL expects ALGORITHM PROTOCOL TIME us, ..."."""
    found = re.search(rf"(?<!\S){re.escape(algorithm)}(?::\S+)? (ll128|ll|simple)\b", choice)
    return found.group(1) if found else "-"


def _find_limits(rows: pandas.DataFrame) -> list[str]:
    short = _LATENCY * rows["time_us"].min()
    high = _RATE * rows["busbw_GBps"].max()
    return [
        "latency" if row.time_us <= short else "rate" if row.busbw_GBps >= high else "both"
        for row in rows.itertuples()
    ]


_REASONS = {
    "latency": "steps and start take most of the time again",
    "both": f"bytes take more than {_LATENCY - 1:.0%} of the shortest time",
    "rate": f"links reach {_RATE:.0%} of the highest rate",
}


def _name(row: Any) -> str:
    return f"{row.algorithm} {row.protocol}".removesuffix(" -")


def _explain_knees(rows: pandas.DataFrame) -> list[str]:
    texts = []
    before: Any = None
    for row in rows.itertuples():
        reasons = []
        if before and row.why != before.why:
            reasons.append(_REASONS[row.why])
        if before and (row.algorithm, row.protocol) != (before.algorithm, before.protocol):
            reasons.append(f"{_name(row)} after {_name(before)}: {row.choice}")
        before = row
        texts.append("; ".join(reasons) or "-")
    return texts
