/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "file-test-common.h"
#include "topology-file-test-common.h"

#include "ns3/collective-measurement.h"
#include "ns3/simulator.h"

namespace ns3::training::tests::topology_runs_test
{

/** A ring all-reduce with real payload is correct on every topology, over RDMA and TCP. */
void
TestEveryTopology(const std::string& spec, uint32_t ranks)
{
    for (const std::string transport : {"rdma", "tcp"})
    {
        ClusterOptions options;
        options.ranks = ranks;
        options.topology = spec;
        options.transport = transport;
        {
            const Cluster cluster(options);
            GuardedRun run(cluster);
            const auto result =
                MeasureCollective(cluster, run, CollectiveOperation::ALL_REDUCE, 100000, true, 1);
            NS_TEST_EXPECT_MSG_EQ(result.mismatch, "", spec << " over " << transport);
            NS_TEST_EXPECT_MSG_EQ(result.verified, true, spec << " over " << transport);
            NS_TEST_EXPECT_MSG_GT(result.seconds, 0, spec << " over " << transport);
            NS_TEST_EXPECT_MSG_LT(result.lowerBound, result.seconds, spec << " bound");
        }
        Simulator::Destroy();
    }
}

/** An all-reduce with real payload on topologies from files; the loss of a link takes effect. */
void
TestTopologyFileRun()
{
    const std::string lossless = Replace(Replace(HPCC, "1us 0.25", "1us 0"), "1us 0.25", "1us 0");
    const std::string lossy = Replace(lossless, "0 2 400Gbps 0.0005ms 0", "0 2 400Gbps 1us 0.1");
    for (const std::string& text : {lossless, lossy, RING, SIMAI})
    {
        const std::string path = WriteFile("topology", text);
        ClusterOptions options;
        options.ranks = 4;
        options.topology = "file:" + path;
        {
            const Cluster cluster(options);
            GuardedRun run(cluster);
            const auto result =
                MeasureCollective(cluster, run, CollectiveOperation::ALL_REDUCE, 1000000, true, 1);
            NS_TEST_EXPECT_MSG_EQ(result.mismatch, "", text);
            NS_TEST_EXPECT_MSG_EQ(result.verified, true, text);
            NS_TEST_EXPECT_MSG_EQ((cluster.GetFabric().GetTotal().lostFrames > 0),
                                  (text == lossy),
                                  "losses");
        }
        Simulator::Destroy();
    }
}

/** @return time of an all-reduce, s */
double
MeasureMebibyte(const ClusterOptions& options, uint64_t bytes = 1 << 20)
{
    double seconds = 0;
    {
        const Cluster cluster(options);
        GuardedRun run(cluster);
        seconds = MeasureCollective(cluster, run, CollectiveOperation::ALL_REDUCE, bytes, false, 1)
                      .seconds;
    }
    Simulator::Destroy();
    return seconds;
}

/**
 * A host is its router if the link between them is fast: ASTRA-sim's own number (astra-sim,
 * tests/rt_template/refs, 8 NPUs in a ring), and steps of a ring over one link each.
 */
void
TestHostLinks()
{
    ClusterOptions options;
    options.ranks = 8;
    options.topology = "astra-network:" + WriteFile("ring.yml",
                                                    "topology: [Ring]\nnpus_count: [8]\n"
                                                    "bandwidth: [50]\nlatency: [500]\n");
    options.algorithm = "per-dimension:all-reduce=ring,sizes=8,splits=4,active=1";
    options.hostLatency = NanoSeconds(10);
    options.attributes["ns3::training::ScheduledCommunicator::ReduceRate"] = "133333333333bps";
    NS_TEST_EXPECT_MSG_EQ_TOL(MeasureMebibyte(options), 117.78e-6, 0.015 * 117.78e-6, "ASTRA-sim");

    ClusterOptions ring;
    ring.ranks = 8;
    ring.algorithm = "ring";
    ring.congestionControl = "none";
    ring.rate = DataRate("100Gbps");
    // Two ways around give the host 200 Gbit/s. Each of 14 steps passes a router and two such
    // links.
    ring.topology = "ring:8";
    const double slow = MeasureMebibyte(ring);
    ring.topology = "ring:8,host-rate=100Tbps";
    const double fast = MeasureMebibyte(ring);
    const double line = 131072 / (12.5e9 * 4096 / (4096 + 82));
    NS_TEST_EXPECT_MSG_EQ_TOL(fast / (14 * (line + 502e-9)), 1, 0.01, "host-rate");
    NS_TEST_EXPECT_MSG_EQ_TOL((slow - fast) / (14 * 2 * (4096 + 82) * 40e-12), 1, 0.03, "sum");
    options.topology = "astra-network:" + WriteFile("fast.yml",
                                                    "topology: [FullyConnected]\nnpus_count: [8]\n"
                                                    "bandwidth: [900]\nlatency: [100]\n");
    NS_TEST_EXPECT_MSG_GT(MeasureMebibyte(options), 0, "at most 100 Tbit/s");
}

/** Without spines, a ring is as fast as a GPU passes on what changes rails: the NIC binds. */
void
TestRailOnly()
{
    ClusterOptions options;
    options.ranks = 8;
    options.topology = "rail-optimized:gpus=4,servers=2,spines=0";
    options.algorithm = "ring";
    options.rate = DataRate("100Gbps");
    options.congestionControl = "none";
    // 14 messages of an eighth leave each server by one NIC, from rail 3 to rail 0. The last one
    // takes 5 links.
    const double line = 14.0 * (16 << 20) / 8 * (4096 + 82) / 4096 / 12.5e9;
    NS_TEST_EXPECT_MSG_EQ_TOL(MeasureMebibyte(options, 16 << 20) / line, 1, 0.02, "one NIC");
    for (const std::string& keys : Split("local=mesh|unit=1|uplinks=2"))
    {
        options.topology = "rail-optimized:gpus=4,servers=2,spines=0," + keys;
        ExpectPart(GetRefusal([&options] { MeasureMebibyte(options); }),
                   "spines=0, which leaves only rails (allowed: local=switch, a unit of all 2");
    }
}

/** Lost frames on many paths cost any congestion control at most 1/0.6 of Ultra Ethernet's time. */
void
TestLosses(const std::string& algorithm)
{
    ClusterOptions options;
    options.ranks = 16;
    options.topology = "fat-tree:k=4";
    options.algorithm = algorithm;
    options.loss = 0.01;
    options.transport = "uec";
    const double most = MeasureMebibyte(options, 2 << 20) / 0.6;
    options.transport = "rdma";
    options.path = "adaptive";
    for (const std::string& control : Split("none|dcqcn|swift|dctcp|hpcc|timely|window|power-tcp"))
    {
        options.congestionControl = control;
        NS_TEST_EXPECT_MSG_LT(MeasureMebibyte(options, 2 << 20), most, control);
    }
}

std::vector<Case>
MakeCases()
{
    std::vector<Case> cases;
    for (const std::string& spec : Split("single-switch|leaf-spine:uplink=50Gbps|fat-tree:k=4|"
                                         "m-ary-n-tree|m-ary-n-tree:m=2,n=4|two-switch|"
                                         "bigraph:m=2,n=8|dragonfly|full-mesh|torus:4x4|"
                                         "torus:2x2x4|mesh:2x8|ring|hierarchical-torus:2x2|"
                                         "local-switch-torus:2x2,switches=3|"
                                         "rail-optimized:gpus=4|rail-optimized:gpus=4,spines=0"))
    {
        cases.push_back({"all-reduce on " + spec, [spec] { TestEveryTopology(spec, 16); }});
    }
    cases.push_back({"all-reduce on topologies from files", TestTopologyFileRun});
    for (const std::string algorithm : {"ring", "double-binary-tree"})
    {
        cases.push_back({"losses of 1 %, " + algorithm, [algorithm] { TestLosses(algorithm); }});
    }
    cases.push_back({"rails without spines", TestRailOnly});
    cases.push_back({"hosts with fast links to their routers", TestHostLinks});
    return cases;
}

const Suite g_suite("topology-runs", Duration::QUICK, MakeCases());

} // namespace ns3::training::tests::topology_runs_test
