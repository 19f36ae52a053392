/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-helper
 *
 * BiGraph (Dong et al., "EFLOPS: algorithm and system co-design for a high performance distributed
 * training platform", HPCA 2020): n switches in two halves, upper and lower, with one link between
 * each upper and each lower switch, and m hosts on every switch.
 */

#include "topology-builder.h"

namespace ns3::training
{

namespace
{

void
BuildBiGraph(const TopologyRequest& request, TopologyGraph& graph)
{
    const uint32_t n = request.GetCount("n");
    const uint32_t m = request.GetCountOrShare("m", n);
    if (n % 2 != 0)
    {
        throw ConfigurationError("topology '" + request.keys.GetSpelling() +
                                 "' (allowed: an even number n of switches)");
    }
    graph.shape.groupSize = m;
    graph.shape.bipartite = true;
    graph.hosts = m * n;
    graph.switches = n;
    for (uint32_t host = 0; host < graph.hosts; host++)
    {
        graph.links.push_back({host, graph.hosts + host / m, request.rate, request.delay});
    }
    for (uint32_t upper = 0; upper < n / 2; upper++)
    {
        for (uint32_t lower = n / 2; lower < n; lower++)
        {
            // Dateline: the second hop between the halves uses another lossless class, which
            // prevents a cyclic buffer dependency.
            graph.links.push_back(
                {graph.hosts + upper, graph.hosts + lower, request.rate, request.delay, 0, true});
        }
    }
}

const Registry<TopologyBuilder>::Entry g_biGraph(
    "bigraph",
    {"switches in two halves, each linked to all of the other half, with hosts on every switch",
     {MakeCountKey("m", "hosts on a switch; by default as many as the ranks need"),
      Key::Count("n", 8, 2, 1024, "switches, an even number")},
     &BuildBiGraph});

} // namespace

} // namespace ns3::training
