# SPDX-License-Identifier: GPL-2.0-only
"""The program shared-cluster: jobs that share a simulated cluster."""

from __future__ import annotations

import json
import pathlib
import tempfile
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .program import Program, Result, to_text

if TYPE_CHECKING:
    import pandas
    from typing_extensions import Unpack

    from . import keywords

_FILE = "jobs.toml"


def _to_toml(value: Any) -> str:
    """Return a value of a job's key in TOML."""
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_to_toml(element) for element in value) + "]"
    text = to_text(value)
    is_text = isinstance(value, str) or not (isinstance(value, bool) or _is_number(text))
    return json.dumps(text) if is_text else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


class SharedResult(Result):
    """What has become of the jobs of a cluster."""

    makespan_s: float
    """from the first arrival to the end of the last job, s"""

    @cached_property
    def jobs(self) -> pandas.DataFrame:
        """One row per job, by name: workload, hosts, times, measured quantities, slowdown.

        If switches sum for the jobs, also what they counted (`in_network` of the JSON document).
        """
        import pandas

        rows = [{**job, **job.get("in_network", {})} for job in self.data["jobs"]]
        frame = pandas.DataFrame(rows).drop(columns=["iterations", "in_network"], errors="ignore")
        return frame.set_index("name")

    @cached_property
    def iterations(self) -> pandas.DataFrame:
        """One row per job and iteration: the measured quantities."""
        import pandas

        rows = [
            {"job": job["name"], **row} for job in self.data["jobs"] for row in job["iterations"]
        ]
        return pandas.DataFrame(rows).set_index(["job", "iteration"])

    def __repr__(self) -> str:
        values = self.get_parameters()
        head = (
            f"SharedResult: {len(self.data['jobs'])} jobs, {values['ranks']} hosts, "
            f"{values['topology']}, {values['rate']}, {values['transport']}, {values['collective']}"
        )
        columns = ["ranks", "wait_s", "end_s", "iteration_time_s", "slowdown"]
        return f"{head}\n{self.jobs[columns]}"


class SharedCluster(Program[SharedResult]):
    """Jobs that share a simulated cluster: how much do they slow each other?

    `jobs` is a TOML file, or a list with a dict for each job, such as
    {"name": "a", "model": "llama3-8b", "tensor": 2}; job_keys() lists the keys.
    """

    name = "shared-cluster"
    result_type = SharedResult

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[keywords.SharedCluster]) -> None: ...

    @classmethod
    def job_keys(cls) -> pandas.DataFrame:
        """Return one row per key of a job: type, default, the values allowed, help."""
        import pandas

        columns = ["name", "type", "default", "allowed", "help"]
        return pandas.DataFrame(cls.describe()["job"]["options"], columns=columns).set_index("name")

    def _has_tables(self) -> bool:
        return isinstance(self.parameters.get("jobs"), (list, tuple))

    def _write_tables(self) -> str:
        """Return the jobs in TOML. Raises TypeError if one is not a dict of values."""
        lines = []
        for job in self.parameters["jobs"]:
            if not isinstance(job, Mapping):
                raise TypeError(f"jobs: {job!r} (allowed: a dict for each job)")
            lines.append("[[job]]")
            for key, value in job.items():
                if value is not None:
                    lines.append(f"{json.dumps(key.replace('_', '-'))} = {_to_toml(value)}")
        return "\n".join(lines) + "\n"

    def _with_file(self, path: pathlib.Path) -> SharedCluster:
        return SharedCluster(**{**self.parameters, "jobs": path})

    def get_arguments(self) -> list[str]:
        """Return the parameters as arguments; jobs.toml stands for jobs that are not in a file."""
        if not self._has_tables():
            return super().get_arguments()
        self._write_tables()
        return self._with_file(pathlib.Path(_FILE)).get_arguments()

    def get_key(self) -> list[str]:
        """Return the arguments, with the tables of jobs themselves in place of their file."""
        if not self._has_tables():
            return super().get_key()
        file, tables = f"--jobs={_FILE}", f"--jobs={self._write_tables()}"
        return [tables if each == file else each for each in self.get_arguments()]

    def run(self, progress: bool = True) -> SharedResult:
        """Run the jobs in a child process; see Program.run()."""
        if not self._has_tables():
            return super().run(progress)
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / _FILE
            path.write_text(self._write_tables(), encoding="utf-8")
            return self._with_file(path)._run(progress=progress)
