/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "memory-test-common.h"
#include "test-case.h"

#include "ns3/collective-measurement.h"
#include "ns3/simulator.h"
#include "ns3/training-cluster.h"

#include <algorithm>

namespace ns3::training::tests::tcp_cost_test
{

/**
 * What a packet of TCP costs does not depend on the topology: servers with rails, whose fast links
 * make large send buffers, against a switch and a fat-tree.
 */
struct TcpCostTestCase
{
    /** What a run takes. */
    struct Cost
    {
        double eventsPerHop{0};
        double bytes{0}; // most bytes of the heap beyond those of the idle network
    };

    void Sample(double before)
    {
        most = std::max(most, GetHeapBytes() - before);
        Simulator::Schedule(MicroSeconds(20), &TcpCostTestCase::Sample, this, before);
    }

    /** @return what an all-reduce takes */
    Cost Measure(const std::string& topology)
    {
        Cost cost;
        {
            ClusterOptions options;
            options.ranks = 16;
            options.topology = topology;
            options.transport = "tcp";
            const Cluster cluster(options);
            GuardedRun run(cluster);
            most = 0;
            Sample(GetHeapBytes());
            MeasureCollective(cluster, run, CollectiveOperation::ALL_REDUCE, 8 << 20, false, 1);
            cost.eventsPerHop = static_cast<double>(Simulator::GetEventCount()) /
                                static_cast<double>(cluster.GetFabric().GetPacketHops());
            cost.bytes = most;
        }
        Simulator::Destroy();
        return cost;
    }

    void Run()
    {
        const Cost rails = Measure("rail-optimized:gpus=8");
        for (const std::string other : {"single-switch", "fat-tree:k=4"})
        {
            const Cost cost = Measure(other);
            NS_TEST_EXPECT_MSG_LT(rails.eventsPerHop, 1.2 * cost.eventsPerHop, other);
            NS_TEST_EXPECT_MSG_LT_OR_EQ(rails.bytes, 4 * cost.bytes, other);
        }
        NS_TEST_EXPECT_MSG_LT(rails.bytes, 16 << 20, "heap of all ranks");
    }

    double most{0}; // of the present run
};

const Suite g_suite("tcp-cost",
                    Duration::EXTENSIVE,
                    {{"TCP: events per packet-hop and memory of 16 ranks on rails are as elsewhere",
                      RunTest<TcpCostTestCase>}},
                    TestSuite::Type::SYSTEM);

} // namespace ns3::training::tests::tcp_cost_test
