# SPDX-License-Identifier: GPL-2.0-only
"""How far something is, and the time left, in the last line of a terminal."""

import shutil
import sys
import time


class Progress:
    """Counts parts that are done. In a pipe it writes nothing.

    The time left follows from the seconds that parts took the last time; a part without is taken for
    an average one.
    """

    def __init__(self, what, parts, seconds):
        known = [seconds[part] for part in parts if part in seconds]
        average = sum(known) / len(known) if known else 1
        self.what = what
        self.left = {part: seconds.get(part, average) for part in parts}
        self.count = len(self.left)
        self.total = sum(self.left.values())
        self.begin = time.monotonic()

    def advance(self, part):
        """Note that a part is done."""
        self.left.pop(part, None)
        self.show()

    def describe(self, elapsed):
        """Return the line after so many seconds."""
        text = f"{self.count - len(self.left)} of {self.count} {self.what}"
        left = sum(self.left.values())
        if 0 < left < self.total:
            seconds = round(elapsed * left / (self.total - left))
            text += f", {seconds // 60} min {seconds % 60} s left"
        return text

    def show(self):
        if sys.stderr.isatty():
            width = shutil.get_terminal_size().columns - 1
            line = self.describe(time.monotonic() - self.begin)
            print(f"\r\033[K{line[:width]}", end="", file=sys.stderr, flush=True)

    def erase(self):
        """Make room for a line of output."""
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)
