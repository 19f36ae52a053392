/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-helper
 * All hosts on one switch.
 */

#include "topology-builder.h"

#include "ns3/log.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingSingleSwitchTopology");

namespace
{

void
BuildSingleSwitch(const TopologyRequest& request, TopologyGraph& graph)
{
    graph.hosts = request.Get("hosts", request.ranks);
    graph.switches = 1;
    for (uint32_t host = 0; host < graph.hosts; host++)
    {
        graph.links.push_back({host, graph.hosts, request.rate, request.delay});
    }
}

const Registry<TopologyBuilder>::Entry g_singleSwitch("single-switch",
                                                      {"all hosts on one switch; hosts: as many "
                                                       "as ranks",
                                                       {{"hosts", {1, 4096}}},
                                                       &BuildSingleSwitch});

} // namespace

} // namespace ns3::training
