/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_COLLECTIVE_SCHEDULE_H
#define DISTRIBUTED_TRAINING_COLLECTIVE_SCHEDULE_H

#include "collective-operation.h"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/** Chunks with consecutive numbers; the numbers wrap around. */
struct ChunkRun
{
    uint32_t first; ///< number of the first chunk
    uint32_t count; ///< number of chunks
};

/** The chunks of one message, in order: one number, one run, or several runs. */
struct ChunkList
{
    /** @param chunk number of a single chunk */
    ChunkList(uint32_t chunk);
    /** @param run of chunks */
    ChunkList(ChunkRun run);
    /** @param runs of chunks, in order */
    ChunkList(std::vector<ChunkRun> runs);

    std::vector<ChunkRun> runs; ///< in order
};

/** One action of a rank on some chunks. */
struct ScheduleAction
{
    /** Kind of an action. */
    enum class Kind : uint8_t
    {
        SEND,           ///< sends its chunks to a peer, in one message
        RECEIVE,        ///< overwrites its chunks by those of a peer's message
        RECEIVE_REDUCE, ///< adds the chunks of a peer's message to its own
        COPY,           ///< overwrites its chunks by another copy of them at this rank
        REDUCE,         ///< adds another copy of its chunks at this rank to them
    };

    Kind kind;             ///< kind of the action
    uint32_t peer;         ///< the other rank; COPY and REDUCE: number of the other copy
    uint32_t step;         ///< step of the algorithm, the same at sender and receiver
    uint32_t message;      ///< number among the messages of the same sender, receiver and step
    uint32_t segment;      ///< part of each chunk
    uint32_t chunkShift;   ///< added to the numbers in `runs`, modulo `chunks`
    uint32_t chunks;       ///< chunks of the schedule
    const ChunkRun* first; ///< its runs of chunks
    const ChunkRun* last;  ///< one past them

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
     * Calls a function for each chunk, in order.
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
                visit(copy + static_cast<uint32_t>(chunk));
                chunk = chunk + 1 == chunks ? 0 : chunk + 1;
            }
        }
    }

    /** @return number of the first chunk */
    uint32_t GetFirstChunk() const;
    /** @return such as "chunk 3" or "chunk 3 and 7 more" */
    std::string DescribeChunks() const;
};

/**
 * @ingroup distributed-training-collective
 *
 * A collective as data: for each rank, a directed acyclic graph of sends, receives and local copies
 * of chunks. Algorithms build it; ScheduledCommunicator executes it over a network,
 * InterpretSchedule() in plain memory, and VerifySchedule() proves it right, whatever its origin.
 *
 * *Chunks.* The number of a chunk identifies its content at every rank; ChunkLayout maps it to
 * bytes.
 * - All-reduce, reduce-scatter, all-gather, broadcast, reduce: the vector is cut into `chunks`
 *   parts of equal size (to one element). An all-gather's or reduce-scatter's part of rank r is
 *   chunks [r * chunks / ranks, (r + 1) * chunks / ranks); chunks is a multiple of ranks.
 * - All-to-all, all-to-all-v: chunks are a multiple of ranks^2, p parts of the data from each rank
 * to each; part i of the data from rank s to rank (s + d) mod ranks is chunk (s * ranks + d) * p +
 * i.
 * - Send-receive: chunk s is the whole vector of rank s, for rank (s + 1) mod ranks.
 * - Barrier: chunk 0 is the set of ranks that are known to have arrived, without bytes.
 *
 * A rank may keep further copies of chunk c: the second has the number c + chunks, the third
 * c + 2 * chunks, and so on. Sender and receiver of a message may use different copies.
 *
 * *Order.* The actions of a rank are numbered in the order of Add(). An action waits for the
 * earlier actions on the same chunks, if one of the two writes, and for those that it names;
 * otherwise all actions are concurrent. A message is identified by (sender, receiver, step,
 * message).
 *
 * *Rotation.* If the actions of all ranks are the same but for the rank's number, only those of
 * rank 0 are stored: UseRotation(). To obtain those of rank r, r is added to the peers, modulo the
 * ranks, and r * chunks / ranks to the chunks, modulo the chunks.
 *
 * *Segments.* With `segments` m each chunk is cut into m parts, and the whole graph is executed
 * once for each part; the steps of segment i are i later. An algorithm is pipelined without code of
 * its own.
 */
class CollectiveSchedule
{
  public:
    using Kind = ScheduleAction::Kind;

    CollectiveOperation operation{CollectiveOperation::ALL_REDUCE}; ///< operation
    std::string algorithm;                                          ///< name of its algorithm
    uint32_t root{0};     ///< broadcast: source of the data; reduce: destination of the sum
    uint32_t chunks{1};   ///< see above
    uint32_t segments{1}; ///< parts each chunk is cut into

    /// Most steps, segments included; see MessageTag.
    static constexpr uint32_t MAX_STEPS = (1 << 20) - 2;
    /// Most messages between two ranks in a step, segments included.
    static constexpr uint32_t MAX_MESSAGES = 1 << 16;

    /// Most copies of a chunk that a rank keeps, its own included.
    static constexpr uint32_t MAX_COPIES = 1024;

    /** @param ranks number of ranks; removes all actions */
    void Resize(uint32_t ranks);

    /**
     * Stores the actions of rank 0 only, see above; to be called before the first Add().
     * @param chunksToo whether chunks are rotated with the ranks
     */
    void UseRotation(bool chunksToo);

    /**
     * Appends an action of a rank below GetStored().
     * @param rank that performs the action
     * @param kind of the action
     * @param peer the other rank; COPY and REDUCE: number of the other copy, 0 being the first
     * @param list the chunks
     * @param step of the algorithm
     * @param after earlier actions of the rank that must be complete, in addition to those on the
     *        same chunks
     * @param message number among the messages of the same sender, receiver and step
     * @return number of the new action
     */
    uint32_t Add(uint32_t rank,
                 Kind kind,
                 uint32_t peer,
                 const ChunkList& list,
                 uint32_t step,
                 const std::vector<uint32_t>& after = {},
                 uint32_t message = 0);

    /**
     * Derives the dependencies between actions, after the last Add().
     * @param derive whether actions wait for earlier actions on the same chunks; otherwise only for
     *        those that they name
     * @throw ConfigurationError if there are too many steps, messages, segments or copies
     */
    void Close(bool derive = true);

    /** @return number of ranks */
    uint32_t GetSize() const
    {
        return m_size;
    }

    /** @return number of ranks whose actions are stored: all, or 1 with rotation */
    uint32_t GetStored() const
    {
        return static_cast<uint32_t>(m_lists.size());
    }

    /** @return difference between the chunk numbers of rank r and those stored, divided by r */
    uint32_t GetChunkShift() const
    {
        return m_rotateChunks ? chunks / m_size : 0;
    }

    /** @return number of actions of a rank in all segments */
    uint32_t GetActions(uint32_t rank) const
    {
        return GetStoredActions(rank) * segments;
    }

    /** @return number of actions of a rank in one segment */
    uint32_t GetStoredActions(uint32_t rank) const
    {
        return static_cast<uint32_t>(GetList(rank).actions.size());
    }

    /**
     * @param rank that performs the action
     * @param index 0 to GetActions(rank) - 1
     * @return the action; valid until the schedule changes
     */
    ScheduleAction Get(uint32_t rank, uint32_t index) const;

    /** Numbers of actions within a segment. */
    struct Indices
    {
        const uint32_t* first; ///< the first of them
        const uint32_t* last;  ///< one past the last

        /** @return the first of them */
        const uint32_t* begin() const
        {
            return first;
        }

        /** @return one past the last */
        const uint32_t* end() const
        {
            return last;
        }
    };

    /**
     * @param rank that performs the action
     * @param index of an action in the first segment
     * @return the earlier actions that it waits for, ascending
     */
    Indices GetAfter(uint32_t rank, uint32_t index) const;
    /**
     * @param rank that performs the action
     * @param index of an action in the first segment
     * @return the later actions that wait for it, ascending
     */
    Indices GetNext(uint32_t rank, uint32_t index) const;
    /** @return the actions of a rank's first segment that wait for no other */
    Indices GetRoots(uint32_t rank) const;

    /// Result of FindReceive() if there is no such action.
    static constexpr uint32_t NONE = 0xffffffff;

    /**
     * @param rank that receives
     * @param peer that sends
     * @param step of the message, its segment included
     * @param message number, its segment included
     * @return number of the action that receives the message, or NONE
     */
    uint32_t FindReceive(uint32_t rank, uint32_t peer, uint32_t step, uint32_t message) const;

    /**
     * @param chunk number of a chunk
     * @return rank whose part it belongs to in an all-gather or reduce-scatter
     */
    uint32_t GetOwner(uint32_t chunk) const
    {
        return static_cast<uint32_t>(uint64_t{chunk} * m_size / chunks);
    }

    /**
     * @param chunk of an operation that does not add: all but all-reduce, reduce-scatter, reduce
     * and barrier
     * @return the only rank that has it at the start
     */
    uint32_t GetSource(uint32_t chunk) const;

    /** @return all-to-all, all-to-all-v: parts of the data from one rank to another */
    uint32_t GetPartsOfPair() const
    {
        return chunks / m_size / m_size;
    }

    /**
     * @param chunk of an all-to-all or all-to-all-v
     * @return the rank it is for
     */
    uint32_t GetTarget(uint32_t chunk) const
    {
        const uint32_t each = chunks / m_size; // of a source
        return static_cast<uint32_t>((uint64_t{chunk} / each + chunk % each / GetPartsOfPair()) %
                                     m_size);
    }

    /** @return whether a rank has a chunk at the start */
    bool HasAtStart(uint32_t rank, uint32_t chunk) const;

    /** Content of a chunk at a rank that the operation promises at the end. */
    enum class Promise : uint8_t
    {
        NOTHING, ///< undefined
        SUM,     ///< the sum over all ranks; barrier: the set of all ranks
        COPY     ///< that of GetSource()
    };

    /** @return content of a chunk at a rank that the operation promises at the end */
    Promise GetPromise(uint32_t rank, uint32_t chunk) const;

    /** @return number of steps, all segments included; 0 if there are no actions */
    uint32_t GetSteps() const;

    /** @return largest number of copies of a chunk that a rank keeps, its own included */
    uint32_t GetCopies() const
    {
        return m_copies;
    }

    /** @return bytes of memory that it occupies */
    uint64_t GetMemory() const;

  private:
    /** An action as it is stored. */
    struct Stored
    {
        uint32_t peer;
        uint32_t step;
        uint32_t runs;  // first of its runs of chunks
        uint32_t after; // first of those it waits for
        uint32_t next;  // first of those that wait for it
        uint16_t message;
        Kind kind;
    };

    /** The actions of a rank. */
    struct List
    {
        std::vector<Stored> actions;
        std::vector<ChunkRun> runs;
        std::vector<uint32_t> after;
        std::vector<uint32_t> next;
        std::vector<uint32_t> roots;
        std::vector<uint32_t> receives; // sorted by peer, step, message
    };

    class Hazards;

    const List& GetList(uint32_t rank) const
    {
        return m_lists[m_rotated ? 0 : rank];
    }

    Indices Find(const std::vector<uint32_t>& all,
                 const List& list,
                 uint32_t Stored::*first,
                 uint32_t index) const;

    uint32_t m_size{0};
    bool m_rotated{false};
    bool m_rotateChunks{false};
    uint32_t m_copies{1};
    std::vector<List> m_lists;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COLLECTIVE_SCHEDULE_H
