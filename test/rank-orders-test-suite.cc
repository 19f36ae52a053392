/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective/disjoint-rings.h"
#include "collective/gather-synthesizer.h"
#include "collective/rank-orders.h"
#include "test-case.h"

#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/topology-builder.h"
#include "ns3/topology-graph.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace ns3::training::tests::rank_orders_test
{

/// Order of hosts.
using Order = std::vector<uint32_t>;

/** @return the topology, with links of 100 Gbit/s and 300 ns */
TopologyGraph
Build(const std::string& spec, uint32_t ranks = 1)
{
    return BuildTopology(spec, ranks, DataRate("100Gbps"), NanoSeconds(300));
}

/**
 * @param order some numbers
 * @param count expected number of them
 * @return whether it is a permutation of 0 to count - 1
 */
bool
IsPermutation(Order order, uint32_t count)
{
    Order numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0);
    std::sort(order.begin(), order.end());
    return order == numbers;
}

void
ExpectRing(const std::string& spec, const Order& order)
{
    NS_TEST_EXPECT_MSG_EQ(GetRingOrder(Build(spec, 16)), order, spec);
}

/** Rank orders equal those of an independent implementation of the published programs. */
void
TestPublishedOrders()
{
    const Order snake{0, 1, 2, 3, 7, 11, 15, 14, 10, 6, 5, 9, 13, 12, 8, 4};
    ExpectRing("torus:4x4", snake);
    ExpectRing("mesh:4x4", snake);
    ExpectRing("two-switch", {0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15});
    ExpectRing("m-ary-n-tree:m=4,n=2", {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15});
    ExpectRing("bigraph:m=4,n=8", {0, 16, 4, 20, 8,  24, 12, 28, 1, 21, 13, 17, 9,  29, 5, 25,
                                   2, 26, 6, 30, 10, 18, 14, 22, 3, 31, 15, 27, 11, 23, 7, 19});
    ExpectRing("single-switch", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
    const Order small{0, 8, 10, 2, 12, 4, 6, 14, 9, 3, 5, 11, 7, 13, 15, 1};
    NS_TEST_EXPECT_MSG_EQ(GetHdrmOrder(2, 8), small, "HDRM(2,8)");
    const Order large{0,  16, 20, 4,  24, 8,  12, 28, 17, 5,  9,  21, 13, 25, 29, 1,
                      18, 10, 14, 22, 2,  26, 30, 6,  15, 19, 23, 3,  27, 7,  11, 31};
    NS_TEST_EXPECT_MSG_EQ(GetHdrmOrder(4, 8), large, "HDRM(4,8)");
}

/** HDRM's exchanges are between an upper and a lower switch; a step uses no pair twice. */
void
TestHdrmPairs()
{
    const std::vector<std::pair<uint32_t, uint32_t>>
        sizes{{1, 2}, {1, 4}, {2, 4}, {2, 8}, {4, 8}, {4, 16}, {8, 16}, {16, 32}};
    for (const auto& [m, n] : sizes)
    {
        const Order order = GetHdrmOrder(m, n);
        NS_TEST_EXPECT_MSG_EQ(IsPermutation(order, m * n), true, "each host once");
        for (uint32_t distance = 1; distance < m * n; distance *= 2)
        {
            std::set<std::pair<uint32_t, uint32_t>> used;
            for (uint32_t rank = 0; rank < m * n; rank++)
            {
                const uint32_t from = order[rank] / m;
                const uint32_t to = order[rank ^ distance] / m;
                NS_TEST_EXPECT_MSG_EQ((from < n / 2), (to >= n / 2), "sides");
                NS_TEST_EXPECT_MSG_EQ(used.insert({from, to}).second,
                                      true,
                                      "m=" << m << ", n=" << n << ": switches " << from << " and "
                                           << to << " at distance " << distance);
            }
        }
    }
}

bool
AreNeighbors(const std::vector<uint32_t>& sides, bool wraps, uint32_t a, uint32_t b)
{
    uint32_t differing = 0;
    bool near = false;
    for (std::size_t i = sides.size(); i-- > 0;)
    {
        const uint32_t x = a % sides[i];
        const uint32_t y = b % sides[i];
        const uint32_t distance = x > y ? x - y : y - x;
        differing += distance > 0;
        near |= distance == 1 || (wraps && distance > 0 && distance == sides[i] - 1);
        a /= sides[i];
        b /= sides[i];
    }
    return differing == 1 && near;
}

/** Walks through grids visit each node once, step to neighbors, and are closed where possible. */
void
TestGridWalk()
{
    const std::vector<std::vector<uint32_t>> grids{
        {2},    {3},       {8},       {2, 2},    {4, 4},    {3, 4},       {4, 3},
        {2, 5}, {5, 2},    {3, 3},    {3, 5},    {5, 3},    {7, 7},       {1, 6},
        {6, 1}, {2, 3, 3}, {3, 3, 2}, {3, 3, 3}, {3, 5, 7}, {2, 2, 2, 2}, {4, 4, 4}};
    for (const auto& sides : grids)
    {
        uint32_t nodes = 1;
        uint32_t wide = 0;
        std::string name;
        for (uint32_t side : sides)
        {
            nodes *= side;
            wide += side > 1;
            name += "x" + std::to_string(side);
        }
        for (bool wraps : {false, true})
        {
            const GridWalk walk = WalkGrid(sides, wraps);
            NS_TEST_EXPECT_MSG_EQ(IsPermutation(walk.nodes, nodes), true, name);
            const bool canClose = wraps || nodes == 2 || (wide > 1 && nodes % 2 == 0);
            NS_TEST_EXPECT_MSG_EQ(walk.closed, canClose, name << ", wraps: " << wraps);
            for (uint32_t i = 0; i + (walk.closed ? 0 : 1) < nodes; i++)
            {
                NS_TEST_EXPECT_MSG_EQ(
                    AreNeighbors(sides, wraps, walk.nodes[i], walk.nodes[(i + 1) % nodes]),
                    true,
                    name << ", wraps: " << wraps << ", place " << i);
            }
        }
    }
}

void
Check(const std::string& spec, std::size_t expected)
{
    const TopologyGraph topology = Build(spec);
    const auto rings = GetDisjointRings(topology);
    NS_TEST_EXPECT_MSG_EQ(rings.size(), expected, spec << ": rings");
    // Adjacent routers.
    std::set<std::pair<uint32_t, uint32_t>> links;
    for (const auto& link : topology.links)
    {
        links.insert({link.a, link.b});
        links.insert({link.b, link.a});
    }
    for (const Order& ring : rings)
    {
        NS_TEST_EXPECT_MSG_EQ(IsPermutation(ring, topology.hosts), true, spec);
        for (uint32_t i = 0; i < topology.hosts; i++)
        {
            const uint32_t from = topology.hosts + ring[i];
            const uint32_t to = topology.hosts + ring[(i + 1) % topology.hosts];
            NS_TEST_EXPECT_MSG_EQ(links.erase({from, to}),
                                  1,
                                  spec << ": from " << from << " to " << to);
        }
    }
}

/// Rings through servers: number of sends and receives of each NIC.
void
CheckServers(uint32_t gpus, uint32_t servers, bool onRails)
{
    const std::string spec =
        "rail-optimized:gpus=" + std::to_string(gpus) + ",servers=" + std::to_string(servers);
    const auto rings = GetDisjointRings(Build(spec, 2));
    NS_TEST_EXPECT_MSG_EQ(rings.size(), gpus, spec << ": rings");
    Order sent(gpus * servers, 0);
    Order received(gpus * servers, 0);
    for (const Order& ring : rings)
    {
        NS_TEST_EXPECT_MSG_EQ(IsPermutation(ring, gpus * servers), true, spec);
        for (uint32_t i = 0; i < ring.size(); i++)
        {
            const uint32_t from = ring[i];
            const uint32_t to = ring[(i + 1) % ring.size()];
            if (from / gpus != to / gpus)
            {
                sent[from]++;
                received[to]++;
                NS_TEST_EXPECT_MSG_EQ((!onRails || from % gpus == to % gpus),
                                      true,
                                      spec << ": leaves the rail from " << from);
            }
        }
    }
    const Order once(gpus * servers, 1);
    NS_TEST_EXPECT_MSG_EQ(sent, once, spec << ": each NIC sends for one ring");
    NS_TEST_EXPECT_MSG_EQ(received, once, spec << ": and receives for one");
}

/** Rings of a topology share no link in the same direction, and their number is the maximum. */
void
TestDisjointRings()
{
    Check("ring:8", 2);
    Check("torus:3x3", 4);
    Check("torus:4x4", 4);
    Check("torus:3x7", 4);
    Check("torus:16x16", 4);
    Check("torus:4x4x4", 6);
    Check("torus:1x5x4", 4);
    Check("torus:2x4", 2);
    Check("torus:2x2", 2);
    Check("mesh:4x4", 2);
    Check("mesh:3x4", 2);
    for (uint32_t hosts : {3, 4, 5, 6, 7, 8, 16})
    {
        Check("full-mesh:hosts=" + std::to_string(hosts), (hosts - 1) / 2 * 2);
    }
    CheckServers(4, 2, true);
    CheckServers(4, 3, true);
    CheckServers(8, 8, true);
    CheckServers(3, 5, true);
    CheckServers(2, 3, false);
    CheckServers(1, 4, true);
    for (const std::string spec : {"mesh:3x3", "bigraph:m=2,n=8", "leaf-spine", "ring:2"})
    {
        const TopologyGraph topology = Build(spec, 2);
        const auto rings = GetDisjointRings(topology);
        NS_TEST_ASSERT_MSG_EQ(rings.size(), 1, spec);
        NS_TEST_EXPECT_MSG_EQ(rings[0], GetRingOrder(topology), spec);
    }
    // A group in any server of eight has eight rings.
    const TopologyGraph servers = Build("rail-optimized:gpus=8,servers=2", 2);
    for (const Order& hosts : {Order{0, 1, 2, 3}, Order{9, 11, 13, 15}})
    {
        const auto local = GetLocalRings(servers, hosts, false);
        NS_TEST_EXPECT_MSG_EQ(local.size(), 8, "rings");
        for (Order ring : local)
        {
            std::rotate(ring.begin(), std::min_element(ring.begin(), ring.end()), ring.end());
            NS_TEST_EXPECT_MSG_EQ(ring, hosts, "in the order of hosts");
        }
    }
    const auto rings = GetDisjointRings(Build("m-ary-n-tree:m=4,n=2"));
    NS_TEST_ASSERT_MSG_EQ(rings.size(), 1, "tree");
    NS_TEST_EXPECT_MSG_EQ(rings[0][5], 5, "tree: by number");
}

/** BiGraph's ring uses each pair of an upper and a lower switch once in each direction. */
void
TestBiGraphRing()
{
    const std::vector<std::pair<uint32_t, uint32_t>>
        sizes{{1, 2}, {2, 4}, {2, 6}, {3, 6}, {2, 8}, {4, 8}, {5, 10}, {8, 16}};
    for (const auto& [m, n] : sizes)
    {
        const std::string spec = "bigraph:m=" + std::to_string(m) + ",n=" + std::to_string(n);
        const Order order = GetRingOrder(Build(spec));
        NS_TEST_EXPECT_MSG_EQ(IsPermutation(order, m * n), true, spec);
        std::set<std::pair<uint32_t, uint32_t>> used;
        for (uint32_t i = 0; i < m * n; i++)
        {
            const uint32_t from = order[i] / m;
            const uint32_t to = order[(i + 1) % (m * n)] / m;
            NS_TEST_EXPECT_MSG_EQ((from < n / 2), (to >= n / 2), spec << ": sides");
            NS_TEST_EXPECT_MSG_EQ(used.insert({from, to}).second, true, spec << ": " << i);
        }
    }
}

/**
 * Synthesized all-gathers deliver each chunk to each rank once, from a rank that has it, within the
 * rate of each link. They are near the bound where it is known.
 */
struct GatherSynthesisTestCase
{
    /// Size of a chunk, bytes.
    static constexpr uint64_t BYTES = 12500;

    static std::vector<ChunkTransfer> Synthesize(const TopologyGraph& topology,
                                                 const Order& hosts,
                                                 uint32_t chunksPerRank,
                                                 uint32_t runs,
                                                 uint32_t seed,
                                                 std::vector<TransferPath>* paths = nullptr)
    {
        return SynthesizeAllGather(
            {topology, hosts, chunksPerRank, BYTES, runs, seed, paths, nullptr});
    }

    static uint64_t GetEnd(const std::vector<ChunkTransfer>& transfers)
    {
        uint64_t end = 0;
        for (const auto& transfer : transfers)
        {
            end = std::max(end, transfer.end);
        }
        return end;
    }

    void CheckTransfer(const TopologyGraph& topology,
                       const Order& hosts,
                       const ChunkTransfer& transfer,
                       const TransferPath& path)
    {
        uint32_t node = hosts[transfer.source];
        uint64_t rate = ~uint64_t{0};
        uint64_t delay = 0;
        for (uint32_t directed : path)
        {
            const auto& link = topology.links[directed / 2];
            NS_TEST_EXPECT_MSG_EQ(node, (directed % 2 == 0 ? link.a : link.b), "links in a row");
            node = TopologyGraph::GetPeer(link, node);
            NS_TEST_EXPECT_MSG_EQ((node >= topology.hosts || node == hosts[transfer.target]),
                                  true,
                                  "a host forwards");
            rate = std::min(rate, link.rate.GetBitRate());
            delay += static_cast<uint64_t>(link.delay.GetPicoSeconds());
        }
        NS_TEST_EXPECT_MSG_EQ(node, hosts[transfer.target], "end of the way");
        NS_TEST_EXPECT_MSG_EQ(transfer.end - transfer.start,
                              delay + (BYTES * 8000000000000 + rate - 1) / rate,
                              "time of a transfer");
    }

    void Check(const std::string& name, const TopologyGraph& topology, const Order& hosts)
    {
        const auto ranks = static_cast<uint32_t>(hosts.size());
        const uint32_t chunksPerRank = 2;
        std::vector<TransferPath> paths;
        const auto transfers = Synthesize(topology, hosts, chunksPerRank, 1, 7, &paths);
        NS_TEST_ASSERT_MSG_EQ(paths.size(), transfers.size(), name << ": paths");
        NS_TEST_EXPECT_MSG_EQ(transfers.size(),
                              uint64_t{ranks} * (ranks - 1) * chunksPerRank,
                              name << ": each rank gets each chunk once");
        std::map<std::pair<uint32_t, uint32_t>, uint64_t> since; // arrival time, by rank and chunk
        for (uint32_t chunk = 0; chunk < ranks * chunksPerRank; chunk++)
        {
            since[{chunk / chunksPerRank, chunk}] = 0;
        }
        // Changes of the used rate, by link and time.
        std::map<uint32_t, std::map<uint64_t, int64_t>> use;
        uint64_t before = 0;
        for (std::size_t i = 0; i < transfers.size(); i++)
        {
            const ChunkTransfer& transfer = transfers[i];
            CheckTransfer(topology, hosts, transfer, paths[i]);
            NS_TEST_EXPECT_MSG_LT_OR_EQ(before, transfer.start, name << ": order");
            before = transfer.start;
            const auto there = since.find({transfer.source, transfer.chunk});
            NS_TEST_ASSERT_MSG_EQ((there == since.end()), false, name << ": never had");
            NS_TEST_EXPECT_MSG_LT_OR_EQ(there->second, transfer.start, name << ": too early");
            NS_TEST_EXPECT_MSG_EQ(
                since.insert({{transfer.target, transfer.chunk}, transfer.end}).second,
                true,
                name << ": twice");
            uint64_t rate = ~uint64_t{0};
            for (uint32_t directed : paths[i])
            {
                rate = std::min(rate, topology.links[directed / 2].rate.GetBitRate());
            }
            for (uint32_t directed : paths[i])
            {
                use[directed][transfer.start] += static_cast<int64_t>(rate);
                use[directed][transfer.end] -= static_cast<int64_t>(rate);
            }
        }
        for (const auto& [directed, changes] : use)
        {
            int64_t sum = 0;
            for (const auto& [time, change] : changes)
            {
                sum += change;
                NS_TEST_EXPECT_MSG_LT_OR_EQ(
                    sum,
                    static_cast<int64_t>(topology.links[directed / 2].rate.GetBitRate()),
                    name << ": too much on a link");
            }
        }
    }

    void Run()
    {
        for (const std::string& spec : Split("single-switch|"
                                             "leaf-spine:leaves=4,spines=2,uplink=50Gbps|"
                                             "fat-tree:k=4|bigraph:m=2,n=4|"
                                             "dragonfly:a=2,p=2,h=1|full-mesh|ring|torus:3x4|"
                                             "mesh:3x3|torus:2x2x3|"
                                             "hierarchical-torus:2x1,nodes=4|"
                                             "local-switch-torus:2x1,nodes=4,switches=2|"
                                             "rail-optimized:gpus=4,servers=2"))
        {
            const TopologyGraph topology = Build(spec, 8);
            Order hosts(topology.hosts);
            std::iota(hosts.rbegin(), hosts.rend(), 0); // rank 0 on the last host
            Check(spec, topology, hosts);
            hosts.resize(hosts.size() / 2 + 1);
            Check(spec + ", some hosts", topology, hosts);
        }

        // All links of a ring of 5 are always busy: 4 chunks over 2 links, 2 steps.
        const TopologyGraph ring = Build("ring:5");
        const Order five{0, 1, 2, 3, 4};
        // 12500 bytes at 100 Gbit/s take 1 us, plus a delay of 302 ns with two local links.
        NS_TEST_EXPECT_MSG_EQ(GetEnd(Synthesize(ring, five, 1, 1, 1)), 2 * 1302000, "ring of 5");
        const Order all{0, 1, 2, 3, 4, 5, 6, 7};
        NS_TEST_EXPECT_MSG_EQ(GetEnd(Synthesize(Build("full-mesh:hosts=8"), all, 1, 1, 1)),
                              1302000,
                              "full mesh: all at once");
        // More runs never give a worse result; equal seeds give equal results.
        const TopologyGraph torus = Build("torus:4x4");
        Order sixteen(16);
        std::iota(sixteen.begin(), sixteen.end(), 0);
        const auto once = Synthesize(torus, sixteen, 1, 1, 5);
        const auto again = Synthesize(torus, sixteen, 1, 1, 5);
        const auto best = Synthesize(torus, sixteen, 1, 20, 5);
        NS_TEST_EXPECT_MSG_EQ(GetEnd(once), GetEnd(again), "deterministic");
        NS_TEST_EXPECT_MSG_EQ((std::equal(once.begin(),
                                          once.end(),
                                          again.begin(),
                                          [](const auto& a, const auto& b) {
                                              return a.chunk == b.chunk && a.source == b.source &&
                                                     a.target == b.target;
                                          })),
                              true,
                              "deterministic");
        NS_TEST_EXPECT_MSG_LT_OR_EQ(GetEnd(best), GetEnd(once), "best of 20");
        // 15 chunks over 4 links take at least 4 steps; MULTITREE takes 5.
        NS_TEST_EXPECT_MSG_LT_OR_EQ(4 * uint64_t{1302000}, GetEnd(best), "bound");
        NS_TEST_EXPECT_MSG_LT_OR_EQ(GetEnd(best), 5 * uint64_t{1302000}, "as good as MULTITREE");

        // The fastest path to rank 2 from its own switch 4 is over its other switch, 5.
        const DataRate fast("100Gbps");
        TopologyGraph around;
        around.hosts = 3;
        around.switches = 3;
        around.links = {{0, 3, fast, Time(0)},
                        {1, 5, fast, Time(0)},
                        {2, 4, DataRate("3Gbps"), Time(0)},
                        {2, 5, fast, Time(0)},
                        {4, 3, fast, Time(0)},
                        {5, 4, fast, Time(0)}};
        Check("a switch of the target that is not next to it", around, {0, 1, 2});

        TopologyGraph torn;
        torn.hosts = 2;
        const std::string error = GetRefusal([&] { Synthesize(torn, {0, 1}, 1, 1, 1); });
        ExpectPart(error, "not all ranks can be reached");
    }
};

const Suite g_suite("rank-orders",
                    Duration::QUICK,
                    {{"orders of rings and of HDRM are the published ones", TestPublishedOrders},
                     {"HDRM: a link of its own for each exchange", TestHdrmPairs},
                     {"ways through grids", TestGridWalk},
                     {"rings that share no link", TestDisjointRings},
                     {"the ring of a BiGraph", TestBiGraphRing},
                     {"synthesized all-gathers", RunTest<GatherSynthesisTestCase>}});

} // namespace ns3::training::tests::rank_orders_test
