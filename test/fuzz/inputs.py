# SPDX-License-Identifier: GPL-2.0-only
"""Valid input files: what the fuzzers begin with."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build-support/simulated-times/inputs"


def read(name):
    return (FOLDER / name).read_bytes()


WORKLOAD = b"""layer,parameters,forward_us,backward_us
input,64,10,20
output,200,20,40
"""
