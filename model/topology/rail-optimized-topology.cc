/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-helper
 *
 * Rail-optimized servers of GPUs, like the NVIDIA DGX SuperPOD H100 reference architecture: a local
 * switch (NVSwitch) connects the GPUs of a server, and each GPU has a NIC. Within a scalable unit,
 * the NICs of equal number in all servers (a rail) connect to one leaf; every leaf connects to
 * every spine. Traffic within a server takes the local switch. Traffic between servers takes the
 * leaf of the rail, or a leaf-spine-leaf path.
 */

#include "topology-builder.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

void
BuildRailOptimized(const TopologyRequest& request, TopologyGraph& graph)
{
    const uint32_t gpus = request.GetCount("gpus");
    const uint32_t servers = request.GetCountOrShare("servers", gpus);
    const uint32_t unit = std::min(servers, request.GetCount("unit"));
    const uint32_t spines = request.GetCount("spines");
    const uint32_t upLinks = request.GetCount("uplinks", (unit + spines - 1) / spines);
    const uint32_t units = (servers + unit - 1) / unit;
    graph.shape.groupSize = gpus;
    graph.shape.serverGroups = true;
    graph.shape.rails = true;
    graph.hosts = servers * gpus;
    for (uint32_t server = 0; server < servers; server++)
    {
        graph.scaleUpSwitches.insert(server);
    }
    const uint32_t firstLeaf = graph.hosts + servers;
    const uint32_t firstSpine = firstLeaf + units * gpus;
    graph.switches = firstSpine + spines - graph.hosts;
    for (uint32_t host = 0; host < graph.hosts; host++)
    {
        const uint32_t server = host / gpus;
        graph.links.push_back(
            {host, firstLeaf + server / unit * gpus + host % gpus, request.rate, request.delay});
        graph.links.push_back({host,
                               graph.hosts + server,
                               request.keys.GetRate("local-rate"),
                               request.keys.GetTime("local-delay")});
    }
    for (uint32_t leaf = firstLeaf; leaf < firstSpine; leaf++)
    {
        for (uint32_t spine = 0; spine < spines; spine++)
        {
            for (uint32_t i = 0; i < upLinks; i++)
            {
                graph.links.push_back({leaf, firstSpine + spine, request.rate, request.delay});
            }
        }
    }
}

const Registry<TopologyBuilder>::Entry g_railOptimized(
    "rail-optimized",
    {"servers of GPUs with a local switch and a NIC for each GPU; a leaf per rail and unit of "
     "servers",
     {Key::Count("gpus", 8, 1, 64, "GPUs of a server"),
      MakeCountKey("servers", "servers; by default as many as the ranks need", 4096),
      Key::Count("unit", 32, 1, 1024, "servers of a scalable unit, which share their leaves"),
      Key::Count("spines", 4, 1, 1024, "spine switches"),
      MakeCountKey("uplinks",
                   "links between a leaf and a spine; by default as full bisection needs"),
      MakeRateKey("local-rate",
                  "3600Gbps",
                  "rate of a GPU's link to the local switch; by default NVLink 4 of an H100"),
      MakeDelayKey("local-delay", "25ns", "delay of a GPU's link to the local switch")},
     &BuildRailOptimized});

} // namespace

} // namespace ns3::training
