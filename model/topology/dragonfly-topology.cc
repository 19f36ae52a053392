/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-helper
 *
 * The canonical dragonfly (Kim et al., "Technology-driven, highly-scalable dragonfly topology",
 * ISCA 2008): groups of `a` fully meshed switches, each with p hosts and h global links; a h + 1
 * groups, with one global link between every two. Routes are minimal: local links, at most one
 * global link, local links. Lossless frames change their class on the global link, which prevents a
 * cyclic buffer dependency.
 */

#include "topology-builder.h"

namespace ns3::training
{

namespace
{

/// Cost of a global link: a path with one global and two local links is cheaper than a path with
/// two global links.
constexpr uint32_t GLOBAL_COST = 3;

void
BuildDragonfly(const TopologyRequest& request, TopologyGraph& graph)
{
    const uint32_t a = request.GetCount("a");
    const uint32_t p = request.GetCount("p");
    const uint32_t h = request.GetCount("h");
    const uint32_t groups = a * h + 1;
    graph.shape.groupSize = a * p;
    graph.switches = a * groups;
    graph.hosts = p * graph.switches;
    for (uint32_t host = 0; host < graph.hosts; host++)
    {
        graph.links.push_back({host, graph.hosts + host / p, request.rate, request.delay});
    }
    for (uint32_t group = 0; group < groups; group++)
    {
        const uint32_t first = graph.hosts + group * a;
        for (uint32_t i = 0; i < a; i++)
        {
            for (uint32_t j = i + 1; j < a; j++)
            {
                graph.links.push_back({first + i, first + j, request.rate, request.delay, 0});
            }
        }
        // Global port g of a group connects to the group g + 1 ahead, and the peer port connects
        // back.
        for (uint32_t port = 0; group + port + 1 < groups; port++)
        {
            const uint32_t peer = group + port + 1;
            const uint32_t back = a * h - 1 - port;
            graph.links.push_back({first + port / h,
                                   graph.hosts + peer * a + back / h,
                                   request.rate,
                                   request.delay,
                                   0,
                                   true,
                                   GLOBAL_COST});
        }
    }
}

const Registry<TopologyBuilder>::Entry g_dragonfly(
    "dragonfly",
    {"a h + 1 groups of switches, every two groups joined by one link",
     {Key::Count("a", 4, 1, 32, "switches of a group"),
      Key::Count("p", 2, 1, 32, "hosts on a switch"),
      Key::Count("h", 2, 1, 32, "links of a switch to other groups")},
     &BuildDragonfly});

} // namespace

} // namespace ns3::training
