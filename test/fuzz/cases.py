# SPDX-License-Identifier: GPL-2.0-only
"""A run of a program with odd input, and what must hold of it whatever the input is."""

import contextlib
import json
import math
import re
import shlex
import sqlite3
import subprocess
from dataclasses import dataclass, field

CPU_SECONDS = 60
MEMORY_KIB = 6 << 20

# Texts that only an unplanned end prints.
CRASHES = re.compile(
    r"terminate called|Assertion|NS_ASSERT|NS_ABORT|NS_FATAL|msg=\"|cond=\"|Traceback"
    r"|runtime error:|(Address|Leak)Sanitizer|std::bad_alloc|core dumped"
)

# The options that name an output.
WRITERS = (
    "--json=",
    "--results=",
    "--trace=",
    "--pcap=",
    "--export-topology=",
    "--export-schedule=",
    "--export-goal=",
)

CONTROLS = re.compile(r"[^\n -~\xa0-\U0010ffff]")


@dataclass
class Case:
    """A command. Its files are in the folder where it runs."""

    program: str
    arguments: list
    files: dict = field(default_factory=dict)  # name -> bytes

    def __str__(self):
        return (
            shlex.join([self.program, *self.arguments]).encode("ascii", "backslashreplace").decode()
        )


class Finding(Exception):
    """Something that must not happen; the text says what."""


def expect(condition, text):
    if not condition:
        raise Finding(text)


def run(case, build, folder):
    """Run a case in a folder. Raises Finding if something does not hold."""
    for name, content in case.files.items():
        (folder / name).write_bytes(content)
    limits = f"ulimit -c 0; ulimit -t {CPU_SECONDS}; ulimit -v {MEMORY_KIB}"
    if build.profile == "sanitized":  # sanitizers are slow and reserve terabytes of addresses
        limits = f"ulimit -c 0; ulimit -t {10 * CPU_SECONDS}"
    try:
        process = subprocess.run(
            [
                "sh",
                "-c",
                f'{limits}; exec "$@"',
                "sh",
                build.get_program(case.program),
                *case.arguments,
            ],
            cwd=folder,
            env=build.get_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=20 * CPU_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise Finding("waits for ever") from None
    check(case, folder, process)


def check(case, folder, process):
    status = process.returncode
    output = process.stdout.decode(errors="replace")
    errors = process.stderr.decode(errors="replace")
    crash = CRASHES.search(errors)
    expect(not crash, f"status {status} with {crash and crash.group()!r}: {errors[:300]!r}")
    expect(status >= 0, f"signal {-status}: {errors[:300]!r}")
    # A shell that has become the program reports a signal as such; its own failures are 126, 127.
    expect(status in (0, 2, 3), f"exit status {status}: {errors[:300]!r}")
    expect(not CONTROLS.search(errors), f"a message with control characters: {errors[:300]!r}")
    read = " ".join(word for word in case.arguments if not word.startswith(WRITERS))
    for name, content in case.files.items():
        path = folder / name
        if name in read:
            expect(path.is_file() and path.read_bytes() == content, f"the input {name} was changed")
    if status == 2:
        expect(output == "", f"a refusal after output: {output[:200]!r}")
        expect(errors.count("\n") == 1 and errors.endswith("\n"), f"not one line: {errors[:600]!r}")
        expect(errors.startswith(f"{case.program}: "), f"no name of the program: {errors[:200]!r}")
        written = {path.name for path in folder.iterdir()} - set(case.files)
        expect(not written, f"a refusal ({errors.strip()[:200]!r}) after writing {sorted(written)}")
    if status == 3:
        expect("stuck: " in errors, f"no reason: {errors[:300]!r}")
    if "--json=-" in case.arguments and status in (0, 3) and output.startswith("{"):
        check_document(output, status)
    check_written(folder, case)


def refuse_constant(name):
    raise Finding(f"{name} in JSON")


def check_document(text, status):
    try:
        document = json.loads(text, parse_constant=refuse_constant)
    except ValueError as error:
        raise Finding(f"no JSON: {error}") from None
    check_values(document, "")
    manifest = document.get("inputs", document.get("configuration", {}).get("inputs"))
    for file in manifest["files"] if isinstance(manifest, dict) else []:
        parts = sum(part["count"] for part in file["ignored"] + file["assumed"])
        expect(file["used"] + parts == file["read"], f"parts of {file['path']} that are not told")
    if status == 0 and document.get("configuration", {}).get("payload") == "real":
        for row in document.get("rows", []) + document.get("iterations", []):
            expect(row.get("verified", True), f"a wrong sum: {row}")


def check_values(value, path):
    """Times and counts are not negative."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key not in ("configuration", "minimum"):
                check_values(item, f"{path}.{key}")
    elif isinstance(value, list):
        for item in value:
            check_values(item, path)
    elif isinstance(value, float) or (isinstance(value, int) and not isinstance(value, bool)):
        expect(math.isfinite(value), f"{path[1:]} = {value}")
        if path.endswith(("_s", "_us", "_GBps", "packet_hops", "events")):
            expect(value >= 0, f"{path[1:]} = {value}")


def check_written(folder, case):
    """Files of results are whole, whatever the end was."""
    for path in folder.iterdir():
        if path.name in case.files or not path.is_file():
            continue
        with open(path, "rb") as file:
            begin = file.read(16)
        if begin == b"SQLite format 3\0":
            with contextlib.closing(sqlite3.connect(path)) as database:
                try:
                    (answer,) = database.execute("PRAGMA integrity_check").fetchone()
                except sqlite3.DatabaseError as error:
                    answer = error
            expect(answer == "ok", f"{path.name}: {answer}")
        elif begin.startswith((b"{", b"[")):
            try:
                json.loads(path.read_text(errors="replace"), parse_constant=refuse_constant)
            except ValueError as error:
                raise Finding(f"{path.name} is no JSON: {error}") from None
