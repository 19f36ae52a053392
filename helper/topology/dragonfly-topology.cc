/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-helper
 *
 * The canonical dragonfly (Kim et al., "Technology-driven, highly-scalable dragonfly topology",
 * ISCA 2008): groups of a fully linked switches, each with p hosts and h links to other groups;
 * a h + 1 groups, every two joined by one link. Routes are minimal: within a group, at most one
 * link between groups, within a group. Lossless frames change their class on the link between
 * groups, so that pauses cannot wait for each other in a circle.
 */

#include "topology-builder.h"

#include "ns3/log.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingDragonflyTopology");

namespace
{

/// A link between groups costs so much that no route takes two instead of one and two within.
constexpr uint32_t GLOBAL_COST = 3;

void
BuildDragonfly(const TopologyRequest& request, TopologyGraph& graph)
{
    const uint32_t a = request.Get("a", 4);
    const uint32_t p = request.Get("p", 2);
    const uint32_t h = request.Get("h", 2);
    const uint32_t groups = a * h + 1;
    graph.shape.numbers = {{"a", a}, {"p", p}, {"h", h}};
    graph.shape.groupSize = a * p;
    graph.switches = a * groups;
    graph.hosts = p * graph.switches;
    for (uint32_t host = 0; host < graph.hosts; host++)
    {
        graph.links.push_back({host, graph.hosts + host / p, request.rate, request.delay});
    }
    for (uint32_t group = 0; group < groups; group++)
    {
        const uint32_t first = graph.hosts + group * a;
        for (uint32_t i = 0; i < a; i++)
        {
            for (uint32_t j = i + 1; j < a; j++)
            {
                graph.links.push_back({first + i, first + j, request.rate, request.delay, 0});
            }
        }
        // Port g of a group leads g + 1 groups on; the port there leads back.
        for (uint32_t port = 0; group + port + 1 < groups; port++)
        {
            const uint32_t peer = group + port + 1;
            const uint32_t back = a * h - 1 - port;
            graph.links.push_back({first + port / h,
                                   graph.hosts + peer * a + back / h,
                                   request.rate,
                                   request.delay,
                                   0,
                                   true,
                                   GLOBAL_COST});
        }
    }
}

const Registry<TopologyBuilder>::Entry g_dragonfly(
    "dragonfly",
    {"a h + 1 groups of a=4 switches with p=2 hosts and h=2 links to other groups each",
     {{"a", {1, 32}}, {"p", {1, 32}}, {"h", {1, 32}}},
     &BuildDragonfly});

} // namespace

} // namespace ns3::training
