# SPDX-License-Identifier: GPL-2.0-only
"""The runs from which gcc learns what is executed often, for `ns3w --profile-guided`."""

import hashlib
import subprocess

from .console import Failure, work
from .system_packages import compiler

ROOMS = ("accelerate", "engine", "fabric", "rdma")  # as in build-support/profile-guided.cmake
EACH = "--ns3::training::RdmaNic::AckInterval=1"
LOSSY = "--ns3::training::SwitchDevice::FlowControl=none"

# In all some seconds: one switch and fat-trees, coalesced and single acknowledgements, packets
# sprayed over paths, drops by a full buffer, losses on links, a collective.
RUNS = [
    ["fabric-benchmark", "--workload=W1", "--bytes=10MB"],
    ["fabric-benchmark", "--workload=W2", "--bytes=4MB"],
    ["fabric-benchmark", "--workload=W2", "--bytes=1MB", "--pattern=permutation"],
    ["fabric-benchmark", "--workload=W2", "--bytes=2MB", EACH],
    ["fabric-benchmark", "--workload=W3", "--bytes=300kB"],
    ["fabric-benchmark", "--workload=W3", "--bytes=50kB", "--path=spray"],
    ["fabric-benchmark", "--pattern=incast:15", "--bytes=4MB", "--buffer=1MB", LOSSY],
    ["fabric-benchmark", "--pattern=all-to-all", "--bytes=1MB", "--loss=0.001"],
    ["collective-benchmark", "--ranks=16", "--bytes=16M"],
]
PROGRAMS = sorted({run[0] for run in RUNS})


def get_compiler():
    """Return the first line of what the C++ compiler says of its version; it must be gcc."""
    command = [*compiler(), "--version"]
    text = subprocess.run(command, capture_output=True, text=True, errors="replace").stdout
    name = (text.splitlines() or ["unknown"])[0].strip()
    if "Free Software Foundation" not in text:
        raise Failure(f"--profile-guided: the compiler is {name}; allowed is gcc")
    return name


def get_profile_key(here):
    """Return a digest that changes with the compiler, the runs, and the code that is profiled."""
    digest = hashlib.sha256(repr((get_compiler(), RUNS)).encode())
    files = set((here / "model").rglob("*.h"))
    for room in ROOMS:
        files.update((here / "model" / room).rglob("*.cc"))
    for path in sorted(files):
        digest.update(f"{path.relative_to(here)}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def record_profiles(binaries, get_program, log):
    """Run the instrumented programs, which write profiles (*.gcda) next to their objects."""
    for profile in binaries.rglob("*.gcda"):
        profile.unlink()
    for number, (name, *options) in enumerate(RUNS, 1):
        command = [get_program(name), *options, "--steady-state=simulate"]
        work(f"training run {number} of {len(RUNS)}", command, log, cwd=binaries)
    for room in ROOMS:
        if not any(f"/model/{room}/" in str(path) for path in binaries.rglob("*.gcda")):
            raise Failure(f"--profile-guided: no profile of model/{room} in {binaries}", 1)
