# SPDX-License-Identifier: GPL-2.0-only
"""Plots of results and of topologies, with matplotlib."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Optional, Union

from .build import find_build
from .html_view import COMPUTE, EXPOSED, WAITING
from .near_names import did_you_mean
from .program import get_program_class, to_keyword
from .sweep_frame import get_quantile
from .topology_layout import Place, TopologyLayout
from .units import split_unit

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from .collective_benchmark import BenchmarkResult
    from .training_job import TrainingResult

_LINKS = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb"]
_HOST = "#eeeeee"
_SWITCH = "#ffffff"


def _new_axes(axes: Axes | None, size: tuple[float, float]) -> Axes:
    if axes is not None:
        return axes
    import matplotlib.pyplot

    return matplotlib.pyplot.subplots(figsize=size, layout="constrained")[1]


def iteration_breakdown(results: Mapping[Any, TrainingResult], axes: Axes | None = None) -> Axes:
    """Draw the mean iteration time of each result as a bar: compute, exposed communication, waiting.

    Args:
        results: results by the label of their bar.
        axes: target axes; a new figure by default.
    """
    axes = _new_axes(axes, (6.4, 0.45 * len(results) + 1.5))
    labels = [str(label) for label in results]
    compute = [1e3 * result.compute_time_s for result in results.values()]
    exposed = [1e3 * result.exposed_communication_s for result in results.values()]
    total = [1e3 * result.iteration_time_s for result in results.values()]
    axes.barh(labels, compute, color=COMPUTE, label="compute")
    axes.barh(labels, exposed, left=compute, color=EXPOSED, label="exposed communication")
    done = [one + other for one, other in zip(compute, exposed)]
    waiting = [max(all_ - part, 0) for all_, part in zip(total, done)]
    if any(part > 1e-3 * all_ for part, all_ in zip(waiting, total)):
        axes.barh(labels, waiting, left=done, color=WAITING, label="waiting")
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
    """Draw bus bandwidth versus size for each result, with its lower bound (dashed).

    Args:
        results: results by the label of their curve.
        axes: target axes; a new figure by default.
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
    return _finish(axes)


def slowdown(results: Mapping[Any, Any], axes: Axes | None = None) -> Axes:
    """Draw the slowdown of flows versus their size for each result: median, and 99th percentile (dashed).

    A slowdown is a flow's completion time over that on an idle network.

    Args:
        results: results of FlowBenchmark by the label of their curves.
        axes: target axes; a new figure by default.
    """
    axes = _new_axes(axes, (6.4, 3.6))
    for label, result in results.items():
        rows = result.rows[result.rows["flows"] > 0]
        (line,) = axes.plot(
            rows["bytes"], rows["p50_slowdown"], marker="o", label=f"{label}, median"
        )
        axes.plot(
            rows["bytes"],
            rows["p99_slowdown"],
            color=line.get_color(),
            linestyle="--",
            label=f"{label}, 99th percentile",
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("flow size (bytes)")
    axes.set_ylabel("slowdown")
    return _finish(axes)


def speedup(results: Mapping[Any, Mapping[int, TrainingResult]], axes: Axes | None = None) -> Axes:
    """Draw the speed-up of training versus the number of ranks, and the ideal one (dotted).

    The batch of each rank stays, so the speed-up is the ratio of samples per second. That of the
    fewest ranks counts as their number.

    Args:
        results: by the label of their curve, results by number of ranks.
        axes: target axes; a new figure by default.
    """
    axes = _new_axes(axes, (6.4, 3.6))
    every: set[int] = set()
    for label, curve in results.items():
        ranks = sorted(curve)
        every.update(ranks)
        first = curve[ranks[0]].iteration_time_s
        axes.plot(
            ranks,
            [count * first / curve[count].iteration_time_s for count in ranks],
            marker="o",
            label=str(label),
        )
    ideal = sorted(every)
    axes.plot(ideal, ideal, color="#777777", linestyle=":", label="ideal")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    _number_plainly(axes.xaxis, axes.yaxis)
    axes.set_xlabel("ranks")
    axes.set_ylabel("speed-up")
    return _finish(axes)


def roofline(results: Mapping[Any, TrainingResult], axes: Axes | None = None) -> Axes:
    """Draw how much of the GPUs' speed jobs reach, versus their computation per communication.

    The horizontal axis is the time of computation over that of communication. With perfect overlap
    a job reaches the roof: at 1 and above all of the speed, below it this ratio.

    Args:
        results: results by the label of their point; each communicates.
        axes: target axes; a new figure by default.
    """
    axes = _new_axes(axes, (6.4, 3.6))
    ratios = []
    for label, result in results.items():
        ratios.append(result.compute_time_s / result.communication_time_s)
        reached = 100 * result.compute_time_s / result.iteration_time_s
        axes.plot(ratios[-1], reached, marker="o", linestyle="", label=str(label))
    low, high = min([0.5, *ratios]) / 1.5, max([2, *ratios]) * 1.5
    axes.plot([low, 1, high], [100 * low, 100, 100], color="#777777", label="roof")
    axes.set_xscale("log", base=2)
    _number_plainly(axes.xaxis)
    axes.set_ylim(0, 110)
    axes.set_xlabel("time of computation / time of communication")
    axes.set_ylabel("part of the GPUs' speed (%)")
    return _finish(axes)


def _number_plainly(*axis: Axis) -> None:
    from matplotlib.ticker import ScalarFormatter

    for each in axis:
        each.set_major_formatter(ScalarFormatter())


def _finish(axes: Axes) -> Axes:
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return axes


def sweep(
    frame: pandas.DataFrame,
    x: str,
    y: str,
    hue: Optional[str] = None,
    axes: Axes | None = None,
    *,
    col: Optional[str] = None,
    row: Optional[str] = None,
    by: Optional[str] = None,
) -> Axes:
    """Draw a column of a sweep versus another one, with 95 % confidence intervals if it has them.

    Rows that repeat at an equal x, as runs with other random numbers do, are drawn as their mean and
    its 95 % band. Rows that repeat as another option differs are refused.

    Args:
        frame: result of sweep() or read_sweep(); rows without a value are left out.
        x: name of the column on the horizontal axis; values that are not numbers are categories.
        y: name of a column of numbers.
        hue: name of a column with one curve per value; a single curve by default.
        axes: target axes; a new figure by default.
        col: name of a column with one picture per value, side by side.
        row: name of a column with one picture per value, one below the other.
        by: former name of hue.

    Returns the axes; with col or row those at the top left, whose figure has all.

    Raises ValueError for a column that the frame does not have, for rows that repeat as another
    option differs, and for axes with col or row.
    """
    hue = hue or by
    for name in (x, y, hue, col, row):
        if name is not None and (not isinstance(name, str) or name not in frame):
            near = did_you_mean(name, frame.columns) if isinstance(name, str) else ""
            allowed = ", ".join(frame.columns)
            raise ValueError(f"column {name!r}{near} (allowed: {allowed})")
    if frame[y].dtype.kind not in "iuf":
        raise ValueError(f"column {y!r} (allowed: a column of numbers)")
    if axes is not None and (col or row):
        raise ValueError("axes with col or row (allowed: one of them)")
    rows = frame[frame[y].notna()]
    if rows[x].dtype.kind not in "iuf":
        rows = rows.assign(**{x: rows[x].astype(str)})
    else:
        rows = rows.sort_values(x, kind="stable")
    _check_repetition(rows, [name for name in (x, hue, col, row) if name])
    columns = list(rows[col].unique()) if col else [None]
    lines = list(rows[row].unique()) if row else [None]
    pictures: Any
    if not (col or row):
        pictures = [[_new_axes(axes, (6.4, 3.6))]]
    else:
        import matplotlib.pyplot

        size = (1.2 + 3.4 * len(columns), 0.8 + 2.6 * len(lines))
        pictures = matplotlib.pyplot.subplots(
            len(lines), len(columns), figsize=size, layout="constrained", sharey=True, squeeze=False
        )[1]
    curves = list(rows[hue].unique()) if hue else [None]
    for below, line in enumerate(lines):
        for beside, column in enumerate(columns):
            picture = pictures[below][beside]
            part = rows if line is None else rows[rows[row] == line]
            part = part if column is None else part[part[col] == column]
            _draw_curves(picture, part, x, y, hue, curves)
            title = [f"{split_unit(n)[0]} {v}" for n, v in ((col, column), (row, line)) if n]
            picture.set_title(", ".join(title), fontsize="medium")
    first: Axes = pictures[0][0]
    if hue and len(rows):
        first.legend(frameon=False, title=split_unit(hue)[0])
    return first


def _check_repetition(rows: pandas.DataFrame, names: list[str]) -> None:
    """Raise ValueError if rows with equal values in the named columns differ in another option."""
    # What a frame tells of a run besides its options; numbers with fractions are measured.
    told = {"job", "run", "seed", "attempts", "build", "command", "error", "note", "ns3_version"}
    told |= {"program", "started", "version", "inputs", "results", "json", "trace", "report"}
    options = [k for k in rows if k not in told and not (k in names or rows[k].dtype.kind == "f")]
    if "program" in rows:
        kinds = [get_program_class(name) for name in rows["program"].unique()]
        known = {to_keyword(o["name"]) for kind in kinds for o in kind.describe()["options"]}
        options = [k for k in rows if k in known - told - set(names)]
    for _, group in rows.groupby(names, sort=False, dropna=False):
        if len(group) == 1:
            continue
        values = {option: group[option].map(str).unique() for option in options}
        different = [f"{k} {', '.join(v[:3])}" for k, v in values.items() if len(v) > 1]
        if different:
            where = ", ".join(f"{name} {group[name].iloc[0]}" for name in names)
            raise ValueError(
                f"{len(group)} rows have {where}, and differ in {'; '.join(different[:8])} (allowed: "
                "such an option as hue, col or row, or rows with one value of it)"
            )


def _draw_curves(
    axes: Axes, rows: pandas.DataFrame, x: str, y: str, hue: Optional[str], labels: list[Any]
) -> None:
    """Draw a curve for each label: means, with their intervals."""
    from matplotlib.ticker import EngFormatter

    for number, label in enumerate(labels):
        curve = rows if hue is None else rows[rows[hue] == label]
        if curve.empty:
            continue
        groups = curve.groupby(x, sort=False)[y]
        mean, count, width = groups.mean(), groups.count(), curve.get(f"{y}_95")
        style: dict[str, Any] = {"color": f"C{number}", "marker": "o"}
        text = None if hue is None else str(label)
        if count.max() == 1:
            widths = None if width is None else width.fillna(0)
            axes.errorbar(curve[x], curve[y], widths, capsize=3, label=text, **style)
            continue
        axes.plot(mean.index, mean, label=text, **style)
        factors = [get_quantile(n - 1) / n**0.5 if n > 1 else 0.0 for n in count]
        half = groups.std().fillna(0) * factors
        axes.fill_between(mean.index, mean - half, mean + half, color=f"C{number}", alpha=0.2)
    if rows[x].dtype.kind in "iuf" and rows[x].nunique() <= 10:
        axes.set_xticks(rows[x].unique())
    for name, axis in ((x, axes.xaxis), (y, axes.yaxis)):
        words, unit = split_unit(name)
        axis.set_label_text(words if unit in ("", "s") else f"{words} ({unit})")
        if unit == "s":
            axis.set_major_formatter(EngFormatter("s"))
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)


def accuracy_over_time(results: Mapping[Any, TrainingResult], axes: Axes | None = None) -> Axes:
    """Draw the test accuracy of trainings inside jobs versus simulated time.

    Args:
        results: results of jobs with a training, such as gradients="learn", by the label of their
            curve.
        axes: target axes; a new figure by default.
    """
    axes = _new_axes(axes, (6.4, 3.6))
    for label, result in results.items():
        rows = result.learning
        axes.plot(1e3 * rows["end_s"], 100 * rows["test_accuracy"], label=str(label), linewidth=1)
    axes.set_xlim(left=0)
    axes.set_xlabel("simulated time (ms)")
    axes.set_ylabel("test accuracy (%)")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return axes


def get_topology(topology: str, ranks: Optional[int] = None) -> dict[str, Any]:
    """Return a topology in the format of ``--export-topology``.

    Args:
        topology: value of ``--topology``, such as "torus:4x4" or "file:PATH".
        ranks: for topologies whose size depends on it; the program's default otherwise.
    """
    with tempfile.TemporaryDirectory() as directory:
        file = pathlib.Path(directory) / "topology.json"
        command = [find_build().get_program("collective-benchmark"), f"--topology={topology}"]
        command += [f"--export-topology={file}", "--print-topology"]
        command += [f"--ranks={ranks}"] if ranks is not None else []
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode:
            raise ValueError(run.stderr.strip())
        return json.loads(file.read_text())


def topology(
    topology: Union[str, Mapping[str, Any]],
    ranks: Optional[int] = None,
    axes: Axes | None = None,
) -> Axes:
    """Draw the nodes and links of a topology.

    Grids, tori and packages are drawn as grids, with wrap-around links as arcs; trees in layers,
    with the hosts at the bottom; topologies with links within a layer (dragonfly, full mesh,
    BiGraph) in a circle. Colors distinguish links of different rates or delays. A switch with a
    single host is drawn as one node with it.

    Args:
        topology: value of ``--topology``, or a document in the format of ``--export-topology``.
        ranks: for topologies whose size depends on it.
        axes: target axes; a new figure by default.
    """
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

    graph = TopologyLayout(get_topology(topology, ranks) if isinstance(topology, str) else topology)
    places = graph.get_places()
    width, height = (max(v) - min(v) + 1 for v in zip(*places.values()))
    scale = min(1, 16 / max(width, height))
    size = (max(4.0, width * scale), max(2.5, height * scale) + 0.8)
    axes = _new_axes(axes, size)
    kinds: dict[tuple[str, str], list[list[Place]]] = {}
    for kind, lines in graph.get_lines(places).items():
        kinds.setdefault(kind, []).extend(lines)
    handles = []
    thin = max(0.4, 1.6 * scale)
    for index, (kind, lines) in enumerate(kinds.items()):
        color = _LINKS[index % len(_LINKS)]
        axes.add_collection(LineCollection(lines, colors=color, linewidths=thin, zorder=1))
        label = f"{_format_rate(kind[0])}, {_format_delay(kind[1])} ({len(lines)})"
        handles.append(Line2D([], [], color=color, label=label))
    side = 14 * scale
    for node, (x, y) in places.items():
        host = node < graph.hosts or node in graph.joined
        axes.plot(
            [x],
            [y],
            marker="o" if host else "s",
            markersize=side if host else 1.1 * side,
            color=_HOST if host else _SWITCH,
            markeredgecolor="black",
            markeredgewidth=0.8 * scale,
            zorder=2,
        )
        text = f"{graph.joined.get(node, node)}" if host else f"s{node - graph.hosts}"
        if side > 4:
            axes.annotate(text, (x, y), ha="center", va="center", fontsize=0.45 * side, zorder=3)
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.margins(0.08)
    axes.autoscale_view()
    axes.legend(
        handles=handles, frameon=False, loc="upper center", bbox_to_anchor=(0.5, 0.02), fontsize=8
    )
    return axes


def _format_rate(rate: str) -> str:
    bits = float(rate.removesuffix("bps"))
    for unit, factor in (("Tbit/s", 1e12), ("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3)):
        if bits >= factor:
            return f"{bits / factor:g} {unit}"
    return f"{bits:g} bit/s"


def _format_delay(delay: str) -> str:
    seconds = float(delay.removesuffix("ps")) * 1e-12
    for unit, factor in (("s", 1), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)):
        if seconds >= factor:
            return f"{seconds / factor:g} {unit}"
    return f"{seconds * 1e12:g} ps"


def draw_program(program: str, file: str, *options: str) -> int:
    """Describe and draw the topology that a program would simulate; return the exit status.

    Args:
        program: name of the program, such as "collective-benchmark".
        file: image file; its suffix selects the format, as in matplotlib.
        options: options of the program.
    """
    with tempfile.TemporaryDirectory() as directory:
        exported = pathlib.Path(directory) / "topology.json"
        command = [find_build().get_program(program), *options]
        command += ["--print-topology", f"--export-topology={exported}"]
        status = subprocess.run(command, check=False).returncode
        if status:
            return status
        figure: Any = topology(json.loads(exported.read_text())).figure
    try:
        figure.savefig(file)
    except (OSError, ValueError) as error:
        print(
            f"{program}: --plot-topology={file} cannot be written: {error} "
            "(allowed: a file that ends in .svg, .pdf or .png)",
            file=sys.stderr,
        )
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(draw_program(*sys.argv[1:]))
