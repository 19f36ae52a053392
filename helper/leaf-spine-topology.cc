/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-helper
 *
 * Two tiers: hosts on leaves, every leaf linked to every spine. With h hosts a leaf and s spines of
 * the same rate the up-links are oversubscribed h : s.
 */

#include "topology-builder.h"

#include "ns3/log.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingLeafSpineTopology");

namespace
{

void
BuildLeafSpine(const TopologyRequest& request, TopologyGraph& graph)
{
    const auto leaves = static_cast<uint32_t>(request.Get("leaves", 4));
    const auto spines = static_cast<uint32_t>(request.Get("spines", 4));
    const auto hosts =
        static_cast<uint32_t>(request.Get("hosts-per-leaf", (request.ranks + leaves - 1) / leaves));
    graph.hosts = leaves * hosts;
    graph.switches = leaves + spines;
    for (uint32_t host = 0; host < graph.hosts; host++)
    {
        graph.links.push_back({host, graph.hosts + host / hosts, request.rate, request.delay});
    }
    for (uint32_t leaf = 0; leaf < leaves; leaf++)
    {
        for (uint32_t spine = 0; spine < spines; spine++)
        {
            graph.links.push_back(
                {graph.hosts + leaf, graph.hosts + leaves + spine, request.rate, request.delay});
        }
    }
}

const Registry<TopologyBuilder>::Entry g_leafSpine(
    "leaf-spine",
    {"leaves=4 switches with hosts, each linked to spines=4; hosts-per-leaf: as ranks need",
     {{"leaves", {1, 1024}}, {"spines", {1, 1024}}, {"hosts-per-leaf", {1, 1024}}},
     &BuildLeafSpine});

} // namespace

} // namespace ns3::training
