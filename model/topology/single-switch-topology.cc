/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-helper
 * Single switch with all hosts.
 */

#include "topology-builder.h"

namespace ns3::training
{

namespace
{

void
BuildSingleSwitch(const TopologyRequest& request, TopologyGraph& graph)
{
    graph.hosts = request.GetCountOrShare("hosts", 1);
    graph.switches = 1;
    for (uint32_t host = 0; host < graph.hosts; host++)
    {
        graph.links.push_back({host, graph.hosts, request.rate, request.delay});
    }
}

const Registry<TopologyBuilder>::Entry g_singleSwitch(
    "single-switch",
    {"all hosts on one switch",
     {MakeCountKey("hosts", "hosts; by default as many as ranks", 4096)},
     &BuildSingleSwitch});

} // namespace

} // namespace ns3::training
