# SPDX-License-Identifier: GPL-2.0-only
"""The directive `cpp-reference`: classes and functions of the public headers, room by room.

It reads the Doxygen comments of the headers that CMakeLists.txt lists when the documentation is
built, so nothing of it is stored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

_DECLARATION = re.compile(
    r"/\*\*(?P<comment>(?:[^*]|\*(?!/))*)\*/\n"
    r"(?:template <[^\n]*>\n)?"
    r"(?:(?P<kind>class|struct|enum class|enum) (?:alignas\([^)]*\) )?(?P<type>\w+)\b[^;]*?\{"
    r"|(?P<using>using) (?P<alias>\w+) ="
    r"|(?P<function>[A-Za-z_][^;{}()=]*?\b(?P<name>[A-Za-z]\w+))\()"
)


@dataclass(frozen=True)
class Entry:
    """A class, enumeration, alias or function in a namespace, with the beginning of its comment."""

    name: str
    kind: str
    header: str
    text: str


def first_sentence(comment: str) -> str:
    """Return the first sentence of a Doxygen comment, without its commands."""
    lines = [re.sub(r"^ *\*? ?", "", line) for line in comment.strip().splitlines()]
    text = "\n".join(re.sub(r"@ingroup +\S+ *", "", line) for line in lines)
    text = re.sub(r"^@brief +", "", text.strip())
    text = re.split(r"\n *\n|\n@|^@", text)[0]
    text = " ".join(text.split())
    match = re.match(r"(.*?[.:])( [A-Z\[(]|$)", text)
    return (match.group(1) if match else text).rstrip(":").strip()


def read_header(path: Path, name: str) -> list[Entry]:
    """Return what a header declares at the level of its namespace: its lines are not indented."""
    text = path.read_text(encoding="ascii")
    entries = []
    for match in re.finditer(_DECLARATION, text):
        start = match.start()
        if start and text[start - 1] != "\n":  # indented: a member
            continue
        if "@cond" in match.group("comment"):  # hidden from Doxygen, too
            continue
        kind = match.group("kind") or match.group("using") or "function"
        entry = match.group("type") or match.group("alias") or match.group("name")
        comment = match.group("comment")
        sentence = first_sentence(comment)
        if not sentence:  # a command says it
            tags = re.findall(r"@(return|throw) (.*?)(?=@|$)", comment, re.S)
            verbs = {"return": "Returns", "throw": "Throws"}
            sentence = f"{verbs[tags[0][0]]} {first_sentence(tags[0][1])}." if tags else ""
        entries.append(Entry(entry, kind, name, sentence))
    return entries


def list_headers() -> list[str]:
    """Return the public headers, as CMakeLists.txt lists them."""
    text = (ROOT / "CMakeLists.txt").read_text(encoding="ascii")
    return re.search(r"^set\(header_files\n(.*?)^\)", text, re.M | re.S).group(1).split()


def read_rooms() -> list[str]:
    """Return the rooms, lowest first, from the table in architecture.rst."""
    text = (ROOT / "doc/architecture.rst").read_text(encoding="ascii")
    table = text[text.index(":name: rooms\n") : text.index("``test/test_rooms.py`` reads")]
    return re.findall(r"^   \* - ``([a-z]+)``$", table, re.M)


def read_reference() -> dict[str, list[Entry]]:
    """Return the entries of each room, by name."""
    rooms: dict[str, list[Entry]] = {room: [] for room in read_rooms()}
    for header in list_headers():
        parts = header.split("/")
        room = parts[1] if parts[0] == "model" else parts[0]
        rooms[room] += read_header(ROOT / header, parts[-1])
    return {
        room: sorted(dict.fromkeys(entries), key=lambda entry: entry.name.lower())
        for room, entries in rooms.items()
    }


def setup(app):
    """Add the directive to Sphinx."""
    from docutils import nodes
    from docutils.parsers.rst import Directive

    class CppReference(Directive):
        def run(self):
            environment = self.state.document.settings.env
            for header in list_headers():
                environment.note_dependency(str(ROOT / header))
            sections = []
            for room, entries in read_reference().items():
                section = nodes.section(ids=[f"cpp-{room}"], names=[f"cpp-{room}"])
                section += nodes.title("", room)
                items = nodes.definition_list()
                for entry in entries:
                    term = nodes.term("", "", nodes.literal("", entry.name))
                    term += nodes.Text(f" ({entry.kind}, ")
                    term += nodes.literal("", f"ns3/{entry.header}")
                    term += nodes.Text(")")
                    body = nodes.definition("", nodes.paragraph("", entry.text))
                    items += nodes.definition_list_item("", term, body)
                section += items
                sections.append(section)
            return sections

    app.add_directive("cpp-reference", CppReference)
    return {"parallel_read_safe": True, "version": "1"}
