# SPDX-License-Identifier: GPL-2.0-only
"""The tests that ns3w test --suite=X --case=Y names: suites of ns-3, files of Python tests, and cases
of both. The counts of pytest."""

import difflib
import fnmatch
import re
import types
import xml.etree.ElementTree
from pathlib import Path

from .console import Failure
from .near_names import did_you_mean

PYTHON_FOLDERS = ("bindings/python/tests", "test", "test/fuzz")


def list_suites(here, module):
    """Return the names of all suites, as the sources give them."""
    sources = [path.read_text(encoding="utf-8") for path in sorted(here.glob("test/*.cc"))]
    names = re.findall(r'\bSuite g_\w+\(\s*"(.*?)"', "".join(sources))
    return sorted(f"{module}-{name}" for name in names)


def list_python_tests(here):
    """Return the files of Python tests."""
    return sorted(path for folder in PYTHON_FOLDERS for path in here.glob(f"{folder}/test_*.py"))


def choose_tests(here, module, words):
    """Return the suites and the Python files that words name, each once.

    A suite may be named without the module's name, or by a pattern such as "fabric-*"; a file by its
    path, or by its name with or without ".py". Raises Failure for a name of neither.
    """
    suites, files = [], []
    all_suites, all_files = list_suites(here, module), list_python_tests(here)
    for word in words:
        if Path(word).stem == "test_mpi":  # it has the machine for itself
            raise Failure(f"test --suite={word}: allowed as test --mpi")
        by_pattern = [
            name
            for name in all_suites
            if fnmatch.fnmatchcase(name, word) or fnmatch.fnmatchcase(name, f"{module}-{word}")
        ]
        path = Path(word).expanduser()
        by_path = [path.resolve()] if path.suffix == ".py" and path.is_file() else []
        by_name = [
            file
            for file in all_files
            if word in (file.name, file.stem, str(file.relative_to(here)))
        ]
        if not (by_pattern or by_path or by_name):
            short = [name[len(module) + 1 :] for name in all_suites]
            near = did_you_mean(word, [*short, *all_suites, *(file.name for file in all_files)])
            raise Failure(
                f"test --suite={word}: {near}allowed are suites such as {short[0]}, patterns such as "
                f'"fabric-*", and files of Python tests such as {all_files[0].name}'
            )
        suites += by_pattern
        files += by_path or by_name
    return list(dict.fromkeys(suites)), list(dict.fromkeys(files))


FLAGS = ("--quick", "--all", "--mpi", "--sanitize")
OPTIONS = (*FLAGS, "--suite=NAME", "--case=TEXT")


def read_options(words):
    """Return what the words after `ns3w test` say; `rest` is for pytest. Raises Failure.

    What is asked for by name runs however long it takes.
    """
    values = {"suites": [], "case": None, "rest": []}
    flags = {name[2:]: name in words for name in FLAGS}
    for word in words:
        name, equals, value = word.partition("=")
        # No option of pytest is so near.
        near = difflib.get_close_matches(name, [*FLAGS, "--suite", "--case"], 1, 0.75)
        if word in FLAGS:
            pass
        elif name == "--suite" and equals:
            values["suites"].append(value)
        elif name == "--case" and equals:
            values["case"] = value
        elif near:
            allowed = ", ".join(OPTIONS)
            raise Failure(f"test {word}: did you mean {near[0]}? allowed are {allowed}")
        else:
            values["rest"].append(word)
    options = types.SimpleNamespace(**values, **flags)
    for one, other, both in (
        ("--mpi", "--sanitize", options.mpi and options.sanitize),
        ("--mpi", "--suite", options.mpi and options.suites),
        ("--quick", "--all", options.quick and options.all),
    ):
        if both:
            raise Failure(f"test {one} {other}: allowed is one of them")
    if options.case is not None and not select_by_name(options.case):
        raise Failure(f"test --case={options.case}: allowed are parts of the names of cases")
    named = options.suites or options.case
    options.fullness = "TAKES_FOREVER" if options.all or named else "EXTENSIVE"
    if options.quick:
        options.fullness = "QUICK"
    return options


def select_by_name(case):
    """Return the expression of pytest for names that have all words of a text."""
    words = re.findall(r"[\w.:+-]+", case)
    return " and ".join(word for word in words if word not in ("and", "or", "not"))


def get_pytest_options(options):
    """Return the words of pytest's command line for what read_options() returns."""
    marks = {"QUICK": "not extensive and not takes_forever", "EXTENSIVE": "not takes_forever"}
    words = [f"-m={marks[options.fullness]}"] if options.fullness in marks else []
    words += [f"-k={select_by_name(options.case)}"] if options.case else []
    return words + options.rest


def list_python_cases(paths):
    """Return the names of the functions of tests in files and folders."""
    files = [sorted(path.glob("test_*.py")) if path.is_dir() else [path] for path in paths]
    text = "".join(file.read_text(encoding="utf-8") for file in sum(files, []))
    return re.findall(r"^def (test_\w+)", text, re.M)


def refuse_case(case, names):
    """Raise Failure: a text is in no name."""
    near = did_you_mean(case, names)
    such_as = f", such as {names[0]}" if names else ""
    raise Failure(f"test --case={case}: {near}allowed are parts of the names of cases{such_as}")


def count_results(report, status):
    """Return (passed, failed) from a report of pytest (JUnit), or from its exit status if it wrote
    none."""
    if not report.exists():
        return 0, int(status != 0)
    suite = xml.etree.ElementTree.parse(report).getroot().find("testsuite")
    failed = int(suite.get("failures")) + int(suite.get("errors"))
    return int(suite.get("tests")) - failed - int(suite.get("skipped")), failed
