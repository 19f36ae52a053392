/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PARENT_PROCESS_H
#define DISTRIBUTED_TRAINING_PARENT_PROCESS_H

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Makes the kernel kill this process when its parent dies, also by SIGKILL, if the environment
 * variable DISTRIBUTED_TRAINING_PARENT has a process id. Whoever starts programs whose results
 * nobody else will read sets it to its own: the Python package, and `ns3w` for mpirun. Kills at
 * once if that process is gone already. Does nothing where the kernel is not Linux.
 */
void EndWithParent();

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PARENT_PROCESS_H
