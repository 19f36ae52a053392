# SPDX-License-Identifier: GPL-2.0-only
"""Odd command lines: options of the programs with values at and beyond their limits."""

from cases import WRITERS, Case
from inputs import WORKLOAD, read

ODD = [
    *("", " ", "-1", "-0", "+1", "0", "00", "1e3", "0x10", "1.5", ".5", "5.", "nan", "inf", "-inf"),
    *("1e400", "1e-400", "9" * 30, "18446744073709551616", "-9223372036854775809", "x", "\u00e9"),
    *(
        "\n",
        "a\nb",
        "\x1b[31m",
        "\t",
        "%s%n",
        "'",
        '"',
        "\\",
        ":",
        "=",
        ",",
        ";",
        "a=b",
        "::",
        ":,",
    ),
    *("true", "TRUE", "no", "@", "@no-file", "/dev/null", ".", "..", "A" * 5000, "\udcff", "1K"),
    *("1Gbps", "1ms", "auto", "default", "none", "1:2:x2", "--", "-", "*"),
]
TIMES = [
    "0",
    "1ps",
    "1ns",
    "1.5us",
    "20us",
    "1ms",
    "100s",
    "1e6s",
    "-1us",
    "1e300s",
    "1",
    "us",
    "1h",
]
RATES = ["1bps", "1Mbps", "10Gbps", "12.5GB/s", "0bps", "-1Gbps", "1e30Gbps", "1", "Gbps"]
SIZES = ["0", "1", "255", "4K", "64KiB", "1.5K", "-1", "1e30TB", "20000000TB", "K"]
NUMBERS = ["0", "1", "0.5", "1e-9", "1e-300", "-1", "2", "1.0000001"]
OUTPUTS = [
    "out",
    "out.json",
    "workload.csv",
    "no/such/out",
    ".",
    "",
    "-",
    "/dev/null",
    "topology.json",
]

BASES = {
    "training-job": ["--workload=workload.csv", "--ranks=2", "--iterations=1", "--payload=real"],
    "collective-benchmark": ["--ranks=4", "--bytes=1K", "--warmup=0", "--payload=real"],
    "fabric-benchmark": ["--ranks=4", "--bytes=10K"],
}
STRAYS = [
    *(
        "",
        "-",
        "--",
        "--=",
        "---ranks=2",
        "ranks=2",
        "-ranks=2",
        "--ranks",
        "--Ranks=2",
        "--rank=2",
    ),
    *("--RngRun=2", "--RngRun=x", "--RngRun=0", "--RngSeed=-1", "--RngRun=18446744073709551615"),
    *("--help", "--help=topology", "--help=x", "--describe=json", "--describe=xml", "--version"),
    *("--ns3::training::RdmaNic::Nothing=1", "--ns3::Nothing::AckInterval=1", "--ns3::=1", "--ns3"),
    *("--PrintAttributes=ns3::training::RdmaNic", "--PrintAttributes=x", "--PrintGlobals=x"),
    *("--SchedulerType=ns3::MapScheduler", "--SchedulerType=ns3::Node", "--SchedulerType="),
    *("--SimulatorImplementationType=ns3::Node", "--ChecksumEnabled=x", "\udcfe", "A" * 3000),
]


def odd_number(rng, key):
    """Return a number at or beyond a limit, or a small one: large ones are a matter of patience."""
    least, most = int(key.get("min") or 0), key.get("max")
    values = [least, least + 1, least - 1, 2, 3, 5, 8]
    if most is not None:
        values += [int(most) + 1, int(most) + 1000, 1 << 64]
    return str(rng.choice(values))


def odd_value(rng, key, kinds):
    """Return a value for an option or a key of an alternative."""
    kind = key["type"]
    if "kind" in key and rng.random() < 0.8:
        return odd_alternative(rng, kinds[key["kind"]])
    if rng.random() < 0.3:
        return rng.choice(ODD)
    if key.get("words") and rng.random() < 0.8:
        return rng.choice(key["words"])
    by_type = {"time": TIMES, "rate": RATES, "bytes": SIZES, "number": NUMBERS, "boolean": ["true"]}
    if kind == "count":
        return odd_number(rng, key)
    if kind == "boolean":
        return rng.choice(["true", "false"])
    return rng.choice(by_type.get(kind, ODD))


def odd_alternative(rng, alternatives):
    """Return NAME:key=value,... of a kind, such as a topology."""
    each = rng.choice(alternatives)
    keys = rng.sample(each["keys"], min(len(each["keys"]), rng.choice([0, 1, 1, 2, 3])))
    parts = [f"{key['name']}={odd_value(rng, key, {})}" for key in keys]
    if each.get("first") and rng.random() < 0.7:
        texts = ["topology.json", "workload.csv", "no-file", "2x2", "2", "0x2", "x", "2x", "1x1x2"]
        parts.insert(0, rng.choice(texts))
    if parts and rng.random() < 0.1:
        parts.append(rng.choice([*parts, "key", "=", "key=value", ""]))
    return each["name"] + (":" + ",".join(parts) if parts else rng.choice(["", "", "", ":"]))


def odd_fault(rng):
    targets = ["*", "host0", "switch0", "host0-switch0", "host9", "switch", "host0-host1", "", "x"]
    items = ["loss", "burst-loss", "ber", "duplicate", "reorder", "down", "restart", "receive-rate"]
    parts = []
    for item in rng.sample([*items, "from", "until", "nothing"], rng.choice([0, 1, 1, 2, 3])):
        value = rng.choice(
            ["0", "0.01", "1", "2", "-1", "nan", "0.1/1us", "0.1/0.2/0.3", "1Gbps", ""]
        )
        parts.append(rng.choice([f"{item}={value}", item]))
    return rng.choice(targets) + ":" + ",".join(parts)


def make(rng, describe):
    """Return a case from a source of random numbers."""
    program = rng.choice(list(BASES))
    description = describe(program)
    options = [each for each in description["options"] if each["name"] != "extension"]
    arguments = list(BASES[program])
    for option in rng.sample(options, rng.choice([1, 1, 2, 2, 3, 4])):
        if f"--{option['name']}=" in WRITERS:
            value = rng.choice(OUTPUTS)
        elif option["name"] == "fault" and rng.random() < 0.8:
            value = odd_fault(rng)
        else:
            value = odd_value(rng, option, description["kinds"])
        # The last of two counts; most of our own must stay, or the run is long.
        arguments.append(f"--{option['name']}={value}")
    if rng.random() < 0.15:
        arguments.insert(rng.randrange(len(arguments) + 1), rng.choice(STRAYS))
    if rng.random() < 0.7 and not any(word.startswith("--json") for word in arguments):
        arguments.append("--json=-")
    return Case(
        program, arguments, {"workload.csv": WORKLOAD, "topology.json": read("topology.json")}
    )
