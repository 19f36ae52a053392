# SPDX-License-Identifier: GPL-2.0-only
"""Pictures of results and of topologies, with matplotlib."""

from __future__ import annotations

import collections
import json
import math
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Optional, Union

from .build import find_build

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .collective_benchmark import BenchmarkResult
    from .training_job import TrainingResult

_COMPUTE = "#4477aa"
_EXPOSED = "#ee6677"
_LINKS = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb"]
_HOST = "#eeeeee"
_SWITCH = "#ffffff"

_Place = tuple[float, float]


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


def get_topology(topology: str, ranks: Optional[int] = None) -> dict[str, Any]:
    """Return a topology as ``--export-topology`` writes it.

    Args:
        topology: as ``--topology`` has it, such as "torus:4x4" or "file:PATH".
        ranks: for topologies that grow with them; the program's default otherwise.
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

    Grids, tori and packages are drawn as such, wrap-around links as arcs; trees in layers, the hosts
    at the bottom; what has links within a layer (dragonfly, full mesh, BiGraph) in a circle. Colors
    tell links of different rates or delays apart. A host that is the only one of its switch is drawn
    as one node with it.

    Args:
        topology: as ``--topology`` has it, or a document as ``--export-topology`` writes it.
        ranks: for topologies that grow with them.
        axes: where to draw; a new figure by default.
    """
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

    graph = _Graph(get_topology(topology, ranks) if isinstance(topology, str) else topology)
    places = graph.get_places()
    width, height = (max(v) - min(v) + 1 for v in zip(*places.values()))
    scale = min(1, 16 / max(width, height))
    size = (max(4.0, width * scale), max(2.5, height * scale) + 0.8)
    axes = _new_axes(axes, size)
    kinds: dict[tuple[str, str], list[list[_Place]]] = {}
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
            axes.annotate(
                text, (x, y), ha="center", va="center", fontsize=0.45 * side, zorder=3
            )
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


class _Graph:
    """A topology as it is drawn."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.hosts: int = document["hosts"]
        self.nodes: int = self.hosts + document.get("switches", 0)
        self.links: list[Mapping[str, Any]] = document["links"]
        self.sides: list[int] = document.get("sides", [])
        self.group: int = document.get("groupSize", 1)
        neighbors: dict[int, list[int]] = collections.defaultdict(list)
        for link in self.links:
            neighbors[link["a"]].append(link["b"])
            neighbors[link["b"]].append(link["a"])
        self.neighbors = neighbors
        # Switches drawn as one node with their only host, by switch.
        self.joined: dict[int, int] = {}
        for host in range(self.hosts):
            near = set(neighbors[host])
            if len(near) == 1:
                switch = near.pop()
                around = set(neighbors[switch])
                if {n for n in around if n < self.hosts} == {host} and len(around) > 1:
                    self.joined[switch] = host
        if len(self.joined) < self.hosts:  # one host of a leaf is no router
            self.joined = {}
        joined_hosts = set(self.joined.values())
        self.drawn = [n for n in range(self.nodes) if n not in joined_hosts]

    def get_lines(
        self, places: Mapping[int, _Place]
    ) -> dict[tuple[str, str], list[list[_Place]]]:
        """Return the links as lines, by rate and delay; parallel ones and long ones bent."""
        lines: dict[tuple[str, str], list[list[_Place]]] = {}
        seen: collections.Counter[tuple[int, int]] = collections.Counter()
        for link in self.links:
            a, b = sorted((link["a"], link["b"]))
            if a not in places or b not in places:
                continue
            count = seen[a, b]
            seen[a, b] += 1
            distance = math.dist(places[a], places[b])
            through = distance > 1.6 and self._has_node_between(places, a, b)
            bend = (0.12 if through else 0.0) + 0.08 * ((count + 1) // 2) * (-1) ** count
            kind = (link["rate"], link["delay"])
            lines.setdefault(kind, []).append(_bend(places[a], places[b], bend))
        return lines

    def _has_node_between(self, places: Mapping[int, _Place], a: int, b: int) -> bool:
        (xa, ya), (xb, yb) = places[a], places[b]
        length = math.dist(places[a], places[b])
        for node, (x, y) in places.items():
            if node in (a, b):
                continue
            along = ((x - xa) * (xb - xa) + (y - ya) * (yb - ya)) / length
            across = abs((x - xa) * (yb - ya) - (y - ya) * (xb - xa)) / length
            if 0 < along < length and across < 0.25:
                return True
        return False

    def get_places(self) -> dict[int, _Place]:
        """Return where each node is drawn; nodes next to each other are 1 apart."""
        if self.sides and self.joined and len(self.joined) == math.prod(self.sides):
            return self._get_grid()
        layers = self._get_layers()
        within = any(
            layers.get(link["a"], -1) == layers.get(link["b"], -2) for link in self.links
        )
        return self._get_circle(layers) if within else self._get_rows(layers)

    def _get_grid(self) -> dict[int, _Place]:
        switch_of = {host: switch for switch, host in self.joined.items()}
        package = self.group if self.group > 1 and self.sides[-1] == self.group else 0
        sides = self.sides[:-1] if package else list(self.sides)
        inner = sides[2:]
        # Dimensions beyond two: panels side by side, and below each other, in turn.
        across = math.prod(inner[0::2]) if inner else 1
        down = math.prod(inner[1::2]) if inner else 1
        radius = max(0.8, package / 5) if package else 0.0
        step = 2 * radius + 1.4 if package else 1.0
        rows = sides[0] if len(sides) > 1 else 1
        columns = sides[1] if len(sides) > 1 else sides[0]
        places: dict[int, _Place] = {}
        for host, switch in switch_of.items():
            rest = host
            if package:
                rest, spoke = divmod(host, package)
            coordinates = []
            for side in reversed(sides):
                rest, coordinate = divmod(rest, side)
                coordinates.append(coordinate)
            coordinates.reverse()
            row, column = (coordinates + [0])[:2] if len(sides) > 1 else (0, coordinates[0])
            panel_x = panel_y = 0
            for index, coordinate in enumerate(coordinates[2:]):
                if index % 2 == 0:
                    panel_x = panel_x * inner[index] + coordinate
                else:
                    panel_y = panel_y * inner[index] + coordinate
            shift = 0.18 if inner else 0.0  # so that links between panels do not cover each other
            x = step * column + panel_x * (columns * step + 1.0) + shift * row
            y = -step * row - panel_y * (rows * step + 1.0) - shift * panel_x
            if package:
                angle = 2 * math.pi * spoke / package + math.pi / 4
                x += radius * math.cos(angle)
                y += radius * math.sin(angle)
            places[switch] = (x, y)
        # Local switches in the middle of their package.
        middle: dict[tuple[int, int], list[int]] = collections.defaultdict(list)
        for node in self.drawn:
            if node not in places:
                near = [n for n in self.neighbors[node] if n in places]
                x = sum(places[n][0] for n in near) / max(1, len(near))
                y = sum(places[n][1] for n in near) / max(1, len(near))
                middle[round(1000 * x), round(1000 * y)].append(node)
        for (x, y), nodes in middle.items():
            for index, node in enumerate(nodes):
                places[node] = (x / 1000 + 0.3 * (index - (len(nodes) - 1) / 2), y / 1000)
        return places

    def _get_layers(self) -> dict[int, int]:
        """Hops from the nearest host; switches of a server alone lie below their hosts."""
        layers = {n: 0 for n in self.drawn if n < self.hosts or n in self.joined}
        queue = collections.deque(layers)
        drawn = set(self.drawn)
        while queue:
            node = queue.popleft()
            for near in self.neighbors[node]:
                if near not in layers and near in drawn:
                    layers[near] = layers[node] + 1
                    queue.append(near)
        for node in self.drawn:
            layers.setdefault(node, 1)  # linked to nothing
        if max(layers.values()) > 1:
            for node in self.drawn:
                if layers[node] == 1 and all(layers[n] == 0 for n in self.neighbors[node]):
                    layers[node] = -1
        return layers

    def _get_rows(self, layers: Mapping[int, int]) -> dict[int, _Place]:
        rows: dict[int, list[int]] = collections.defaultdict(list)
        for node in self.drawn:
            rows[layers[node]].append(node)
        width = max(len(row) for row in rows.values())
        places: dict[int, _Place] = {}
        for layer in sorted(rows, key=lambda layer: (abs(layer), layer)):
            row = rows[layer]

            def get_middle(node: int) -> float:
                near = [places[n][0] for n in self.neighbors[node] if n in places]
                return sum(near) / len(near) if near else 0.0

            row.sort(key=lambda node: (round(get_middle(node), 6), node))
            for index, node in enumerate(row):
                places[node] = ((index + 0.5) * width / len(row), 2.2 * layer)
        return places

    def _get_circle(self, layers: Mapping[int, int]) -> dict[int, _Place]:
        center = [n for n in self.drawn if layers[n] > 0 or n in self.joined]
        fans = {n: [h for h in self.neighbors[n] if h in layers and h < self.hosts] for n in center}
        spokes = sum(max(1, len(hosts)) for hosts in fans.values())
        radius = max(1.2, spokes / (2 * math.pi))
        places: dict[int, _Place] = {}
        at = 0
        for node in center:
            hosts = [h for h in fans[node] if h not in places and node not in self.joined]
            wide = max(1, len(fans[node]))
            for index in range(wide + 1):
                middle = index == wide
                angle = 2 * math.pi * (at + (wide - 1) / 2 if middle else at + index) / spokes
                place = (math.cos(angle), math.sin(angle))
                if middle:
                    places[node] = (radius * place[0], radius * place[1])
                elif index < len(hosts):
                    places[hosts[index]] = ((radius + 1.2) * place[0], (radius + 1.2) * place[1])
            at += wide
        return places


def _bend(a: _Place, b: _Place, bend: float) -> list[_Place]:
    """Return a line from a to b whose middle is so far from the straight one, relative to it."""
    if not bend:
        return [a, b]
    steps = 16
    line = []
    for i in range(steps + 1):
        t = i / steps
        away = 4 * bend * t * (1 - t)
        line.append(
            (
                a[0] + t * (b[0] - a[0]) - away * (b[1] - a[1]),
                a[1] + t * (b[1] - a[1]) + away * (b[0] - a[0]),
            )
        )
    return line


def draw_program(program: str, file: str, *options: str) -> int:
    """Describe and draw the topology that a program would simulate; return the exit status.

    Args:
        program: its name, such as "collective-benchmark".
        file: in a format that matplotlib knows by the end of its name.
        options: of the program.
    """
    with tempfile.TemporaryDirectory() as directory:
        exported = pathlib.Path(directory) / "topology.json"
        command = [find_build().get_program(program), *options]
        command += ["--print-topology", f"--export-topology={exported}"]
        status = subprocess.run(command, check=False).returncode
        if status:
            return status
        axes = topology(json.loads(exported.read_text()))
    try:
        axes.figure.savefig(file)
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
