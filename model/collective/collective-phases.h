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
 * The ranks of one phase of an algorithm and the chunks that each rank owns: the chunks whose sum
 * it receives in a reduce-scatter, or that it has at the start of an all-gather. Phases are
 * appended to a schedule one after the other; their dependencies follow from the chunks. With
 * rotation, the group must be AllRanks(), possibly rotated or reversed.
 */
struct PhaseGroup
{
    std::vector<uint32_t> ranks;  ///< ranks in the order of the phase
    std::vector<ChunkList> parts; ///< disjoint chunks owned by each rank
};

/**
 * @ingroup distributed-training-collective
 * @param schedule schedule of an operation on parts of a vector; its number of chunks is a multiple
 *        of the number of ranks
 * @return all its ranks in order, each with its part of the vector
 */
PhaseGroup AllRanks(const CollectiveSchedule& schedule);

/**
 * @ingroup distributed-training-collective
 * Selects one stripe of each part of the vector.
 * @param schedule schedule with ranks * stripes chunks
 * @param stripe number of the stripe
 * @return all its ranks in order, each with this stripe of its part of the vector
 */
PhaseGroup AllRanksOfStripe(const CollectiveSchedule& schedule, uint32_t stripe);

/**
 * @ingroup distributed-training-collective
 * @param ranks some or all ranks of a schedule, as a ring
 * @param first the new first rank
 * @return the ring, rotated to start at that rank
 */
std::vector<uint32_t> StartAt(std::vector<uint32_t> ranks, uint32_t first);

/**
 * @ingroup distributed-training-collective
 * @param lists disjoint chunk lists that do not wrap around
 * @return all their chunks, in order of their numbers
 */
ChunkList Join(const std::vector<const ChunkList*>& lists);

/**
 * @ingroup distributed-training-collective
 *
 * Appends a reduce-scatter around a ring: every rank sends to the next rank in the group and ends
 * up with the sum of its own part.
 *
 * @param schedule schedule to append to
 * @param group the ranks in ring order
 * @param step the first step
 * @param message message index in each step
 * @return the step after the last step
 */
uint32_t AddRingReduceScatter(CollectiveSchedule& schedule,
                              const PhaseGroup& group,
                              uint32_t step,
                              uint32_t message = 0);

/**
 * @ingroup distributed-training-collective
 *
 * Appends an all-gather around a ring: every rank sends to the next rank in the group and ends up
 * with the parts of all ranks.
 *
 * @param schedule schedule to append to
 * @param group the ranks in ring order
 * @param step the first step
 * @param message message index in each step
 * @return the step after the last step
 */
uint32_t AddRingAllGather(CollectiveSchedule& schedule,
                          const PhaseGroup& group,
                          uint32_t step,
                          uint32_t message = 0);

/**
 * @ingroup distributed-training-collective
 *
 * Appends an all-to-all around a ring of all ranks: chunks for the next `up` ranks travel up, and
 * chunks for the previous `down` ranks travel down. Uses rotation.
 *
 * @param schedule schedule to append to
 * @param up number of ranks reached in ascending direction
 * @param down number of ranks reached in descending direction; up + down is the number of ranks - 1
 */
void AddRingAllToAll(CollectiveSchedule& schedule, uint32_t up, uint32_t down);

/**
 * @ingroup distributed-training-collective
 *
 * Appends an exchange between all pairs of a group around a ring: every message is forwarded from
 * rank to rank, together with all messages that travel at least as far.
 *
 * @param schedule schedule to append to, without rotation
 * @param ranks ranks in ring order
 * @param step the first step
 * @param chunksOf returns the chunks of the message from one position in `ranks` to another
 * @return the step after the last step
 */
uint32_t AddRingExchange(CollectiveSchedule& schedule,
                         const std::vector<uint32_t>& ranks,
                         uint32_t step,
                         const std::function<ChunkList(uint32_t from, uint32_t to)>& chunksOf);

/** Message order of a direct exchange between all pairs. */
struct DirectOrder
{
    uint32_t window{0};    ///< maximum messages in flight to a rank; 0: unlimited
    bool exclusive{false}; ///< in turn t, i exchanges with i xor t; otherwise i sends to i + t
};

/**
 * @ingroup distributed-training-collective
 *
 * Appends an exchange of messages between all pairs of a group.
 *
 * @param schedule schedule to append to
 * @param ranks participating ranks; a power of two if the order is exclusive
 * @param step the first step
 * @param receive receive action: RECEIVE or RECEIVE_REDUCE
 * @param chunksOf returns the chunks of the message from one position in `ranks` to another
 * @param order message order
 * @return the step after the last; each step has `window` turns
 */
uint32_t AddDirectExchange(CollectiveSchedule& schedule,
                           const std::vector<uint32_t>& ranks,
                           uint32_t step,
                           ScheduleAction::Kind receive,
                           const std::function<ChunkList(uint32_t from, uint32_t to)>& chunksOf,
                           const DirectOrder& order = {});

/// Segment of a pipeline of ranks, bytes: large beside a header, small beside a vector.
inline constexpr uint64_t PIPELINE_SEGMENT = 128 << 10;

/**
 * @ingroup distributed-training-collective
 * @param bytes bytes sent through a chain or tree of ranks
 * @return number of segments that keeps all links of the pipeline busy
 */
uint32_t GetPipelineSegments(uint64_t bytes);

/**
 * @ingroup distributed-training-collective
 * @param request a broadcast or reduce over a chain of ranks, or any other operation
 * @return GetPipelineSegments() for a broadcast or reduce, otherwise 1
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
