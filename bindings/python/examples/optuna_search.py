# SPDX-License-Identifier: GPL-2.0-only
"""A search by Optuna for a fast collective at few ports, which ends trials without hope early.

    ./ns3w python -m pip install optuna
    ./ns3w python bindings/python/examples/optuna_search.py 20

A trial has up to three runs with different random numbers. After each it reports its mean, and Optuna
prunes a trial that is worse than the median of the others after as many runs.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import distributed_training as dt

if TYPE_CHECKING:
    import optuna

RUNS = 3


def measure(trial: optuna.Trial) -> float:
    """Return the time of an all-reduce of 1 MiB on 16 ranks, in us, plus 2 us for each spine."""
    import optuna

    spines = trial.suggest_int("spines", 1, 4)
    job = {
        "ranks": 16,
        "bytes": "1M",
        "topology": f"leaf-spine:leaves=4,spines={spines},hosts-per-leaf=4",
        "collective": trial.suggest_categorical("collective", ["ring", "rabenseifner", "direct"]),
        "path": trial.suggest_categorical("path", ["ecmp", "spray"]),
    }
    times: list[float] = []
    for run in range(1, RUNS + 1):
        result = dt.CollectiveBenchmark(**job, run=run).run()
        times.append(float(result.rows["time_us"][0]))
        mean = sum(times) / len(times)
        trial.report(mean + 2 * spines, step=run)
        if run < RUNS and trial.should_prune():
            raise optuna.TrialPruned()
    return mean + 2 * spines


def main(trials: str = "20") -> optuna.Study:
    """Return the study after a number of trials."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(
        sampler=optuna.samplers.TPESampler(seed=1),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=5),
    )
    study.optimize(measure, n_trials=int(trials))
    return study


if __name__ == "__main__":
    found = main(*sys.argv[1:2])
    states = [trial.state.name for trial in found.trials]
    print(f"{states.count('COMPLETE')} trials, {states.count('PRUNED')} pruned")
    print(f"{found.best_value:.1f} with {found.best_params}")
