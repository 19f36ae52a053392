# SPDX-License-Identifier: GPL-2.0-only
"""The example that draws timelines of pipelines."""

import importlib.util
import sys

import pytest

from conftest import PACKAGE

EXAMPLE = PACKAGE / "examples/pipeline_timeline.py"
ROUNDING = 1e-6  # us: a timeline has picoseconds


@pytest.fixture(scope="module")
def example():
    specification = importlib.util.spec_from_file_location(EXAMPLE.stem, EXAMPLE)
    module = importlib.util.module_from_spec(specification)
    sys.modules[EXAMPLE.stem] = module  # where data classes look for their types
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize("schedule, chunks", [("1f1b", 1), ("interleaved:v=2", 2)])
def test_passes_are_those_of_the_schedule(example, schedule, chunks):
    time_ms, events = example.run(schedule, "100Gbps")
    passes = example.find_passes(events, chunks)
    stages = example.STAGES * chunks
    found = {(p.is_forward, p.chunk * example.STAGES + p.rank, p.micro_batch): p for p in passes}
    # Each micro-batch passes each stage once in each direction, after the stage before it.
    assert len(found) == len(passes) == 2 * stages * example.MICRO_BATCHES
    for (is_forward, stage, micro_batch), one in found.items():
        before = stage - 1 if is_forward else stage + 1
        if 0 <= before < stages:
            assert found[is_forward, before, micro_batch].end < one.start
        elif not is_forward:
            assert found[True, stage, micro_batch].end <= one.start + ROUNDING
    for rank in range(example.STAGES):
        own = sorted((p for p in passes if p.rank == rank), key=lambda p: p.start)
        assert all(a.end <= b.start + ROUNDING for a, b in zip(own, own[1:]))
    assert max(p.end for p in passes) * 1e-3 < time_ms
    messages = example.find_messages(events)
    assert len(messages) == 2 * (stages - 1) * example.MICRO_BATCHES

