/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "run/checked-network.h"

#include "ns3/collective-operation.h"

#include <cstddef>

namespace ns3::training
{

CheckedNetwork::CheckedNetwork(const TaskGraph& graph, const ClusterOptions& cluster)
    : m_graph(graph),
      m_topology(*cluster.GetTopology(graph.GetRanks())),
      m_paths(m_topology)
{
}

const std::vector<uint32_t>&
CheckedNetwork::GetGroup(uint32_t groups, uint32_t rank)
{
    const auto [found, isNew] = m_groups.try_emplace({groups, rank});
    if (isNew)
    {
        found->second = m_graph.GetGroup(groups, rank);
    }
    return found->second;
}

Time
CheckedNetwork::GetTime(const GraphTask& task, uint32_t rank)
{
    const std::vector<uint32_t>& group = GetGroup(task.groups, rank);
    auto found = m_bounds.find(group);
    if (found == m_bounds.end())
    {
        found = m_bounds.emplace(group, LowerBound(m_topology, group, 1)).first;
    }
    return Seconds(found->second.GetSeconds(task.operation, task.bytes, task.matrix));
}

double
CheckedNetwork::GetSecondsPerByte(uint32_t from, uint32_t to)
{
    constexpr uint64_t MANY = 1000000000;
    const LowerBound bound(m_topology, {from, to}, 1);
    return bound.GetSeconds(CollectiveOperation::SEND_RECEIVE, MANY) / MANY;
}

uint32_t
CheckedNetwork::GetHops(uint32_t from, uint32_t to)
{
    const auto [found, isNew] = m_toRank.try_emplace(to);
    if (isNew)
    {
        m_paths.Search(to);
        found->second = m_paths.GetPaths();
    }
    return found->second[from].links;
}

double
CheckedNetwork::GetHopsInGroup(uint32_t groups, uint32_t rank)
{
    const auto [found, isNew] = m_hops.try_emplace({groups, rank}, 0.0);
    if (isNew)
    {
        const std::vector<uint32_t>& group = GetGroup(groups, rank);
        constexpr std::size_t SAMPLES = 32;
        const std::size_t step = (group.size() + SAMPLES - 1) / SAMPLES;
        double count = 0;
        for (std::size_t place = 0; place < group.size(); place += step, count++)
        {
            found->second += GetHops(group[place], group[(place + 1) % group.size()]);
        }
        found->second /= count;
    }
    return found->second;
}

} // namespace ns3::training
