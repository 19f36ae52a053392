/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_DISSEMINATION_PHASES_H
#define DISTRIBUTED_TRAINING_DISSEMINATION_PHASES_H

#include "collective-phases.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * Appends an all-reduce by dissemination: with distance d = 1, 2, 4, ... every rank sends its sum
 * of d vectors d ranks ahead, and adds the one it gets (Hou et al., "Co-designing the
 * topology/algorithm to accelerate distributed training"). If the number of ranks is no power of
 * two, sums whose lengths are its binary digits are put together instead of the last step:
 * floor(log2 N) steps and one for each digit 1 but the first.
 *
 * @param schedule to be appended to; the rank keeps a copy of the chunks for each of those digits
 * @param ranks who takes part, in order
 * @param chunks the vector
 * @param step the first step
 * @param message number of the messages of each step
 * @return the step behind the last
 */
uint32_t AddDisseminationAllReduce(CollectiveSchedule& schedule,
                                   const std::vector<uint32_t>& ranks,
                                   const ChunkList& chunks,
                                   uint32_t step,
                                   uint32_t message = 0);

/**
 * @ingroup distributed-training-collective
 *
 * Appends an all-gather by dissemination: with distance d = 1, 2, 4, ... every rank sends all it
 * has d ranks ahead, but in the last step only what is missing there; ceil(log2 N) steps.
 *
 * @param schedule to be appended to
 * @param group who takes part, in order
 * @param step the first step
 * @param message number of the messages of each step
 * @return the step behind the last
 */
uint32_t AddDisseminationAllGather(CollectiveSchedule& schedule,
                                   const PhaseGroup& group,
                                   uint32_t step,
                                   uint32_t message = 0);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_DISSEMINATION_PHASES_H
