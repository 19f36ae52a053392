# SPDX-License-Identifier: GPL-2.0-only
"""Requirements of each release of ns-3, from ../ns3-versions.txt."""

import re
from pathlib import Path

TABLE = Path(__file__).parents[1] / "ns3-versions.txt"


def minor_number(release):
    """Return a release as a number for comparisons: 37 for "3.37"; 3-dev counts as the newest."""
    match = re.match(r"3\.(\d+)", release)
    return int(match.group(1)) if match else 999


def requirements(release):
    """Return (C++ standard, version of cppyy or None if there is none) for a release."""
    answer = None
    for line in TABLE.read_text(encoding="ascii").splitlines():
        if line.strip().startswith("3."):
            first, standard, cppyy = line.split()
            if minor_number(release) >= minor_number(first):
                answer = int(standard), None if cppyy == "none" else cppyy
    return answer
