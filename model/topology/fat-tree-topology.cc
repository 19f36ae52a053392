/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-helper
 *
 * The k-ary fat-tree (Al-Fares et al., "A scalable, commodity data center network architecture",
 * SIGCOMM 2008): k pods of k/2 edge and k/2 aggregation switches, k^2/4 core switches, k^3/4 hosts,
 * full bisection bandwidth.
 */

#include "topology-builder.h"

namespace ns3::training
{

namespace
{

/// Maximum switch radix: 128 ports give half a million hosts.
constexpr uint32_t MAX_PORTS = 128;

void
BuildFatTree(const TopologyRequest& request, TopologyGraph& graph)
{
    uint32_t k = request.GetCount("k", 0);
    if (k == 0)
    {
        for (k = 2; k < MAX_PORTS && k * k * k / 4 < request.GetRanks(); k += 2)
        {
        }
    }
    if (k % 2 != 0)
    {
        throw ConfigurationError("topology 'fat-tree:k=" + std::to_string(k) +
                                 "' (allowed: an even number of ports)");
    }
    const uint32_t half = k / 2;
    graph.hosts = k * half * half;
    const uint32_t firstEdge = graph.hosts;
    const uint32_t firstAggregation = firstEdge + 2 * half * half;
    const uint32_t firstCore = firstAggregation + 2 * half * half;
    graph.switches = firstCore + half * half - graph.hosts;
    const auto link = [&](uint32_t a, uint32_t b) {
        graph.links.push_back({a, b, request.rate, request.delay});
    };
    for (uint32_t host = 0; host < graph.hosts; host++)
    {
        link(host, firstEdge + host / half);
    }
    for (uint32_t pod = 0; pod < 2 * half; pod++)
    {
        for (uint32_t edge = 0; edge < half; edge++)
        {
            for (uint32_t aggregation = 0; aggregation < half; aggregation++)
            {
                link(firstEdge + pod * half + edge, firstAggregation + pod * half + aggregation);
            }
        }
        for (uint32_t aggregation = 0; aggregation < half; aggregation++)
        {
            for (uint32_t core = 0; core < half; core++)
            {
                link(firstAggregation + pod * half + aggregation,
                     firstCore + aggregation * half + core);
            }
        }
    }
}

const Registry<TopologyBuilder>::Entry g_fatTree(
    "fat-tree",
    {"k-ary fat-tree of k^3/4 hosts with full bisection",
     {MakeCountKey("k",
                   "ports per switch (even); by default the minimum that gives every rank a host",
                   MAX_PORTS,
                   2)},
     &BuildFatTree});

} // namespace

} // namespace ns3::training
