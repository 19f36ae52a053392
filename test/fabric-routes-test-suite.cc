/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-test-common.h"
#include "test-case.h"

#include "ns3/link-outage.h"
#include "ns3/topology-builder.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace ns3::training::tests::fabric_routes_test
{

/// Egress ports of all switches, by switch and endpoint.
using Routes = std::vector<std::vector<ForwardingTable::Group>>;

constexpr uint32_t FAR = std::numeric_limits<uint32_t>::max() / 2;

/** @return cost of the way of each switch to it, by relaxing all links until nothing changes */
std::vector<uint32_t>
FindCosts(const Fabric& fabric, uint32_t target)
{
    const TopologyGraph& topology = fabric.topology;
    std::vector<uint32_t> costs(topology.GetNodes(), FAR);
    costs[topology.hosts + target] = 0;
    for (bool changes = true; changes;)
    {
        changes = false;
        for (std::size_t l = 0; l < topology.links.size(); l++)
        {
            const auto& link = topology.links[l];
            if (std::min(link.a, link.b) < topology.hosts || !fabric.channels[l]->IsUp())
            {
                continue;
            }
            for (const auto& [from, to] : {std::pair(link.a, link.b), std::pair(link.b, link.a)})
            {
                if (costs[to] + link.cost < costs[from])
                {
                    costs[from] = costs[to] + link.cost;
                    changes = true;
                }
            }
        }
    }
    return costs;
}

/**
 * @param costs of all nodes, see FindCosts()
 * @return ports of the switch that lead to a cheaper node, of the highest dimension, up before down
 */
ForwardingTable::Group
FindPorts(const Fabric& fabric, uint32_t node, const std::vector<uint32_t>& costs)
{
    const TopologyGraph& topology = fabric.topology;
    std::map<std::pair<int, bool>, std::set<uint16_t>> ports; // by preference
    for (std::size_t l = 0; l < topology.links.size(); l++)
    {
        const auto& link = topology.links[l];
        if ((link.a != node && link.b != node) || !fabric.channels[l]->IsUp())
        {
            continue;
        }
        const uint32_t peer = TopologyGraph::GetPeer(link, node);
        if (peer >= topology.hosts && costs[node] < FAR && costs[node] == costs[peer] + link.cost)
        {
            const bool isGrid = link.dimension != TopologyGraph::NO_DIMENSION;
            ports[{isGrid ? link.dimension : -1, isGrid && link.a == node}].insert(
                fabric.channels[l]->GetPort(link.a == node ? 0 : 1).GetIndex());
        }
    }
    return ports.empty() ? ForwardingTable::Group()
                         : ForwardingTable::Group(ports.rbegin()->second.begin(),
                                                  ports.rbegin()->second.end());
}

/** @return its routes to all endpoints of hosts, computed without its tables */
Routes
FindRoutes(const Fabric& fabric)
{
    const TopologyGraph& topology = fabric.topology;
    Routes routes(topology.switches, std::vector<ForwardingTable::Group>(fabric.devices.size()));
    for (uint32_t last = 0; last < topology.switches; last++)
    {
        // Endpoints at this switch, by host.
        std::map<uint32_t, std::vector<uint32_t>> rails;
        for (uint32_t endpoint = 0; endpoint < fabric.devices.size(); endpoint++)
        {
            const uint32_t host = fabric.hostOfEndpoint[endpoint];
            const uint32_t link = fabric.linkOfEndpoint[endpoint];
            if (link != Fabric::NO_LINK &&
                TopologyGraph::GetPeer(topology.links[link], host) == topology.hosts + last)
            {
                rails[host].push_back(endpoint);
            }
        }
        const std::vector<uint32_t> costs = FindCosts(fabric, last);
        for (const auto& [host, endpoints] : rails)
        {
            for (std::size_t number = 0; number < endpoints.size(); number++)
            {
                const uint32_t link = fabric.linkOfEndpoint[endpoints[number]];
                if (!fabric.channels[link]->IsUp())
                {
                    continue;
                }
                const uint32_t end = topology.links[link].a == host ? 1 : 0;
                for (uint32_t i = 0; i < topology.switches; i++)
                {
                    // Rails of a host at one switch share the ports.
                    const auto ports = FindPorts(fabric, topology.hosts + i, costs);
                    const std::size_t shares = std::min(ports.size(), endpoints.size());
                    for (std::size_t p = 0; p < ports.size(); p++)
                    {
                        if (p % shares == number % shares)
                        {
                            routes[i][endpoints[number]].push_back(ports[p]);
                        }
                    }
                }
                routes[last][endpoints[number]] = {fabric.channels[link]->GetPort(end).GetIndex()};
            }
        }
    }
    return routes;
}

void
Compare(const Fabric& fabric, const std::string& when)
{
    const Routes expected = FindRoutes(fabric);
    uint64_t wrong = 0;
    for (uint32_t i = 0; i < fabric.topology.switches; i++)
    {
        for (uint32_t endpoint = 0; endpoint < fabric.devices.size(); endpoint++)
        {
            const auto ports = fabric.devicesOfSwitches[i]->GetTable().Get(endpoint);
            wrong += !std::equal(ports.begin(),
                                 ports.end(),
                                 expected[i][endpoint].begin(),
                                 expected[i][endpoint].end());
        }
        const auto beyond = static_cast<uint32_t>(fabric.devices.size()) + 99;
        wrong += !fabric.devicesOfSwitches[i]->GetTable().Get(beyond).empty();
    }
    NS_TEST_EXPECT_MSG_EQ(wrong, 0, fabric.topology.name << ", " << when << ": wrong routes");
}

/** Endpoints of switches, static routes, and both after an update. */
void
Address(Fabric& fabric)
{
    const uint32_t last = fabric.topology.switches - 1;
    ForwardingTable& table = fabric.devicesOfSwitches[0]->GetTable();
    table.SetStatic(0, {0}); // before and after the endpoint of the switch
    const uint32_t endpoint = fabric.AddressSwitch(last);
    table.SetStatic(endpoint + 7, {0});
    NS_TEST_EXPECT_MSG_EQ(fabric.AddressSwitch(last), endpoint, "the same one");
    const std::vector<uint32_t> costs = FindCosts(fabric, last);
    for (const bool isUpdated : {false, true})
    {
        for (uint32_t i = 0; i < fabric.topology.switches; i++)
        {
            const auto ports = fabric.devicesOfSwitches[i]->GetTable().Get(endpoint);
            const auto expected = FindPorts(fabric, fabric.topology.hosts + i, costs);
            NS_TEST_EXPECT_MSG_EQ(
                (std::equal(ports.begin(), ports.end(), expected.begin(), expected.end())),
                true,
                fabric.topology.name << ": to switch " << last << " from " << i << ", updated "
                                     << isUpdated);
        }
        for (const uint32_t fixed : {0U, endpoint + 7})
        {
            NS_TEST_EXPECT_MSG_EQ(table.Get(fixed).size(), 1, "static");
            NS_TEST_EXPECT_MSG_EQ(table.Get(fixed)[0], 0, "static");
        }
        const auto routes = FindRoutes(fabric);
        uint64_t wrong = 0;
        for (uint32_t other = 1; other < fabric.devices.size(); other++)
        {
            const auto ports = table.Get(other);
            wrong += !std::equal(ports.begin(),
                                 ports.end(),
                                 routes[0][other].begin(),
                                 routes[0][other].end());
        }
        NS_TEST_EXPECT_MSG_EQ(wrong, 0, fabric.topology.name << ": beside static routes");
        fabric.UpdateRoutes();
    }
}

/** Compares the routes of a fabric, with links up and down. */
void
Check(const TopologyGraph& graph)
{
    Fabric fabric = FabricHelper().Install(graph);
    Compare(fabric, "all links");
    std::vector<uint32_t> some;
    for (uint32_t l = 1; l < graph.links.size(); l += 4)
    {
        some.push_back(l);
    }
    for (const auto& failed : {std::vector<uint32_t>{0}, some})
    {
        if (graph.links.empty())
        {
            continue;
        }
        LinkOutage outage(fabric, failed, Time(0));
        Compare(fabric, std::to_string(failed.size()) + " failed links");
        outage.End();
        Compare(fabric, "repaired links");
    }
    if (graph.switches > 0)
    {
        Address(fabric);
    }
    Simulator::Destroy();
}

/** A table of a fat-tree has a route per edge switch, and one per host of its own. */
void
Count()
{
    for (const uint32_t k : {4U, 8U, 12U})
    {
        const Fabric fabric =
            FabricHelper().Install(BuildTopology("fat-tree:k=" + std::to_string(k),
                                                 1,
                                                 DataRate("100Gbps"),
                                                 NanoSeconds(300)));
        const uint32_t edges = k * k / 2;
        for (uint32_t i = 0; i < fabric.topology.switches; i++)
        {
            NS_TEST_EXPECT_MSG_EQ(fabric.devicesOfSwitches[i]->GetTable().GetRoutes(),
                                  edges + (i < edges ? k / 2 : 0),
                                  "routes of switch " << i << ", k=" << k);
        }
        Simulator::Destroy();
    }
}

/** The tables of all switches against routes found by relaxation of all links. */
void
TestFabricRoutes()
{
    const std::set<std::string> files{"file", "infragraph", "astra-network", "nccl"};
    const std::map<std::string, std::string> specs{
        {"fat-tree", "fat-tree:k=4"},
        {"leaf-spine", "leaf-spine:leaves=3,spines=4,hosts-per-leaf=2"},
        {"rail-optimized", "rail-optimized:gpus=4,servers=6,unit=4,spines=2,uplinks=3"},
        {"dragonfly", "dragonfly:a=3,p=2,h=1"},
        {"torus", "torus:4x3"},
        {"mesh", "mesh:3x3"},
        {"m-ary-n-tree", "m-ary-n-tree:m=2,n=3"},
        {"hierarchical-torus", "hierarchical-torus:2x2,nodes=4"},
        {"local-switch-torus", "local-switch-torus:2x2,nodes=4,switches=3"},
    };
    uint32_t checked = 0;
    for (const auto& [name, builder] : Registry<TopologyBuilder>::All())
    {
        TopologyGraph graph;
        const auto spec = specs.find(name);
        try
        {
            graph = BuildTopology(spec == specs.end() ? name : spec->second,
                                  spec == specs.end() ? 6 : 1,
                                  DataRate("100Gbps"),
                                  NanoSeconds(300));
        }
        catch (const ConfigurationError&)
        {
            NS_TEST_EXPECT_MSG_EQ((spec == specs.end()), true, name << " needs a file");
            continue;
        }
        Check(graph);
        checked++;
    }
    NS_TEST_EXPECT_MSG_GT(checked, 12, "topologies without files");
    // Several links of a host to one switch, and to another one.
    TopologyGraph rails;
    rails.name = "rails";
    rails.hosts = 3;
    rails.switches = 4;
    for (const auto& [a, b] : std::vector<std::pair<uint32_t, uint32_t>>{{0, 3},
                                                                         {0, 3},
                                                                         {0, 4},
                                                                         {1, 4},
                                                                         {1, 4},
                                                                         {1, 4},
                                                                         {2, 5},
                                                                         {3, 5},
                                                                         {3, 5},
                                                                         {3, 6},
                                                                         {4, 6},
                                                                         {4, 6},
                                                                         {5, 6},
                                                                         {4, 5}})
    {
        rails.links.push_back({a, b, DataRate("100Gbps"), NanoSeconds(300)});
    }
    Check(rails);
    Count();
}

void
Expect(const Fabric& fabric, const std::set<uint32_t>& reached)
{
    const Routes routes = FindRoutes(fabric);
    for (uint32_t i = 0; i < fabric.topology.switches; i++)
    {
        for (uint32_t host = 0; host < fabric.topology.hosts; host++)
        {
            const auto ports = fabric.devicesOfSwitches[i]->GetTable().Get(host);
            const bool isRight = std::equal(ports.begin(),
                                            ports.end(),
                                            routes[i][host].begin(),
                                            routes[i][host].end());
            NS_TEST_EXPECT_MSG_EQ((reached.count(host) > 0 ? isRight : ports.empty()),
                                  true,
                                  "from switch " << i << " to host " << host);
        }
    }
}

/** Routes to some hosts only, and to others later. */
void
TestRoutedHosts()
{
    FabricHelper helper;
    helper.SetRoutedHosts(3); // those of the first two of eight edge switches
    Fabric fabric =
        helper.Install(BuildTopology("fat-tree:k=4", 1, DataRate("100Gbps"), NanoSeconds(300)));
    Expect(fabric, {0, 1, 2, 3});
    fabric.RouteTo(2);
    Expect(fabric, {0, 1, 2, 3});
    fabric.RouteTo(9);
    Expect(fabric, {0, 1, 2, 3, 8, 9});
    const uint32_t endpoint = fabric.AddressSwitch(19);
    fabric.RouteTo(14);
    Expect(fabric, {0, 1, 2, 3, 8, 9, 14, 15});
    NS_TEST_EXPECT_MSG_EQ(fabric.devicesOfSwitches[0]->GetTable().Get(endpoint).size(),
                          1,
                          "a core switch");
    fabric.UpdateRoutes();
    Expect(fabric, {0, 1, 2, 3, 8, 9, 14, 15});
    Simulator::Destroy();
}

const Suite g_suite("fabric-routes",
                    Duration::QUICK,
                    {{"routes of every topology, also without failed links", TestFabricRoutes},
                     {"routes to some hosts", TestRoutedHosts}});

} // namespace ns3::training::tests::fabric_routes_test
