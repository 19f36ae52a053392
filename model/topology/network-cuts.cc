/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "topology/network-cuts.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boykov_kolmogorov_max_flow.hpp>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace ns3::training
{

namespace
{

using FlowTraits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;

/** One direction of a link, for Boost's max-flow algorithm. */
struct FlowEdge
{
    double capacity;                     // capacity, bit/s
    double residual;                     // residual capacity, bit/s
    FlowTraits::edge_descriptor reverse; // opposite direction
};

using FlowGraph =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, FlowEdge>;

/** A division of the ranks into two parts: returns whether a rank is in the first part. */
using Division = std::function<bool(uint32_t)>;

/** @return the maximum flow from the first part to the second, bit/s */
double
GetFlow(const TopologyGraph& topology, uint32_t ranks, const Division& isInside)
{
    // The vertices are the switches and the two parts. Hosts do not forward, so each part is a
    // single vertex with the links of all its ranks.
    const uint32_t source = topology.switches;
    const uint32_t sink = source + 1;
    const auto vertex = [&](uint32_t node) {
        return node >= topology.hosts ? node - topology.hosts : isInside(node) ? source : sink;
    };
    std::map<std::pair<uint32_t, uint32_t>, double> rates;
    for (const auto& link : topology.links)
    {
        const auto isIdle = [&](uint32_t node) { return node >= ranks && node < topology.hosts; };
        if (!isIdle(link.a) && !isIdle(link.b))
        {
            const uint32_t a = vertex(link.a);
            const uint32_t b = vertex(link.b);
            rates[{std::min(a, b), std::max(a, b)}] += static_cast<double>(link.rate.GetBitRate());
        }
    }
    FlowGraph graph(topology.switches + 2);
    for (const auto& [ends, rate] : rates)
    {
        if (ends.first != ends.second)
        {
            const auto there = boost::add_edge(ends.first, ends.second, graph).first;
            const auto back = boost::add_edge(ends.second, ends.first, graph).first;
            graph[there] = {rate, 0, back};
            graph[back] = {rate, 0, there};
        }
    }
    return boost::boykov_kolmogorov_max_flow(graph,
                                             boost::get(&FlowEdge::capacity, graph),
                                             boost::get(&FlowEdge::residual, graph),
                                             boost::get(&FlowEdge::reverse, graph),
                                             boost::get(boost::vertex_index, graph),
                                             source,
                                             sink);
}

} // namespace

std::vector<NetworkCut>
FindSwitchCuts(const TopologyGraph& topology, uint32_t ranks)
{
    const auto getRate = [](const auto& link) {
        return static_cast<double>(link.rate.GetBitRate());
    };
    std::vector<double> host(topology.hosts, 0); // total link rate per host
    for (const auto& link : topology.links)
    {
        for (uint32_t node : {link.a, link.b})
        {
            if (node < topology.hosts)
            {
                host[node] += getRate(link);
            }
        }
    }
    // Egress rate of each switch together with its hosts, without the links between them.
    std::vector<double> out(topology.GetNodes(), 0);
    std::vector<std::set<uint32_t>> inside(topology.GetNodes());
    for (const auto& link : topology.links)
    {
        for (const auto& [node, other] : {std::pair(link.a, link.b), std::pair(link.b, link.a)})
        {
            if (node >= topology.hosts && other < topology.hosts)
            {
                out[node] += (inside[node].insert(other).second ? host[other] : 0) - getRate(link);
            }
            else if (node >= topology.hosts)
            {
                out[node] += getRate(link);
            }
        }
    }
    std::vector<NetworkCut> cuts;
    for (uint32_t node = topology.hosts; node < topology.GetNodes(); node++)
    {
        NetworkCut cut{{inside[node].begin(), inside[node].lower_bound(ranks)}, out[node]};
        if (!cut.inside.empty() && cut.inside.size() < ranks)
        {
            cuts.push_back(std::move(cut));
        }
    }
    return cuts;
}

std::vector<NetworkCut>
FindHalves(const TopologyGraph& topology, uint32_t ranks)
{
    const TopologyShape& shape = topology.shape;
    std::vector<Division> divisions{[ranks](uint32_t rank) { return rank < ranks / 2; }};
    const uint32_t size = shape.groupSize;
    if (size > 1)
    {
        divisions.emplace_back([size](uint32_t rank) { return rank % size < size / 2; });
        divisions.emplace_back([size](uint32_t rank) { return rank / size % 2 == 0; });
    }
    uint32_t stride = 1;
    for (auto side = shape.sides.rbegin(); side != shape.sides.rend(); ++side)
    {
        divisions.emplace_back([stride, length = *side](uint32_t rank) {
            return rank / stride % length < length / 2;
        });
        stride *= *side;
    }
    std::vector<NetworkCut> cuts;
    for (const Division& isInside : divisions)
    {
        NetworkCut cut{{}, 0};
        for (uint32_t rank = 0; rank < ranks; rank++)
        {
            if (isInside(rank))
            {
                cut.inside.push_back(rank);
            }
        }
        if (!cut.inside.empty() && cut.inside.size() < ranks)
        {
            cut.rate = GetFlow(topology, ranks, isInside);
            cuts.push_back(std::move(cut));
        }
    }
    return cuts;
}

} // namespace ns3::training
