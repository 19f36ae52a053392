/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_COLLECTIVE_SCHEDULE_H
#define DISTRIBUTED_TRAINING_COLLECTIVE_SCHEDULE_H

#include "collective-chunks.h"
#include "rank-actions.h"
#include "schedule-action.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * A collective as data: for each rank, a directed acyclic graph of sends, receives and local copies
 * of chunks. Algorithms build schedules. ScheduledCommunicator executes a schedule over a network,
 * InterpretSchedule() executes it in memory, and VerifySchedule() proves its correctness, whatever
 * its origin.
 *
 * *Copies.* A rank may keep additional copies of chunk c: the second copy has number c + chunks,
 * the third c + 2 * chunks, and so on. Sender and receiver of a message may use different copies.
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
 * additional code. With a `window` w, a rank starts w segments, and another one with each that is
 * complete at this rank: so leaves of a tree do not run ahead, like NCCL's connections, whose slots
 * are few.
 */
class CollectiveSchedule : public CollectiveChunks
{
    using Place = RankActions::Place;

  public:
    using Kind = ScheduleAction::Kind; ///< kind of an action

    std::string algorithm; ///< name of its algorithm
    uint32_t segments{1};  ///< segments per chunk, for pipelining
    uint32_t window{0};    ///< segments that a rank has begun and not completed; 0: any number
    bool stepwise{false};  ///< whether each rank takes one step after the other, see above
    uint32_t protocol{0};  ///< of NCCL, an index of GetProtocols()

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

    /** @return names of NCCL's protocols: Simple, LL, LL128 */
    static const std::vector<std::string>& GetProtocols();

    /** @return bytes that are sent for a byte of data: LL and LL128 add flags */
    double GetWireFactor() const;

    /** @param ranks number of ranks; removes all actions */
    void Resize(uint32_t ranks);

    /**
     * Stores the actions of rank 0 only, see above. Must be called before the first Add().
     * @param chunksToo whether the chunks rotate with the ranks
     */
    void UseRotation(bool chunksToo)
    {
        StoreRankZero(Symmetry::ROTATION, chunksToo);
    }

    /** Likewise, if CanUseExclusiveOr(). */
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
    SharedChunks Share(const ChunkList& list)
    {
        return m_shared.Share(list);
    }

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
     * @param rank,kind,peer,run,step,after,message see above
     * @return number of the new action
     */
    uint32_t Add(uint32_t rank,
                 Kind kind,
                 uint32_t peer,
                 ChunkRun run,
                 uint32_t step,
                 const std::vector<uint32_t>& after = {},
                 uint32_t message = 0)
    {
        return Append(rank, kind, peer, Place::ACTION, run, step, after, message);
    }

    /**
     * Appends an action on a list that Share() has returned.
     * @param rank,kind,peer,list,step,after,message see above
     * @return number of the new action
     */
    uint32_t Add(uint32_t rank,
                 Kind kind,
                 uint32_t peer,
                 SharedChunks list,
                 uint32_t step,
                 const std::vector<uint32_t>& after = {},
                 uint32_t message = 0)
    {
        const Place place = list.run.count > 0 ? Place::ACTION : Place::SHARED;
        return Append(rank, kind, peer, place, list.run, step, after, message);
    }

    /**
     * Derives the dependencies between actions, after the last Add().
     * @param derive whether actions depend on earlier actions on the same chunks and, if stepwise,
     *        of the previous step; otherwise only on the actions that they name
     * @throw ConfigurationError if there are too many steps, messages, segments or copies
     */
    void Close(bool derive = true);

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
        return static_cast<uint32_t>(GetList(rank).GetAll().size());
    }

    /**
     * @param rank rank that performs the action
     * @param index 0 to GetActions(rank) - 1
     * @return the action; valid until the schedule changes
     */
    ScheduleAction Get(uint32_t rank, uint32_t index) const;

    using Indices = RankActions::Indices; ///< a range of action numbers within a segment

    /**
     * @param rank rank that performs the action
     * @param index action number in the first segment
     * @return the earlier actions that it depends on, ascending
     */
    Indices GetDependencies(uint32_t rank, uint32_t index) const
    {
        return GetList(rank).GetDependencies(index);
    }

    /**
     * @param rank rank that performs the action
     * @param index action number in the first segment
     * @return the later actions that depend on it, ascending
     */
    Indices GetNext(uint32_t rank, uint32_t index) const
    {
        return GetList(rank).GetNext(index);
    }

    /** @param rank a rank @return the actions without dependencies in a rank's first segment */
    Indices GetRoots(uint32_t rank) const
    {
        return GetList(rank).GetRoots();
    }

    /// Result of FindReceive() if there is no such action.
    static constexpr uint32_t NONE = RankActions::NONE;

    /**
     * @param rank receiving rank
     * @param peer sending rank
     * @param step step of the message, including its segment
     * @param message message index, including its segment
     * @return number of the action that receives the message, or NONE
     */
    uint32_t FindReceive(uint32_t rank, uint32_t peer, uint32_t step, uint32_t message) const;

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
    const RankActions& GetList(uint32_t rank) const
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
    void MarkGranted();

    Symmetry m_symmetry{Symmetry::NONE};
    bool m_symmetricChunks{false};
    uint32_t m_copies{1};
    uint32_t m_lanes{1};
    std::vector<RankActions> m_lists; // by stored ranks
    SharedChunkLists m_shared;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_COLLECTIVE_SCHEDULE_H
