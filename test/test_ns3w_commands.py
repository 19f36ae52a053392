# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the commands of `ns3w` that choose tests, compile a user's program and show what there is,
and of what it says without a network, a compiler or rights."""

import json
import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from test_ns3w import ROOT, builds, call, fake_tree, ns3w  # noqa: F401

BUILD = os.environ.get("DISTRIBUTED_TRAINING_BUILD")
needs_build = pytest.mark.skipif(not BUILD, reason="needs a build: ./ns3w test")

PROGRAM = (ROOT / "test/user-program/count-hosts.cc").read_text()


@pytest.mark.parametrize("command", ["build", "clean", "info", "new", "python", "run", "shell", "test"])
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_a_command_prints_its_help_and_does_nothing_else(tmp_path, command, option):
    result = call(tmp_path, command, option)
    assert (result.returncode, result.stderr, list(tmp_path.iterdir())) == (0, "", [])
    usage, empty, *lines = result.stdout.splitlines()
    assert usage.startswith("usage: ") and empty == ""
    assert lines[0].startswith(f"  {command} ")
    assert {line.split()[0] for line in lines if re.match(r"  \w", line)} == {command}
    whole = call(tmp_path, "--help").stdout
    assert "\n".join(lines) + "\n" in whole


@pytest.mark.parametrize(
    "words, wanted",
    [
        (["tset"], "test"),
        (["shel"], "shell"),
        (["run", "trainingjob"], "training-job"),
        (["run", "collective-benchmrk --ranks=4"], "collective-benchmark"),
        (["test", "--suite=topologie"], "topology"),
        (["test", "--suite=test_fault.py"], "test_faults.py"),
        (["test", "--quik"], "--quick"),
        (["test", "--suite", "topologie"], "topology"),
        (["new", "x", "--kind=codecs"], "codec"),
    ],
)
def test_typing_errors_are_answered_with_the_nearest_name(tmp_path, words, wanted):
    result = call(tmp_path, *words)
    assert (result.returncode, result.stdout) == (2, "")
    assert f"did you mean {wanted}? allowed are" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        ["info", "--all"],
        ["run", "./missing.cc"],
        ["run", f"{ROOT}/test/user-program"],
        ["run", "/does/not/exist.cpp", "--x=1"],
        ["run", "./program"],
        ["test", "--suite="],
        ["test", "--suite=does-not-exist.py"],
        ["test", "--suite=topology", "--mpi"],
        ["test", "--suite=test/test_mpi.py"],
        ["test", "--suite=topology", "-k", "torus"],
        ["test", "--quick", "--all"],
        ["test", "--case="],
        ["test", "--case= (and) "],
        ["test", "--case", "--suite=topology"],
        ["new"],
        ["new", "mine"],
        ["new", "Mine", "--kind=codec"],
        ["new", "../mine", "--kind=codec"],
        ["new", "mine", "yours", "--kind=codec"],
        ["new", "mine", "--kind=codec", "--kind=topology"],
        ["new", "none", "--kind", "codec", "--now"],
    ],
)
def test_wrong_arguments_are_refused_by_one_line(tmp_path, words):
    result = call(tmp_path, *words)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("ns3w: ")
    assert result.stderr.count("\n") == 1
    assert "allowed" in result.stderr
    assert not (tmp_path / "cache").exists()


def test_version(tmp_path):
    version = (ROOT / "VERSION").read_text().strip()
    result = call(tmp_path, "--version")
    assert re.fullmatch(rf"distributed-training {version} \(commit ([0-9a-f]+|unknown)\)\n", result.stdout)
    assert result.returncode == 0


@pytest.mark.parametrize(
    "words, suites, files",
    [
        (["topology"], ["topology"], []),
        (["distributed-training-topology", "topology"], ["topology"], []),
        (["switch-ps*"], ["switch-ps", "switch-ps-program"], []),
        (["test_faults.py", "test_faults"], [], ["bindings/python/tests/test_faults.py"]),
        (["test/test_rooms.py"], [], ["test/test_rooms.py"]),
        (["topology", "test_rooms"], ["topology"], ["test/test_rooms.py"]),
    ],
)
def test_suites_and_files_are_chosen_by_name(ns3w, words, suites, files):  # noqa: F811
    chosen = ns3w.choose_tests(ROOT, ns3w.MODULE, words)
    expected = [f"distributed-training-{name}" for name in suites]
    assert chosen == (expected, [ROOT / name for name in files])


def test_all_suites_and_files_are_found(ns3w):  # noqa: F811
    choice = sys.modules["ns3w_support.test_choice"]
    assert len(choice.list_suites(ROOT, ns3w.MODULE)) == len(list(ROOT.glob("test/*-suite.cc")))
    names = [path.name for path in choice.list_python_tests(ROOT)]
    assert {"test_rooms.py", "test_faults.py", "test_ns3w.py"} <= set(names)
    assert len(names) == len(set(names))  # so that a name means one file


def test_chosen_tests_build_only_what_they_need(tmp_path, ns3w, monkeypatch):  # noqa: F811
    tree = str(fake_tree(tmp_path / "tree"))
    made, ran = [], []

    def run_pytest(build, which, tests, options):
        ran.append([*tests, *options.rest])
        return (2, 1), 1

    monkeypatch.setattr(ns3w.Build, "make", lambda self, *targets: made.append(list(targets)))
    monkeypatch.setattr(ns3w, "list_cases", lambda runner: {})
    monkeypatch.setattr(ns3w, "run_suites", lambda run, names, *rest: ran.extend(names) or (1, 0))
    monkeypatch.setattr(ns3w, "run_pytest", run_pytest)
    programs = ns3w.module_list("example_names")
    rooms = ROOT / "test/test_rooms.py"
    for words, targets, runs, status in [
        (["--suite=topology"], ["test-runner"], ["distributed-training-topology"], 0),
        (["--suite=test_rooms", "-k", "x"], programs, [[rooms, "-k", "x"]], 1),
        (
            ["--suite=topology", "--suite=test_rooms.py"],
            [],
            ["distributed-training-topology", [rooms]],
            1,
        ),
    ]:
        made.clear()
        ran.clear()
        assert ns3w.test_command(tree, words) == status
        assert (made, ran) == ([targets], runs)


@pytest.mark.parametrize(
    "words, fullness, expected",
    [
        ([], "EXTENSIVE", ["-m=not takes_forever"]),
        (["--quick", "-x"], "QUICK", ["-m=not extensive and not takes_forever", "-x"]),
        (["--all"], "TAKES_FOREVER", []),
        (["--suite=topology"], "TAKES_FOREVER", []),
        (["--suite=x", "--quick"], "QUICK", ["-m=not extensive and not takes_forever"]),
        (["--case=a torus, or (two)"], "TAKES_FOREVER", ["-k=a and torus and two"]),
        (["--case=x[10-a.b]"], "TAKES_FOREVER", ["-k=x and 10-a.b"]),
    ],
)
def test_durations_and_cases_are_chosen(ns3w, words, fullness, expected):  # noqa: F811
    choice = sys.modules["ns3w_support.test_choice"]
    options = choice.read_options(words)
    assert options.fullness == fullness
    assert choice.get_pytest_options(options) == expected


RUNNER = """#! /bin/sh
echo "$@" "$DISTRIBUTED_TRAINING_TEST_CASE" >> calls
case "$*" in
--list)
    for name in good bad dead empty; do
        printf 'distributed-training-%s\\tlong path\\n' $name
        echo distributed-training-$name
    done;;
*-good*) printf 'PASS distributed-training-good 0.1 s\\n  PASS long path 0.1 s\\n';;
*-bad*) printf 'FAIL distributed-training-bad 0.1 s\\n  PASS a 0 s\\n  FAIL b 0 s\\n  why\\n'; exit 1;;
*-dead*) echo dying; kill -SEGV $$;;
*-empty*) echo 'PASS distributed-training-empty 0.0 s';;
esac
"""


@pytest.fixture
def runner(tmp_path, builds, ns3w, monkeypatch):  # noqa: F811
    """Stands for ns-3's test-runner; its command lines are in the file `calls` beside it."""
    path = tmp_path / "runner"
    path.write_text(RUNNER)
    path.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ns3w.Build, "make", lambda self, *targets: None)
    monkeypatch.setattr(builds.TreeBuild, "runner", lambda self: path)
    monkeypatch.setattr(ns3w, "run_pytest", lambda *words: ((0, 0), 0))
    return path


def test_suites_run_with_the_longest_first(tmp_path, ns3w, runner, capfd):  # noqa: F811
    suites = sys.modules["ns3w_support.suites"]
    names = list(suites.list_cases(runner))
    assert names == [f"distributed-training-{name}" for name in ("good", "bad", "dead", "empty")]
    known = dict(zip(names, (2, 3, 1, 4)))
    (tmp_path / "suite-seconds.json").write_text(json.dumps(known))
    options = sys.modules["ns3w_support.test_choice"].read_options(["--quick"])
    assert suites.run_suites(runner, names, tmp_path, 1, options) == (1, 2)
    calls = (tmp_path / "calls").read_text().splitlines()[1:]
    order = [re.search(r"--suite=distributed-training-(\S+) --fullness=QUICK", c)[1] for c in calls]
    assert order == ["empty", "bad", "good", "dead"]
    output, errors = capfd.readouterr()
    assert errors == ""  # it is no terminal
    assert re.sub(r"\d+\.\d s", "TIME", output) == (
        "FAIL distributed-training-bad\n  FAIL b 0 s\n  why\n"
        "PASS distributed-training-good TIME\n"
        "CRASH (-11) distributed-training-dead\ndying\n"
    )
    seconds = json.loads((tmp_path / "suite-seconds.json").read_text())
    assert set(seconds) == set(names) and max(seconds.values()) < 1


def test_cases_are_chosen_by_name(tmp_path, ns3w, runner, capfd):  # noqa: F811
    tree = str(fake_tree(tmp_path / "tree"))
    (ns3w.select_build(tree).directory).mkdir(parents=True)
    chosen = ["--suite=topology", "--suite=test_rooms.py"]
    with pytest.raises(ns3w.Failure, match="did you mean test_finds_circles.") as failure:
        ns3w.test_command(tree, [*chosen, "--case=test_find_circle"])
    assert failure.value.status == 2
    assert ns3w.test_command(tree, ["--case=long p"]) == 1
    assert "1 passed, 2 failed\n" in capfd.readouterr().out
    with pytest.raises(ns3w.Failure, match="--case=lng path: did you mean long path. allowed are"):
        ns3w.test_command(tree, ["--case=lng path"])


def test_time_left_follows_from_the_last_time(ns3w):  # noqa: F811
    make = sys.modules["ns3w_support.progress"].Progress
    progress = make("suites", ["a", "b", "c", "new"], {"a": 10, "b": 60, "c": 20, "other": 5})
    assert progress.describe(1) == "0 of 4 suites"
    progress.advance("a")  # 10 of 120 seconds, a new one being an average one
    assert progress.describe(11) == "1 of 4 suites, 2 min 1 s left"
    for part in "abc":
        progress.advance(part)
    assert progress.describe(30) == "3 of 4 suites, 0 min 10 s left"
    progress.advance("new")
    assert progress.describe(50) == "4 of 4 suites"


@pytest.mark.extensive
def test_tests_show_results_in_a_pipe_and_progress_on_a_terminal(tmp_path):
    pytest.importorskip("xdist")
    file = tmp_path / "test_it.py"
    file.write_text("def test_one(): pass\ndef test_two(): pass\ndef test_bad(): assert 1 == 2\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "ns3w_support.pytest_progress"]
    command += ["-o", "console_output_style=classic", "-p", "no:cacheprovider", str(file)]
    variables = {**os.environ, "PYTHONPATH": str(ROOT / "build-support")}
    variables["NS3W_TEST_SECONDS"] = str(tmp_path / "seconds")
    pipe = {"stdout": subprocess.PIPE, "env": variables, "cwd": tmp_path, "text": True}
    several = [*command, "-n2", "--dist=worksteal"]
    quiet = subprocess.run(several, stderr=subprocess.PIPE, **pipe)
    assert (quiet.returncode, quiet.stderr) == (1, "")
    assert "assert 1 == 2" in quiet.stdout and "1 failed, 2 passed" in quiet.stdout
    assert quiet.stdout.count("FAIL test_it.py::test_bad\n") == 1
    assert "\nFAILED test_it.py::test_bad - assert 1 == 2\n" in quiet.stdout
    assert not re.search(r"\d%|^[.]", quiet.stdout, re.M)
    seconds = json.loads((tmp_path / "seconds").read_text())
    assert sorted(seconds) == [f"test_it.py::test_{name}" for name in ("bad", "one", "two")]
    ours, theirs = pty.openpty()
    subprocess.run([*command, "-n0"], stderr=theirs, **pipe)
    shown = os.read(ours, 65536).decode()
    os.close(ours)
    os.close(theirs)
    assert re.findall(r"(\d) of 3 tests", shown) == ["1", "2", "3"]
    assert " left" in shown and shown.endswith("\r\x1b[K")


@needs_build
@pytest.mark.extensive
def test_suites_run_by_ns3s_own_script():
    """What README.md tells users who have a tree of ns-3."""
    folder = Path(BUILD).parent
    if not (folder / "test.py").exists():
        pytest.skip("no tree of ns-3")
    old = (folder / "waf").exists()
    command = [sys.executable, "test.py", "--nowaf" if old else "--no-build", "--fullness=QUICK"]
    command.append("--suite=distributed-training-topology-t*")
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    assert re.search(r"\n1 of 1 tests passed", result.stdout)
    assert "TestSuite distributed-training-topology-twins" in result.stdout


def test_results_of_pytest_are_counted(tmp_path, ns3w):  # noqa: F811
    report = tmp_path / "report.xml"
    assert ns3w.count_results(report, 0) == (0, 0)
    assert ns3w.count_results(report, 4) == (0, 1)  # pytest has not begun
    report.write_text(
        '<testsuites><testsuite tests="9" failures="2" errors="1" skipped="3"/></testsuites>'
    )
    assert ns3w.count_results(report, 1) == (3, 3)


def test_info_shows_builds_and_their_disk(tmp_path):
    assert call(tmp_path, "info").returncode == 0
    assert not (tmp_path / "cache").exists()  # it makes nothing
    cache = tmp_path / "cache/distributed-training"
    build = cache / "builds/mine-0123456789"
    (build / "contrib").mkdir(parents=True)
    (build / "contrib/distributed-training").symlink_to(ROOT)
    program = build / "program"
    program.write_bytes(bytes(3 << 20))
    program.chmod(0o755)
    examples = {"one": str(program), "two": str(build / "none")}
    info = {"ns3_version": "3.40", "profile": "optimized", "examples": examples}
    (build / "build-info.json").write_text(json.dumps(info))
    os.link(program, build / "same")  # counts once
    (cache / "builds/broken").mkdir()
    (cache / "builds/broken/build-info.json").write_text("[1")
    output = call(tmp_path, "info", NS3_DIR="wheel").stdout
    version = (ROOT / "VERSION").read_text().strip()
    assert output.startswith(f"distributed-training {version} in {ROOT}\nns-3: --ns3=wheel\n")
    assert f"Python {sys.version.split()[0]}" in output
    (line,) = re.findall(".*mine-0123456789.*", output)
    assert re.match(r" +3 MiB  builds/mine-0123456789  ns-3.40, optimized, 1 of 2 programs", line)
    assert line.endswith(f"of {ROOT}")
    assert re.search(r"builds/broken +not finished", output)
    assert re.search(r"^ +3 MiB  in all$", output, re.M)
    compiler = shutil.which("c++")
    if compiler:
        first = subprocess.check_output([compiler, "--version"], text=True).splitlines()[0]
        assert f"  c++      {first}\n" in output


def test_info_names_missing_tools(tmp_path):
    output = call(tmp_path, "info", PATH=str(tmp_path)).stdout
    for tool in ("c++", "cmake", "ninja", "ccache", "mpirun"):
        assert re.search(rf"^  {re.escape(tool)} +missing$", output, re.M)


@pytest.mark.parametrize(
    "said",
    [
        "WARNING: Retrying ... NewConnectionError('...: Failed to establish a new connection')",
        "E: Could not resolve 'server'",
        "curl: (6) Temporary failure in name resolution",
    ],
)
def test_without_network_one_line_says_so(tmp_path, builds, ns3w, capsys, said):  # noqa: F811
    command = ["sh", "-c", 'echo "$0"; exit 1', said]
    with pytest.raises(ns3w.Failure) as failure:
        builds.work("installing it", command, tmp_path / "log", downloads=True)
    assert failure.value.status == 2
    assert str(failure.value).startswith("no network: installing it failed")
    assert said not in capsys.readouterr().err
    with pytest.raises(ns3w.Failure) as failure:  # a compiler may say anything
        builds.work("building it", command, tmp_path / "log")
    assert failure.value.status == 1
    assert said in capsys.readouterr().err


def test_release_without_network(tmp_path, ns3w, monkeypatch):  # noqa: F811
    release = sys.modules["ns3w_support.ns3_release"]

    def offline(*words):
        raise OSError("<urlopen error [Errno -2] Name or service not known>")

    monkeypatch.setattr(release, "download_verified", offline)
    monkeypatch.setattr(release, "download_from_debian", offline)
    with pytest.raises(ns3w.Failure, match="^no network: could not get ns-3.37") as failure:
        release.get_release()
    assert failure.value.status == 2
    assert "--ns3=PATH" in str(failure.value)


@pytest.mark.parametrize(
    "said, reason",
    [
        ("Could not resolve 'server'", "no network"),
        ("E: Unable to locate package", "apt-get failed"),
    ],
)
def test_packages_that_cannot_be_had(tmp_path, ns3w, monkeypatch, said, reason):  # noqa: F811
    packages = sys.modules["ns3w_support.system_packages"]
    apt = tmp_path / "bin/apt-get"
    apt.parent.mkdir()
    apt.write_text(f'#!/bin/sh\necho "{said}"\nexit 100\n')
    apt.chmod(0o755)
    (apt.parent / "env").symlink_to(shutil.which("env"))
    (apt.parent / "sh").symlink_to(shutil.which("sh"))
    monkeypatch.setenv("PATH", str(apt.parent))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(packages.Failure) as failure:
        packages.need("c++", "cmake")
    assert failure.value.status == 2
    assert str(failure.value).startswith(f"missing: g++ cmake ({reason})")


def test_compiler_that_cxx_names(tmp_path, ns3w, monkeypatch):  # noqa: F811
    """As for CMake, it may have words after its name; CXXFLAGS say where headers are."""
    packages = sys.modules["ns3w_support.system_packages"]
    monkeypatch.setenv("CXX", "odd-compiler -m64")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(packages.Failure, match="^CXX=odd-compiler -m64: allowed is a compiler"):
        packages.need("c++")
    (tmp_path / "odd-compiler").write_text('#!/bin/sh\nfor w; do [ "$w" = -I/x ] && exit 0; done\nexit 1\n')
    (tmp_path / "odd-compiler").chmod(0o755)
    (tmp_path / "sh").symlink_to("/bin/sh")
    monkeypatch.setenv("CXXFLAGS", "-I/x")
    packages.need("c++", "zlib.h")
    program = sys.modules["ns3w_support.user_program"]
    info = {"cxx_standard": 20, "definitions": [], "include_dirs": ["/own"]}
    assert program.get_compiler(info)[:3] == ["odd-compiler", "-m64", "-std=c++20"]
    assert program.get_linker(info, "x", [])[:2] == ["odd-compiler", "-m64"]


@pytest.mark.parametrize("word", ["info", "--help"])
def test_nobody_reads_the_output_to_its_end(word):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, ROOT / "ns3w", word]
    result = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (result.returncode, result.stderr) == (1, "")


def test_no_compiler_and_no_rights_to_install_one(tmp_path):
    """The whole script, without anything on the path."""
    tree = fake_tree(tmp_path / "tree")
    result = call(tmp_path, "build", NS3_DIR=str(tree), PATH=str(tmp_path))
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("ns3w: please install what Debian calls g++ cmake ninja-build")


def test_commands_of_a_users_program(ns3w):  # noqa: F811
    program = sys.modules["ns3w_support.user_program"]
    info = {
        "cxx_standard": 20,
        "definitions": ["NS3_LOG_ENABLE", "NS3_ASSERT_ENABLE"],
        "include_dirs": ["/own", "/ns3"],
    }
    compiler = program.get_compiler(info)
    assert {"-std=c++20", "-DNS3_ASSERT_ENABLE", "-idirafter/ns3"} <= set(compiler)
    assert "-DNDEBUG" not in compiler
    assert "-DNDEBUG" in program.get_compiler({**info, "definitions": []})
    libraries = ["/a/libcore.so", "/b/libtraining.so"]
    linker = program.get_linker(info, Path("/out/x-1"), libraries)
    assert linker[-4:] == [*libraries, "-Wl,-rpath,/a", "-Wl,-rpath,/b"]


def test_libraries_are_those_of_the_headers(tmp_path, ns3w):  # noqa: F811
    """Of what the compiler has read, in any of the forms in which releases list their headers."""
    program = sys.modules["ns3w_support.user_program"]
    texts = {
        "own/ns3/training-module.h": '#include "ns3/fabric.h"\n',
        "ns3/ns3/core-module.h": "    #include <ns3/object.h>\n",
        "ns3/ns3/wifi-module.h": '#include "wifi-phy.h"\n#include "wifi-mac.h"\n',
        "ns3/ns3/csma-layout-module.h": "#include <ns3/csma-star-helper.h>\n",
    }
    for name, text in texts.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    folder = f"{tmp_path}/ns3/ns3"
    info = {
        "include_dirs": [f"{tmp_path}/own", f"{tmp_path}/ns3"],
        "libraries": ["/l/libns3.40-core-optimized.so", "/m/libns3.40-training-optimized.so"],
    }
    for files, modules in [
        ([], []),
        ([f"{folder}/object.h", f"{tmp_path}/own/ns3/fabric.h"], []),
        (["/my/wifi-phy.h", f"{folder}/config.h", "/usr/include/c++/12/map"], []),
        ([f"{folder}/wifi-phy.h", f"{folder}/wifi-mac.h"], ["wifi"]),
        ([f"{folder}/csma-star-helper.h", f"{folder}/wifi-module.h"], ["csma-layout", "wifi"]),
    ]:
        expected = [f"/l/libns3.40-{module}-optimized.so" for module in modules]
        assert program.find_libraries(info, files) == expected
    program.write_common_header(info, tmp_path / "common.h")
    text = (tmp_path / "common.h").read_text()
    assert text == '#include "ns3/core-module.h"\n#include "ns3/training-module.h"\n'


@pytest.mark.parametrize(
    "text, files",
    [
        ("all: /a/x.cc\n", ["/a/x.cc"]),
        ("all: /a/x.cc \\\n  /my\\ code/b.h \\\n /c\\#.h /$$d.h\n", None),
    ],
)
def test_dependencies_are_read(tmp_path, ns3w, text, files):  # noqa: F811
    path = tmp_path / "x.d"
    path.write_text(text)
    found = sys.modules["ns3w_support.user_program"].read_dependencies(path)
    assert found == (files or ["/a/x.cc", "/my code/b.h", "/c#.h", "/$d.h"])


def test_header_of_the_module_is_found_through_files_of_the_user(tmp_path, ns3w):  # noqa: F811
    includes = sys.modules["ns3w_support.user_program"].includes
    source = tmp_path / "own.cc"
    source.write_text('#include "parts/first.h"\n#include <vector>\n')
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/first.h").write_text('#include "second.h"\n#include "own.cc"\n')
    assert not includes(source, "ns3/x-module.h")
    (tmp_path / "parts/second.h").write_text('  #  include "ns3/x-module.h" // all\n')
    assert includes(source, "ns3/x-module.h")


def run_file(folder, *words, **variables):
    """Run a program by ns3w with the build of these tests, from a folder."""
    command = [sys.executable, ROOT / "ns3w", "run", *words]
    environment = {**os.environ, **variables}
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    # Tests that run at the same time wait for one another, and ns3w says so.
    result.stderr = re.sub(r"^ns3w: waiting for another ns3w .*\n", "", result.stderr, flags=re.M)
    return result


@pytest.mark.extensive
@needs_build
def test_users_program_runs_from_any_folder(tmp_path):
    folder = tmp_path / "my code"
    folder.mkdir()
    (folder / "count.cc").write_text(PROGRAM)
    for place, words in [
        (folder, ["count.cc", "--ranks=8"]),
        (tmp_path, ["my code/count.cc", "--ranks=8"]),
        (tmp_path, [str(folder / "count.cc"), "--ranks=8"]),
        (folder, ["./count.cc --ranks=8"]),
    ]:
        result = run_file(place, *words)
        assert (result.returncode, result.stdout) == (
            0,
            "8 ranks, 16 hosts, 20 switches\n",
        ), result.stderr
    assert [path.name for path in tmp_path.rglob("*")] == ["my code", "count.cc"]  # nothing is left


@pytest.mark.extensive
@needs_build
@pytest.mark.parametrize(
    "old, new, said",
    [
        ("uint32_t ranks = 16;", "uint32_t ranks = sixteen;", "sixteen"),
        ('#include "ns3/core-module.h"', '#include "ns3/no-such.h"', "no-such.h"),
        ("main(int argc", "mein(int argc", "main"),
    ],
    ids=["statement", "include", "link"],
)
def test_compile_errors_are_shown_plainly(tmp_path, old, new, said):
    (tmp_path / "wrong.cc").write_text(PROGRAM.replace(old, new))
    result = run_file(tmp_path, "wrong.cc")
    assert (result.returncode, result.stdout) == (1, "")
    lines = result.stderr.splitlines()
    assert any(said in line for line in lines)
    assert lines[-1] == (
        f"ns3w: {tmp_path}/wrong.cc does not compile: see the compiler's messages above"
    )
    assert not [line for line in lines if line.startswith(("FAILED", "ninja"))]


@pytest.mark.extensive
@needs_build
def test_status_of_a_users_program_is_passed_on(tmp_path):
    (tmp_path / "seven.cc").write_text("int\nmain()\n{\n    return 7;\n}\n")
    assert run_file(tmp_path, "seven.cc").returncode == 7


# A statement for each module of ns-3 that doc/own-program.rst names: it needs the module's library.
STATEMENTS = {
    "applications": 'BulkSendHelper("ns3::TcpSocketFactory", Address());'
    'PacketSinkHelper("ns3::TcpSocketFactory", Address()); OnOffHelper("ns3::TcpSocketFactory", Address());',
    "core": "Simulator::Run();",
    "csma": "CsmaHelper();",
    "distributed-training": 'training::BuildTopology("ring", 4, DataRate("1Gbps"), Time("1us"));',
    "flow-monitor": "FlowMonitorHelper();",
    "internet": "InternetStackHelper();",
    "network": "NodeContainer(2);",
    "point-to-point": "PointToPointHelper();",
}


def read_documented_modules():
    text = (ROOT / "doc/own-program.rst").read_text(encoding="ascii")
    named = re.findall('--enable-modules="(.*?)"', text)[0].split(";")
    return sorted({*named, "core", "internet", "network"})


def test_every_documented_module_has_a_statement():
    assert read_documented_modules() == sorted(STATEMENTS)


@pytest.mark.takes_forever
@needs_build
@pytest.mark.parametrize("module", STATEMENTS)
def test_users_program_is_linked_with_a_module(tmp_path, module):
    """By the module's header in a file of the user's own."""
    statement = STATEMENTS[module]
    (tmp_path / "own.h").write_text(f'#include "ns3/{module}-module.h"\n')
    (tmp_path / "own.cc").write_text(
        '#include "own.h"\n#include "ns3/core-module.h"\n\nusing namespace ns3;\n\n'
        f"int\nmain()\n{{\n    {statement}\n    Simulator::Destroy();\n}}\n"
    )
    result = run_file(tmp_path, "own.cc")
    assert result.returncode == 0, result.stderr
    assert "error" not in result.stderr


@pytest.mark.takes_forever
@needs_build
def test_users_program_with_everything_is_compiled_once(tmp_path):
    """With all modules, and the module's header after others; then nothing is left to do."""
    source = tmp_path / "own.cc"
    headers = "".join(f'#include "ns3/{module}-module.h"\n' for module in sorted(STATEMENTS))
    body = "\n".join(STATEMENTS.values())
    text = f"{headers}using namespace ns3;\nint\nmain()\n{{\n{body}\n    return VALUE;\n}}\n"
    (tmp_path / "value.h").write_text("#define VALUE 3\n")
    source.write_text(f'#include "value.h"\n{text}')
    result = run_file(tmp_path, "own.cc")
    assert result.returncode == 3, result.stderr
    tools = tmp_path / "bin"
    tools.mkdir()
    compiler = shutil.which("c++")
    (tools / "c++").write_text(f'#!/bin/sh\necho compiled >&2\nexec {compiler} "$@"\n')
    (tools / "c++").chmod(0o755)
    path = {"PATH": f"{tools}:{os.environ['PATH']}"}
    first, second = run_file(tmp_path, "own.cc"), run_file(tmp_path, "own.cc")
    assert (first.returncode, second.returncode) == (3, 3)
    assert "compil" not in first.stderr + second.stderr
    (tmp_path / "value.h").write_text("#define VALUE 5\n")
    result = run_file(tmp_path, "own.cc", **path)
    assert result.returncode == 5
    assert "compiled" in result.stderr


@needs_build
def test_headers_of_modules_that_are_not_built_are_refused(tmp_path):
    info = json.loads(Path(BUILD).read_text())
    if not (Path(BUILD).parent / "src/wifi").is_dir() or info["ns3_version"] == "3.35":
        pytest.skip("this ns-3 has all its modules")
    (tmp_path / "own.cc").write_text('#include "ns3/wifi-helper.h"\nint\nmain()\n{\n}\n')
    result = run_file(tmp_path, "own.cc")
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert "ns3/wifi-helper.h is of ns-3's module wifi; allowed are headers of" in result.stderr
    assert "applications, bridge" in result.stderr


@pytest.mark.extensive
@needs_build
def test_programs_of_the_tutorial(tmp_path):
    """Their times are those of the module's program, and the last one halves the rate."""

    def get_times(*words):
        result = run_file(tmp_path, *words)
        assert result.returncode == 0, result.stderr
        times = re.findall(r"^rank \d+ has the sum after \+([0-9.]+)us$", result.stdout, re.M)
        return [float(time) for time in times], result.stdout

    folder = ROOT / "examples/tutorial"
    first, _ = get_times(f"{folder}/first.cc")
    info = json.loads(Path(BUILD).read_text())
    command = [info["examples"]["collective-benchmark"], "--ranks=2", "--bytes=1M", "--warmup=0"]
    folders = os.pathsep.join({str(Path(path).parent) for path in info["libraries"]})
    environment = {**os.environ, "LD_LIBRARY_PATH": folders}
    rows = json.loads(subprocess.check_output([*command, "--json=-"], env=environment))["rows"]
    assert first == [float(f"{rows[0]['time_us']:.6g}")] * 2
    second, output = get_times(f"{folder}/second.cc", "--pcap=second")
    assert len(second) == 4 and min(second) > 10 * first[0]  # a tenth of the rate, beside TCP
    assert len(list(tmp_path.glob("second-*.pcap"))) == 10  # hosts 4, switches 3 + 3
    sent, received = map(int, re.search(r"TCP flow 1: (\d+) packets sent, (\d+) rec", output).groups())
    assert sent >= received > 1000
    half, _ = get_times(f"{folder}/third.cc")
    full, _ = get_times(f"{folder}/third.cc", "--control=none")
    assert full == first and 1.9 < half[0] / full[0] < 2
