/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-helper
 *
 * Two tiers: hosts on leaves, every leaf linked to every spine. With h hosts a leaf, s spines and
 * up-links of u times the hosts' rate, the up-links are oversubscribed h : s u.
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
    const uint32_t leaves = request.Get("leaves", 4);
    const uint32_t spines = request.Get("spines", 4);
    const uint32_t hosts = request.Get("hosts-per-leaf", request.GetShare(leaves));
    const DataRate upLink = request.GetRate("uplink", request.rate);
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
                {graph.hosts + leaf, graph.hosts + leaves + spine, upLink, request.delay});
        }
    }
}

const Registry<TopologyBuilder>::Entry g_leafSpine(
    "leaf-spine",
    {"leaves=4 switches with hosts, each linked to spines=4; hosts-per-leaf: as ranks need; "
     "uplink: rate of the links to spines, as all others",
     {{"leaves", {}}, {"spines", {}}, {"hosts-per-leaf", {}}, {"uplink", RATE_KEY}},
     &BuildLeafSpine});

} // namespace

} // namespace ns3::training
