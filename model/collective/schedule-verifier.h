/*
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
 * Proves that a schedule does what its operation promises, by symbolic execution: each chunk at
 * each rank is the set of contributions it consists of. Found are, beside what OrderSchedule()
 * finds: two unordered actions on one chunk of which one writes it, a chunk sent before there is
 * anything in it, a contribution added twice or lost, a chunk overwritten by other content.
 *
 * Chunks are looked at one by one, and of those that rotation makes alike only one. It takes time
 * in proportion to (sends and receives of a chunk) * chunks * ranks / 64.
 *
 * @param schedule to be proven, closed
 * @return empty if it is right; otherwise one line that names the rank, the step and the fault
 */
std::string VerifySchedule(const CollectiveSchedule& schedule);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SCHEDULE_VERIFIER_H
