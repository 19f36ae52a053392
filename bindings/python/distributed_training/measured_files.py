# SPDX-License-Identifier: GPL-2.0-only
"""Outputs of benchmarks as they are printed: nccl-tests, rccl-tests, OSU, perftest."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn, Union

from .near_names import did_you_mean


class Measured(NamedTuple):
    """A row of a benchmark's output."""

    operation: str  # of collective-benchmark, or "write": messages from one rank to another
    ranks: int
    servers: int  # 0: not known
    bytes: int  # of the whole vector, as --bytes
    time_us: float  # of the collective; of a message, with others under way if `streams`
    streams: bool
    raw: bool  # between NICs, without a library on the hosts
    place: str  # FILE:LINE


_NCCL = {
    "all_reduce": "all-reduce",
    "all_gather": "all-gather",
    "reduce_scatter": "reduce-scatter",
    "alltoall": "all-to-all",
    "broadcast": "broadcast",
    "reduce": "reduce",
    "sendrecv": "send-receive",
}
# By the title: the operation, and whether sizes are those of one of n parts.
_OSU = {
    "allreduce latency": ("all-reduce", False),
    "allgather latency": ("all-gather", True),
    "reduce_scatter latency": ("reduce-scatter", False),
    "all-to-all personalized exchange latency": ("all-to-all", True),
    "broadcast latency": ("broadcast", False),
    "reduce latency": ("reduce", False),
    "latency": ("write", False),
    "bandwidth": ("write", False),
}
_PERFTEST = re.compile(r"\s*RDMA_Write (?:BW|Latency) Test\s*$")
# What benchmarks print around their rows, besides comments.
_AROUND = re.compile(
    r"\s*$|\s*#|\s*\$ |\s*-{5,}|\s*\*{2,}.*\*$|rccl-tests: Version|.*\bNCCL (?:INFO|WARN|version)\b"
    r"|\s*(?:local|remote) address: |\s*GID: |Conflicting CPU frequency values detected"
    r"|\s*(?:Dual-port|Number of qps|Connection type|PCIe relax order|ibv_wr\* API|TX depth|RX depth"
    r"|CQ Moderation|CQE Poll Batch|Mtu|Link type|GID index|Max inline data|rdma_cm QPs"
    r"|Data ex. method|Lock-free|Use [A-Za-z ]+) *:"
)
_MIB = 1 << 20
_DIFFERENCE = 0.02  # of a rate and the time that it is from, besides its last digit


def read_measured(path: Union[str, os.PathLike[str]], ranks: int | None = None) -> list[Measured]:
    """Return the rows of an output of nccl-tests, rccl-tests, OSU's benchmarks or perftest.

    Out-of-place times are taken. Each kind is recognized by its heading.

    Args:
        path: file with what the benchmark printed.
        ranks: number of ranks, where the file does not say it.

    Raises ValueError with the line that is unknown or contradicts itself, and OSError.
    """
    reader = _Reader(Path(path), ranks)
    rows = list(reader.read())
    if not rows:
        raise ValueError(
            f"{path}: no rows (allowed: outputs of nccl-tests, rccl-tests, OSU, perftest)"
        )
    return rows


class _Reader:
    def __init__(self, path: Path, ranks: int | None) -> None:
        self._path = path
        self._given = ranks
        self._place = str(path)
        self._operation = ""
        self._hosts: dict[int, str] = {}  # by rank
        self._read_row: Callable[[list[str]], Measured] = self._refuse_row

    def read(self) -> Iterator[Measured]:
        text = self._path.read_text(encoding="utf-8", errors="replace")
        for number, line in enumerate(text.splitlines(), 1):
            self._place = f"{self._path}:{number}"
            if not self._read_heading(line):
                if re.match(r"\s*\d+\s", line):
                    yield self._read_row(line.split())
                elif not _AROUND.match(line):
                    self._refuse(line.strip()[:60], "rows and headings of the benchmarks")

    def _refuse(self, what: str, allowed: str) -> NoReturn:
        raise ValueError(f"{self._place}: {what} (allowed: {allowed})")

    def _refuse_row(self, words: list[str]) -> Measured:
        self._refuse(" ".join(words)[:60] + " without a heading", "behind that of a benchmark")

    def _read_heading(self, line: str) -> bool:
        """Take a line that says what follows; whether it is one."""
        words = line.split()
        if found := re.search(r"\b([a-z_]+)_perf\b", line):
            self._operation = found.group(1)
            self._hosts = {}
        elif found := re.match(r"#\s+Rank\s+(\d+)\s+.*?\bon\s+(\S+)\s+device\b", line):
            self._hosts[int(found.group(1))] = found.group(2)
        elif found := re.match(r"#\s+Rank\s+(\d+)\s+.*\bdevice\b", line):
            self._hosts[int(found.group(1))] = ""
        elif words[:3] == ["#", "size", "count"]:
            self._read_row = self._read_nccl
        elif found := re.match(r"# OSU MPI(?:-\w+)? (.*) Test", line):
            self._read_osu_title(found.group(1))
        elif _PERFTEST.match(line):
            self._operation = "write"
        elif words[:2] == ["#bytes", "#iterations"]:
            self._read_perftest_heading(words)
        else:
            return False
        return True

    def _count_ranks(self) -> int:
        ranks = len(self._hosts) or self._given
        if not ranks:
            self._refuse(
                "the number of ranks is not in the file", "with lines # Rank, or --ranks=N"
            )
        return ranks

    def _parse(self, text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = -1
        if not 0 < value < float("inf"):
            self._refuse(text, "a number above 0")
        return value

    def _check_rate(self, size: int, time_us: float, rate: str) -> None:
        """Refuse a row whose rate, GB/s, does not follow from its time."""
        shown = self._parse(rate) if rate.strip("0.") else 0.0
        digit = 10.0 ** -len(rate.partition(".")[2])
        expected = 1e-3 * size / time_us
        if abs(shown - expected) > digit + _DIFFERENCE * expected:
            self._refuse(f"{rate} GB/s with {size} bytes in {time_us:g} us", f"{expected:.4g}")

    def _read_nccl(self, words: list[str]) -> Measured:
        # size count type redop root time algbw busbw #wrong, and the same of in-place
        if len(words) not in (8, 9, 11, 13):
            self._refuse(f"{len(words)} columns", "8, 9 or 13, as nccl-tests prints them")
        size, time_us = int(words[0]), self._parse(words[5])
        self._check_rate(size, time_us, words[6])
        if len(words) in (9, 13) and words[8].isdigit() and int(words[8]) > 0:
            self._refuse(f"{words[8]} wrong results", "0")
        ranks = self._count_ranks()
        hosts = set(self._hosts.values())
        servers = 1 if hosts == {""} else len(hosts)
        operation = self._find_nccl_operation(words, ranks)
        return Measured(operation, ranks, servers, size, time_us, False, False, self._place)

    def _find_nccl_operation(self, words: list[str], ranks: int) -> str:
        """Return the operation: by a line with NAME_perf, the file's name, or the columns."""
        if self._operation:
            if self._operation not in _NCCL:
                near = did_you_mean(self._operation, list(_NCCL))
                self._refuse(f"{self._operation}_perf{near}", ", ".join(f"{k}_perf" for k in _NCCL))
            return _NCCL[self._operation]
        stem = re.sub("[- ]", "_", self._path.stem.lower())
        names = [name for name in sorted(_NCCL, key=len, reverse=True) if name in stem]
        if names:
            return _NCCL[names[0]]
        redop, root = words[3], int(words[4])
        if root >= 0:
            return "broadcast" if redop == "none" else "reduce"
        if redop == "none":
            self._refuse("the operation is not in the file", "with NAME_perf in a line or its name")
        factor = self._parse(words[7]) / self._parse(words[6])
        return "all-reduce" if factor > 1.5 * (ranks - 1) / ranks else "reduce-scatter"

    def _read_osu_title(self, title: str) -> None:
        title = title.lower()
        if title not in _OSU:
            near = did_you_mean(title, list(_OSU))
            self._refuse(f"OSU's {title} test{near}", ", ".join(_OSU))
        operation, is_part = _OSU[title]

        def read(words: list[str]) -> Measured:
            if len(words) < 2:
                self._refuse(" ".join(words), "a size and a result")
            ranks = 2 if operation == "write" else self._count_ranks()
            size, value = int(words[0]), self._parse(words[1])
            streams = title == "bandwidth"
            time_us = size / value if streams else value  # MB/s are bytes a microsecond
            size *= ranks if is_part else 1
            return Measured(operation, ranks, 0, size, time_us, streams, False, self._place)

        self._read_row = read

    def _read_perftest_heading(self, words: list[str]) -> None:
        if self._operation != "write":
            self._refuse("another test of perftest", "ib_write_bw, ib_write_lat")
        units = {
            "average[MB/sec]": _MIB / 1e6,
            "average[Gb/sec]": 1e3 / 8,
        }  # in bytes a microsecond
        column = next((i for i, word in enumerate(words) if word in units), None)
        if column is not None:  # "BW peak", "BW average": two words of a column
            unit = units[words[column]]
            column, streams = 3, True
        elif "t_avg[usec]" in words:
            column, streams, unit = words.index("t_avg[usec]"), False, 0.0
        elif "t_typical[usec]" in words:
            column, streams, unit = words.index("t_typical[usec]"), False, 0.0
        else:
            self._refuse(" ".join(words)[:60], "BW average, t_avg or t_typical")

        def read(row: list[str]) -> Measured:
            if len(row) <= column:
                self._refuse(f"{len(row)} columns", f"{column + 1} or more, as in the heading")
            size, value = int(row[0]), self._parse(row[column])
            time_us = size / (value * unit) if streams else value
            return Measured("write", 2, 2, size, time_us, streams, True, self._place)

        self._read_row = read
