# SPDX-License-Identifier: GPL-2.0-only
"""Sentences of the documentation: of reStructuredText, of Markdown, and of docstrings."""

import ast
import re

_INDENTED = re.compile(r"^( *)")
_CODE = "code"  # stands for a literal


def _get_indent(line):
    return len(_INDENTED.match(line).group(1))


def list_paragraphs(text):
    """Return the paragraphs of reStructuredText as (number of the first line, text).

    Code, tables of directives' options, and headings are left out; items of lists and cells are
    paragraphs of their own.
    """
    paragraphs, lines, start = [], [], 0
    skipped = None  # indentation of a directive or literal block whose body is left out

    def end():
        if lines:
            paragraphs.append((start, " ".join(lines)))
            lines.clear()

    for number, line in enumerate(text.splitlines(), 1):
        stripped, indent = line.strip(), _get_indent(line)
        if not stripped:
            end()
            continue
        if skipped is not None:
            if indent > skipped:
                continue
            skipped = None
        if stripped.startswith(">>> "):
            end()
            skipped = indent - 1  # with its output
            continue
        if stripped.startswith(".. "):
            end()
            # Bodies of these are text; their options are left out below.
            if not re.match(r"\.\. (list-table|note|warning|glossary)::", stripped):
                skipped = indent
            continue
        if re.match(r":[\w-]+:( |$)", stripped) and not re.match(r":\w+:`", stripped):
            end()
            continue
        if re.fullmatch(r"([=\-~^*#`])\1{2,}", stripped):  # the line before is a heading
            lines.clear()
            continue
        if re.match(r"([-*+]|\d+\.|#\.) ", stripped):
            end()
            stripped = re.sub(r"^([-*+] +)+|^(\d+|#)\. +", "", stripped)
        if not lines:
            start = number
        lines.append(stripped)
        if stripped.endswith("::"):
            end()
            skipped = indent
    end()
    return paragraphs


def clean_markdown(text):
    """Return Markdown without fenced code, comments, images and tables, line by line."""

    def blank(match):
        return "\n" * match.group().count("\n")

    text = re.sub(r"^```.*?^```$|<!--.*?-->|!\[.*?\]\(.*?\)", blank, text, flags=re.M | re.S)
    text = re.sub(r"^(\||#).*$", "", text, flags=re.M)
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)


def list_docstrings(source):
    """Return the docstrings of Python code as (line, text), without examples and code."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            text = ast.get_docstring(node)
            if text:
                line = node.body[0].lineno
                found += [(line + n - 1, part) for n, part in _list_parts(text)]
    return found


def _list_parts(text):
    """Paragraphs of a docstring: indented text is code, but for what describes an argument."""
    lines = []
    in_arguments = False
    for line in text.splitlines():
        if line and not line.startswith(" "):
            in_arguments = line.rstrip() in ("Args:", "Returns:", "Raises:", "Attributes:")
        if line.startswith("    ") and not in_arguments:
            line = ""
        if in_arguments and re.match(r" {4}\w+: ", line):  # each argument is a paragraph
            lines.append(re.sub(r"^ {4}\w+: ", "- ", line))
            continue
        lines.append(line.strip())
    return list_paragraphs("\n".join(lines))


def split_sentences(paragraph):
    """Return the sentences of a paragraph, with literals, roles and links as single words."""
    text = re.sub(r"``.+?``|`[^`]+`_|:[\w:.-]+:`[^`]*`|`[^`]*`", _CODE, paragraph)
    text = re.sub(r"\*\*?([^*]+)\*\*?", r"\1", text)
    text = re.sub(r"\b(e\.g|i\.e|vs|al|Fig|Sect|No)\.", r"\1", text)
    # Between the parts of a list within a sentence people breathe, as between sentences.
    parts = re.split(r"(?<=[.!?:;])[\"')]*\s+(?=[\"'(A-Za-z0-9])", text)
    return [part.strip() for part in parts if part.strip()]


def count_words(sentence):
    """Return the number of words; numbers with their units, and formulas, are no words."""
    return len(re.findall(r"[A-Za-z][A-Za-z'-]*", re.sub(r"\([^()]*\)", "", sentence)))
