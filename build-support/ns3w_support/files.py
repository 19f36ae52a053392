# SPDX-License-Identifier: GPL-2.0-only
"""Small files that record what has been done. A file is there whole or not at all."""

import json
import os
import tempfile


def read_json(path, otherwise=None):
    """Return the value in a file; `otherwise` if there is no file or something else in it."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return otherwise
    return value if otherwise is None or isinstance(value, type(otherwise)) else otherwise


def write_whole(path, text):
    """Write a file under another name first: whoever reads it, or a kill, never leaves a part."""
    descriptor, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(part, 0o644)
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise


def write_if_different(path, text):
    if not path.exists() or path.read_text(encoding="utf-8", errors="replace") != text:
        write_whole(path, text)
