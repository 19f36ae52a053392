/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-helper
 * Nodes with a link to each other node.
 */

#include "grid-topology.h"
#include "topology-builder.h"

#include "ns3/log.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingFullMeshTopology");

namespace
{

void
BuildFullMesh(const TopologyRequest& request, TopologyGraph& graph)
{
    graph.hosts = request.Get("hosts", request.ranks);
    graph.switches = graph.hosts;
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
    {"a link between every two nodes; hosts: as many as ranks", {{"hosts", {}}}, &BuildFullMesh});

} // namespace

} // namespace ns3::training
