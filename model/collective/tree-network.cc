/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective/tree-network.h"

#include <algorithm>
#include <limits>

namespace ns3::training
{

namespace
{

/** @return |a - b| */
uint32_t
GetDistance(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

/** @return priority of a host for RootOrder::SORTED */
uint32_t
GetPriority(const TopologyShape& shape, uint32_t host)
{
    if (shape.wraps || shape.sides.size() != 2)
    {
        return 0;
    }
    const uint32_t lastRow = shape.sides[0] - 1;
    const uint32_t lastColumn = shape.sides[1] - 1;
    const uint32_t row = host / shape.sides[1];
    return std::max({row,
                     row + lastColumn,
                     lastRow - row + lastRow,
                     lastRow - row + GetDistance(lastRow, lastColumn)});
}

/** @return rate of the slowest link, bit/s */
uint64_t
GetSlowestRate(const TopologyGraph& topology)
{
    uint64_t slowest = std::numeric_limits<uint64_t>::max();
    for (const auto& link : topology.links)
    {
        slowest = std::min(slowest, link.rate.GetBitRate());
    }
    return slowest;
}

} // namespace

TreeNetwork
MakeTreeNetwork(const TopologyGraph& topology, const std::vector<uint32_t>& hosts)
{
    const uint64_t unit = GetSlowestRate(topology);
    const auto linksOf = topology.GetLinksOfNodes();
    TreeNetwork network;
    network.neighbors.resize(topology.switches);
    constexpr uint32_t NONE = std::numeric_limits<uint32_t>::max();
    std::vector<uint32_t> home(topology.GetNodes(), NONE); // switch number by node
    for (uint32_t i = 0; i < topology.switches; i++)
    {
        home[topology.hosts + i] = i;
    }
    for (uint32_t host : hosts)
    {
        uint64_t rate = 0;
        uint32_t first = 0;
        bool several = false;
        for (uint32_t link : linksOf[host])
        {
            const uint32_t peer = TopologyGraph::GetPeer(topology.links[link], host);
            several |= rate > 0 && peer != first;
            first = peer;
            rate += topology.links[link].rate.GetBitRate();
        }
        if (several || first < topology.hosts)
        {
            first = host;
            home[host] = static_cast<uint32_t>(network.neighbors.size());
            network.neighbors.emplace_back();
        }
        network.switchOf.push_back(home[first]);
        network.ports.push_back(static_cast<uint32_t>(rate / unit));
        network.priority.push_back(GetPriority(topology.shape, host));
    }
    for (uint32_t node = 0; node < topology.GetNodes(); node++)
    {
        for (uint32_t link : linksOf[node])
        {
            const uint32_t peer = TopologyGraph::GetPeer(topology.links[link], node);
            if (home[node] != NONE && home[peer] != NONE)
            {
                auto& list = network.neighbors[home[node]];
                list.insert(list.end(), topology.links[link].rate.GetBitRate() / unit, home[peer]);
            }
        }
    }
    return network;
}

} // namespace ns3::training
