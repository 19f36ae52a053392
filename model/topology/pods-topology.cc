/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-helper
 *
 * Three tiers: racks of hosts, grouped in pods. Every top-of-rack switch connects to the
 * aggregation switches of its pod, and aggregation switch i of each pod to group i of the core
 * switches. The defaults are those of HPCC's simulation (Li et al., SIGCOMM 2019, section 5.1;
 * mix/fat.txt of its simulator): 20 top-of-rack, 20 aggregation and 16 core switches.
 */

#include "topology-builder.h"

namespace ns3::training
{

namespace
{

void
BuildPods(const TopologyRequest& request, TopologyGraph& graph)
{
    const uint32_t pods = request.GetCount("pods");
    const uint32_t perPod = request.GetCount("racks");
    const uint32_t aggregations = request.GetCount("aggregations");
    const uint32_t cores = request.GetCount("cores");
    const uint32_t racks = pods * perPod;
    const uint32_t hosts = request.GetCountOrShare("hosts-per-rack", racks);
    const DataRate upLink =
        request.keys.Has("uplink") ? request.keys.GetRate("uplink") : request.rate;
    graph.hosts = racks * hosts;
    graph.switches = racks + pods * aggregations + aggregations * cores;
    const uint32_t firstRack = graph.hosts;
    const uint32_t firstAggregation = firstRack + racks;
    const uint32_t firstCore = firstAggregation + pods * aggregations;
    for (uint32_t host = 0; host < graph.hosts; host++)
    {
        graph.links.push_back({host, firstRack + host / hosts, request.rate, request.delay});
    }
    for (uint32_t rack = 0; rack < racks; rack++)
    {
        for (uint32_t i = 0; i < aggregations; i++)
        {
            const uint32_t aggregation = firstAggregation + rack / perPod * aggregations + i;
            graph.links.push_back({firstRack + rack, aggregation, upLink, request.delay});
        }
    }
    for (uint32_t i = 0; i < pods * aggregations; i++)
    {
        for (uint32_t j = 0; j < cores; j++)
        {
            const uint32_t core = firstCore + i % aggregations * cores + j;
            graph.links.push_back({firstAggregation + i, core, upLink, request.delay});
        }
    }
}

const Registry<TopologyBuilder>::Entry g_pods(
    "pods",
    {"pods of racks: top-of-rack, aggregation and core switches",
     {Key::Count("pods", 5, 1, 256, "pods"),
      Key::Count("racks", 4, 1, 256, "racks of a pod, each with a switch"),
      Key::Count("aggregations", 4, 1, 256, "aggregation switches of a pod"),
      Key::Count("cores", 4, 1, 256, "core switches of each aggregation switch"),
      MakeCountKey("hosts-per-rack", "hosts of a rack; by default as many as the ranks need"),
      MakeRateKey("uplink",
                  "",
                  "rate of the links between switches; by default that of all links")},
     &BuildPods});

} // namespace

} // namespace ns3::training
