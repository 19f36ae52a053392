/*
 * Copyright (c) 2026 The distributed-training authors
 *
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
 * of d vectors to the rank d ahead, and adds the sum that it receives (Hou et al., "Co-designing
 * the topology/algorithm to accelerate distributed training"). If the number of ranks N is no power
 * of two, the last step is replaced by adding sums of as many vectors as the binary digits of N
 * say: floor(log2 N) steps, and one for each digit 1 but the first.
 *
 * @param schedule that gets the actions; a rank keeps a copy of the chunks for each of those digits
 * @param ranks that take part, in order
 * @param chunks the vector
 * @param step the first step
 * @param message number of the message in each step
 * @return the step after the last
 */
uint32_t AddDisseminationAllReduce(CollectiveSchedule& schedule,
                                   const std::vector<uint32_t>& ranks,
                                   const ChunkList& chunks,
                                   uint32_t step,
                                   uint32_t message = 0);

/**
 * @ingroup distributed-training-collective
 *
 * Appends an all-gather by dissemination: with distance d = 1, 2, 4, ... every rank sends all its
 * chunks to the rank d ahead, in the last step only those missing there; ceil(log2 N) steps.
 *
 * @param schedule that gets the actions
 * @param group ranks that take part, in order
 * @param step the first step
 * @param message number of the message in each step
 * @return the step after the last
 */
uint32_t AddDisseminationAllGather(CollectiveSchedule& schedule,
                                   const PhaseGroup& group,
                                   uint32_t step,
                                   uint32_t message = 0);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_DISSEMINATION_PHASES_H
