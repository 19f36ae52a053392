/*
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
 * Ranks that do a phase of an algorithm together, and the chunks each of them owns: what it gets
 * the sum of in a reduce-scatter, and has at the start of an all-gather. Phases are appended to a
 * schedule one after the other; what must wait for what follows from the chunks. With rotation the
 * group must be that of AllRanks(), from whichever rank on and in either direction.
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
 * Of a vector whose parts are cut into stripes, one stripe of each part.
 * @param schedule its chunks are the ranks times the stripes
 * @param stripe number of one of them
 * @return all its ranks in order, each with this stripe of its part of the vector
 */
PhaseGroup AllRanksOfStripe(const CollectiveSchedule& schedule, uint32_t stripe);

/**
 * @ingroup distributed-training-collective
 * @param ranks some or all of a schedule
 * @param first the one to begin with
 * @return them as a circle that is cut before that one
 */
std::vector<uint32_t> StartAt(std::vector<uint32_t> ranks, uint32_t first);

/**
 * @ingroup distributed-training-collective
 * @param lists all different, none of which goes over the end of the chunks
 * @return the chunks of all, in order of their numbers
 */
ChunkList Join(const std::vector<const ChunkList*>& lists);

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
 *
 * Appends an all-to-all around a ring of all ranks: what is for the next `up` ranks travels up,
 * what is for the `down` ranks before travels down, and leaves at its rank. Uses rotation.
 *
 * @param schedule to be appended to
 * @param up number of ranks that are reached upwards
 * @param down number of ranks that are reached downwards; up + down is the ranks less 1
 */
void AddRingAllToAll(CollectiveSchedule& schedule, uint32_t up, uint32_t down);

/**
 * @ingroup distributed-training-collective
 *
 * Appends an exchange between all pairs of a group around a ring: every message travels up, from
 * one rank to the next, together with others that have as far to go or farther.
 *
 * @param schedule to be appended to, without rotation
 * @param ranks in ring order
 * @param step the first step
 * @param what the chunks of the message from one position in `ranks` to another
 * @return the step behind the last
 */
uint32_t AddRingExchange(CollectiveSchedule& schedule,
                         const std::vector<uint32_t>& ranks,
                         uint32_t step,
                         const std::function<ChunkList(uint32_t from, uint32_t to)>& what);

/** In which order ranks exchange with all others directly, and how many at a time. */
struct DirectOrder
{
    uint32_t window{0};    ///< messages that may be on their way to a rank; 0: any number
    bool exclusive{false}; ///< position i with i xor t in turn t; else to i + t and from i - t
};

/**
 * @ingroup distributed-training-collective
 *
 * Appends an exchange of messages between all pairs of a group.
 *
 * @param schedule to be appended to
 * @param ranks who takes part; a power of two of them if the order is exclusive
 * @param step the first step
 * @param receive what receivers do: RECEIVE or RECEIVE_REDUCE
 * @param what the chunks of the message from one position in `ranks` to another
 * @param order of the messages
 * @return the step behind the last: a step is as many turns as the window has messages
 */
uint32_t AddDirectExchange(CollectiveSchedule& schedule,
                           const std::vector<uint32_t>& ranks,
                           uint32_t step,
                           ScheduleAction::Kind receive,
                           const std::function<ChunkList(uint32_t from, uint32_t to)>& what,
                           const DirectOrder& order = {});

/**
 * @ingroup distributed-training-collective
 * @param bytes that go through a chain or tree of ranks
 * @return segments that keep all its links busy
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
 * @return the whole part of its logarithm
 */
uint32_t FloorLog2(uint32_t number);

/**
 * @ingroup distributed-training-collective
 * @param number 1 or more
 * @return its logarithm, rounded up
 */
uint32_t CeilLog2(uint32_t number);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COLLECTIVE_PHASES_H
