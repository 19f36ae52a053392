/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "private-groups.h"

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
                             const std::vector<std::set<CollectiveOperation>>& operations,
                             const std::vector<uint32_t>& senders)
    : m_servers(std::move(place.servers)),
      m_inside(operations.size(), std::vector<bool>(graph.GetRanks())),
      m_isAlone(operations.size())
{
    const ClusterOptions& options = place.options;
    if (place.hasFaults || options.background != "none" || options.hostJitter != "none" ||
        options.nic != "none" || options.codec != "none" || !options.pcap.empty())
    {
        return; // collectives need not repeat themselves
    }
    AddCollectives(graph, operations, place.isWhole);
    AddMessages(graph, senders);
}

void
PrivateGroups::AddCollectives(const TaskGraph& graph,
                              const std::vector<std::set<CollectiveOperation>>& operations,
                              bool isWhole)
{
    uint32_t active = 0;
    for (uint32_t index = 0; index < operations.size(); index++)
    {
        if (operations[index].empty())
        {
            continue;
        }
        active++;
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
    for (uint32_t index = 0; index < operations.size(); index++)
    {
        m_isAlone[index] =
            isWhole && active == 1 && graph.GetGroups()[index].AreAll(graph.GetRanks());
    }
}

void
PrivateGroups::AddMessages(const TaskGraph& graph, const std::vector<uint32_t>& senders)
{
    for (uint32_t rank : senders)
    {
        const auto source = graph.MakeSource(rank, 1);
        for (GraphTask task; source->Next(task); task = {})
        {
            if (task.kind != TaskKind::SEND)
            {
                continue;
            }
            m_isAlone.assign(m_isAlone.size(), false);
            if (m_servers[rank] != NO_SERVER && m_servers[rank] == m_servers[task.peer])
            {
                m_users[m_servers[rank]].insert(MESSAGES);
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
    return m_inside[groups][rank] && m_users.at(m_servers[rank]) == std::set<uint32_t>{groups};
}

} // namespace ns3::training
