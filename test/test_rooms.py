# SPDX-License-Identifier: GPL-2.0-only
"""The order of rooms that doc/architecture.rst describes, held against the includes of all sources.

Needs no build: python3 -m pytest test/test_rooms.py
"""

import re
from pathlib import Path

import pytest
from draw_rooms import draw, get_covers, get_floors

ROOT = Path(__file__).resolve().parent.parent
ARCHITECTURE = ROOT / "doc/architecture.rst"


def read_table(name):
    """Return the rows of a list-table of doc/architecture.rst, each a list of cells."""
    text = ARCHITECTURE.read_text(encoding="ascii")
    body = re.search(rf":name: {name}\n(?:   :.*\n)*\n((?:   .*\n|\n)*)", text).group(1)
    rows = [
        re.split(r"\n     -(?: |\n|$)", row.strip())
        for row in re.split(r"^   \* - ", body, flags=re.M)
    ]
    return [[" ".join(cell.split()) for cell in row] for row in rows[2:]]


def names(cell):
    return re.findall(r"``(.*?)``", cell)


def read_rooms():
    """Return {room: the rooms whose headers it may include}, in the order of the table."""
    rooms = {}
    for room, _, below in read_table("rooms"):
        (name,) = names(room)
        if below.startswith("all of the above"):
            rooms[name] = set(rooms) - set(names(below))  # "all of the above but ``shared``"
        else:
            rooms[name] = set(names(below))
    return rooms


ROOMS = read_rooms()
ORDER = list(ROOMS)
SOURCES = sorted(
    path
    for folder in ("model", "helper", "program")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in (".h", ".cc")
)
HEADERS = {path.name: path for path in SOURCES if path.suffix == ".h"}
PUBLIC = {
    ROOT / name
    for name in re.search(
        r"^set\(header_files\n(.*?)^\)", (ROOT / "CMakeLists.txt").read_text(), re.M | re.S
    )
    .group(1)
    .split()
}


def short(path):
    return str(path.relative_to(ROOT))


def get_room(path):
    """Return a file's room: the folder of model or program that it is in, or helper."""
    parts = path.relative_to(ROOT).parts
    return parts[0] if parts[0] == "helper" else parts[1]


def get_includes(path):
    """Return [(text of the include, file)] of the module's headers that a file includes."""
    texts = re.findall(r'^ *# *include "([^"]+)"', path.read_text(encoding="ascii"), re.M)
    return [
        (text, HEADERS[text.split("/")[-1]]) for text in texts if text.split("/")[-1] in HEADERS
    ]


def find_circles(graph):
    """Return the sets of nodes that reach each other (strongly connected, more than one node)."""

    def reach(start, edges):
        found, ahead = set(), [start]
        while ahead:
            for node in edges.get(ahead.pop(), ()):
                if node not in found:
                    found.add(node)
                    ahead.append(node)
        return found

    reverse = {}
    for node, nexts in graph.items():
        for following in nexts:
            reverse.setdefault(following, set()).add(node)
    circles = {frozenset(reach(node, graph) & reach(node, reverse)) for node in graph}
    return sorted(sorted(circle) for circle in circles if len(circle) > 1)


def test_finds_circles():
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "e": {"d"}, "f": {"a"}}
    assert find_circles(graph) == [["a", "b", "c"], ["d", "e"]]
    assert find_circles({"a": {"b", "c"}, "b": {"c"}}) == []


def test_table_names_only_rooms_above_it():
    for index, (room, below) in enumerate(ROOMS.items()):
        assert below <= set(ORDER[:index]), f"{room} may include only rooms before it"


def test_every_file_is_in_a_room():
    strays = [short(path) for path in SOURCES if get_room(path) not in ROOMS]
    assert strays == []
    empty = [room for room in ROOMS if not any(get_room(path) == room for path in SOURCES)]
    assert empty == []


def test_drawing_shows_every_room_on_its_floor():
    text = ARCHITECTURE.read_text(encoding="ascii")
    drawing = re.search(r"\n   floor\b.*\n((?:   .*\n|\n)*)", text).group(1)
    drawn = {}
    for floor, line in re.findall(r"^ +(\d+) +\|(.*)", drawing, re.M):
        for room in re.findall(r"\[ *([a-z]+) *\]", line):
            drawn[room] = int(floor)
    assert drawn == get_floors(ROOMS)


def test_figure_is_that_of_the_table():
    texts = {names(room)[0]: text for room, text, _ in read_table("rooms")}
    stored = (ROOT / "doc/images/rooms.svg").read_text(encoding="ascii")
    assert stored == draw(ROOMS, texts), "python3 test/draw_rooms.py > doc/images/rooms.svg"


def test_figure_has_the_lines_that_follow_from_no_others():
    rooms = {"a": set(), "b": {"a"}, "c": {"a"}, "d": {"a", "b"}}
    assert get_covers(rooms) == [("b", "a"), ("c", "a"), ("d", "b")]
    assert get_floors(rooms) == {"a": 0, "b": 1, "c": 1, "d": 2}
    shown = draw(rooms, {room: f"knows {room}: more" for room in rooms})
    assert shown.count("<path") == 3
    assert shown.count(">knows ") == 4 and "more" not in shown


@pytest.mark.parametrize("room", ORDER)
def test_includes_point_downwards(room):
    wrong = [
        f"{short(path)} includes {short(header)}"
        for path in SOURCES
        if get_room(path) == room
        for _, header in get_includes(path)
        if get_room(header) not in ROOMS[room] | {room}
    ]
    assert wrong == []


def spell(header, folder):
    """Return how a file in a folder includes a header: a private one with its room."""
    if header not in PUBLIC:
        return "/".join(header.relative_to(ROOT).parts[1:])
    return header.name if header.parent == folder else f"ns3/{header.name}"


def test_includes_are_spelled_by_folder():
    """A public header of the same folder as "x.h", any other one as "ns3/x.h"."""
    wrong = [
        f'{short(path)}: "{text}"'
        for path in SOURCES
        for text, header in get_includes(path)
        if text != spell(header, path.parent)
    ]
    assert wrong == []


def test_public_headers_include_only_public_ones():
    wrong = [
        f"{short(path)} includes {short(header)}"
        for path in PUBLIC
        for _, header in get_includes(path)
        if header not in PUBLIC
    ]
    assert wrong == []
    assert len(PUBLIC) < len(HEADERS)


def test_headers_include_each_other_in_no_circle():
    graph = {
        short(path): {short(header) for _, header in get_includes(path)}
        for path in SOURCES
        if path.suffix == ".h"
    }
    assert find_circles(graph) == []


def test_file_pairs_need_each_other_in_no_circle():
    """x.h and x.cc count as one."""
    graph = {}
    for path in SOURCES:
        unit = short(path.with_suffix(""))
        for _, header in get_includes(path):
            other = short(header.with_suffix(""))
            if other != unit:
                graph.setdefault(unit, set()).add(other)
    assert find_circles(graph) == []


def test_rooms_below_know_no_system_in_the_network():
    """Neither an include nor a name: a system's frames are its own."""
    systems = [path.name for path in (ROOT / "model/innetwork").iterdir() if path.is_dir()]
    words = "|".join(rf"(?<![a-z]){name.replace('-', '[-_]?')}" for name in systems)
    below = set(ORDER[: ORDER.index("innetwork")])
    wrong = [
        f"{short(path)}:{number}: {line.strip()}"
        for path in SOURCES
        if get_room(path) in below
        for number, line in enumerate(path.read_text(encoding="ascii").splitlines(), 1)
        if re.search(words, line, re.I)
    ]
    assert wrong == []


def find_suite_room(name):
    """Return the room that a suite tests, by the longest prefix in the table `suites-of-rooms`."""
    prefixes = {
        prefix: names(room)[0]
        for room, suites in read_table("suites-of-rooms")
        for prefix in names(suites)
    }
    fitting = [prefix for prefix in prefixes if re.match(rf"{prefix}(-|$)", name)]
    return prefixes[max(fitting, key=len)] if fitting else None


def get_test_includes(path, seen):
    """As get_includes(), through the headers that tests share."""
    found = get_includes(path)
    for text in re.findall(r'^#include "([^"/]+)"', path.read_text(encoding="ascii"), re.M):
        shared = path.parent / text
        if shared.exists() and shared not in seen:
            seen.add(shared)
            found += get_test_includes(shared, seen)
    return found


@pytest.mark.parametrize("suite", sorted(path.name for path in ROOT.glob("test/*-test-suite.cc")))
def test_suites_include_only_their_room_and_those_below(suite):
    """And helpers, which set up what is tested."""
    room = find_suite_room(suite[: -len("-test-suite.cc")])
    assert (
        room
    ), f"{suite} belongs to no room: see the table suites-of-rooms in doc/architecture.rst"
    allowed = set(ORDER[: ORDER.index(room) + 1]) | {"helper"}
    wrong = [
        header.name
        for _, header in get_test_includes(ROOT / "test" / suite, set())
        if get_room(header) not in allowed
    ]
    assert wrong == []


def test_each_class_has_a_name_of_its_own():
    """The linker takes one of two classes of a name for both, and tests the other one never."""
    a_class = re.compile(r"(?:enum class|class|struct) (?:alignas\(.*?\) )?(\w+)(?![\w:<(]|.*;)")
    places = {}
    folders = ("model", "helper", "program", "examples", "test")
    sources = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.*"))]
    for path in (path for path in sources if path.suffix in (".cc", ".h")):
        spaces = []
        for line in path.read_text(encoding="ascii").splitlines():
            if opened := re.match(r"(?:inline )?namespace ?([\w:]*)$", line):
                spaces.append(opened.group(1))
            elif line.startswith("} // namespace") and spaces:
                spaces.pop()
            elif (found := a_class.match(line)) and "" not in spaces:
                name = "::".join([*spaces, found.group(1)])
                places.setdefault(name, []).append(path.relative_to(ROOT).as_posix())
    assert len(places) > 800
    assert {name: files for name, files in places.items() if len(files) > 1} == {}
