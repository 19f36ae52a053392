# SPDX-License-Identifier: GPL-2.0-only

"""Runs that derive have the counters of runs that simulate."""

import pytest

import distributed_training as dt

# Tensor parallelism on NVLink, with pipeline and data parallelism between servers.
SMALL = {
    "tensor": 4,
    "pipeline": 2,
    "data": 2,
    "sequence": 512,
    "global_batch": 8,
    "sequence_parallel": True,
    "topology": "rail-optimized:servers=4,gpus=4",
    "rate": "400Gbps",
    "gpu": "h100",
}
JOBS = {
    "tensor": {**SMALL, "model": "megatron-1.7b", "iterations": 1, "warmup": 0},
    "several": {**SMALL, "model": "megatron-1.7b", "iterations": 6, "warmup": 1},
    "data": {"workload": "alexnet", "ranks": 4, "iterations": 8, "warmup": 0},
}


@pytest.mark.parametrize("job", JOBS)
def test_bits_and_energy_agree(tmp_path, job):
    links = {}
    energies = {}
    runs = {}
    for repeat in ("derive", "simulate"):
        results = tmp_path / f"{repeat}.sqlite"
        run = dt.TrainingJob(**JOBS[job], repeat=repeat, energy="h100", results=results).run()
        runs[repeat] = run.data
        frame = dt.read_results(results, "link_counter")
        links[repeat] = frame.set_index(["node", "port"])
        energies[repeat] = run.data["energy"]
    derived, simulated = runs["derive"], runs["simulate"]
    assert derived.get("collectives_derived", 0) + derived.get("iterations_derived", 0) > 0
    assert derived["iteration_time_s"] == pytest.approx(simulated["iteration_time_s"], rel=1e-2)
    for name, value in energies["simulate"].items():
        if isinstance(value, (int, float)):
            assert energies["derive"][name] == pytest.approx(value, rel=1e-2), name
    for column in ("bytes", "frames", "busy_s", "utilization"):
        mine, theirs = links["derive"][column], links["simulate"][column]
        most = theirs.max()
        assert mine.to_dict() == pytest.approx(theirs.to_dict(), rel=1e-2, abs=1e-3 * most), column
    path, other = (each["critical_path"] for each in (derived, simulated))
    assert path["busiest_link_utilization"] == pytest.approx(
        other["busiest_link_utilization"], rel=1e-2
    )
    assert derived["packet_hops"] == pytest.approx(simulated["packet_hops"], rel=1e-2)
