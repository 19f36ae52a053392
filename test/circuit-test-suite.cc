/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "file-test-common.h"
#include "record/network-figures.h"

#include "ns3/simulator.h"
#include "ns3/training-run.h"

#include <string>
#include <vector>

namespace ns3::training::tests::circuit_test
{

/** circuits */

/// Four leaves of two hosts, without links between leaves.
const std::string LEAVES = R"({"hosts": 8, "switches": 4, "groupSize": 2, "links": [
    {"a": 0, "b": 8}, {"a": 1, "b": 8}, {"a": 2, "b": 9}, {"a": 3, "b": 9},
    {"a": 4, "b": 10}, {"a": 5, "b": 10}, {"a": 6, "b": 11}, {"a": 7, "b": 11})";

/** @return links of a ring of leaves, in the order of a text of digits */
std::string
MakeRing(const std::string& leaves, const std::string& keys)
{
    std::string links;
    for (std::size_t i = 0; i < leaves.size(); i++)
    {
        const auto node = [&](std::size_t at) {
            return std::to_string(8 + (leaves[at % leaves.size()] - '0'));
        };
        links += ", {\"a\": " + node(i) + ", \"b\": " + node(i + 1) + keys + "}";
    }
    return links;
}

/** @return options of a ring of 8 ranks on a network of leaves with these links */
TrainingRunOptions
MakeOptions(const std::string& links)
{
    TrainingRunOptions options;
    options.workload = WriteFile("workload.csv",
                                 "layer,parameters,forward_us,backward_us\n"
                                 "first,300000,20,40\nsecond,500000,10,20\n");
    options.cluster.topology = "file:" + WriteFile("topology", LEAVES + links + "]}");
    options.cluster.ranks = 8;
    options.cluster.rate = DataRate("25Gbps");
    options.cluster.congestionControl = "none"; // remembers nothing
    options.iterations = 4;
    options.warmup = 0;
    options.payload = "real";
    return options;
}

/** @return times of the iterations, s */
std::vector<double>
Measure(const TrainingRunOptions& options)
{
    std::vector<double> seconds;
    const TrainingRunResult result = TrainingRun(options).Run();
    NS_TEST_EXPECT_MSG_EQ(result.mismatch, "", "sums");
    for (const auto& iteration : result.iterations)
    {
        seconds.push_back(iteration.iterationTimeS);
    }
    Simulator::Destroy();
    return seconds;
}

/// Two configurations: a ring of leaves, and another one that is slower.
const std::string SLOW = R"(, "rate": "10Gbps")";
const std::string BOTH =
    MakeRing("0123", ", \"circuit\": 0") + MakeRing("0213", SLOW + ", \"circuit\": 1");

/** Each iteration takes as long as on a network of its circuits alone, and then they change. */
void
TestCircuits()
{
    const double first = Measure(MakeOptions(MakeRing("0123", ""))).front();
    const double second = Measure(MakeOptions(MakeRing("0213", SLOW))).front();
    TrainingRunOptions options = MakeOptions(BOTH);
    options.reconfiguration = MilliSeconds(3);
    const auto seconds = Measure(options);
    NS_TEST_ASSERT_MSG_EQ(seconds.size(), 4, "iterations");
    // The barrier before takes some us.
    const double change = 3e-3 + 20e-6;
    NS_TEST_EXPECT_MSG_EQ_TOL(seconds[0], first + change, 20e-6, "circuits 0");
    NS_TEST_EXPECT_MSG_EQ_TOL(seconds[1], second + change, 20e-6, "circuits 1");
    NS_TEST_EXPECT_MSG_EQ_TOL(seconds[2], first + change, 20e-6, "circuits 0 again");
    NS_TEST_EXPECT_MSG_EQ_TOL(seconds[3], second, 20e-6, "nothing changes at the end");
    NS_TEST_EXPECT_MSG_GT(second - first, 20e-6, "the circuits matter");
}

/** What would go on into the next iteration ends before the circuits change; nothing is lost. */
void
TestOverlap()
{
    for (const std::string collective : {"ring", "hierarchical"})
    {
        TrainingRunOptions options = MakeOptions(BOTH);
        options.gradientPriority = "layer";
        options.cluster.algorithm = collective;
        options.results = MakePath("results.sqlite");
        options.reconfiguration = MilliSeconds(1);
        const TrainingRunResult result = TrainingRun(options).Run();
        NS_TEST_EXPECT_MSG_EQ(result.mismatch, "", collective);
        NS_TEST_EXPECT_MSG_GT(result.iterations.at(0).iterationTimeS, 1e-3, collective);
        const auto* network = result.figures.Find<NetworkFigures>();
        NS_TEST_ASSERT_MSG_NE(network, nullptr, collective);
        NS_TEST_EXPECT_MSG_EQ(network->lostFrames, 0, collective << ": on dark links");
        Simulator::Destroy();
    }
}

/** What has no circuits, or cannot have them. */
void
TestCircuitRefusals()
{
    const auto refuse = [](const TrainingRunOptions& options, const std::string& part) {
        ExpectPart(GetRefusal([&options] { Measure(options); }), part);
        Simulator::Destroy();
    };
    TrainingRunOptions options = MakeOptions(MakeRing("0123", ""));
    options.reconfiguration = MilliSeconds(1);
    refuse(options, "(allowed: with two circuits or more)");
    refuse(MakeOptions(MakeRing("0123", ", \"circuit\": 0") + MakeRing("012", ", \"circuit\": 1")),
           "with circuits 1': host 6 cannot reach host 0 (allowed: all can");
    refuse(MakeOptions(MakeRing("0123", ", \"circuit\": -1")), "circuit is '-1' (allowed: 0 to");
    options = MakeOptions(BOTH);
    options.payload = "virtual";
    options.cluster.algorithm = "sharp";
    refuse(options, "sharp on optical circuits (allowed: collectives on hosts");
    options = MakeOptions(BOTH);
    options.reconfiguration = Time();
    refuse(options,
           "reconfiguration 0ps (allowed: from 46us, in which a barrier ends at all ranks)");
    refuse(MakeOptions(R"(, {"a": 0, "b": 9, "circuit": 1})"), "circuit of a link of a host");
    options = MakeOptions(BOTH);
    options.cluster.background = "websearch";
    refuse(options, "circuits change, with background traffic (allowed: none)");
    options = MakeOptions(BOTH);
    options.payload = "virtual";
    options.replicas = "derive";
    refuse(options, "replicas");
    options = MakeOptions(BOTH);
    options.life.checkpoint = LifeOptions::BLOCKING;
    options.life.storageHosts = 0;
    refuse(options, "circuits change, with checkpoints or failures (allowed: none)");
}

const Suite g_suite("circuit",
                    Duration::QUICK,
                    {{"iterations on changing circuits", TestCircuits},
                     {"overlap ends before circuits change", TestOverlap},
                     {"refusals", TestCircuitRefusals}});

} // namespace ns3::training::tests::circuit_test
