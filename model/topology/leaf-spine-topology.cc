/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-helper
 *
 * Two tiers: hosts connect to leaves, and every leaf connects to every spine. With h hosts per
 * leaf, s spines and up-links of u times the host rate, the oversubscription is h : s u.
 */

#include "topology-builder.h"

namespace ns3::training
{

namespace
{

void
BuildLeafSpine(const TopologyRequest& request, TopologyGraph& graph)
{
    const uint32_t leaves = request.GetCount("leaves");
    const uint32_t spines = request.GetCount("spines");
    const uint32_t hosts = request.GetCountOrShare("hosts-per-leaf", leaves);
    const DataRate upLink =
        request.keys.Has("uplink") ? request.keys.GetRate("uplink") : request.rate;
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
    {"leaf switches with hosts, each linked to all spine switches",
     {Key::Count("leaves", 4, 1, 1024, "leaf switches"),
      Key::Count("spines", 4, 1, 1024, "spine switches"),
      MakeCountKey("hosts-per-leaf", "hosts on a leaf; by default as many as the ranks need"),
      MakeRateKey("uplink", "", "rate of the links to spines; by default that of all links")},
     &BuildLeafSpine});

} // namespace

} // namespace ns3::training
