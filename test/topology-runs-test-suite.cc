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

std::vector<Case>
MakeCases()
{
    std::vector<Case> cases;
    for (const std::string& spec : Split("single-switch|leaf-spine:uplink=50Gbps|fat-tree:k=4|"
                                         "m-ary-n-tree|m-ary-n-tree:m=2,n=4|two-switch|"
                                         "bigraph:m=2,n=8|dragonfly|full-mesh|torus:4x4|"
                                         "torus:2x2x4|mesh:2x8|ring|hierarchical-torus:2x2|"
                                         "local-switch-torus:2x2,switches=3|"
                                         "rail-optimized:gpus=4"))
    {
        cases.push_back({"all-reduce on " + spec, [spec] { TestEveryTopology(spec, 16); }});
    }
    cases.push_back({"all-reduce on topologies from files", TestTopologyFileRun});
    return cases;
}

const Suite g_suite("topology-runs", Duration::QUICK, MakeCases());

} // namespace ns3::training::tests::topology_runs_test
