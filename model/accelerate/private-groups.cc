/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "accelerate/private-groups.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace ns3::training
{

namespace
{

constexpr uint32_t NO_SERVER = TopologyGraph::NO_SERVER;
/// Stands for messages among the users of a scale-up network.
constexpr uint32_t MESSAGES = std::numeric_limits<uint32_t>::max();

} // namespace

PrivateGroups::PrivateGroups(Place place,
                             const TaskGraph& graph,
                             const std::vector<uint32_t>& senders)
    : m_servers(std::move(place.servers)),
      m_inside(graph.GetGroups().size(), std::vector<bool>(graph.GetRanks())),
      m_isAlone(graph.GetGroups().size())
{
    if (place.varies)
    {
        return; // collectives need not repeat themselves
    }
    std::set<uint32_t> used; // groups with collectives
    bool hasMessages = false;
    for (uint32_t rank : senders)
    {
        const auto source = graph.MakeSource(rank, 1);
        for (GraphTask task; source->Next(task); task = {})
        {
            if (task.kind == TaskKind::COLLECTIVE)
            {
                used.insert(task.groups);
            }
            else if (task.kind == TaskKind::SEND)
            {
                hasMessages = true;
                AddMessage(rank, task.peer);
            }
        }
    }
    AddCollectives(graph, used);
    if (place.isWhole && !hasMessages && used.size() == 1)
    {
        const uint32_t only = *used.begin();
        m_isAlone[only] = graph.GetGroups()[only].AreAll(graph.GetRanks());
    }
}

void
PrivateGroups::AddMessage(uint32_t from, uint32_t to)
{
    if (m_servers[from] != NO_SERVER && m_servers[from] == m_servers[to])
    {
        m_users[m_servers[from]].insert(MESSAGES);
    }
}

void
PrivateGroups::AddCollectives(const TaskGraph& graph, const std::set<uint32_t>& used)
{
    for (uint32_t index : used)
    {
        const auto indices = graph.GetGroups()[index].GetIndices(graph.GetRanks());
        std::map<uint32_t, std::map<uint32_t, uint32_t>> servers; // by group: ranks by server
        for (uint32_t rank = 0; rank < indices.size(); rank++)
        {
            servers[indices[rank]][m_servers[rank]]++;
        }
        for (uint32_t rank = 0; rank < indices.size(); rank++)
        {
            const auto& of = servers[indices[rank]];
            if (indices[rank] == TaskGroups::NO_GROUP || m_servers[rank] == NO_SERVER)
            {
                continue;
            }
            m_inside[index][rank] = of.size() == 1;
            if (of.at(m_servers[rank]) > 1)
            {
                m_users[m_servers[rank]].insert(index);
            }
        }
    }
}

bool
PrivateGroups::IsPrivate(uint32_t groups, uint32_t rank) const
{
    if (m_isAlone[groups])
    {
        return true;
    }
    if (!m_inside[groups][rank])
    {
        return false;
    }
    // A group of one rank sends nothing, so that its server may be without users.
    const auto users = m_users.find(m_servers[rank]);
    return users == m_users.end() || users->second == std::set<uint32_t>{groups};
}

} // namespace ns3::training
