/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_COLLECTIVE_PHASES_H
#define DISTRIBUTED_TRAINING_COLLECTIVE_PHASES_H

#include "collective-algorithm.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * Ranks that do a phase of an algorithm together, and the chunks each of them owns: what it gets
 * the sum of in a reduce-scatter, and has at the start of an all-gather. Phases are appended to a
 * schedule one after the other; what must wait for what follows from the chunks. With rotation the
 * group must be that of AllRanks().
 */
struct PhaseGroup
{
    std::vector<uint32_t> ranks;  ///< in the order that the phase goes through them
    std::vector<ChunkList> parts; ///< of each of them, all different
};

/**
 * @ingroup distributed-training-collective
 * @param schedule of an operation with parts of a vector, its chunks a multiple of the ranks
 * @return all its ranks in order, each with its part of the vector
 */
PhaseGroup AllRanks(const CollectiveSchedule& schedule);

/**
 * @ingroup distributed-training-collective
 *
 * Appends a reduce-scatter around a ring: every rank sends to the next one in the group, and ends
 * with the sum of its own part.
 *
 * @param schedule to be appended to
 * @param group the ranks in ring order
 * @param step the first step
 * @param message number of the messages of each step
 * @return the step behind the last
 */
uint32_t AddRingReduceScatter(CollectiveSchedule& schedule,
                              const PhaseGroup& group,
                              uint32_t step,
                              uint32_t message = 0);

/**
 * @ingroup distributed-training-collective
 *
 * Appends an all-gather around a ring: every rank sends to the next one in the group, and ends with
 * the parts of all.
 *
 * @param schedule to be appended to
 * @param group the ranks in ring order
 * @param step the first step
 * @param message number of the messages of each step
 * @return the step behind the last
 */
uint32_t AddRingAllGather(CollectiveSchedule& schedule,
                          const PhaseGroup& group,
                          uint32_t step,
                          uint32_t message = 0);

/**
 * @ingroup distributed-training-collective
 * @param request a broadcast or reduce over a chain of ranks, or any other operation
 * @return segments that keep all links of a chain busy; 1 if it is another operation
 */
uint32_t GetChainSegments(const CollectiveRequest& request);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COLLECTIVE_PHASES_H
