/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "test-case.h"
#include "topology/topology-report.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/shortest-paths.h"
#include "ns3/topology-builder.h"
#include "ns3/topology-graph.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

namespace ns3::training::tests::topology_test
{

/** @return the topology, with links of 100 Gbit/s and 300 ns */
TopologyGraph
Build(const std::string& spec, uint32_t ranks = 1)
{
    return BuildTopology(spec, ranks, DataRate("100Gbps"), NanoSeconds(300));
}

/**
 * @param paths of the topology, after a search for `to`
 * @return the links of the route, the first choice at each node; empty if there is none
 */
std::vector<uint32_t>
Walk(const TopologyGraph& graph, const ShortestPaths& paths, uint32_t from, uint32_t to)
{
    std::vector<uint32_t> links;
    std::vector<uint32_t> next;
    for (uint32_t node = from; node != to;
         node = TopologyGraph::GetPeer(graph.links[next[0]], node))
    {
        paths.GetNextLinks(node, next);
        if (next.empty() || links.size() > graph.links.size())
        {
            return {};
        }
        links.push_back(next[0]);
    }
    return links;
}

/** Counts and distances of topologies equal the closed forms. */
void
TestTopologyCounts()
{
    struct Case
    {
        std::string spec;
        uint32_t ranks;
        uint32_t hosts;
        uint32_t switches;
        uint32_t links;    // without those of hosts
        uint32_t diameter; // in links between switches
    };

    const std::vector<Case> cases{
        // Torus k x k: 2 k^2 links, diameter 2 floor(k/2).
        {"torus:4x4", 1, 16, 16, 32, 4},
        {"torus:5x5", 1, 25, 25, 50, 4},
        {"torus:8x8", 1, 64, 64, 128, 8},
        {"torus:3x7", 1, 21, 21, 42, 4},
        {"torus:4x4x4", 1, 64, 64, 192, 6},
        {"torus:3x3x3x3", 1, 81, 81, 324, 4},
        // A side of 2 has one link, a side of 1 none.
        {"torus:2x2", 1, 4, 4, 4, 2},
        {"torus:2x4", 1, 8, 8, 12, 3},
        {"torus:1x4", 1, 4, 4, 4, 2},
        {"torus:1x1", 1, 1, 1, 0, 0},
        {"torus:6", 1, 6, 6, 6, 3},
        {"torus", 12, 12, 12, 3 * 4 + 3 * 4, 3},
        {"torus", 7, 7, 7, 7, 3},
        // Mesh k x k: 2 k (k-1) links, diameter 2 (k-1).
        {"mesh:4x4", 1, 16, 16, 24, 6},
        {"mesh:3x5", 1, 15, 15, 22, 6},
        {"mesh:2x2x2", 1, 8, 8, 12, 3},
        {"ring", 8, 8, 8, 8, 4},
        {"ring:9", 5, 9, 9, 9, 4},
        {"ring:2", 2, 2, 2, 1, 1},
        {"full-mesh", 6, 6, 6, 15, 1},
        {"full-mesh:hosts=9", 6, 9, 9, 36, 1},
        // m-ary n-tree: m^n hosts, n m^(n-1) switches, 2n-1 of them on the longest path.
        {"m-ary-n-tree", 16, 16, 8, 16, 2},
        {"m-ary-n-tree:m=2,n=4", 1, 16, 32, 48, 6},
        {"m-ary-n-tree:m=3,n=3", 1, 27, 27, 54, 4},
        {"m-ary-n-tree:m=5,n=1", 1, 5, 1, 0, 0},
        {"two-switch", 16, 16, 2, 8, 1},
        {"two-switch:hosts-per-switch=3,links=2", 1, 6, 2, 2, 1},
        // BiGraph: (n/2)^2 links, 3 switches on the same side.
        {"bigraph:m=4,n=8", 1, 32, 8, 16, 2},
        {"bigraph", 16, 16, 8, 16, 2},
        {"bigraph:m=3,n=2", 1, 6, 2, 1, 1},
        // Dragonfly: a h + 1 groups, a p hosts each.
        {"dragonfly", 1, 72, 36, 9 * 6 + 36, 3},
        {"dragonfly:a=3,p=1,h=1", 1, 12, 12, 4 * 3 + 6, 3},
        {"dragonfly:a=1,p=4,h=1", 1, 8, 2, 1, 1},
        {"leaf-spine:leaves=3,spines=2,hosts-per-leaf=4", 1, 12, 5, 6, 2},
        {"fat-tree:k=4", 1, 16, 20, 32, 4},
        // Hou: a side of 2 has two links; 4 ports to the torus, 2 or k to the package.
        {"hierarchical-torus:2x2,nodes=4", 1, 16, 16, 16 * 4 / 2 + 16, 4},
        {"hierarchical-torus:1x1,nodes=8", 1, 8, 8, 8, 4},
        {"hierarchical-torus", 64, 64, 64, 64 * 4 / 2 + 64, 6},
        {"local-switch-torus:2x2,nodes=4,switches=3", 1, 16, 28, 16 * 4 / 2 + 48, 4},
        {"local-switch-torus:1x1,nodes=8", 1, 8, 16, 64, 2},
        // 4 servers of 8: 8 leaves of 4, 4 spines.
        {"rail-optimized", 32, 32, 4 + 8 + 4, 32, 2},
        {"rail-optimized:gpus=4,servers=6,unit=4,spines=2,uplinks=3",
         1,
         24,
         6 + 8 + 2,
         8 * 2 * 3,
         2},
        // Rails only: each NIC is a node with links to its leaf and to the local switch.
        {"rail-optimized:gpus=4,servers=3,spines=0", 1, 12, 3 + 12 + 4, 12 + 12, 3},
        {"rail-optimized:gpus=4,servers=3,spines=0,nics=2", 1, 12, 3 + 6 + 2, 6 + 6, 3},
    };
    for (const Case& expected : cases)
    {
        const TopologyGraph graph = Build(expected.spec, expected.ranks);
        NS_TEST_EXPECT_MSG_EQ(graph.hosts, expected.hosts, expected.spec << " hosts");
        NS_TEST_EXPECT_MSG_EQ(graph.switches, expected.switches, expected.spec << " switches");
        uint32_t links = 0;
        std::set<uint32_t> linked;
        for (const auto& link : graph.links)
        {
            const uint32_t lower = std::min(link.a, link.b);
            links += lower >= graph.hosts;
            linked.insert(lower < graph.hosts ? lower : graph.hosts);
            NS_TEST_EXPECT_MSG_NE(link.a, link.b, expected.spec << " no loops");
        }
        NS_TEST_EXPECT_MSG_EQ(links, expected.links, expected.spec << " links");
        linked.erase(graph.hosts);
        NS_TEST_EXPECT_MSG_EQ(linked.size(), expected.hosts, expected.spec << " hosts linked");
        ShortestPaths paths(graph);
        NS_TEST_EXPECT_MSG_EQ(paths.GetLongestPath(graph.hosts).links,
                              (graph.hosts == 1 ? 0 : expected.diameter + 2),
                              expected.spec << " diameter");
    }
}

/** Compares the longest paths with those of a search from every host. */
void
ExpectSearches(const TopologyGraph& graph, uint32_t searches, const std::string& what)
{
    TopologyGraph shapeless = graph;
    shapeless.shape = TopologyShape();
    ShortestPaths paths(graph);
    ShortestPaths all(shapeless);
    NS_TEST_EXPECT_MSG_EQ(paths.GetDistinctHosts(graph.hosts).size(), searches, what);
    NS_TEST_EXPECT_MSG_EQ(all.GetDistinctHosts(graph.hosts).size(), graph.hosts, what);
    const ShortestPaths::Path found = paths.GetLongestPath(graph.hosts);
    const ShortestPaths::Path expected = all.GetLongestPath(graph.hosts);
    NS_TEST_EXPECT_MSG_EQ(found.links, expected.links, what << ": links");
    NS_TEST_EXPECT_MSG_EQ(found.rate, expected.rate, what << ": rate");
    NS_TEST_EXPECT_MSG_EQ(found.delay, expected.delay, what << ": delay");
    NS_TEST_EXPECT_MSG_EQ_TOL(found.secondsPerBit,
                              expected.secondsPerBit,
                              1e-9 * expected.secondsPerBit,
                              what << ": seconds per bit");
    for (bool ranksForward : {false, true})
    {
        NS_TEST_EXPECT_MSG_EQ(paths.GetDiameter(graph.hosts, ranksForward),
                              all.GetDiameter(graph.hosts, ranksForward),
                              what << ": diameter");
    }
}

/**
 * The hosts of a torus are alike, so one search finds its longest path: set-up does not search from
 * every host. A link that differs, or a host without a rank, makes the hosts distinct.
 */
void
TestAlikeHosts()
{
    for (const std::string spec :
         {"torus:4x4", "torus:5x3", "torus:2x3", "torus:2x2x2", "torus:1x5", "ring:7", "torus"})
    {
        const TopologyGraph graph = Build(spec, spec == "torus" ? 12 : 1);
        ExpectSearches(graph, 1, spec);
        NS_TEST_EXPECT_MSG_EQ(ShortestPaths(graph).GetDistinctHosts(graph.hosts - 1).size(),
                              graph.hosts - 1,
                              spec << " with a host without a rank");
    }
    for (const std::string spec : {"mesh:4x4", "mesh:3"})
    {
        const TopologyGraph graph = Build(spec);
        ExpectSearches(graph, graph.hosts, spec);
    }
    const TopologyGraph torus = Build("torus:4x3");
    using Change = void (*)(TopologyGraph::Link&);
    const std::vector<Change> changes{
        [](TopologyGraph::Link& link) { link.rate = DataRate("1Gbps"); },
        [](TopologyGraph::Link& link) { link.delay = MicroSeconds(9); },
        [](TopologyGraph::Link& link) { link.cost = 3; },
        [](TopologyGraph::Link& link) { std::swap(link.a, link.b); },
        [](TopologyGraph::Link& link) { link.dimension = 1 - link.dimension; },
    };
    for (std::size_t i = 0; i < changes.size(); i++)
    {
        TopologyGraph changed = torus;
        changes[i](changed.links[5]);
        ExpectSearches(changed, changed.hosts, "change " + std::to_string(i));
    }
    TopologyGraph slow = torus; // the links of a dimension are alike
    for (auto& link : slow.links)
    {
        link.rate = link.dimension == 0 ? DataRate("10Gbps") : link.rate;
        link.delay = link.dimension == 0 ? MicroSeconds(7) : link.delay;
    }
    ExpectSearches(slow, 1, "a slow dimension");
}

/** Compares all routes of a grid with those computed from coordinates. */
void
Check(const std::string& spec, bool wraps)
{
    const TopologyGraph graph = Build(spec);
    NS_TEST_EXPECT_MSG_EQ(graph.shape.wraps, wraps, spec);
    ShortestPaths paths(graph);
    for (uint32_t to = 0; to < graph.hosts; to++)
    {
        paths.Search(graph.hosts + to);
        for (uint32_t from = 0; from < graph.hosts; from++)
        {
            uint32_t node = from;
            std::vector<uint32_t> expected;
            uint32_t stride = 1;
            for (std::size_t d = graph.shape.sides.size(); d-- > 0;)
            {
                const uint32_t side = graph.shape.sides[d];
                const uint32_t target = to / stride % side;
                while (node / stride % side != target)
                {
                    const uint32_t place = node / stride % side;
                    const uint32_t ahead = (target + side - place) % side;
                    const bool up = wraps ? 2 * ahead <= side : target > place;
                    const uint32_t next = (place + (up ? 1 : side - 1)) % side;
                    node = node - place * stride + next * stride;
                    expected.push_back(node);
                }
                stride *= side;
            }
            std::vector<uint32_t> actual;
            node = graph.hosts + from;
            for (uint32_t link : Walk(graph, paths, node, graph.hosts + to))
            {
                node = TopologyGraph::GetPeer(graph.links[link], node);
                actual.push_back(node - graph.hosts);
            }
            NS_TEST_ASSERT_MSG_EQ(actual, expected, spec << " from " << from << " to " << to);
            NS_TEST_ASSERT_MSG_EQ(paths.GetPaths()[graph.hosts + from].links,
                                  expected.size(),
                                  spec << " distance from " << from << " to " << to);
        }
    }
}

/**
 * Routes of a torus or mesh are in dimension order, the last dimension first, in the shorter
 * direction, and upwards if both are equally long.
 */
void
TestDimensionOrder()
{
    for (const std::string sides : {"4x4", "5x3", "4x6", "2x3", "1x5", "2x2x2", "4x3x5", "7"})
    {
        Check("torus:" + sides, true);
        Check("mesh:" + sides, false);
    }
}

/// Neighbors of each node.
using List = std::vector<std::vector<uint32_t>>;

/** @return neighbors of each node in the order of its links */
List
Find(const std::string& spec)
{
    const TopologyGraph graph = Build(spec);
    const auto links = graph.GetLinksOfNodes();
    List neighbors(graph.hosts);
    for (uint32_t node = 0; node < graph.hosts; node++)
    {
        for (uint32_t link : links[graph.hosts + node])
        {
            const uint32_t peer = TopologyGraph::GetPeer(graph.links[link], graph.hosts + node);
            if (peer >= graph.hosts)
            {
                neighbors[node].push_back(peer - graph.hosts);
            }
        }
    }
    return neighbors;
}

/** View of a grid by algorithms: routers, and neighbors in the order north, south, west, east. */
void
TestGridNeighbors()
{
    NS_TEST_EXPECT_MSG_EQ(Find("torus:2x2"), (List{{2, 1}, {3, 0}, {0, 3}, {1, 2}}), "2x2");
    // Worked out by hand, in MULTITREE's order.
    const List torus = Find("torus:4x4");
    NS_TEST_EXPECT_MSG_EQ(torus[0], (std::vector<uint32_t>{12, 4, 3, 1}), "corner");
    NS_TEST_EXPECT_MSG_EQ(torus[5], (std::vector<uint32_t>{1, 9, 4, 6}), "inner");
    NS_TEST_EXPECT_MSG_EQ(torus[15], (std::vector<uint32_t>{11, 3, 14, 12}), "last");
    const List mesh = Find("mesh:3x3");
    NS_TEST_EXPECT_MSG_EQ(mesh[0], (std::vector<uint32_t>{3, 1}), "corner");
    NS_TEST_EXPECT_MSG_EQ(mesh[4], (std::vector<uint32_t>{1, 7, 3, 5}), "inner");
    const TopologyGraph tree = Build("m-ary-n-tree:m=4,n=2");
    NS_TEST_EXPECT_MSG_EQ((tree.GetSwitchesOfHosts()[7]), tree.hosts + 1, "switch of a host");
}

/**
 * A dragonfly has one link between any two groups, h at every switch, and routes use at most one.
 */
void
TestDragonfly()
{
    const uint32_t a = 4;
    const uint32_t h = 3;
    const TopologyGraph graph = Build("dragonfly:a=4,p=2,h=3");
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> between;
    std::map<uint32_t, uint32_t> ports;
    for (const auto& link : graph.links)
    {
        const uint32_t from = (link.a - graph.hosts) / a;
        const uint32_t to = (link.b - graph.hosts) / a;
        if (link.a >= graph.hosts && from != to)
        {
            between[{std::min(from, to), std::max(from, to)}]++;
            ports[link.a]++;
            ports[link.b]++;
            NS_TEST_EXPECT_MSG_EQ(link.dateline, true, "changes the class");
        }
    }
    NS_TEST_EXPECT_MSG_EQ(between.size(), 13 * 12 / 2, "pairs of groups");
    NS_TEST_EXPECT_MSG_EQ(ports.size(), graph.switches, "switches with global links");
    for (const auto& [node, count] : ports)
    {
        NS_TEST_EXPECT_MSG_EQ(count, h, "global links of a switch");
    }
    ShortestPaths paths(graph);
    for (uint32_t to = graph.hosts; to < graph.GetNodes(); to++)
    {
        paths.Search(to);
        for (uint32_t from = graph.hosts; from < graph.GetNodes(); from++)
        {
            std::vector<uint32_t> next;
            paths.GetNextLinks(from, next);
            NS_TEST_EXPECT_MSG_EQ(next.size(), (from != to), "the way is the only one");
            uint32_t global = 0;
            for (uint32_t link : Walk(graph, paths, from, to))
            {
                global += graph.links[link].dateline;
            }
            const bool apart = (from - graph.hosts) / a != (to - graph.hosts) / a;
            NS_TEST_EXPECT_MSG_EQ(global, (apart ? 1 : 0), "links between groups");
        }
    }
}

/**
 * Documented defaults of keys equal those of the builders; rates and delays of links have limits.
 */
struct TopologyKeysTestCase
{
    static std::string Build(const std::string& spec)
    {
        return WriteTopology(BuildTopology(spec, 16, DataRate("100Gbps"), NanoSeconds(500)));
    }

    void Run()
    {
        uint32_t compared = 0;
        for (const auto& topology : DescribeAlternatives<TopologyBuilder>())
        {
            std::string spelled = topology.name;
            for (const Key& key : topology.keys)
            {
                NS_TEST_EXPECT_MSG_EQ(key.help.empty(), false, spelled << " " << key.name);
                if (!key.initial.empty())
                {
                    spelled +=
                        (spelled == topology.name ? ":" : ",") + key.name + "=" + key.initial;
                    compared++;
                }
                const bool isLink = key.type == Key::Type::RATE || key.type == Key::Type::TIME;
                const std::string beyond = key.type == Key::Type::RATE ? "101Tbps" : "101s";
                NS_TEST_EXPECT_MSG_EQ(isLink && key.Allows(beyond), false, spelled);
            }
            if (spelled != topology.name)
            {
                NS_TEST_EXPECT_MSG_EQ(Build(spelled), Build(topology.name), spelled);
            }
        }
        NS_TEST_EXPECT_MSG_GT(compared, 20, "keys with defaults");
    }
};

/** A topology is built once for all numbers of ranks, unless it follows them. */
void
TestBuiltOnce()
{
    const auto get = [](BuiltTopology& built, const std::string& spec, uint32_t ranks) {
        return built.Get(spec, ranks, DataRate("100Gbps"), NanoSeconds(500));
    };
    for (const std::string spec : {"torus:4x4", "fat-tree:k=4", "leaf-spine:hosts-per-leaf=8"})
    {
        BuiltTopology built;
        const auto first = get(built, spec, 1);
        NS_TEST_EXPECT_MSG_EQ(first->followsRanks, false, spec);
        BuiltTopology copy = built;
        NS_TEST_EXPECT_MSG_EQ(get(copy, spec, first->hosts), first, spec);
        NS_TEST_EXPECT_MSG_NE(GetRefusal([&] { get(copy, spec, first->hosts + 1); }), "", spec);
        NS_TEST_EXPECT_MSG_EQ(get(copy, spec, 2), first, "kept in spite of a refusal");
        const auto hosts = copy.FindHosts(spec, 1000, DataRate("100Gbps"), NanoSeconds(500));
        NS_TEST_EXPECT_MSG_EQ(hosts.value(), first->hosts, spec);
    }
    for (const std::string spec : {"single-switch", "fat-tree", "torus"})
    {
        BuiltTopology built;
        NS_TEST_EXPECT_MSG_EQ(get(built, spec, 4)->followsRanks, true, spec);
        NS_TEST_EXPECT_MSG_GT(get(built, spec, 40)->hosts, 39, spec);
        const auto hosts = built.FindHosts(spec, 40, DataRate("100Gbps"), NanoSeconds(500));
        NS_TEST_EXPECT_MSG_EQ(hosts.has_value(), false, spec);
    }
    BuiltTopology built;
    get(built, "torus:4x4", 1);
    const auto slow = built.Get("torus:4x4", 1, DataRate("1Gbps"), NanoSeconds(500));
    NS_TEST_EXPECT_MSG_EQ(slow->links[0].rate, DataRate("1Gbps"), "another rate");
    NS_TEST_EXPECT_MSG_EQ(get(built, "torus:2x2", 1)->hosts, 4, "another text");
}

/** A file that changes is read again. */
void
TestChangedFile()
{
    const std::string path = CreateTempDirFilename("topology.json");
    BuiltTopology built;
    for (const std::string sides : {"2x2", "4x2"})
    {
        const auto graph = BuildTopology("torus:" + sides, 1, DataRate("100Gbps"), Time(0));
        std::ofstream(path) << WriteTopology(graph);
        std::filesystem::last_write_time(path,
                                         std::filesystem::file_time_type() +
                                             std::chrono::seconds(graph.hosts));
        const auto read = built.Get("file:" + path, 1, DataRate("100Gbps"), Time(0));
        NS_TEST_EXPECT_MSG_EQ(read->hosts, graph.hosts, sides);
    }
}

/** Names of nodes and links lead back to them. */
void
TestTargets()
{
    const TopologyGraph graph =
        BuildTopology("leaf-spine:leaves=2,spines=2", 8, DataRate("100Gbps"), Time(0));
    for (uint32_t node = 0; node < graph.GetNodes(); node++)
    {
        NS_TEST_EXPECT_MSG_EQ(graph.FindNode(graph.GetName(node)).value(), node, "a node");
        uint32_t links = 0;
        for (const auto& link : graph.links)
        {
            links += link.a == node || link.b == node;
        }
        NS_TEST_EXPECT_MSG_EQ(graph.FindLinks(graph.GetName(node)).size(), links, "its links");
    }
    for (uint32_t i = 0; i < graph.links.size(); i++)
    {
        const std::string a = graph.GetName(graph.links[i].a);
        const std::string b = graph.GetName(graph.links[i].b);
        for (const std::string& name : {a + "-" + b, b + "-" + a})
        {
            const std::vector<uint32_t> found = graph.FindLinks(name);
            NS_TEST_ASSERT_MSG_EQ(found.size(), 1, name);
            NS_TEST_EXPECT_MSG_EQ(found[0], i, name);
        }
    }
    NS_TEST_EXPECT_MSG_EQ(graph.FindLinks("*").size(), graph.links.size(), "all");
    for (const std::string name :
         {"", "-", "host8", "switch4", "host0-", "-host0", "host0-host0", "host0-switch1-host0"})
    {
        NS_TEST_EXPECT_MSG_EQ(graph.FindLinks(name).size(), 0, name);
    }
}

const Suite g_suite("topology",
                    Duration::QUICK,
                    {{"counts and diameters", TestTopologyCounts},
                     {"alike hosts", TestAlikeHosts},
                     {"dimension order", TestDimensionOrder},
                     {"neighbors in a grid", TestGridNeighbors},
                     {"dragonfly", TestDragonfly},
                     {"one set-up", TestBuiltOnce},
                     {"a changed file", TestChangedFile},
                     {"names of nodes and links", TestTargets},
                     {"defaults and limits of keys", RunTest<TopologyKeysTestCase>}});

} // namespace ns3::training::tests::topology_test
