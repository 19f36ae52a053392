/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SCHEDULE_INTERPRETER_H
#define DISTRIBUTED_TRAINING_SCHEDULE_INTERPRETER_H

#include "collective-schedule.h"

#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * Proves that a schedule does what its operation promises, by symbolic execution: each chunk at
 * each rank is the multiset of contributions it consists of. Found are: an action that waits for a
 * later one or for itself, a message that is never sent or never received, a chunk sent before
 * there is anything in it, two unordered actions on one chunk of which one writes it, a
 * contribution added twice or lost.
 *
 * @param schedule to be proven
 * @return empty if it is right; otherwise one line that names the rank, the step and the fault
 */
std::string VerifySchedule(const CollectiveSchedule& schedule);

/**
 * @ingroup distributed-training-collective
 *
 * Carries out a schedule in plain memory, without a network or time. The additions are the same in
 * the same order as over the network, so the results are equal bit by bit.
 *
 * @param schedule a right one
 * @param inputs each rank's vector; all of one length
 * @return each rank's vector afterwards
 */
std::vector<std::vector<float>> InterpretSchedule(const CollectiveSchedule& schedule,
                                                  std::vector<std::vector<float>> inputs);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SCHEDULE_INTERPRETER_H
