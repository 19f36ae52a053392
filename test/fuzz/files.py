# SPDX-License-Identifier: GPL-2.0-only
"""Damaged files: topologies, schedules, workloads, traces, faults, gradients and their codes."""

import re

from cases import Case
from inputs import WORKLOAD, read
from traces import NETWORKS, TRACES

COLLECTIVE = ["collective-benchmark", "--warmup=0", "--bytes=1K", "--payload=real", "--json=-"]
JOB = ["training-job", "--iterations=1", "--warmup=0", "--payload=real", "--json=-"]

SEEDS = {
    "topology.json": [*COLLECTIVE, "--ranks=4", "--topology=file:FILE"],
    "topology-hpcc.txt": [*COLLECTIVE, "--ranks=6", "--topology=file:FILE"],
    "topology-simai.txt": [*COLLECTIVE, "--ranks=8", "--topology=file:FILE"],
    "schedule.json": [*COLLECTIVE, "--ranks=3", "--schedule=FILE"],
    "allpairs.xml": [*COLLECTIVE, "--ranks=4", "--schedule=FILE"],
    "workload.csv": [*JOB, "--ranks=2", "--workload=FILE"],
    "faults.txt": [*COLLECTIVE, "--ranks=4", "--fault=@FILE"],
    "network.yml": [*COLLECTIVE, "--ranks=4", "--topology=astra-network:FILE"],
    "server.xml": [*COLLECTIVE, "--ranks=4", "--topology=nccl:FILE"],
    "fabric.yml": [*COLLECTIVE, "--ranks=4", "--topology=infragraph:FILE"],
    "graph.xml": [*COLLECTIVE, "--ranks=4", "--collective=nccl-graph:graph=tree,file=FILE"],
    "system.json": [*JOB, "--ranks=4", "--workload=workload.csv", "--system=FILE"],
    "transformer.json": ["training-job", "--ranks=1", "--model=FILE", "--check", "--json=-"],
    # They may ask for years: cases read them only.
    **{name: ["training-job", "--workload=FILE", "--json=-"] for name in TRACES},
}

NUMBERS = [
    *(
        b"0",
        b"-1",
        b"1",
        b"2",
        b"3",
        b"7",
        b"0.5",
        b"-0.0",
        b"1e-400",
        b"1e400",
        b"nan",
        b"inf",
        b"",
    ),
    *(b"4294967295", b"4294967296", b"9223372036854775808", b"18446744073709551616", b"9" * 40),
    *(b"0x1", b"1 2", b'"1"', b"null", b"true", b"[]", b"{}", b"-2147483649", b"65536", b"1e6"),
]
BYTES = [
    b"\0",
    b"\xff",
    b"\xc3\x28",
    b"\xe2\x80\xae",
    b"\x1b[31m",
    b'"',
    b"'",
    b"\\",
    b"<",
    b">",
    b"&",
]
BYTES += [
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\n",
    b"\r\n",
    b";",
    b"#",
    b"<!--",
    b"]]>",
    b"&lol;",
    b"%s",
]


def damage(rng, text):
    """Return the text with one change."""
    lines = text.splitlines(True)
    words = list(re.finditer(rb"[\w.+-]+", text))
    numbers = list(re.finditer(rb"-?\d[\d.e]*", text))
    strings = list(re.finditer(rb'"[^"]*"', text))
    place = rng.randrange(len(text) + 1)
    change = rng.choice(
        ["number", "number", "number", "word", "string", "byte", "byte", "cut", "delete", "repeat"]
        + ["swap", "flip", "nest", "begin"]
    )

    def replace(match, new):
        return text[: match.start()] + new + text[match.end() :]

    if change == "number" and numbers:
        return replace(rng.choice(numbers), rng.choice(NUMBERS))
    if change == "word" and words:
        return replace(
            rng.choice(words), rng.choice([w.group() for w in words] + BYTES + [b"x" * 3000])
        )
    if change == "string" and strings:
        return replace(rng.choice(strings), rng.choice([s.group() for s in strings] + NUMBERS))
    if change == "cut":
        return text[:place]
    if change in ("delete", "repeat", "swap") and lines:
        index = rng.randrange(len(lines))
        if change == "delete":
            del lines[index]
        elif change == "repeat":
            lines[index:index] = lines[index : index + 1] * rng.choice([1, 2, 50])
        else:
            other = rng.randrange(len(lines))
            lines[index], lines[other] = lines[other], lines[index]
        return b"".join(lines)
    if change == "flip" and text:
        place %= len(text)
        return text[:place] + bytes([text[place] ^ (1 << rng.randrange(8))]) + text[place + 1 :]
    if change == "nest":
        opening, closing = rng.choice(
            [(b"[", b"]"), (b'{"a":', b"}"), (b"<a>", b"</a>"), (b"(", b")")]
        )
        depth = rng.choice([2, 200, 100000])
        return text[:place] + opening * depth + rng.choice([b"", closing * depth]) + text[place:]
    if change == "begin":
        return rng.choice([b"\xef\xbb\xbf", b"\0", b"\n", b" ", b"PK\3\4", b"\xff\xfe"]) + text
    return text[:place] + rng.choice(BYTES) + text[place:]


def make_code(rng, describe):
    """Return a case that reads random bytes as gradients, or as the code of some."""
    (kind,) = (o["kind"] for o in describe("gradient-codec")["options"] if o["name"] == "codec")
    codec = rng.choice([entry["name"] for entry in describe("gradient-codec")["kinds"][kind]])
    size = rng.choice([0, 1, 3, 4, 5, 34, 42, 43, 44, 100, 4096])
    ones = rng.choice([255, 255, 63, 1])  # bytes with few bits are more often a code
    content = bytes(rng.randrange(256) & ones for _ in range(size))
    arguments = [f"--codec={codec}", "--input=numbers", "--json=-"]
    if rng.random() < 0.7:
        counts = [0, 1, 7, 8, 9, size, 2 * size, 8 * size, 1 << 32, 1 << 40]
        arguments += ["--decode", f"--count={rng.choice(counts)}"]
    return Case("gradient-codec", arguments, {"numbers": content})


def make(rng, describe):
    """Return a case from a source of random numbers."""
    if rng.random() < 0.1:
        return make_code(rng, describe)
    name = rng.choice(list(SEEDS))
    known = {"workload.csv": WORKLOAD, **TRACES, **NETWORKS}
    text = known[name] if name in known else read(name)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        if len(text) < 1 << 20:
            text = damage(rng, text)
    program, *arguments = (word.replace("FILE", name) for word in SEEDS[name])
    if name in TRACES:
        arguments += ["--summary"] + ["--lenient"] * (rng.random() < 0.5)
    if rng.random() < 0.1:  # verified and written again
        target = "--export-topology=out" if "topology" in name else "--export-schedule=out.xml"
        if program == "collective-benchmark":
            arguments.append(target)
    beside = {"workload.csv": WORKLOAD} if name == "system.json" else {}
    return Case(program, arguments, {name: text, **beside})
