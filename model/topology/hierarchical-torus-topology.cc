/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-helper
 *
 * The platforms of Hou et al., "Co-designing the topology/algorithm to accelerate distributed
 * training": packages (NAP) of nodes (NAM), and a torus of packages, whose vertical and horizontal
 * rings connect nodes of equal local id. Within a package there is either a ring (hierarchical
 * torus), or k switches with a link to every node (local-switch torus).
 *
 * Rates and delays are from table II of the paper: 512 bit/ns and 90 ns within a package, 256
 * bit/ns and 200 ns between packages, and 5 ns in the router at the end of each link. Rings of two
 * nodes have two links, one per direction around the ring; a host needs at least two ports (rails)
 * to use both at once.
 */

#include "topology-builder.h"
#include "topology/grid-topology.h"

namespace ns3::training
{

namespace
{

/** @return the keys of both topologies; `rails` is the default of the key of that name */
std::vector<Key>
MakeKeys(const std::string& rails)
{
    return {Key::Count("nodes", 4, 1, 64, "nodes of a package"),
            MakeCountKey("rails", "links of a host to its router; by default " + rails, 64),
            MakeRateKey("local-rate", "512Gbps", "rate of the links within a package"),
            MakeDelayKey("local-delay", "95ns", "delay of the links within a package"),
            MakeRateKey("torus-rate", "256Gbps", "rate of the links between packages"),
            MakeDelayKey("torus-delay", "205ns", "delay of the links between packages")};
}

/** Adds the routers, the torus, and the ring or switches of each package. */
void
AddPackages(const TopologyRequest& request, TopologyGraph& graph, GridDimension::Kind local)
{
    const uint32_t nodes = request.GetCount("nodes");
    std::vector<uint32_t> packages = request.GetSides();
    if (packages.empty())
    {
        packages = MakeNearSquare(request.GetShare(nodes));
    }
    std::vector<GridDimension> dimensions;
    for (uint32_t side : packages)
    {
        dimensions.push_back({side,
                              GridDimension::Kind::FULL_RING,
                              request.keys.GetRate("torus-rate"),
                              request.keys.GetTime("torus-delay")});
    }
    dimensions.push_back(
        {nodes, local, request.keys.GetRate("local-rate"), request.keys.GetTime("local-delay")});
    AddGrid(graph, dimensions);
    graph.shape.groupSize = nodes;
}

void
BuildHierarchicalTorus(const TopologyRequest& request, TopologyGraph& graph)
{
    AddPackages(request, graph, GridDimension::Kind::FULL_RING);
    AddHostsOfGrid(graph, request.rate, request.GetCount("rails", 1));
}

void
BuildLocalSwitchTorus(const TopologyRequest& request, TopologyGraph& graph)
{
    AddPackages(request, graph, GridDimension::Kind::NOTHING);
    const uint32_t nodes = graph.shape.groupSize;
    const uint32_t switches = request.GetCount("switches", nodes);
    const auto local = static_cast<uint8_t>(graph.shape.sides.size() - 1);
    for (uint32_t node = 0; node < graph.hosts; node++)
    {
        for (uint32_t i = 0; i < switches; i++)
        {
            graph.links.push_back({graph.hosts + node,
                                   2 * graph.hosts + node / nodes * switches + i,
                                   request.keys.GetRate("local-rate"),
                                   request.keys.GetTime("local-delay"),
                                   local});
        }
    }
    graph.switches += graph.hosts / nodes * switches;
    AddHostsOfGrid(graph, request.rate, request.GetCount("rails", switches));
}

std::vector<Key>
MakeKeysWithSwitches()
{
    std::vector<Key> keys = MakeKeys("as many as switches");
    keys.push_back(
        MakeCountKey("switches", "switches of a package; by default as many as nodes", 64));
    return keys;
}

const Registry<TopologyBuilder>::Entry g_hierarchicalTorus(
    "hierarchical-torus",
    {"a torus of packages, the nodes of a package in a ring",
     MakeKeys("1"),
     &BuildHierarchicalTorus,
     MakeSidesValue("sides of the torus of packages; by default a near square")});

const Registry<TopologyBuilder>::Entry g_localSwitchTorus(
    "local-switch-torus",
    {"a torus of packages, each node of a package linked to each of the package's switches",
     MakeKeysWithSwitches(),
     &BuildLocalSwitchTorus,
     MakeSidesValue("sides of the torus of packages; by default a near square")});

} // namespace

} // namespace ns3::training
