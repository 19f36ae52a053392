/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "schedule-test-common.h"
#include "schedule/schedule-interpreter.h"
#include "test-case.h"

#include "ns3/collective-algorithm.h"
#include "ns3/lower-bound.h"
#include "ns3/schedule-verifier.h"
#include "ns3/topology-builder.h"

#include <algorithm>
#include <cmath>

namespace ns3::training::tests::collective_test
{

using Kind = ScheduleAction::Kind;

CollectiveRequest
MakeRequest(CollectiveOperation operation, uint32_t ranks, uint64_t bytes, uint32_t root)
{
    CollectiveRequest request;
    request.operation = operation;
    request.ranks = ranks;
    request.bytes = bytes;
    request.root = root;
    return request;
}

/**
 * A rotated schedule is equivalent to its expansion rank by rank: both are correct and give the
 * same numbers. Faults in a rotated schedule are found.
 */
void
TestRotation()
{
    constexpr uint32_t N = 5;
    for (CollectiveOperation operation : {CollectiveOperation::ALL_REDUCE,
                                          CollectiveOperation::REDUCE_SCATTER,
                                          CollectiveOperation::ALL_GATHER,
                                          CollectiveOperation::ALL_TO_ALL,
                                          CollectiveOperation::SEND_RECEIVE})
    {
        auto request = MakeRequest(operation, N, 0, 0);
        request.segments = 3;
        const auto rotated = BuildSchedule("ring", request);
        NS_TEST_EXPECT_MSG_EQ(rotated.GetStoredRanks(), 1, "only one rank is stored");
        request.segments = 1;
        const auto all = Inject(BuildSchedule("ring", request), [](auto&) {});
        NS_TEST_EXPECT_MSG_EQ(all.GetStoredRanks(), N, "all ranks are stored");
        NS_TEST_EXPECT_MSG_EQ(VerifySchedule(all), "", "right");
        std::vector<std::vector<float>> inputs(N);
        for (uint32_t rank = 0; rank < N; rank++)
        {
            for (uint32_t i = 0; i < 23; i++)
            {
                inputs[rank].push_back(static_cast<float>(100 * rank + i));
            }
        }
        const bool same = InterpretSchedule(rotated, inputs) == InterpretSchedule(all, inputs);
        NS_TEST_EXPECT_MSG_EQ(same, true, training::GetName(operation));
    }
    // A cycle: every rank receives from the previous rank before it sends.
    CollectiveSchedule circle;
    circle.Resize(3);
    circle.UseRotation(false);
    const uint32_t received = circle.Add(0, Kind::RECEIVE_REDUCE, 2, 0, 0);
    circle.Add(0, Kind::SEND, 1, 0, 0, {received});
    circle.Close();
    ExpectPart(VerifySchedule(circle), "whose sending waits for this", "a circle");
    CollectiveSchedule twice;
    twice.chunks = 3;
    twice.Resize(3);
    twice.UseRotation(true);
    for (uint32_t step = 0; step < 3; step++)
    {
        twice.Add(0, Kind::SEND, 1, 0, step);
        twice.Add(0, Kind::RECEIVE_REDUCE, 2, 2, step);
    }
    twice.Close();
    NS_TEST_EXPECT_MSG_EQ(VerifySchedule(twice),
                          "rank 1, step 1: receives and adds from rank 0 chunk 0 with rank 0's "
                          "contribution a second time (chunk 0)",
                          "double counting");
}

/** The interpreter adds in the order of the ring's closed form: chunk c starts at rank c + 1. */
void
TestRingOrder()
{
    constexpr uint32_t N = 7;
    constexpr uint32_t LENGTH = 7 * 13;
    std::vector<std::vector<float>> inputs(N, std::vector<float>(LENGTH));
    for (uint32_t rank = 0; rank < N; rank++)
    {
        for (uint32_t i = 0; i < LENGTH; i++)
        {
            // Magnitudes differ so much that every order gives a different sum.
            inputs[rank][i] = std::ldexp(1.0F + 0.1F * (i % 9), static_cast<int>(4 * rank));
        }
    }
    const auto schedule =
        BuildSchedule("ring", MakeRequest(CollectiveOperation::ALL_REDUCE, N, LENGTH * 4, 0));
    const auto results = InterpretSchedule(schedule, inputs);
    bool orderMatters = false;
    for (uint32_t i = 0; i < LENGTH; i++)
    {
        const uint32_t chunk = i / 13;
        float sum = inputs[(chunk + 1) % N][i];
        float other = inputs[chunk][i];
        for (uint32_t k = 2; k <= N; k++)
        {
            sum += inputs[(chunk + k) % N][i];
            other += inputs[(chunk + N + 1 - k) % N][i];
        }
        orderMatters |= sum != other;
        for (uint32_t rank = 0; rank < N; rank++)
        {
            NS_TEST_ASSERT_MSG_EQ(results[rank][i], sum, "element " << i);
        }
    }
    NS_TEST_EXPECT_MSG_EQ(orderMatters, true, "the test could not fail");
}

void
ExpectRefusal(const std::string& algorithm,
              const CollectiveRequest& request,
              const std::string& expected)
{
    const std::string text = GetRefusal([&] { BuildSchedule(algorithm, request); });
    ExpectPart(text, expected);
    ExpectPart(text, "allowed:");
}

/** Invalid requests are refused with the allowed values. */
void
TestRefusedRequest()
{
    auto request = MakeRequest(CollectiveOperation::ALL_REDUCE, 4, 64, 0);
    ExpectRefusal("rnig", request, "'rnig'");
    request.root = 4;
    ExpectRefusal("ring", request, "root 4");
    request.root = 0;
    ExpectRefusal("parameter-server:servers=5",
                  request,
                  "parameter-server:servers=5: 5 parameter servers for 4 ranks");
    ExpectRefusal("parameter-server:servers=0", request, "'servers=0'");
    request.operation = CollectiveOperation::BROADCAST;
    ExpectRefusal("parameter-server", request, "broadcast");
    ExpectRefusal("ring:window=3", request, "'window=3'");
    request.operation = CollectiveOperation::ALL_TO_ALL;
    request.ranks = 65536;
    ExpectRefusal("ring", request, "65536 ranks");
    request = MakeRequest(CollectiveOperation::ALL_REDUCE, 4, 64, 0);
    request.segments = 1 << 20;
    ExpectRefusal("ring", request, "1048576 segments");
}

/** Bus factors of nccl-tests, and lower bounds computed by hand. */
void
TestBound()
{
    using Operation = CollectiveOperation;
    NS_TEST_EXPECT_MSG_EQ(GetBusFactor(Operation::ALL_REDUCE, 16), 1.875, "all-reduce");
    NS_TEST_EXPECT_MSG_EQ(GetBusFactor(Operation::ALL_GATHER, 16), 0.9375, "all-gather");
    NS_TEST_EXPECT_MSG_EQ(GetBusFactor(Operation::BROADCAST, 16), 1, "broadcast");
    NS_TEST_EXPECT_MSG_EQ(GetBusFactor(Operation::ALL_TO_ALL, 16), 0.9375, "all-to-all");
    NS_TEST_EXPECT_MSG_EQ(GetBusFactor(Operation::ALL_TO_ALL_V, 16), 0.9375, "all-to-all-v");
    NS_TEST_EXPECT_MSG_EQ(GetBusFactor(Operation::REDUCE, 16), 1, "reduce");
    NS_TEST_EXPECT_MSG_EQ(GetBusFactor(Operation::SEND_RECEIVE, 16), 1, "send-receive");
    NS_TEST_EXPECT_MSG_EQ(GetBusFactor(Operation::BARRIER, 16), 0, "barrier");
    NS_TEST_EXPECT_MSG_EQ(GetBusFactor(Operation::ALL_REDUCE, 1), 0, "one rank");

    const DataRate rate("100Gbps"); // 12.5e9 B/s
    const auto fatTree = BuildTopology("fat-tree:k=4", 16, rate, NanoSeconds(500));
    const LowerBound full(fatTree, 16, 0.8); // 10e9 B/s of payload
    NS_TEST_EXPECT_MSG_EQ_TOL(full.GetSeconds(Operation::ALL_REDUCE, 1000000000),
                              0.1875,
                              1e-9,
                              "bandwidth");
    NS_TEST_EXPECT_MSG_EQ_TOL(full.GetSeconds(Operation::ALL_REDUCE, 4),
                              3e-6,
                              1e-12,
                              "latency: six links");
    NS_TEST_EXPECT_MSG_EQ(full.GetSeconds(Operation::ALL_REDUCE, 0), 0, "nothing to do");
    NS_TEST_EXPECT_MSG_EQ_TOL(full.GetSeconds(Operation::BARRIER, 0),
                              3e-6,
                              1e-12,
                              "a barrier has no bytes but takes its time");
    // Rank 1 receives 30e9 bytes from two others.
    auto matrix = std::make_shared<std::vector<uint64_t>>(256);
    matrix->at(0 * 16 + 1) = 10000000000;
    matrix->at(1 * 16 + 1) = 70000000000;
    matrix->at(2 * 16 + 1) = 20000000000;
    NS_TEST_EXPECT_MSG_EQ_TOL(full.GetSeconds(Operation::ALL_TO_ALL_V, 1, matrix),
                              3,
                              1e-9,
                              "all-to-all-v");
    // Four leaves of four hosts on one spine: S must cross each leaf's only uplink.
    const auto thin = BuildTopology("leaf-spine:leaves=4,spines=1", 16, rate, NanoSeconds(500));
    const LowerBound cut(thin, 16, 0.8);
    NS_TEST_EXPECT_MSG_EQ_TOL(cut.GetSeconds(Operation::ALL_GATHER, 1000000000),
                              0.09375,
                              1e-9,
                              "all-gather: own link");
    // All-to-all: 4 ranks send 12/16 of S each over the uplink.
    NS_TEST_EXPECT_MSG_EQ_TOL(cut.GetSeconds(Operation::ALL_TO_ALL, 1000000000),
                              0.3,
                              1e-9,
                              "all-to-all: up-link");
    // The first leaf sends 7e9 and 4e9 bytes over its uplink, 9e9 stay; rank 15 receives 10e9.
    auto across = std::make_shared<std::vector<uint64_t>>(256);
    across->at(0 * 16 + 4) = 7000000000;
    across->at(1 * 16 + 8) = 4000000000;
    across->at(2 * 16 + 3) = 9000000000;
    across->at(12 * 16 + 15) = 10000000000;
    NS_TEST_EXPECT_MSG_EQ_TOL(cut.GetSeconds(Operation::ALL_TO_ALL_V, 1, across),
                              1.1,
                              1e-9,
                              "all-to-all-v: up-link");
    std::swap(across->at(0 * 16 + 4), across->at(4 * 16 + 0));
    std::swap(across->at(1 * 16 + 8), across->at(8 * 16 + 1));
    NS_TEST_EXPECT_MSG_EQ_TOL(cut.GetSeconds(Operation::ALL_TO_ALL_V, 1, across),
                              1.1,
                              1e-9,
                              "all-to-all-v: up-link, downwards");
    // Each rank of the upper half of a torus sends 5e9 bytes to each of the lower: 8 links.
    auto halves = std::make_shared<std::vector<uint64_t>>(256);
    for (uint32_t from = 0; from < 8; from++)
    {
        std::fill_n(halves->begin() + from * 16 + 8, 8, 5000000000);
    }
    const LowerBound torus(BuildTopology("torus:4x4", 16, rate, NanoSeconds(1)), 16, 0.8);
    NS_TEST_EXPECT_MSG_EQ_TOL(torus.GetSeconds(Operation::ALL_TO_ALL_V, 1, halves),
                              4,
                              1e-9,
                              "all-to-all-v: half of a torus");
    // The busiest rank need not be the slowest: a mesh node has 3 links on a side, 2 in a
    // corner.
    auto side = std::make_shared<std::vector<uint64_t>>(81);
    side->at(1 * 9 + 7) = 60000000000;
    const LowerBound mesh(BuildTopology("mesh:3x3", 9, rate, NanoSeconds(1)), 9, 0.8);
    NS_TEST_EXPECT_MSG_EQ_TOL(mesh.GetSeconds(Operation::ALL_TO_ALL_V, 1, side),
                              2,
                              1e-9,
                              "all-to-all-v: a rank's own rate");
    const auto wide =
        BuildTopology("leaf-spine:leaves=2,spines=1,hosts-per-leaf=8", 16, rate, NanoSeconds(1));
    const LowerBound narrow(wide, 4, 0.8); // all four ranks on one leaf: no cut
    NS_TEST_EXPECT_MSG_EQ_TOL(narrow.GetSeconds(Operation::ALL_REDUCE, 1000000000),
                              0.15,
                              1e-9,
                              "ranks on one leaf");
    // On direct networks, in units of S / B: the bounds by total links, by cuts, by own links.
    const auto expectUnits =
        [&](const std::string& spec, uint32_t ranks, Operation operation, double units) {
            const LowerBound bound(BuildTopology(spec, ranks, rate, NanoSeconds(1)), ranks, 0.8);
            NS_TEST_EXPECT_MSG_EQ_TOL(bound.GetSeconds(operation, 10000000000),
                                      units,
                                      1e-8,
                                      training::GetName(operation) << " on " << spec);
        };
    expectUnits("torus:4x4", 16, Operation::ALL_REDUCE, 15.0 / 32);
    expectUnits("mesh:4x4", 16, Operation::ALL_REDUCE, 0.625);
    expectUnits("mesh:8x8", 64, Operation::ALL_REDUCE, 0.5625);
    expectUnits("mesh:4x4", 16, Operation::ALL_GATHER, 15.0 / 32); // corner: two links
    expectUnits("torus:8x8", 64, Operation::ALL_TO_ALL, 1);        // k S/(8 B)
    expectUnits("torus:4x16", 64, Operation::ALL_TO_ALL, 2);
    expectUnits("torus:16x4", 64, Operation::ALL_TO_ALL, 2);
    expectUnits("ring", 9, Operation::ALL_TO_ALL, 4.0 * 5 / 9 / 2);
    expectUnits("mesh:2x8", 16, Operation::ALL_REDUCE, 15.0 / 22);
    expectUnits("bigraph:m=4,n=8", 32, Operation::ALL_TO_ALL, 1); // even and odd switches
    expectUnits("fat-tree:k=4", 16, Operation::ALL_TO_ALL, 15.0 / 16);
    expectUnits("fat-tree:k=4", 3, Operation::ALL_REDUCE, 4.0 / 3);
    // Four NICs connect two servers; a rank's two ports are 37 times as fast as its NIC.
    expectUnits("rail-optimized:gpus=4,servers=2", 8, Operation::ALL_REDUCE, 0.25);
    expectUnits("rail-optimized:gpus=4,servers=2", 8, Operation::ALL_TO_ALL, 0.5);
    // A GPU relays messages to the other's NIC: twice 25 ns and two links of 500 ns.
    const LowerBound rails(BuildTopology("rail-optimized:gpus=2", 4, rate, NanoSeconds(500)),
                           4,
                           0.8);
    NS_TEST_EXPECT_MSG_EQ_TOL(rails.GetSeconds(Operation::ALL_GATHER, 64),
                              1.05e-6,
                              1e-12,
                              "latency by way of another rank");
    // A slow host need not send more than S; the others take over.
    expectUnits("mesh:3", 3, Operation::ALL_REDUCE, 1);
    // Of five numbers a rank on the slowest link may own two, and receives three.
    TopologyGraph uneven = BuildTopology("single-switch", 4, rate, NanoSeconds(1));
    uneven.links[3].rate = DataRate("1Gbps"); // 0.1e9 B/s of payload
    NS_TEST_EXPECT_MSG_EQ_TOL(LowerBound(uneven, 4, 0.8).GetSeconds(Operation::ALL_GATHER, 20),
                              12 / 0.1e9,
                              1e-15,
                              "the largest part on the slowest link");
    NS_TEST_EXPECT_MSG_EQ(LowerBound(uneven, 4, 0.8).GetSeconds(Operation::ALL_TO_ALL, 12),
                          0,
                          "not every rank has a part");
    const LowerBound alone(fatTree, 1, 0.8);
    NS_TEST_EXPECT_MSG_EQ(alone.GetSeconds(Operation::ALL_REDUCE, 1 << 30), 0, "one rank");
}

const Suite g_suite("collective",
                    Duration::QUICK,
                    {{"one rank's actions stand for those of all", TestRotation},
                     {"order of additions in a ring", TestRingOrder},
                     {"refused requests", TestRefusedRequest},
                     {"bus factors and lower bounds", TestBound}});

} // namespace ns3::training::tests::collective_test
