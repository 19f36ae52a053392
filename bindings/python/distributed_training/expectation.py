# SPDX-License-Identifier: GPL-2.0-only
"""What nccl-tests should show on a machine: expect()."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from .collective_benchmark import CollectiveBenchmark
from .near_names import did_you_mean

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

    The columns are bytes, time_us, algbw_GBps, busbw_GBps, algorithm, protocol and why. The last
    one says what limits the time: "latency" up to 1.25 times the shortest time, "rate" from 0.9 of
    the highest bus bandwidth on, "both" between. Where NCCL chooses another algorithm or protocol
    than for the row before, it says so: a measured curve has its knee there, too.

    Args:
        machine: name of a machine, as --machine.
        nodes: number of its servers; all their GPUs take part.
        operation: a collective.
        sizes: as --bytes.

    Raises ValueError for an unknown machine or fewer servers than 1, and what Program.run() raises.
    """
    ranks = nodes * _get_gpus(machine)
    if nodes < 1:
        raise ValueError(f"nodes={nodes} (allowed: 1 or more)")
    options: dict[str, Any] = {"operation": operation, "bytes": sizes}
    benchmark = CollectiveBenchmark(machine=machine, ranks=ranks, **options)
    rows = benchmark.run().rows.copy()
    rows["protocol"] = [
        _find_protocol(*choice) for choice in zip(rows["algorithm"], rows["choice"])
    ]
    rows["why"] = _explain(rows)
    return rows[["bytes", "time_us", "algbw_GBps", "busbw_GBps", "algorithm", "protocol", "why"]]


def _get_gpus(machine: str) -> int:
    """Return the number of GPUs of a server."""
    machines = {one["name"]: one for one in CollectiveBenchmark.describe()["kinds"]["machine"]}
    del machines["none"]
    if machine not in machines:
        near = did_you_mean(machine, list(machines))
        raise ValueError(f"machine {machine!r}{near} (allowed: {', '.join(machines)})")
    (note,) = (note for note in machines[machine]["notes"] if note.startswith("GPUs of a server: "))
    return int(note.rpartition(" ")[2])


def _find_protocol(algorithm: str, choice: str) -> str:
    """Return the protocol of an algorithm in "NCCL expects ALGORITHM PROTOCOL TIME us, ..."."""
    found = re.search(rf"(?<!\S){re.escape(algorithm)}(?::\S+)? (ll128|ll|simple)\b", choice)
    return found.group(1) if found else "-"


def _explain(rows: pandas.DataFrame) -> list[str]:
    shortest = rows["time_us"].min()
    highest = rows["busbw_GBps"].max()
    texts = []
    before: Any = None
    for row in rows.itertuples():
        if row.time_us <= _LATENCY * shortest:
            text = "latency"
        else:
            text = "rate" if row.busbw_GBps >= _RATE * highest else "both"
        chosen = (row.algorithm, row.protocol)
        if before and chosen != before:
            text += f"; knee: {' '.join(before)} before"
        before = chosen
        texts.append(text)
    return texts
