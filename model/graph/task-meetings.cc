/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "task-meetings.h"

#include <iterator>
#include <utility>

namespace ns3::training
{

namespace
{

/** @return the key of a collective of a group */
StartKey
MakeKey(uint32_t groups, uint32_t group, uint64_t number)
{
    return {static_cast<uint64_t>(TaskKind::COLLECTIVE), groups, group, number, 0};
}

/** @return the key of a message, by its number among those of its tag */
StartKey
MakeKey(uint32_t sender, uint32_t receiver, uint64_t tag, uint64_t number)
{
    return {static_cast<uint64_t>(TaskKind::SEND), sender, receiver, tag, number};
}

} // namespace

TaskMeetings::TaskMeetings(const TaskGraph& graph, std::vector<bool> isLocal, RankImages images)
    : m_isLocal(std::move(isLocal)),
      m_images(images)
{
    for (const TaskGroups& groups : graph.GetGroups())
    {
        m_groupOfRank.push_back(groups.GetIndices(graph.GetRanks()));
        const std::size_t count = groups.groups.empty() ? 1 : groups.groups.size();
        m_sizes.emplace_back(count);
        m_localSizes.emplace_back(count);
        for (uint32_t rank = 0; rank < graph.GetRanks(); rank++)
        {
            const uint32_t group = m_groupOfRank.back()[rank];
            if (group != TaskGroups::NO_GROUP && m_images.GetImage(rank) == 0)
            {
                m_sizes.back()[group]++;
                m_localSizes.back()[group] += IsLocal(rank) ? 1 : 0;
            }
        }
    }
}

bool
TaskMeetings::IsDivided() const
{
    return !m_isLocal.empty();
}

bool
TaskMeetings::IsLocal(uint32_t rank) const
{
    return m_isLocal.empty() || m_isLocal.at(rank);
}

/** @return whether a group has ranks here and elsewhere */
bool
TaskMeetings::IsShared(uint32_t groups, uint32_t group) const
{
    return m_localSizes[groups][group] < m_sizes[groups][group];
}

bool
TaskMeetings::IsLater(const Beginning& start, const Beginning& than)
{
    return start.time != than.time ? start.time > than.time : start.rank > than.rank;
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
        const uint32_t group = m_groupOfRank[task.groups][rank];
        const StartKey key = MakeKey(task.groups, group, number);
        if (IsShared(task.groups, group))
        {
            StartShared(key, beginning);
            return;
        }
        const auto [found, isFirst] = m_meetings.try_emplace(key);
        if (isFirst || IsLater(beginning, found->second.last))
        {
            found->second.last = beginning;
        }
    }
    else if (task.kind == TaskKind::SEND && !IsLocal(task.peer))
    {
        const uint64_t message = m_messages[{rank, task.peer, task.tag}]++;
        StartShared(MakeKey(rank, task.peer, task.tag, message), beginning);
    }
    else if (task.kind == TaskKind::SEND)
    {
        // What goes to another image arrives here as from the image on the other side.
        m_sent[{m_images.TurnBack(rank, task.peer), m_images.GetSimulated(task.peer), task.tag}]
            .push_back(beginning);
    }
}

void
TaskMeetings::StartShared(const StartKey& key, const Beginning& beginning)
{
    m_causes[{key, beginning.rank}] = beginning;
    for (uint64_t part : key)
    {
        m_packed(part);
    }
    m_packed(beginning.rank, beginning.time);
    if (key[0] == static_cast<uint64_t>(TaskKind::COLLECTIVE))
    {
        m_shared[key].starts.push_back(beginning);
    }
}

void
TaskMeetings::End(const GraphTask& task, uint64_t number, const std::shared_ptr<TaskTrace>& trace)
{
    if (task.kind == TaskKind::COLLECTIVE)
    {
        const uint32_t group = m_groupOfRank[task.groups][trace->rank];
        const StartKey key = MakeKey(task.groups, group, number);
        if (IsShared(task.groups, group))
        {
            m_open.push_back({key, trace});
            return;
        }
        const auto found = m_meetings.find(key);
        Note(found->second.last, *trace);
        if (++found->second.ended == m_sizes[task.groups][group])
        {
            m_meetings.erase(found);
        }
    }
    else if (task.kind == TaskKind::RECEIVE && !IsLocal(task.peer))
    {
        const uint64_t message = m_messages[{task.peer, trace->rank, task.tag}]++;
        m_open.push_back({MakeKey(task.peer, trace->rank, task.tag, message), trace});
    }
    else if (task.kind == TaskKind::RECEIVE)
    {
        const auto found = m_sent.find({task.peer, trace->rank, task.tag});
        if (found == m_sent.end())
        {
            return; // the sender's part of the job is left out
        }
        Note(found->second.front(), *trace);
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

std::string
TaskMeetings::Pack()
{
    std::string packed = m_packed.GetText();
    m_packed.Clear();
    return packed;
}

void
TaskMeetings::Merge(const std::string& packed)
{
    ByteReader reader(packed.data(), packed.size());
    while (!reader.IsAtEnd())
    {
        StartKey key;
        for (uint64_t& part : key)
        {
            reader(part);
        }
        Beginning beginning;
        reader(beginning.rank, beginning.time);
        const bool isCollective = key[0] == static_cast<uint64_t>(TaskKind::COLLECTIVE);
        if (isCollective ? m_localSizes[key[1]][key[2]] > 0
                         : IsLocal(static_cast<uint32_t>(key[2])))
        {
            m_shared[key].starts.push_back(beginning);
        }
    }
}

void
TaskMeetings::Resolve()
{
    for (const Open& open : std::exchange(m_open, {}))
    {
        Resolve(open);
    }
}

void
TaskMeetings::Resolve(const Open& open)
{
    const auto found = m_shared.find(open.key);
    if (found == m_shared.end())
    {
        return; // this process has stopped later than the other one
    }
    const Beginning* last = nullptr;
    for (const Beginning& start : found->second.starts)
    {
        if (start.time <= open.trace->end && (!last || IsLater(start, *last)))
        {
            last = &start;
        }
    }
    if (last)
    {
        Beginning beginning = *last;
        if (!IsLocal(last->rank))
        {
            beginning.cause = std::make_shared<DistantCause>(last->rank, open.key);
        }
        Note(beginning, *open.trace);
    }
    const bool isCollective = open.key[0] == static_cast<uint64_t>(TaskKind::COLLECTIVE);
    const uint32_t members = isCollective ? m_localSizes[open.key[1]][open.key[2]] : 1;
    if (++found->second.ended == members)
    {
        m_shared.erase(found);
    }
}

TaskTrace::Pointer
TaskMeetings::FindCause(const DistantCause& distant) const
{
    const auto found = m_causes.find({distant.key, distant.rank});
    return found == m_causes.end() ? nullptr : found->second.cause;
}

void
TaskMeetings::Forget(Time before)
{
    for (auto start = m_causes.begin(); start != m_causes.end();)
    {
        start = start->second.time < before ? m_causes.erase(start) : std::next(start);
    }
}

} // namespace ns3::training
