# SPDX-License-Identifier: GPL-2.0-only
"""The directive `cpp-room`: what the public headers of a room declare.

Doxygen reads the headers that CMakeLists.txt lists when the documentation is built, and Breathe shows
its XML, so nothing of it is stored. What Doxygen warns of are warnings of the documentation.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]

# Doxygen looks at the comments of parameters only when it writes pages of its own. Members of groups
# would be linked to pages of these (from 1.9.8 on), which do not exist.
_SETTINGS = """
QUIET = YES
GENERATE_HTML = YES
SEARCHENGINE = NO
HAVE_DOT = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
JAVADOC_AUTOBRIEF = YES
FULL_PATH_NAMES = YES
STRIP_FROM_PATH = {root}
WARN_AS_ERROR = NO
WARN_IF_UNDOCUMENTED = YES
WARN_IF_DOC_ERROR = YES
WARN_IF_INCOMPLETE_DOC = YES
WARN_NO_PARAMDOC = YES
WARN_FORMAT = "$file:$line: $text"
OUTPUT_DIRECTORY = {output}
INPUT = {headers}
INPUT_FILTER = "sed -E 's/@ingroup +[a-z-]+|@[{{}}]//'"
"""

# Directive of Breathe by kind of Doxygen.
_DIRECTIVES = {
    "class": "doxygenclass",
    "struct": "doxygenstruct",
    "enum": "doxygenenum",
    "function": "doxygenfunction",
    "typedef": "doxygentypedef",
    "variable": "doxygenvariable",
}


class Entry(NamedTuple):
    """What a header declares in a namespace."""

    header: str  # such as "model/fabric/fabric.h"
    kind: str
    name: str  # with namespaces; of a function with the types of its parameters


def list_headers() -> list[str]:
    """Return the public headers, as CMakeLists.txt lists them."""
    text = (ROOT / "CMakeLists.txt").read_text(encoding="ascii")
    return re.search(r"^set\(header_files\n(.*?)^\)", text, re.M | re.S).group(1).split()


def read_rooms() -> list[str]:
    """Return the rooms, lowest first, from the table in architecture.rst."""
    text = (ROOT / "doc/architecture.rst").read_text(encoding="ascii")
    table = text[text.index(":name: rooms\n") : text.index("``test/test_rooms.py`` reads")]
    return re.findall(r"^   \* - ``([a-z]+)``$", table, re.M)


def get_room(header: str) -> str:
    """Return the room of a header."""
    parts = header.split("/")
    return parts[0] if parts[0] == "helper" else parts[1]


def run_doxygen(output: Path, headers: list[str]) -> list[str]:
    """Write Doxygen's XML of headers into the folder `xml` of output; return its warnings.

    Functions that override one of ns-3 or of a base class may be silent: that has the comment.
    """
    output.mkdir(parents=True, exist_ok=True)
    names = " ".join(f'"{ROOT / header}"' for header in headers)
    settings = _SETTINGS.format(root=ROOT, output=output, headers=names)
    done = subprocess.run(["doxygen", "-"], input=settings, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"doxygen: exit status {done.returncode}\n{done.stderr}")
    warnings = dict.fromkeys(done.stderr.splitlines())
    return [
        line for line in warnings if not re.search(r" override \(function\) of .* not doc", line)
    ]


def _get_text(node: ElementTree.Element | None) -> str:
    return "" if node is None else " ".join("".join(node.itertext()).split())


def read_entries(xml: Path) -> list[Entry]:
    """Return what the headers declare in namespaces, but for what is inside classes."""
    entries = []
    for compound in ElementTree.parse(xml / "index.xml").getroot():
        kind = compound.get("kind")
        if kind not in ("class", "struct", "namespace"):
            continue
        details = ElementTree.parse(xml / f"{compound.get('refid')}.xml").getroot()[0]
        if kind != "namespace":
            name = details.findtext("compoundname")
            outer = name.rpartition("::")[0]
            if outer in ("ns3", "ns3::training") and "<" not in name:
                entries.append(Entry(details.find("location").get("file"), kind, name))
            continue
        for member in details.iter("memberdef"):
            name = member.findtext("qualifiedname")
            if member.get("kind") == "function":
                types = [_get_text(each.find("type")) for each in member.findall("param")]
                name += f"({', '.join(types)})"
            entry = Entry(member.find("location").get("file"), member.get("kind"), name)
            if _get_text(member.find("briefdescription")) or _get_text(
                member.find("detaileddescription")
            ):
                entries.append(entry)
    return sorted(dict.fromkeys(entries))


def make_room(room: str, entries: list[Entry]) -> list[str]:
    """Return the text of a room: a section for each header."""
    lines = []
    header = ""
    for entry in entries:
        if get_room(entry.header) != room or entry.kind not in _DIRECTIVES:
            continue
        if entry.header != header:
            header = entry.header
            title = f"ns3/{header.rpartition('/')[2]}"
            lines += [f"``{title}``", "-" * (len(title) + 4), ""]
        lines.append(f".. {_DIRECTIVES[entry.kind]}:: {entry.name}")
        if entry.kind in ("class", "struct"):
            lines += ["   :members:", "   :protected-members:"]
        lines.append("")
    return lines


def setup(app):
    """Add the directive to Sphinx."""
    from docutils import nodes
    from docutils.parsers.rst import Directive
    from docutils.statemachine import StringList
    from sphinx.util import logging
    from sphinx.util.nodes import nested_parse_with_titles

    logger = logging.getLogger(__name__)
    entries = []

    def read_headers(app, config):
        if not shutil.which("doxygen"):
            logger.warning("doxygen is not installed: the C++ pages are empty")
            return
        output = Path(app.doctreedir) / "doxygen"
        for warning in run_doxygen(output, list_headers()):
            logger.warning("doxygen: %s", warning)
        config.breathe_projects = {"headers": str(output / "xml")}
        config.breathe_default_project = "headers"
        entries.extend(read_entries(output / "xml"))

    class CppRoom(Directive):
        required_arguments = 1

        def run(self):
            room = self.arguments[0]
            environment = self.state.document.settings.env
            for header in list_headers():
                if get_room(header) == room:
                    environment.note_dependency(str(ROOT / header))
            section = nodes.section()
            section.document = self.state.document
            lines = StringList(make_room(room, entries), source=f"headers of {room}")
            nested_parse_with_titles(self.state, lines, section)
            return section.children

    app.setup_extension("breathe")
    app.connect("config-inited", read_headers, priority=100)
    app.add_directive("cpp-room", CppRoom)
    return {"parallel_read_safe": True, "version": "2"}
