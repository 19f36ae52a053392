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

#include <cstdint>
#include <deque>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-graph
 *
 * Who let a communication begin: of a collective the rank that joined last, of a message its
 * sender. It only observes.
 */
class TaskMeetings
{
  public:
    /** @param graph of the tasks */
    explicit TaskMeetings(const TaskGraph& graph);

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
     * @param trace receives when it could begin, and because of whom
     */
    void End(const GraphTask& task, uint64_t number, TaskTrace& trace);

  private:
    /** The start of a rank. */
    struct Beginning
    {
        uint32_t rank{0};
        Time time;
        TaskTrace::Pointer cause;
    };

    /** A collective of a group that some rank has started, and some rank has not ended. */
    struct Meeting
    {
        Beginning last;
        uint32_t ended{0};
    };

    static void Note(const Beginning& start, TaskTrace& trace);

    std::vector<std::vector<uint32_t>> m_groupOfRank; // by groups and rank: index of its group
    std::vector<std::vector<uint32_t>> m_sizes;       // by groups and group
    /// By groups, group and number.
    std::map<std::tuple<uint32_t, uint32_t, uint64_t>, Meeting> m_meetings;
    /// Messages sent and not received, by sender, receiver and tag.
    std::map<std::tuple<uint32_t, uint32_t, uint64_t>, std::deque<Beginning>> m_sent;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TASK_MEETINGS_H
