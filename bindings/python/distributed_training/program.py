# SPDX-License-Identifier: GPL-2.0-only
"""What the programs have in common: options, the child process, errors, results."""

from __future__ import annotations

import datetime
import json
import math
import numbers
import os
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Optional, Union

from .build import find_build

if TYPE_CHECKING:
    import pandas

# Evaluated when the module is loaded, so in the spelling of Python 3.9.
Quantity = Union[str, int]
"""A number of bytes, or text with a unit such as "25MiB"."""
Duration = Union[str, datetime.timedelta]
"""Text with a unit such as "500ns", or a timedelta."""
Path = Union[str, "os.PathLike[str]"]
Attributes = Mapping[str, Any]

_BAD_INPUT = 2
_STUCK = 3
_WRONG_RESULT = 4


class SimulationStuck(RuntimeError):
    """A run could not make progress; the text names the rank, the collective, the step and the
    message it waited for."""


class WrongResult(RuntimeError):
    """A collective delivered a wrong sum (payload="real"); the text says where."""


# Options that are given once for each element of a list.
_REPEATED = {"fault"}


def to_text(value: Any) -> str:
    """Return a value as the programs read it on their command line.

    Truth values become true and false, a timedelta microseconds, and a list or tuple its elements
    with commas in between. Raises TypeError for anything that has no such form.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):  # also numpy's
        return "true" if value else "false"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    if isinstance(value, datetime.timedelta):
        return f"{value // datetime.timedelta(microseconds=1)}us"
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Iterable) and not isinstance(value, (Mapping, bytes)):
        return ",".join(to_text(element) for element in value)
    raise TypeError(f"{value!r} is neither text nor number, truth value, timedelta, path or list")


class Result:
    """What a run has produced; the numbers of the program's JSON output are attributes."""

    version: str
    """version of the program"""
    configuration: dict[str, Any]
    """every option of the program with its value; "resolved" holds what "auto" has become"""
    events: int
    """events of the simulator"""
    packet_hops: int
    """frames sent over all links"""
    packet_hops_per_cpu_s: float
    """packet-hops per second of processor time"""
    cpu_s: float
    """processor time of the run, s"""
    peak_memory_MiB: float
    """largest memory of the run, MiB (2^20 bytes)"""
    data: dict[str, Any]
    """the whole JSON document"""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        for name, value in data.items():
            if not isinstance(value, list):
                setattr(self, name, value)

    def _numbers(self) -> dict[str, Any]:
        return {k: v for k, v in self.data.items() if not isinstance(v, (dict, list))}

    def _parameters(self) -> dict[str, Any]:
        configuration = {k: v for k, v in self.configuration.items() if k != "resolved"}
        return {**configuration, **self.configuration.get("resolved", {})}

    def to_frame(self) -> pandas.DataFrame:
        """Return the run as a DataFrame: the configuration, then the numbers."""
        import pandas

        return pandas.DataFrame([{**self._parameters(), **self._numbers()}])


class Program:
    """A run of one of the example programs: its options, to be run any number of times."""

    name: ClassVar[str]
    """name of the program"""
    result_type: ClassVar[type[Result]] = Result

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        """Keep those of the parameters that are not None."""
        self.parameters: dict[str, Any] = {k: v for k, v in parameters.items() if v is not None}
        self._children: set[subprocess.Popen[bytes]] = set()
        self.get_arguments()  # raises TypeError right here if a value is of a wrong type

    def get_arguments(self) -> list[str]:
        """Return the parameters as arguments of the program."""
        arguments = []
        for name, value in self.parameters.items():
            if name == "attributes":
                for attribute, setting in value.items():
                    if not ("::" in attribute or attribute[:1].isupper()):
                        raise ValueError(
                            f"attributes: {attribute!r} (allowed: ns3::TypeName::Attribute, or the "
                            "name of a global value)"
                        )
                    arguments.append(f"--{attribute}={to_text(setting)}")
                continue
            option = {"seed": "RngSeed", "run": "RngRun"}.get(name, name.replace("_", "-"))
            repeated = option in _REPEATED and not isinstance(value, str)
            for element in value if repeated else [value]:
                arguments.append(f"--{option}={to_text(element)}")
        return arguments

    def get_command(self) -> list[str]:
        """Return the command that does the same in a shell."""
        return [find_build().get_program(self.name), *self.get_arguments()]

    def run(self) -> Any:
        """Run the program in a child process and return its result.

        If standard error is a terminal, the run's progress is shown there. When this is interrupted
        (Ctrl-C), the child is ended first.

        Raises ValueError for parameters that the program refuses, SimulationStuck, WrongResult, and
        BuildNotFound, each with the program's text.
        """
        command = [*self.get_command(), "--json=-"]
        status, output, errors = self._execute(command, find_build().get_environment())
        text = "\n".join(
            line.split(f"{self.name}: ", 1)[-1] if line.startswith(f"{self.name}: ") else line
            for line in errors.strip().splitlines()
        )
        if status == _BAD_INPUT:
            raise ValueError(text)
        if status == _STUCK:
            raise SimulationStuck(text.split("stuck: ", 1)[-1])
        if status == _WRONG_RESULT:
            raise WrongResult(text)
        if status != 0:
            reason = f"signal {-status}" if status < 0 else f"exit status {status}"
            raise RuntimeError(f"{shlex.join(command)} ended by {reason}: {text}")
        return self.result_type(json.loads(output))

    def cancel(self) -> None:
        """End the runs that are under way in other threads; their run() raises RuntimeError."""
        for child in list(self._children):
            child.terminate()

    def _execute(self, command: list[str], environment: dict[str, str]) -> tuple[int, bytes, str]:
        """Run a command; return its exit status, standard output and standard error."""
        with _ErrorStream() as errors:
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors.for_child,
                env=environment,
            )
            errors.started()
            self._children.add(child)
            try:
                output = child.communicate()[0]
            finally:
                self._children.discard(child)
                if child.returncode is None:  # interrupted: leave no process and no zombie
                    child.terminate()
                    try:
                        child.wait(5)
                    except subprocess.TimeoutExpired:
                        child.kill()
                        child.wait()
                if child.stdout:
                    child.stdout.close()
        return child.returncode, output, errors.text

    def __getstate__(self) -> dict[str, Any]:
        return {"parameters": self.parameters}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.parameters = state["parameters"]
        self._children = set()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.parameters == getattr(other, "parameters", None)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        return f"{type(self).__name__}({values})"


class _ErrorStream:
    """Collects the standard error of a child.

    If ours is a terminal, so is the child's, which therefore shows its progress, on one line that it
    writes over again and again: that appears at once. The rest becomes the text of an exception.
    """

    def __init__(self) -> None:
        self.text = ""
        try:
            shown = os.isatty(sys.__stderr__.fileno()) if sys.__stderr__ else False
        except (OSError, ValueError):
            shown = False
        if shown:
            self._ours, self.for_child = os.openpty()
        else:
            self._ours, self.for_child = os.pipe()
        self._shown = shown
        self._thread = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> _ErrorStream:
        return self

    def started(self) -> None:
        """The child has its own copy of its end."""
        os.close(self.for_child)
        self.for_child = -1
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        if self.for_child >= 0:  # the child could not be started
            os.close(self.for_child)
        else:
            self._thread.join(5)
        os.close(self._ours)

    def _read(self) -> None:
        collected = b""
        while True:
            try:
                block = os.read(self._ours, 65536)
            except OSError:  # how a terminal ends
                break
            if not block:
                break
            if self._shown and block.startswith(b"\r") and b"\n" not in block:
                sys.stderr.write(block.decode(errors="replace"))
                sys.stderr.flush()
            collected += block
        text = collected.decode(errors="replace").replace("\r\n", "\n")
        if self._shown and "\r" in text:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
        # Of a line that was written over, what remained.
        self.text = "\n".join(
            line.rsplit("\r", 1)[-1].replace("\033[K", "") for line in text.split("\n")
        )


def scale(value: Optional[float], units: Iterable[tuple[float, str]]) -> str:
    """Return a number in the largest of the units (factor, name) that leaves it at 1 or more."""
    if value is None or not math.isfinite(value):
        return "unknown"
    factor, unit = 1.0, ""
    for factor, unit in units:
        if abs(value) >= factor:
            break
    return f"{value / factor:.4g} {unit}".rstrip()


SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
COUNTS = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
