# SPDX-License-Identifier: GPL-2.0-only
"""Accuracy of a training over simulated time, by codec and network. The figure in doc/codecs.rst.

    ./ns3w python bindings/python/examples/accuracy_over_time.py [FILE.png]

An MLP learns on 4 workers, at 10 Gbit/s and 1 Gbit/s, with engines in the NICs that code gradients.
Without a file name the numbers are printed and no figure is drawn.
"""

from __future__ import annotations

import sys

import distributed_training as dt

CODECS = {
    "none": "none",
    "fp16": "fp16",
    "bf16": "bf16",
    "INCEPTIONN 2^-10, paper": "inceptionn:bound=-10,variant=paper",
    "INCEPTIONN 2^-10, bounded": "inceptionn:bound=-10,variant=bounded",
    "INCEPTIONN 2^-6, paper": "inceptionn:bound=-6,variant=paper",
}
RATES = ("10Gbps", "1Gbps")


def make_job(nic: str, rate: str) -> dt.TrainingJob:
    """Return the training with an engine in the NICs."""
    return dt.TrainingJob(
        gradients="learn:hidden=512", ranks=4, rate=rate, nic=nic, iterations=400, warmup=0
    )


def main(path: str | None = None) -> None:
    """Run the trainings in parallel, print their ends, and draw them into a file."""
    labels = [(rate, label) for rate in RATES for label in CODECS]
    jobs = [make_job(CODECS[label], rate) for rate, label in labels]
    results: dict[tuple[str, str], dt.TrainingResult] = {}
    for index, result in dt.run_each(jobs):
        if isinstance(result, Exception):
            raise result
        assert isinstance(result, dt.TrainingResult)
        results[labels[index]] = result
    print(f"{'rate':<8}{'codec':<28}{'time (ms)':>10}{'test loss':>11}{'accuracy':>10}{'drift':>9}")
    for rate, label in labels:
        last = results[rate, label].learning.iloc[-1]
        print(
            f"{rate:<8}{label:<28}{1e3 * last['end_s']:>10.2f}{last['test_loss']:>11.4f}"
            f"{100 * last['test_accuracy']:>8.1f} %{last['drift']:>9.3g}"
        )
    if path:
        import matplotlib.pyplot

        figure, panels = matplotlib.pyplot.subplots(
            1, len(RATES), figsize=(10, 3.8), sharey=True, layout="constrained"
        )
        for axes, rate in zip(panels, RATES):
            dt.plot.accuracy_over_time({x: results[rate, x] for x in CODECS}, axes)
            axes.set_title(f"MLP on 4 workers, {rate}, RDMA, ring", loc="left", fontsize=10)
        figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:2])
