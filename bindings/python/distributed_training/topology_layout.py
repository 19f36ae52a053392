# SPDX-License-Identifier: GPL-2.0-only
"""Positions of the nodes in a drawing of a topology, for plot.topology()."""

from __future__ import annotations

import collections
import math
from collections.abc import Mapping
from typing import Any

Place = tuple[float, float]


class TopologyLayout:
    """A topology with the layout of its drawing."""

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
        if len(self.joined) < self.hosts:  # one host of a leaf is not a router
            self.joined = {}
        joined_hosts = set(self.joined.values())
        self.drawn = [n for n in range(self.nodes) if n not in joined_hosts]

    def get_lines(
        self, places: Mapping[int, Place]
    ) -> dict[tuple[str, str], list[list[Place]]]:
        """Return the links as lines, by rate and delay; parallel links and long links are bent."""
        lines: dict[tuple[str, str], list[list[Place]]] = {}
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
            lines.setdefault(kind, []).append(bend_line(places[a], places[b], bend))
        return lines

    def _has_node_between(self, places: Mapping[int, Place], a: int, b: int) -> bool:
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

    def get_places(self) -> dict[int, Place]:
        """Return the position of each node; adjacent nodes are 1 apart."""
        if self.sides and self.joined and len(self.joined) == math.prod(self.sides):
            return self._get_grid()
        layers = self._get_layers()
        within = any(
            layers.get(link["a"], -1) == layers.get(link["b"], -2) for link in self.links
        )
        return self._get_circle(layers) if within else self._get_rows(layers)

    def _get_grid(self) -> dict[int, Place]:
        switch_of = {host: switch for switch, host in self.joined.items()}
        package = self.group if self.group > 1 and self.sides[-1] == self.group else 0
        sides = self.sides[:-1] if package else list(self.sides)
        inner = sides[2:]
        radius = max(0.8, package / 5) if package else 0.0
        step = 2 * radius + 1.4 if package else 1.0
        rows = sides[0] if len(sides) > 1 else 1
        columns = sides[1] if len(sides) > 1 else sides[0]
        places: dict[int, Place] = {}
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
            shift = 0.18 if inner else 0.0  # keeps links between panels from overlapping
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
        """Hops from the nearest host; switches of a single server are drawn below their hosts."""
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
            layers.setdefault(node, 1)  # no links
        if max(layers.values()) > 1:
            for node in self.drawn:
                if layers[node] == 1 and all(layers[n] == 0 for n in self.neighbors[node]):
                    layers[node] = -1
        return layers

    def _get_rows(self, layers: Mapping[int, int]) -> dict[int, Place]:
        rows: dict[int, list[int]] = collections.defaultdict(list)
        for node in self.drawn:
            rows[layers[node]].append(node)
        width = max(len(row) for row in rows.values())
        places: dict[int, Place] = {}
        for layer in sorted(rows, key=lambda layer: (abs(layer), layer)):
            row = rows[layer]

            def get_middle(node: int) -> float:
                near = [places[n][0] for n in self.neighbors[node] if n in places]
                return sum(near) / len(near) if near else 0.0

            row.sort(key=lambda node: (round(get_middle(node), 6), node))
            for index, node in enumerate(row):
                places[node] = ((index + 0.5) * width / len(row), 2.2 * layer)
        return places

    def _get_circle(self, layers: Mapping[int, int]) -> dict[int, Place]:
        center = [n for n in self.drawn if layers[n] > 0 or n in self.joined]
        fans = {n: [h for h in self.neighbors[n] if h in layers and h < self.hosts] for n in center}
        spokes = sum(max(1, len(hosts)) for hosts in fans.values())
        radius = max(1.2, spokes / (2 * math.pi))
        places: dict[int, Place] = {}
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


def bend_line(a: Place, b: Place, bend: float) -> list[Place]:
    """Return a curve from a to b; `bend` is its distance from the chord, relative to its length."""
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
