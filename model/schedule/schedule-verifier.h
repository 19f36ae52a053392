/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SCHEDULE_VERIFIER_H
#define DISTRIBUTED_TRAINING_SCHEDULE_VERIFIER_H

#include "collective-schedule.h"

#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * Proves by symbolic execution that a schedule delivers the promise of its operation: the state of
 * a chunk at a rank is the set of contributions in it. Beyond the faults of OrderSchedule() it
 * finds: two unordered actions on one chunk of which one writes, a chunk that is sent while empty,
 * a contribution that is added twice or lost, a chunk that is overwritten by other content.
 *
 * Chunks are examined one by one; of chunks that rotation makes equal, only one is. The time is
 * proportional to (sends and receives of a chunk) * chunks * ranks / 64.
 *
 * @param schedule to be proven, closed
 * @return empty if it is right; otherwise one line with the rank, the step and the fault
 */
std::string VerifySchedule(const CollectiveSchedule& schedule);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SCHEDULE_VERIFIER_H
