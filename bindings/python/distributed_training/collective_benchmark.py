# SPDX-License-Identifier: GPL-2.0-only
"""The program collective-benchmark: measures collectives over sizes, like nccl-tests."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from .program import Program, Result

if TYPE_CHECKING:
    import pandas
    from typing_extensions import Unpack

    from . import keywords


class BenchmarkResult(Result):
    """The measurements of a benchmark."""

    @cached_property
    def rows(self) -> pandas.DataFrame:
        """One row per size, or per algorithm and size: algorithm, choice, operation, bytes,
        time_us, algbw_GBps, busbw_GBps, lower_bound_us, efficiency, verified. GB is 10^9 bytes.

        With runs=N these are means; time_us_95, algbw_GBps_95, busbw_GBps_95 and efficiency_95 are
        half the width of their 95 % confidence intervals.
        """
        import pandas

        return pandas.DataFrame(self.data["rows"])

    def to_frame(self) -> pandas.DataFrame:
        """Return the rows, each with the configuration and the cost of the whole run."""
        frame = super().to_frame()
        frame = frame.drop(columns=["bytes", "algorithm", "operation"], errors="ignore")
        return self.rows.merge(frame, how="cross")

    def __repr__(self) -> str:
        values = self.get_parameters()
        columns = {
            "bytes": "{:d}",
            "time_us": "{:.3f}",
            "algbw_GBps": "{:.3f}",
            "busbw_GBps": "{:.3f}",
            "lower_bound_us": "{:.3f}",
            "efficiency": "{:.3f}",
            "verified": "{}",
        }
        lines = [
            f"BenchmarkResult: {values['operation']}, {values.get('algorithm', 'every algorithm')}, "
            f"{values['ranks']} ranks, "
            f"{values['topology']}, {values['rate']}, {values['transport']} "
            f"({values['congestion-control']})",
            "".join(f"{name:>15}" for name in columns),
        ]
        for row in self.data["rows"]:
            lines.append("".join(f"{form.format(row[name]):>15}" for name, form in columns.items()))
        return "\n".join(lines)


class CollectiveBenchmark(Program[BenchmarkResult]):
    """A collective on a simulated cluster, measured over sizes."""

    name = "collective-benchmark"
    result_type = BenchmarkResult
    row_keys = ("algorithm", "operation", "bytes")

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[keywords.CollectiveBenchmark]) -> None: ...
