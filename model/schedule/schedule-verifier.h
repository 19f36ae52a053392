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
 * Proves by symbolic execution that a schedule delivers the result promised by its operation. The
 * state of a chunk at a rank is the set of ranks that have contributed to it. In addition to the
 * faults of OrderSchedule(), it finds races (two unordered actions on one chunk, at least one of
 * which writes), sends of empty chunks, contributions that are added twice or lost, and chunks
 * overwritten with different content.
 *
 * Chunks are examined one by one, and only one of each class of chunks equivalent under rotation.
 * The run time is proportional to (sends and receives of a chunk) * chunks * ranks / 64.
 *
 * @param schedule schedule to verify; must be closed, see CollectiveSchedule::Close()
 * @return empty if the schedule is correct; otherwise one line with the rank, the step and the
 *         fault
 */
std::string VerifySchedule(const CollectiveSchedule& schedule);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SCHEDULE_VERIFIER_H
