/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "topology/topology-contents.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

namespace
{

/// The highest rate that FileContents::hostFactor makes, bit/s: that of LINK_RATES.
constexpr uint64_t HOST_RATE_LIMIT = 100'000'000'000'000;

} // namespace

void
BuildFromContents(const FileContents& contents, TopologyGraph& graph)
{
    std::vector<bool> forwards(contents.nodes, false); // hosts that forward and need a router
    std::vector<uint32_t> links(contents.nodes, 0);
    for (const FileLink& link : contents.links)
    {
        for (uint32_t node : {link.link.a, link.link.b})
        {
            const bool isHost = contents.hostsForward && !contents.isSwitch[node];
            forwards[node] = forwards[node] || (isHost && ++links[node] > 1);
        }
        const auto& [a, b] = std::pair(link.link.a, link.link.b);
        if (!contents.isSwitch[a] && !contents.isSwitch[b])
        {
            forwards[a] = true;
            forwards[b] = true;
        }
    }
    graph.hosts = static_cast<uint32_t>(
        std::count(contents.isSwitch.begin(), contents.isSwitch.end(), false));
    std::vector<uint32_t> number(contents.nodes); // graph node of each node or its router
    std::vector<std::pair<uint32_t, uint32_t>> routers;
    uint32_t host = 0;
    uint32_t next = graph.hosts;
    for (uint32_t node = 0; node < contents.nodes; node++)
    {
        number[node] = contents.isSwitch[node] || forwards[node] ? next++ : host;
        if (forwards[node])
        {
            routers.emplace_back(host, number[node]);
        }
        if (!contents.isSwitch[node])
        {
            graph.nodesOfHosts.push_back(node);
            host++;
        }
    }
    if (graph.nodesOfHosts.back() + 1 == graph.hosts)
    {
        graph.nodesOfHosts.clear();
    }
    graph.switches = next - graph.hosts;
    for (uint32_t node : contents.scaleUpSwitches)
    {
        graph.scaleUpSwitches.insert(number[node] - graph.hosts);
    }
    for (const FileLink& link : contents.links)
    {
        if (!contents.isExport && contents.isSwitch[link.link.a] && contents.isSwitch[link.link.b])
        {
            // Part of a network of switches, which has one flow control.
            graph.scaleUpSwitches.erase(number[link.link.a] - graph.hosts);
            graph.scaleUpSwitches.erase(number[link.link.b] - graph.hosts);
        }
    }
    graph.shape = contents.shape;
    graph.shape.groupSize = std::min(contents.shape.groupSize, graph.hosts);
    std::vector<uint64_t> rates(next, 0);
    for (const FileLink& link : contents.links)
    {
        graph.links.push_back(link.link);
        graph.links.back().a = number[link.link.a];
        graph.links.back().b = number[link.link.b];
        rates[graph.links.back().a] += link.link.rate.GetBitRate();
        rates[graph.links.back().b] += link.link.rate.GetBitRate();
    }
    for (const auto& [owner, router] : routers)
    {
        const uint64_t sum = rates[router];
        const uint64_t rate = std::max(sum, std::min(contents.hostFactor * sum, HOST_RATE_LIMIT));
        graph.links.push_back({owner, router, DataRate(rate), NanoSeconds(1)});
        graph.links.back().internal = true;
    }
}

} // namespace ns3::training
