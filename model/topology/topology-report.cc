/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "topology/topology-report.h"

#include "shortest-paths.h"
#include "topology/network-cuts.h"

#include "ns3/training-json-writer.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <iomanip>
#include <map>
#include <optional>
#include <sstream>

namespace ns3::training
{

namespace
{

/** @return a sum of rates in bit/s as text; the sum may exceed 64 bits in a large fabric */
std::string
FormatSum(double rate)
{
    return rate < 1e18 ? FormatRate(DataRate(static_cast<uint64_t>(rate)))
                       : std::to_string(static_cast<uint64_t>(rate / 1e12)) + "Tbps";
}

/** @return hosts of ranks that have no path to others; empty if all have */
std::string
FindUnreachable(const TopologyGraph& topology, uint32_t ranks)
{
    uint64_t pairs = 0;
    std::string first;
    ShortestPaths paths(topology);
    for (uint32_t to = 0; to < ranks; to++)
    {
        paths.Search(to);
        for (uint32_t from = 0; from < ranks; from++)
        {
            if (!paths.IsReached(from))
            {
                first = pairs++ == 0 ? "host " + std::to_string(from) + " has no path to host " +
                                           std::to_string(to)
                                     : first;
            }
        }
        if (to == 0 && pairs == 0)
        {
            return ""; // links have two directions
        }
    }
    return first + "; " + std::to_string(pairs) + " ordered pairs have none";
}

} // namespace

std::string
DescribeTopology(const TopologyGraph& topology, uint32_t ranks)
{
    std::map<uint64_t, uint32_t> rates;
    uint32_t ofHosts = 0;
    for (const auto& link : topology.links)
    {
        rates[link.rate.GetBitRate()]++;
        ofHosts += std::min(link.a, link.b) < topology.hosts;
    }
    std::string byRate;
    for (const auto& [rate, count] : rates)
    {
        byRate += (byRate.empty() ? "" : ", ") + std::to_string(count) + " of " +
                  FormatRate(DataRate(rate));
    }
    ShortestPaths paths(topology);
    std::optional<NetworkCut> bisection;
    for (const NetworkCut& cut : FindHalves(topology, ranks))
    {
        const std::size_t inside = cut.inside.size();
        const bool isHalf = std::min(inside, ranks - inside) == ranks / 2;
        if (isHalf && (!bisection || cut.rate < bisection->rate))
        {
            bisection = cut;
        }
    }
    std::ostringstream text;
    const auto line = [&text](const std::string& name) -> std::ostream& {
        return text << std::left << std::setw(12) << name;
    };
    line("topology") << topology.name << "\n";
    line("hosts") << topology.hosts << ", " << ranks << " with ranks\n";
    line("switches") << topology.switches << "\n";
    line("links") << topology.links.size() - ofHosts << " between switches, " << ofHosts
                  << " of hosts" << (byRate.empty() ? "" : "; " + byRate) << "\n";
    const std::string apart = FindUnreachable(topology, ranks);
    if (!apart.empty())
    {
        line("unreachable") << apart << "\n";
        return text.str();
    }
    line("diameter") << paths.GetLongestPath(ranks).links << " links, "
                     << FormatTime(paths.GetDiameter(ranks)) << " of propagation\n";
    line("bisection") << (bisection ? FormatSum(bisection->rate) + " each way" : "none") << "\n";
    return text.str();
}

std::string
WriteTopology(const TopologyGraph& topology)
{
    auto links = JsonValue::Array();
    for (const auto& link : topology.links)
    {
        auto object = JsonValue::Object();
        object.Set("a", link.a)
            .Set("b", link.b)
            .Set("rate", std::to_string(link.rate.GetBitRate()) + "bps")
            .Set("delay", std::to_string(link.delay.GetPicoSeconds()) + "ps");
        if (link.loss > 0)
        {
            object.Set("loss", link.loss);
        }
        if (link.cost != 1)
        {
            object.Set("cost", link.cost);
        }
        if (link.dimension != TopologyGraph::NO_DIMENSION)
        {
            object.Set("dimension", uint32_t{link.dimension});
        }
        if (link.dateline)
        {
            object.Set("dateline", true);
        }
        if (link.internal)
        {
            object.Set("internal", true);
        }
        if (link.circuit != TopologyGraph::ALWAYS)
        {
            object.Set("circuit", link.circuit);
        }
        links.Append(object);
    }
    auto sides = JsonValue::Array();
    for (uint32_t side : topology.shape.sides)
    {
        sides.Append(side);
    }
    auto scaleUpSwitches = JsonValue::Array();
    for (uint32_t each : topology.scaleUpSwitches)
    {
        scaleUpSwitches.Append(each);
    }
    const TopologyShape& shape = topology.shape;
    auto document = JsonValue::Object();
    document.Set("hosts", topology.hosts)
        .Set("switches", topology.switches)
        .Set("groupSize", shape.groupSize)
        .Set("sides", sides)
        .Set("wraps", shape.wraps);
    for (const auto& [name, isSet] : {std::pair("serverGroups", shape.serverGroups),
                                      std::pair("rails", shape.rails),
                                      std::pair("fullMesh", shape.fullMesh),
                                      std::pair("bipartite", shape.bipartite),
                                      std::pair("ringAcrossGroups", shape.ringAcrossGroups)})
    {
        if (isSet)
        {
            document.Set(name, true);
        }
    }
    for (const auto& [name, count] : {std::pair("hostsPerNic", shape.hostsPerNic),
                                      std::pair("localSwitches", shape.localSwitches),
                                      std::pair("planes", shape.planes)})
    {
        if (count > 1)
        {
            document.Set(name, count);
        }
    }
    if (!topology.scaleUpSwitches.empty())
    {
        document.Set("scaleUpSwitches", scaleUpSwitches);
    }
    document.Set("links", links);
    return document.Write(2) + "\n";
}

} // namespace ns3::training
