/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective/multitree-construction.h"
#include "collective/tree-network.h"
#include "test-case.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/topology-builder.h"
#include "ns3/topology-graph.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace ns3::training::tests::multitree_test
{

/** @return the network of the topology, with one rank per host */
TreeNetwork
MakeNetwork(const std::string& spec, uint32_t ranks = 1)
{
    const auto topology = BuildTopology(spec, ranks, DataRate("128Gbps"), NanoSeconds(150));
    std::vector<uint32_t> hosts(topology.hosts);
    std::iota(hosts.begin(), hosts.end(), 0);
    return MakeTreeNetwork(topology, hosts);
}

void
Expect(const std::string& spec, RootOrder order, StopRule rule, const std::string& trees)
{
    NS_TEST_EXPECT_MSG_EQ(BuildSpanningTrees(MakeNetwork(spec), order, rule).Serialize(),
                          trees,
                          spec);
}

/**
 * Trees of small networks equal those of an independent implementation of the published program,
 * edge by edge. (The Python tests compare larger ones by hash.)
 */
void
TestMultitreeVector()
{
    const std::string twoByTwo =
        "0:2<0@0,1<0@0,3<2@1;1:3<1@0,0<1@0,2<3@1;2:0<2@0,3<2@0,1<0@1;3:1<3@0,2<3@0,0<1@1";
    for (const auto* spec : {"torus:2x2", "mesh:2x2"})
    {
        Expect(spec, RootOrder::ID, StopRule::LAST, twoByTwo);
        Expect(spec, RootOrder::SORTED, StopRule::LAST, twoByTwo);
        Expect(spec, RootOrder::ID, StopRule::ANY, twoByTwo);
    }
    const std::string torus =
        "0:6<0@0,3<0@0,2<0@0,1<0@0,8<6@1,7<6@1,5<2@1,4<3@2;1:7<1@0,4<1@0,0<1@0,2<1@0,6<7@1,8<"
        "7@1,3<0@1,5<4@2;2:8<2@0,5<2@0,1<2@0,0<2@0,7<8@1,6<8@1,4<1@1,3<5@2;3:0<3@0,6<3@0,5<3@"
        "0,4<3@0,2<0@1,1<0@1,8<5@1,7<6@2;4:1<4@0,7<4@0,3<4@0,5<4@0,0<1@1,2<1@1,6<3@1,8<7@2;5:"
        "2<5@0,8<5@0,4<5@0,3<5@0,1<2@1,0<2@1,7<4@1,6<8@2;6:3<6@0,0<6@0,8<6@0,7<6@0,5<3@1,4<3@"
        "1,2<8@1,1<0@2;7:4<7@0,1<7@0,6<7@0,8<7@0,3<4@1,5<4@1,0<6@1,2<1@2;8:5<8@0,2<8@0,7<8@0,"
        "6<8@0,4<5@1,3<5@1,1<7@1,0<2@2";
    Expect("torus:3x3", RootOrder::ID, StopRule::LAST, torus);
    Expect("torus:3x3", RootOrder::SORTED, StopRule::LAST, torus);
    Expect("torus:3x3", RootOrder::ID, StopRule::ANY, torus);
    Expect("mesh:3x3",
           RootOrder::ID,
           StopRule::ANY,
           "0:3<0@0,1<0@0,6<3@1,4<3@1,2<1@2,7<6@2,5<4@3,8<7@3;1:4<1@0,0<1@0,2<1@0,7<4@1,3<4@1,"
           "5<2@1,6<7@2,8<5@2;2:5<2@0,1<2@0,8<5@1,4<5@1,0<1@2,7<8@2,3<4@3,6<7@3;3:0<3@0,6<3@0,"
           "4<3@0,1<0@1,7<6@1,5<4@2,2<1@3,8<5@3;4:1<4@0,7<4@0,3<4@0,5<4@0,0<1@1,2<1@1,8<7@1,"
           "6<3@2;5:2<5@0,8<5@0,4<5@0,1<2@1,7<8@1,3<4@2,0<1@3,6<3@3;6:3<6@0,7<6@0,0<3@1,4<7@1,"
           "8<7@2,1<0@2,5<8@3,2<1@4;7:4<7@0,6<7@0,8<7@0,1<4@1,5<4@1,3<6@1,2<5@2,0<3@2;8:5<8@0,"
           "7<8@0,2<5@1,6<7@1,4<5@2,1<2@2,3<6@2,0<3@3");
    Expect("mesh:3x3",
           RootOrder::ID,
           StopRule::LAST,
           "0:3<0@0,1<0@0,6<3@1,4<3@1,2<1@1,7<6@2,5<2@2,8<7@3;1:4<1@0,0<1@0,2<1@0,7<4@1,3<4@1,"
           "5<2@1,6<7@2,8<5@2;2:5<2@0,1<2@0,8<5@1,4<5@1,0<1@2,7<8@2,3<4@3,6<7@3;3:0<3@0,6<3@0,"
           "4<3@0,1<0@1,7<6@1,5<4@2,2<1@3,8<5@3;4:1<4@0,7<4@0,3<4@0,5<4@1,0<1@1,8<7@1,2<1@2,"
           "6<3@2;5:2<5@0,8<5@0,4<5@0,1<2@1,7<8@1,3<4@2,0<1@3,6<3@3;6:3<6@0,7<6@0,0<3@1,4<7@1,"
           "8<7@2,1<0@2,5<4@3,2<1@4;7:4<7@0,6<7@0,8<7@0,1<4@1,3<6@1,5<8@1,0<3@2,2<5@2;8:5<8@0,"
           "7<8@0,2<5@1,6<7@1,4<5@2,1<2@2,3<6@2,0<3@3");
    Expect("mesh:3x3",
           RootOrder::SORTED,
           StopRule::LAST,
           "0:3<0@0,1<0@0,6<3@1,2<1@1,4<3@2,7<6@2,5<2@3,8<7@4;1:4<1@0,0<1@0,2<1@0,7<4@1,5<4@1,"
           "3<0@1,8<7@2,6<3@2;2:5<2@0,1<2@0,8<5@1,4<1@1,7<8@2,0<1@3,3<4@4,6<7@5;3:0<3@0,6<3@0,"
           "4<3@0,1<0@1,7<6@1,5<4@2,8<7@3,2<5@3;4:1<4@0,7<4@0,3<4@0,5<4@0,0<1@1,6<7@1,2<1@2,"
           "8<5@2;5:2<5@0,8<5@0,4<5@0,1<2@1,7<8@1,3<4@2,6<7@3,0<3@3;6:3<6@0,7<6@0,0<3@1,4<3@1,"
           "8<7@1,1<0@2,5<8@2,2<1@3;7:4<7@0,6<7@0,8<7@0,1<4@1,3<4@1,5<8@1,0<1@2,2<5@2;8:5<8@0,"
           "7<8@0,2<5@1,4<5@1,6<7@2,1<2@2,3<4@3,0<1@4");
}

/** The numbers of steps equal those of the published program. */
struct MultitreeStepsTestCase
{
    void Expect(const TreeNetwork& network, const std::vector<uint32_t>& steps)
    {
        const std::vector<uint32_t> got{
            BuildSpanningTrees(network, RootOrder::ID, StopRule::LAST).steps,
            BuildSpanningTrees(network, RootOrder::SORTED, StopRule::LAST).steps,
            BuildSpanningTrees(network, RootOrder::ID, StopRule::ANY).steps};
        for (std::size_t i = 0; i < steps.size(); i++)
        {
            NS_TEST_EXPECT_MSG_EQ(got[i], steps[i], network.GetNodes() << " nodes, variant " << i);
        }
    }

    void Run()
    {
        const auto grid = [](const std::string& kind, uint32_t side) {
            const std::string length = std::to_string(side);
            return MakeNetwork(kind + ":" + length + "x" + length);
        };
        const std::map<uint32_t, uint32_t>
            tori{{4, 5}, {5, 7}, {6, 10}, {7, 13}, {9, 21}, {10, 26}, {12, 37}};
        for (const auto& [side, steps] : tori)
        {
            Expect(grid("torus", side), {steps, steps, steps});
        }
        Expect(grid("mesh", 4), {10, 10, 8});
        Expect(grid("mesh", 5), {14, 14, 12});
        Expect(grid("mesh", 6), {19, 20, 18});
        Expect(grid("mesh", 7), {25, 27, 24});
        Expect(grid("mesh", 9), {42, 44, 40});
        Expect(grid("mesh", 10), {51, 53, 50});
        Expect(grid("mesh", 12), {74, 75, 72});
        Expect(MakeNetwork("two-switch", 16), {15, 15, 15});
        Expect(MakeNetwork("m-ary-n-tree:m=4,n=2"), {15, 15, 15});
        Expect(MakeNetwork("bigraph:m=2,n=8"), {15, 15, 15});
        Expect(MakeNetwork("bigraph:m=4,n=8"), {31, 31, 31});
        // One network interface per node.
        auto torus = grid("torus", 4);
        auto mesh = grid("mesh", 4);
        std::fill(torus.ports.begin(), torus.ports.end(), 1);
        std::fill(mesh.ports.begin(), mesh.ports.end(), 1);
        Expect(torus, {15, 15, 15});
        Expect(mesh, {22, 21, 21});
    }
};

void
Check(const std::string& name, const TreeNetwork& network, const SpanningTrees& result)
{
    const uint32_t n = network.GetNodes();
    // By step and node, and by step and pair of switches.
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> sent;
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> received;
    std::map<std::pair<uint32_t, std::pair<uint32_t, uint32_t>>, uint32_t> carried;
    uint32_t steps = 0;
    for (uint32_t root = 0; root < n; root++)
    {
        std::vector<uint32_t> joined(n, n); // step in which a node joined, plus one
        joined[root] = 0;
        NS_TEST_ASSERT_MSG_EQ(result.trees[root].size(), n - 1, name << ", edges");
        for (const TreeEdge& edge : result.trees[root])
        {
            NS_TEST_EXPECT_MSG_EQ(joined[edge.child], n, name << ": joins twice");
            NS_TEST_EXPECT_MSG_LT_OR_EQ(joined[edge.parent], edge.step, name << ": too early");
            joined[edge.child] = edge.step + 1;
            steps = std::max(steps, edge.step + 1);
            sent[{edge.step, edge.parent}]++;
            received[{edge.step, edge.child}]++;
            const TreePath path = result.GetPath(edge);
            NS_TEST_EXPECT_MSG_EQ(*path.begin(), network.switchOf[edge.parent], name);
            NS_TEST_EXPECT_MSG_EQ(*(path.end() - 1), network.switchOf[edge.child], name);
            for (const uint32_t* next = path.begin() + 1; next != path.end(); next++)
            {
                carried[{edge.step, {*(next - 1), *next}}]++;
            }
        }
    }
    NS_TEST_EXPECT_MSG_EQ(result.steps, steps, name);
    for (const auto& [key, count] : sent)
    {
        NS_TEST_EXPECT_MSG_LT_OR_EQ(count, network.ports[key.second], name << ": sends");
        NS_TEST_EXPECT_MSG_LT_OR_EQ(received[key], network.ports[key.second], name);
    }
    for (const auto& [key, count] : carried)
    {
        const auto& list = network.neighbors[key.second.first];
        NS_TEST_EXPECT_MSG_LT_OR_EQ(count,
                                    std::count(list.begin(), list.end(), key.second.second),
                                    name << ": a link is used too often");
    }
}

/**
 * Trees of any network span it, parents precede children, and no link or port exceeds its messages
 * per step.
 */
void
TestMultitreeProperties()
{
    for (const std::string& spec :
         Split("torus:16x16|torus:3x5|torus:4x2|torus:4x4x4|mesh:5x2|"
               "ring:9|single-switch|"
               "leaf-spine:leaves=4,spines=2,hosts-per-leaf=4|"
               "leaf-spine:leaves=3,spines=2,hosts-per-leaf=3,uplink=256Gbps|"
               "fat-tree:k=4|m-ary-n-tree:m=8,n=2|"
               "m-ary-n-tree:m=2,n=4|"
               "two-switch:hosts-per-switch=8,links=2|"
               "bigraph:m=4,n=16|dragonfly:a=4,p=2,h=2|"
               "full-mesh:hosts=9|rail-optimized:gpus=4,servers=4|"
               "hierarchical-torus:2x2,nodes=4|"
               "local-switch-torus:2x2,nodes=4,switches=3"))
    {
        const auto network = MakeNetwork(spec, 8);
        for (RootOrder order : {RootOrder::ID, RootOrder::SORTED})
        {
            for (StopRule rule : {StopRule::LAST, StopRule::ANY})
            {
                Check(spec, network, BuildSpanningTrees(network, order, rule));
            }
        }
    }
}

std::map<std::size_t, uint32_t>
CountSwitches(const SpanningTrees& result)
{
    std::map<std::size_t, uint32_t> count;
    for (const auto& tree : result.trees)
    {
        for (const TreeEdge& edge : tree)
        {
            count[result.GetPath(edge).size()]++;
        }
    }
    return count;
}

/**
 * Switches crossed, depth of trees and use of links equal those derived from the published
 * program's trees.
 */
void
TestMultitreePaths()
{
    using Counts = std::map<std::size_t, uint32_t>;
    const auto build = [](const TreeNetwork& network) {
        return BuildSpanningTrees(network, RootOrder::ID, StopRule::LAST);
    };
    const auto tree = build(MakeNetwork("m-ary-n-tree:m=4,n=2"));
    NS_TEST_EXPECT_MSG_EQ(CountSwitches(tree), (Counts{{1, 48}, {3, 192}}), "4-ary");
    const auto dgx = build(MakeNetwork("two-switch", 16));
    NS_TEST_EXPECT_MSG_EQ(CountSwitches(dgx), (Counts{{1, 112}, {2, 128}}), "DGX-2");
    const auto biGraph = build(MakeNetwork("bigraph:m=4,n=8"));
    NS_TEST_EXPECT_MSG_EQ(CountSwitches(biGraph), (Counts{{1, 96}, {2, 896}}), "m=4");
    for (uint32_t root = 0; root < 16; root++)
    {
        for (const TreeEdge& edge : tree.trees[root])
        {
            NS_TEST_EXPECT_MSG_EQ(edge.child, (root ^ (edge.step + 1)), "pairwise exchange");
        }
    }
    NS_TEST_EXPECT_MSG_EQ(tree.Serialize(), dgx.Serialize(), "both wirings");
    // A shortest path, even where longer ones have free links.
    const auto threeLevels = build(MakeNetwork("fat-tree:k=4"));
    NS_TEST_EXPECT_MSG_EQ(CountSwitches(threeLevels).rbegin()->first, 5, "three levels");

    std::vector<uint32_t> edges(5, 0);
    for (const auto& list : build(MakeNetwork("torus:4x4")).trees)
    {
        for (const TreeEdge& edge : list)
        {
            edges[edge.step]++;
        }
    }
    NS_TEST_EXPECT_MSG_EQ(edges, (std::vector<uint32_t>{64, 64, 48, 48, 16}), "edges of each step");

    // A different order of ranks on fewer hosts: host 5 has rank 0, and so on.
    const auto torus = BuildTopology("torus:4x4", 16, DataRate("128Gbps"), NanoSeconds(150));
    const auto network = MakeTreeNetwork(torus, {5, 6, 13, 1});
    const auto few = build(network);
    NS_TEST_EXPECT_MSG_EQ(network.switchOf[2], 13, "switch of rank 2");
    NS_TEST_EXPECT_MSG_EQ(network.ports[2], 4, "ports");
    // Rank 3 is next to ranks 0 (south) and 2 (north, around); rank 1 is next to rank 0.
    NS_TEST_EXPECT_MSG_EQ(few.trees[3][0].child, 2, "north first");
    NS_TEST_EXPECT_MSG_EQ(few.trees[3][1].child, 0, "then south");
}

/** Networks with a single rank, and networks without a spanning tree. */
void
TestMultitreeLimits()
{
    const auto one = BuildSpanningTrees(MakeNetwork("ring:1"), RootOrder::ID, StopRule::ANY);
    NS_TEST_EXPECT_MSG_EQ(one.steps, 0, "steps of one node");
    NS_TEST_EXPECT_MSG_EQ(one.Serialize(), "0:", "trees of one node");

    TopologyGraph torn;
    torn.hosts = 4;
    torn.switches = 2;
    for (uint32_t host = 0; host < 4; host++)
    {
        torn.links.push_back({host, 4 + host / 2, DataRate("1Gbps"), NanoSeconds(1)});
    }
    const std::string error = GetRefusal([&] {
        BuildSpanningTrees(MakeTreeNetwork(torn, {0, 1, 2, 3}), RootOrder::SORTED, StopRule::LAST);
    });
    NS_TEST_EXPECT_MSG_EQ(error,
                          "multitree: no way from rank 0 to rank 2 (allowed: topologies that "
                          "join all ranks)",
                          "two halves");
}

const Suite g_suite("multitree",
                    Duration::QUICK,
                    {{"MULTITREE: trees of 2x2 and 3x3 nodes, edge by edge", TestMultitreeVector},
                     {"MULTITREE: numbers of steps", RunTest<MultitreeStepsTestCase>},
                     {"MULTITREE: spanning trees within the capacity of links and ports",
                      TestMultitreeProperties},
                     {"MULTITREE: paths through switches, edges of steps, ranks on other hosts",
                      TestMultitreePaths},
                     {"MULTITREE: one node, and nodes out of reach", TestMultitreeLimits}});

} // namespace ns3::training::tests::multitree_test
