# SPDX-License-Identifier: GPL-2.0-only
"""Runs a program in several processes, on one machine or several."""

import os
import re
from pathlib import Path

from .console import Failure

PARENT_VARIABLE = "DISTRIBUTED_TRAINING_PARENT"  # programs end with the process of this id


def count_slots(path):
    """Return the number of processes that the machines of a file of Open MPI take."""
    try:
        lines = Path(path).read_text(encoding="ascii").splitlines()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise Failure(
            f"--hostfile={path}: {reason}; allowed are readable files with lines NAME slots=N"
        ) from None
    slots = 0
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0]
        if not words.strip():
            continue
        match = re.fullmatch(r"\s*[\w.:@-]+(?:\s+slots\s*=\s*([1-9]\d{0,3}))?\s*", words)
        if not match:
            raise Failure(f"{path}:{number}: {line.strip()}: allowed are NAME and NAME slots=N")
        slots += int(match[1] or 1)
    return slots


def mpi_run(processes, command, cores, hostfile=None):
    """Become mpirun, without its own checks and messages: there may be more processes than cores,
    root is allowed, and the program reports its errors itself. With a file of machines, which have
    the build under the same path, mpirun starts and ends the processes there."""
    options = {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_orte_execute_quiet": "1",
    }
    machines = []
    if hostfile is not None:
        slots = count_slots(hostfile)
        if int(processes) > slots:
            raise Failure(f"--mpi={processes}: {hostfile} has {slots} slots; allowed is up to that")
        machines = ["--hostfile", hostfile]
    else:
        options[PARENT_VARIABLE] = str(os.getpid())  # which becomes that of mpirun
    if hostfile is None and int(processes) > cores:
        options["OMPI_MCA_rmaps_base_oversubscribe"] = "1"
        options["PRTE_MCA_rmaps_default_mapping_policy"] = ":oversubscribe"
    else:  # a process that moves from core to core loses its cache
        options["OMPI_MCA_hwloc_base_binding_policy"] = "core"
        options["PRTE_MCA_hwloc_default_binding_policy"] = "core"
    command = ["mpirun", *machines, "-n", processes, *map(str, command)]
    os.execvpe(command[0], command, {**os.environ, **options})
