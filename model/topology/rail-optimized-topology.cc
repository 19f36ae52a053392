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
 *
 * The switch chips of a server see equal shares of all addresses, so that one switch stands for
 * them.
 *
 * Without a local switch (local=mesh), a link joins every two GPUs of a server. With fewer NICs
 * than GPUs, consecutive GPUs share one.
 *
 * Without spines (spines=0) the rails are the whole network (rail-only: Wang et al., 2023,
 * arXiv:2307.12169, section 3). GPUs then pass on what changes rails, between the local switch and
 * their NIC, as with NCCL's PXN: packet by packet, at the rate of NVLink, which the GPU's own
 * traffic has as well. The GPU before the rail or the one behind it does so.
 */

#include "topology-builder.h"

#include "ns3/training-configuration-error.h"

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
    const uint32_t spines = request.GetCount("spines");
    const bool isRailOnly = spines == 0;
    const uint32_t unit = std::min(servers, request.GetCount("unit", isRailOnly ? servers : 32));
    const uint32_t units = (servers + unit - 1) / unit;
    const uint32_t upLinks =
        isRailOnly ? 0 : request.GetCount("uplinks", (unit + spines - 1) / spines);
    graph.shape.groupSize = gpus;
    graph.shape.serverGroups = true;
    const uint32_t nics = request.GetCount("nics", gpus);
    if (gpus % nics != 0)
    {
        throw ConfigurationError("rail-optimized with gpus=" + std::to_string(gpus) + ",nics=" +
                                 std::to_string(nics) + " (allowed: as many GPUs for each NIC)");
    }
    const bool isMesh = request.keys.GetText("local") == "mesh";
    if (isRailOnly && (isMesh || units > 1 || request.GetCount("uplinks", 0) > 0))
    {
        throw ConfigurationError("rail-optimized with spines=0, which leaves only rails (allowed: "
                                 "local=switch, a unit of all " +
                                 std::to_string(servers) + " servers, no uplinks)");
    }
    const bool isShared = nics < gpus;
    const bool hasNics = isShared || isRailOnly; // as nodes
    graph.shape.rails = !isShared;
    graph.shape.hostsPerNic = gpus / nics;
    graph.shape.localSwitches = request.GetCount("local-switches");
    graph.hosts = servers * gpus;
    const uint32_t firstNic = graph.hosts + (isMesh ? 0 : servers);
    const uint32_t firstLeaf = firstNic + (hasNics ? servers * nics : 0);
    const uint32_t firstSpine = firstLeaf + units * nics;
    graph.switches = firstSpine + spines - graph.hosts;
    const DataRate localRate = request.keys.GetRate("local-rate");
    const Time localDelay = request.keys.GetTime("local-delay");
    for (uint32_t host = 0; host < graph.hosts; host++)
    {
        const uint32_t server = host / gpus;
        const uint32_t nic = host % gpus / (gpus / nics);
        const uint32_t leaf = firstLeaf + server / unit * nics + nic;
        const uint32_t ownNic = firstNic + server * nics + nic;
        graph.links.push_back(
            {host, hasNics ? ownNic : leaf, request.rate, isRailOnly ? localDelay : request.delay});
        if (hasNics && host % (gpus / nics) == 0)
        {
            graph.links.push_back(
                {ownNic, leaf, request.rate, isRailOnly ? request.delay : localDelay});
            if (isRailOnly)
            {
                graph.links.push_back({graph.hosts + server, ownNic, localRate, localDelay});
            }
        }
        if (!isMesh)
        {
            graph.scaleUpSwitches.insert(server);
            graph.links.push_back({host, graph.hosts + server, localRate, localDelay});
        }
        for (uint32_t peer = host + 1; isMesh && peer < (server + 1) * gpus; peer++)
        {
            graph.links.push_back({host, peer, localRate, localDelay});
        }
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
     {Key::Count("gpus", 8, 1, 1024, "GPUs of a server"),
      MakeCountKey("servers", "servers; by default as many as the ranks need", 4096),
      MakeCountKey("unit",
                   "servers of a scalable unit, which share their leaves; by default 32, without "
                   "spines all",
                   4096),
      Key::Count("spines", 4, 0, 1024, "spine switches; 0: rails only, and GPUs pass on the rest"),
      MakeCountKey("uplinks",
                   "links between a leaf and a spine; by default as full bisection needs"),
      MakeRateKey("local-rate",
                  "3600Gbps",
                  "rate of a GPU's link to the local switch; by default NVLink 4 of an H100"),
      MakeDelayKey("local-delay", "25ns", "delay of a GPU's link to the local switch"),
      Key::Word("local",
                "switch",
                {"switch", "mesh"},
                "what joins the GPUs of a server: a switch, or a link between every two"),
      Key::Count("local-switches",
                 1,
                 1,
                 1024,
                 "switch chips of a server, each with a slice of the addresses; they stand as one "
                 "switch, with the memory of all for sums"),
      MakeCountKey("nics", "NICs of a server; by default one for each GPU")},
     &BuildRailOptimized});

} // namespace

} // namespace ns3::training
