# SPDX-License-Identifier: GPL-2.0-only
"""Warnings that a colleague would give, each with the option that mends it."""

import json

import distributed_training as dt
import pytest

GPT = ("--model=gpt3-175b", "--sequence=64", "--iterations=1", "--warmup=0")
TREE = "--topology=fat-tree:k=4"
MACHINE = "--topology=rail-optimized:gpus=8,servers=2"


@pytest.mark.parametrize("run", range(1, 9))
def test_collisions_of_ecmp_are_those_of_the_links(program_json, tmp_path, run):
    """Each host sends to every other one: with two spines, uplinks differ by what ECMP chose."""
    results = tmp_path / "run.sqlite"
    document = program_json(
        "collective-benchmark",
        "--topology=leaf-spine:leaves=2,hosts-per-leaf=2,spines=2",
        "--ranks=4",
        "--operation=all-to-all",
        "--collective=direct",
        "--bytes=4M",
        "--warmup=0",
        f"--results={results}",
        f"--RngRun={run}",
    )
    links = dt.read_results(results, "link_counter").set_index(["node", "peer"])["bytes"]
    most = 0.0
    for leaf in ("switch0", "switch1"):
        sent = [links[leaf, spine] for spine in ("switch2", "switch3")]
        if max(sent) >= 0.75 * sum(sent):  # 1.5 times the mean of two
            most = max(most, max(sent))
    hosts = max(bytes for ends, bytes in links.items() if any("host" in end for end in ends))
    collides = [text for text in document["warnings"] if text.startswith("flows collide by ecmp")]
    assert len(collides) == (most > hosts)
    assert all("--path=adaptive" in text for text in collides)


def test_no_collisions_with_other_paths(program_json):
    arguments = (TREE, "--ranks=16", "--operation=all-to-all", "--collective=direct", "--bytes=1M")
    for path in ("adaptive", "spray"):
        document = program_json("collective-benchmark", *arguments, f"--path={path}")
        assert not any("ecmp" in text for text in document["warnings"])


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((TREE, "--tensor=8", "--gpu=h100"), "a GPU needs 3"),
        ((TREE, "--tensor=8", "--gpu=h100"), "tensor groups of 8 ranks have no server"),
        ((TREE, "--tensor=8", "--rate=400Gbps"), None),
        ((MACHINE, "--tensor=8", "--pipeline=2"), None),
        ((MACHINE, "--tensor=16"), "tensor groups of 16 ranks span 2 servers of 8 GPUs"),
        ((MACHINE, "--tensor=1", "--pipeline=16"), None),
    ],
)
def test_groups_that_leave_their_server_and_memory(program_json, arguments, text):
    ranks = 16 if MACHINE in arguments else 8
    document = program_json("training-job", *GPT, f"--ranks={ranks}", *arguments)
    found = [each for each in document["warnings"] if "tensor groups" in each or "memory" in each]
    if text:
        assert sum(each.startswith(text) for each in found) == 1
    else:
        assert not any("tensor groups" in each for each in found)


def test_memory_is_that_of_the_check(program_json):
    arguments = (*GPT, TREE, "--ranks=8", "--tensor=8")
    document = program_json("training-job", *arguments)
    check = program_json("training-job", *arguments, "--check")
    needed = f"a GPU needs {check['memory_per_gpu_bytes'] / 1e9:.1f} GB of memory, a100 has 80 GB"
    assert any(each.startswith(needed) for each in document["warnings"])
    small = ("--model=llama3-8b", "--sequence=64", "--tensor=2", "--gpu=h200", "--iterations=1", "--ranks=2")
    assert not any("memory" in each for each in program_json("training-job", *small)["warnings"])


LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 256,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 1000,
    "max_position_embeddings": 128,
    "hidden_act": "silu",
    "tie_word_embeddings": False,
}
PARAMETERS = 2 * 1000 * 64 + 2 * (64 * 64 * 2 + 64 * 32 * 2 + 3 * 64 * 256 + 2 * 64) + 64


@pytest.mark.parametrize(
    ("name", "given", "difference", "warns"),
    [
        ("llama-3.1-0.2512m.json", (), "0 % more", False),
        ("llama-3.1-0.2512m.json", ("--expect-parameters=248000",), "1.29 % more", True),
        ("Llama-0.252M-chat/config.json", (), "0.32 % less", False),
        ("llama_0.3m.json", (), "16.27 % less", True),
        ("llama-8x7b.json", (), None, False),
        ("llama.json", ("--expect-parameters=251e3",), "0.08 % more", False),
    ],
)
def test_parameters_are_those_expected(program, tmp_path, name, given, difference, warns):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(LLAMA))
    words = (f"--model={path}", "--ranks=1", "--gpu=h100", *given)
    check = program("training-job", *words, "--check").stdout
    run = program("training-job", *words, "--iterations=1").stdout
    assert f"1 ranks, {PARAMETERS} parameters" in check
    for text in (check, run):
        assert (f"{difference} than the " in text) == (difference is not None)
        assert ("(--silence=parameters)" in text) == warns
    strict = program("training-job", *words, "--check=strict")
    assert strict.returncode == (2 if warns else 0)


def test_strict_check_refuses_too_much_memory(program, tmp_path):
    words = ("--model=llama3-405b", "--ranks=8", "--tensor=8", "--gpu=h100")
    check = program("training-job", *words, "--check")
    assert check.returncode == 0 and "warning: a GPU needs " in check.stdout
    strict = program("training-job", *words, "--check=strict", f"--json={tmp_path}/check.json")
    assert (strict.returncode, strict.stdout) == (2, "") and strict.stderr.count("\n") == 1
    assert "GB of memory, h100 has 80 GB" in strict.stderr and not list(tmp_path.iterdir())
    bad = program("training-job", *words, "--check=maybe")
    assert bad.returncode == 2 and "--check=maybe (allowed: false|true|strict)" in bad.stderr
    assert dt.TrainingJob(check=True).get_arguments() == ["--check=true"]
