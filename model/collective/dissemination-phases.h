/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_DISSEMINATION_PHASES_H
#define DISTRIBUTED_TRAINING_DISSEMINATION_PHASES_H

#include "collective/collective-phases.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * Appends an all-reduce by dissemination: with distance d = 1, 2, 4, ... every rank sends its sum
 * of d vectors to the rank d ahead and adds the received sum (Hou et al., "Co-designing the
 * topology/algorithm to accelerate distributed training"). If the number of ranks N is not a power
 * of two, additional steps add the partial sums that correspond to the binary digits of N. The
 * number of steps is floor(log2 N) plus one for each digit 1 except the first.
 *
 * @param schedule schedule to append to; a rank keeps one copy of the chunks for each of these
 *        digits
 * @param ranks participating ranks, in order
 * @param chunks the vector
 * @param step the first step
 * @param message message index in each step
 * @return the step after the last step
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
 * chunks to the rank d ahead; in the last step it sends only the chunks missing there. ceil(log2 N)
 * steps.
 *
 * @param schedule schedule to append to
 * @param group participating ranks, in order
 * @param step the first step
 * @param message message index in each step
 * @return the step after the last step
 */
uint32_t AddDisseminationAllGather(CollectiveSchedule& schedule,
                                   const PhaseGroup& group,
                                   uint32_t step,
                                   uint32_t message = 0);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_DISSEMINATION_PHASES_H
