# SPDX-License-Identifier: GPL-2.0-only
"""Outputs that pages of the documentation show, in whole or in part, are those of the programs today."""

import re

import pytest
from conftest import REPOSITORY

CHECKPOINTS = ["checkpoint-times", "--ranks=12", "--topology=fat-tree:k=4", "--storage-hosts=4"]
FAILURES = "--fail=rank1:60ms,node0:130ms,node2:136ms"

# Page, the first line of the block, which of these blocks it is, and the command.
BLOCKS = [
    ("job-life", "16384 GPUs in 2048 nodes", 0, ["job-life"]),
    ("job-life", "Effective training time", 0, ["job-life"]),
    ("job-life", "Published figures", 0, ["job-life"]),
    ("job-life", "resnet50 (25.6 M", 0, CHECKPOINTS),
    ("job-life", "resnet50 (25.6 M", 1, [*CHECKPOINTS, "--asynchronous=true"]),
    (
        "job-life",
        "life: 0.27",
        0,
        ["training-job", "--ranks=4", "--iterations=7", "--checkpoint=asynchronous", "--checkpoint-every=2"]
        + ["--checkpoint-bytes=20MB", FAILURES, "--spares=1", "--repair=50ms", "--detection=2ms"]
        + ["--rendezvous=5ms"],
    ),
    (
        "job-life",
        "energy (h100",
        0,
        ["training-job", "--ranks=16", "--topology=fat-tree:k=4", "--energy=h100:switch-bit=5"]
        + ["--price-gpu-hour=2"],
    ),
    ("papers/switches", "sums of 8 workers", 0, ["in-network-aggregation", "--part=sums"]),
    ("papers/switches", "published   expected", 0, ["switch-parameter-server"]),
    ("papers/topologies", "published      ours  with", 0, ["topology-codesign"]),
    (
        "pipeline-schedules",
        "schedule gpipe",
        0,
        ["training-job", "--model=llama3-8b", "--pipeline=4", "--data=1", "--global-batch=8"]
        + ["--schedule=gpipe", "--check"],
    ),
    ("switch-programs", "1000 barriers", 0, ["switch-barrier"]),
    (
        "switchml",
        "warning: slots=2048",
        0,
        ["collective-benchmark", "--collective=switchml", "--ranks=4", "--rate=800Gbps", "--delay=5us"]
        + ["--bytes=16M"],
    ),
]


@pytest.mark.extensive
@pytest.mark.parametrize(
    "page, first, number, words", BLOCKS, ids=[f"{page}: {words[0]}" for page, _, _, words in BLOCKS]
)
def test_a_block_is_what_the_program_prints(program, page, first, number, words):
    text = (REPOSITORY / f"doc/{page}.rst").read_text(encoding="ascii")
    blocks = re.findall(r"^\.\. code-block:: none\n\n((?:   .*\n|\n)+)", text, re.M)
    block = [each for each in blocks if each.strip().startswith(first)][number]
    process = program(*words)
    assert process.returncode == 0, process.stderr
    printed = " ".join((process.stdout + process.stderr).split())
    for line in filter(None, map(str.strip, block.split("\n"))):
        assert line == "..." or " ".join(line.split()) in printed, line
