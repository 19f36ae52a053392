/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * @ingroup distributed-training-helper
 *
 * The platforms of Hou et al., "Co-designing the topology/algorithm to accelerate distributed
 * training": packages (NAP) of nodes (NAM), and a torus of packages that joins the nodes of the
 * same local id by rings, vertical and horizontal. Within a package either a ring (hierarchical
 * torus) or k switches, to each of which each node has a link (local-switch torus).
 *
 * Rates and delays are those of their table II: 512 bit/ns and 90 ns within a package, 256 bit/ns
 * and 200 ns between packages, and 5 ns in the router at the end of each link. Rings of two nodes
 * have two links, one each way around; a host uses both at once if it has two ports (rails) at
 * least.
 */

#include "grid-topology.h"
#include "topology-builder.h"

#include "ns3/log.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingHierarchicalTorusTopology");

namespace
{

constexpr uint64_t LOCAL_RATE = 512000000000;
constexpr uint64_t TORUS_RATE = 256000000000;

const std::map<std::string, TopologyKey>&
GetRates()
{
    static const std::map<std::string, TopologyKey> keys{{"nodes", {1, 64}},
                                                         {"rails", {1, 64}},
                                                         {"local-rate", RATE_KEY},
                                                         {"local-delay", TIME_KEY},
                                                         {"torus-rate", RATE_KEY},
                                                         {"torus-delay", TIME_KEY}};
    return keys;
}

/** Adds the routers, the torus, and what joins the nodes of a package. */
void
AddPackages(const TopologyRequest& request, TopologyGraph& graph, GridDimension::Kind local)
{
    const uint32_t nodes = request.Get("nodes", 4);
    std::vector<uint32_t> packages = request.sides;
    if (packages.empty())
    {
        packages = MakeNearSquare(request.GetShare(nodes));
    }
    std::vector<GridDimension> dimensions;
    for (uint32_t side : packages)
    {
        dimensions.push_back({side,
                              GridDimension::Kind::FULL_RING,
                              request.GetRate("torus-rate", DataRate(TORUS_RATE)),
                              request.GetTime("torus-delay", NanoSeconds(205))});
    }
    dimensions.push_back({nodes,
                          local,
                          request.GetRate("local-rate", DataRate(LOCAL_RATE)),
                          request.GetTime("local-delay", NanoSeconds(95))});
    AddGrid(graph, dimensions);
    graph.shape.groupSize = nodes;
}

void
BuildHierarchicalTorus(const TopologyRequest& request, TopologyGraph& graph)
{
    AddPackages(request, graph, GridDimension::Kind::FULL_RING);
    AddHostsOfGrid(graph, request.rate, request.Get("rails", 1));
}

void
BuildLocalSwitchTorus(const TopologyRequest& request, TopologyGraph& graph)
{
    AddPackages(request, graph, GridDimension::Kind::NOTHING);
    const uint32_t nodes = graph.shape.groupSize;
    const uint32_t switches = request.Get("switches", nodes);
    const auto local = static_cast<uint8_t>(graph.shape.sides.size() - 1);
    graph.shape.numbers["switches"] = switches;
    for (uint32_t node = 0; node < graph.hosts; node++)
    {
        for (uint32_t i = 0; i < switches; i++)
        {
            graph.links.push_back({graph.hosts + node,
                                   2 * graph.hosts + node / nodes * switches + i,
                                   request.GetRate("local-rate", DataRate(LOCAL_RATE)),
                                   request.GetTime("local-delay", NanoSeconds(95)),
                                   local});
        }
    }
    graph.switches += graph.hosts / nodes * switches;
    AddHostsOfGrid(graph, request.rate, request.Get("rails", switches));
}

std::map<std::string, TopologyKey>
WithSwitches()
{
    auto keys = GetRates();
    keys["switches"] = {1, 64};
    return keys;
}

const Registry<TopologyBuilder>::Entry g_hierarchicalTorus(
    "hierarchical-torus",
    {"a torus of packages of nodes=4 in a ring, rates and delays of its own",
     GetRates(),
     &BuildHierarchicalTorus,
     TopologyBuilder::First::SIDES});

const Registry<TopologyBuilder>::Entry g_localSwitchTorus(
    "local-switch-torus",
    {"as hierarchical-torus, but the nodes of a package have a link each to switches=, as many as "
     "nodes",
     WithSwitches(),
     &BuildLocalSwitchTorus,
     TopologyBuilder::First::SIDES});

} // namespace

} // namespace ns3::training
