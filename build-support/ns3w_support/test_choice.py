# SPDX-License-Identifier: GPL-2.0-only
"""The tests that ns3w test --suite=X names: suites of ns-3, and files of Python tests. The counts of
pytest."""

import fnmatch
import re
import xml.etree.ElementTree
from pathlib import Path

from .console import Failure
from .near_names import did_you_mean

PYTHON_FOLDERS = ("bindings/python/tests", "test", "test/fuzz")


def list_suites(here, module):
    """Return the names of all suites, as the sources give them."""
    sources = [path.read_text(encoding="utf-8") for path in sorted(here.glob("test/*.cc"))]
    names = re.findall(r'\bSuite g_suite\(\s*"(.*?)"', "".join(sources))
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
        if Path(word).stem == "test_mpi":  # it needs a build of its own
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


def count_results(report, status):
    """Return (passed, failed) from a report of pytest (JUnit), or from its exit status if it wrote
    none."""
    if not report.exists():
        return 0, int(status != 0)
    suite = xml.etree.ElementTree.parse(report).getroot().find("testsuite")
    failed = int(suite.get("failures")) + int(suite.get("errors"))
    return int(suite.get("tests")) - failed - int(suite.get("skipped")), failed
