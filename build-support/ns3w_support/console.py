# SPDX-License-Identifier: GPL-2.0-only
"""Messages, locks and child processes of ns3w."""

import contextlib
import fcntl
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path


def cache_home():
    """Return the folder of all caches. The XDG specification ignores a relative path."""
    path = os.environ.get("XDG_CACHE_HOME", "")
    return Path(path) if os.path.isabs(path) else Path.home() / ".cache"


CACHE = cache_home() / "distributed-training"


# What pip, apt and others say when a server cannot be reached.
OFFLINE = re.compile(
    "name resolution|Name or service not known|Could not resolve|Network is unreachable|"
    "No route to host|NewConnectionError|Failed to establish a new connection|ConnectTimeout|"
    "Connection refused|Connection timed out|ProxyError|Could not connect to"
)


class Failure(Exception):
    """An error for the user; ends the program with a status."""

    def __init__(self, text, status=2):
        super().__init__(text)
        self.status = status


def say(text):
    """Print a message in one line: an argument in it may have any characters."""
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(text))
    print(f"ns3w: {line}", file=sys.stderr, flush=True)


def open_log(path):
    """Open a file for writing. A link is refused, as it may lead to a file of somebody else."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    return open(os.open(path, flags, 0o644), "w")


@contextlib.contextmanager
def locked(name):
    """Let one ns3w at a time work on the named thing. The lock dies with its process."""
    path = CACHE / "locks" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another ns3w that works on {name}")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def work(what, command, log, show=None, downloads=False, **options):
    """Run a command with its output in a log file; without a word if `what` is None.

    A terminal shows the line under way, or what `show` makes of each line. If a command that downloads
    fails because there is no network, one line says so; the status is 2.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    command = [str(word) for word in command]
    start = time.monotonic()
    if what:
        say(what)
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, **options}
    with open_log(log) as file, subprocess.Popen(command, errors="replace", **options) as process:
        for line in process.stdout:
            file.write(line)
            if show:
                show(line)
            elif sys.stderr.isatty():
                width = shutil.get_terminal_size().columns - 1
                sys.stderr.write(f"\r\033[K{line.rstrip()[:width]}")
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K")
    if process.returncode:
        text = log.read_text(errors="replace")
        if downloads and OFFLINE.search(text):
            raise Failure(
                f"no network: {what} failed. Connect this machine once and repeat the command, which "
                f"continues where it was; details: {log}"
            )
        lines = text.splitlines(True)
        wrong = [number for number, line in enumerate(lines) if line.startswith("FAILED")]
        first = wrong[0] if wrong else max(len(lines) - 60, 0)
        sys.stderr.write("".join(lines[first : first + 60]))
        raise Failure(f"failed ({process.returncode}): {shlex.join(command)}; all of it: {log}", 1)
    if time.monotonic() - start > 5:
        say(f"... took {time.monotonic() - start:.0f} s")
