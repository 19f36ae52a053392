/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SCHEDULE_ACTION_H
#define DISTRIBUTED_TRAINING_SCHEDULE_ACTION_H

#include "chunk-list.h"

#include <cstdint>
#include <string>

namespace ns3::training
{

/** One action of a rank on a list of chunks. */
struct ScheduleAction
{
    /** Kind of an action. */
    enum class Kind : uint8_t
    {
        SEND,           ///< sends its chunks to a peer, in one message
        RECEIVE,        ///< overwrites its chunks with those of a peer's message
        RECEIVE_REDUCE, ///< adds the chunks of a peer's message to its own
        COPY,           ///< overwrites its chunks with another copy of them at this rank
        REDUCE,         ///< adds another copy of its chunks at this rank to them
    };

    Kind kind;             ///< kind of the action
    uint32_t peer;         ///< peer rank; COPY and REDUCE: number of the other copy
    uint32_t step;         ///< step of the algorithm, equal at sender and receiver
    uint32_t message;      ///< index among the messages of the same sender, receiver and step
    uint32_t segment;      ///< segment of each chunk
    uint32_t chunkShift;   ///< added to the chunk numbers in the runs, modulo `chunks`
    uint32_t chunks;       ///< number of chunks of the schedule
    uint32_t ranks;        ///< number of ranks of the schedule
    uint32_t flip;         ///< exclusive or with the ranks of the chunks in the runs
    bool isOfPairs;        ///< whether a chunk has a source and a destination, as in all-to-all
    bool isGranted;        ///< whether its message, if large, waits for the receiver's grant
    const ChunkRun* first; ///< first run of chunks
    const ChunkRun* last;  ///< end of the runs (exclusive)

    /** @return whether it waits for a message */
    bool IsReceive() const
    {
        return kind == Kind::RECEIVE || kind == Kind::RECEIVE_REDUCE;
    }

    /** @return whether it changes the chunks at this rank */
    bool IsWrite() const
    {
        return kind != Kind::SEND;
    }

    /**
     * Calls a visitor for each chunk, in order.
     * @param visit called with the chunk's number; copies of chunk c have c + copy * chunks
     */
    template <class F>
    void ForEachChunk(F visit) const
    {
        for (const ChunkRun* run = first; run != last; run++)
        {
            const uint32_t copy = run->first / chunks * chunks;
            uint64_t chunk = (uint64_t{run->first} - copy + chunkShift) % chunks;
            for (uint32_t i = 0; i < run->count; i++)
            {
                visit(copy + Flip(static_cast<uint32_t>(chunk)));
                chunk = chunk + 1 == chunks ? 0 : chunk + 1;
            }
        }
    }

    /**
     * @param chunk number of a chunk, without copies
     * @return the chunk after the exclusive or of `flip` with the ranks that it belongs to
     */
    uint32_t Flip(uint32_t chunk) const
    {
        if (flip == 0)
        {
            return chunk;
        }
        const uint32_t each = chunks / ranks; // chunks per rank
        const uint32_t rank = chunk / each ^ flip;
        if (!isOfPairs)
        {
            return rank * each + chunk % each;
        }
        const uint32_t parts = each / ranks;
        const uint32_t target = (chunk / each + chunk % each / parts) % ranks ^ flip;
        return rank * each + (target + ranks - rank) % ranks * parts + chunk % parts;
    }

    /** @return number of the first chunk */
    uint32_t GetFirstChunk() const;
    /** @return a description such as "chunk 3" or "chunk 3 and 7 more" */
    std::string DescribeChunks() const;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SCHEDULE_ACTION_H
