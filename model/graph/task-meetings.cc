/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "task-meetings.h"

namespace ns3::training
{

TaskMeetings::TaskMeetings(const TaskGraph& graph)
{
    for (const TaskGroups& groups : graph.GetGroups())
    {
        m_groupOfRank.push_back(groups.GetIndices(graph.GetRanks()));
        m_sizes.emplace_back();
        for (const auto& group : groups.groups)
        {
            m_sizes.back().push_back(static_cast<uint32_t>(group.size()));
        }
        if (groups.groups.empty())
        {
            m_sizes.back().push_back(graph.GetRanks());
        }
    }
}

void
TaskMeetings::Start(uint32_t rank,
                    const GraphTask& task,
                    uint64_t number,
                    Time now,
                    const TaskTrace::Pointer& cause)
{
    const Beginning beginning{rank, now, cause};
    if (task.kind == TaskKind::COLLECTIVE)
    {
        m_meetings[{task.groups, m_groupOfRank[task.groups][rank], number}].last = beginning;
    }
    else if (task.kind == TaskKind::SEND)
    {
        m_sent[{rank, task.peer, task.tag}].push_back(beginning);
    }
}

void
TaskMeetings::End(const GraphTask& task, uint64_t number, TaskTrace& trace)
{
    if (task.kind == TaskKind::COLLECTIVE)
    {
        const uint32_t group = m_groupOfRank[task.groups][trace.rank];
        const auto found = m_meetings.find({task.groups, group, number});
        Note(found->second.last, trace);
        if (++found->second.ended == m_sizes[task.groups][group])
        {
            m_meetings.erase(found);
        }
    }
    else if (task.kind == TaskKind::RECEIVE)
    {
        const auto found = m_sent.find({task.peer, trace.rank, task.tag});
        if (found == m_sent.end())
        {
            return; // the sender is in another process
        }
        Note(found->second.front(), trace);
        found->second.pop_front();
        if (found->second.empty())
        {
            m_sent.erase(found);
        }
    }
}

void
TaskMeetings::Note(const Beginning& beginning, TaskTrace& trace)
{
    if (beginning.rank != trace.rank && beginning.time > trace.start)
    {
        trace.ready = beginning.time;
        trace.partner = beginning.cause;
    }
}

} // namespace ns3::training
