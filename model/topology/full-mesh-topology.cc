/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-helper
 * Full mesh: a link between every two nodes.
 */

#include "topology-builder.h"
#include "topology/grid-topology.h"

namespace ns3::training
{

namespace
{

void
BuildFullMesh(const TopologyRequest& request, TopologyGraph& graph)
{
    graph.hosts = request.GetCountOrShare("hosts", 1);
    graph.switches = graph.hosts;
    TopologyGraph::CheckLinks(double{1} * graph.hosts * graph.hosts / 2, "topology 'full-mesh'");
    graph.shape.fullMesh = true;
    for (uint32_t a = 0; a < graph.hosts; a++)
    {
        for (uint32_t b = a + 1; b < graph.hosts; b++)
        {
            graph.links.push_back({graph.hosts + a, graph.hosts + b, request.rate, request.delay});
        }
    }
    AddHostsOfGrid(graph, request.rate);
}

const Registry<TopologyBuilder>::Entry g_fullMesh(
    "full-mesh",
    {"a link between every two nodes",
     {MakeCountKey("hosts", "hosts; by default as many as ranks")},
     &BuildFullMesh});

} // namespace

} // namespace ns3::training
