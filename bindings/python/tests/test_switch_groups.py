# SPDX-License-Identifier: GPL-2.0-only
"""Sums in switches for groups of a parallel job."""

import json

import pytest
from conftest import ask

MODEL = {
    "model_type": "llama",
    "hidden_size": 1024,
    "num_hidden_layers": 2,
    "num_attention_heads": 8,
    "num_key_value_heads": 8,
    "intermediate_size": 4096,
    "vocab_size": 1024,
    "max_position_embeddings": 4096,
    "attention_bias": False,
    "mlp_bias": False,
    "tie_word_embeddings": False,
}
JOB = ["--machine=dgx-h100", "--sequence=2048", "--global-batch=4", "--warmup=0", "--iterations=2"]
ONE_SERVER = ["--tensor=4", "--data=2", "--ranks=8"]
TWO_SERVERS = ["--tensor=8", "--data=2", "--ranks=16"]
LARGE = "nvls:elements-per-packet=2048,slots=128"
SOME = "switches sum for 2 of 10 groups, hosts for other groups"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Write a small transformer."""
    path = tmp_path_factory.mktemp("model") / "tiny.json"
    path.write_text(json.dumps(MODEL))
    return f"--model={path}"


@pytest.mark.parametrize(
    ("words", "note"),
    [
        ([*ONE_SERVER, "--collective=nvls"], "nvls: switches sum for 6 of 6 groups"),
        ([*TWO_SERVERS, "--collective=nvls"], f"nvls: {SOME}"),
        (TWO_SERVERS, f"nccl: {SOME}"),
        (
            [*TWO_SERVERS, "--collective=nvls-tree"],
            "nvls-tree: switches sum for all ranks, hosts for other groups",
        ),
        ([*TWO_SERVERS, "--host-model=nccl:gpu=ampere"], ""),
    ],
)
def test_a_note_tells_who_sums(program, model, words, note):
    process = program("training-job", model, *JOB, *words, "--iterations=1")
    assert process.returncode == 0, process.stderr
    notes = [line for line in process.stdout.splitlines() if "switches sum" in line]
    assert notes == ([f"# {note}"] if note else [])


def test_tensor_groups_gain_and_nothing_is_lost(program_json, model):
    # The traffic alone, of large tensors.
    words = [*TWO_SERVERS, "--host-model=none", "--sequence=8192", "--global-batch=2"]
    by_rings = program_json("training-job", model, *JOB, *words, "--collective=ring")
    by_switches = program_json("training-job", model, *JOB, *words, "--collective=nvls")
    assert by_switches["exposed_tensor_s"] < by_rings["exposed_tensor_s"]
    assert by_switches["lower_bound_s"] < by_switches["communication_time_s"]
    assert by_switches["in_network"]["sent"] > 0
    network = by_switches["network"]
    for quantity in ("repeated_packets", "dropped_frames", "pause_frames"):
        assert network[quantity] == 0


@pytest.mark.parametrize(
    ("option", "words", "derived"),
    [
        ("--repeat=derive", [*ONE_SERVER, "--path=ecmp", f"--collective={LARGE}"], "iterations"),
        ("--replicas=derive", [*TWO_SERVERS, f"--collective={LARGE}"], "ranks"),
        ("--replicas=derive", TWO_SERVERS, "ranks"),
    ],
)
def test_what_is_derived_equals_what_is_simulated(program_json, model, option, words, derived):
    job = ["training-job", model, *JOB, *words, "--iterations=6"]
    full, some = program_json(*job), program_json(*job, option)
    assert some[f"{derived}_derived"] > 0
    for quantity in ("iteration_time_s", "communication_time_s", "in_network", "network"):
        assert some[quantity] == full[quantity]


def test_micro_batches_are_simulated(program, model):
    words = ["--tensor=4", "--pipeline=2", "--ranks=8", "--global-batch=16", "--collective=nvls"]
    process = program("training-job", model, *JOB, *words, "--micro-batches=derive")
    assert process.returncode == 0, process.stderr
    assert "switches or NICs that compute collectives is not compared" in process.stdout


def test_records_name_group_and_algorithm(program, model, tmp_path):
    path = tmp_path / "job.sqlite"
    words = [*TWO_SERVERS, "--collective=nvls", f"--results={path}"]
    process = program("training-job", model, *JOB, *words)
    assert process.returncode == 0, process.stderr
    rows = ask(
        path,
        "SELECT algorithm, count(DISTINCT rank), count(DISTINCT communicator) FROM collective "
        "GROUP BY algorithm ORDER BY algorithm",
    )
    assert rows == [("nvls", 16, 1), ("ring", 16, 1)]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--payload=real"], "sums in switches (allowed: virtual"),
        (["--gradient-priority=layer", *ONE_SERVER], "with sums in switches"),
        (["--collective=nvls:window=3"], "with a window of 3 (allowed: from 8, its trees)"),
    ],
)
def test_what_does_not_go_together_is_refused(program, model, words, message):
    process = program("training-job", model, *JOB, *TWO_SERVERS, "--collective=nvls", *words)
    assert process.returncode == 2
    assert message in process.stderr
    assert process.stderr.count("\n") == 1
