#! /usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Draw speed-up over ranks, a roofline of network against compute, and slowdowns of flows by size.

usage: three_figures.py FOLDER

Writes figure-speedup.svg, figure-roofline.svg and figure-slowdown.svg.
"""

import pathlib
import sys

import distributed_training as dt

RATES = ["25Gbps", "100Gbps", "400Gbps"]


def main() -> int:
    if len(sys.argv) != 2 or not pathlib.Path(sys.argv[1]).is_dir():
        print(f"three_figures.py {' '.join(sys.argv[1:])} (allowed: a folder)", file=sys.stderr)
        return 2
    curves = {
        rate: {
            ranks: dt.TrainingJob(workload="resnet50", ranks=ranks, rate=rate, iterations=1).run()
            for ranks in (2, 4, 8, 16)
        }
        for rate in RATES
    }
    points = {f"resnet50, {rate}": curves[rate][16] for rate in RATES}
    for rate in RATES[1:]:
        points[f"vgg16, {rate}"] = dt.TrainingJob(
            workload="vgg16", ranks=16, rate=rate, iterations=1
        ).run()
    flows = {
        control: dt.FlowBenchmark(
            ranks=16, flow_sizes="websearch", load=0.5, duration="10ms", congestion_control=control
        ).run()
        for control in ("dcqcn", "hpcc")
    }
    for name, axes in {
        "speedup": dt.plot.speedup(curves),
        "roofline": dt.plot.roofline(points),
        "slowdown": dt.plot.slowdown(flows),
    }.items():
        axes.figure.savefig(pathlib.Path(sys.argv[1]) / f"figure-{name}.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
