/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_COLLECTIVE_SCHEDULE_H
#define DISTRIBUTED_TRAINING_COLLECTIVE_SCHEDULE_H

#include "collective-operation.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/** One thing a rank does with one chunk. */
struct ScheduleAction
{
    /** What it does. */
    enum class Kind : uint8_t
    {
        SEND,           ///< sends its chunk to a peer
        RECEIVE,        ///< receives the chunk from a peer in place of its own
        RECEIVE_REDUCE, ///< receives the chunk from a peer and adds it to its own
    };

    Kind kind;      ///< what it does
    uint32_t peer;  ///< rank it is done with
    uint32_t chunk; ///< number of the chunk
    uint32_t step;  ///< step of the algorithm; sender and receiver name the same
    /// Actions of the same rank, by index, that must be complete before.
    std::vector<uint32_t> after;
    /// Actions of the same rank that wait for this one; see CollectiveSchedule::FillNext().
    std::vector<uint32_t> next{};

    /** @return whether it waits for a message */
    bool IsReceive() const
    {
        return kind != Kind::SEND;
    }
};

/**
 * @ingroup distributed-training-collective
 *
 * A collective as data: a directed acyclic graph of sends and receives over chunks for each rank.
 * Algorithms build it, one executor (ScheduledCommunicator) carries it out over a network, one
 * interpreter (ScheduleInterpreter) over plain memory, and one verifier proves it right, whatever
 * made it.
 *
 * A vector is cut into `chunks` parts of equal size (to one element). An all-gather's or
 * reduce-scatter's part of rank r is chunks [r * chunks / ranks, (r + 1) * chunks / ranks); chunks
 * must then be a multiple of ranks. A message is known by (sender, receiver, chunk, step).
 */
struct CollectiveSchedule
{
    CollectiveOperation operation{CollectiveOperation::ALL_REDUCE}; ///< what it does
    std::string algorithm;                                          ///< name of what made it
    uint32_t root{0};   ///< broadcast: rank that has the data
    uint32_t chunks{1}; ///< parts of the vector
    /// What each rank does; an action comes behind all those it waits for.
    std::vector<std::vector<ScheduleAction>> ranks;

    /** @return number of ranks */
    uint32_t GetSize() const
    {
        return static_cast<uint32_t>(ranks.size());
    }

    /**
     * Appends an action.
     * @param rank who does it
     * @param kind what
     * @param peer with whom
     * @param chunk number of the chunk
     * @param step of the algorithm
     * @param after indices of earlier actions of the rank that must be complete
     * @return index of the new action
     */
    uint32_t Add(uint32_t rank,
                 ScheduleAction::Kind kind,
                 uint32_t peer,
                 uint32_t chunk,
                 uint32_t step,
                 std::vector<uint32_t> after);

    /**
     * @param chunk number of a chunk
     * @return rank whose part it belongs to in an all-gather or reduce-scatter
     */
    uint32_t GetOwner(uint32_t chunk) const
    {
        return static_cast<uint32_t>(uint64_t{chunk} * GetSize() / chunks);
    }

    /**
     * @param chunk number of a chunk
     * @param bytes size of the whole vector
     * @return first byte of the chunk and one past its last; on 4-byte borders if the size is a
     *         multiple of 4
     */
    std::pair<uint64_t, uint64_t> GetRange(uint32_t chunk, uint64_t bytes) const;

    /** Works out `next` of every action from `after`, for the executor. */
    void FillNext();

    /** @return largest step number plus one; 0 if nothing is to be done */
    uint32_t GetSteps() const;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COLLECTIVE_SCHEDULE_H
