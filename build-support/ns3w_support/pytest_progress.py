# SPDX-License-Identifier: GPL-2.0-only
"""Plugin of pytest: progress of tests, which run in several processes, in place of dots."""

import json
import os
from pathlib import Path

import pytest

from .files import read_json
from .progress import Progress


class Plugin:
    """In the process that starts the others."""

    def __init__(self, file):
        self.file = file  # the seconds that each test took the last time
        self.seconds = read_json(file, {})
        self.progress = None

    def begin(self, names):
        self.progress = self.progress or Progress("tests", names, self.seconds)

    def pytest_collection_finish(self, session):
        if session.items:
            self.begin([item.nodeid for item in session.items])

    def pytest_xdist_node_collection_finished(self, node, ids):
        self.begin(ids)

    def pytest_runtest_logreport(self, report):
        before = 0 if report.when == "setup" else self.seconds.get(report.nodeid, 0)
        self.seconds[report.nodeid] = before + report.duration
        if report.failed:
            self.progress.erase()
            print(f"FAIL {report.nodeid}", flush=True)
        if report.when == "teardown":
            self.progress.advance(report.nodeid)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_report_teststatus(self):
        status = yield
        category, _, word = status.get_result()
        status.force_result((category, "", word))

    def pytest_sessionfinish(self):
        if self.progress:
            self.progress.erase()
        self.file.write_text(json.dumps(self.seconds))


def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Plugin(Path(os.environ["NS3W_TEST_SECONDS"])))
