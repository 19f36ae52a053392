# SPDX-License-Identifier: GPL-2.0-only
"""The base class of all programs: keywords, child process, errors, results."""

from __future__ import annotations

import datetime
import inspect
import itertools
import json
import multiprocessing
import numbers
import os
import re
import shlex
import subprocess
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from .build import BuildNotFound, find_build
from .description import describe_program
from .error_stream import ErrorStream
from .html_view import make_table
from .near_names import did_you_mean
from .units import format_quantity

if TYPE_CHECKING:
    import pandas

_BAD_INPUT = 2
_STUCK = 3
_WRONG_RESULT = 4

# A program ends with the process of this id, whatever ends that (see program/guard/parent-process.h).
_PARENT_VARIABLE = "DISTRIBUTED_TRAINING_PARENT"


class SimulationStuck(RuntimeError):
    """A run made no progress; the text names the rank, the collective, the step and the message it
    waited for."""


class WrongResult(RuntimeError):
    """A collective delivered a wrong sum (payload="real"); the text says where."""


def to_text(value: Any) -> str:
    """Return a value in the syntax of the programs' command line.

    Booleans become true and false, a timedelta microseconds, and a list or tuple its elements
    separated by commas. Raises TypeError for values without such a form.
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
    """The result of a run.

    The members of the program's JSON output are attributes: lists as DataFrames, others and the
    warnings unchanged.
    """

    version: str
    """version of the program"""
    schema: int
    """version of the JSON document"""
    configuration: dict[str, Any]
    """every option of the program with its value; "resolved" holds the choices made for `auto`"""
    warnings: list[str]
    """what makes the results questionable, such as frames dropped in a lossless class"""
    inputs: str
    """what was given rather than simulated, such as compute times and hosts"""
    events: int
    """simulator events"""
    packet_hops: int
    """frames sent over all links"""
    skipped_packet_hops: int
    """of these, packet-hops in periods of a steady state that were skipped"""
    packet_hops_per_cpu_s: float
    """simulated packet-hops per second of processor time"""
    cpu_s: float
    """processor time of the run, s"""
    peak_memory_MiB: float
    """maximum resident set size of the run, MiB (2^20 bytes)"""
    data: dict[str, Any]
    """the whole JSON document"""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        for name, value in data.items():
            if not isinstance(value, list) or name == "warnings":
                setattr(self, name, value)

    def __getattr__(self, name: str) -> Any:
        """Return a list of the JSON output as a DataFrame."""
        data = self.__dict__.get("data", {})
        rows = data.get(name)
        if not isinstance(rows, list):
            near = "" if name.startswith("_") else did_you_mean(name, data)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{near}")
        import pandas

        return pandas.DataFrame(rows)

    def _repr_html_(self) -> str:
        """Return the numbers as a table, for notebooks."""
        values = {k: v for k, v in self._numbers().items() if isinstance(v, (int, float))}
        return make_table(type(self).__name__, [format_quantity(*each) for each in values.items()])

    def _numbers(self) -> dict[str, Any]:
        return {k: v for k, v in self.data.items() if not isinstance(v, (dict, list))}

    def get_parameters(self) -> dict[str, Any]:
        """Return the options of the program with their values, and what `auto` was resolved to."""
        configuration = {
            k: v for k, v in self.configuration.items() if k not in ("resolved", "given")
        }
        return {**configuration, **self.configuration.get("resolved", {})}

    def to_frame(self) -> pandas.DataFrame:
        """Return the run as a DataFrame: the configuration, then the results.

        The columns of the configuration have the names of keywords, with "_" for "-".
        """
        import pandas

        configuration = {
            to_keyword(name): int(value) if to_keyword(name) in _NS3_KEYWORDS else value
            for name, value in self.get_parameters().items()
        }
        return pandas.DataFrame([{**configuration, **self._numbers()}])


# Python types that an option of each type accepts, in addition to text; bool is not a number here.
_TYPES: dict[str, tuple[type, ...]] = {
    "boolean": (bool,),
    "bytes": (numbers.Integral,),
    "choice": (os.PathLike,),
    "count": (numbers.Integral,),
    "list": (Iterable,),
    "number": (numbers.Real,),
    "rate": (),
    "text": (numbers.Real, os.PathLike, Iterable),
    "time": (datetime.timedelta, numbers.Integral),
    "word": (),
}

# Keywords that are arguments of ns-3 rather than options of the program.
_NS3_KEYWORDS = {
    "seed": ("RngSeed", "ns-3's RngSeed"),
    "run": ("RngRun", "ns-3's RngRun, which also makes the gradients of a real payload"),
}


# Options that name files which a program writes.
OUTPUTS = re.compile(r"json|save[-_]config|output|pcap|report|results|trace|export-.*")

# How ns-3's arguments begin that print text instead of a result.
_PRINTING = "Print"


def to_keyword(argument: str) -> str:
    """Return the keyword of an option or of an argument of ns-3."""
    for keyword, (name, _) in _NS3_KEYWORDS.items():
        if name == argument:
            return keyword
    return argument if "::" in argument else argument.replace("-", "_")


def _is_orphan() -> bool:
    """Whether this process works for another one (multiprocessing) that is no more."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return False
    try:
        os.kill(parent.pid or 0, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return not parent.is_alive()


def _is_keyword(option: Mapping[str, Any]) -> bool:
    """Whether an option makes sense in Python: --print-... prints text instead of a result."""
    return option["name"] != "json" and not option["name"].startswith("print-")


class _Signature:
    """The signature of a program's class, generated from its options on demand."""

    def __get__(self, _: object, owner: type[Program[Any]]) -> inspect.Signature:
        def make(name: str) -> inspect.Parameter:
            return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None)

        try:
            options = owner._get_options()
        except BuildNotFound:
            raise AttributeError("__signature__") from None
        return inspect.Signature([make(name) for name in (*options, *_NS3_KEYWORDS, "attributes")])


class _Documentation:
    """The documentation of a program's class, followed by that of its options."""

    def __init__(self, text: str) -> None:
        self._text = inspect.cleandoc(text)

    def __get__(self, _: object, owner: type[Program[Any]]) -> str:
        try:
            options = owner._get_options()
        except (AttributeError, BuildNotFound):  # Program itself, or no build
            return self._text
        lines = [self._text, "", "Keywords, None for the program's default:"]
        for name, option in options.items():
            default = "" if option["default"] is None else f" [{option['default']}]"
            lines.append(f"    {name}: {option['help']}; {option['allowed']}{default}")
        for name, (_argument, text) in _NS3_KEYWORDS.items():
            lines.append(f"    {name}: {text}")
        lines.append("    attributes: values of ns-3's attributes and global values by name")
        return "\n".join(lines)


R = TypeVar("R", bound=Result)


class Program(Generic[R]):
    """A run of one of the programs: its options. It may run any number of times.

    Every option of the program is a keyword, with "_" for "-". The options come from the program
    (see describe()); options() lists them. A keyword that is None or missing has the program's
    default. Three more keywords are arguments of ns-3: `seed`, `run`, and `attributes`, a mapping
    such as {"ns3::training::RdmaNic::AckInterval": 32}.

    Raises TypeError for a keyword that the program does not have, or a value of a wrong type, and
    BuildNotFound. The program checks the values themselves when it runs.
    """

    name: ClassVar[str]
    """name of the program"""
    result_type: ClassVar[type[Any]] = Result
    row_keys: ClassVar[tuple[str, ...]] = ()
    """columns that tell the rows of a result's to_frame() apart, if there are several"""

    __signature__ = _Signature()

    def __init__(self, **parameters: Any) -> None:
        self.parameters: dict[str, Any] = {k: v for k, v in parameters.items() if v is not None}
        self._children: set[subprocess.Popen[bytes]] = set()
        for keyword, value in self.parameters.items():
            self._check(keyword, value)
        self.get_arguments()

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        cls.__doc__ = _Documentation(cls.__doc__ or "")  # type: ignore[assignment]

    @classmethod
    def describe(cls) -> dict[str, Any]:
        """Return the program's description: options, kinds of alternatives, their keys."""
        return describe_program(cls.name)

    @classmethod
    def _get_options(cls) -> dict[str, dict[str, Any]]:
        """Return the options by keyword."""
        options = cls.describe()["options"]
        return {o["name"].replace("-", "_"): o for o in options if _is_keyword(o)}

    @classmethod
    def options(cls) -> pandas.DataFrame:
        """Return one row per keyword: group, type, default, the values allowed, help."""
        import pandas

        columns = ["group", "type", "default", "allowed", "help"]
        frame = pandas.DataFrame.from_dict(cls._get_options(), orient="index", dtype=object)
        return frame.rename_axis("keyword")[columns]

    @classmethod
    def alternatives(cls, keyword: str) -> pandas.DataFrame:
        """Return one row per key of each alternative of an option NAME:key=value.

        An alternative without keys has one row. Raises KeyError if there is no such option.
        """
        import pandas

        option = cls._get_options()[keyword]
        if "kind" not in option:
            raise KeyError(f"{keyword} has no alternatives")
        rows = []
        for alternative in cls.describe()["kinds"][option["kind"]]:
            for key in alternative["keys"] or [{"name": ""}]:
                rows.append(
                    {
                        "name": alternative["name"],
                        "key": key["name"],
                        "default": key.get("default"),
                        "allowed": key.get("allowed", ""),
                        "help": key.get("help", alternative["help"]),
                    }
                )
        return pandas.DataFrame(rows, columns=["name", "key", "default", "allowed", "help"])

    @classmethod
    def quantities(cls) -> pandas.DataFrame:
        """Return one row per quantity that the program measures: type, unit, help."""
        import pandas

        columns = ["name", "type", "unit", "help"]
        frame = pandas.DataFrame(cls.describe().get("measured", []), columns=columns)
        return frame.set_index("name")

    @classmethod
    def grid(cls, **axes: Any) -> list[Program[R]]:
        """Return a job for every combination of values, the last keyword varying fastest.

            TrainingJob.grid(ranks=[4, 8], transport=["rdma", "tcp"], workload="bert-large")

        A list or tuple is an axis; any other value is the same in all jobs. An option that takes a
        list has a list of lists as its axis. Raises as the constructor.
        """
        values = [v if isinstance(v, (list, tuple)) else [v] for v in axes.values()]
        return [cls(**dict(zip(axes, point))) for point in itertools.product(*values)]

    def _check(self, keyword: str, value: Any) -> None:
        """Raise TypeError if there is no such keyword or it does not accept that type."""
        options = self._get_options()
        if keyword in _NS3_KEYWORDS or keyword == "attributes":
            return
        if keyword not in options:
            renamed = {each["name"]: each["spelling"] for each in self.describe()["renamed"]}
            text = f"{type(self).__name__} has no keyword {keyword!r}"
            if keyword.replace("_", "-") in renamed:
                text += f": written as {renamed[keyword.replace('_', '-')]}"
            else:
                text += did_you_mean(keyword, [*options, *_NS3_KEYWORDS, "attributes"])
            raise TypeError(f"{text} (allowed: see {type(self).__name__}.options())")
        kind = options[keyword]["type"]
        is_truth_value = type(value).__name__ in ("bool", "bool_")  # also numpy's
        is_flag = kind == "boolean" or "true" in options[keyword].get("words", [])
        if isinstance(value, str) or (is_flag and is_truth_value):
            return
        if is_truth_value or not isinstance(value, _TYPES[kind]) or isinstance(value, Mapping):
            raise TypeError(f"{keyword}={value!r} (allowed: {options[keyword]['allowed']})")

    def get_arguments(self) -> list[str]:
        """Return the parameters as arguments of the program."""
        options = self._get_options()
        arguments = []
        for name, value in self.parameters.items():
            if name == "attributes":
                for attribute, setting in value.items():
                    if not ("::" in attribute or attribute[:1].isupper()):
                        raise ValueError(
                            f"attributes: {attribute!r} (allowed: ns3::TypeName::Attribute, or the "
                            "name of a global value)"
                        )
                    if to_keyword(attribute) in _NS3_KEYWORDS:
                        raise ValueError(
                            f"attributes: {attribute!r} (allowed: as the keyword "
                            f"{to_keyword(attribute)!r})"
                        )
                    if attribute.startswith(_PRINTING):
                        raise ValueError(
                            f"attributes: {attribute!r} prints text instead of a result (allowed: "
                            "ns3::TypeName::Attribute, or the name of a global value)"
                        )
                    arguments.append(f"--{attribute}={to_text(setting)}")
            elif name in _NS3_KEYWORDS:
                arguments.append(f"--{_NS3_KEYWORDS[name][0]}={to_text(value)}")
            else:
                option = options[name]
                repeated = option["type"] == "list" and not isinstance(value, str)
                for element in value if repeated else [value]:
                    arguments.append(f"--{option['name']}={to_text(element)}")
        return arguments

    def get_key(self) -> list[str]:
        """Return what a result follows from: equal for jobs that are the same."""
        return self.get_arguments()

    def get_command(self) -> list[str]:
        """Return the equivalent shell command."""
        return [find_build().get_program(self.name), *self.get_arguments()]

    def get_input_files(self) -> list[str]:
        """Return the existing files that options name, without those that the program writes."""
        names = []
        for argument in self.get_arguments():
            option, _, value = argument.removeprefix("--").partition("=")
            if not OUTPUTS.fullmatch(option):
                names += [value, *re.split("[:,=]", value)]
        return sorted({name for name in names if os.path.isfile(name)})

    def run(self, progress: bool = True) -> R:
        """Run the program in a child process and return its result.

        If standard error is a terminal, the run shows its progress there. An interrupt (Ctrl-C)
        ends the child first. The child also ends with this process, and in a process of a pool
        with the process that made the pool, even by SIGKILL.

        Args:
            progress: False for a silent run.

        Raises ValueError for refused parameters, SimulationStuck, WrongResult, and BuildNotFound,
        each with the program's text, and RuntimeError if there is no result for another reason.
        """
        return self._run(progress=progress)

    def _run(self, sockets: tuple[int, ...] = (), progress: bool = True) -> R:
        """Run the program, which inherits the sockets."""
        command = [*self.get_command(), "--json=-"]
        environment = {**find_build().get_environment(), _PARENT_VARIABLE: str(os.getpid())}
        status, output, errors = self._execute(command, environment, sockets, progress)
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
        try:
            data = json.loads(output)
        except ValueError:
            first = output.decode(errors="replace").partition("\n")[0][:200]
            what = f"its output begins with {first!r}" if first else "its output is empty"
            raise RuntimeError(f"{shlex.join(command)} printed no result: {what}") from None
        result: R = self.result_type(data)
        return result

    def cancel(self) -> None:
        """End the runs in progress in other threads; their run() raises RuntimeError."""
        for child in list(self._children):
            child.terminate()

    def _execute(
        self,
        command: list[str],
        environment: dict[str, str],
        sockets: tuple[int, ...],
        progress: bool,
    ) -> tuple[int, bytes, str]:
        """Run a command; return its exit status, standard output and standard error."""
        if _is_orphan():  # otherwise a pool would start its waiting runs, one after the other
            raise RuntimeError("the process that made this pool of workers has ended")
        with ErrorStream(progress) as errors:
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors.for_child,
                env=environment,
                pass_fds=sockets,
            )
            errors.started()
            self._children.add(child)
            try:
                output = self._wait(child)
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

    @staticmethod
    def _wait(child: subprocess.Popen[bytes]) -> bytes:
        """Return a child's output when it ends."""
        in_pool = multiprocessing.parent_process() is not None
        while True:
            if in_pool and _is_orphan():
                child.kill()
            try:
                return child.communicate(timeout=1 if in_pool else None)[0]
            except subprocess.TimeoutExpired:
                pass

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


def get_program_names() -> list[str]:
    """Return the names of the programs that have a class."""
    return sorted(kind.name for kind in Program.__subclasses__())


def get_program_class(name: str) -> type[Program[Any]]:
    """Return the class of a program. Raises KeyError if there is none."""
    return {kind.name: kind for kind in reversed(Program.__subclasses__())}[name]
