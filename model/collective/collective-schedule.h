/*
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

/** Chunks with consecutive numbers; behind the last number comes the first one again. */
struct ChunkRun
{
    uint32_t first; ///< number of the first chunk
    uint32_t count; ///< how many
};

/** The chunks of one message, in order: a single number, a run, or several runs. */
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

/** One thing a rank does with some chunks. */
struct ScheduleAction
{
    /** What it does. */
    enum class Kind : uint8_t
    {
        SEND,           ///< sends its chunks to a peer, in one message
        RECEIVE,        ///< receives chunks from a peer in place of its own
        RECEIVE_REDUCE, ///< receives chunks from a peer and adds them to its own
        COPY,           ///< overwrites its chunks by another copy it has of them
        REDUCE,         ///< adds another copy it has of its chunks to them
    };

    Kind kind;             ///< what it does
    uint32_t peer;         ///< rank it is done with; COPY and REDUCE: number of the other copy
    uint32_t step;         ///< step of the algorithm; sender and receiver name the same
    uint32_t message;      ///< number among those of the same sender, receiver and step
    uint32_t segment;      ///< part of each chunk that it is about
    uint32_t chunkShift;   ///< added to the numbers in `runs`, modulo `chunks`
    uint32_t chunks;       ///< chunks of the schedule
    const ChunkRun* first; ///< its runs of chunks
    const ChunkRun* last;  ///< one past them

    /** @return whether it waits for a message */
    bool IsReceive() const
    {
        return kind == Kind::RECEIVE || kind == Kind::RECEIVE_REDUCE;
    }

    /** @return whether it changes what the rank has */
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
 * A collective as data: a directed acyclic graph of sends, receives and local copies over chunks
 * for each rank. Algorithms build it, one executor (ScheduledCommunicator) carries it out over a
 * network, one interpreter (InterpretSchedule()) over plain memory, and one verifier
 * (VerifySchedule()) proves it right, whatever made it.
 *
 * *Chunks.* A chunk's number says what it is, whoever has it; ChunkLayout says which bytes.
 * - All-reduce, reduce-scatter, all-gather, broadcast, reduce: the vector is cut into `chunks`
 *   parts of equal size (to one element). An all-gather's or reduce-scatter's part of rank r is
 *   chunks [r * chunks / ranks, (r + 1) * chunks / ranks); chunks is a multiple of ranks.
 * - All-to-all, all-to-all-v: chunks are a multiple of ranks^2, p parts of what each rank has for
 *   each; part i of what rank s has for rank (s + d) mod ranks is chunk (s * ranks + d) * p + i.
 * - Send-receive: chunk s is all that rank s has, for rank (s + 1) mod ranks.
 * - Barrier: chunk 0 is the set of ranks that are known to have come, without bytes.
 *
 * A rank may keep a second copy of chunk c beside its own: its number is c + chunks, a third's
 * c + 2 * chunks, and so on. Sender and receiver of a message may differ in the copies they name.
 *
 * *Order.* The actions of a rank are numbered in the order of Add(). Each waits for the earlier
 * ones that use the same chunks, if one of the two writes, and for those it names; besides that
 * they run when they can. A message is known by (sender, receiver, step, message).
 *
 * *Rotation.* If all ranks do the same but for their number, only rank 0's actions are stored:
 * UseRotation(). Rank r's peers are r more, modulo the ranks, and its chunks r * chunks / ranks
 * more, modulo the chunks.
 *
 * *Segments.* With `segments` m each chunk is cut into m parts, and the whole graph is carried out
 * once for each; segment i's steps come i later. A pipeline without a line of code in an algorithm.
 */
class CollectiveSchedule
{
  public:
    using Kind = ScheduleAction::Kind;

    CollectiveOperation operation{CollectiveOperation::ALL_REDUCE}; ///< what it does
    std::string algorithm;                                          ///< name of what made it
    uint32_t root{0};     ///< broadcast: rank that has the data; reduce: rank that gets the sum
    uint32_t chunks{1};   ///< see above
    uint32_t segments{1}; ///< parts each chunk is cut into

    /// Most steps, segments included; see MessageTag.
    static constexpr uint32_t MOST_STEPS = (1 << 20) - 2;
    /// Most messages between two ranks in a step, segments included.
    static constexpr uint32_t MOST_MESSAGES = 1 << 16;

    /// Most copies of a chunk that a rank keeps, its own included.
    static constexpr uint32_t MOST_COPIES = 1024;

    /** @param ranks number of ranks; forgets all actions */
    void Resize(uint32_t ranks);

    /**
     * All ranks do the same but for their number; to be called before the first Add().
     * @param chunksToo whether chunks are rotated with the ranks
     */
    void UseRotation(bool chunksToo);

    /**
     * Appends an action of a rank below GetStored().
     * @param rank who does it
     * @param kind what
     * @param peer with whom; COPY and REDUCE: number of the other copy, 0 being its own
     * @param list the chunks
     * @param step of the algorithm
     * @param after earlier actions of the rank that must be complete, beside those that use the
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
     * Works out who waits for whom, after the last Add().
     * @param derive whether actions wait for earlier ones that use the same chunks; otherwise for
     *        those they name only
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

    /** @return what chunk numbers of rank r are more than those stored, per r */
    uint32_t GetChunkShift() const
    {
        return m_rotateChunks ? chunks / m_size : 0;
    }

    /** @return number of actions of a rank, those of all segments */
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
     * @param rank whose
     * @param index 0 to GetActions(rank) - 1
     * @return the action; valid as long as the schedule is not changed
     */
    ScheduleAction Get(uint32_t rank, uint32_t index) const;

    /** Numbers of actions of the same segment, less those of earlier segments. */
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
     * @param rank whose
     * @param index of an action in the first segment
     * @return the earlier actions it waits for, ascending
     */
    Indices GetAfter(uint32_t rank, uint32_t index) const;
    /**
     * @param rank whose
     * @param index of an action in the first segment
     * @return the later actions that wait for it, ascending
     */
    Indices GetNext(uint32_t rank, uint32_t index) const;
    /** @return the actions of a rank's first segment that wait for none */
    Indices GetRoots(uint32_t rank) const;

    /// What FindReceive() returns if there is none.
    static constexpr uint32_t NONE = 0xffffffff;

    /**
     * @param rank that receives
     * @param peer that sends
     * @param step of the message, that of its segment
     * @param message number, that of its segment
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
     * @param chunk of an operation that moves data without adding: all but all-reduce,
     *        reduce-scatter, reduce and barrier
     * @return the only rank that has it at the start
     */
    uint32_t GetSource(uint32_t chunk) const;

    /** @return all-to-all, all-to-all-v: parts of what a rank has for another */
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

    /** What a rank must have of a chunk at the end. */
    enum class Promise : uint8_t
    {
        NOTHING, ///< undefined
        SUM,     ///< the sum over all ranks; barrier: the set of all ranks
        COPY     ///< that of GetSource()
    };

    /** @return what a rank must have of a chunk at the end */
    Promise GetPromise(uint32_t rank, uint32_t chunk) const;

    /** @return number of steps, those of all segments; 0 if nothing is to be done */
    uint32_t GetSteps() const;

    /** @return largest number of copies of a chunk that a rank keeps, its own included */
    uint32_t GetCopies() const
    {
        return m_copies;
    }

    /** @return bytes of memory it takes */
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
