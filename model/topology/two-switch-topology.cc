/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-helper
 *
 * Two switches connected by parallel links, like the two halves of a DGX-2. With one link per host
 * of a switch it has full bisection bandwidth and is the 16-node fat-tree of the MULTITREE paper
 * (ISCA 2021).
 */

#include "topology-builder.h"

namespace ns3::training
{

namespace
{

void
BuildTwoSwitch(const TopologyRequest& request, TopologyGraph& graph)
{
    const uint32_t hosts = request.GetCountOrShare("hosts-per-switch", 2);
    const uint32_t links = request.GetCount("links", hosts);
    graph.shape.groupSize = hosts;
    graph.shape.ringAcrossGroups = true;
    graph.hosts = 2 * hosts;
    graph.switches = 2;
    for (uint32_t host = 0; host < graph.hosts; host++)
    {
        graph.links.push_back({host, graph.hosts + host / hosts, request.rate, request.delay});
    }
    for (uint32_t i = 0; i < links; i++)
    {
        graph.links.push_back({graph.hosts, graph.hosts + 1, request.rate, request.delay});
    }
}

const Registry<TopologyBuilder>::Entry g_twoSwitch(
    "two-switch",
    {"two switches joined by parallel links",
     {MakeCountKey("hosts-per-switch", "hosts on a switch; by default as many as the ranks need"),
      MakeCountKey("links", "links between the switches; by default as many as hosts on one")},
     &BuildTwoSwitch});

} // namespace

} // namespace ns3::training
