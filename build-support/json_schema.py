#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only

"""Writes doc/results.schema.json: a JSON Schema of what programs write with --json.

The tables json-* of doc/json*.rst list the members of each document and of the objects in it; tests
compare them with the programs. Units at the ends of names, and the words "list" and "object" at the
beginning of a meaning, give types.

    json_schema.py          write the schema
    json_schema.py --check  exit with status 1 if it differs
"""

import json
import re
import sys
from pathlib import Path

DOC = Path(__file__).parents[1] / "doc"
SCHEMA = DOC / "results.schema.json"
VERSION = 3
UNITS = "s|ps|us|ns|ms|bytes|byte|bps|Gbps|GBps|MiB|percent|share|ratio|utilization|J|dollars"
NUMBER = re.compile(rf".*_({UNITS})$")
# Objects whose tables have names of their own.
ROWS = {"critical_path": "path"}


def read_tables():
    """Return the tables by name: pairs of names and the meaning that they share."""
    tables = {}
    text = "\n".join(path.read_text("utf-8") for path in sorted(DOC.glob("json*.rst")))
    for block in text.split(".. list-table::")[1:]:
        name = re.search(r":name: json-(\S+)", block)
        if name:
            rows = re.findall(
                r"^   \* - (``.*?)\n     - (.*?)(?=^   \* - |^\S|\Z)",
                block,
                re.MULTILINE | re.DOTALL,
            )
            tables[name[1]] = [
                (re.findall(r"``(.*?)``", names), " ".join(meaning.split()))
                for names, meaning in rows
            ]
    return tables


def find_table(tables, owner, name):
    """Return the table of the objects of a member, or None."""
    words = name.replace("_", "-")
    for candidate in (f"{owner}-{words}", ROWS.get(name, ""), words):
        if candidate in tables:
            return candidate
    return None


def describe(tables, owner, name, meaning):
    """Return the schema of a member."""
    schema = {"description": re.sub(r":\w+:`([^`<]*?)\s*(<[^`]*>)?`", r"\1", meaning)}
    table = find_table(tables, owner, name)
    if name == "schema":
        schema["const"] = VERSION
    elif meaning.startswith("list") or "_times_" in name:
        schema["type"] = "array"
        if table and name != "figures":
            schema["items"] = {"$ref": f"#/$defs/{table}"}
    elif meaning.startswith("object") and not meaning.startswith("objects with"):
        schema["type"] = ["object", "null"]
        if table:
            schema["$ref"] = f"#/$defs/{table}"
    elif NUMBER.match(name) and "objects" not in meaning:
        schema["type"] = ["number", "null"]
    return schema


def make():
    """Return the schema."""
    tables = read_tables()
    definitions = {}
    for table, rows in sorted(tables.items()):
        properties = {
            name: describe(tables, table, name, meaning)
            for names, meaning in rows
            for name in names
        }
        definitions[table] = {"type": "object", "properties": properties}
        if "schema" in properties:
            definitions[table]["required"] = list(properties)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Documents of the programs of distributed-training; $defs has one for each program",
        "type": "object",
        "properties": {"schema": {"const": VERSION}},
        "required": ["schema"],
        "$defs": definitions,
    }


def write(schema):
    """Return the schema as text, a line for each document."""
    definitions = ",\n".join(
        f"{json.dumps(name)}: {json.dumps(each)}" for name, each in schema.pop("$defs").items()
    )
    return json.dumps(schema)[:-1] + ',\n"$defs": {\n' + definitions + "\n}}\n"


def main():
    text = write(make())
    if "--check" in sys.argv[1:]:
        if not SCHEMA.exists() or SCHEMA.read_text("utf-8") != text:
            sys.exit("json_schema.py: doc/results.schema.json differs (run json_schema.py)")
    else:
        SCHEMA.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
