# SPDX-License-Identifier: GPL-2.0-only
"""Constants of a machine from what benchmarks measured on it: calibrate()."""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Union

from .collective_benchmark import CollectiveBenchmark
from .machines import find_machine
from .measured_files import Measured, read_measured
from .near_names import did_you_mean
from .sweeps import make_bar, run_each
from .validation import summarize_errors

if TYPE_CHECKING:
    import pandas

MOST_BYTES = 64 << 20
"""Default size of the largest collectives that are simulated."""

# What is fitted by default: those of these that the machine has and the rows tell best.
_USUAL = (
    "delay",
    "rate",
    "host-model.local-latency",
    "topology.local-rate",
    "host-model.network-latency",
    "host-model.message-overhead",
    "host-model.start",
    "host-model.start-low-latency",
    "host-model.rate",
    "host-model.server-rate",
    "host-model.latency",
    "host-model.slot",
    "host-model.exchange",
    "host-model.tensor",
)
_MOST_CONSTANTS = 4
_ROWS_OF_CONSTANT = 3  # that calibrate, for each constant
_LEAST_MOVE = 0.05  # of times by a constant, as a part of that by the strongest one
_STREAM_BYTES = 64 << 20  # of messages of a bandwidth test that are simulated as one
_PACKET_BYTES = 4096  # smaller messages of such a test are limited by the NIC's rate of messages
_STEPS = 12
_CONVERGED = 1e-4  # relative change of the constants, or of the sum
_OUTLIER = (
    0.1  # logarithm of ours / measured from which on a row counts by its size, not its square
)
_NO_EFFECT = 1e-6  # change of the logarithm of a time

_UNITS = {
    "time": {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6},
    "rate": {"bps": 1e-9, "kbps": 1e-6, "Kbps": 1e-6, "Mbps": 1e-3, "Gbps": 1.0, "Tbps": 1e3},
}


class _Constant(NamedTuple):
    """A number of a machine: an option, or a key of an option."""

    name: str  # OPTION or OPTION.KEY
    type: str  # time in us, or rate in Gbit/s
    initial: float

    @property
    def step(self) -> float:
        """A change that is seen in times of collectives."""
        return max(0.01 * self.initial, 0.05) if self.type == "time" else 0.01 * self.initial

    @property
    def move(self) -> float:
        """A change by which its effect is compared with that of others."""
        return max(0.1 * self.initial, 1.0) if self.type == "time" else 0.1 * self.initial

    def write(self, value: float) -> str:
        return f"{value:.6g}{'us' if self.type == 'time' else 'Gbps'}"


class Calibration(NamedTuple):
    """What calibrate() found."""

    constants: pandas.DataFrame
    """a row for each: name, before, value, range (half of a 95 % interval), unit"""
    rows: pandas.DataFrame
    """a row for each measured one: place, operation, ranks, bytes, role, measured_us, before_us of
    the machine as it was, ours_us, error_percent; "not run" rows have no time of ours"""
    machine_file: str
    """the machine with these constants, a file for --machine=FILE"""


def calibrate(
    machine: str,
    measured: Iterable[Union[str, os.PathLike[str]]],
    constants: Sequence[str] | None = None,
    ranks: int | None = None,
    most_bytes: int = MOST_BYTES,
    workers: int | None = None,
) -> Calibration:
    """Fit constants of a machine to a third of what was measured on it, and predict the rest.

    The rows of a file with the same operation are sorted by size; the second of every three
    calibrates. The constants are those of the least sum of squared logarithms of ours / measured,
    in which errors above 10 % count by their size (Huber), by Levenberg and Marquardt with
    simulated packets. A range is twice the standard error that the curvature of this sum gives at
    its minimum.

    Args:
        machine: what is calibrated, as --machine; it gives all other numbers.
        measured: files with outputs of nccl-tests, rccl-tests, OSU's benchmarks or perftest.
        constants: names, OPTION or OPTION.KEY, of times and rates; up to four. By default those of
            latencies, rates and overheads that the rows tell best, one for three calibrating rows.
        ranks: number of ranks, for files that do not say it.
        most_bytes: size of the largest collectives; larger rows have no time of ours.
        workers: runs at a time; by default the number of cores.

    Raises ValueError for files that are none, machines and constants that do not exist, and fewer
    calibrating rows than constants, OSError, and what Program.run() raises.
    """
    import numpy
    import pandas

    paths = list(measured)
    rows = [row for path in paths for row in read_measured(path, ranks)]
    model = _Model(machine, rows, most_bytes, workers)
    chosen = model.choose(constants)
    calibrating = model.split()
    if not calibrating:
        raise ValueError(f"{len(rows)} rows (allowed: 2 or more of an operation, up to --most)")
    with contextlib.closing(model):
        fit = _Fit(model, chosen, calibrating, given=constants is not None)
        fit.run()
        values = dict(zip((one.name for one in fit.constants), fit.values))
        before, times = model.simulate([{}, values], range(len(rows)))
    table = pandas.DataFrame(
        {
            "place": [row.place for row in rows],
            "operation": [row.operation for row in rows],
            "ranks": [row.ranks for row in rows],
            "bytes": [row.bytes for row in rows],
            "role": [
                "not run" if i not in times else "calibration" if i in calibrating else "predicted"
                for i in range(len(rows))
            ],
            "measured_us": [row.time_us for row in rows],
            "before_us": [before.get(i, math.nan) for i in range(len(rows))],
            "ours_us": [times.get(i, math.nan) for i in range(len(rows))],
        }
    )
    table["error_percent"] = 100 * (table["ours_us"] / table["measured_us"] - 1)
    found = pandas.DataFrame(
        {
            "constant": [one.name for one in fit.constants],
            "before": [one.initial for one in fit.constants],
            "value": [float(f"{value:.6g}") for value in fit.values],
            "range": numpy.round(fit.get_ranges(), 6),
            "unit": ["us" if one.type == "time" else "Gbit/s" for one in fit.constants],
        }
    )
    return Calibration(found, table, _write_file(model, found, values, table, paths))


def summarize_calibration(rows: pandas.DataFrame) -> pandas.DataFrame:
    """Return counts of rows, and the median, 90th percentile and largest error of predicted ones, %.

    There is a row for the machine as it was, and one for it as calibrated.
    """
    import pandas

    predicted = rows[rows["role"] == "predicted"]
    summaries = []
    for name, column in {"before": "before_us", "calibrated": "ours_us"}.items():
        errors = 100 * (predicted[column] / predicted["measured_us"] - 1)
        summaries.append(
            {
                "machine": name,
                "rows": len(rows),
                "calibration": int((rows["role"] == "calibration").sum()),
                "not_run": int((rows["role"] == "not run").sum()),
                **summarize_errors(errors),
            }
        )
    return pandas.DataFrame(summaries)


class _Model:
    """The machine, and the runs that give times of rows."""

    def __init__(
        self, machine: str, rows: list[Measured], most_bytes: int, workers: int | None
    ) -> None:
        self.machine = machine
        self._rows = rows
        self._most = most_bytes
        self._workers = workers
        self._name, _, keys = machine.partition(":")
        self._data = find_machine(self._name)
        found = re.search(r"(?:^|,)ranks-per-server=(\d+)", keys)
        self._own_gpus = int(found.group(1)) if found and found.group(1) != "0" else None
        self._bar = make_bar(0)
        self._by_name: dict[str, _Constant] = {}

    def close(self) -> None:
        self._bar.close()

    def get_default(self, option: str) -> str:
        """Return the machine's value of an option, or that of the program."""
        if option in self._data["defaults"]:
            return str(self._data["defaults"][option])
        options = CollectiveBenchmark.describe()["options"]
        return next((str(each["default"]) for each in options if each["name"] == option), "")

    def choose(self, names: Sequence[str] | None) -> list[_Constant]:
        """Return constants by their names, or those that are usual."""
        if names is not None and not 0 < len(names) <= _MOST_CONSTANTS:
            raise ValueError(f"{len(names)} constants (allowed: 1 to {_MOST_CONSTANTS})")
        is_raw = any(row.raw for row in self._rows)
        known = {one.name: one for one in self._list_constants()}
        if names is None:
            usual = [name for name in _USUAL if "." in name or is_raw]
            chosen = [known[name] for name in usual if name in known]
        else:
            for name in names:
                if name not in known:
                    near = did_you_mean(name, list(known))
                    raise ValueError(f"constant {name!r}{near} (allowed: {', '.join(known)})")
            chosen = [known[name] for name in dict.fromkeys(names)]
        self._by_name = {one.name: one for one in chosen}
        return chosen

    def _list_constants(self) -> Iterable[_Constant]:
        """Yield the times and rates of the machine that have a value."""
        description = CollectiveBenchmark.describe()
        kinds = {each["name"]: each.get("kind") for each in description["options"]}
        for option in ("delay", "rate", "topology", "host-model"):
            text = self.get_default(option)
            if option in ("delay", "rate"):
                constant = _parse_constant(option, text)
                if constant:
                    yield constant
                continue
            name, _, given = text.partition(":")
            values = dict(part.split("=", 1) for part in given.split(",") if "=" in part)
            alternatives = {each["name"]: each for each in description["kinds"][kinds[option]]}
            for key in alternatives[name]["keys"]:
                value = values.get(key["name"], str(key.get("default", "")))
                constant = _parse_constant(f"{option}.{key['name']}", value)
                if constant and key["type"] in _UNITS:
                    yield constant

    def split(self) -> list[int]:
        """Return the numbers of the rows that calibrate: the second of every three by size."""
        chosen = []
        for _, group in self._group(range(len(self._rows))):
            ordered = sorted(group, key=lambda i: self._rows[i].bytes)
            chosen += ordered[1::3]
        return sorted(chosen)

    def _group(self, numbers: Iterable[int]) -> Iterable[tuple[Any, list[int]]]:
        """Yield what rows have in common that a run measures together, and their numbers."""

        def get_key(i: int) -> Any:
            row = self._rows[i]
            path = row.place.rpartition(":")[0]
            return (path, row.operation, row.ranks, row.servers, row.streams, row.raw)

        runnable = [i for i in numbers if self._is_runnable(self._rows[i])]
        for key, group in itertools.groupby(sorted(runnable, key=get_key), get_key):
            yield key, list(group)

    def _is_runnable(self, row: Measured) -> bool:
        if row.streams:
            return _PACKET_BYTES <= row.bytes <= self._most
        return row.bytes <= self._most

    def get_options(self, values: dict[str, float], gpus: int) -> dict[str, str]:
        """Return the options with constants, as on the command line."""
        changed: dict[str, str] = {}
        for name, value in values.items():
            option, _, key = name.partition(".")
            text = changed.get(option, self.get_default(option))
            written = self._by_name[name].write(value)
            if key:
                setting = re.compile(rf"(?<=[:,]){re.escape(key)}=[^,]*")
                joint = "," if ":" in text else ":"
                text = (
                    setting.sub(f"{key}={written}", text)
                    if setting.search(text)
                    else f"{text}{joint}{key}={written}"
                )
            changed[option] = text if key else written
        return {option: text.replace("{gpus}", str(gpus)) for option, text in changed.items()}

    def get_gpus(self, row: Measured) -> int:
        """Return how many ranks a server has."""
        if row.servers > 1:
            return row.ranks // row.servers
        return self._own_gpus or int(self._data["gpus"])

    def simulate(
        self, all_values: list[dict[str, float]], numbers: Iterable[int]
    ) -> list[dict[int, float]]:
        """Return the times of rows, us, by their numbers, for each set of constants."""
        numbers = list(numbers)
        plans = []
        for which, values in enumerate(all_values):
            for _, group in self._group(numbers):
                plans.append((which, group, self._make_run(values, group)))
        self._bar.total += len(plans)
        self._bar.refresh()
        times: list[dict[int, float]] = [{} for _ in all_values]
        for index, result in run_each((plan[2] for plan in plans), workers=self._workers):
            if isinstance(result, Exception):
                raise result
            which, group, _ = plans[index]
            ours = {row["bytes"]: row["time_us"] for row in result.data["rows"]}
            for i in group:
                times[which][i] = ours[self._get_size(i)] / self._count_messages(i)
            self._bar.update()
        return times

    def _count_messages(self, i: int) -> int:
        row = self._rows[i]
        return max(1, _STREAM_BYTES // row.bytes) if row.streams else 1

    def _get_size(self, i: int) -> int:
        return self._rows[i].bytes * self._count_messages(i)

    def _make_run(self, values: dict[str, float], group: list[int]) -> CollectiveBenchmark:
        row = self._rows[group[0]]
        gpus = self.get_gpus(row)
        options: dict[str, Any] = {
            "operation": row.operation,
            **self.get_options(values, gpus),
        }
        if row.raw:
            options["host-model"] = "none"
        if row.operation == "write":
            options |= {"operation": "broadcast", "collective": "binomial"}
        return CollectiveBenchmark(
            machine=f"{self._name}:ranks-per-server={gpus}",
            ranks=row.ranks,
            bytes=sorted({self._get_size(i) for i in group}),
            **{option.replace("-", "_"): text for option, text in options.items()},
        )

    def get_measured(self, i: int) -> float:
        return self._rows[i].time_us

    def write(self, values: dict[str, float]) -> dict[str, str]:
        """Return the options of a machine file."""
        return self.get_options(values, self._own_gpus or int(self._data["gpus"]))


def _parse_constant(name: str, text: str) -> _Constant | None:
    found = re.fullmatch(r"([0-9.]+(?:e[-+]?\d+)?)([A-Za-z]+)", text)
    for kind, units in _UNITS.items():
        if found and found.group(2) in units:
            return _Constant(name, kind, float(found.group(1)) * units[found.group(2)])
    return None


class _Fit:
    """The least sum of errors, which are logarithms of ours / measured."""

    def __init__(
        self, model: _Model, constants: list[_Constant], rows: list[int], given: bool
    ) -> None:
        import numpy

        self._np = numpy
        self._model = model
        self._rows = rows
        self._given = given
        self.constants = constants
        self.values = numpy.array([one.initial for one in constants])
        self._residuals: Any = None
        self._slopes: Any = None

    def run(self) -> None:
        np = self._np
        self._find_slopes()
        self._choose()
        if len(self.constants) > len(self._rows):
            raise ValueError(
                f"{len(self._rows)} rows that calibrate {len(self.constants)} constants "
                "(allowed: as many rows or more, or fewer --constants)"
            )
        scale = np.array([one.step for one in self.constants])
        lows = np.array([0 if one.type == "time" else one.step for one in self.constants])
        damping = 1e-3
        for _ in range(_STEPS):
            slopes = self._slopes * scale
            weights = self._get_weights()
            normal = slopes.T @ (slopes * weights[:, None])
            pull = slopes.T @ (weights * self._residuals)
            improved = False
            while damping < 1e6 and not improved:
                damped = normal + damping * np.diag(np.diag(normal))
                trial = np.maximum(self.values - scale * np.linalg.solve(damped, pull), lows)
                change = np.max(np.abs(trial - self.values) / np.maximum(trial, scale))
                if change < _CONVERGED:
                    return
                residuals = self._evaluate([trial])[0]
                improved = self._get_cost(residuals) < self._get_cost(self._residuals)
                damping = damping / 10 if improved else damping * 10
            if not improved:
                return
            gain = 1 - self._get_cost(residuals) / self._get_cost(self._residuals)
            self.values = trial
            self._find_slopes()
            if gain < _CONVERGED:
                return

    def get_ranges(self) -> Any:
        """Return twice the standard error of each constant; infinite if rows do not tell them."""
        np = self._np
        weights = self._get_weights()
        free = len(self._rows) - len(self.constants)
        normal = self._slopes.T @ (self._slopes * weights[:, None])
        if free < 1 or np.linalg.matrix_rank(normal) < len(self.constants):
            return np.full(len(self.constants), np.inf)
        variance = weights @ self._residuals**2 / free
        return 2 * np.sqrt(np.diag(np.linalg.inv(normal)) * variance)

    def _get_weights(self) -> Any:
        """Return weights by which least squares have the minimum of _get_cost()."""
        return 1 / self._np.maximum(1, self._np.abs(self._residuals) / _OUTLIER)

    def _get_cost(self, residuals: Any) -> float:
        """Return Huber's sum: squares, of outliers only their size."""
        size = self._np.abs(residuals)
        least = self._np.minimum(size, _OUTLIER)
        return float(self._np.sum(least * (size - least / 2)))

    def _evaluate(self, points: list[Any]) -> list[Any]:
        """Return the logarithms of ours / measured at points."""
        names = [one.name for one in self.constants]
        all_times = self._model.simulate([dict(zip(names, point)) for point in points], self._rows)
        return [
            self._np.array([math.log(times[i] / self._model.get_measured(i)) for i in self._rows])
            for times in all_times
        ]

    def _find_slopes(self) -> None:
        np = self._np
        steps = [one.step for one in self.constants]
        points = [self.values, *(self.values + step for step in np.diag(steps))]
        self._residuals, *moved = self._evaluate(points)
        self._slopes = np.array([(m - self._residuals) / s for m, s in zip(moved, steps)]).T

    def _choose(self) -> None:
        """Keep the constants that rows tell best: at most four, and one for three rows.

        Each is the one that moves the times most, by a tenth of its value, in a way that those
        before it do not. So of two constants that act alike one is kept.
        """
        np = self._np
        moves = self._slopes * np.array([one.move for one in self.constants])
        if self._given:
            for one, size in zip(self.constants, np.linalg.norm(moves, axis=0)):
                if size < _NO_EFFECT:
                    raise ValueError(f"constant {one.name!r}: no calibrating row depends on it")
            return
        kept: list[int] = []
        first = 0.0
        while len(kept) < min(_MOST_CONSTANTS, max(1, len(self._rows) // _ROWS_OF_CONSTANT)):
            sizes = np.linalg.norm(moves, axis=0)
            best = int(np.argmax(sizes))
            first = first or sizes[best]
            if sizes[best] < max(_NO_EFFECT, _LEAST_MOVE * first):
                break
            kept.append(best)
            unit = moves[:, best] / sizes[best]
            moves = moves - np.outer(unit, unit @ moves)
        if not kept:
            raise ValueError("no calibrating row depends on a constant (allowed: with --constants)")
        kept.sort()
        self.constants = [self.constants[i] for i in kept]
        self.values = self.values[kept]
        self._slopes = self._slopes[:, kept]


def _write_file(
    model: _Model,
    found: pandas.DataFrame,
    values: dict[str, float],
    rows: pandas.DataFrame,
    paths: list[Any],
) -> str:
    """Return the text of a machine file."""
    summary = summarize_calibration(rows).iloc[-1]
    lines = [
        f"# {model.machine}, calibrated with {summary['calibration']:.0f} rows of "
        + ", ".join(os.path.basename(path) for path in paths),
        f"# {summary['predicted']:.0f} predicted rows: median error {summary['median_percent']:.1f} %, "
        f"worst {summary['worst_percent']:.1f} %",
    ]
    for one in found.itertuples():
        lines.append(f"# {one.constant}: {one.value:g} +- {one.range:.2g} {one.unit}")
    lines.append(f'machine = "{model.machine}"')
    lines += [f'{option} = "{text}"' for option, text in model.write(values).items()]
    return "\n".join(lines) + "\n"
