/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-helper
 *
 * The m-ary n-tree (Petrini and Vanneschi, "k-ary n-trees: high performance networks for massively
 * parallel architectures", IPPS 1997): m^n hosts, n levels of m^(n-1) switches with m ports down
 * and, below the top, m ports up; full bisection bandwidth. Switch w of a level is linked to the
 * switches of the next level whose numbers in base m differ from w at most in the digit of that
 * level.
 */

#include "topology-builder.h"

namespace ns3::training
{

namespace
{

void
BuildMAryNTree(const TopologyRequest& request, TopologyGraph& graph)
{
    const uint32_t m = request.GetCount("m");
    const uint32_t n = request.GetCount("n");
    uint64_t width = 1; // switches per level
    for (uint32_t i = 1; i < n; i++)
    {
        width *= m;
    }
    graph.shape.groupSize = m;
    graph.shape.ringAcrossGroups = true;
    graph.hosts = static_cast<uint32_t>(m * width);
    graph.switches = static_cast<uint32_t>(n * width);
    const auto link = [&](uint64_t a, uint64_t b) {
        graph.links.push_back(
            {static_cast<uint32_t>(a), static_cast<uint32_t>(b), request.rate, request.delay});
    };
    for (uint32_t host = 0; host < graph.hosts; host++)
    {
        link(host, graph.hosts + host / m);
    }
    uint64_t digit = 1; // place value of the level's digit
    for (uint32_t level = 0; level + 1 < n; level++, digit *= m)
    {
        const uint64_t first = graph.hosts + level * width;
        for (uint64_t w = 0; w < width; w++)
        {
            const uint64_t lowest = w - w / digit % m * digit;
            for (uint32_t i = 0; i < m; i++)
            {
                link(first + w, first + width + lowest + i * digit);
            }
        }
    }
}

const Registry<TopologyBuilder>::Entry g_mAryNTree(
    "m-ary-n-tree",
    {"m^n hosts and n levels of switches with full bisection",
     {Key::Count("m", 4, 2, 32, "ports of a switch down, and as many up"),
      Key::Count("n", 2, 1, 4, "levels of switches")},
     &BuildMAryNTree});

} // namespace

} // namespace ns3::training
