# SPDX-License-Identifier: GPL-2.0-only
"""What the package does with xarray, Optuna and joblib."""

import importlib.util
import re

import pytest

from conftest import REPOSITORY, need

import distributed_training as dt

EXAMPLES = REPOSITORY / "bindings/python/examples"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("sweep") / "runs.sqlite"


@pytest.fixture(scope="module")
def frame(store):
    """Two options that differ, two sizes, two runs; one of three transports lacks a rate."""
    jobs = dt.CollectiveBenchmark.grid(
        bytes="1K,64K", ranks=[2, 4], rate=["10Gbps", "100Gbps"], loss=0.01
    )
    jobs += dt.CollectiveBenchmark.grid(
        bytes="1K,64K", ranks=[2, 4], rate="25Gbps", loss=0.01, transport="uec"
    )
    return dt.sweep(jobs, store=store, runs=2)


def test_a_sweep_has_the_dimensions_of_its_jobs(frame):
    need("xarray")
    data = dt.to_xarray(frame)
    assert dict(data.sizes) == {"ranks": 2, "rate": 3, "transport": 2, "bytes": 2}
    for row in frame.itertuples():
        place = {name: getattr(row, name) for name in data.sizes}
        assert float(data["time_us"].sel(place)) == row.time_us
        assert float(data["time_us_95"].sel(place)) == row.time_us_95
    assert int(data["time_us"].notnull().sum()) == len(frame) == 12
    assert data.attrs["program"] == "collective-benchmark" and data.attrs["runs"] == 2
    mean = data["time_us"].sel(transport="uec", rate="25Gbps", bytes=1024).mean("ranks")
    assert float(mean) == frame.query("transport == 'uec' and bytes == 1024")["time_us"].mean()


def test_runs_are_a_dimension(frame, store):
    need("xarray")
    each = dt.read_sweep(store, each_run=True)
    data = dt.to_xarray(each)
    assert data.sizes["run"] == 2
    means = (
        data["time_us"].mean("run").stack(all=("ranks", "rate", "transport", "bytes")).dropna("all")
    )
    assert sorted(means.values) == pytest.approx(sorted(frame["time_us"]), rel=1e-12)


def test_rows_of_one_place_are_refused(frame):
    need("xarray")
    import pandas

    with pytest.raises(ValueError, match="24 rows share a place by ranks, rate"):
        dt.to_xarray(pandas.concat([frame, frame]))


def test_one_job_has_the_dimension_job():
    need("xarray")
    data = dt.to_xarray(dt.sweep([dt.CollectiveBenchmark(ranks=2, bytes="1K")]))
    assert dict(data.sizes) == {"job": 1}


@pytest.mark.extensive
def test_search_with_pruning():
    optuna = need("optuna")
    spec = importlib.util.spec_from_file_location("search", EXAMPLES / "optuna_search.py")
    search = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(search)
    study = search.main("16")
    states = [trial.state for trial in study.trials]
    assert len(states) == 16 and states.count(optuna.trial.TrialState.PRUNED) > 0
    whole = [t for t in study.trials if t.state == optuna.trial.TrialState.COMPLETE]
    assert all(len(trial.intermediate_values) == search.RUNS for trial in whole)
    assert study.best_value == min(trial.value for trial in whole)
    best = dict(study.best_params)
    spines = best.pop("spines")
    topology = f"leaf-spine:leaves=4,spines={spines},hosts-per-leaf=4"
    job = dt.CollectiveBenchmark(ranks=16, bytes="1M", topology=topology, **best)
    (mean,) = dt.sweep([job], runs=search.RUNS)["time_us"]
    assert study.best_value == pytest.approx(mean + 2 * spines)


@pytest.mark.extensive
def test_sweep_by_joblib(tmp_path, monkeypatch):
    """The page's script, with joblib's own workers in place of Ray's."""
    need("joblib")
    text = (REPOSITORY / "doc/sweeps-ray.rst").read_text(encoding="ascii")
    (script,) = re.findall(r"code-block:: python\n\n((?:   .*\n|\n)+)", text)
    script = re.sub("^   ", "", script, flags=re.M)
    script = re.sub(r"^ *(?:import ray|from ray|ray\.|register_ray).*\n", "", script, flags=re.M)
    assert '"ray"' in script and "ray." not in script
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    exec(compile(script.replace('"ray"', '"threading"'), "page", "exec"), names)
    assert len(names["frame"]) == 6 and len(list(tmp_path.glob("*.sqlite"))) == 6
    started = list(names["frame"]["started"])
    exec(compile(script.replace('"ray"', '"threading"'), "page", "exec"), names)
    assert list(names["frame"]["started"]) == started  # kept, not made again
