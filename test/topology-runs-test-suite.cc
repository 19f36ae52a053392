/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "topology-file-test-common.h"

#include "ns3/collective-measurement.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/test.h"
#include "ns3/training-time-resolution.h"

#include <fstream>
#include <string>

/**
 * @ingroup distributed-training-tests
 * @defgroup distributed-training-topology-runs-tests Tests of collectives on every topology
 */

using namespace ns3;
using namespace ns3::training;
using namespace ns3::training::tests;

/**
 * @ingroup distributed-training-topology-runs-tests
 * A ring all-reduce with real payload is correct on every topology, over RDMA and TCP.
 */
class EveryTopologyTestCase : public TestCase
{
  public:
    /**
     * @param spec as typed by a user
     * @param ranks number of ranks
     */
    EveryTopologyTestCase(const std::string& spec, uint32_t ranks)
        : TestCase("all-reduce on " + spec),
          m_spec(spec),
          m_ranks(ranks)
    {
    }

  private:
    void DoRun() override
    {
        for (const std::string transport : {"rdma", "tcp"})
        {
            UsePicoseconds();
            RngSeedManager::SetSeed(1);
            RngSeedManager::SetRun(1);
            ClusterOptions options;
            options.ranks = m_ranks;
            options.topology = m_spec;
            options.transport = transport;
            {
                const Cluster cluster(options);
                GuardedRun run(cluster);
                const auto result = MeasureCollective(cluster,
                                                      run,
                                                      CollectiveOperation::ALL_REDUCE,
                                                      100000,
                                                      true,
                                                      1);
                NS_TEST_EXPECT_MSG_EQ(result.mismatch, "", m_spec << " over " << transport);
                NS_TEST_EXPECT_MSG_EQ(result.verified, true, m_spec << " over " << transport);
                NS_TEST_EXPECT_MSG_GT(result.seconds, 0, m_spec << " over " << transport);
                NS_TEST_EXPECT_MSG_LT(result.lowerBound, result.seconds, m_spec << " bound");
            }
            Simulator::Destroy();
        }
    }

    std::string m_spec;
    uint32_t m_ranks;
};

/**
 * @ingroup distributed-training-topology-runs-tests
 * An all-reduce with real payload on topologies from files; the loss of a link takes effect.
 */
class TopologyFileRunTestCase : public TestCase
{
  public:
    TopologyFileRunTestCase()
        : TestCase("all-reduce on topologies from files")
    {
    }

  private:
    void DoRun() override
    {
        const std::string lossless =
            Replace(Replace(HPCC, "1us 0.25", "1us 0"), "1us 0.25", "1us 0");
        const std::string lossy =
            Replace(lossless, "0 2 400Gbps 0.0005ms 0", "0 2 400Gbps 1us 0.1");
        for (const std::string& text : {lossless, lossy, RING, SIMAI})
        {
            const std::string path = CreateTempDirFilename("topology");
            std::ofstream(path, std::ios::binary) << text;
            UsePicoseconds();
            RngSeedManager::SetSeed(1);
            RngSeedManager::SetRun(1);
            ClusterOptions options;
            options.ranks = 4;
            options.topology = "file:" + path;
            {
                const Cluster cluster(options);
                GuardedRun run(cluster);
                const auto result = MeasureCollective(cluster,
                                                      run,
                                                      CollectiveOperation::ALL_REDUCE,
                                                      1000000,
                                                      true,
                                                      1);
                NS_TEST_EXPECT_MSG_EQ(result.mismatch, "", text);
                NS_TEST_EXPECT_MSG_EQ(result.verified, true, text);
                NS_TEST_EXPECT_MSG_EQ((cluster.GetFabric().GetTotal().lostFrames > 0),
                                      (text == lossy),
                                      "losses");
            }
            Simulator::Destroy();
        }
    }
};

/**
 * @ingroup distributed-training-topology-runs-tests
 * Suite of collectives on every topology.
 */
class TopologyRunsTestSuite : public TestSuite
{
  public:
    TopologyRunsTestSuite()
        : TestSuite("distributed-training-topology-runs", TestSuite::Type::UNIT)
    {
        const auto add = [this](TestCase* test) { AddTestCase(test); };
        for (const std::string spec : {"single-switch",
                                       "leaf-spine:uplink=50Gbps",
                                       "fat-tree:k=4",
                                       "m-ary-n-tree",
                                       "m-ary-n-tree:m=2,n=4",
                                       "two-switch",
                                       "bigraph:m=2,n=8",
                                       "dragonfly",
                                       "full-mesh",
                                       "torus:4x4",
                                       "torus:2x2x4",
                                       "mesh:2x8",
                                       "ring",
                                       "hierarchical-torus:2x2",
                                       "local-switch-torus:2x2,switches=3",
                                       "rail-optimized:gpus=4"})
        {
            add(new EveryTopologyTestCase(spec, 16));
        }
        add(new TopologyFileRunTestCase);
    }
};

/// The suite, registered.
static TopologyRunsTestSuite g_topologyRunsTestSuite;
