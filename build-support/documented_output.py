#! /usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Runs the commands that a text shows and compares what they print with what the text says.

usage: build-support/documented_output.py [--update] FILE...

A FILE is *.md or *.rst. All its blocks of shell commands are run, in a folder of their own with links
to this checkout. A block of plain text shows what the block of commands before it prints. Everything in
it is compared but what a simulation costs: of processor time, rate and memory only the form. A block of
another language after the words "Save this as ``NAME``" is saved. A comment before a block of commands,

    <!-- not run: REASON -->      .. not run: REASON

exempts it. --update writes blocks that differ anew. Closes with a line "N passed, N failed"; the exit
status is 1 if anything failed.
"""

import dataclasses
import difflib
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMANDS = ("sh", "bash", "shell", "console")
OUTPUT = ("", "text")
FILES = re.compile(r"[\w-]+\.(?:svg|png|html)")  # that a command writes
SAVE = re.compile(r"Save this as\s+`+([\w.-]+)`+")
# A line before the block; its language; its indentation and contents.
BLOCKS = {
    ".md": re.compile(r"(?:^(.*)\n)?^```(\w*)\n()((?:.*\n)*?)^```$", re.M),
    ".rst": re.compile(
        r"(?:^(.*)\n\n?)?^\.\. code-block:: (\w+)\n(?:   :.*\n)*\n(?=(   ))((?:   .*\n|\n)*   .*\n)",
        re.M,
    ),
}


@dataclasses.dataclass
class Block:
    """A block of code in a text."""

    language: str
    line: int
    begin: int
    end: int
    indent: str
    content: str
    exempt: bool
    file: str  # where it is to be saved


def read_blocks(text, suffix):
    """Return the blocks of code of a text."""
    blocks = []
    end = 0
    for match in BLOCKS[suffix].finditer(text):
        before, language, indent, content = match.groups()
        file = SAVE.findall(text[end : match.start(2)])
        begin, end = match.span(4)
        content = re.sub(f"^{indent}", "", text[begin:end], flags=re.M)
        exempt = bool(re.match(r"(<!--|\.\.) not run: \S", before or ""))
        line = text.count("\n", 0, match.start(2)) + 1
        file = file[-1] if file and language not in COMMANDS + OUTPUT else ""
        blocks.append(Block(language, line, begin, end, indent, content, exempt, file))
    return blocks


def read_commands(content):
    """Return the commands of a block, after a prompt or not."""
    lines = content.replace("\\\n", " ").splitlines()
    commands = [line[2:] if line.startswith("$ ") else line for line in lines]
    return [line for line in commands if line.strip() and not line.startswith("#")]


def hide_costs(text):
    """Return an output with N in place of what a machine took for it."""

    def hide(match):
        return re.sub(r"[\d.]+(?= (?:s CPU|M/s|MiB)\b)", "N", match[0])

    return re.sub(r"^cost of the simulation: .*$", hide, text, flags=re.M)


def run(command, folder):
    """Return what a command prints, without spaces at the ends of lines, and whether it succeeded: the
    pictures and reports that it names are there, and not empty."""
    start = time.monotonic()
    print(f"$ {command}", flush=True)
    done = subprocess.run(["bash", "-c", command], cwd=folder, stdout=subprocess.PIPE, text=True)
    failed = f", FAILED ({done.returncode})" * bool(done.returncode)
    for name in FILES.findall(command):
        path = folder / name
        if not path.is_file() or path.stat().st_size <= 1000:
            failed += f", FAILED (no {name})"
    print(f"... {time.monotonic() - start:.0f} s{failed}", flush=True)
    return re.sub(r" +$", "", done.stdout, flags=re.M), not failed


def check(path, folder, update):
    """Run a text's commands in a folder; return how many commands and outputs are right, and wrong."""
    text = path.read_text(encoding="ascii")
    results = []
    changes = []
    printed = None  # by the block of commands before
    for block in read_blocks(text, path.suffix):
        if block.file:
            (folder / block.file).write_text(block.content)
        if block.language in COMMANDS:
            printed = None
            if not block.exempt:
                outputs = [run(command, folder) for command in read_commands(block.content)]
                done = [good for _, good in outputs]
                results += done
                printed = "".join(output for output, _ in outputs) if all(done) else None
        elif block.language in OUTPUT and not block.exempt:
            good = printed is not None and hide_costs(printed) == hide_costs(block.content)
            if not good and printed and update:
                lines = [block.indent * bool(line) + line for line in printed.splitlines()]
                changes.append((block.begin, block.end, "\n".join(lines) + "\n"))
                print(f"{path}:{block.line}: written anew", flush=True)
                good = True
            elif not good:
                print(f"{path}:{block.line}: the text says something else than the command prints")
                have, want = block.content.splitlines(), (printed or "").splitlines()
                print("\n".join(difflib.unified_diff(have, want, "text", "output", lineterm="")))
            results.append(good)
            printed = None
        else:
            printed = None
    for begin, end, new in reversed(changes):
        text = text[:begin] + new + text[end:]
    if changes:
        path.write_text(text, encoding="ascii")
    if not results:
        print(f"{path}: no command")
    return results or [False]


def main(words):
    update = "--update" in words
    names = [word for word in words if word != "--update"]
    for name in names:
        path = Path(name)
        if path.suffix not in BLOCKS or not path.is_file():
            print(f"{name}: allowed are --update, and files *.md and *.rst", file=sys.stderr)
            return 2
    if not names:
        print("no file: allowed are files *.md and *.rst", file=sys.stderr)
        return 2
    results = []
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            for entry in ROOT.iterdir():
                (Path(folder) / entry.name).symlink_to(entry)
            results += check(Path(name), Path(folder), update)
    failed = results.count(False)
    print(f"{len(results) - failed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
