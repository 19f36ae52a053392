/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "measure/algorithm-sweep.h"
#include "test-case.h"

#include "ns3/algorithm-chooser.h"
#include "ns3/collective-cost.h"
#include "ns3/collective-planner.h"
#include "ns3/simulator.h"
#include "ns3/topology-builder.h"

#include <algorithm>
#include <cmath>

namespace ns3::training::tests::algorithm_choice_test
{

using Operation = CollectiveOperation;

/// Transmission time of a byte at 100 Gbit/s, s.
constexpr double BYTE = 8 / 100e9;

/// Propagation delay of a link, s.
constexpr double DELAY = 500e-9;

TopologyGraph
MakeTopology(const std::string& spec, uint32_t ranks)
{
    return BuildTopology(spec, ranks, DataRate(100000000000), NanoSeconds(500));
}

CollectiveRequest
MakeRequest(Operation operation, uint32_t ranks, uint64_t bytes, const TopologyGraph* topology)
{
    CollectiveRequest request;
    request.operation = operation;
    request.ranks = ranks;
    request.bytes = bytes;
    request.topology = topology;
    return request;
}

std::optional<CollectiveCost>
Measure(const TopologyGraph& topology,
        const std::vector<uint32_t>& hosts,
        const NetworkCost& network,
        Operation operation,
        uint32_t segments)
{
    CollectiveRequest request = MakeRequest(operation, 8, 0, &topology);
    request.segments = segments;
    return CollectiveCost::Measure(topology, hosts, network, BuildSchedule("ring", request));
}

/** Costs of schedules on topologies equal the closed forms of the alpha-beta model. */
void
TestCollectiveCost()
{
    NetworkCost network;
    network.goodput = 0.8;
    network.packetBytes = 1000;
    network.headerBytes = 100;
    network.messageSeconds = 3e-6;
    const auto expect = [](double actual, double expected, const std::string& what) {
        NS_TEST_EXPECT_MSG_EQ_TOL(actual, expected, 1e-12, what);
    };
    const auto star = MakeTopology("single-switch", 8);
    const auto ring = Measure(star, {}, network, Operation::ALL_REDUCE, 1);
    NS_TEST_ASSERT_MSG_EQ(ring.has_value(), true, "small enough");
    NS_TEST_EXPECT_MSG_EQ(ring->GetSteps(), 14, "steps of a ring");
    // Long chunks, or chunks of 5 bytes: each packet is stored and forwarded once.
    const double hops = 2 * DELAY + 2 * 100 * BYTE;
    expect(ring->GetLatency(8000000), 14 * (hops + 1000 * BYTE + 3e-6), "latency of a ring");
    expect(ring->GetTransfer(8000000), 14 * 1000000 * BYTE / 0.8, "transfer in a ring");
    expect(ring->GetLatency(40), 14 * (hops + 5 * BYTE + 3e-6), "latency of small chunks");
    // A chain of 4 segments: 7 links, and 3 more segments after the first.
    const auto chain = Measure(star, {}, network, Operation::BROADCAST, 4);
    expect(chain->GetTransfer(8000000), (7 + 3) * 2000000 * BYTE / 0.8, "transfer in a chain");
    expect(chain->GetLatency(8000000), 7 * (hops + 1000 * BYTE + 3e-6), "latency of a chain");
    // Four messages leave each leaf over two links, each message over one. With four links up
    // and four down, one link is expected to carry all of them.
    const auto leaves = MakeTopology("leaf-spine:leaves=2,spines=2,hosts-per-leaf=4", 8);
    const std::vector<uint32_t> hosts{0, 4, 1, 5, 2, 6, 3, 7};
    const double load = std::min(4.0, 2 + std::sqrt(2 * std::log(8)) * 1);
    const auto expectLoad =
        [&](const std::vector<uint32_t>& order, double messages, const std::string& what) {
            const auto cost = Measure(leaves, order, network, Operation::SEND_RECEIVE, 1);
            expect(cost->GetTransfer(1000000), messages * 1000000 * BYTE / 0.8, what);
        };
    expectLoad(hosts, load, "one route for each message");
    network.sprays = true;
    expectLoad(hosts, 2, "all routes for each message");
    expectLoad({}, 1, "ranks in order: one message leaves each leaf");
}

/** @return expected time of an algorithm; infinite if it is not considered */
double
GetSeconds(const TopologyGraph& topology,
           const NetworkCost& network,
           const std::string& name,
           const CollectiveRequest& request)
{
    try
    {
        const auto cost =
            CollectiveCost::Measure(topology, {}, network, BuildSchedule(name, request));
        return cost->GetLatency(request.bytes) + cost->GetTransfer(request.bytes);
    }
    catch (const ConfigurationError&)
    {
        return INFINITY;
    }
}

/** The choice is the cheapest algorithm, and planners use it. */
void
TestAlgorithmChoice()
{
    const NetworkCost network;
    for (const std::string spec : {"single-switch", "torus:4x4", "fat-tree:k=4"})
    {
        const auto topology = MakeTopology(spec, 16);
        CollectivePlanner planner(std::make_unique<AlgorithmChooser>(network),
                                  MakeRequest(Operation::ALL_REDUCE, 16, 0, &topology));
        AlgorithmChooser chooser(network);
        for (uint64_t bytes : {uint64_t{64}, uint64_t{65536}, uint64_t{1} << 33})
        {
            const auto request = MakeRequest(Operation::ALL_REDUCE, 16, bytes, &topology);
            const AlgorithmChoice& choice = chooser.Choose(request);
            const auto plan = planner.Get(Operation::ALL_REDUCE, bytes, 0);
            NS_TEST_EXPECT_MSG_EQ(plan->algorithm, choice.name, spec << " " << bytes);
            NS_TEST_EXPECT_MSG_EQ(planner.Explain(Operation::ALL_REDUCE, bytes, 0),
                                  choice.reason,
                                  spec << " " << bytes);
            NS_TEST_EXPECT_MSG_EQ(choice.reason.find(choice.name + " for all-reduce of "),
                                  0,
                                  choice.reason);
            const double least = GetSeconds(topology, network, choice.name, request);
            for (const auto& [name, entry] : Registry<CollectiveAlgorithm>::All())
            {
                NS_TEST_EXPECT_MSG_GT_OR_EQ(GetSeconds(topology, network, name, request),
                                            least,
                                            name << " on " << spec << ", " << bytes);
            }
        }
    }
    // Latency dominates for few bytes, bandwidth for many.
    const auto star = MakeTopology("single-switch", 16);
    AlgorithmChooser chooser(network);
    const auto few =
        BuildSchedule(chooser.Choose(MakeRequest(Operation::BROADCAST, 16, 8, &star)).name,
                      MakeRequest(Operation::BROADCAST, 16, 8, &star));
    NS_TEST_EXPECT_MSG_LT_OR_EQ(few.GetSteps(), 4, "few steps for few bytes");
    NS_TEST_EXPECT_MSG_NE(
        chooser.Choose(MakeRequest(Operation::BROADCAST, 16, 8, &star)).name,
        chooser.Choose(MakeRequest(Operation::BROADCAST, 16, 1 << 28, &star)).name,
        "another for many");
    // A search that would take too long is skipped.
    const auto large = MakeTopology("torus:9x9", 81);
    const std::string name =
        chooser.Choose(MakeRequest(Operation::ALL_GATHER, 81, 1 << 20, &large)).name;
    NS_TEST_EXPECT_MSG_EQ(Registry<CollectiveAlgorithm>::Find(name).searches, false, name);
    // One rank has nothing to do, whatever the algorithm.
    const auto one = MakeTopology("single-switch", 1);
    CollectivePlanner alone(std::make_unique<AlgorithmChooser>(network),
                            MakeRequest(Operation::ALL_REDUCE, 1, 0, &one));
    NS_TEST_EXPECT_MSG_EQ(alone.Get(Operation::ALL_REDUCE, 1000, 0)->GetSteps(), 0, "one rank");
    CollectivePlanner given("ring", MakeRequest(Operation::ALL_REDUCE, 16, 0, &star));
    NS_TEST_EXPECT_MSG_EQ(given.Explain(Operation::ALL_REDUCE, 1000, 0), "", "no choice");
}

/** Hosts add to each estimate, and their library is named if it lacks the choice. */
void
TestHosts()
{
    const auto star = MakeTopology("single-switch", 8);
    const auto request = MakeRequest(Operation::ALL_REDUCE, 8, 1 << 20, &star);
    HostQuestions hosts;
    hosts.estimate = [](const CollectiveSchedule& schedule, uint64_t) {
        HostEstimate estimate;
        estimate.seconds = 1e-6 * schedule.GetSteps();
        estimate.channel = schedule.algorithm == "ring" ? 1 : 0;
        estimate.wireFactor = 2;
        return estimate;
    };
    hosts.listAlgorithms = [](Operation) { return std::vector<std::string>{"ring", "tree"}; };
    AlgorithmChooser plain((NetworkCost()));
    AlgorithmChooser chooser(NetworkCost(), hosts);
    const auto find = [&](AlgorithmChooser& from, const std::string& name) {
        const auto& all = from.Choose(request).candidates;
        return *std::find_if(all.begin(), all.end(), [&](const auto& one) {
            return one.name == name;
        });
    };
    for (const std::string name : {"recursive-doubling", "direct"})
    {
        const auto before = find(plain, name);
        const double latency = before.latency + 1e-6 * before.steps;
        NS_TEST_EXPECT_MSG_EQ_TOL(find(chooser, name).latency, latency, 1e-12, name);
        NS_TEST_EXPECT_MSG_EQ_TOL(find(chooser, name).seconds,
                                  latency + 2 * (before.seconds - before.latency),
                                  1e-12,
                                  name << ": twice the bytes");
    }
    const auto ring = find(chooser, "ring");
    NS_TEST_EXPECT_MSG_EQ_TOL(ring.seconds - ring.latency, 1, 1e-12, "the channel");
    ExpectPart(chooser.Choose(request).reason, "; the library of these hosts has no ");
    ExpectPart(chooser.Choose(request).reason, " (it has: ring, tree)");
    NS_TEST_EXPECT_MSG_EQ(plain.Choose(request).reason.find("library"),
                          std::string::npos,
                          "no library");
}

void
Check(const std::string& topology, Operation operation)
{
    ClusterOptions options;
    options.ranks = 12;
    options.topology = topology;
    SweepRequest request;
    request.operation = operation;
    request.sizes = {48, 100000};
    request.warmup = 0;
    uint32_t rows = 0;
    const auto sweep =
        SweepAlgorithms(options, request, [&](const Cluster&, const CollectiveMeasurement&) {
            rows++;
        });
    const std::string what = topology + ", " + training::GetName(operation);
    for (const CollectiveMeasurement& row : sweep.rows)
    {
        NS_TEST_EXPECT_MSG_LT_OR_EQ(row.lowerBound,
                                    row.seconds,
                                    what << ", " << row.algorithm << ", " << row.bytes);
        NS_TEST_EXPECT_MSG_EQ(row.verified, true, what << ", " << row.algorithm);
    }
    NS_TEST_EXPECT_MSG_EQ(rows, sweep.rows.size(), "each row is reported");
    NS_TEST_EXPECT_MSG_EQ(rows / 2 + sweep.unfit.size(),
                          Registry<CollectiveAlgorithm>::All().size(),
                          "each algorithm fits or not");
    for (uint64_t bytes : request.sizes)
    {
        const auto* fastest = sweep.FindFastest(bytes);
        const auto* chosen = sweep.Find(bytes, sweep.choices.at(bytes));
        NS_TEST_ASSERT_MSG_EQ((fastest && chosen), true, "measured");
        NS_TEST_EXPECT_MSG_LT(chosen->seconds,
                              2.5 * fastest->seconds,
                              what << ", " << bytes << ": " << chosen->algorithm << " in place of "
                                   << fastest->algorithm);
    }
}

/**
 * No algorithm beats the lower bound, on any topology, for any operation. The choice is close to
 * the fastest.
 */
void
TestNothingBeatsItsBound()
{
    for (const std::string& topology : Split("single-switch|torus:3x4|mesh:4x3|ring|"
                                             "leaf-spine:leaves=3,spines=2|fat-tree:k=4|"
                                             "bigraph:m=2,n=8|dragonfly:a=4,p=2,h=1|"
                                             "rail-optimized:servers=3,gpus=4"))
    {
        for (Operation operation : GetCollectiveOperations())
        {
            Check(topology, operation);
        }
    }
}

/** A sweep refuses options that no algorithm supports, and carries real payload. */
void
TestSweep()
{
    ClusterOptions options;
    options.ranks = 6;
    SweepRequest request;
    request.sizes = {6000};
    request.real = true;
    const auto sweep = SweepAlgorithms(options, request, nullptr);
    for (const CollectiveMeasurement& row : sweep.rows)
    {
        NS_TEST_EXPECT_MSG_EQ(row.mismatch, "", row.algorithm);
    }
    NS_TEST_EXPECT_MSG_EQ(sweep.unfit.count("ring"), 0, "a ring fits");
    NS_TEST_EXPECT_MSG_EQ(sweep.unfit.count("hdrm"), 1, "HDRM needs a BiGraph");
    NS_TEST_EXPECT_MSG_GT(sweep.cost.packetHops, 1000, "of all simulations");
    // Only the last algorithm of the sweep.
    options.algorithm = sweep.rows.back().algorithm;
    {
        const Cluster cluster(options);
        GuardedRun run(cluster);
        MeasureCollective(cluster, run, request.operation, 6000, true, 1);
        const auto row = MeasureCollective(cluster, run, request.operation, 6000, true, 1);
        NS_TEST_EXPECT_MSG_EQ(row.seconds, sweep.rows.back().seconds, "as on its own");
    }
    Simulator::Destroy();
    const auto refuse = [&] {
        return GetRefusal([&] { SweepAlgorithms(options, request, nullptr); });
    };
    options.mtu = 1;
    NS_TEST_EXPECT_MSG_EQ(refuse(),
                          "mtu 1 (allowed: 256 to 9000 bytes; 0: automatic)",
                          "wrong for all");
    options.mtu = 0;
    options.schedule = "x.json";
    NS_TEST_EXPECT_MSG_EQ(refuse(),
                          "--sweep with --schedule=x.json (allowed: without)",
                          "a schedule");
}

const Suite g_suite("algorithm-choice",
                    Duration::EXTENSIVE,
                    {{"cost of a schedule", TestCollectiveCost},
                     {"choice of an algorithm", TestAlgorithmChoice},
                     {"choice with hosts", TestHosts},
                     {"nothing beats its lower bound", TestNothingBeatsItsBound},
                     {"sweep over algorithms", TestSweep}});

} // namespace ns3::training::tests::algorithm_choice_test
