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

/** A cycle of paused queues of switch ports that wait for each other. */
struct PfcDeadlock
{
    std::string cycle;      ///< such as "switch0 -> switch1 -> switch0 (priority 3)"; empty: none
    uint64_t sentFrames{0}; ///< by the queues of the cycle until now
};

/**
 * @ingroup distributed-training-helper
 *
 * Looks for a deadlock of priority flow control: a cycle of paused switch ports, each of which
 * waits for a switch whose memory holds frames for the next one (cyclic buffer dependency; Hu et
 * al., "Deadlocks in datacenter networks", HotNets 2016). A cycle whose ports have sent nothing
 * since an earlier look, long ago, does not open any more.
 *
 * @param fabric the fabric, at this moment
 * @return the cycle that is there now, if any. All processes together (see Processes)
 */
PfcDeadlock FindPfcDeadlock(const Fabric& fabric);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PFC_DEADLOCK_H
