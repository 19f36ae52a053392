# SPDX-License-Identifier: GPL-2.0-only
"""Extensions: each folder of test/extensions is built outside of the module and chosen by its name.

They use the build that DISTRIBUTED_TRAINING_BUILD names; ./ns3w shell sets it.
"""

import functools
import json
import os
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
EXTENSIONS = ROOT / "test/extensions"
VARIABLE = "DISTRIBUTED_TRAINING_EXTENSIONS"
sys.path.insert(0, str(ROOT / "bindings/python"))

import distributed_training as dt  # noqa: E402

pytestmark = [
    pytest.mark.skipif(not shutil.which("cmake"), reason="there is no cmake"),
    pytest.mark.extensive,
]


def cmake(*words):
    process = subprocess.run(["cmake", *words], capture_output=True, text=True)
    assert process.returncode == 0, process.stdout + process.stderr


def configure(source, binaries, *definitions):
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    flags = "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror"
    cmake("-S", source, "-B", binaries, flags, *launcher, *definitions)


def make(source, binaries, *definitions):
    """Configure and build a folder by CMake; return the libraries in it."""
    configure(source, binaries, *definitions)
    cmake("--build", binaries)
    return sorted(Path(binaries).glob("*.so"))


def build_option():
    return f"-Ddistributed-training_DIR={Path(os.environ['DISTRIBUTED_TRAINING_BUILD']).parent}"


@pytest.fixture(autouse=True)
def no_extensions_of_the_shell(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """Build the extension of a kind, once; return its library. All are configured together."""
    source, binaries = (tmp_path_factory.mktemp(name) for name in ("source", "binaries"))
    names = {}
    for path in EXTENSIONS.glob("*/CMakeLists.txt"):
        names[path.parent.name] = re.search(r"project\((\S+) CXX\)", path.read_text()).group(1)
    (source / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.19)\nproject(extensions CXX)\n"
        + "".join(f'add_subdirectory("{EXTENSIONS / kind}" {kind})\n' for kind in names)
    )
    configure(source, binaries, build_option())

    @functools.lru_cache(None)
    def build(kind):
        cmake("--build", binaries, "--target", names[kind])
        return binaries / f"lib{names[kind]}.so"

    return build


def run(name, *arguments, libraries=()):
    """Run a program that loads libraries by its command line; return the finished process."""
    build = dt.find_build()
    options = [f"--extension={file}" for file in libraries]
    command = [build.get_program(name), *arguments, *options]
    environment = build.get_environment()
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def run_json(name, *arguments, libraries=()):
    process = run(name, *arguments, "--json=-", libraries=libraries)
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)


def assert_refused(process, *texts):
    assert process.returncode == 2
    assert process.stdout == ""
    assert process.stderr.count("\n") == 1, process.stderr
    for text in texts:
        assert text in process.stderr


def test_collective_algorithm(library):
    file = library("collective-algorithm")
    name = "--collective=recursive-tripling"
    options = [name, "--ranks=9", "--payload=real", "--bytes=4,64K"]
    rows = run_json("collective-benchmark", *options, libraries=[file])["rows"]
    assert [row["verified"] for row in rows] == [True, True]
    job = ["--workload=alexnet", "--ranks=3", "--collective=recursive-tripling", "--iterations=1"]
    assert run_json("training-job", *job, libraries=[file])["iterations"]
    wrong = run("collective-benchmark", name, "--ranks=6", libraries=[file])
    assert_refused(wrong, "recursive-tripling: 6 ranks", "power of three")
    assert_refused(run("collective-benchmark", name, "--ranks=9"), "recursive-tripling", "ring")


def test_codec(library, tmp_path):
    file = library("codec")
    gradients = tmp_path / "gradients"
    gradients.write_bytes(struct.pack("<3f", 0.0104, -0.5, 0))
    arguments = ["--codec=fixed-point:unit=0.001", f"--input={gradients}"]
    result = run_json("gradient-codec", *arguments, libraries=[file])
    assert result["code_bytes"] == 6
    assert result["largest_error"] == pytest.approx(0.0004)
    assert_refused(run("gradient-codec", *arguments), "fixed-point", "inceptionn")
    gradients.write_bytes(struct.pack("<2f", 0, 100))
    assert_refused(run("gradient-codec", *arguments, libraries=[file]), "number 1 is out of range")


def test_figures(library, tmp_path):
    file = library("figures")
    results = tmp_path / "results.sqlite"
    job = ["--workload=alexnet", "--ranks=4", "--iterations=1", f"--results={results}"]
    marked = run_json("training-job", *job, libraries=[file])["marks"]["marked_frames"]
    rows = dt.read_results(results, "marked_frames")
    assert len(rows) == 8 and rows["marked_frames"].sum() == marked
    process = run("collective-benchmark", "--ranks=4", "--bytes=1M", libraries=[file])
    assert "\nmarked frames: " in process.stdout
    assert "marks" not in run_json("training-job", *job[:-1])


def test_congestion_control(library):
    file = library("congestion-control")

    def get_time(congestion_control, *attributes):
        options = ["--ranks=2", "--bytes=64M", f"--congestion-control={congestion_control}"]
        document = run_json("collective-benchmark", *options, *attributes, libraries=[file])
        return document["rows"][0]["time_us"]

    half = get_time("fixed-share")
    tenth = get_time("fixed-share:share=0.1")
    assert tenth == pytest.approx(5 * half, rel=1e-3)
    assert get_time("fixed-share", "--example::RdmaFixedShare::Share=0.1") == tenth
    wrong = run(
        "collective-benchmark", "--congestion-control=fixed-share:share=2", libraries=[file]
    )
    assert_refused(wrong, "share=2", "0.01 to 1")
    job = ["--workload=alexnet", "--ranks=2", "--iterations=8", "--repeat=derive"]
    repeated = run_json(
        "training-job", *job, "--congestion-control=fixed-share", libraries=[file]
    )
    assert "fixed-share is not known to repeat" in json.dumps(repeated)


def test_path_choice(library):
    file = library("path-choice")

    def get_time(path):
        options = ["--topology=leaf-spine:leaves=2,spines=2", "--ranks=4", "--bytes=64M"]
        options += ["--operation=all-to-all", "--collective=pairwise", f"--path={path}"]
        return run_json("collective-benchmark", *options, libraries=[file])["rows"][0]["time_us"]

    first = get_time("single")
    assert first == get_time("single:index=1") == get_time("single:index=2")
    # Both hosts of a leaf send through one link where spraying uses two.
    assert first > 1.2 * get_time("spray")
    wrong = run("collective-benchmark", "--path=single:index=x", libraries=[file])
    assert_refused(wrong, "index=x", "0 to 1023")


def test_host_model(library):
    file = library("host-model")

    def get_time(host_model):
        options = ["--ranks=4", "--bytes=64", "--collective=ring", f"--host-model={host_model}"]
        return run_json("collective-benchmark", *options, libraries=[file])["rows"][0]["time_us"]

    # A ring of 4 has 6 steps, one hop each; frames may wait for acknowledgements, or no longer.
    assert get_time("fixed-hop") == pytest.approx(get_time("none") + 6 * 2, abs=0.1)
    assert get_time("fixed-hop:latency=5us") == pytest.approx(get_time("none") + 6 * 5, abs=0.1)
    # What does not say that it repeats itself is simulated.
    job = ["--workload=alexnet", "--ranks=2", "--iterations=8", "--repeat=derive"]
    repeated = run_json("training-job", *job, "--host-model=fixed-hop", libraries=[file])
    assert "fixed-hop is not known to repeat" in json.dumps(repeated)
    assert "known to repeat" not in json.dumps(run_json("training-job", *job))
    wrong = run("collective-benchmark", "--host-model=fixed-hop:latency=x", libraries=[file])
    assert_refused(wrong, "latency=x", "a time with a unit")


def test_topology(library):
    file = library("topology")

    def get_run(topology, *options):
        options = [
            f"--topology={topology}",
            "--ranks=6",
            "--bytes=8M",
            "--collective=ring",
            *options,
        ]
        return run_json("collective-benchmark", *options, libraries=[file])

    def get_time(topology):
        return get_run(topology, "--congestion-control=none")["rows"][0]["time_us"]

    resolved = get_run("switch-chain:switches=3")["configuration"]["resolved"]
    assert (resolved["hosts"], resolved["switches"]) == (6, 3)
    # The ring crosses each trunk once in each direction.
    slow = get_time("switch-chain:switches=3,trunk-rate=10Gbps")
    assert slow == pytest.approx(10 * get_time("switch-chain:switches=3"), rel=0.05)
    wrong = run("collective-benchmark", "--topology=switch-chain:switches=0", libraries=[file])
    assert_refused(wrong, "switches", "1 to 256")


def test_transport(library):
    """Whatever runs over RDMA runs over an ideal pipe, with nothing edited."""
    file = library("transport")
    described = run("collective-benchmark", "--describe=json", libraries=[file]).stdout
    described = json.loads(described)
    options = {option["name"]: option for option in described["options"]}
    operations = options["operation"]["words"]
    ran = set()
    for entry in described["kinds"]["collective"]:
        for operation in operations:
            command = ["collective-benchmark", "--ranks=16", "--topology=torus:4x4", "--bytes=64K"]
            command += [f"--collective={entry['name']}", f"--operation={operation}"]
            command += ["--payload=real"]
            if run(*command).returncode == 0:
                row = run_json(*command, "--transport=ideal-pipe", libraries=[file])["rows"][0]
                assert row["verified"], (entry["name"], operation)
                ran.add((entry["name"], operation))
    assert {operation for name, operation in ran} == set(operations)
    assert len({name for name, operation in ran}) >= 20
    # A ring of 4 has 6 steps of a quarter each over two links.
    ring = ["--ranks=4", "--bytes=64M", "--collective=ring", "--transport=ideal-pipe"]
    row = run_json("collective-benchmark", *ring, libraries=[file])["rows"][0]
    assert row["time_us"] == pytest.approx(6 * ((16 << 20) * 8 / 100e9 * 1e6 + 1), rel=1e-6)
    job = ["--model=megatron-1.7b", "--tensor=2", "--pipeline=2", "--data=2", "--iterations=2"]
    job += ["--transport=ideal-pipe"]
    first, second = run_json("training-job", *job, libraries=[file])["iterations"][-2:]
    assert first["iteration_time_s"] == pytest.approx(second["iteration_time_s"], rel=1e-9)
    assert first["lower_bound_s"] < first["iteration_time_s"]
    # The pipe lists no connections, so the packets that it repeats are not known, and not 0.
    assert "(retransmissions" not in run("training-job", *job, "--energy=h100", libraries=[file]).stdout
    assert "(retransmissions" in run("training-job", *job[:-1], "--energy=h100").stdout
    derived = run("training-job", *job, "--repeat=derive", libraries=[file])
    assert_refused(derived, "--repeat=derive", "ideal-pipe")
    assert_refused(run("training-job", *job), "--transport=ideal-pipe", "rdma")


def test_workload(library):
    options = ["--workload=lenet5", "--batch=32", "--ranks=2", "--iterations=1"]
    document = run_json("training-job", *options, libraries=[library("workload")])
    # conv1 needs no gradients of its inputs.
    macs = 3 * 416520 - 117600
    update = 61706 * 12 / 2.039e12
    expected = 2 * macs * 32 / (0.36 * 312e12) + update
    assert document["compute_time_s"] == pytest.approx(expected, abs=1e-11)
    assert "an estimate: no measurement of lenet5" in document["inputs"]


def test_gpu(library):
    options = ["--workload=resnet50", "--gpu=example-gpu", "--batch=128", "--ranks=2"]
    document = run_json("training-job", *options, libraries=[library("gpu")])
    update = 25557032 * 12 / 0.9e12
    assert document["compute_time_s"] == pytest.approx(128 / 1000 + update, abs=1e-9)
    assert "example-gpu, 1000 samples/s (an example)" in document["inputs"]


def test_jitter(library):
    options = ["--workload=resnet50", "--compute-jitter=two-point:slow=0.5,factor=1.5", "--ranks=8"]
    options += ["--iterations=20", "--bucket=1G", "--collective=direct", "--rate=400Gbps"]
    document = run_json("training-job", *options, libraries=[library("jitter")])
    once = run_json("training-job", "--workload=resnet50", "--ranks=1")["compute_time_s"]
    # A half of the draws is 0.5 and the other 1.5: their mean is 1.
    slow = document["compute_time_s"] / once
    assert slow == pytest.approx(1.5, rel=0.02)  # the slowest of 8 ranks, but for 1 case in 256
    assert document["straggler_time_s"] == pytest.approx(4 * once, rel=0.25)


def test_switch_program(library, tmp_path):
    libraries = [library("switch-program")]

    def sum_up(keys="", *more):
        options = ["--ranks=5", "--payload=real", "--bytes=4,50K", *more]
        options += [f"--collective=adder{keys}"]
        document = run_json("collective-benchmark", *options, libraries=libraries)
        assert [row["verified"] for row in document["rows"]] == [True, True]
        return document

    packets = 50 * 1024 // 128
    first = sum_up()
    assert first["rows"][1]["time_us"] > 0
    # Its own keys: a packet with half as many numbers takes twice as many packets.
    per_packet = [
        document["in_network"]["sent"] for document in (first, sum_up(":elements=16"))
    ]
    assert per_packet[0] >= 5 * packets
    assert per_packet[1] == pytest.approx(2 * per_packet[0], rel=0.05)
    window = sum_up(":slots=2")
    assert window["rows"][1]["time_us"] > 10 * first["rows"][1]["time_us"]
    lossy = sum_up("", "--loss=0.01")
    assert lossy["in_network"]["resent"] > 0
    # Its own wire format.
    sum_up("", f"--pcap={tmp_path}/adder")
    capture = (tmp_path / "adder-host0-0.pcap").read_bytes()
    udp_port = (0xBF10).to_bytes(2, "big")
    assert capture.count(udp_port) >= packets
    job = ["--workload=lenet5", "--ranks=3", "--collective=adder:fraction-bits=12"]
    libraries.append(library("workload"))
    iterations = run_json("training-job", *job, "--payload=real", libraries=libraries)["iterations"]
    assert all(iteration["verified"] for iteration in iterations)
    wrong = run("collective-benchmark", "--collective=adder:slots=1", libraries=libraries)
    assert_refused(wrong, "--collective=adder:slots=1", "2 to 1048576")
    wrong = run("collective-benchmark", "--collective=adder", "--ranks=65", libraries=libraries)
    assert_refused(wrong, "adder with 65 workers", "up to 64")
    assert_refused(run("collective-benchmark", "--collective=adder"), "--collective=adder")


def test_extensions_are_complete():
    kinds = {path.name for path in EXTENSIONS.iterdir() if path.is_dir()}
    tested = {name[len("test_") :].replace("_", "-") for name in globals() if name[:5] == "test_"}
    assert kinds and kinds <= tested


def test_several_extensions_at_once(library):
    libraries = [library("topology"), library("collective-algorithm")]
    options = ["--topology=switch-chain", "--collective=recursive-tripling", "--ranks=9"]
    rows = run_json("collective-benchmark", *options, "--bytes=1K", libraries=libraries)["rows"]
    assert rows[0]["algorithm"] == "recursive-tripling"


def test_python_names_extensions_by_the_environment(library, monkeypatch):
    libraries = [str(library("topology")), str(library("collective-algorithm"))]
    options = {"topology": "switch-chain", "collective": "recursive-tripling", "ranks": 9}
    with pytest.raises(ValueError, match="switch-chain"):
        dt.CollectiveBenchmark(**options).run()
    monkeypatch.setenv(VARIABLE, os.pathsep.join(libraries))
    result = dt.CollectiveBenchmark(**options, bytes="1K").run()
    assert list(result.rows["algorithm"]) == ["recursive-tripling"]
    assert result.configuration["extension"] == ";".join(libraries)
    monkeypatch.delenv(VARIABLE)
    again = dt.CollectiveBenchmark(**options, bytes="1K", extension=libraries).run()
    assert list(again.rows["time_us"]) == list(result.rows["time_us"])


def test_help_lists_what_an_extension_adds(library):
    file = library("topology")
    text = run("training-job", "--help=switch-chain", libraries=[file]).stdout
    assert "switches in a row" in text and "trunk-rate" in text
    description = json.loads(run("training-job", "--describe=json", libraries=[file]).stdout)
    assert "switch-chain" in [entry["name"] for entry in description["kinds"]["topology"]]


def test_files_that_are_no_extensions_are_refused(tmp_path):
    text = tmp_path / "text.so"
    text.write_text("not a library\n")
    for file in (tmp_path / "missing.so", text):
        wrong = run("collective-benchmark", "--ranks=2", libraries=[file])
        assert_refused(wrong, f"collective-benchmark: extension '{file}'", "allowed")


def test_name_that_is_taken_is_refused(tmp_path):
    source = tmp_path / "source"
    shutil.copytree(EXTENSIONS / "workload", source)
    code = source / "lenet5.cc"
    code.write_text(code.read_text().replace('"lenet5"', '"alexnet"'))
    (file,) = make(source, tmp_path / "build", build_option())
    wrong = run("training-job", "--ranks=2", libraries=[file])
    assert_refused(wrong, f"extension '{file}': registers workload 'alexnet', which exists already")


def test_wrong_call_of_the_cmake_function_is_refused(tmp_path):
    source = tmp_path / "source"
    shutil.copytree(EXTENSIONS / "workload", source)
    lists = source / "CMakeLists.txt"
    lists.write_text(lists.read_text().replace("SOURCES", "FILES"))
    command = ["cmake", "-S", source, "-B", tmp_path / "build", build_option()]
    process = subprocess.run(command, capture_output=True, text=True)
    assert process.returncode != 0
    assert "distributed_training_add_extension(NAME SOURCES FILE...)" in process.stderr


def test_missing_build_is_refused(tmp_path):
    command = ["cmake", "-S", EXTENSIONS / "workload", "-B", tmp_path]
    command += [f"-Ddistributed-training_DIR={ROOT / 'build-support'}"]
    process = subprocess.run(command, capture_output=True, text=True)
    assert process.returncode != 0
    assert "distributed-training_DIR" in process.stderr


def test_extension_inside_an_ns3_tree(tmp_path):
    """What ns-3's CMake files offer a folder in contrib/: build_lib() and lib<module>."""
    source = tmp_path / "source"
    shutil.copytree(EXTENSIONS / "workload", source / "contrib/lenet5")
    (source / "contrib/distributed-training").symlink_to(ROOT)
    lists = source / "contrib/lenet5/CMakeLists.txt"
    hints = "REQUIRED HINTS ${CMAKE_CURRENT_SOURCE_DIR}/../distributed-training/build-support)"
    lists.write_text(lists.read_text().replace("REQUIRED)", hints))
    info = json.loads(Path(os.environ["DISTRIBUTED_TRAINING_BUILD"]).read_text())
    (source / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.19)\n"
        "project(tree CXX)\n"
        f"set(CMAKE_CXX_STANDARD {info['cxx_standard']})\n"
        "set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})\n"
        f"add_compile_options(-isystem{info['include_dirs'][0]})\n"
        + "".join(f"add_compile_options(-idirafter{path})\n" for path in info["include_dirs"][1:])
        + "".join(f"add_compile_definitions({name})\n" for name in info["definitions"])
        + "function(build_lib)\nendfunction()\n"
        "add_library(distributed-training-of-tree INTERFACE)\n"
        f"target_link_libraries(distributed-training-of-tree INTERFACE {' '.join(info['libraries'])})\n"
        "set(libdistributed-training distributed-training-of-tree)\n"
        "add_subdirectory(contrib/lenet5)\n"
    )
    (file,) = make(source, tmp_path / "build")
    process = run("training-job", "--workload=lenet5", "--ranks=2", libraries=[file])
    assert process.returncode == 0, process.stderr


@pytest.mark.skipif(not os.environ.get("NS3_DIR"), reason="not run by ./ns3w test")
def test_ns3w_builds_and_loads_an_extension():
    command = [sys.executable, ROOT / "ns3w", f"--extension={EXTENSIONS / 'topology'}"]
    command += ["run", "collective-benchmark", "--topology=switch-chain", "--ranks=4", "--bytes=8"]
    process = subprocess.run(command, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    assert "switch-chain" in process.stdout


def test_python_has_the_classes_of_an_extension(library):
    build = dt.find_build()
    if build.cppyy is None:
        pytest.skip("there is no cppyy for this ns-3")
    pytest.importorskip("cppyy")
    code = (
        "import distributed_training as dt\n"
        "print(dt.ns.TypeId.LookupByName('example::RdmaFixedShare').GetParent().GetName())\n"
    )
    environment = {
        **build.get_environment(),
        VARIABLE: str(library("congestion-control")),
        "PYTHONPATH": str(ROOT / "bindings/python"),
    }
    output = subprocess.check_output([sys.executable, "-c", code], env=environment, text=True)
    assert output.strip() == "ns3::training::RdmaCongestionControl"


@pytest.mark.parametrize("name", ["my-own", "x2"])
@pytest.mark.parametrize(
    "kind",
    ["codec", "collective", "congestion-control", "switch-program", "topology", "transport"],
)
def test_new_extensions_are_built_and_chosen(tmp_path, kind, name):
    """What `ns3w new` writes is built as it is, has its own name, and sums are right."""
    command = [sys.executable, ROOT / "ns3w", "new", name, f"--kind={kind}"]
    process = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    folder = tmp_path / name
    test = (folder / f"test_{name.replace('-', '_')}.py").read_text()
    compile(test, "test", "exec")
    line = next(line for line in process.stdout.splitlines() if " --extension=" in line)
    program, *options = line.split(" run ")[1].split()
    assert all(f'"{word}"' in test for word in (program, *options))
    (file,) = make(folder, tmp_path / "build", build_option())
    assert file.name == f"lib{name}.so"
    options += ["--bytes=4K", "--payload=real"]
    rows = run_json(program, *options, libraries=[file])["rows"]
    assert rows and all(row["verified"] for row in rows)
    again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert again.returncode == 2 and "there is" in again.stderr
