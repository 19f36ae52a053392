/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "derived-test-common.h"
#include "file-test-common.h"
#include "run/work-estimate.h"

#include "ns3/cluster-options.h"
#include "ns3/parallel-command-line.h"

#include <functional>
#include <string>
#include <vector>

namespace ns3::training::tests::simulated_work_test
{

/// Changes options.
using Change = std::function<void(ClusterOptions&)>;

/** @return hops that are simulated of a message */
double
GetHops(const Change& change, double packets, double links, bool areTogether = false)
{
    ClusterOptions cluster;
    change(cluster);
    SimulatedWork work(cluster);
    work.Add({1, packets, links, areTogether}, 3);
    work.Scale(2);
    NS_TEST_EXPECT_MSG_EQ((work.GetCost() >= work.GetHops()), true, "none is free");
    return work.GetHops() / 6;
}

/** What steady states leave to be simulated. */
void
TestSteadyStates()
{
    const auto nothing = [](ClusterOptions&) {};
    NS_TEST_EXPECT_MSG_EQ(GetHops(nothing, 10000, 2), 2000, "a long message");
    NS_TEST_EXPECT_MSG_EQ(GetHops(nothing, 10000, 4), 4000, "over a spine");
    NS_TEST_EXPECT_MSG_EQ(GetHops(nothing, 10000, 2, true), 1000, "beside others");
    NS_TEST_EXPECT_MSG_EQ(GetHops(nothing, 700, 2), 1400, "a short message");
    SimulatedWork sums{ClusterOptions()};
    sums.Add({1, 10000, 2, false, 3}, 5);
    NS_TEST_EXPECT_MSG_EQ(sums.GetHops(), 1e5, "sums of switches have no steady state");
    NS_TEST_EXPECT_MSG_EQ(sums.GetCost(), 3e5, "and cost more");
    NS_TEST_EXPECT_MSG_EQ(GetHops(nothing, 0, 2), 0, "nothing");
    const auto adapt = [](ClusterOptions& o) { o.path = "adaptive"; };
    NS_TEST_EXPECT_MSG_EQ(GetHops(adapt, 10000, 2), 2000, "there is one path");
    NS_TEST_EXPECT_MSG_EQ(GetHops(adapt, 10000, 4), 40000, "switches choose");
    for (const Change& change :
         std::vector<Change>{[](ClusterOptions& o) { o.steadyState = "simulate"; },
                             [](ClusterOptions& o) { o.algorithm = "nccl"; },
                             [](ClusterOptions& o) { o.transport = "tcp"; },
                             [](ClusterOptions& o) { o.loss = 1e-6; }})
    {
        NS_TEST_EXPECT_MSG_EQ(GetHops(change, 10000, 2), 20000, "all is simulated");
    }
}

/** What repeats leave to be simulated. */
void
TestRepeats()
{
    NS_TEST_EXPECT_MSG_EQ(SimulatedWork::GetPartOfMicroBatches(8, 160), 0.25, "40 of 160");
    NS_TEST_EXPECT_MSG_EQ(SimulatedWork::GetPartOfMicroBatches(8, 24), 1, "all");
    NS_TEST_EXPECT_MSG_EQ(SimulatedWork::GetSimulated(100, 10), 6, "two, and four of ten");
    NS_TEST_EXPECT_MSG_EQ(SimulatedWork::GetSimulated(3, 10), 3, "there are no more");
}

/** Tensor-parallel collectives in servers of their own are derived from the third on. */
void
TestDerived()
{
    ParallelJobOptions job;
    job.model = "gpt3-13b";
    job.parallel.tensor = 8;
    job.parallel.data = 2;
    const auto plan = job.MakePlan(16);
    ClusterOptions cluster;
    cluster.rate = DataRate("400Gbps");
    cluster.topology = "rail-optimized:servers=2,gpus=8";
    const JobCheck all = CheckJob(plan, {1.5e14, 2e12}, cluster);
    NS_TEST_EXPECT_MSG_EQ(all.derivedHops, 0, "all is simulated");
    const JobCheck some = CheckJob(plan, {1.5e14, 2e12}, cluster, {true});
    double derived = 0;
    for (const auto& group : some.groups)
    {
        for (const auto& each : group.collectives)
        {
            if (group.kind == Parallelism::TENSOR && each.count > 2)
            {
                // A ring sends 14 / 8 of the vector over the two links of a switch of NVLink.
                derived += static_cast<double>(each.count - 2) * 1.75 * 2 * 16 *
                           static_cast<double>(each.bytes) / cluster.GetMtu();
            }
        }
    }
    NS_TEST_EXPECT_MSG_GT(derived, 0, "there are such collectives");
    NS_TEST_EXPECT_MSG_EQ_TOL(some.derivedHops, derived, derived * 1e-9, "of tensors");
    NS_TEST_EXPECT_MSG_EQ_TOL(some.packetHops + some.derivedHops,
                              all.packetHops,
                              all.packetHops * 1e-9,
                              "the others are simulated");
    NS_TEST_EXPECT_MSG_LT(some.cpuSeconds, all.cpuSeconds, "takes less");
    cluster.loss = 1e-6;
    const JobCheck lossy = CheckJob(plan, {1.5e14, 2e12}, cluster, {true});
    NS_TEST_EXPECT_MSG_EQ(lossy.derivedHops, 0, "nothing repeats itself with losses");
    // A file of SimAI: two servers with an NVSwitch each, and a switch with a lossy link.
    cluster.loss = 0;
    for (const std::string loss : {"0", "0.001"})
    {
        std::string text = "19 8 2 1 32 H100\n16 17 18\n";
        for (uint32_t host = 0; host < 16; host++)
        {
            const std::string name = std::to_string(host);
            text += name + (host < 8 ? " 16" : " 17") + " 400Gbps 0.001ms 0\n";
            text += name + " 18 400Gbps 0.001ms " + (host == 0 ? loss : "0") + "\n";
        }
        cluster.topology = "file:" + WriteFile("two-servers-" + loss + ".txt", text);
        const JobCheck read = CheckJob(plan, {1.5e14, 2e12}, cluster, {true});
        NS_TEST_EXPECT_MSG_EQ((read.derivedHops > 0), (loss == "0"), "a link loses " << loss);
    }
}

/** Packet-hops of sums in switches are those that a simulation has. */
void
TestSums()
{
    TrainingRunOptions options;
    options.workload = WriteFile("sums.csv",
                                 "layer,parameters,forward_us,backward_us\n"
                                 "conv,320000,20,40\n"
                                 "fc,1600000,10,20\n");
    options.warmup = 0;
    options.iterations = 1;
    options.cluster.ranks = 16;
    options.cluster.rate = DataRate("400Gbps");
    for (const auto& [algorithm, topology] :
         std::vector<std::pair<std::string, std::string>>{{"switchml", "single-switch"},
                                                          {"switchml", "fat-tree:k=4"},
                                                          {"switch-ps", "leaf-spine"},
                                                          {"atp", "single-switch"},
                                                          {"sharp", "leaf-spine"},
                                                          {"nvls", "rail-optimized:gpus=16"},
                                                          {"nvls-tree", "rail-optimized:gpus=8"}})
    {
        options.cluster.algorithm = algorithm;
        options.cluster.topology = topology;
        const auto hops = static_cast<double>(GetOutcome(options).hops);
        const JobCheck check = CheckJob(options);
        NS_TEST_EXPECT_MSG_EQ_TOL(check.packetHops, hops, 0.2 * hops, algorithm << topology);
        NS_TEST_EXPECT_MSG_EQ(check.simulatedHops, check.packetHops, "none is skipped");
    }
}

const Suite g_suite("simulated-work",
                    Duration::QUICK,
                    {{"steady states", &TestSteadyStates},
                     {"repeats", &TestRepeats},
                     {"sums of switches", &TestSums},
                     {"collectives of servers", &TestDerived}});

} // namespace ns3::training::tests::simulated_work_test
