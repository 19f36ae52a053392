# SPDX-License-Identifier: GPL-2.0-only
"""Iteration times of whole jobs, by who adds the gradients: hosts or the network.

    ./ns3w python bindings/python/examples/in_network_jobs.py [FILE.csv] [--plot=FILE.svg] [OPTION...]

Three models, 8 to 64 workers, 10 and 100 Gbit/s, eight systems and four loss rates: 768 runs, which
take days of processor time. Each run is added to FILE.csv as it ends, and runs in the file are not
repeated, so the command may be interrupted and restarted. Options select parts: --workloads,
--ranks, --rates, --systems, --losses, each a comma-separated list.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import pathlib
import sys
from typing import Any

from tqdm import tqdm

import distributed_training as dt

COLUMNS = ["workload", "ranks", "rate", "system", "loss", "iteration_time_ms", "error"]
KEYS = COLUMNS[:5]
PLOTS = [".svg", ".pdf", ".png"]

# Options of each system; in-network packets have the maximum size of the system.
SYSTEMS: dict[str, dict[str, Any]] = {
    "ring TCP": {"collective": "ring", "transport": "tcp"},
    "ring RDMA": {"collective": "ring", "recovery": "selective-repeat"},
    "parameter server": {"collective": "parameter-server", "recovery": "selective-repeat"},
    "switchml": {"collective": "switchml"},
    "switchml client": {"collective": "switchml:timer=client"},
    "atp": {"collective": "atp"},
    "sharp": {"collective": "sharp"},
    "switch-ps": {"collective": "switch-ps"},
}
CHOICES = {
    "workloads": ["resnet50", "vgg16", "bert-large"],
    "ranks": ["8", "16", "32", "64"],
    "rates": ["10Gbps", "100Gbps"],
    "systems": list(SYSTEMS),
    "losses": ["0", "0.0001", "0.001", "0.01"],
}


def make_job(workload: str, ranks: int, rate: str, system: str, loss: float) -> dt.TrainingJob:
    """Return a job on racks of 8 hosts: one switch, or leaves and a spine without oversubscription.

    ATP has one more host in each rack; the first host without a rank is its parameter server.
    """
    racks = ranks // 8
    hosts = 9 if system == "atp" else 8
    uplink = f"{hosts * int(rate.removesuffix('Gbps'))}Gbps"
    leaves = f"leaf-spine:leaves={racks},spines=1,hosts-per-leaf={hosts},uplink={uplink}"
    options = dict(SYSTEMS[system])
    if system == "parameter server":
        options["collective"] = f"parameter-server:servers={ranks}"
    return dt.TrainingJob(
        workload=workload,
        ranks=ranks,
        topology=leaves if racks > 1 else f"single-switch:hosts={hosts}",
        rate=rate,
        loss=loss,
        iterations=1,
        warmup=0,
        **options,
    )


def read(path: pathlib.Path) -> list[dict[str, str]]:
    """Return the rows of the file, without a truncated last row."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [row for row in csv.DictReader(file) if None not in row.values()]


def run(path: pathlib.Path, wanted: list[tuple[str, ...]]) -> None:
    """Make the runs that are missing in the file; add each result as it arrives."""
    have = {tuple(row[key] for key in KEYS) for row in read(path)}
    left = [keys for keys in wanted if keys not in have]
    jobs = [
        make_job(workload, int(ranks), rate, system, float(loss))
        for workload, ranks, rate, system, loss in left
    ]
    is_new = not path.exists()
    is_cut = not is_new and not path.read_bytes().endswith(b"\n")
    with path.open("a", newline="") as file:
        writer = csv.writer(file)
        if is_new:
            writer.writerow(COLUMNS)
        if is_cut:
            file.write("\r\n")
        results = dt.run_each(jobs)
        for index, result in tqdm(
            results, total=len(jobs), unit="run", disable=not sys.stderr.isatty()
        ):
            if isinstance(result, Exception):
                writer.writerow([*left[index], "", f"{type(result).__name__}: {result}"])
            else:
                writer.writerow([*left[index], f"{1e3 * result.iteration_time_s:.4f}", ""])
            file.flush()


def show(rows: list[dict[str, str]], losses: list[str]) -> None:
    """Print a line for each model, number of workers, rate and system; a column for each loss."""
    times = {tuple(row[key] for key in KEYS): row["iteration_time_ms"] for row in rows}
    print(f"{'iteration time (ms)':<44}" + "".join(f"{100 * float(x):>11g} %" for x in losses))
    order = [[*values] for values in CHOICES.values()]
    heads = {key[:4] for key in times}
    for head in sorted(heads, key=lambda head: [list_.index(x) for list_, x in zip(order, head)]):
        workload, ranks, rate, system = head
        cells = [times.get((*head, loss)) for loss in losses]
        texts = ["-" if cell is None else f"{float(cell):.2f}" if cell else "error" for cell in cells]
        print(f"{workload:<12}{ranks:>4} {rate:<9}{system:<18}" + "".join(f"{t:>13}" for t in texts))


def plot(rows: list[dict[str, str]], file: str) -> None:
    """Draw a panel for each model and rate: time by workers; solid without loss, dotted with the
    largest loss."""
    import matplotlib.pyplot

    workloads = list(dict.fromkeys(row["workload"] for row in rows))
    rates = list(dict.fromkeys(row["rate"] for row in rows))
    figure, axes = matplotlib.pyplot.subplots(
        len(rates),
        len(workloads),
        figsize=(3.6 * len(workloads) + 1.6, 2.8 * len(rates)),
        layout="constrained",
        squeeze=False,
        sharex=True,
    )
    losses = sorted({float(row["loss"]) for row in rows})
    handles = {}
    for (i, rate), (j, workload) in itertools.product(enumerate(rates), enumerate(workloads)):
        panel = axes[i][j]
        for number, system in enumerate(SYSTEMS):
            for loss, style in ((losses[0], "-"), (losses[-1], ":")):
                points = sorted(
                    (int(row["ranks"]), float(row["iteration_time_ms"]))
                    for row in rows
                    if (row["workload"], row["rate"], row["system"]) == (workload, rate, system)
                    and float(row["loss"]) == loss
                    and row["iteration_time_ms"]
                )
                if points:
                    x, y = zip(*points)
                    (line,) = panel.plot(x, y, style, color=f"C{number}", marker=".")
                    handles.setdefault(system, line)
        panel.set_title(f"{workload}, {rate.replace('Gbps', ' Gbit/s')}", loc="left", fontsize=9)
        panel.set_xscale("log", base=2)
        panel.set_yscale("log")
        panel.grid(alpha=0.3)
        panel.spines[["top", "right"]].set_visible(False)
    figure.supxlabel("workers", fontsize=9)
    figure.supylabel("iteration time (ms)", fontsize=9)
    figure.legend(
        handles.values(),
        handles.keys(),
        loc="outside right upper",
        frameon=False,
        title=f"loss {100 * losses[0]:g} %, dotted {100 * losses[-1]:g} %",
        title_fontsize=8,
        fontsize=8,
    )
    figure.savefig(file)


def main() -> None:
    """Parse the options, run, print and draw."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", nargs="?", default="in-network-jobs.csv", type=pathlib.Path)
    parser.add_argument("--plot", metavar="FILE", help=" or ".join(PLOTS))
    for name, values in CHOICES.items():
        parser.add_argument(f"--{name}", default=",".join(values), help=f"of {', '.join(values)}")
    arguments = parser.parse_args()
    chosen = {}
    for name, values in CHOICES.items():
        chosen[name] = getattr(arguments, name).split(",")
        for value in chosen[name]:
            if value not in values:
                parser.error(f"--{name}={value}: allowed are {', '.join(values)}")
    if arguments.file.exists():
        with arguments.file.open(newline="") as file:
            if next(csv.reader(file), None) != COLUMNS:
                parser.error(f"{arguments.file}:1: allowed are columns {', '.join(COLUMNS)}")
    for output in filter(None, (arguments.file, arguments.plot)):
        if not pathlib.Path(output).resolve().parent.is_dir():
            parser.error(f"{output}: there is no such directory (allowed: one that exists)")
    if arguments.plot and pathlib.Path(arguments.plot).suffix not in PLOTS:
        parser.error(f"--plot={arguments.plot}: allowed are {', '.join(PLOTS)}")
    run(arguments.file, list(itertools.product(*chosen.values())))
    rows = [
        row
        for row in read(arguments.file)
        if all(row[key] in values for key, values in zip(KEYS, chosen.values()))
    ]
    show(rows, chosen["losses"])
    if arguments.plot:
        plot(rows, arguments.plot)


if __name__ == "__main__":
    main()
