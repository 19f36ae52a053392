# SPDX-License-Identifier: GPL-2.0-only
"""The documentation is plain English: short sentences, common words, no detours."""

import re

import pytest

from conftest import PACKAGE, REPOSITORY
from plain_text import (
    clean_markdown,
    count_words,
    list_docstrings,
    list_paragraphs,
    split_sentences,
)

MOST_WORDS = 37  # of a sentence, without brackets

# What is said better, and how; regular expressions of whole words.
AVOIDED = {
    r"(?:is|are|was|were|been) being \w+ed": "active voice",
    r"(?:is|are) (?:done|run|read|written|drawn|computed) by (?:the )?(?:tests?|suites?|programs?|user)": (
        "active voice"
    ),
    r"utili[sz]e[sd]?|utili[sz]ing": "use",
    r"leverag(?:e|es|ed|ing)": "use",
    r"in order to": "to",
    r"due to the fact that|owing to the fact that": "because",
    r"(?:it )?should be noted that|note that|please note": "nothing",
    r"aforementioned|thereof|therein|thereby|hereby|whilst|heretofore": "this, of it, in it, so, while",
    r"prior to|subsequent to": "before, after",
    r"commence[sd]?|terminate[sd]?": "begin, end",
    r"facilitate[sd]?|enables? (?:the )?users? to": "help, can",
    r"numerous|a large number of|a plethora of|a myriad of": "many",
    r"very|really|quite|simply|basically|actually|obviously|trivially simple|of course": "nothing",
    r"robust(?:ly)?|seamless(?:ly)?|cutting-edge|state-of-the-art|powerful": "what it does",
    r"with (?:regard|respect) to|in terms of": "of, by, about",
    r"thus|hence|therefore|furthermore|moreover|consequently": "so, also",
    r"is able to|are able to|has the ability to": "can",
    r"in the event that|in case of": "if",
    r"etc|and/or": "the rest of the list, or",
    r"e\.g|i\.e": "such as, that is",
}

TEXTS = [
    *sorted(REPOSITORY.glob("doc/**/*.rst")),
    *sorted(REPOSITORY.glob("*.md")),
    *sorted(REPOSITORY.glob("build-support/*/*.md")),
    *sorted(PACKAGE.glob("distributed_training/*.py")),
]


def read_paragraphs(path):
    text = path.read_text(encoding="ascii")
    if path.suffix == ".py":
        return list_docstrings(text)
    return list_paragraphs(clean_markdown(text) if path.suffix == ".md" else text)


def find_faults(paragraphs):
    """Return (line, what is wrong) of each fault."""
    faults = []
    for line, paragraph in paragraphs:
        for sentence in split_sentences(paragraph):
            words = count_words(sentence)
            if words > MOST_WORDS:
                faults.append((line, f"{words} words (allowed: {MOST_WORDS}): {sentence}"))
            for pattern, better in AVOIDED.items():
                for found in re.findall(rf"\b(?:{pattern})\b", sentence, re.I):
                    faults.append((line, f"{found!r} (better: {better}): {sentence}"))
    return faults


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_text_is_plain(path):
    assert find_faults(read_paragraphs(path)) == []


def test_texts_are_read():
    """Most of what people read is looked at."""
    assert len(TEXTS) > 60
    count = sum(len(split_sentences(text)) for path in TEXTS for _, text in read_paragraphs(path))
    assert count > 10000


def test_faults_are_found():
    long = "word " * (MOST_WORDS + 1)
    text = f"""
Heading etc
===========

Fine (e.g. brackets of {long}) text, ``etc`` too.
It is being mended, in order to be plain. {long.capitalize()}.

.. code-block:: sh

   etc {long}

.. list-table::
   :name: {long}

   * - cell with {long}
     - very short
"""
    texts = [what for _, what in find_faults(list_paragraphs(text))]
    assert [what.split(" (")[0] for what in texts] == [
        "'e.g'",
        "'is being mended'",
        "'in order to'",
        f"{MOST_WORDS + 1} words",
        f"{MOST_WORDS + 3} words",
        "'very'",
    ]
    code = f'"""Simply a module.\n\n    {long}\n\nArgs:\n    name: {long}\n"""\n'
    assert len(find_faults(list_docstrings(code))) == 2
