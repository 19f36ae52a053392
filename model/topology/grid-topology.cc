/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-helper
 * Torus and mesh of any number of dimensions, and ring.
 */

#include "topology/grid-topology.h"

#include "topology-builder.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

namespace
{

/** Adds the links along one dimension. */
void
AddDimension(TopologyGraph& graph,
             const GridDimension& dimension,
             uint8_t number,
             uint32_t stride,
             uint32_t node)
{
    const uint32_t place = node / stride % dimension.side;
    const bool isLast = place + 1 == dimension.side;
    if (dimension.kind == GridDimension::Kind::NOTHING || dimension.side == 1)
    {
        return;
    }
    uint32_t copies = isLast ? 0 : 1;
    if (dimension.side == 2 && dimension.kind == GridDimension::Kind::FULL_RING)
    {
        copies *= 2;
    }
    for (uint32_t copy = 0; copy < copies; copy++)
    {
        graph.links.push_back({graph.hosts + node,
                               graph.hosts + node + stride,
                               dimension.rate,
                               dimension.delay,
                               number});
    }
    if (isLast && dimension.side > 2 && dimension.kind != GridDimension::Kind::LINE)
    {
        graph.links.push_back({graph.hosts + node,
                               graph.hosts + node - place * stride,
                               dimension.rate,
                               dimension.delay,
                               number,
                               true});
    }
}

} // namespace

void
AddGrid(TopologyGraph& graph, const std::vector<GridDimension>& dimensions)
{
    graph.hosts = 1;
    for (const GridDimension& dimension : dimensions)
    {
        graph.hosts *= dimension.side;
        graph.shape.sides.push_back(dimension.side);
        graph.shape.wraps |= dimension.kind == GridDimension::Kind::RING ||
                             dimension.kind == GridDimension::Kind::FULL_RING;
    }
    graph.switches = graph.hosts;
    for (uint32_t node = 0; node < graph.hosts; node++)
    {
        uint32_t stride = graph.hosts;
        for (std::size_t i = 0; i < dimensions.size(); i++)
        {
            stride /= dimensions[i].side;
            AddDimension(graph, dimensions[i], static_cast<uint8_t>(i), stride, node);
        }
    }
}

void
AddHostsOfGrid(TopologyGraph& graph,
               const DataRate& initial,
               uint32_t rails,
               const std::optional<DataRate>& hostRate)
{
    std::vector<uint64_t> rates(graph.GetNodes(), 0);
    for (const auto& link : graph.links)
    {
        rates[link.a] += link.rate.GetBitRate();
        rates[link.b] += link.rate.GetBitRate();
    }
    for (uint32_t host = 0; host < graph.hosts; host++)
    {
        const uint64_t sum = rates[graph.hosts + host];
        const DataRate rate = hostRate.value_or(sum > 0 ? DataRate(sum) : initial);
        for (uint32_t rail = 0; rail < rails; rail++)
        {
            graph.links.push_back({host, graph.hosts + host, rate, NanoSeconds(1)});
            graph.links.back().internal = true;
        }
    }
}

std::vector<uint32_t>
MakeNearSquare(uint32_t nodes)
{
    uint32_t rows = 1;
    for (uint32_t divisor = 2; uint64_t{divisor} * divisor <= nodes; divisor++)
    {
        rows = nodes % divisor == 0 ? divisor : rows;
    }
    return {rows, nodes / rows};
}

namespace
{

void
Build(const TopologyRequest& request,
      const std::vector<uint32_t>& sides,
      GridDimension::Kind kind,
      TopologyGraph& graph)
{
    std::vector<GridDimension> dimensions;
    for (uint32_t side : sides)
    {
        dimensions.push_back({side, kind, request.rate, request.delay});
    }
    AddGrid(graph, dimensions);
    std::optional<DataRate> hostRate;
    if (request.keys.Has("host-rate"))
    {
        hostRate = request.keys.GetRate("host-rate");
    }
    AddHostsOfGrid(graph, request.rate, 1, hostRate);
}

/** @return the given sides, or the sides of a near square */
std::vector<uint32_t>
GetSides(const TopologyRequest& request)
{
    const auto sides = request.GetSides();
    return sides.empty() ? MakeNearSquare(request.GetRanks()) : sides;
}

void
BuildTorus(const TopologyRequest& request, TopologyGraph& graph)
{
    Build(request, GetSides(request), GridDimension::Kind::RING, graph);
}

void
BuildMesh(const TopologyRequest& request, TopologyGraph& graph)
{
    Build(request, GetSides(request), GridDimension::Kind::LINE, graph);
}

void
BuildRing(const TopologyRequest& request, TopologyGraph& graph)
{
    auto sides = request.GetSides();
    if (sides.size() > 1)
    {
        throw ConfigurationError("topology '" + request.keys.GetSpelling() +
                                 "' (allowed: one side, as ring:8)");
    }
    if (sides.empty())
    {
        sides = {request.GetRanks()};
    }
    Build(request, sides, GridDimension::Kind::RING, graph);
}

/** @return the keys of all grids */
std::vector<Key>
MakeGridKeys()
{
    return {MakeRateKey("host-rate",
                        "",
                        "rate of the link between a host and its router; by default the sum of the "
                        "router's other links")};
}

const Registry<TopologyBuilder>::Entry g_torus(
    "torus",
    {"grid of forwarding nodes in row-major order, with a ring per dimension; a side of 2 has one "
     "link",
     MakeGridKeys(),
     &BuildTorus,
     MakeSidesValue("sides of any number of dimensions; by default a near square")});

const Registry<TopologyBuilder>::Entry g_mesh(
    "mesh",
    {"a torus without the links from last to first",
     MakeGridKeys(),
     &BuildMesh,
     MakeSidesValue("sides of any number of dimensions; by default a near square")});

const Registry<TopologyBuilder>::Entry g_ring(
    "ring",
    {"a torus of one dimension",
     MakeGridKeys(),
     &BuildRing,
     MakeSidesValue("one side, such as 8; by default as many nodes as ranks")});

} // namespace

} // namespace ns3::training
