#! /usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Records simulated times of the commands in commands.txt, and compares them with a record.

  simulated_times.py compare --examples=DIR        exit status 1 if anything differs
  simulated_times.py record --examples=DIR         writes the reference anew

With --with=OPTION every command has one more option, which must not change a result.

DIR has the example programs, as NAME, NAME-optimized or ns3.XX-NAME-PROFILE.
"""

import argparse
import concurrent.futures
import hashlib
import json
import math
import os
import pathlib
import re
import resource
import shlex
import sqlite3
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

# Keys of JSON documents that are not simulation results: cost, and the configuration.
NOT_RESULTS = re.compile(
    r"configuration|version|choices?|candidates|reason|unfit|fastest|ratio|published\w*|scheduler|"
    r"error_percent|"
    r"derived|"
    r"default|packets_per_ack|algbw_GBps|efficiency|(setup_)?cpu_s|wall_s|\w+_per_cpu_s|\w+_memory_MiB"
)

# Numbers computed from simulated times. Compilers may round them differently.
DERIVED = re.compile(
    r"\w+_GBps|lower_bound_ps|scaling_efficiency|speedup|ours|expected|closest|p50|p95|p99|"
    r"error_bound|max_error"
)
DERIVED_TOLERANCE = 1e-12  # relative

# Times. Means over iterations may be fractions of picoseconds.
TIME = re.compile(r"(.*)_(u?s)")
PICOSECONDS = {"s": 10**12, "us": 10**6}
TIME_TOLERANCE = 0.2  # ps

# Tables of --results, and the columns that are results. Times are in seconds.
TABLES = {
    "collective": ("rank", "iteration", "sequence", "bytes", "start_s", "end_s"),
    "message": ("source", "destination", "bytes", "start_s", "end_s"),
    "link_counter": (
        "node",
        "port",
        "peer",
        "bytes",
        "frames",
        "marks",
        "pauses",
        "drops",
        "busy_s",
        "max_queue_bytes",
    ),
}

MAX_LINES = 8  # printed per command that differs


def fail(text):
    """Ends the script because of bad input."""
    print(f"simulated_times.py: {text}", file=sys.stderr)
    sys.exit(2)


def read_commands(path, only):
    """Returns the commands of a list whose names match, as {name: [program, option, ...]}."""
    commands = {}
    for number, line in enumerate(path.read_text(encoding="ascii").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = re.fullmatch(r"([a-z0-9-]+): (\S.*)", line)
        if not match:
            fail(f"{path}:{number}: '{line}' (allowed: NAME: PROGRAM OPTION ...)")
        name, text = match.groups()
        if name in commands:
            fail(f"{path}:{number}: a second '{name}'")
        commands[name] = shlex.split(text)
    return {name: words for name, words in commands.items() if only.search(name)}


def find_programs(folder, names):
    """Returns the files of programs, as {name: path}."""
    programs = {}
    for name in sorted(names):
        pattern = re.compile(rf"(ns3[\w.]*-)?{re.escape(name)}(-[a-z]+)?")
        found = [
            path
            for path in sorted(folder.iterdir())
            if pattern.fullmatch(path.name) and path.is_file() and os.access(path, os.X_OK)
        ]
        if len(found) != 1:
            what = ", ".join(path.name for path in found) or "none"
            fail(f"--examples={folder}: programs named {name}: {what} (allowed: one)")
        programs[name] = found[0]
    return programs


def get_label(member, index, is_sweep):
    """Returns the name of a list member: from its contents if the list is ordered by names."""
    if isinstance(member, dict) and "system" in member:
        return f"{member['system']} {member['loss']}"
    if is_sweep and isinstance(member, dict) and "algorithm" in member:
        return f"{member['algorithm']} {member['bytes']}"
    return index


def flatten(value, path, is_sweep, entry):
    """Adds the numbers of a JSON document to an entry of the record, by their path."""
    if isinstance(value, dict):
        for key, member in value.items():
            if not NOT_RESULTS.fullmatch(key):
                flatten(member, f"{path}.{key}" if path else key, is_sweep, entry)
    elif isinstance(value, list):
        for index, member in enumerate(value):
            flatten(member, f"{path}[{get_label(member, index, is_sweep)}]", is_sweep, entry)
    elif isinstance(value, str):
        if path.endswith(".outcome"):
            entry[path] = value
    else:
        time = TIME.fullmatch(path)
        if time and isinstance(value, (int, float)):
            # A difference of two times in seconds has rounding errors far below a picosecond.
            picoseconds = round(value * PICOSECONDS[time[2]], 3)
            whole = round(picoseconds)
            entry[f"{time[1]}_ps"] = whole if whole == picoseconds else picoseconds
        else:
            entry[path] = value


def get_digest(rows):
    """Returns a digest of rows, independent of their order."""
    text = "\n".join(sorted("\t".join(map(str, row)) for row in rows))
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:24]


def get_exact(column, value):
    """Returns a value of a table: times as whole picoseconds."""
    if value is not None and column.endswith("_s"):
        return round(value * PICOSECONDS["s"])
    return value


def read_tables(path, entry):
    """Adds the contents of a results file to an entry of the record."""
    connection = sqlite3.connect(path)
    for table, columns in TABLES.items():
        select = f"SELECT {', '.join(columns)} FROM {table}"
        rows = [
            tuple(get_exact(column, value) for column, value in zip(columns, row))
            for row in connection.execute(select)
        ]
        entry[f"results.{table}.rows"] = len(rows)
        entry[f"results.{table}.digest"] = get_digest(rows)
        if "end_s" in columns:
            ends = [row[columns.index("end_s")] for row in rows]
            entry[f"results.{table}.last_end_ps"] = max(
                (end for end in ends if end is not None), default=None
            )
    connection.close()


def read_files(folder, entry):
    """Adds the output files of a command to an entry of the record."""
    captures = [(path.name, path.read_bytes()) for path in sorted(folder.glob("*.pcap"))]
    if captures:
        entry["captures.files"] = len(captures)
        entry["captures.bytes"] = sum(len(data) for _, data in captures)
        entry["captures.digest"] = get_digest(
            (name, hashlib.sha256(data).hexdigest()) for name, data in captures
        )
    timeline = folder / "timeline.json"
    if timeline.exists():
        document = json.loads(timeline.read_text(encoding="utf-8"))
        events = document["traceEvents"] if isinstance(document, dict) else document
        entry["timeline.events"] = len(events)
        entry["timeline.digest"] = get_digest(
            [event.get("ph"), event.get("pid"), event.get("tid"), event.get("ts"), event.get("dur")]
            for event in events
        )


def run(words, programs, inputs, timeout, more):
    """Runs a command with more options. Returns its entry of the record and its standard error."""
    with tempfile.TemporaryDirectory(prefix="simulated-times-") as temporary:
        folder = pathlib.Path(temporary)
        program, *options = words
        arguments = [
            option.replace("INPUTS", str(inputs)).replace("OUTPUT", temporary) for option in options
        ]
        arguments += more
        if program != "switch-barrier":
            arguments.append(f"--json={folder / 'result.json'}")
        if program == "training-job":
            arguments.append(f"--results={folder / 'result.sqlite'}")
        environment = {key: value for key, value in os.environ.items() if key != "NS_LOG"}
        try:
            process = subprocess.run(
                [str(programs[program]), *arguments],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                cwd=folder,
                env=environment,
                timeout=timeout,
                check=False,
                text=True,
            )
        except subprocess.TimeoutExpired:
            return {"status": f"more than {timeout} s"}, ""
        entry = {"status": process.returncode}
        if program == "switch-barrier":
            for index, number in enumerate(re.findall(r"\d+(?:\.\d+)?", process.stdout)):
                entry[f"printed[{index}]"] = json.loads(number)
        document = folder / "result.json"
        if document.exists() and document.stat().st_size > 0:
            is_sweep = "--sweep=algorithms" in options
            flatten(json.loads(document.read_text(encoding="utf-8")), "", is_sweep, entry)
        results = folder / "result.sqlite"
        if results.exists():
            try:
                read_tables(results, entry)
            except sqlite3.OperationalError as error:
                entry["results"] = str(error)
        read_files(folder, entry)
        return entry, process.stderr.strip()


def run_all(commands, arguments, on_entry):
    """Runs commands in parallel, and passes their results to on_entry in order."""
    programs = find_programs(arguments.examples, {words[0] for words in commands.values()})
    inputs = arguments.commands.parent / "inputs"
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        futures = {
            name: pool.submit(run, words, programs, inputs, arguments.timeout, arguments.more)
            for name, words in commands.items()
        }
        for name, future in futures.items():
            on_entry(name, *future.result())


def is_equal(key, recorded, now):
    """Returns whether two values of a key are the same."""
    numbers = all(type(value) in (int, float) for value in (recorded, now))
    last = key.rpartition(".")[2]
    if numbers and DERIVED.fullmatch(last):
        return math.isclose(recorded, now, rel_tol=DERIVED_TOLERANCE, abs_tol=0)
    if numbers and last.endswith("_ps"):
        return math.isclose(recorded, now, rel_tol=0, abs_tol=TIME_TOLERANCE)
    return type(recorded) is type(now) and recorded == now


def read_reference(path):
    """Returns a record, or one without entries if there is none."""
    return json.loads(path.read_text(encoding="ascii")) if path.exists() else {}


def record(commands, arguments):
    """Writes the entries of commands to the reference."""
    reference = read_reference(arguments.reference) if arguments.only.pattern else {}
    failed = []

    def on_entry(name, entry, message):
        if entry["status"] not in (0, 3):
            failed.append(name)
            print(f"{name}: status {entry['status']}: {message}")
        reference[name] = entry

    run_all(commands, arguments, on_entry)
    if failed:
        print(f"{len(failed)} failed, nothing is written")
        return 1
    text = json.dumps(reference, indent=1, sort_keys=True, allow_nan=False)
    arguments.reference.write_text(text + "\n", encoding="ascii")
    print(f"{len(commands)} recorded")
    return 0


def compare(commands, arguments):
    """Prints the differences from the reference."""
    reference = read_reference(arguments.reference)
    counts = {True: 0, False: 0}

    def on_entry(name, entry, message):
        recorded = reference.get(name, {})
        lines = [
            f"{name}: {key}: recorded {recorded.get(key)}, now {entry.get(key)}"
            for key in sorted({*recorded, *entry})
            if not arguments.ignore.fullmatch(key)
            and not is_equal(key, recorded.get(key), entry.get(key))
        ]
        counts[not lines] += 1
        if not recorded:
            lines = [f"{name}: not recorded"]
        elif entry["status"] != recorded["status"]:
            lines = [f"{name}: status: recorded {recorded['status']}, now {entry['status']}"]
            lines += [f"{name}: {line}" for line in message.splitlines()]
        shown = lines if arguments.all else lines[:MAX_LINES]
        for line in shown:
            print(line)
        if len(shown) < len(lines):
            print(f"{name}: and {len(lines) - len(shown)} more (--all)")
        sys.stdout.flush()

    run_all(commands, arguments, on_entry)
    print(f"{counts[True]} equal, {counts[False]} different")
    return 1 if counts[False] else 0


def main():
    """Runs the script."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("mode", choices=("record", "compare"))
    parser.add_argument(
        "--examples",
        type=pathlib.Path,
        required=True,
        metavar="DIR",
        help="folder with the programs",
    )
    parser.add_argument(
        "--only",
        type=re.compile,
        default=re.compile(""),
        metavar="REGEX",
        help="commands whose names it is found in; record then keeps the entries of the others",
    )
    parser.add_argument(
        "-j", "--jobs", type=int, default=1, metavar="N", help="commands at a time (1)"
    )
    parser.add_argument(
        "--commands",
        type=pathlib.Path,
        default=HERE / "commands.txt",
        metavar="FILE",
        help="list of commands, beside their folder inputs",
    )
    parser.add_argument(
        "--reference",
        type=pathlib.Path,
        default=HERE / "reference.json",
        metavar="FILE",
        help="the record",
    )
    parser.add_argument(
        "--ignore",
        type=re.compile,
        default=re.compile("(?!)"),
        metavar="REGEX",
        help="keys that are not compared, such as events",
    )
    parser.add_argument(
        "--with",
        action="append",
        default=[],
        dest="more",
        metavar="OPTION",
        help="option that is added to each command; may be repeated; compare only",
    )
    parser.add_argument(
        "--all", action="store_true", help=f"print all differences, not {MAX_LINES} of a command"
    )
    parser.add_argument(
        "--timeout", type=float, default=300, metavar="S", help="seconds for a command (300)"
    )
    arguments = parser.parse_args()
    if not arguments.examples.is_dir():
        fail(f"--examples={arguments.examples} (allowed: a folder)")
    if arguments.more and arguments.mode == "record":
        fail(f"--with={arguments.more[0]} (allowed: with compare)")
    arguments.commands = arguments.commands.resolve()
    commands = read_commands(arguments.commands, arguments.only)
    if not commands:
        fail(f"--only={arguments.only.pattern}: no command has such a name")
    status = (record if arguments.mode == "record" else compare)(commands, arguments)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{usage.ru_utime + usage.ru_stime:.0f} s of processor time")
    return status


if __name__ == "__main__":
    sys.exit(main())
