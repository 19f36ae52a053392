/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "test-case.h"
#include "topology/topology-twins.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/shortest-paths.h"
#include "ns3/topology-builder.h"
#include "ns3/topology-graph.h"

#include <algorithm>
#include <limits>

namespace ns3::training::tests::topology_twins_test
{

TopologyGraph
Build(const std::string& spec)
{
    return BuildTopology(spec,
                         spec == "single-switch" ? 4 : 1,
                         DataRate("100Gbps"),
                         NanoSeconds(300));
}

/** @return largest delay between two of the first hosts, by the algorithm of Floyd, ps */
int64_t
GetDiameter(const TopologyGraph& graph, uint32_t ranks, bool ranksForward)
{
    constexpr int64_t FAR = std::numeric_limits<int64_t>::max() / 4;
    const uint32_t nodes = graph.GetNodes();
    std::vector<std::vector<int64_t>> delay(nodes, std::vector<int64_t>(nodes, FAR));
    for (uint32_t node = 0; node < nodes; node++)
    {
        delay[node][node] = 0;
    }
    for (const auto& link : graph.links)
    {
        const int64_t length = link.delay.GetTimeStep();
        delay[link.a][link.b] = std::min(delay[link.a][link.b], length);
        delay[link.b][link.a] = delay[link.a][link.b];
    }
    for (uint32_t by = 0; by < nodes; by++)
    {
        if (by < graph.hosts && !(ranksForward && by < ranks))
        {
            continue;
        }
        for (uint32_t a = 0; a < nodes; a++)
        {
            for (uint32_t b = 0; b < nodes; b++)
            {
                delay[a][b] = std::min(delay[a][b], delay[a][by] + delay[by][b]);
            }
        }
    }
    int64_t longest = 0;
    for (uint32_t a = 0; a < ranks; a++)
    {
        longest = std::max(longest, *std::max_element(delay[a].begin(), delay[a].begin() + ranks));
    }
    return longest;
}

/** Compares with searches through the whole network, for all hosts and for some. */
void
Compare(const TopologyGraph& graph, const std::string& what)
{
    for (const uint32_t ranks : {graph.hosts, (graph.hosts + 2) / 2, 1U})
    {
        const std::string name = what + ", " + std::to_string(ranks) + " ranks";
        ShortestPaths paths(graph);
        ShortestPaths::Path expected;
        expected.rate = 0;
        for (uint32_t root = 0; root < ranks; root++)
        {
            paths.Search(root);
            const auto found = paths.GetPaths();
            for (uint32_t host = 0; host < ranks; host++)
            {
                if (host != root)
                {
                    expected.links = std::max(expected.links, found[host].links);
                    expected.rate = std::max(expected.rate, found[host].rate);
                    expected.delay = std::max(expected.delay, found[host].delay);
                    expected.secondsPerBit =
                        std::max(expected.secondsPerBit, found[host].secondsPerBit);
                }
            }
        }
        const ShortestPaths::Path longest = paths.GetLongestPath(ranks);
        NS_TEST_EXPECT_MSG_EQ(longest.links, expected.links, name << ": links");
        NS_TEST_EXPECT_MSG_EQ(longest.rate, expected.rate, name << ": rate");
        NS_TEST_EXPECT_MSG_EQ(longest.delay, expected.delay, name << ": delay");
        NS_TEST_EXPECT_MSG_EQ_TOL(longest.secondsPerBit,
                                  expected.secondsPerBit,
                                  1e-9 * expected.secondsPerBit,
                                  name << ": seconds per bit");
        for (const bool ranksForward : {false, true})
        {
            NS_TEST_EXPECT_MSG_EQ(paths.GetDiameter(ranks, ranksForward).GetTimeStep(),
                                  GetDiameter(graph, ranks, ranksForward),
                                  name << ": diameter, forwarding " << ranksForward);
        }
    }
}

/** Searches in a fat-tree grow by k^2 roots and k^3 / 2 links, not by k^3 / 4 and 3 k^3 / 4. */
void
CountFatTrees()
{
    for (const uint32_t k : {4U, 6U, 8U, 16U})
    {
        const TopologyGraph graph = Build("fat-tree:k=" + std::to_string(k));
        const TopologyGraph merged = MergeTwins(graph, graph.hosts);
        // k^2 / 2 edge switches keep two hosts each; each of k / 2 groups of cores keeps one.
        NS_TEST_EXPECT_MSG_EQ(merged.hosts, k * k, "hosts, k=" << k);
        NS_TEST_EXPECT_MSG_EQ(merged.switches, k * k + k / 2, "switches, k=" << k);
        NS_TEST_EXPECT_MSG_EQ(merged.links.size(),
                              k * k + k * k * k / 4 + k * k / 2,
                              "links of hosts, in pods and to cores, k=" << k);
        NS_TEST_EXPECT_MSG_EQ(ShortestPaths(graph).GetDistinctHosts(graph.hosts).size(),
                              k * k / 2,
                              "roots, k=" << k);
        NS_TEST_EXPECT_MSG_EQ(MergeTwins(merged, merged.hosts).GetNodes(),
                              merged.GetNodes(),
                              "there are no more, k=" << k);
    }
}

/** Hosts with links to the same two leaves: the leaves are twins, too. */
void
DualHomed()
{
    TopologyGraph graph;
    graph.name = "dual-homed";
    graph.hosts = 3;
    graph.switches = 2;
    for (uint32_t host = 0; host < 3; host++)
    {
        graph.links.push_back({host, 3, DataRate("100Gbps"), NanoSeconds(300)});
        graph.links.push_back({host, 4, DataRate("100Gbps"), NanoSeconds(300)});
    }
    Compare(graph, "dual-homed");
    NS_TEST_EXPECT_MSG_EQ(MergeTwins(graph, 3).GetNodes(), 3, "two hosts and a leaf");
    NS_TEST_EXPECT_MSG_EQ(FindTwins(graph, 0, 3), (std::vector<uint32_t>{0, 0, 0}), "hosts");
    graph.links[3].cost = 2;
    NS_TEST_EXPECT_MSG_EQ(FindTwins(graph, 0, 3), (std::vector<uint32_t>{0, 1, 0}), "another cost");
    Compare(graph, "dual-homed with another cost");
    // A link between the leaves leads each to another peer.
    graph.links.push_back({3, 4, DataRate("100Gbps"), NanoSeconds(300)});
    NS_TEST_EXPECT_MSG_EQ(FindTwins(graph, 3, 5),
                          (std::vector<uint32_t>{3, 4}),
                          "leaves with a link");
    Compare(graph, "dual-homed with a link between leaves");
}

/** Twins of a network, and its longest paths without them. */
void
TestTopologyTwins()
{
    for (const std::string& spec :
         Split("fat-tree:k=2|fat-tree:k=4|fat-tree:k=6|"
               "leaf-spine:leaves=3,spines=4,hosts-per-leaf=5|"
               "rail-optimized:gpus=4,servers=6,unit=4,spines=2,uplinks=3|"
               "two-switch:hosts-per-switch=3,links=2|"
               "bigraph:m=4,n=8|m-ary-n-tree:m=3,n=3|"
               "dragonfly:a=4,p=3,h=2|full-mesh:hosts=5|torus:4x3|"
               "mesh:3x2|single-switch|hierarchical-torus:2x2,nodes=4"))
    {
        TopologyGraph graph = Build(spec);
        Compare(graph, spec);
        // Links that differ make fewer twins.
        for (std::size_t i = 0; i < graph.links.size(); i += 5)
        {
            graph.links[i].delay = NanoSeconds(400 + static_cast<int64_t>(i % 3) * 150);
            graph.links[i].rate = DataRate(i % 2 == 0 ? "40Gbps" : "200Gbps");
            graph.links[i].cost = 1 + i % 4 / 3;
        }
        Compare(graph, spec + " with different links");
    }
    CountFatTrees();
    DualHomed();
}

const Suite g_suite("topology-twins",
                    Duration::QUICK,
                    {{"longest paths without twins", TestTopologyTwins}});

} // namespace ns3::training::tests::topology_twins_test
