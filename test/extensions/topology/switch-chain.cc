/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 *
 * A chain of switches with the hosts spread over them: the result of adding racks one after the
 * other.
 */

#include "ns3/topology-builder.h"

namespace
{

using namespace ns3;
using namespace ns3::training;

void
Build(const TopologyRequest& request, TopologyGraph& graph)
{
    graph.switches = request.GetCount("switches");
    graph.shape.groupSize = request.GetShare(graph.switches);
    graph.hosts = graph.switches * graph.shape.groupSize;
    for (uint32_t host = 0; host < graph.hosts; host++)
    {
        const uint32_t its = graph.hosts + host / graph.shape.groupSize;
        graph.links.push_back({host, its, request.rate, request.delay});
    }
    const DataRate trunk =
        request.keys.Has("trunk-rate") ? request.keys.GetRate("trunk-rate") : request.rate;
    for (uint32_t i = 1; i < graph.switches; i++)
    {
        const uint32_t b = graph.hosts + i;
        graph.links.push_back({b - 1, b, trunk, request.delay});
    }
}

const Registry<TopologyBuilder>::Entry g_switchChain(
    "switch-chain",
    {"switches in a row, each joined to the next by one link",
     {Key::Count("switches", 4, 1, 256, "switches in the row"),
      MakeRateKey("trunk-rate", "", "rate of the links between switches; by default that of all")},
     &Build});

} // namespace
