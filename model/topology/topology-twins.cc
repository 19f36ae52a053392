/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "topology/topology-twins.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace ns3::training
{

namespace
{

/** @return the network of some nodes, and the links between them */
TopologyGraph
Extract(const TopologyGraph& topology, const std::vector<bool>& isKept)
{
    TopologyGraph part;
    part.name = topology.name;
    std::vector<uint32_t> numberOf(topology.GetNodes(), 0);
    uint32_t number = 0;
    for (uint32_t node = 0; node < topology.GetNodes(); node++)
    {
        if (isKept[node])
        {
            numberOf[node] = number++;
            (node < topology.hosts ? part.hosts : part.switches)++;
        }
    }
    for (TopologyGraph::Link link : topology.links)
    {
        if (isKept[link.a] && isKept[link.b])
        {
            link.a = numberOf[link.a];
            link.b = numberOf[link.b];
            part.links.push_back(link);
        }
    }
    return part;
}

} // namespace

std::vector<uint32_t>
FindTwins(const TopologyGraph& topology, uint32_t first, uint32_t end)
{
    using End = std::tuple<uint32_t, uint64_t, int64_t, uint32_t, uint8_t, bool, bool>;
    std::vector<std::vector<End>> linksOf(end - first);
    for (const auto& link : topology.links)
    {
        for (const uint32_t node : {link.a, link.b})
        {
            if (node >= first && node < end)
            {
                const bool isGrid = link.dimension != TopologyGraph::NO_DIMENSION;
                linksOf[node - first].emplace_back(TopologyGraph::GetPeer(link, node),
                                                   link.rate.GetBitRate(),
                                                   link.delay.GetTimeStep(),
                                                   link.cost,
                                                   link.dimension,
                                                   isGrid && link.a == node,
                                                   link.dateline);
            }
        }
    }
    std::map<std::vector<End>, uint32_t> seen;
    std::vector<uint32_t> twinOf;
    for (uint32_t node = first; node < end; node++)
    {
        std::vector<End>& links = linksOf[node - first];
        std::sort(links.begin(), links.end());
        twinOf.push_back(seen.emplace(std::move(links), node).first->second);
    }
    return twinOf;
}

TopologyGraph
MergeTwins(const TopologyGraph& topology, uint32_t ranks)
{
    const std::vector<uint32_t> twinOf = FindTwins(topology, 0, ranks);
    std::vector<bool> isKept(topology.GetNodes(), true);
    std::vector<uint32_t> count(ranks, 0);
    for (uint32_t host = 0; host < topology.hosts; host++)
    {
        // Two, because paths between twins are looked for, too.
        isKept[host] = host < ranks && count[twinOf[host]]++ < 2;
    }
    TopologyGraph merged = Extract(topology, isKept);
    for (uint32_t before = 0; merged.switches != before;)
    {
        before = merged.switches;
        isKept.assign(merged.GetNodes(), true);
        const std::vector<uint32_t> switches = FindTwins(merged, merged.hosts, merged.GetNodes());
        for (uint32_t i = 0; i < merged.switches; i++)
        {
            isKept[merged.hosts + i] = switches[i] == merged.hosts + i;
        }
        merged = Extract(merged, isKept);
    }
    return merged;
}

} // namespace ns3::training
