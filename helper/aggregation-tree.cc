/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "aggregation-tree.h"

#include "ns3/configuration-error.h"
#include "ns3/log.h"

#include <algorithm>
#include <deque>
#include <map>
#include <string>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingAggregationTree");

namespace
{

/** For each node the nodes next to it. */
std::vector<std::vector<uint32_t>>
GetNeighbors(const TopologyGraph& topology)
{
    std::vector<std::vector<uint32_t>> neighbors(topology.GetNodes());
    for (const auto& link : topology.links)
    {
        neighbors[link.a].push_back(link.b);
        neighbors[link.b].push_back(link.a);
    }
    return neighbors;
}

/** @return hops from a switch to each node, through switches only */
std::vector<uint32_t>
GetDistances(const TopologyGraph& topology,
             const std::vector<std::vector<uint32_t>>& neighbors,
             uint32_t from)
{
    std::vector<uint32_t> distances(topology.GetNodes(), AggregationNode::NONE);
    distances[from] = 0;
    std::deque<uint32_t> queue{from};
    while (!queue.empty())
    {
        const uint32_t node = queue.front();
        queue.pop_front();
        for (uint32_t next : neighbors[node])
        {
            if (next >= topology.hosts && distances[next] == AggregationNode::NONE)
            {
                distances[next] = distances[node] + 1;
                queue.push_back(next);
            }
        }
    }
    return distances;
}

} // namespace

std::vector<AggregationNode>
BuildAggregationTree(const TopologyGraph& topology,
                     const std::vector<uint32_t>& hosts,
                     uint32_t choice)
{
    const auto neighbors = GetNeighbors(topology);
    std::map<uint32_t, std::vector<uint32_t>> hostsOf; // by the switch they are linked to
    for (uint32_t host : hosts)
    {
        if (neighbors[host].empty() || neighbors[host].front() < topology.hosts)
        {
            throw ConfigurationError("topology '" + topology.name + "': host " +
                                     std::to_string(host) +
                                     " is linked to no switch that could add (allowed: all are)");
        }
        hostsOf[neighbors[host].front()].push_back(host);
    }
    uint32_t root = hostsOf.begin()->first;
    if (hostsOf.size() > 1)
    {
        std::vector<uint32_t> farthest(topology.GetNodes(), 0);
        for (const auto& [node, there] : hostsOf)
        {
            const auto distances = GetDistances(topology, neighbors, node);
            for (uint32_t i = topology.hosts; i < topology.GetNodes(); i++)
            {
                farthest[i] = std::max(farthest[i], distances[i]);
            }
        }
        const uint32_t least = *std::min_element(farthest.begin() + topology.hosts, farthest.end());
        std::vector<uint32_t> roots;
        for (uint32_t i = topology.hosts; i < topology.GetNodes(); i++)
        {
            if (farthest[i] == least)
            {
                roots.push_back(i);
            }
        }
        root = roots[choice % roots.size()];
    }
    std::vector<AggregationNode> tree(1);
    tree[0].switchIndex = root - topology.hosts;
    for (const auto& [node, there] : hostsOf)
    {
        if (node == root)
        {
            tree[0].hosts = there;
            continue;
        }
        AggregationNode leaf;
        leaf.switchIndex = node - topology.hosts;
        leaf.parent = 0;
        leaf.hosts = there;
        tree[0].below.push_back(static_cast<uint32_t>(tree.size()));
        tree.push_back(leaf);
    }
    return tree;
}

} // namespace ns3::training
