# SPDX-License-Identifier: GPL-2.0-only
"""The standard error of a child process: its progress, its logs, and the text of an exception."""

from __future__ import annotations

import logging
import os
import re
import sys
import threading

# What ns-3 begins a line of a log with: simulated time and node, then mostly the level.
_LOG_LINE = re.compile(r"\+[0-9.e+-]+s -?\d+ .*?(?:\[(ERROR|WARN|INFO) *\]|$)")
_LEVELS = {"ERROR": logging.ERROR, "WARN": logging.WARNING, "INFO": logging.INFO}


def _pass_on(line: bytes) -> bool:
    """Return whether a line is one of a log, which goes to Python's logger."""
    text = line.rstrip(b"\r").rpartition(b"\r")[2].decode(errors="replace").replace("\033[K", "")
    found = _LOG_LINE.match(text)
    if found:
        level = _LEVELS.get(found[1], logging.DEBUG)
        logging.getLogger("distributed_training").log(level, "%s", text)
    return found is not None


class ErrorStream:
    """Collects the standard error of a child.

    If ours is a terminal, so is the child's. The child then shows its progress on one line that it
    overwrites, which is passed on at once. Lines of a log (`log="COMPONENT=LEVEL"`) go to the logger
    `distributed_training` as they come. The rest becomes the text of an exception.

    Args:
        progress: whether the child may show its progress.
    """

    def __init__(self, progress: bool) -> None:
        self.text = ""
        try:
            shown = progress and sys.__stderr__ is not None and os.isatty(sys.__stderr__.fileno())
        except (OSError, ValueError):
            shown = False
        if shown:
            self._ours, self.for_child = os.openpty()
        else:
            self._ours, self.for_child = os.pipe()
        self._shown = shown
        self._thread = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> ErrorStream:
        return self

    def started(self) -> None:
        """Close our copy of the child's end."""
        os.close(self.for_child)
        self.for_child = -1
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        if self.for_child >= 0:  # the child did not start
            os.close(self.for_child)
        else:
            self._thread.join(5)
        os.close(self._ours)

    def _read(self) -> None:
        collected = []
        rest = b""
        while True:
            try:
                block = os.read(self._ours, 65536)
            except OSError:  # end of a terminal
                break
            if not block:
                break
            if self._shown and block.startswith(b"\r") and b"\n" not in block:
                sys.stderr.write(block.decode(errors="replace"))
                sys.stderr.flush()
            *lines, rest = (rest + block).split(b"\n")
            collected += [line for line in lines if not _pass_on(line)]
        collected.append(rest)
        text = b"\n".join(collected).decode(errors="replace").replace("\r\n", "\n")
        if self._shown and "\r" in text:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
        # The last state of an overwritten line.
        self.text = "\n".join(
            line.rsplit("\r", 1)[-1].replace("\033[K", "") for line in text.split("\n")
        )
