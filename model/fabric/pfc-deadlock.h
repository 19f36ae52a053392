/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PFC_DEADLOCK_H
#define DISTRIBUTED_TRAINING_PFC_DEADLOCK_H

#include "training-fabric.h"

#include <cstdint>
#include <string>

namespace ns3::training
{

/**
 * A deadlock of flow control: a cycle of switch queues that wait for each other's pauses or
 * credits.
 */
struct PfcDeadlock
{
    std::string cycle;      ///< such as "switch0 -> switch1 -> switch0 (priority 3)"; empty: none
    uint64_t sentFrames{0}; ///< total frames sent by the queues of the cycle
};

/**
 * @ingroup distributed-training-helper
 *
 * Searches for a deadlock of flow control, that is, a cyclic buffer dependency: a cycle of paused
 * switch ports, or ports without credits, each of which waits for buffer space in the next switch
 * (Hu et al., "Deadlocks in datacenter networks", HotNets 2016). A cycle may be temporary. If its
 * ports have sent no frames since a much earlier check, it is a permanent deadlock.
 *
 * @param fabric the fabric in its current state
 * @return the current cycle, if any. Collective call (see Processes)
 */
PfcDeadlock FindPfcDeadlock(const Fabric& fabric);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PFC_DEADLOCK_H
