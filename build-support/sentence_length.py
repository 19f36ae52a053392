#! /usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Finds sentences of the documentation with more than 25 words, outside of code and tables.

usage: build-support/sentence_length.py [PAGE...]

A sentence ends at a full stop, a question mark or an exclamation mark; a literal, a role or a link is a word,
and so is everything else with a letter or a digit, in brackets, too. Prints the sentences that are longer, and
closes with a line "N passed, N failed", of pages; the exit status is 1 if one failed.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bindings/python/tests"))
from plain_text import clean_markdown, list_paragraphs  # noqa: E402

MOST_WORDS = 25
LITERAL = re.compile(r"``.+?``|`[^`]+`_|:[\w:.-]+:`[^`]*`|`[^`]*`")
TABLE = re.compile(r"^ *\.\. (?:list|csv)-table::.*\n(?:(?:   .*)?\n)*", re.M)
END = re.compile(r"(?<=[.!?])[\"')*]*\s+(?=[\"'(A-Za-z0-9*])")
WORD = re.compile(r"\S*[A-Za-z0-9]\S*")


def find_long(text, suffix):
    """Return (line, number of words, sentence) of each long sentence of a page."""
    if suffix == ".md":
        text = clean_markdown(text)
    else:
        text = TABLE.sub(lambda table: "\n" * table.group().count("\n"), text)
    found = []
    for line, paragraph in list_paragraphs(text):
        paragraph = LITERAL.sub("code", paragraph)
        paragraph = re.sub(r"\b(vs|al|Fig|Sect|No)\.", r"\1", paragraph)
        for sentence in END.split(paragraph):
            words = len(WORD.findall(sentence))
            if words > MOST_WORDS:
                found.append((line, words, sentence))
    return found


def list_pages():
    """Return the pages that are checked."""
    return sorted([*ROOT.glob("doc/**/*.rst"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])


def main(names):
    failed = 0
    pages = [Path(name).resolve() for name in names] or list_pages()
    for path in pages:
        found = find_long(path.read_text("ascii"), path.suffix)
        for line, words, text in found:
            print(f"{path}:{line}: {words} words (allowed: {MOST_WORDS}): {text}")
        failed += bool(found)
    print(f"{len(pages) - failed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
