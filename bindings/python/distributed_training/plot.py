# SPDX-License-Identifier: GPL-2.0-only
"""Pictures of results, with matplotlib."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .collective_benchmark import BenchmarkResult
    from .training_job import TrainingResult

_COMPUTE = "#4477aa"
_EXPOSED = "#ee6677"


def _new_axes(axes: Axes | None, size: tuple[float, float]) -> Axes:
    if axes is not None:
        return axes
    import matplotlib.pyplot

    return matplotlib.pyplot.subplots(figsize=size, layout="constrained")[1]


def iteration_breakdown(results: Mapping[Any, TrainingResult], axes: Axes | None = None) -> Axes:
    """Draw the mean iteration time of each result as a bar: compute, exposed communication.

    Args:
        results: by the label of their bars.
        axes: where to draw; a new figure by default.
    """
    axes = _new_axes(axes, (6.4, 0.45 * len(results) + 1.5))
    labels = [str(label) for label in results]
    compute = [1e3 * result.compute_time_s for result in results.values()]
    exposed = [1e3 * result.exposed_communication_s for result in results.values()]
    total = [1e3 * result.iteration_time_s for result in results.values()]
    axes.barh(labels, compute, color=_COMPUTE, label="compute")
    axes.barh(labels, exposed, left=compute, color=_EXPOSED, label="exposed communication")
    for index, result in enumerate(results.values()):
        axes.annotate(
            f"{total[index]:.1f} ms ({100 * result.scaling_efficiency:.0f} %)",
            (total[index], index),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
        )
    axes.set_xlim(0, 1.35 * max(total, default=1))  # room for the text
    axes.invert_yaxis()
    axes.set_xlabel("iteration time (ms), scaling efficiency (%)")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.45, -0.22), ncols=2)
    return axes


def bus_bandwidth(results: Mapping[Any, BenchmarkResult], axes: Axes | None = None) -> Axes:
    """Draw bus bandwidth versus size for each result, and what the lower bound allows (dashed).

    Args:
        results: by the label of their curves.
        axes: where to draw; a new figure by default.
    """
    axes = _new_axes(axes, (6.4, 3.6))
    for label, result in results.items():
        rows = result.rows[result.rows["bytes"] > 0]
        (line,) = axes.plot(rows["bytes"], rows["busbw_GBps"], marker="o", label=str(label))
        bound = rows["busbw_GBps"] / rows["efficiency"]
        axes.plot(rows["bytes"], bound, color=line.get_color(), linestyle="--", linewidth=0.8)
    axes.set_xscale("log", base=2)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("size (bytes)")
    axes.set_ylabel("bus bandwidth (GB/s)")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return axes
