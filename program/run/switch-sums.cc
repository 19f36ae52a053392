/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "run/switch-sums.h"

#include "ns3/aggregation-tree.h"
#include "ns3/library-selector.h"
#include "ns3/nvls-helper.h"
#include "ns3/sharp-helper.h"
#include "ns3/shortest-paths.h"

namespace ns3::training
{

SwitchSums::SwitchSums(const ClusterOptions& cluster, const TopologyGraph& topology)
    : m_cluster(cluster),
      m_topology(topology)
{
}

SwitchSums::Group
SwitchSums::MakeGroup(const std::vector<uint32_t>& ranks) const
{
    const auto size = static_cast<uint32_t>(ranks.size());
    const bool isAtSwitch = !NvlsHelper::FindCommonSwitch(m_topology, ranks).empty();
    const bool canSum = m_cluster.schedule.empty() && size > 1;
    Group group;
    if (canSum && m_cluster.algorithm == LibrarySelector::NAME)
    {
        const auto choice = Choose<HostModelEntry>(m_cluster.hostModel);
        group.hosts = choice.entry->make({m_topology, ranks, size, choice.values});
        if (group.hosts && group.hosts->HasSwitches() && (isAtSwitch || size == m_cluster.ranks))
        {
            group.system = LibrarySelector::GetInNetwork(m_topology, size);
        }
    }
    else if (canSum && IsInNetwork(m_cluster.algorithm))
    {
        const bool divides = Choose<InNetworkSystem>(m_cluster.algorithm).entry->divide;
        if (divides ? isAtSwitch : size == m_cluster.ranks)
        {
            group.system = m_cluster.algorithm;
        }
    }
    if (!group.system.empty())
    {
        group.links = CountLinks(Choose<InNetworkSystem>(group.system).entry->work.place, ranks);
    }
    return group;
}

/** @return links that a packet of a rank crosses on its way to a sum and back, mean of all ranks */
double
SwitchSums::CountLinks(SumPlace place, const std::vector<uint32_t>& group) const
{
    /// Requests, answers and writes, and what a rank has of them beside.
    constexpr double READ = 3.5;
    if (place == SumPlace::SERVER)
    {
        return READ;
    }
    const auto tree = BuildAggregationTree(m_topology,
                                           group,
                                           0,
                                           place == SumPlace::TREE ? AggregationLevels::ALL
                                                                   : AggregationLevels::TWO);
    ShortestPaths paths(m_topology);
    double links = 0;
    for (const AggregationNode& node : tree)
    {
        const bool isSum = place != SumPlace::ROOT;
        paths.Search(m_topology.hosts + (isSum ? node : tree.front()).switchIndex);
        const auto& toSum = paths.GetPaths();
        for (uint32_t host : node.hosts)
        {
            links += toSum[host].links;
        }
        for (uint32_t below : node.below)
        {
            links += isSum ? toSum[m_topology.hosts + tree[below].switchIndex].links : 0;
        }
    }
    return 2 * links / static_cast<double>(group.size());
}

std::optional<SimulatedMessages>
SwitchSums::Find(CollectiveOperation operation, const std::vector<uint32_t>& group, double bytes)
{
    const auto [found, isNew] = m_groups.try_emplace(group);
    if (isNew)
    {
        found->second = MakeGroup(group);
    }
    const auto& [name, hosts, links] = found->second;
    if (name.empty() || (hosts && !hosts->PrefersSwitches(static_cast<uint64_t>(bytes))))
    {
        return std::nullopt;
    }
    const auto system = Choose<InNetworkSystem>(name);
    if (system.entry->operations.find(GetName(operation)) == std::string::npos)
    {
        return std::nullopt;
    }
    const InNetworkWork& work = system.entry->work;
    const std::string elements = SharpHelper::ELEMENTS_KEY;
    const double packet = system.values.IsGiven(elements)
                              ? sizeof(float) * system.values.GetCount(elements)
                              : work.packetBytes;
    return SimulatedMessages{1, bytes / packet, links, false, work.cost};
}

} // namespace ns3::training
