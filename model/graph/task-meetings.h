/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TASK_MEETINGS_H
#define DISTRIBUTED_TRAINING_TASK_MEETINGS_H

#include "task-graph.h"
#include "task-trace.h"

#include "ns3/nstime.h"
#include "ns3/rank-images.h"
#include "ns3/training-byte-archive.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-graph
 *
 * Who let a communication begin: of a collective the rank that joined last, and of several at that
 * time the one with the highest number; of a message its sender. It only observes.
 *
 * If ranks are divided among processes, each process has an object of its own. They exchange the
 * starts of communication between processes from time to time, and only then know who was last.
 */
class TaskMeetings
{
  public:
    /**
     * @param graph of the tasks
     * @param isLocal by rank, whether it is in this process; empty: all are
     * @param images ranks that are not simulated; only if all are in this process
     */
    explicit TaskMeetings(const TaskGraph& graph,
                          std::vector<bool> isLocal = {},
                          RankImages images = {});

    /** @return whether some ranks are in other processes */
    bool IsDivided() const;

    /**
     * @param rank starts a collective or sends a message
     * @param task the collective or message
     * @param number of the collective at this rank, in its groups, from 0
     * @param now when it starts
     * @param cause what let it start
     */
    void Start(uint32_t rank,
               const GraphTask& task,
               uint64_t number,
               Time now,
               const TaskTrace::Pointer& cause);

    /**
     * @param task a collective or the receipt of a message, which ends
     * @param number of the collective
     * @param trace receives when it could begin, and because of whom; between processes with
     *        Resolve()
     */
    void End(const GraphTask& task, uint64_t number, const std::shared_ptr<TaskTrace>& trace);

    /** @return starts since the last call that other processes need */
    std::string Pack();

    /** @param packed starts of another process, up to the same simulated time */
    void Merge(const std::string& packed);

    /** Completes the traces of communication between processes that has ended. */
    void Resolve();

    /**
     * @param distant a start of a rank of this process
     * @return its cause; null: it had none, or is forgotten
     */
    TaskTrace::Pointer FindCause(const DistantCause& distant) const;

    /** @param rank a rank @return whether it is in this process */
    bool IsLocal(uint32_t rank) const;

    /** @param before starts earlier than this are not looked for any more */
    void Forget(Time before);

  private:
    /** The start of a rank. */
    struct Beginning
    {
        uint32_t rank{0};
        Time time;
        TaskTrace::Pointer cause; // null: none, or in another process
    };

    /** A collective of a group that some rank has started, and some rank has not ended. */
    struct Meeting
    {
        Beginning last;
        uint32_t ended{0};
    };

    /** A communication between processes that some rank has started. */
    struct Shared
    {
        std::vector<Beginning> starts;
        uint32_t ended{0}; // at ranks of this process
    };

    /** A task whose communication between processes has ended. */
    struct Open
    {
        StartKey key;
        std::shared_ptr<TaskTrace> trace;
    };

    static void Note(const Beginning& start, TaskTrace& trace);
    static bool IsLater(const Beginning& start, const Beginning& than);
    bool IsShared(uint32_t groups, uint32_t group) const;
    void StartShared(const StartKey& key, const Beginning& beginning);
    void Resolve(const Open& open);

    std::vector<bool> m_isLocal; // by rank; empty: all
    const RankImages m_images;
    std::vector<std::vector<uint32_t>> m_groupOfRank; // by groups and rank: index of its group
    std::vector<std::vector<uint32_t>> m_sizes;       // by groups and group
    std::vector<std::vector<uint32_t>> m_localSizes;  // likewise, ranks of this process
    std::map<StartKey, Meeting> m_meetings;           // of this process only
    /// Messages in this process, sent and not received, by sender, receiver and tag.
    std::map<std::tuple<uint32_t, uint32_t, uint64_t>, std::deque<Beginning>> m_sent;
    std::map<StartKey, Shared> m_shared; // between processes, until all ranks here have ended it
    /// Messages between processes so far, by sender, receiver and tag.
    std::map<std::tuple<uint32_t, uint32_t, uint64_t>, uint64_t> m_messages;
    /// Starts of ranks of this process that a path may lead to, by rank.
    std::map<std::pair<StartKey, uint32_t>, Beginning> m_causes;
    std::vector<Open> m_open;
    ByteWriter m_packed;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TASK_MEETINGS_H
