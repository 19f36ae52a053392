# SPDX-License-Identifier: GPL-2.0-only
"""Accuracy of a training over simulated time, by codec and network. The figure in doc/codec-figures.rst.

    ./ns3w python bindings/python/examples/accuracy_over_time.py [FILE.png]

An MLP learns on 4 workers, at 10 Gbit/s and 1 Gbit/s, coded by engines in NICs or by hosts.
Without a file name the numbers are printed and no figure is drawn.
"""

from __future__ import annotations

import sys

import distributed_training as dt

# SGD without momentum: error feedback is published for it.
TRAINING = "learn:hidden=96,learning-rate=0.3,momentum=0"
CODECS = {
    "none": {},
    "fp16 in NICs": {"nic": "fp16"},
    "INCEPTIONN 2^-10 bounded in NICs": {"nic": "inceptionn:bound=-10,variant=bounded"},
    "INCEPTIONN 2^-6 paper in NICs": {"nic": "inceptionn:bound=-6,variant=paper"},
    "QSGD": {"codec": "qsgd"},
    "top-k 1 %": {"codec": "top-k:keep=0.01"},
    "top-k 1 %, error feedback": {"codec": "top-k:keep=0.01,feedback=true"},
    "sign": {"codec": "ef-sign"},
    "sign, error feedback": {"codec": "ef-sign:feedback=true"},
}
RATES = ("10Gbps", "1Gbps")
MEAN = 20  # iterations whose mean is drawn and printed


def make_job(label: str, rate: str) -> dt.TrainingJob:
    """Return the training with a codec."""
    return dt.TrainingJob(
        gradients=TRAINING, ranks=4, rate=rate, iterations=400, warmup=0, **CODECS[label]
    )


def draw(results: dict[tuple[str, str], dt.TrainingResult], path: str) -> None:
    """Draw a panel for each rate, with one legend below."""
    import matplotlib.pyplot
    import pandas

    figure, panels = matplotlib.pyplot.subplots(
        1, len(RATES), figsize=(10, 4.8), sharey=True, layout="constrained"
    )
    for axes, rate in zip(panels, RATES):
        dt.plot.accuracy_over_time({x: results[rate, x] for x in CODECS}, axes)
        for line in axes.get_lines():
            # Curves with and without error feedback have the same color.
            family, _, feedback = str(line.get_label()).partition(", ")
            line.set(color=f"C{list(CODECS).index(family)}", linestyle="--" if feedback else "-")
            rolling = pandas.Series(line.get_ydata()).rolling(MEAN, min_periods=1)
            line.set(ydata=rolling.mean(), linewidth=1.5)
        ends = [line.get_xdata()[-1] for line in axes.get_lines()]
        axes.set(xscale="log", xlim=(min(ends) / 10, 1.2 * max(ends)), ylim=(50, 83))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set_title(f"MLP on 4 workers, {rate}, RDMA, ring", loc="left", fontsize=10)
        axes.get_legend().remove()
    figure.legend(
        *panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False
    )
    figure.savefig(path, dpi=110)


def main(path: str | None = None) -> None:
    """Run the trainings in parallel, print their ends, and draw them into a file."""
    labels = [(rate, label) for rate in RATES for label in CODECS]
    jobs = [make_job(label, rate) for rate, label in labels]
    results: dict[tuple[str, str], dt.TrainingResult] = {}
    for index, result in dt.run_each(jobs):
        if isinstance(result, Exception):
            raise result
        assert isinstance(result, dt.TrainingResult)
        results[labels[index]] = result
    print(f"{'rate':<8}{'codec':<34}{'time (ms)':>10}{'loss':>8}{'accuracy':>10}{'drift':>9}")
    for rate, label in labels:
        rows = results[rate, label].learning
        print(
            f"{rate:<8}{label:<34}{1e3 * rows['end_s'].iloc[-1]:>10.2f}"
            f"{rows['training_loss'].iloc[-MEAN:].mean():>8.4f}"
            f"{100 * rows['test_accuracy'].iloc[-MEAN:].mean():>8.1f} %"
            f"{rows['drift'].iloc[-1]:>9.3g}"
        )
    if path:
        draw(results, path)


if __name__ == "__main__":
    main(*sys.argv[1:2])
