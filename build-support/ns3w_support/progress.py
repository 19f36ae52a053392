# SPDX-License-Identifier: GPL-2.0-only
"""How far something is, and the time left: the last line of a terminal, or a line now and then in a pipe."""

import shutil
import sys
import time

PIPE_SECONDS = 30  # from line to line in a pipe


class Progress:
    """Counts parts that are done. In a pipe it writes nothing, or a line by the function `say`.

    The time left follows from the seconds that parts took the last time; a part without is taken for
    an average one.
    """

    def __init__(self, what, parts, seconds, say=None):
        known = [seconds[part] for part in parts if part in seconds]
        average = sum(known) / len(known) if known else 1
        self.what = what
        self.left = {part: seconds.get(part, average) for part in parts}
        self.count = len(self.left)
        self.total = sum(self.left.values())
        self.begin = self.said = time.monotonic()
        self.say = say

    def advance(self, *parts):
        """Note that parts are done."""
        for part in parts:
            self.left.pop(part, None)
        self.show()

    def describe(self, elapsed):
        """Return the line after so many seconds."""
        text = f"{self.count - len(self.left)} of {self.count} {self.what}"
        left = sum(self.left.values())
        if 0 < left < 0.95 * self.total:  # the first parts tell little
            seconds = round(elapsed * left / (self.total - left))
            text += f", {seconds // 60} min {seconds % 60} s left"
        return text

    def show(self):
        if not self.count:
            return
        now = time.monotonic()
        line = self.describe(now - self.begin)
        if sys.stderr.isatty():
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\033[K{line[:width]}", end="", file=sys.stderr, flush=True)
        elif self.say and now - self.said >= PIPE_SECONDS:
            self.said = now
            self.say(line)

    def erase(self):
        """Make room for a line of output."""
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)
