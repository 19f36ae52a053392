/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-helper
 *
 * BiGraph (Dong et al., "EFLOPS: algorithm and system co-design for a high performance distributed
 * training platform", HPCA 2020): n switches in two halves, upper and lower, each of one half
 * linked to each of the other by one link, and m hosts on every switch.
 */

#include "topology-builder.h"

#include "ns3/log.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingBiGraphTopology");

namespace
{

void
BuildBiGraph(const TopologyRequest& request, TopologyGraph& graph)
{
    const uint32_t n = request.Get("n", 8);
    const uint32_t m = request.Get("m", request.GetShare(n));
    if (n % 2 != 0)
    {
        throw ConfigurationError("topology '" + request.spec +
                                 "' (allowed: an even number n of switches)");
    }
    graph.shape.numbers = {{"m", m}, {"n", n}};
    graph.shape.groupSize = m;
    graph.hosts = m * n;
    graph.switches = n;
    for (uint32_t host = 0; host < graph.hosts; host++)
    {
        graph.links.push_back({host, graph.hosts + host / m, request.rate, request.delay});
    }
    for (uint32_t upper = 0; upper < n / 2; upper++)
    {
        for (uint32_t lower = n / 2; lower < n; lower++)
        {
            // Up, across and down again would be a cycle of buffers: the second hop is in another
            // lossless class.
            graph.links.push_back(
                {graph.hosts + upper, graph.hosts + lower, request.rate, request.delay, 0, true});
        }
    }
}

const Registry<TopologyBuilder>::Entry g_biGraph(
    "bigraph",
    {"m hosts, as many as ranks need, on each of n=8 switches, the upper half of which is linked "
     "to the lower half",
     {{"m", {}}, {"n", {2, 1024}}},
     &BuildBiGraph});

} // namespace

} // namespace ns3::training
