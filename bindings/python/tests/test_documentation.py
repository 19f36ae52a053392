# SPDX-License-Identifier: GPL-2.0-only
"""doc/ matches the programs: keys, columns, options, attributes."""

import builtins
import importlib
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import REPOSITORY

import distributed_training as dt
from distributed_training.program import get_program_class, get_program_names

DOC = REPOSITORY / "doc"
PAGES = [path.read_text(encoding="utf-8") for path in sorted(DOC.rglob("*.rst"))]
WORKLOAD = Path(__file__).with_name("small-workload.csv")
MODEL = REPOSITORY / "build-support/simulated-times/inputs/transformer.json"
CLASSES = [
    "CodecEngine",
    "SwitchDevice",
    "InNetworkCommunicator",
    "SwitchMlCommunicator",
    "SwitchPsCommunicator",
    "SwitchPsProgram",
    "SwitchMlProgram",
    "SharpCommunicator",
    "SharpEndpoint",
    "SharpProgram",
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
    "UecNic",
    "UecNscc",
    "MultiPortTransport",
    "NicCommunicator",
    "TcpTransport",
    "ScheduledCommunicator",
    "TrainingApplication",
]


def read_table(name):
    """Return the rows of the only list-table of this name, each a list of cells, without its header."""
    pattern = re.compile(rf":name: {name}\n(?:   :.*\n)*\n((?:   .*\n|\n)*)")
    (table,) = (table for text in PAGES for table in pattern.findall(text))
    rows = [
        re.split(r"\n     - ", row.strip("\n")) for row in re.split(r"^   \* - ", table, flags=re.M)
    ]
    return [[" ".join(cell.split()) for cell in row] for row in rows[2:]]


def read_names(name):
    """Return the names in the first column of a list-table."""
    return [word for row in read_table(name) for word in re.findall(r"``(.*?)``", row[0])]


@pytest.fixture(scope="module")
def job_json(program_json):
    return program_json("training-job", f"--workload={WORKLOAD}", "--ranks=2")


@pytest.fixture(scope="module")
def benchmark_json(program_json):
    return program_json("collective-benchmark", "--ranks=2", "--bytes=8")


def test_the_schema_follows_from_the_tables():
    script = DOC.parent / "build-support/json_schema.py"
    subprocess.run([sys.executable, script, "--check"], check=True)


@pytest.mark.extensive
def test_json_keys(job_json, benchmark_json, program_json, tmp_path):
    assert list(job_json) == read_names("json-training-job")
    assert list(job_json["critical_path"]) == read_names("json-path")
    parts = job_json["critical_path"]["parts"]
    assert sum(part["time_s"] for part in parts) == pytest.approx(
        job_json["critical_path"]["time_s"]
    )
    derived = set()  # nothing; not exactly, as the period is longer; and collectives
    for option in ("--iterations=1", "--iterations=40", "--path=spray", "--replicas=derive"):
        arguments = [f"--workload={WORKLOAD}", "--repeat=derive", option]
        derived |= set(program_json("training-job", *arguments))
    quiet = ["--global-batch=2", "--collectives=derive"]
    for options in (["--transport=uec", "--global-batch=40"], quiet):
        pipeline = ["--pipeline=2", "--ranks=2", "--micro-batches=derive", "--iterations=1"]
        derived |= set(program_json("training-job", f"--model={MODEL}", *pipeline, *options))
    derived.discard("uec")  # of that transport
    assert set(read_names("json-repeat")) == derived - set(job_json)
    for iteration in job_json["iterations"]:
        assert list(iteration) == read_names("json-iterations")
    auto = program_json("training-job", f"--workload={WORKLOAD}", "--collective=auto")
    for row in auto["candidates"]:
        assert list(row) == read_names("json-candidates")
    assert list(benchmark_json) == read_names("json-collective-benchmark")
    for row in benchmark_json["rows"]:
        assert list(row) == read_names("json-rows")
    sweep = program_json("collective-benchmark", "--ranks=2", "--bytes=8", "--sweep=algorithms")
    assert list(sweep) == read_names("json-sweep-keys")
    assert list(sweep["rows"][0]) == read_names("json-rows")
    divided = ["--model=megatron-1.7b", "--tensor=2", "--pipeline=2"]
    kernels = next(DOC.parent.glob("examples/**/kernels-h100.csv"))
    check = program_json("training-job", *divided, f"--kernels={kernels}", "--check")
    assert list(check) == read_names("json-check")
    document = (DOC / "parallel.rst").read_text("utf-8")
    group = check["groups"][0]
    for part in (group, group["collectives"][0], check["schedule"], check["estimate"]):
        for key in part:
            assert f"``{key}``" in document, key
    fabric_json = program_json("fabric-benchmark", "--ranks=2", "--bytes=1000")
    assert list(fabric_json) == read_names("json-fabric-benchmark")
    for row in fabric_json["comparison"]:
        assert list(row) == read_names("json-fabric-benchmark-comparison")
    flow_json = program_json("flow-benchmark", "--ranks=2", "--duration=10us")
    assert list(flow_json) == read_names("json-flow-benchmark")
    for row in (*flow_json["rows"], flow_json["all"]):
        assert list(row) == read_names("json-flow-benchmark-rows")
    fct_json = program_json("flow-benchmark", "--preset=hpcc", "--warm-up=0", "--duration=10us")
    assert list(fct_json) == read_names("json-flow-benchmark")
    assert len(fct_json["published"]) == 10
    for row in fct_json["published"]:
        assert list(row) == read_names("json-flow-benchmark-published")
    serving_json = program_json("disaggregated-serving", "--count=1", "--prompt=8", "--output=2")
    assert list(serving_json) == read_names("json-disaggregated-serving")
    for row in serving_json["requests"]:
        assert list(row) == read_names("json-disaggregated-serving-requests")
    ring_json = program_json("fpga-ring", "--part=rates", "--bytes=64K")
    assert list(ring_json) == read_names("json-fpga-ring")
    for row in ring_json["rows"]:
        assert list(row) == read_names("json-published-rows")
    saved = program_json("checkpoint-times", f"--workload={WORKLOAD}", "--ranks=2", "--bytes=8K")
    assert list(saved) == read_names("json-checkpoint-times")
    life_json = program_json("job-life", "--lives=2")
    assert list(life_json) == read_names("json-job-life")
    assert list(life_json["life"]) == read_names("json-job-life-life")
    for part in ("intervals", "figures"):
        for row in life_json[part]:
            assert list(row) == read_names(f"json-job-life-{part}")
    inceptionn_json = program_json("inceptionn", "--part=codec")
    assert list(inceptionn_json) == read_names("json-inceptionn")
    for row in inceptionn_json["rows"]:
        assert list(row) == read_names("json-published-rows")
    jobs_json = program_json("job-validation", "--part=operations")
    assert list(jobs_json) == read_names("json-job-validation")
    for row in jobs_json["rows"]:
        assert list(row) == read_names("json-published-rows")
    codec_input = tmp_path / "gradients"
    codec_input.write_bytes(bytes(64))
    codec_json = program_json("gradient-codec", f"--input={codec_input}")
    assert list(codec_json) == read_names("json-gradient-codec")
    for row in codec_json["classes"]:
        assert list(row) == read_names("json-gradient-codec-classes")
    for row in program_json("gradient-codec", "--list")["codecs"]:
        assert list(row) == read_names("json-gradient-codec-codecs")
    trees_json = program_json(
        "multitree-allreduce", "--part=sizes", "--topology=torus:2x2", "--bytes=64"
    )
    assert list(trees_json) == read_names("json-multitree-allreduce")
    for row in trees_json["rows"]:
        assert list(row) == read_names("json-multitree-allreduce-rows")
    sums = program_json(
        "collective-benchmark", "--collective=switchml", "--ranks=2", "--bytes=8", "--payload=real"
    )
    assert list(sums["in_network"]) == read_names("json-in-network")
    over_tcp = program_json("collective-benchmark", "--transport=tcp", "--ranks=2", "--bytes=8")
    assert list(over_tcp["tcp"]) == read_names("json-tcp")
    over_uec = program_json("collective-benchmark", "--transport=uec", "--ranks=2", "--bytes=8")
    assert list(over_uec["uec"]) == read_names("json-uec")
    coded = program_json(
        "collective-benchmark", "--nic=inceptionn", "--payload=real", "--ranks=2", "--bytes=8K"
    )
    assert list(coded["nic"]) == read_names("json-nic")
    coded = program_json(
        "collective-benchmark", "--codec=thc", "--payload=real", "--ranks=2", "--bytes=8K"
    )
    assert list(coded["codec"]) == read_names("json-codec")
    priced = program_json("training-job", f"--workload={WORKLOAD}", "--ranks=2", "--energy=h100")
    assert list(priced["energy"]) == read_names("json-energy")
    for part in ("binding", "network"):
        assert list(job_json[part]) == read_names(f"json-{part}")
    lived = program_json("training-job", f"--workload={WORKLOAD}", "--ranks=2", "--fail=rank0:1us")
    assert list(lived["life"]) == read_names("json-life")
    systems_json = program_json("in-network-aggregation", "--part=sums", "--sum-bytes=4K")
    assert list(systems_json) == read_names("json-in-network-aggregation")
    rates_json = program_json("in-network-aggregation", "--part=switchml", "--bytes=64K")
    for row in rates_json["rows"]:
        assert list(row) == read_names("json-published-rows")
    jobs = tmp_path / "jobs.toml"
    jobs.write_text("[[job]]\nranks = 2\niterations = 1\n")
    shared_json = program_json(
        "shared-cluster", f"--jobs={jobs}", "--ranks=4", "--background=fixed"
    )
    assert list(shared_json["background"]) == read_names("json-background")
    del shared_json["background"]
    assert list(shared_json) == read_names("json-shared-cluster")
    for row in shared_json["jobs"]:
        assert list(row) == read_names("json-shared-cluster-jobs")
    offloaded = program_json(
        "shared-cluster", f"--jobs={jobs}", "--ranks=2", "--collective=switchml", "--alone=false"
    )
    for row in offloaded["jobs"]:
        assert list(row["in_network"]) == read_names("json-shared-in-network")
    tables_json = program_json("nccl-tables", "--most=1M")
    assert list(tables_json) == read_names("json-nccl-tables")
    for row in tables_json["rows"]:
        assert list(row) == read_names("json-nccl-tables-rows")
    mixed_json = program_json("mixed-traffic", "--ranks=2", "--bytes=8K", "--duration=2ms")
    assert list(mixed_json) == read_names("json-mixed-traffic")
    for row in mixed_json["flows"]:
        assert list(row) == read_names("json-mixed-traffic-flows")
    barrier_json = program_json("switch-barrier", "--ranks=2", "--rounds=1")
    assert list(barrier_json) == read_names("json-switch-barrier")
    server_json = program_json("switch-parameter-server", "--part=trace", "--interval=100ms")
    assert list(server_json) == read_names("json-switch-parameter-server")
    for row in server_json["rows"]:
        assert list(row) == read_names("json-published-rows")
    for row in server_json["trace"]:
        assert list(row) == read_names("json-switch-parameter-server-trace")
    speeds = program_json("tcp-benchmark", "--hops=2", "--flows=1", "--bytes=1K", "--pairs=1")
    assert list(speeds) == read_names("json-tcp-benchmark")
    for row in speeds["rows"]:
        assert list(row) == read_names("json-tcp-benchmark-rows")
    codesign_json = program_json("topology-codesign", "--part=operations", "--nodes=4")
    assert list(codesign_json) == read_names("json-topology-codesign")
    codesign_json["tables"] = program_json("topology-codesign", "--part=tables")["tables"]
    for part in ("tables", "rows", "figures"):
        for row in codesign_json[part]:
            assert list(row) == read_names(f"json-topology-codesign-{part}")
    learned = program_json("training-job", "--gradients=learn", "--ranks=2", "--iterations=1")
    for row in learned["learning"]:
        assert list(row) == read_names("json-learning")
    chosen = read_names("json-resolved-training-job")
    for document, more in ((job_json, chosen), (benchmark_json, []), (fabric_json, [])):
        resolved = document["configuration"].pop("resolved")
        assert list(resolved) == read_names("json-resolved") + more


def test_measured_quantities_are_documented(describe, job_json):
    quantities = [quantity["name"] for quantity in describe("training-job")["measured"]]
    assert quantities == list(dt.TrainingJob.quantities().index)
    documented = read_names("json-training-job")
    assert documented[: len(quantities)] == quantities == list(job_json)[: len(quantities)]
    for row in job_json["iterations"]:
        assert set(quantities) < set(row)
    attributes = set(dt.Result.__annotations__) - {"data"}
    rest = set(documented) - set(quantities) - {"iterations", "candidates"}
    assert rest == attributes | set(dt.TrainingResult.__annotations__)
    rows = set(read_names("json-collective-benchmark"))
    assert rows == attributes | {"rows", "candidates", "binding", "network"}


def test_sqlite_columns(tmp_path):
    path = tmp_path / "results.sqlite"
    dt.TrainingJob(workload=WORKLOAD, ranks=2, results=path).run()
    connection = sqlite3.connect(path)
    tables = [
        row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    ]
    views = [
        row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'view'")
    ]
    assert tuple(tables + views) == dt.list_tables(path)
    for table in tables + views:
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        assert columns == read_names(f"table-{table}"), table
    connection.close()


def to_default(option, text):
    """Convert a default from the documentation of an option to its form in --describe."""
    if text == "none":
        return None
    text = text.strip("`")
    if text in option.get("words", []):
        return text
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    convert = {
        "boolean": lambda: text == "true",
        "bytes": lambda: (
            int(re.match(r"\d+", text)[0]) * units.get(text.lstrip("0123456789")[:1], 1)
        ),
        "count": lambda: int(text),
        "number": lambda: float(text),
    }
    return convert.get(option["type"], lambda: text)()


CLUSTER = "cluster"  # the table of shared options, of which each program has some
FILES = "files"  # likewise


@pytest.mark.parametrize(
    "name, tables",
    [
        (
            "training-job",
            [f"training-job-{part}" for part in ("1", "life", "parallel", "2")] + [CLUSTER],
        ),
        ("collective-benchmark", ["collective-benchmark"]),
        ("checkpoint-times", ["checkpoint-times-1", "checkpoint-times-2", CLUSTER]),
        ("disaggregated-serving", [f"disaggregated-serving-{i}" for i in (1, 2, 3)]),
        ("fabric-benchmark", ["fabric-benchmark"]),
        ("flow-benchmark", ["flow-benchmark-1", "flow-benchmark-2"]),
        ("fpga-ring", ["fpga-ring"]),
        ("gradient-codec", ["gradient-codec"]),
        ("job-life", ["job-life-1", "job-life-2", "job-life-3", "job-life-4"]),
        ("job-validation", ["job-validation"]),
        ("inceptionn", ["inceptionn"]),
        ("mixed-traffic", ["mixed-traffic"]),
        ("multitree-allreduce", ["multitree-allreduce"]),
        ("in-network-aggregation", ["in-network-aggregation"]),
        ("nccl-tables", ["nccl-tables"]),
        ("shared-cluster", ["shared-cluster"]),
        ("switch-barrier", ["switch-barrier"]),
        ("switch-parameter-server", ["switch-parameter-server"]),
        ("tcp-benchmark", ["tcp-benchmark"]),
        ("topology-codesign", ["topology-codesign"]),
    ],
)
def test_options(describe, name, tables):
    options = {option["name"]: option for option in describe(name)["options"]}
    own, shared = (
        {row[0].strip("`-"): row[1] for table in names for row in read_table(f"options-{table}")}
        for names in (tables, [CLUSTER, FILES])
    )
    assert set(own) <= set(options)
    documented = {**{name: text for name, text in shared.items() if name in options}, **own}
    assert {name: to_default(options[name], text) for name, text in documented.items()} == {
        name: option["default"] for name, option in options.items()
    }


def test_members_of_the_description(describe):
    documents = [
        describe(name) for name in ("training-job", "collective-benchmark", "flow-benchmark")
    ]
    alternatives = [a for d in documents for kind in d["kinds"].values() for a in kind]
    for table, objects in (
        ("describe", [documents[0]]),
        ("describe-options", [option for d in documents for option in d["options"]]),
        ("describe-alternatives", alternatives),
        ("describe-keys", [key for a in alternatives for key in a["keys"]]),
    ):
        assert set().union(*objects) == set(read_names(table)), table
    types = set(re.findall("``(.*?)``", read_table("describe-options")[3][1]))
    used = {option["type"] for d in documents for option in d["options"]}
    assert used <= types


def to_number(text):
    """Parse a default in the notation of ns-3 or of the documentation."""
    match = re.fullmatch(r"\+?([\d.]+(?:e[+-]?\d+)?)(ps|us|ms|Mbps|Gbps|bps|MiB)?", text)
    if not match:
        return text
    units = {"ps": 1, "us": 1e6, "ms": 1e9, "bps": 1, "Mbps": 1e6, "Gbps": 1e9, "MiB": 1 << 20}
    return float(match.group(1)) * units.get(match.group(2), 1)


def test_arguments_of_trace_callbacks():
    """The suite trace-sources compares the rest of the trace tables."""
    headers = [path.read_text("utf-8") for path in sorted(REPOSITORY.glob("model/**/*.h"))]
    rows = read_table("trace-callbacks")
    for callback, arguments in rows:
        *_, owner, name = callback.strip("`").split("::")
        texts = [text for text in headers if re.search(rf"^class {owner}\b[^;]*$", text, re.M)]
        if owner == "Packet":  # of ns-3
            assert arguments == "``Ptr<const Packet> packet``"
            continue
        found = [re.search(rf"typedef void \(\*{name}\)\((.*?)\);", text, re.S) for text in texts]
        declared = [" ".join(match.group(1).split()) for match in found if match]
        assert [arguments.strip("`")] == declared, callback
    used = {row[2] for row in read_table("trace-sources")}
    assert {callback for callback, _ in rows} == used


@pytest.mark.parametrize("name", CLASSES)
def test_attributes(program, name):
    output = program("training-job", f"--PrintAttributes=ns3::training::{name}").stdout
    actual = dict(re.findall(rf"--ns3::training::{name}::(\w+)=\[(.*)\]", output))
    table = f"attributes-{name}"
    documented = {
        attribute.strip("`"): default.strip("`") for attribute, default, _ in read_table(table)
    }
    assert set(documented) == set(actual)
    for attribute, default in documented.items():
        if default == "read only":
            assert actual[attribute] in ("", "0"), attribute
            continue
        assert to_number(default) == to_number(actual[attribute]), attribute


def test_tcp_attributes_exist(program):
    for row in read_table("tcp-attributes"):
        for attribute in re.findall(r"``(.*?)``", row[0]):
            kind, name = attribute.rsplit("::", 1)
            assert f"--{attribute}=[" in program("training-job", f"--PrintAttributes={kind}").stdout
    source = (REPOSITORY / "helper/transport/tcp-helper.cc").read_text(encoding="utf-8")
    changed = re.findall(r'Tune\("(.*?)"', source) + [
        "ns3::TcpL4Protocol::SocketType",
        "ns3::training::HostDevice::IpQueueLimit",
    ]
    documented = " ".join(row[0] for row in read_table("tcp-attributes"))
    assert set(changed) == set(re.findall(r"``(.*?)``", documented))


def test_algorithms_are_those_that_exist(describe):
    description = describe("collective-benchmark")
    options = {option["name"]: option for option in description["options"]}
    operations = ", ".join(options["operation"]["words"])
    actual = {}
    for algorithm in description["kinds"]["collective"]:
        can = [note.removeprefix("for ") for note in algorithm["notes"] if note.startswith("for ")]
        if not can:  # auto
            continue
        # The chapter of an in-network system documents its keys.
        operations_of, *is_system = can[0].split("; ")
        keys = {} if is_system else {k["name"]: str(k["default"]) for k in algorithm["keys"]}
        if operations_of == "every operation":
            operations_of = operations
        actual[algorithm["name"]] = [keys, "; ".join([operations_of, *is_system])]
    documented = {}
    for names, can, *_ in read_table("algorithms"):
        name, *keys = re.findall(r"``(.*?)``", names)
        documented[name] = [dict(key.split("=") for key in keys), can]
    assert documented == actual


def test_codecs_are_those_that_exist(describe, program_json):
    documented = {}
    for names, _, _, traits, cost in read_table("codecs"):
        name, *keys = re.findall(r"``(.*?)``", names)
        documented[name] = (keys, re.findall(r"``(.*?)``", traits), cost)
    keys = {codec["name"]: codec["keys"] for codec in describe("gradient-codec")["kinds"]["codec"]}
    actual = {}
    for codec in program_json("gradient-codec", "--list")["codecs"]:
        defaults = []
        for key in keys[codec["name"]]:
            default = str(key["default"]).lower()
            defaults.append(key["name"] + ("" if default == "none" else f"={default}"))
        times = dict.fromkeys(f"{time:.2g}" for time in codec["cost"].get("gpu", {}).values())
        actual[codec["name"]] = (defaults, codec["traits"], ", ".join(times) or "-")
    assert documented == actual


def test_suites_are_those_that_exist():
    sources = "".join(path.read_text(encoding="utf-8") for path in REPOSITORY.glob("test/*.cc"))
    names = re.findall(r'\bSuite g_suite\(\s*"(.*?)"', sources)
    suites = {f"distributed-training-{name}" for name in names}
    assert set(read_names("suites") + read_names("suites-of-hosts")) == suites


# A quantity with one of these words needs a unit after it.
QUANTITIES = r"time|wait|latency|duration|bandwidth|rate|memory|delay"
UNITS = r"(s|us|ms|h|bps|Gbps|Bps|MBps|GBps|B|KB|MB|GB|KiB|MiB|bytes|bits|percent|tokens|growth|95)"


def list_columns():
    """Return (table, column) of every table and JSON object of results."""
    pages = [*DOC.glob("json*.rst"), *DOC.glob("sqlite*.rst")]
    text = "".join(path.read_text(encoding="utf-8") for path in pages)
    names = re.findall(r":name: ((?:json|table)-[\w-]+)\n", text)
    return [(name, column) for name in names for column in read_names(name)]


def test_columns_have_underscores_and_units():
    columns = list_columns()
    assert len(columns) > 500
    for table, column in columns:
        if table == "json-resolved":  # options of the command line
            continue
        assert re.fullmatch(r"[a-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*", column), (table, column)
        words = column.split("_")
        if re.fullmatch(f"({QUANTITIES})s?", words[-1]):
            assert False, f"{table}: {column} has no unit"
        if re.search(f"(^|_)({QUANTITIES})_", column):
            assert re.search(f"_{UNITS}(_|$)", column), f"{table}: {column} has no unit"


@pytest.mark.parametrize("kind", [dt.TrainingJob, dt.CollectiveBenchmark])
def test_columns_of_frames_are_keywords_and_columns(kind):
    result = kind(ranks=2).run()
    documented = {column for _, column in list_columns()}
    options = {option["name"].replace("-", "_") for option in kind.describe()["options"]}
    keywords = options | {"seed", "run"}
    frame = result.to_frame()
    assert all("-" not in name and " " not in name for name in frame)
    unknown = set(frame) - keywords - documented
    assert {name for name in unknown if not name.startswith("ns3::")} == set()
    assert not frame.columns.duplicated().any()


def test_every_program_has_a_class(build):
    assert get_program_names() == sorted(build.examples)
    for name in get_program_names():
        kind = get_program_class(name)
        assert getattr(dt, kind.__name__) is kind
        assert kind.__name__ in dt.__all__


def test_documented_names_are_those_of_the_package():
    """doc/python.rst has the class of every program, doc/python-reference.rst every name."""
    programs = {get_program_class(name).__name__ for name in get_program_names()}
    text = (DOC / "python.rst").read_text(encoding="ascii")
    names = set(re.findall(r"``(?:dt\.)?([A-Z]+[a-z]\w*)\b(?!::)", text))
    names |= set(re.findall(r"\bdt\.(\w+)", text))
    assert programs <= names
    cpp = set(re.findall(r"\bns\.training\.(\w+)", text))
    assert names - {*dt.__all__, *dir(builtins), *cpp} == set()
    text = (DOC / "python-reference.rst").read_text(encoding="ascii")
    listed = re.findall(r"^\.\. (?:auto)?(?:class|data|exception|function):: (\w+)$", text, re.M)
    modules = re.findall(
        r"^\.\. automodule:: distributed_training\.(\w+)\n +:members:$", text, re.M
    )
    assert modules == ["experiments", "plot"]
    experiments = importlib.import_module("distributed_training.experiments")
    listed += [name for name in programs if hasattr(experiments, name)] + ["plot"]
    assert sorted(listed) == sorted(dt.__all__)


@pytest.fixture
def cpp_reference(monkeypatch):
    """The module that makes the page of C++ classes."""
    monkeypatch.syspath_prepend(str(DOC))
    return importlib.import_module("cpp_reference")


def test_cpp_reference_has_a_page_for_each_room(cpp_reference):
    public = {cpp_reference.get_room(header) for header in cpp_reference.list_headers()}
    rooms = [room for room in cpp_reference.read_rooms() if room in public]
    assert len(rooms) == len(public) > 20
    listed = re.findall(r"^   cpp/(\w+)$", (DOC / "cpp.rst").read_text(encoding="ascii"), re.M)
    assert listed == rooms
    assert {path.stem for path in (DOC / "cpp").iterdir()} == set(rooms)
    for room in rooms:
        assert f".. cpp-room:: {room}\n" in (DOC / f"cpp/{room}.rst").read_text(encoding="ascii")


needs_doxygen = pytest.mark.skipif(
    not shutil.which("doxygen"), reason="Doxygen is not installed (Debian: apt-get install doxygen)"
)


@pytest.mark.extensive
@needs_doxygen
def test_cpp_reference_has_every_class(cpp_reference, tmp_path):
    """And Doxygen has nothing to say."""
    assert cpp_reference.run_doxygen(tmp_path, cpp_reference.list_headers()) == []
    entries = cpp_reference.read_entries(tmp_path / "xml")
    names = {entry.name.rpartition("::")[2] for entry in entries}
    for header in cpp_reference.list_headers():
        text = (REPOSITORY / header).read_text(encoding="ascii")
        text = re.sub(r"@cond.*?@endcond", "", text, flags=re.S)
        declared = re.findall(r"^(?:class|struct) (\w+)(?: : .*|\n[: ] .*)?\n\{", text, re.M)
        assert set(declared) <= names, header
    page = "\n".join(cpp_reference.make_room("helper", entries))
    assert ".. doxygenclass:: ns3::training::FabricHelper\n   :members:" in page
    assert "``ns3/fabric-helper.h``\n---" in page and "RdmaNic" not in page


@needs_doxygen
@pytest.mark.parametrize(
    "comment, warning",
    [
        ("/** Sends. @param size bytes */", None),
        ("/** Sends. @param length bytes */", "'length' of command @param is not found"),
        ("/** Sends. */", "parameters of member Sender::Send are not documented"),
        ("", "Send(int size) (function) of class Sender is not documented"),
    ],
)
def test_doxygen_warns(cpp_reference, tmp_path, monkeypatch, comment, warning):
    monkeypatch.setattr(cpp_reference, "ROOT", tmp_path)
    members = f"  public:\n    {comment}\n    void Send(int size);\n"
    (tmp_path / "sender.h").write_text(f"/** Sends. */\nclass Sender\n{{\n{members}}};\n")
    text = "\n".join(cpp_reference.run_doxygen(tmp_path / "out", ["sender.h"]))
    assert warning in text if warning else not text
