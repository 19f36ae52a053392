# SPDX-License-Identifier: GPL-2.0-only
"""Runs a program in several processes."""

import os

PARENT_VARIABLE = "DISTRIBUTED_TRAINING_PARENT"  # programs end with the process of this id


def mpi_run(processes, command, cores):
    """Become mpirun, without its own checks and messages: there may be more processes than cores,
    root is allowed, and the program reports its errors itself."""
    options = {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_orte_execute_quiet": "1",
        PARENT_VARIABLE: str(os.getpid()),  # which becomes that of mpirun
    }
    if int(processes) > cores:
        options["OMPI_MCA_rmaps_base_oversubscribe"] = "1"
        options["PRTE_MCA_rmaps_default_mapping_policy"] = ":oversubscribe"
    else:  # a process that moves from core to core loses its cache
        options["OMPI_MCA_hwloc_base_binding_policy"] = "core"
        options["PRTE_MCA_hwloc_default_binding_policy"] = "core"
    command = ["mpirun", "-n", processes, *map(str, command)]
    os.execvpe(command[0], command, {**os.environ, **options})
