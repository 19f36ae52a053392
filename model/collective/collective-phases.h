/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_COLLECTIVE_PHASES_H
#define DISTRIBUTED_TRAINING_COLLECTIVE_PHASES_H

#include "collective-algorithm.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * The ranks of one phase of an algorithm, and the chunks that each of them owns: those that it gets
 * the sum of in a reduce-scatter, or has at the start of an all-gather. Phases are appended to a
 * schedule one after the other; their dependencies follow from the chunks. With rotation the group
 * must be that of AllRanks(), from any rank on and in either direction.
 */
struct PhaseGroup
{
    std::vector<uint32_t> ranks;  ///< in the order of the phase
    std::vector<ChunkList> parts; ///< chunks that each rank owns, disjoint
};

/**
 * @ingroup distributed-training-collective
 * @param schedule of an operation on parts of a vector; its chunks are a multiple of the ranks
 * @return all its ranks in order, each with its part of the vector
 */
PhaseGroup AllRanks(const CollectiveSchedule& schedule);

/**
 * @ingroup distributed-training-collective
 * Selects one stripe of each part of a vector.
 * @param schedule whose chunks are ranks times stripes
 * @param stripe number of the stripe
 * @return all its ranks in order, each with this stripe of its part of the vector
 */
PhaseGroup AllRanksOfStripe(const CollectiveSchedule& schedule, uint32_t stripe);

/**
 * @ingroup distributed-training-collective
 * @param ranks some or all ranks of a schedule, as a ring
 * @param first rank to begin with
 * @return the ring from that rank on
 */
std::vector<uint32_t> StartAt(std::vector<uint32_t> ranks, uint32_t first);

/**
 * @ingroup distributed-training-collective
 * @param lists disjoint lists, none of which wraps around
 * @return all their chunks, in order of their numbers
 */
ChunkList Join(const std::vector<const ChunkList*>& lists);

/**
 * @ingroup distributed-training-collective
 *
 * Appends a reduce-scatter around a ring: every rank sends to the next one in the group, and ends
 * with the sum of its own part.
 *
 * @param schedule that gets the actions
 * @param group the ranks in ring order
 * @param step the first step
 * @param message number of the message in each step
 * @return the step after the last
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
 * @param schedule that gets the actions
 * @param group the ranks in ring order
 * @param step the first step
 * @param message number of the message in each step
 * @return the step after the last
 */
uint32_t AddRingAllGather(CollectiveSchedule& schedule,
                          const PhaseGroup& group,
                          uint32_t step,
                          uint32_t message = 0);

/**
 * @ingroup distributed-training-collective
 *
 * Appends an all-to-all around a ring of all ranks: chunks for the next `up` ranks travel up,
 * chunks for the `down` ranks before travel down. Uses rotation.
 *
 * @param schedule that gets the actions
 * @param up number of ranks that are reached upwards
 * @param down number of ranks that are reached downwards; up + down is the ranks less 1
 */
void AddRingAllToAll(CollectiveSchedule& schedule, uint32_t up, uint32_t down);

/**
 * @ingroup distributed-training-collective
 *
 * Appends an exchange between all pairs of a group around a ring: every message travels up, from
 * one rank to the next, together with those that go as far or farther.
 *
 * @param schedule that gets the actions, without rotation
 * @param ranks in ring order
 * @param step the first step
 * @param chunksOf returns the chunks of the message from one position in `ranks` to another
 * @return the step after the last
 */
uint32_t AddRingExchange(CollectiveSchedule& schedule,
                         const std::vector<uint32_t>& ranks,
                         uint32_t step,
                         const std::function<ChunkList(uint32_t from, uint32_t to)>& chunksOf);

/** The order of the messages of a direct exchange between all pairs. */
struct DirectOrder
{
    uint32_t window{0};    ///< messages that may be on their way to a rank; 0: any number
    bool exclusive{false}; ///< turn t: i exchanges with i xor t; otherwise to i + t, from i - t
};

/**
 * @ingroup distributed-training-collective
 *
 * Appends an exchange of messages between all pairs of a group.
 *
 * @param schedule that gets the actions
 * @param ranks that take part; a power of two of them if the order is exclusive
 * @param step the first step
 * @param receive action of the receivers: RECEIVE or RECEIVE_REDUCE
 * @param chunksOf returns the chunks of the message from one position in `ranks` to another
 * @param order of the messages
 * @return the step after the last; a step has as many turns as the window has messages
 */
uint32_t AddDirectExchange(CollectiveSchedule& schedule,
                           const std::vector<uint32_t>& ranks,
                           uint32_t step,
                           ScheduleAction::Kind receive,
                           const std::function<ChunkList(uint32_t from, uint32_t to)>& chunksOf,
                           const DirectOrder& order = {});

/**
 * @ingroup distributed-training-collective
 * @param bytes sent through a chain or tree of ranks
 * @return number of segments that keeps all its links busy
 */
uint32_t GetPipelineSegments(uint64_t bytes);

/**
 * @ingroup distributed-training-collective
 * @param request a broadcast or reduce over a chain of ranks, or any other operation
 * @return GetPipelineSegments(), or 1 if it is another operation
 */
uint32_t GetChainSegments(const CollectiveRequest& request);

/**
 * @ingroup distributed-training-collective
 * @param number 1 or more
 * @return whether it is a power of two
 */
bool IsPowerOfTwo(uint32_t number);

/**
 * @ingroup distributed-training-collective
 * @param number 1 or more
 * @return its logarithm to base 2, rounded down
 */
uint32_t FloorLog2(uint32_t number);

/**
 * @ingroup distributed-training-collective
 * @param number 1 or more
 * @return its logarithm to base 2, rounded up
 */
uint32_t CeilLog2(uint32_t number);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COLLECTIVE_PHASES_H
