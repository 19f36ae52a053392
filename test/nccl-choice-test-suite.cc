/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective/disjoint-rings.h"
#include "communicator/nccl-chunks.h"
#include "communicator/ofi-tuner.h"
#include "communicator/server-map.h"
#include "test-case.h"

#include "ns3/collective-algorithm.h"
#include "ns3/schedule-verifier.h"
#include "ns3/topology-builder.h"

#include <map>
#include <utility>

namespace ns3::training::tests::nccl_choice_test
{

using Operation = CollectiveOperation;
using Algorithm = NcclTuning::Algorithm;
using Protocol = NcclTuning::Protocol;

constexpr uint64_t MIB = 1 << 20;

TopologyGraph
Make(const std::string& text, uint32_t hosts)
{
    return BuildTopology(text, hosts, DataRate("200Gbps"), NanoSeconds(500));
}

/** The plugin's regions: points on both sides of borders, at ranks of its vertices. */
void
TestPlugin()
{
    const auto expect = [](uint32_t servers,
                           uint64_t bytes,
                           std::optional<std::pair<Algorithm, Protocol>> expected,
                           uint32_t gpus = 8) {
        const auto found = FindOfiChoice(Operation::ALL_REDUCE, gpus * servers, servers, bytes);
        NS_TEST_EXPECT_MSG_EQ(found.has_value(), expected.has_value(), servers << ", " << bytes);
        if (found && expected)
        {
            NS_TEST_EXPECT_MSG_EQ((std::pair(found->algorithm, found->protocol) == *expected),
                                  true,
                                  servers << " servers, " << bytes << " bytes");
        }
    };
    const std::pair tree(Algorithm::TREE, Protocol::LL128);
    const std::pair ring(Algorithm::RING, Protocol::LL128);
    const std::pair simple(Algorithm::RING, Protocol::SIMPLE);
    const std::pair switches(Algorithm::SWITCH_TREE, Protocol::SIMPLE);
    expect(2, 64 * MIB, std::nullopt);
    expect(8, 8, tree);
    expect(8, 112 * MIB, tree);
    expect(8, 113 * MIB, ring);
    expect(8, 2047 * MIB, ring);
    expect(8, 2049 * MIB, std::nullopt); // between two regions
    expect(8, 2561 * MIB, simple);
    expect(32, 288 * MIB, tree);
    expect(32, 289 * MIB, switches);
    expect(32, 1500 * MIB, ring);
    expect(32, 4096 * MIB, switches);
    expect(4, 35 * MIB, tree);
    expect(4, 37 * MIB, ring);
    expect(16, MIB, tree, 1);
    expect(64, 512 * MIB, simple, 1);
    expect(64, 16 * MIB, ring, 1);
    expect(64, 16 * MIB, std::nullopt, 4);
    NS_TEST_EXPECT_MSG_EQ(FindOfiChoice(Operation::ALL_GATHER, 64, 8, MIB).has_value(),
                          false,
                          "only all-reduces");
}

/** NCCL's rules of src/enqueue.cc and src/graph/tuning.cc. */
void
TestTuning()
{
    NcclTuning::System system;
    system.ranks = 64;
    system.servers = 8;
    system.localRate = 370.8e9;
    system.remoteRate = 400e9;
    const NcclTuning tuning(system);
    const NcclTuning::System tree = system;
    // 1 + log2(8) + 0.8 steps: 38 chunks of each channel, or chunks of 128 KiB at most.
    NS_TEST_EXPECT_MSG_EQ(NcclChunks(tree).GetTreeWindow(Protocol::LL128, 64 * MIB),
                          8 * 72000U,
                          "small");
    NS_TEST_EXPECT_MSG_EQ(NcclChunks(tree).GetTreeWindow(Protocol::LL128, 4096 * MIB),
                          8 * 576000U,
                          "large");
    NS_TEST_EXPECT_MSG_EQ(NcclChunks(tree).GetTreeWindow(Protocol::SIMPLE, MIB), 4 * MIB, "Simple");
    system.switchTreeChunk = 512 << 10;
    const NcclChunks large(system);
    for (const auto& [bytes, chunk] : std::map<uint64_t, uint64_t>{{7 * MIB, 32},
                                                                   {8 * MIB, 64},
                                                                   {63 * MIB, 64},
                                                                   {64 * MIB, 128},
                                                                   {512 * MIB, 256},
                                                                   {2048 * MIB, 512}})
    {
        NS_TEST_EXPECT_MSG_EQ(large.GetSwitchTreeChunk(bytes), chunk << 10, bytes);
    }
    // Simple flushes: the latency that the network declares counts twice.
    const double before =
        tuning.GetSeconds(Operation::ALL_GATHER, Algorithm::RING, Protocol::SIMPLE, MIB);
    system.networkLatency = 10;
    const NcclTuning slow(system);
    NS_TEST_EXPECT_MSG_EQ_TOL(
        slow.GetSeconds(Operation::ALL_GATHER, Algorithm::RING, Protocol::SIMPLE, MIB) - before,
        7 * 2 * 10e-6,
        1e-12,
        "7 steps between servers");
    const auto plans = tuning.GetPlans(Operation::ALL_REDUCE, 64 * MIB, true);
    NS_TEST_EXPECT_MSG_EQ(plans.size(), 3, "rings, trees, switches with trees");
    for (std::size_t i = 1; i < plans.size(); i++)
    {
        NS_TEST_EXPECT_MSG_EQ((plans[i - 1].seconds <= plans[i].seconds), true, "rising");
    }
    NS_TEST_EXPECT_MSG_EQ(tuning.GetPlans(Operation::BROADCAST, MIB, true).size(), 1, "rings only");
}

/** RCCL's formula, evaluated by hand, and what it chooses. */
void
TestRccl()
{
    NcclTuning::System system;
    system.isRccl = true;
    system.ranks = 8;
    system.cpu = 1;
    system.localRate = 336e9;
    system.remoteRate = 400e9;
    system.protocols = {Protocol::LL, Protocol::SIMPLE};
    const auto expect =
        [](const NcclTuning& tuning, Algorithm algorithm, Protocol protocol, double seconds) {
            NS_TEST_EXPECT_MSG_EQ_TOL(
                1e6 * tuning.GetSeconds(Operation::ALL_REDUCE, algorithm, protocol, 64 * MIB),
                1e6 * seconds,
                1e-6,
                "microseconds");
        };
    const double bytes = 64.0 * MIB;
    const NcclTuning inside(system);
    expect(inside, Algorithm::RING, Protocol::SIMPLE, 46.4e-6 + bytes * 14 / 8 / 336e9);
    expect(inside, Algorithm::RING, Protocol::LL, 23.2e-6 + bytes * 14 / 8 / (.08 * 336e9));
    const auto isPossible = [&](Algorithm algorithm, Protocol protocol) {
        return std::isfinite(
            inside.GetSeconds(Operation::ALL_REDUCE, algorithm, protocol, 64 * MIB));
    };
    NS_TEST_EXPECT_MSG_EQ(isPossible(Algorithm::TREE, Protocol::SIMPLE), false, "in a server");
    NS_TEST_EXPECT_MSG_EQ(isPossible(Algorithm::RING, Protocol::LL128), false, "no LL128");
    NS_TEST_EXPECT_MSG_EQ(isPossible(Algorithm::SWITCH, Protocol::SIMPLE), false, "no switch");
    const auto select = [&](uint64_t size) {
        return inside.SelectProtocol(Operation::ALL_REDUCE, Algorithm::RING, size);
    };
    NS_TEST_EXPECT_MSG_EQ(select(8 << 10), Protocol::LL, "small");
    NS_TEST_EXPECT_MSG_EQ(select(MIB), Protocol::SIMPLE, "large");
    system.ranks = 32;
    system.servers = 4;
    const NcclTuning between(system); // 62 steps, 8 of them between servers, the others take 6 us
    expect(between,
           Algorithm::RING,
           Protocol::SIMPLE,
           (17 + 54 * 6 + 8 * 320) * 1e-6 + bytes * 62 / 32 / (.1 * 336e9));
    expect(between,
           Algorithm::TREE,
           Protocol::SIMPLE,
           (17 + 2 * (7 * 2.3 + 2 * 25)) * 1e-6 + 2 * bytes / (.59 * 336e9));
    NS_TEST_EXPECT_MSG_EQ(between.GetRemoteLatency(Algorithm::RING, Protocol::SIMPLE),
                          25,
                          "of a hop, not of a whole ring");
}

/** Servers without a switch: rings that fill all links, their rates, trees. */
void
TestMesh()
{
    // A group in the second server has the rings of the first.
    const TopologyGraph mesh = Make("rail-optimized:gpus=4,servers=2,local=mesh,nics=1", 8);
    for (uint32_t first : {0, 4})
    {
        std::map<std::pair<uint32_t, uint32_t>, uint32_t> uses;
        const std::vector<uint32_t> hosts{first, first + 1, first + 2, first + 3};
        for (const auto& ring : GetLocalRings(mesh, hosts, true))
        {
            for (std::size_t i = 0; i < ring.size(); i++)
            {
                uses[{ring[i], ring[(i + 1) % ring.size()]}]++;
            }
        }
        NS_TEST_EXPECT_MSG_EQ(uses.size(), 12, "both directions of all links");
        for (const auto& [pair, count] : uses)
        {
            NS_TEST_EXPECT_MSG_EQ(count, 2, pair.first << " to " << pair.second);
        }
        NS_TEST_EXPECT_MSG_EQ(GetLocalRings(mesh, {first, first + 1, first + 3}, true).size(),
                              2,
                              "of a part of a server");
    }
    NS_TEST_EXPECT_MSG_EQ(GetLocalRings(mesh, {0, 1, 4, 5}, true).size(), 0, "two servers");
    const TopologyGraph two =
        Make("rail-optimized:gpus=4,servers=2,local=mesh,local-rate=80Gbps,nics=2", 8);
    KeyValues keys = KeyValues::Split("host");
    keys.Check("host model", {ServerMap::GetKey()}, std::nullopt);
    const ServerMap map({two, {}, 8, keys});
    NS_TEST_EXPECT_MSG_EQ(map.GetServers(), 2, "servers");
    NS_TEST_EXPECT_MSG_EQ(map.HasLocalLinks(), true, "links");
    NS_TEST_EXPECT_MSG_EQ_TOL(map.GetLocalSum(), 3 * 10e9, 1, "three links of 10 GB/s");
    NS_TEST_EXPECT_MSG_EQ_TOL(map.GetRemoteRate(4), 2 * 25e9, 1, "two NICs of 25 GB/s");
    for (const std::string algorithm : {"nccl-tree", "multi-ring:balanced=true"})
    {
        CollectiveRequest request;
        request.ranks = 8;
        request.bytes = MIB;
        request.topology = &two;
        NS_TEST_EXPECT_MSG_EQ(VerifySchedule(BuildSchedule(algorithm, request)), "", algorithm);
    }
    // The chains of trees, too.
    CollectiveRequest request;
    request.ranks = 4;
    request.bytes = MIB;
    request.topology = &mesh;
    const CollectiveSchedule trees = BuildSchedule("nccl-tree", request);
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> sent;
    for (uint32_t rank = 0; rank < 4; rank++)
    {
        for (uint32_t i = 0; i < trees.GetActions(rank); i++)
        {
            const ScheduleAction action = trees.Get(rank, i);
            if (action.kind == ScheduleAction::Kind::SEND)
            {
                sent[{rank, action.peer}]++;
            }
        }
    }
    NS_TEST_EXPECT_MSG_EQ(sent.size(), 12, "both directions of all links");
    for (const auto& [pair, count] : sent)
    {
        NS_TEST_EXPECT_MSG_EQ(count, sent.begin()->second, pair.first << " to " << pair.second);
    }
    // A rack has no more channels than a server of 8, but smaller segments in its long chains.
    const TopologyGraph rack = Make("rail-optimized:gpus=72,servers=1", 72);
    request.ranks = 72;
    request.bytes = 64 * MIB;
    request.topology = &rack;
    request.segments = 0;
    const CollectiveSchedule chains = BuildSchedule("nccl-tree", request);
    NS_TEST_EXPECT_MSG_EQ(chains.chunks, 2 * 8, "two trees for each of 8 channels");
    NS_TEST_EXPECT_MSG_EQ(chains.segments, 64 * MIB / 16 / (32 << 10), "of 32 KiB");
    ExpectPart(GetRefusal([] { Make("rail-optimized:gpus=4,servers=1,nics=3", 4); }),
               "gpus=4,nics=3 (allowed: as many GPUs for each NIC)");
}

const Suite g_suite("nccl-choice",
                    Duration::QUICK,
                    {{"regions of AWS's plugin", TestPlugin},
                     {"chunks and expected times of NCCL", TestTuning},
                     {"choice and expected times of RCCL", TestRccl},
                     {"servers without a switch", TestMesh}});

} // namespace ns3::training::tests::nccl_choice_test
