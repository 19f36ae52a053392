# SPDX-License-Identifier: GPL-2.0-only
"""What computations and the copies of collectives cost each other."""

import pytest

WORKLOAD = """layer,parameters,forward_us,backward_us
products,0,0,3715.8
gradients,67108864,0,0
"""


@pytest.fixture
def run(program_json, tmp_path):
    """Run matrix products beside an all-reduce of 256 MiB, and return the mean iteration."""

    def run(*arguments, machine="a100-mesh4", ranks=4):
        (tmp_path / "workload.csv").write_text(WORKLOAD)
        return program_json(
            "training-job",
            f"--workload={tmp_path / 'workload.csv'}",
            f"--machine={machine}",
            f"--ranks={ranks}",
            "--bucket=1G",
            "--iterations=2",
            "--warmup=0",
            *arguments,
        )

    return run


def test_calibration(run):
    """simllm, a100_hardware_envelope_v1: 1944.4 and 3715.8 us alone, 2880.1 and 4313.0 together."""
    alone = run("--overlap-cost=none")
    together = run()
    assert alone["communication_time_s"] == pytest.approx(1944.4e-6, rel=0.02)
    assert together["communication_time_s"] == pytest.approx(2880.1e-6, rel=0.02)
    assert alone["overlap_cost_s"] == 0
    assert together["overlap_cost_s"] == pytest.approx((4313.0 - 3715.8) * 1e-6, rel=0.02)
    lost = together["iteration_time_s"] - alone["iteration_time_s"]
    assert lost == pytest.approx(together["overlap_cost_s"], rel=0.02)
    parts = ("bubble_s", "exposed_communication_s", "other_idle_s", "compute_time_s")
    assert together["iteration_time_s"] == pytest.approx(
        sum(together[part] for part in parts), rel=0.002
    )


def test_one_of_both(run):
    both = [run(f"--overlap-cost=compute={c},copies={k}") for c, k in ((2, 1), (1, 4))]
    none = run("--overlap-cost=none")
    # Products at half their pace for as long as the all-reduce takes, 1.9 ms.
    halved = none["communication_time_s"] / 2
    assert both[0]["overlap_cost_s"] == pytest.approx(halved, rel=0.01)
    unchanged = pytest.approx(none["communication_time_s"], rel=1e-3)
    assert both[0]["communication_time_s"] == unchanged
    assert both[1]["overlap_cost_s"] == 0
    assert both[1]["communication_time_s"] > 1.5 * none["communication_time_s"]


@pytest.mark.parametrize("cost", ["none", "auto", "compute=1.5,copies=2"])
def test_shortcuts_change_nothing(run, cost):
    times = [
        run(f"--overlap-cost={cost}", *words)["iterations"]
        for words in (["--steady-state=simulate"], ["--steady-state=skip"], ["--repeat=derive"])
    ]
    for row in zip(*times):
        assert len({(each["iteration_time_s"], each["communication_time_s"]) for each in row}) == 1


def test_sums_in_switches_cost_nothing(run):
    document = run(machine="dgx-h100", ranks=8)
    assert document["overlap_cost_s"] == 0


@pytest.mark.parametrize(
    "text",
    ["1.2", "compute=1.2", "compute=0.5,copies=1", "copies=2,compute=1", "compute=1,copies=x", "x"],
)
def test_refusals(program, text):
    process = program("training-job", "--machine=dgx-h100", f"--overlap-cost={text}")
    assert process.returncode == 2 and process.stdout == ""
    assert "allowed: auto, none, or compute=FACTOR,copies=FACTOR" in process.stderr


def test_needs_a_host_model(program):
    process = program("training-job", "--overlap-cost=compute=1.2,copies=1.4")
    assert process.returncode == 2
    assert "host model none" in process.stderr
