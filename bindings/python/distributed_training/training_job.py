# SPDX-License-Identifier: GPL-2.0-only
"""The program training-job: training of a model on a simulated cluster."""

from __future__ import annotations

import csv
import pathlib
import socket
import tempfile
import threading
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

from .html_view import COMPUTE, EXPOSED, WAITING, make_strip, make_table
from .learner import Learner, Server
from .program import Program, Result
from .units import COUNTS, SECONDS, format_quantity, scale

if TYPE_CHECKING:
    import pandas
    from typing_extensions import Unpack

    from . import keywords


class TrainingResult(Result):
    """The measurements of a training job: means over the iterations after the warm-up.

    Each measured quantity is an attribute, such as iteration_time_s; TrainingJob.quantities() lists
    them with units and meanings. The glossary of the documentation defines the terms. With runs=N
    they are means over the runs; confidence_95 has half the width of the confidence interval of
    each, and runs is a DataFrame with one row per run.
    """

    choices: dict[str, str]
    """with collective="auto", the algorithm and the reason, by the size of collectives in bytes"""
    critical_path: dict[str, Any]
    """the tasks, over all ranks, that the length of the last iteration follows from"""
    binding: dict[str, Any]
    """what limits the run: its kind, name, share of the communication, and a sentence"""
    network: dict[str, Any]
    """frames and packets: sent, lost, dropped, marked, paused and sent again"""

    @cached_property
    def iterations(self) -> pandas.DataFrame:
        """One row per iteration, warm-up included: the measured quantities, and whether it is
        warmup, verified, derived.

        With several runs the index is the run number and the iteration.
        """
        import pandas

        frame = pandas.DataFrame(self.data["iterations"])
        return frame.set_index(["run", "iteration"] if "run" in frame else "iteration")

    def to_frame(self) -> pandas.DataFrame:
        """Return the run as a DataFrame, with NAME_95 for the confidence_95 of several runs."""
        widths = {f"{k}_95": [v] for k, v in self.data.get("confidence_95", {}).items()}
        return super().to_frame().assign(**widths)

    def _repr_html_(self) -> str:
        """Return a table, the strip of a mean iteration, and what it follows from, for notebooks."""
        exposed, compute = self.exposed_communication_s, self.compute_time_s
        strip = make_strip(
            {
                "compute": (compute, COMPUTE),
                "exposed communication": (exposed, EXPOSED),
                "waiting": (max(self.iteration_time_s - compute - exposed, 0.0), WAITING),
            }
        )
        head, *rows = self._get_rows()
        text = make_table(head[1], rows) + strip + "".join(f"<p>{escape(w)}</p>" for w in self.warnings)
        path = self.data.get("critical_path")
        if path and path["time_s"] > 0:
            shares = ", ".join(
                f"{part['task'] or part['kind']} {100 * part['time_s'] / path['time_s']:.1f} %"
                for part in path["parts"][:3]
            )
            link, busy = path["busiest_link"], 100 * path["busiest_link_utilization"]
            text += f"<p>critical path: {escape(shares)}; busiest link: {escape(link)} ({busy:.1f} %)</p>"
        return text

    def __repr__(self) -> str:
        (_, head), *rows = self._get_rows()
        return "\n".join([head] + [f"  {name:<24}{text}" for name, text in rows])

    def _get_rows(self) -> list[tuple[str, str]]:
        """Return the title, then names and values of what was measured."""
        values = self.get_parameters()
        head = (
            f"TrainingResult: {values['workload']}, {values['ranks']} ranks, {values['topology']}, "
            f"{values['rate']}, {values['transport']} ({values['congestion-control']}), "
            f"{values['collective']}"
        )
        rows = [
            format_quantity(name, value)
            for name, value in self._numbers().items()
            if name not in Result.__annotations__
        ]
        cost = f"{scale(self.packet_hops, COUNTS)} packet-hops in {scale(self.cpu_s, SECONDS)} CPU"
        rows.append(("simulated with", cost))
        return [("", head), *rows]


class TrainingJob(Program[TrainingResult]):
    """Training of a model on a simulated cluster: how long is an iteration?"""

    name = "training-job"
    result_type = TrainingResult

    if TYPE_CHECKING:

        def __init__(self, **parameters: Unpack[keywords.TrainingJob]) -> None: ...

    def train(self, learner: Learner) -> TrainingResult:
        """Run the job with a training of yours: its gradients travel, their sums update it.

        The workload is the learner's layers. The result has a DataFrame `learning`: loss, accuracy
        and drift of the replicas after each iteration, with the simulated time.

        Raises what the learner raises, TypeError if the job has a workload or gradients already,
        and errors as run().
        """
        for name in ("workload", "gradients"):
            if name in self.parameters:
                raise TypeError(f"{name}={self.parameters[name]!r} (allowed: none, as you train)")
        ours, theirs = socket.socketpair()
        with tempfile.TemporaryDirectory() as directory, theirs:
            path = pathlib.Path(directory) / "layers.csv"
            with path.open("w", encoding="ascii", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(["layer", "parameters", "forward_us", "backward_us"])
                writer.writerows(learner.layers)
            number = theirs.fileno()
            job = TrainingJob(**self.parameters, workload=path, gradients=f"pipe:fd={number}")
            server = Server(learner, ours)
            thread = threading.Thread(target=server.serve, daemon=True)
            thread.start()
            try:
                return job._run((number,))
            except Exception:
                if server.error is not None:
                    raise server.error from None
                raise
            finally:
                theirs.close()
                thread.join(5)
