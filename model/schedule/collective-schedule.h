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
#include <unordered_map>
#include <utility>
#include <vector>

namespace ns3::training
{

class ChunkDependencies;

/** A run of chunks with consecutive numbers, modulo the number of chunks. */
struct ChunkRun
{
    uint32_t first; ///< number of the first chunk
    uint32_t count; ///< number of chunks
};

/** The chunks of one message, in order: a single chunk, one run, or several runs. */
struct ChunkList
{
    /** @param chunk number of a single chunk */
    ChunkList(uint32_t chunk);
    /** @param run a run of chunks */
    ChunkList(ChunkRun run);
    /** @param runs several runs of chunks, in order */
    ChunkList(std::vector<ChunkRun> runs);

    std::vector<ChunkRun> runs; ///< in order
};

/** The chunks of many messages, which a schedule keeps once: CollectiveSchedule::Share(). */
struct SharedChunks
{
    ChunkRun run; ///< the chunks; several runs: number of the shared list, 0
};

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

/**
 * @ingroup distributed-training-collective
 *
 * A collective as data: for each rank, a directed acyclic graph of sends, receives and local copies
 * of chunks. Algorithms build schedules. ScheduledCommunicator executes a schedule over a network,
 * InterpretSchedule() executes it in memory, and VerifySchedule() proves its correctness, whatever
 * its origin.
 *
 * *Chunks.* The number of a chunk identifies its content at every rank; ChunkLayout maps it to
 * bytes.
 * - All-reduce, reduce-scatter, all-gather, broadcast, reduce: the vector is divided into `chunks`
 *   parts of equal size (up to one element). In an all-gather or reduce-scatter, rank r owns chunks
 *   [r * chunks / ranks, (r + 1) * chunks / ranks), and chunks is a multiple of ranks.
 * - All-to-all, all-to-all-v: chunks = p * ranks^2, where the data of each pair of ranks has p
 *   parts. Part i of the data from rank s to rank (s + d) mod ranks is chunk (s * ranks + d) * p +
 *   i.
 * - Send-receive: chunk s is the whole vector of rank s, sent to rank (s + 1) mod ranks.
 * - Barrier: chunk 0 is the set of ranks known to have arrived; it has no bytes.
 *
 * A rank may keep additional copies of chunk c: the second copy has number c + chunks, the third c
 * + 2 * chunks, and so on. Sender and receiver of a message may use different copies.
 *
 * *Order.* The actions of a rank are numbered in the order of Add(). An action depends on the
 * earlier actions on the same chunks if one of the two writes, and on the actions that it names
 * explicitly. All other actions are concurrent. A message is identified by (sender, receiver, step,
 * message).
 *
 * *Steps.* With `stepwise`, a rank takes one step after the other, like the blocking exchanges of
 * an MPI library: an action also depends on all actions of the rank's previous step, and a SEND is
 * complete when the message has left the rank. If fewer messages precede a message at its sender
 * than at its receiver, it needs the receiver's grant: it would compete with messages of earlier
 * steps, such as those of a folded rank. Small messages need none (ScheduledCommunicator). Without
 * `stepwise`, a SEND is complete at once, and its rank's other messages share the line with it,
 * like the channels of NCCL.
 *
 * *Rotation.* If the actions of all ranks are equal up to a rotation of the rank numbers, only the
 * actions of rank 0 are stored: UseRotation(). The actions of rank r follow by adding r to the
 * peers, modulo ranks, and r * chunks / ranks to the chunks, modulo chunks.
 *
 * *Exclusive or.* If the actions of all ranks are equal up to an exclusive or of the rank numbers,
 * the same holds: UseExclusiveOr(). The actions of rank r follow by the exclusive or of r with the
 * peers, and with the owners, or sources and destinations, of the chunks. The number of ranks is a
 * power of two.
 *
 * *Segments.* With `segments` m, each chunk is cut into m segments, and the whole graph is executed
 * once per segment; the steps of segment i are i later. So any algorithm can be pipelined without
 * additional code.
 */
class CollectiveSchedule
{
  public:
    using Kind = ScheduleAction::Kind; ///< kind of an action

    CollectiveOperation operation{CollectiveOperation::ALL_REDUCE}; ///< collective operation
    std::string algorithm;                                          ///< name of its algorithm
    uint32_t root{0};     ///< broadcast: source of the data; reduce: destination of the sum
    uint32_t chunks{1};   ///< see above
    uint32_t segments{1}; ///< segments per chunk, for pipelining
    bool stepwise{false}; ///< whether each rank takes one step after the other, see above

    /** How the actions of the ranks follow from those of rank 0. */
    enum class Symmetry : uint8_t
    {
        NONE,        ///< they do not: the actions of all ranks are stored
        ROTATION,    ///< by addition of the rank, see above
        EXCLUSIVE_OR ///< by the exclusive or with the rank, see above
    };

    /// Maximum number of steps, including segments; see MessageTag.
    static constexpr uint32_t MAX_STEPS = (1 << 21) - 2;
    /// Maximum number of messages between two ranks per step, including segments.
    static constexpr uint32_t MAX_MESSAGES = 1 << 16;

    /// Maximum number of copies of a chunk per rank, including the original.
    static constexpr uint32_t MAX_COPIES = 1024;

    /** @param ranks number of ranks; removes all actions */
    void Resize(uint32_t ranks);

    /**
     * Stores the actions of rank 0 only, see above. Must be called before the first Add().
     * @param chunksToo whether the chunks rotate with the ranks
     */
    void UseRotation(bool chunksToo);

    /**
     * Stores the actions of rank 0 only, see above. Must be called before the first Add(), if
     * CanUseExclusiveOr().
     */
    void UseExclusiveOr();
    /**
     * @return whether the number of ranks is a power of two, and the number of chunks a multiple
     *         of it, or in an all-to-all of its square
     */
    bool CanUseExclusiveOr() const;

    /**
     * Keeps a list of chunks once, for all actions of all ranks that use it.
     * @param list the chunks
     * @return the list, for Add(); equal lists are kept once
     */
    SharedChunks Share(const ChunkList& list);

    /**
     * Appends an action.
     * @param rank rank that performs the action, below GetStoredRanks()
     * @param kind kind of action
     * @param peer peer rank; COPY and REDUCE: number of the other copy, from 0
     * @param list the chunks
     * @param step step of the algorithm
     * @param after earlier actions of the rank that this action depends on, in addition to those on
     *        the same chunks
     * @param message index among the messages of the same sender, receiver and step
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
     * Appends an action on one run of chunks.
     * @param rank as above
     * @param kind as above
     * @param peer as above
     * @param run the chunks
     * @param step as above
     * @param after as above
     * @param message as above
     * @return number of the new action
     */
    uint32_t Add(uint32_t rank,
                 Kind kind,
                 uint32_t peer,
                 ChunkRun run,
                 uint32_t step,
                 const std::vector<uint32_t>& after = {},
                 uint32_t message = 0);
    /**
     * Appends an action on a shared list of chunks.
     * @param rank as above
     * @param kind as above
     * @param peer as above
     * @param list the chunks, by Share()
     * @param step as above
     * @param after as above
     * @param message as above
     * @return number of the new action
     */
    uint32_t Add(uint32_t rank,
                 Kind kind,
                 uint32_t peer,
                 SharedChunks list,
                 uint32_t step,
                 const std::vector<uint32_t>& after = {},
                 uint32_t message = 0);

    /**
     * Derives the dependencies between actions, after the last Add().
     * @param derive whether actions depend on earlier actions on the same chunks and, if stepwise,
     *        of the previous step; otherwise only on the actions that they name
     * @throw ConfigurationError if there are too many steps, messages, segments or copies
     */
    void Close(bool derive = true);

    /** @return number of ranks */
    uint32_t GetSize() const
    {
        return m_size;
    }

    /** @return number of ranks whose actions are stored: all, or 1 with symmetry */
    uint32_t GetStoredRanks() const
    {
        return static_cast<uint32_t>(m_lists.size());
    }

    /** @return how the actions of the other ranks follow from those of rank 0 */
    Symmetry GetSymmetry() const
    {
        return m_symmetry;
    }

    /** @return whether chunks, too, differ between the ranks, with symmetry */
    bool HasSymmetricChunks() const
    {
        return m_symmetry != Symmetry::NONE && m_symmetricChunks;
    }

    /** @return rotation: difference between the chunk numbers of consecutive ranks; otherwise 0 */
    uint32_t GetChunkShift() const
    {
        return m_symmetry == Symmetry::ROTATION && m_symmetricChunks ? chunks / m_size : 0;
    }

    /**
     * @param rank a rank
     * @param other a rank; 0 with no symmetry
     * @return the rank that is to rank 0 what the first rank is to the other
     */
    uint32_t GetRelative(uint32_t rank, uint32_t other) const
    {
        return m_symmetry == Symmetry::EXCLUSIVE_OR ? rank ^ other
                                                    : (rank + m_size - other) % m_size;
    }

    /** @param rank a rank @return number of actions of a rank over all segments */
    uint32_t GetActions(uint32_t rank) const
    {
        return GetStoredActions(rank) * segments;
    }

    /** @param rank a rank @return number of actions of a rank in one segment */
    uint32_t GetStoredActions(uint32_t rank) const
    {
        return static_cast<uint32_t>(GetList(rank).actions.size());
    }

    /**
     * @param rank rank that performs the action
     * @param index 0 to GetActions(rank) - 1
     * @return the action; valid until the schedule changes
     */
    ScheduleAction Get(uint32_t rank, uint32_t index) const;

    /** A range of action numbers within a segment. */
    struct Indices
    {
        const uint32_t* first; ///< first action number
        const uint32_t* last;  ///< end (exclusive)

        /** @return the first action number */
        const uint32_t* begin() const
        {
            return first;
        }

        /** @return the end (exclusive) */
        const uint32_t* end() const
        {
            return last;
        }
    };

    /**
     * @param rank rank that performs the action
     * @param index action number in the first segment
     * @return the earlier actions that it depends on, ascending
     */
    Indices GetDependencies(uint32_t rank, uint32_t index) const;
    /**
     * @param rank rank that performs the action
     * @param index action number in the first segment
     * @return the later actions that depend on it, ascending
     */
    Indices GetNext(uint32_t rank, uint32_t index) const;
    /** @param rank a rank @return the actions without dependencies in a rank's first segment */
    Indices GetRoots(uint32_t rank) const;

    /// Result of FindReceive() if there is no such action.
    static constexpr uint32_t NONE = 0xffffffff;

    /**
     * @param rank receiving rank
     * @param peer sending rank
     * @param step step of the message, including its segment
     * @param message message index, including its segment
     * @return number of the action that receives the message, or NONE
     */
    uint32_t FindReceive(uint32_t rank, uint32_t peer, uint32_t step, uint32_t message) const;

    /**
     * @param chunk number of a chunk
     * @return rank that owns the chunk in an all-gather or reduce-scatter
     */
    uint32_t GetOwner(uint32_t chunk) const
    {
        return static_cast<uint32_t>(uint64_t{chunk} * m_size / chunks);
    }

    /**
     * @param chunk chunk of an operation without reduction: all but all-reduce, reduce-scatter,
     *        reduce and barrier
     * @return the only rank that has the chunk at the start
     */
    uint32_t GetSource(uint32_t chunk) const;

    /** @return all-to-all, all-to-all-v: number of parts per pair of ranks */
    uint32_t GetPartsOfPair() const
    {
        return chunks / m_size / m_size;
    }

    /**
     * @param chunk chunk of an all-to-all or all-to-all-v
     * @return the destination rank
     */
    uint32_t GetTarget(uint32_t chunk) const
    {
        const uint32_t each = chunks / m_size; // chunks per source
        return static_cast<uint32_t>((uint64_t{chunk} / each + chunk % each / GetPartsOfPair()) %
                                     m_size);
    }

    /**
     * @param rank a rank
     * @param chunk number of the chunk
     * @return whether a rank has a chunk at the start
     */
    bool HasAtStart(uint32_t rank, uint32_t chunk) const;

    /** Guaranteed final content of a chunk at a rank. */
    enum class Promise : uint8_t
    {
        NOTHING, ///< undefined
        SUM,     ///< the sum over all ranks; barrier: the set of all ranks
        COPY     ///< the content at rank GetSource()
    };

    /**
     * @param rank a rank
     * @param chunk number of the chunk
     * @return the guaranteed final content of a chunk at a rank
     */
    Promise GetPromise(uint32_t rank, uint32_t chunk) const;

    /** @return number of steps, including all segments; 0 if there are no actions */
    uint32_t GetSteps() const;

    /** @return maximum number of copies of a chunk per rank, including the original */
    uint32_t GetCopies() const
    {
        return m_copies;
    }

    /** @return number of parts of the data with messages of their own, such as rings or trees */
    uint32_t GetLanes() const
    {
        return m_lanes;
    }

    /** @return memory footprint, bytes */
    uint64_t GetMemory() const;

  private:
    /** Where the chunks of an action are. */
    enum class Place : uint8_t
    {
        ACTION, // in the action: one run
        RANK,   // in the list of its rank: index of the first run, number of runs
        SHARED  // in the shared lists: number of the list
    };

    /** An action in compact form. */
    struct Stored
    {
        uint32_t peer;
        uint32_t step;
        ChunkRun run;   // see Place
        uint32_t after; // index of its first dependency
        uint32_t next;  // index of its first dependent action
        uint16_t message;
        Kind kind;
        uint8_t place : 2; // a Place
        uint8_t isGranted : 1;
    };

    /** The actions of a rank. */
    struct List
    {
        std::vector<Stored> actions;
        std::vector<ChunkRun> runs; // of actions with several runs
        std::vector<uint32_t> after;
        std::vector<uint32_t> next;
        std::vector<uint32_t> roots;
        std::vector<uint32_t> receives; // receives, sorted by peer, step, message
    };

    const List& GetList(uint32_t rank) const
    {
        return m_lists[m_symmetry == Symmetry::NONE ? rank : 0];
    }

    void StoreRankZero(Symmetry symmetry, bool chunksToo);
    uint32_t Append(uint32_t rank,
                    Kind kind,
                    uint32_t peer,
                    Place place,
                    ChunkRun run,
                    uint32_t step,
                    const std::vector<uint32_t>& after,
                    uint32_t message);
    void CheckLimits();
    std::pair<const ChunkRun*, const ChunkRun*> GetRuns(const List& list,
                                                        const Stored& stored) const;
    void UseChunks(const List& list, uint32_t index, ChunkDependencies& dependencies) const;
    void MarkGranted();

    Indices Find(const std::vector<uint32_t>& all,
                 const List& list,
                 uint32_t Stored::*first,
                 uint32_t index) const;

    uint32_t m_size{0};
    Symmetry m_symmetry{Symmetry::NONE};
    bool m_symmetricChunks{false};
    uint32_t m_copies{1};
    uint32_t m_lanes{1};
    std::vector<List> m_lists;
    std::vector<std::vector<ChunkRun>> m_shared;
    std::unordered_multimap<uint64_t, uint32_t>
        m_sharedNumbers; // by hash of the list; until Close()
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COLLECTIVE_SCHEDULE_H
