# SPDX-License-Identifier: GPL-2.0-only
"""What doc/ says is what the programs do: keys, columns, options, attributes, the example."""

import re
import sqlite3
import subprocess
from pathlib import Path

import pytest

from conftest import REPOSITORY

import distributed_training as dt

DOC = REPOSITORY / "doc"
WORKLOAD = Path(__file__).with_name("small-workload.csv")
CLASSES = [
    "SwitchDevice",
    "InNetworkCommunicator",
    "SwitchMlCommunicator",
    "SwitchPsCommunicator",
    "SwitchPsProgram",
    "SwitchMlProgram",
    "TreeCommunicator",
    "TreeEndpoint",
    "TreeProgram",
    "AtpCommunicator",
    "AtpProgram",
    "AtpServer",
    "HostDevice",
    "RdmaNic",
    "RdmaDcqcn",
    "RdmaDctcp",
    "RdmaFixedWindow",
    "RdmaHpcc",
    "RdmaPowerTcp",
    "RdmaSwift",
    "RdmaThetaPowerTcp",
    "RdmaTimely",
    "LanedTransport",
    "TcpTransport",
    "ScheduledCommunicator",
    "TrainingApplication",
    "LayerLoopApplication",
]


def read_table(file, name):
    """Return the rows of a list-table, each a list of cells, without its header."""
    text = (DOC / file).read_text(encoding="utf-8")
    table = re.search(rf":name: {name}\n(?:   :.*\n)*\n((?:   .*\n|\n)*)", text).group(1)
    rows = [
        re.split(r"\n     - ", row.strip("\n")) for row in re.split(r"^   \* - ", table, flags=re.M)
    ]
    return [[" ".join(cell.split()) for cell in row] for row in rows[2:]]


def find_table(name):
    """Return the file that has a list-table."""
    return next(
        path.name for path in DOC.glob("*.rst") if f":name: {name}\n" in path.read_text("utf-8")
    )


def read_names(file, name):
    """Return the names in the first column of a list-table."""
    return [word for row in read_table(file, name) for word in re.findall(r"``(.*?)``", row[0])]


@pytest.fixture(scope="module")
def job_json(program_json):
    return program_json("training-job", f"--workload={WORKLOAD}", "--ranks=2")


@pytest.fixture(scope="module")
def benchmark_json(program_json):
    return program_json("collective-benchmark", "--ranks=2", "--bytes=8")


def test_json_keys(job_json, benchmark_json, program_json):
    assert list(job_json) == read_names("results.rst", "json-training-job")
    for iteration in job_json["iterations"]:
        assert list(iteration) == read_names("results.rst", "json-iterations")
    assert list(benchmark_json) == read_names("results.rst", "json-collective-benchmark")
    for row in benchmark_json["rows"]:
        assert list(row) == read_names("results.rst", "json-rows")
    sweep = program_json("collective-benchmark", "--ranks=2", "--bytes=8", "--sweep=algorithms")
    assert list(sweep) == read_names("results.rst", "json-sweep-keys")
    assert list(sweep["rows"][0]) == read_names("results.rst", "json-rows")
    fabric_json = program_json("fabric-benchmark", "--ranks=2", "--bytes=1000")
    assert list(fabric_json) == read_names("results.rst", "json-fabric-benchmark")
    for row in fabric_json["comparison"]:
        assert list(row) == read_names("results.rst", "json-fabric-benchmark-comparison")
    fct_json = program_json("hpcc-fct", "--scale=16", "--warm-up=0", "--duration=10us")
    assert list(fct_json) == read_names("results.rst", "json-hpcc-fct")
    for row in fct_json["rows"]:
        assert list(row) == read_names("results.rst", "json-hpcc-fct-rows")
    trees_json = program_json(
        "multitree-allreduce", "--part=sizes", "--topology=torus:2x2", "--bytes=64"
    )
    assert list(trees_json) == read_names("results.rst", "json-multitree-allreduce")
    for row in trees_json["rows"]:
        assert list(row) == read_names("results.rst", "json-multitree-allreduce-rows")
    sums = program_json(
        "collective-benchmark", "--algorithm=switchml", "--ranks=2", "--bytes=8", "--payload=real"
    )
    assert list(sums["in_network"]) == read_names("results.rst", "json-in-network")
    systems_json = program_json("in-network-aggregation", "--part=sums", "--sum-bytes=4K")
    assert list(systems_json) == read_names("results.rst", "json-in-network-aggregation")
    rates_json = program_json("in-network-aggregation", "--part=switchml", "--bytes=64K")
    for row in rates_json["rows"]:
        assert list(row) == read_names("results.rst", "json-in-network-aggregation-rows")
    tables_json = program_json("nccl-tables", "--most=1M")
    assert list(tables_json) == read_names("results.rst", "json-nccl-tables")
    for row in tables_json["rows"]:
        assert list(row) == read_names("results.rst", "json-nccl-tables-rows")
    codesign_json = program_json("topology-codesign", "--part=operations", "--nodes=4")
    assert list(codesign_json) == read_names("results.rst", "json-topology-codesign")
    for part in ("rows", "figures"):
        for row in codesign_json[part]:
            assert list(row) == read_names("results.rst", f"json-topology-codesign-{part}")
    for document in (job_json, benchmark_json, fabric_json):
        resolved = document["configuration"].pop("resolved")
        assert list(resolved) == read_names("results.rst", "json-resolved")


def test_result_attributes_are_documented():
    for kind, table in (
        (dt.TrainingResult, "json-training-job"),
        (dt.BenchmarkResult, "json-collective-benchmark"),
    ):
        hints = set(dt.Result.__annotations__) | set(kind.__annotations__) - {"data"}
        lists = {name for name in vars(kind) if name in ("iterations", "rows")}
        assert (hints - {"data"}) | lists == set(read_names("results.rst", table))


def test_sqlite_columns(tmp_path):
    path = tmp_path / "results.sqlite"
    dt.TrainingJob(workload=WORKLOAD, ranks=2, results=path).run()
    connection = sqlite3.connect(path)
    tables = [
        row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    ]
    assert set(tables) == set(dt.TABLES)
    for table in tables:
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        assert columns == read_names("results.rst", f"table-{table}"), table
    connection.close()


def read_usage(program, name):
    """Return the default of each option as --help prints it."""
    usage = program(name, "--help").stdout.split("\nUnits:")[0]
    options = re.findall(r"^  --(\S+) .*?(?: \[([^\[\]]*)\])?$", usage, re.M)
    return dict(options)


@pytest.mark.parametrize(
    "name, tables",
    [
        ("training-job", ["training-job-1", "training-job-2", "training-job-3"]),
        ("collective-benchmark", ["collective-benchmark", "training-job-3"]),
        ("fabric-benchmark", ["training-job-3", "fabric-benchmark"]),
        ("hpcc-fct", ["hpcc-fct"]),
        ("multitree-allreduce", ["multitree-allreduce"]),
        ("in-network-aggregation", ["in-network-aggregation"]),
        ("nccl-tables", ["nccl-tables"]),
        ("switch-barrier", ["switch-barrier"]),
        ("topology-codesign", ["topology-codesign"]),
    ],
)
def test_options(program, name, tables):
    documented = {}
    for table in tables:
        for option, default, _ in read_table("user-guide.rst", f"options-{table}"):
            documented[option.strip("`-")] = "" if default == "none" else default.strip("`")
    if name in ("collective-benchmark", "fabric-benchmark"):
        del documented["collective"]
    if name == "fabric-benchmark":
        for option in ("transport", "servers", "segments", "host-model", "verify"):
            del documented[option]
        for option in ("schedule", "export-schedule", "print-schedule"):
            del documented[option]
        for option in ("elements-per-packet", "slots", "window", "framing", "message-packets"):
            del documented[option]
    assert documented == read_usage(program, name)


def to_number(text):
    """Read a default as ns-3 or the documentation writes it."""
    match = re.fullmatch(r"\+?([\d.]+(?:e[+-]?\d+)?)(ps|us|ms|Mbps|bps|MiB)?", text)
    if not match:
        return text
    units = {"ps": 1, "us": 1e6, "ms": 1e9, "bps": 1, "Mbps": 1e6, "MiB": 1 << 20}
    return float(match.group(1)) * units.get(match.group(2), 1)


@pytest.mark.parametrize("name", CLASSES)
def test_attributes(program, name):
    output = program("training-job", f"--PrintAttributes=ns3::training::{name}").stdout
    actual = dict(re.findall(rf"--ns3::training::{name}::(\w+)=\[(.*)\]", output))
    table = f"attributes-{name}"
    documented = {
        attribute.strip("`"): default.strip("`")
        for attribute, default, _ in read_table(find_table(table), table)
    }
    assert set(documented) == set(actual)
    for attribute, default in documented.items():
        assert to_number(default) == to_number(actual[attribute]), attribute


def test_tcp_attributes_exist(program):
    for row in read_table("tcp.rst", "tcp-attributes"):
        for attribute in re.findall(r"``(.*?)``", row[0]):
            kind, name = attribute.rsplit("::", 1)
            assert f"--{attribute}=[" in program("training-job", f"--PrintAttributes={kind}").stdout
    source = (REPOSITORY / "helper/host-transport.cc").read_text(encoding="utf-8")
    changed = re.findall(r'SetUnlessChanged\("(.*?)",\s*"(.*?)"', source)
    documented = " ".join(row[0] for row in read_table("tcp.rst", "tcp-attributes"))
    assert {"::".join(words) for words in changed} == set(re.findall(r"``(.*?)``", documented))


def test_algorithms_are_those_that_exist(program):
    usage = program("collective-benchmark", "--help").stdout
    operations = re.search(r"--operation .*?: (.*) \[", usage).group(1)
    section = re.search(r"\nAlgorithms:\n(.*?)\n\n", usage, re.S).group(1)
    actual = {}
    for line in section.split("\n"):
        if match := re.match(r"  ([a-z]\S*)", line):
            name = match.group(1)
            actual[name] = [{}, ""]
        elif match := re.match(r"    (\S+)=(\S+) ", line):
            actual[name][0][match.group(1)] = match.group(2)
        else:
            can = line.strip().removeprefix("for ")
            actual[name][1] = operations if can == "every operation" else can
    documented = {}
    for names, can, *_ in read_table("algorithms.rst", "algorithms"):
        name, *keys = re.findall(r"``(.*?)``", names)
        documented[name] = [dict(key.split("=") for key in keys), can]
    assert documented == actual


def test_suites_are_those_that_exist():
    sources = "".join(path.read_text(encoding="utf-8") for path in REPOSITORY.glob("test/*.cc"))
    suites = set(re.findall(r': TestSuite\("(.*?)"', sources))
    assert set(read_names("validation.rst", "suites")) == suites


def test_example_algorithm_works(build, monkeypatch, tmp_path):
    """The file of doc/extending.rst, loaded into the programs that know nothing of it."""
    minor = int(re.match(r"3\.(\d+)", build.ns3_version).group(1))
    standard = "17" if minor < 41 else "20" if minor < 46 else "23"
    library = tmp_path / "libexample.so"
    command = ["c++", f"-std=c++{standard}", "-shared", "-fPIC", "-Wall", "-Wextra", "-o", library]
    command += [f"-isystem{directory}" for directory in build.include_dirs]
    command += [DOC / "recursive-tripling-collective.cc"]
    subprocess.run(command, check=True, timeout=300)
    monkeypatch.setenv("LD_PRELOAD", str(library))
    options = {"algorithm": "recursive-tripling", "payload": "real", "bytes": "4,64K"}
    rows = dt.CollectiveBenchmark(ranks=9, **options).run().rows
    assert rows["verified"].all()
    with pytest.raises(ValueError, match="powers of 3"):
        dt.CollectiveBenchmark(ranks=6, **options).run()
    job = dt.TrainingJob(
        workload=WORKLOAD, ranks=3, payload="real", collective="recursive-tripling"
    ).run()
    assert job.iterations["verified"].all()
