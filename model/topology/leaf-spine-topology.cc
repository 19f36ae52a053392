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
 *
 * Several planes are as many such networks side by side. A host has a port in each, as a NIC of
 * 800G has that is broken out into 8 x 100G or 4 x 200G. Switches of 512 ports of 100G then join
 * 512 x 256 NICs in two tiers (Araujo et al., "Resilient AI supercomputer networking using MRC and
 * SRv6", arXiv 2605.04333, figure 1).
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
    graph.shape.planes = request.GetCount("planes");
    graph.switches = graph.shape.planes * (leaves + spines);
    TopologyGraph::CheckLinks(static_cast<double>(graph.shape.planes) * leaves * (hosts + spines),
                              "topology 'leaf-spine'");
    for (uint32_t plane = 0; plane < graph.shape.planes; plane++)
    {
        const uint32_t firstLeaf = graph.hosts + plane * (leaves + spines);
        for (uint32_t host = 0; host < graph.hosts; host++)
        {
            graph.links.push_back({host, firstLeaf + host / hosts, request.rate, request.delay});
        }
        for (uint32_t leaf = 0; leaf < leaves; leaf++)
        {
            for (uint32_t spine = 0; spine < spines; spine++)
            {
                graph.links.push_back(
                    {firstLeaf + leaf, firstLeaf + leaves + spine, upLink, request.delay});
            }
        }
    }
}

const Registry<TopologyBuilder>::Entry g_leafSpine(
    "leaf-spine",
    {"leaf switches with hosts, each linked to all spine switches",
     {Key::Count("leaves", 4, 1, 1024, "leaf switches"),
      Key::Count("spines", 4, 1, 1024, "spine switches"),
      MakeCountKey("hosts-per-leaf", "hosts on a leaf; by default as many as the ranks need"),
      MakeRateKey("uplink", "", "rate of the links to spines; by default that of all links"),
      Key::Count("planes",
                 1,
                 1,
                 32,
                 "such networks side by side; each host has a port in each of them")},
     &BuildLeafSpine});

} // namespace

} // namespace ns3::training
