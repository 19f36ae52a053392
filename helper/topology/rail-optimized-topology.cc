/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-helper
 *
 * Servers of GPUs, rail-optimized as the NVIDIA DGX SuperPOD H100 reference architecture: the GPUs
 * of a server are joined by a local switch (NVSwitch), and each has a NIC. NICs of the same number
 * (a rail) of the servers of a scalable unit are on one leaf; all leaves are linked to all spines.
 * Within a server, traffic takes the local switch; between servers, the leaf of the rail, or leaf,
 * spine and leaf.
 */

#include "topology-builder.h"

#include "ns3/log.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRailOptimizedTopology");

namespace
{

/// NVLink 4 of an H100: 900 GB/s, both directions together.
constexpr uint64_t LOCAL_RATE = 3600000000000;

void
BuildRailOptimized(const TopologyRequest& request, TopologyGraph& graph)
{
    const uint32_t gpus = request.Get("gpus", 8);
    const uint32_t servers = request.Get("servers", request.GetShare(gpus));
    const uint32_t unit = std::min(servers, request.Get("unit", 32));
    const uint32_t spines = request.Get("spines", 4);
    const uint32_t upLinks = request.Get("uplinks", (unit + spines - 1) / spines);
    const uint32_t units = (servers + unit - 1) / unit;
    graph.shape.numbers = {{"gpus", gpus}, {"servers", servers}, {"spines", spines}};
    graph.shape.groupSize = gpus;
    graph.hosts = servers * gpus;
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
                               request.GetRate("local-rate", DataRate(LOCAL_RATE)),
                               request.GetTime("local-delay", NanoSeconds(25))});
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
    {"servers=, as many as ranks need, of gpus=8 with a local switch and a NIC each; a leaf per "
     "rail for each unit=32 of servers, spines=4, uplinks= between each two, as full bisection "
     "needs",
     {{"gpus", {1, 64}},
      {"servers", {1, 4096}},
      {"unit", {}},
      {"spines", {}},
      {"uplinks", {}},
      {"local-rate", RATE_KEY},
      {"local-delay", TIME_KEY}},
     &BuildRailOptimized});

} // namespace

} // namespace ns3::training
