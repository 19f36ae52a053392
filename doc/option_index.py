# SPDX-License-Identifier: GPL-2.0-only
"""Sphinx: options in the tables of this manual are in the general index, and leave links wherever they are named.

A table of options has the name options-PROGRAM, with more after it, and an option in the first column of each
row. Attributes of ns-3 in the first column of any table are in the index, too, and so are keys and names of
alternatives in tables whose first heading says what they are. Options that programs share belong to each of them.
``--option=VALUE`` in a text leads to its row: that of the page's program, of all programs, or the only one.
"""

import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

LISTS = Path(__file__).parents[1].joinpath("CMakeLists.txt").read_text(encoding="ascii")
PROGRAMS = re.search(r"^set\(example_names\n(.*?)^\)", LISTS, re.M | re.S).group(1).split()
KINDS = ("key", "algorithm", "codec", "format", "topology", "source", "system", "fault")  # headings
ATTRIBUTE = re.compile(r"(?:ns3::)?(?:training::)?[A-Z]\w+::[A-Z]\w+")


def find_program(table):
    """Return the program of a table of options."""
    name = table[len("options-") :]
    return max(
        (each for each in PROGRAMS if name.startswith(each)), key=len, default="all programs"
    )


class IndexOptions(SphinxTransform):
    """Adds a target to each row with an option or an attribute, and an entry of the index."""

    default_priority = 800  # before the domains read the document

    def apply(self):
        for table in self.document.findall(nodes.table):
            names = [name for name in table.get("names", []) if name.startswith("options-")]
            program = find_program(names[0]) if names else None
            rows = list(table.findall(nodes.row))
            first = next(iter(rows[0].findall(nodes.entry))).astext()
            kind = first if first in KINDS else None
            for number, row in enumerate(rows):
                self.add_row(program, kind, row, number)

    def add_row(self, program, kind, row, number):
        cell = next(iter(row.findall(nodes.entry)), None)
        words = [each.astext() for each in cell.findall(nodes.literal)] if cell is not None else []
        options = [word.partition("=")[0] for word in words if program and word.startswith("--")]
        attributes = [word for word in words if ATTRIBUTE.fullmatch(word)]
        keys = (
            [re.split("[=:]", word)[0] for word in words if kind]
            if not options + attributes
            else []
        )
        if not options + attributes + keys:
            return
        target = f"row-{(program or 'attribute').replace(' ', '-')}-{options[0][2:] if options else number}"
        while target in self.document.ids:
            target += "-"
        entries = [("pair", f"{option}; {program}", target, "", None) for option in options]
        entries += [("single", name, target, "", None) for name in attributes]
        entries += [("single", f"{key} ({kind})", target, "", None) for key in dict.fromkeys(keys)]
        mark = nodes.target("", "", ids=[target])
        self.document.note_explicit_target(mark)
        cell.insert(0, [addnodes.index(entries=entries), mark])
        for option in options:
            domain = self.env.get_domain("std")
            shared = [None, *PROGRAMS] if program == "all programs" else [program]
            for name in shared:
                if (name, option) not in domain.progoptions or len(shared) == 1:
                    domain.add_program_option(name, option, self.env.docname, target)


class LinkOptions(SphinxPostTransform):
    """Makes a link of each option that a text names."""

    default_priority = 5

    def run(self, **_):
        rows = self.env.get_domain("std").progoptions
        places = {}
        for (_, name), place in rows.items():
            places.setdefault(name, set()).add(place)
        only = {name: place.pop() for name, place in places.items() if len(place) == 1}
        page = self.env.docname.rpartition("/")[2]
        for literal in list(self.document.findall(nodes.literal)):
            option = re.match("--[a-z0-9-]+", literal.astext())
            if option and not isinstance(literal.parent, (nodes.title, nodes.reference)):
                name = option.group()
                place = rows.get((page, name)) or rows.get((None, name)) or only.get(name)
                self.link(literal, place)

    def link(self, literal, place):
        if place and not any(place[1] in child.get("ids", []) for child in literal.parent.parent):
            link = make_refnode(self.app.builder, self.env.docname, *place, literal.deepcopy())
            literal.replace_self(link)


def setup(app):
    app.add_transform(IndexOptions)
    app.add_post_transform(LinkOptions)
    return {"parallel_read_safe": True}
