/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "core/input-manifest.h"
#include "file-test-common.h"
#include "topology-file-test-common.h"
#include "topology/network-cuts.h"
#include "topology/topology-report.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/shortest-paths.h"
#include "ns3/topology-builder.h"

namespace ns3::training::tests::topology_file_test
{

/** @return the topology of a file */
TopologyGraph
Load(const std::string& text)
{
    const std::string path = WriteFile("topology", text);
    return BuildTopology("file:" + path, 1, DataRate("10Gbps"), NanoSeconds(300));
}

void
ExpectLink(const TopologyGraph& graph,
           uint32_t index,
           uint32_t a,
           uint32_t b,
           uint64_t gbps,
           Time delay)
{
    const auto& link = graph.links.at(index);
    NS_TEST_EXPECT_MSG_EQ(link.a, a, "link " << index);
    NS_TEST_EXPECT_MSG_EQ(link.b, b, "link " << index);
    NS_TEST_EXPECT_MSG_EQ(link.rate.GetBitRate(), gbps * 1000000000, "link " << index);
    NS_TEST_EXPECT_MSG_EQ(link.delay, delay, "link " << index);
}

void
ExpectRefusal(const std::string& text, uint32_t line, const std::string& part)
{
    const std::string message = GetRefusal([&] { Load(text); });
    ExpectPart(message, "topology:" + std::to_string(line) + ": ", part);
    NS_TEST_EXPECT_MSG_NE(message.find(part), std::string::npos, message << ": " << part);
}

/** Simulators of this format do not read what is behind the links that are declared. */
void
CheckRest()
{
    const auto graph = Load(Replace(HPCC, "5 1 5", "5 1 4") + "\nsrc dst rate delay error\n");
    const std::string path = CreateTempDirFilename("topology");
    const auto& file = InputManifest::GetFiles().at(path);
    NS_TEST_ASSERT_MSG_EQ(file.ignored.size(), 1, "kinds");
    NS_TEST_EXPECT_MSG_EQ(file.ignored.begin()->second.count, 2, "lines");
    NS_TEST_EXPECT_MSG_EQ(file.ignored.begin()->second.first, path + ":7", "the first one");
    NS_TEST_EXPECT_MSG_EQ(file.read, file.used + 2, "all parts");
    NS_TEST_EXPECT_MSG_EQ(file.used, 4, "links");
    InputManifest::strict = true;
    const std::string message = GetRefusal([] { Load(Replace(HPCC, "5 1 5", "5 1 4")); });
    InputManifest::strict = false;
    ExpectPart(message, "topology:7: line behind the links");
}

void
CheckRefusals()
{
    ExpectRefusal("", 1, "empty");
    ExpectRefusal(" \n\n", 1, "empty");
    ExpectRefusal("5 1\n2\n", 1, "2 words (allowed: 3, nodes switches links; 6,");
    ExpectRefusal(Replace(HPCC, "5 1 5", "5 x 5"), 1, "number of switches is 'x'");
    ExpectRefusal(Replace(HPCC, "5 1 5", "5 5 5"), 1, "number of switches is '5'");
    ExpectRefusal(Replace(HPCC, "5 1 5", "0 0 0"), 1, "number of nodes is '0'");
    ExpectRefusal(Replace(HPCC, "5 1 5", "5 1 6"), 7, "ends where node of a link");
    ExpectRefusal(Replace(HPCC, "\n2\n", "\n5\n"), 2, "switch is '5' (allowed: 0 to 4)");
    ExpectRefusal(Replace(HPCC, "5 1 5\n2\n", "5 2 5\n2 2\n"), 2, "switch is '2'");
    ExpectRefusal(Replace(HPCC, "1 2 400", "1 5 400"), 4, "node of a link is '5'");
    ExpectRefusal(Replace(HPCC, "1 2 400", "1 1 400"), 4, "from node 1 to itself");
    ExpectRefusal(Replace(HPCC, "2 3 400Gbps", "2 3 400"), 5, "rate is '400'");
    ExpectRefusal(Replace(HPCC, "4 2 100Gbps 1us", "4 2 100Gbps 1"), 6, "delay is '1'");
    ExpectRefusal(Replace(HPCC, "0.25", "1.5"), 6, "loss is '1.5' (allowed: 0 to 1)");
    ExpectRefusal(Replace(SIMAI, "9 2 2 3", "9 10 2 3"), 1, "GPUs per server is '10'");
    ExpectRefusal(Replace(SIMAI, "9 2 2 3", "9 2 9 3"), 1, "number of NVSwitches is '9'");
    ExpectRefusal(Replace(SIMAI, "4 5 6 7 8\n", "4 5 6 7\n"), 3, "");
    ExpectRefusal("{\"hosts\": 2,\n \"links\": [}\n", 2, "no JSON");
    ExpectRefusal("{}", 1, "hosts is ''");
    ExpectRefusal(Replace(JSON, "\"hosts\"", "\"host\""), 1, "key is 'host'");
    ExpectRefusal(Replace(JSON, "\"a\": 1", "\"a\": 4"), 5, "a is '4' (allowed: 0 to 3)");
    ExpectRefusal(Replace(JSON, "\"a\": 1", "\"a\": 3"), 5, "itself");
    ExpectRefusal(Replace(JSON, "\"rate\"", "\"rat\""), 5, "key is 'rat'");
    ExpectRefusal(Replace(JSON, "25Gbps", "fast"), 5, "rate is 'fast'");
    ExpectRefusal(Replace(JSON, "7us", "7"), 6, "delay is '7'");
    ExpectRefusal(Replace(JSON, "true", "1"), 6, "dateline is '1'");
    ExpectRefusal(Replace(JSON, "\"hosts\": 2", "\"sides\": [2, 2], \"hosts\": 2"),
                  1,
                  "product of the sides is '4'");
    ExpectRefusal(Replace(JSON, "\"hosts\": 2", "\"hosts\": 2, \"hosts\": 2"),
                  1,
                  "key is 'hosts' (allowed: each once)");
    ExpectRefusal(Replace(JSON, "\"a\": 1", "\"a\": 1, \"a\": 0"), 5, "key is 'a'");
    ExpectRefusal(Replace(JSON, "\"hosts\": 2", "\"sides\": 2, \"hosts\": 2"),
                  1,
                  "sides is '2' (allowed: an array)");
    ExpectRefusal("{\"hosts\": 1, \"links\": 1}", 1, "links is '1' (allowed: an array)");
    ExpectRefusal(Replace(JSON, "\"hosts\": 2", "\"wraps\": 1, \"hosts\": 2"),
                  1,
                  "wraps is '1' (allowed: true, false)");
    ExpectRefusal(Replace(JSON, "\"hosts\": 2", "\"rails\": \"yes\", \"hosts\": 2"),
                  1,
                  "rails is 'yes' (allowed: true, false)");
    ExpectRefusal("{\"hosts\": 3, \"groupSize\": 2, \"ringAcrossGroups\": true}",
                  1,
                  "groupSize is '2' (allowed: a divisor of the hosts, with rails, bipartite or "
                  "ringAcrossGroups)");
    for (const std::string switches : {"0", "2", "3"})
    {
        ExpectRefusal("{\"hosts\": 3, \"switches\": " + switches + ", \"bipartite\": true}",
                      1,
                      "number of switches is '" + switches +
                          "' (allowed: with bipartite an even number, with a group of hosts "
                          "on each)");
    }
    ExpectRefusal(Replace(JSON, "\"25Gbps\"", "\"\""), 5, "rate is ''");
    ExpectRefusal(Replace(JSON, "\"7us\"", "[]"), 6, "delay is ''");
    // The sum over all links at their maximum is in range.
    ExpectRefusal(Replace(JSON, "25Gbps", "101Tbps"), 5, "rate is '101Tbps'");
    ExpectRefusal(Replace(JSON, "25Gbps", "999kbps"), 5, "rate is '999kbps'");
    ExpectRefusal(Replace(JSON, "7us", "101s"), 6, "delay is '101s' (allowed: up to 100s");
    for (const std::string spec : {"file", "file:", "file:/nowhere/at-all"})
    {
        const std::string message =
            GetRefusal([&] { BuildTopology(spec, 1, DataRate("10Gbps"), NanoSeconds(300)); });
        const std::string allowed = spec == "file:/nowhere/at-all"
                                        ? " cannot be read (allowed: file:PATH of a readable file)"
                                        : ": '' (allowed: PATH first: a readable file)";
        NS_TEST_EXPECT_MSG_EQ(message, "topology '" + spec + "'" + allowed, spec);
    }
}

/** Contents of files, and the messages for invalid ones. */
void
TestTopologyFile()
{
    // Hosts are numbered without the switch.
    const TopologyGraph hpcc = Load(HPCC);
    NS_TEST_EXPECT_MSG_EQ(hpcc.hosts, 4, "hosts");
    NS_TEST_EXPECT_MSG_EQ(hpcc.switches, 1, "switches");
    NS_TEST_ASSERT_MSG_EQ(hpcc.links.size(), 5, "links");
    ExpectLink(hpcc, 1, 1, 4, 400, NanoSeconds(500));
    ExpectLink(hpcc, 2, 4, 2, 400, NanoSeconds(500));
    ExpectLink(hpcc, 4, 3, 4, 100, MicroSeconds(1));
    NS_TEST_EXPECT_MSG_EQ(hpcc.links[4].loss, 0.25, "error rate");
    NS_TEST_EXPECT_MSG_EQ(hpcc.links[0].loss, 0, "error rate");

    // Hosts with links to hosts forward: each has a router.
    const TopologyGraph ring = Load(RING);
    NS_TEST_EXPECT_MSG_EQ(ring.hosts, 4, "hosts");
    NS_TEST_EXPECT_MSG_EQ(ring.switches, 4, "routers");
    NS_TEST_ASSERT_MSG_EQ(ring.links.size(), 8, "links");
    ExpectLink(ring, 3, 7, 4, 200, NanoSeconds(500));
    ExpectLink(ring, 5, 1, 5, 400, NanoSeconds(1));
    ShortestPaths paths(ring);
    NS_TEST_EXPECT_MSG_EQ(paths.GetLongestPath(4).links, 4, "two links and two of hosts");

    const TopologyGraph simai = Load(SIMAI);
    NS_TEST_EXPECT_MSG_EQ(simai.hosts, 4, "hosts");
    NS_TEST_EXPECT_MSG_EQ(simai.switches, 5, "switches");
    NS_TEST_EXPECT_MSG_EQ(simai.shape.groupSize, 2, "GPUs of a server");
    NS_TEST_EXPECT_MSG_EQ(simai.shape.GetHostsPerServer(), 2, "groups are servers");
    ExpectLink(simai, 2, 1, 4, 2880, NanoSeconds(25));

    const TopologyGraph ours = Load(JSON);
    NS_TEST_EXPECT_MSG_EQ(ours.hosts, 2, "hosts");
    NS_TEST_EXPECT_MSG_EQ(ours.switches, 2, "switches");
    NS_TEST_ASSERT_MSG_EQ(ours.links.size(), 3, "links");
    ExpectLink(ours, 0, 0, 2, 10, NanoSeconds(300));
    ExpectLink(ours, 1, 1, 3, 25, NanoSeconds(300));
    ExpectLink(ours, 2, 2, 3, 10, MicroSeconds(7));
    NS_TEST_EXPECT_MSG_EQ(ours.links[2].cost, 2, "cost");
    NS_TEST_EXPECT_MSG_EQ(+ours.links[2].dimension, 1, "dimension");
    NS_TEST_EXPECT_MSG_EQ(ours.links[2].dateline, true, "dateline");
    NS_TEST_EXPECT_MSG_EQ(ours.links[2].loss, 0.5, "loss");

    CheckRefusals();
    CheckRest();
}

void
Expect(const std::string& spec, uint32_t ranks, const std::string& part)
{
    const auto graph = BuildTopology(spec, ranks, DataRate("100Gbps"), NanoSeconds(300));
    const std::string text = DescribeTopology(graph, ranks);
    ExpectPart(text, part);
}

/**
 * An exported topology is read back unchanged; descriptions have the numbers of the closed forms.
 */
void
TestTopologyReport()
{
    for (const std::string& spec :
         Split("leaf-spine:uplink=40Gbps|leaf-spine:planes=3|torus:3x4x5|mesh:2x3|"
               "dragonfly|bigraph:m=2,n=4|"
               "rail-optimized:gpus=4,servers=2|rail-optimized:gpus=4,servers=2,spines=0|"
               "rail-optimized:gpus=4,servers=2,nics=2,local-switches=3|"
               "local-switch-torus:2x2"))
    {
        const auto graph = BuildTopology(spec, 1, DataRate("100Gbps"), NanoSeconds(300));
        const std::string path = WriteFile("topology", WriteTopology(graph));
        const auto read = BuildTopology("file:" + path, 1, DataRate("1Gbps"), NanoSeconds(1));
        NS_TEST_EXPECT_MSG_EQ(WriteTopology(read), WriteTopology(graph), spec);
        NS_TEST_EXPECT_MSG_EQ(read.links.size(), graph.links.size(), spec);
        NS_TEST_EXPECT_MSG_EQ((read.scaleUpSwitches == graph.scaleUpSwitches), true, spec);
    }
    Expect("torus:4x4",
           16,
           "hosts       16, 16 with ranks\n"
           "switches    16\n"
           "links       32 between switches, 16 of hosts; 32 of 100Gbps, 16 of 400Gbps\n"
           "diameter    6 links, 1202ns of propagation\n"
           "bisection   800Gbps each way\n");
    // (n/2)^2 links between upper and lower switches; n^2/8 between mixed halves.
    Expect("bigraph:m=4,n=8", 32, "bisection   800Gbps each way\n");
    Expect("fat-tree:k=4", 16, "bisection   800Gbps each way\n");
    Expect("leaf-spine:leaves=4,spines=2,hosts-per-leaf=4", 16, "bisection   400Gbps each");
    Expect("leaf-spine:leaves=4,spines=2,hosts-per-leaf=4", 4, "diameter    2 links, 600ns");
    Expect("single-switch", 1, "bisection   none\n");
    // Sums of rates may exceed 64 bits.
    const DataRate fastest(100000000000000);
    const auto one = BuildTopology("single-switch", 4096, fastest, Time(0));
    const std::string text = DescribeTopology(one, 4096);
    ExpectPart(text, "bisection   204800Tbps each");
    const auto wide = BuildTopology("leaf-spine:leaves=1000,spines=200", 200000, fastest, Time(0));
    NS_TEST_EXPECT_MSG_EQ_TOL(FindHalves(wide, 200000)[0].rate, 1e19, 1e10, "100000 links");
}

const Suite g_suite("topology-file",
                    Duration::QUICK,
                    {{"topologies from files", TestTopologyFile},
                     {"topologies written and described", TestTopologyReport}});

} // namespace ns3::training::tests::topology_file_test
