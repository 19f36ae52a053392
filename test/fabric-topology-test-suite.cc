/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-test-common.h"
#include "test-case.h"

#include "ns3/shortest-paths.h"
#include "ns3/switch-device.h"
#include "ns3/topology-builder.h"

#include <map>

namespace ns3::training::tests::fabric_topology_test
{

/** Expected properties of a topology. */
struct Expected
{
    uint32_t hosts;                   ///< number of hosts
    uint32_t switches;                ///< number of switches
    uint32_t links;                   ///< number of links
    std::map<uint32_t, uint32_t> far; ///< by hops: hosts at that distance from host 0
    uint32_t paths;                   ///< equal-cost links, first switch to last host
};

/**
 * Counts, distances and equal-cost paths of a topology; its tables route frames between all pairs
 * of hosts on shortest paths.
 */
void
TestFabricTopology(const std::string& spec, uint32_t ranks, const Expected& expected)
{
    const Time delay = NanoSeconds(300);
    const TopologyGraph graph = BuildTopology(spec, ranks, DataRate("100Gbps"), delay);
    ShortestPaths paths(graph);
    NS_TEST_ASSERT_MSG_EQ(graph.hosts, expected.hosts, "hosts");
    NS_TEST_EXPECT_MSG_EQ(graph.switches, expected.switches, "switches");
    NS_TEST_EXPECT_MSG_EQ(graph.links.size(), expected.links, "links");
    NS_TEST_EXPECT_MSG_EQ(graph.GetNodes(), expected.hosts + expected.switches, "nodes");
    for (const auto& link : graph.links)
    {
        NS_TEST_EXPECT_MSG_EQ(link.rate, DataRate("100Gbps"), "rate");
        NS_TEST_EXPECT_MSG_EQ(link.delay, delay, "delay");
    }
    const uint32_t longest = expected.far.empty() ? 0 : expected.far.rbegin()->first;
    NS_TEST_EXPECT_MSG_EQ(paths.GetDiameter(graph.hosts),
                          TimeStep(longest * delay.GetTimeStep()),
                          "diameter");
    NS_TEST_EXPECT_MSG_EQ(paths.GetLongestPath(graph.hosts).links, longest, "longest path");
    NS_TEST_EXPECT_MSG_EQ(paths.GetDiameter(1).GetTimeStep(), 0, "diameter of one host");
    std::map<uint32_t, uint32_t> far;
    uint64_t hops = 0;
    std::vector<uint32_t> next;
    for (uint32_t b = 0; b < graph.hosts; b++)
    {
        paths.Search(b);
        uint32_t steps = 0;
        for (uint32_t a = 0; a < graph.hosts; a++)
        {
            uint32_t node = a;
            while (node != b)
            {
                paths.GetNextLinks(node, next);
                NS_TEST_ASSERT_MSG_EQ(next.empty(), false, "there is a way on");
                const uint32_t link = next.front();
                NS_TEST_ASSERT_MSG_EQ((graph.links[link].a == node || graph.links[link].b == node),
                                      true,
                                      "connected");
                node = graph.links[link].a == node ? graph.links[link].b : graph.links[link].a;
                NS_TEST_ASSERT_MSG_EQ((node >= graph.hosts || node == b), true, "no third host");
                hops++;
                steps += a == 0;
            }
        }
        if (b != 0)
        {
            far[steps]++;
        }
    }
    NS_TEST_EXPECT_MSG_EQ(far, expected.far, "distances from host 0");

    Fabric fabric = FabricHelper().Install(graph);
    if (expected.paths > 0)
    {
        NS_TEST_EXPECT_MSG_EQ(fabric.devicesOfSwitches[0]->GetTable().Get(graph.hosts - 1).size(),
                              expected.paths,
                              "equal paths to the last host");
    }
    uint64_t delivered = 0;
    for (uint32_t host = 0; host < graph.hosts; host++)
    {
        SetRdmaReceiver(fabric.devices[host], [&delivered, host](Frame* frame) {
            delivered += frame->destination == host;
            Frame::Free(frame);
        });
        for (uint32_t to = 0; to < graph.hosts; to++)
        {
            if (to != host)
            {
                fabric.devices[host]->GetPort().Send(MakeFrame(64, LOSSLESS, host, to));
            }
        }
    }
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(delivered, uint64_t{graph.hosts} * (graph.hosts - 1), "all pairs");
    NS_TEST_EXPECT_MSG_EQ(fabric.GetPacketHops(), hops, "every frame took a shortest path");
    NS_TEST_EXPECT_MSG_EQ(fabric.GetTotal().droppedFrames, 0, "nothing is dropped");
    // No route: dropped and counted, never a crash.
    fabric.devices[0]->GetPort().Send(MakeFrame(64, LOSSLESS, 0, graph.hosts + 7));
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(fabric.GetTotal().droppedFrames, 1, "no such endpoint");
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    Simulator::Destroy();
}

/** Links between switches take the rate of "uplink", those of hosts that of the network. */
void
TestFabricUplink()
{
    const TopologyGraph graph =
        BuildTopology("pods:uplink=1Tbps", 40, DataRate("100Gbps"), NanoSeconds(300));
    for (const auto& link : graph.links)
    {
        NS_TEST_EXPECT_MSG_EQ(link.rate,
                              DataRate(link.a < graph.hosts ? "100Gbps" : "1000Gbps"),
                              "node " << link.a);
    }
}

/** Invalid topologies are refused by one line with the value and the allowed values. */
void
TestFabricRefusal()
{
    struct Case
    {
        std::string spec;
        uint32_t ranks;
        std::vector<std::string> named; // parts that the text must contain
    };

    const std::vector<Case> cases{
        {"taurus", 4, {"unknown topology 'taurus'", "dragonfly, fat-tree, file, full-mesh"}},
        {"", 4, {"unknown topology ''", "allowed"}},
        {"fat-tree:k=3", 1, {"fat-tree:k=3", "allowed", "even"}},
        {"fat-tree:k=0", 1, {"'k=0' (allowed: ", "k=2 to 128"}},
        {"fat-tree:k=130", 1, {"'k=130' (allowed: ", "k=2 to 128"}},
        {"fat-tree:k=-4", 1, {"'k=-4' (allowed: "}},
        {"fat-tree:k=4.0", 1, {"'k=4.0' (allowed: "}},
        {"fat-tree:k", 1, {"'k' (allowed: ", "k=2 to 128"}},
        {"fat-tree:", 1, {"'' (allowed: "}},
        {"fat-tree:k=4,", 1, {"'' (allowed: "}},
        {"fat-tree:k=4,k=4", 1, {"'k=4' (allowed: ", "each once"}},
        {"fat-tree:K=4", 1, {"'K=4' (allowed: "}},
        {"fat-tree:leaves=4", 1, {"'leaves=4' (allowed: ", "k=2 to 128"}},
        {"fat-tree:k=nan", 1, {"'k=nan' (allowed: "}},
        {"fat-tree:k= 4", 1, {"'k= 4' (allowed: "}},
        {"fat-tree:k=4", 17, {"17 ranks", "fat-tree:k=4", "allowed: 1 to 16"}},
        {"single-switch:hosts=4", 5, {"5 ranks", "allowed: 1 to 4"}},
        {"single-switch:hosts=0", 1, {"'hosts=0' (allowed: ", "hosts=1 to 4096"}},
        {"leaf-spine:leaves=0,spines=2", 2, {"'leaves=0' (allowed: "}},
        {"leaf-spine:leaves=2,spines=0", 2, {"'spines=0' (allowed: ", "spines=1 to 1024"}},
        {"leaf-spine:leaves=2,hosts-per-leaf=3", 7, {"7 ranks", "allowed: 1 to 6"}},
        {"leaf-spine:leaves=99999999999999999999", 2, {"(allowed: "}},
        {"leaf-spine:planes=33", 2, {"'planes=33' (allowed: ", "planes=1 to 32"}},
        {"leaf-spine:uplink=999kbps", 2, {"(allowed: ", "a rate from 1Mbps up to 100Tbps"}},
        {"leaf-spine:uplink=101Tbps", 2, {"(allowed: "}},
        {"hierarchical-torus:torus-delay=101s", 2, {"(allowed: ", "a time up to 100s"}},
    };
    for (const Case& bad : cases)
    {
        const std::string error = GetRefusal(
            [&]() { BuildTopology(bad.spec, bad.ranks, DataRate("100Gbps"), NanoSeconds(500)); });
        for (const std::string& piece : bad.named)
        {
            ExpectPart(error, piece, bad.spec);
        }
        NS_TEST_EXPECT_MSG_EQ(error.find('\n'), std::string::npos, "one line");
    }

    for (const auto& [rate, delay, refused] : {std::tuple(999e3, 0, "rate 999kbps"),
                                               std::tuple(101e12, 0, "rate 101Tbps"),
                                               std::tuple(1e6, 101, "delay 101s")})
    {
        const std::string error = GetRefusal([rate = rate, delay = delay]() {
            BuildTopology("single-switch",
                          2,
                          DataRate(static_cast<uint64_t>(rate)),
                          Seconds(delay));
        });
        NS_TEST_EXPECT_MSG_EQ(error.find(std::string(refused) + " (allowed: "), 0, error);
    }

    TopologyGraph apart = MakeChain({Hop{1000000000, 1}, Hop{1000000000, 1}});
    apart.links.pop_back();
    ExpectPart(GetRefusal([&]() { FabricHelper().Install(apart); }),
               "cannot reach host",
               "a host without a link");
    // Traffic must not pass through a host.
    TopologyGraph through;
    through.name = "through";
    through.hosts = 3;
    through.links = {{0, 1, DataRate("1Gbps"), NanoSeconds(1)}};
    ExpectPart(GetRefusal([&]() { FabricHelper().Install(through); }),
               "cannot reach host",
               "three hosts, one link");
    Simulator::Destroy();
}

/**
 * ECMP: flows spread evenly over all shortest paths, independently at each tier, and a flow stays
 * on one path.
 */
void
TestFabricEcmp()
{
    constexpr uint32_t FLOWS = 2000;
    constexpr uint32_t EACH = 5;
    for (const std::string& spec : {std::string("leaf-spine:leaves=2,spines=4,hosts-per-leaf=2"),
                                    std::string("fat-tree:k=4")})
    {
        const TopologyGraph graph = BuildTopology(spec, 4, DataRate("100Gbps"), NanoSeconds(100));
        Fabric fabric = FabricHelper().Install(graph);
        const uint32_t last = graph.hosts - 1; // in another leaf, or another pod
        Arrivals arrivals;
        NoteArrivals(fabric.devices[last], arrivals);
        for (uint32_t i = 0; i < FLOWS * EACH; i++)
        {
            In(int64_t{i} * 20000, [&fabric, last, i]() {
                Frame* frame = MakeFrame(100, LOSSLESS, 0, last);
                frame->flowHash = HashFlow(0, last, i % FLOWS);
                frame->psn = i;
                fabric.devices[0]->GetPort().Send(frame);
            });
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(arrivals.size(), FLOWS * EACH, "all arrive");
        for (std::size_t i = 0; i < arrivals.size(); i++)
        {
            NS_TEST_ASSERT_MSG_EQ(arrivals[i].psn, i, "in order at this load");
        }
        // Spines, or cores: the last four switches.
        uint32_t used = 0;
        for (uint32_t i = graph.switches - 4; i < graph.switches; i++)
        {
            uint64_t frames = 0;
            SwitchDevice& device = *fabric.devicesOfSwitches[i];
            for (uint16_t port = 0; port < device.GetNPorts(); port++)
            {
                frames += device.GetPort(port).GetCounters().receivedFrames;
            }
            NS_TEST_EXPECT_MSG_EQ(frames % EACH, 0, "a flow keeps to one path");
            // Binomial with p = 1/4; five standard deviations.
            NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(frames / EACH),
                                      FLOWS / 4.0,
                                      5 * std::sqrt(FLOWS * 0.25 * 0.75),
                                      "flows on path " << i << " of " << spec);
            used += frames > 0;
        }
        NS_TEST_EXPECT_MSG_EQ(used, 4, "all paths are used");
        Simulator::Destroy();
    }
}

constexpr uint32_t SPINES = 4;

/** @return for each flow, by bit, the spines that carry it */
std::vector<uint32_t>
Draw(uint32_t seed, uint64_t run, uint32_t flows)
{
    RngSeedManager::SetSeed(seed);
    RngSeedManager::SetRun(run);
    const TopologyGraph graph = BuildTopology("leaf-spine:leaves=2,spines=4,hosts-per-leaf=1",
                                              2,
                                              DataRate("100Gbps"),
                                              NanoSeconds(100));
    Fabric fabric = FabricHelper().Install(graph);
    const auto count = [&fabric](uint32_t spine) {
        SwitchDevice& device = *fabric.devicesOfSwitches[2 + spine];
        return device.GetPort(0).GetCounters().receivedFrames;
    };
    std::vector<uint32_t> taken;
    for (uint32_t flow = 0; flow < flows; flow++)
    {
        std::vector<uint64_t> before;
        for (uint32_t spine = 0; spine < SPINES; spine++)
        {
            before.push_back(count(spine));
        }
        Frame* frame = MakeFrame(100, LOSSLESS, 0, 1);
        frame->flowHash = HashFlow(0, 1, flow);
        fabric.devices[0]->GetPort().Send(frame);
        Simulator::Run();
        uint32_t spines = 0;
        for (uint32_t spine = 0; spine < SPINES; spine++)
        {
            spines |= (count(spine) > before[spine]) << spine;
        }
        taken.push_back(spines);
    }
    Simulator::Destroy();
    return taken;
}

/** Every run and every seed draws other paths for the same flows, evenly; a run repeats exactly. */
void
TestFabricEcmpDraw()
{
    constexpr uint32_t RUNS = 400;
    const uint32_t seed = RngSeedManager::GetSeed();
    const uint64_t run = RngSeedManager::GetRun();
    std::map<uint32_t, uint32_t> paths; // of one flow over the runs
    uint32_t collisions = 0;            // of two flows
    for (uint32_t i = 1; i <= RUNS; i++)
    {
        const auto taken = Draw(1, i, 2);
        paths[taken[0]]++;
        collisions += taken[0] == taken[1];
    }
    // Binomial with p = 1/4; five standard deviations.
    const double deviation = 5 * std::sqrt(RUNS * 0.25 * 0.75);
    NS_TEST_ASSERT_MSG_EQ(paths.size(), SPINES, "every path is drawn");
    for (const auto& [spine, draws] : paths)
    {
        NS_TEST_EXPECT_MSG_EQ_TOL(draws, RUNS / 4.0, deviation, "spine " << spine);
    }
    NS_TEST_EXPECT_MSG_EQ_TOL(collisions, RUNS / 4.0, deviation, "collisions of two flows");

    constexpr uint32_t FLOWS = 64;
    const auto first = Draw(1, 1, FLOWS);
    NS_TEST_EXPECT_MSG_EQ(Draw(1, 1, FLOWS), first, "the same run");
    NS_TEST_EXPECT_MSG_NE(Draw(1, 2, FLOWS), first, "another run");
    NS_TEST_EXPECT_MSG_NE(Draw(2, 1, FLOWS), first, "another seed");
    NS_TEST_EXPECT_MSG_NE(Draw(1, 1ULL << 32 | 1, FLOWS), first, "a run above 2^32");
    RngSeedManager::SetSeed(seed);
    RngSeedManager::SetRun(run);
}

/** Planes share no switch; a host has a port in each; names say the plane. */
void
TestPlaneNames()
{
    const TopologyGraph graph =
        BuildTopology("leaf-spine:leaves=2,spines=3,hosts-per-leaf=2,planes=3",
                      4,
                      DataRate("100Gbps"),
                      NanoSeconds(100));
    NS_TEST_EXPECT_MSG_EQ(graph.hosts, 4, "hosts");
    NS_TEST_EXPECT_MSG_EQ(graph.switches, 15, "switches");
    NS_TEST_EXPECT_MSG_EQ(graph.links.size(), 30, "links");
    std::vector<uint32_t> ports(graph.hosts, 0);
    for (const auto& link : graph.links)
    {
        NS_TEST_EXPECT_MSG_EQ(graph.GetPlane(link.b),
                              (link.a < graph.hosts ? ports[link.a]++ : graph.GetPlane(link.a)),
                              "port p of a host is in plane p, and no link joins planes");
    }
    for (uint32_t node = 0; node < graph.GetNodes(); node++)
    {
        NS_TEST_EXPECT_MSG_EQ(graph.FindNode(graph.GetName(node)).value(), node, "its name");
    }
    NS_TEST_EXPECT_MSG_EQ(graph.GetName(4 + 5), "plane1.switch0", "in its plane");
    NS_TEST_EXPECT_MSG_EQ(graph.FindNode("switch5").value(), 4 + 5, "of all planes");
    const auto count = [&graph](const std::string& target) {
        return graph.FindLinks(target).size();
    };
    NS_TEST_EXPECT_MSG_EQ(count("*"), 30, "all");
    NS_TEST_EXPECT_MSG_EQ(count("plane2"), 10, "of a plane");
    NS_TEST_EXPECT_MSG_EQ(count("host3"), 3, "of a host");
    NS_TEST_EXPECT_MSG_EQ(count("host3-plane1"), 1, "of a port");
    NS_TEST_EXPECT_MSG_EQ(count("plane1.switch0-plane1.switch2"), 1, "a link");
    for (const std::string none : {"plane3",
                                   "plane1.switch5",
                                   "host3-plane3",
                                   "plane1.",
                                   "plane",
                                   "plane1-plane1",
                                   "plane0.switch0-plane1.switch2",
                                   "*-*"})
    {
        NS_TEST_EXPECT_MSG_EQ(count(none), 0, none);
    }
    const TopologyGraph one = BuildTopology("leaf-spine", 4, DataRate("1Gbps"), Time(0));
    NS_TEST_EXPECT_MSG_EQ(one.FindLinks("plane0").size(), 0, "a network without planes");
    NS_TEST_EXPECT_MSG_EQ(one.GetName(4), "switch0", "its names are as before");
}

std::vector<Case>
MakeCases()
{
    std::vector<Case> cases;
    const auto addFabricTopology = [&cases](const std::string& spec,
                                            uint32_t ranks,
                                            const Expected& expected) {
        cases.push_back({"topology " + spec, [=] { TestFabricTopology(spec, ranks, expected); }});
    };
    cases.push_back({"ECMP", TestFabricEcmp});
    cases.push_back({"ECMP of other runs and seeds", TestFabricEcmpDraw});
    addFabricTopology("single-switch", 1, {1, 1, 1, {}, 0});
    addFabricTopology("single-switch", 16, {16, 1, 16, {{2, 15}}, 1});
    addFabricTopology("single-switch:hosts=5", 2, {5, 1, 5, {{2, 4}}, 1});
    addFabricTopology("leaf-spine", 16, {16, 8, 32, {{2, 3}, {4, 12}}, 4});
    addFabricTopology("leaf-spine:leaves=3,spines=2", 8, {9, 5, 15, {{2, 2}, {4, 6}}, 2});
    addFabricTopology("leaf-spine:leaves=1,spines=3,hosts-per-leaf=4", 2, {4, 4, 7, {{2, 3}}, 1});
    addFabricTopology("pods", 320, {320, 56, 480, {{2, 15}, {4, 48}, {6, 256}}, 4});
    addFabricTopology("pods:pods=2,racks=3,aggregations=2,cores=1",
                      7,
                      {12, 12, 28, {{2, 1}, {4, 4}, {6, 6}}, 2});
    addFabricTopology("fat-tree:k=2", 2, {2, 5, 6, {{6, 1}}, 1});
    addFabricTopology("fat-tree", 16, {16, 20, 48, {{2, 1}, {4, 2}, {6, 12}}, 2});
    addFabricTopology("fat-tree:k=8", 16, {128, 80, 384, {{2, 3}, {4, 12}, {6, 112}}, 4});
    cases.push_back({"planes", TestPlaneNames});
    cases.push_back({"rates of links between switches", TestFabricUplink});
    cases.push_back({"bad topologies are refused", TestFabricRefusal});
    return cases;
}

const Suite g_suite("fabric-topology", Duration::QUICK, MakeCases());

} // namespace ns3::training::tests::fabric_topology_test
