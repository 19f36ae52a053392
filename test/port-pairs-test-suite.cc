/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "test-case.h"

#include "ns3/config.h"
#include "ns3/simulator.h"
#include "ns3/topology-builder.h"
#include "ns3/training-cluster.h"
#include "ns3/training-jitter.h"

#include <algorithm>
#include <numeric>

namespace ns3::training::tests::port_pairs_test
{

/** ports */

/** @return a topology with links of 100 Gbit/s and 300 ns by default */
TopologyGraph
Build(const std::string& spec)
{
    return BuildTopology(spec, 1, DataRate("100Gbps"), NanoSeconds(300));
}

/** A received message. */
struct Arrival
{
    uint64_t tag;
    uint64_t bytes;
    Ptr<ByteBuffer> payload;
    double time;
};

/** Sends messages of ascending tags from rank 0 to another rank; returns the arrivals. */
std::vector<Arrival>
Exchange(const Cluster& cluster,
         const std::vector<std::pair<uint32_t, Ptr<ByteBuffer>>>& messages,
         uint64_t bytes)
{
    std::vector<Arrival> arrivals;
    std::vector<Ptr<MessageTransport>> transports;
    for (uint32_t rank = 0; rank < cluster.GetRanks(); rank++)
    {
        transports.push_back(cluster.GetTransport(rank));
        transports.back()->SetMessageHandler([&](uint32_t, const Message& message) {
            arrivals.push_back(
                {message.tag, message.bytes, message.payload, Simulator::Now().GetSeconds()});
        });
    }
    for (std::size_t i = 0; i < messages.size(); i++)
    {
        transports[0]->Send(messages[i].first, {i, bytes, messages[i].second});
    }
    Simulator::Run();
    return arrivals;
}

/** A port pair of two ranks: rails of both, and the rate in Gbit/s. */
struct Expected
{
    std::string spec;
    uint32_t from;
    uint32_t to;
    std::vector<std::pair<uint32_t, uint32_t>> rails;
    uint64_t gbps;
};

void
Check(const Fabric& fabric, FabricPortPairs& portPairs, const Expected& expected)
{
    const std::vector<PortPair> found = portPairs.GetPortPairs(expected.from, expected.to);
    const std::string what = expected.spec + " from " + std::to_string(expected.from) + " to " +
                             std::to_string(expected.to);
    NS_TEST_ASSERT_MSG_EQ(found.size(), expected.rails.size(), what);
    for (std::size_t i = 0; i < found.size(); i++)
    {
        const auto& [own, other] = expected.rails[i];
        NS_TEST_EXPECT_MSG_EQ(found[i].rail, own, what);
        NS_TEST_EXPECT_MSG_EQ(found[i].localEndpoint,
                              fabric.rails[expected.from][own]->GetEndpoint(),
                              what);
        NS_TEST_EXPECT_MSG_EQ(found[i].remoteEndpoint,
                              fabric.rails[expected.to][other]->GetEndpoint(),
                              what);
        NS_TEST_EXPECT_MSG_EQ(found[i].pathRate, expected.gbps * 1000000000, what);
        NS_TEST_EXPECT_MSG_EQ(portPairs.GetRank(found[i].remoteEndpoint), expected.to, what);
    }
}

void
CheckMirrored(FabricPortPairs& portPairs, uint32_t a, uint32_t b, const std::string& spec)
{
    const auto there = portPairs.GetPortPairs(a, b);
    const auto back = portPairs.GetPortPairs(b, a);
    NS_TEST_ASSERT_MSG_EQ(there.size(), back.size(), spec);
    for (std::size_t i = 0; i < there.size(); i++)
    {
        NS_TEST_EXPECT_MSG_EQ(there[i].localEndpoint, back[i].remoteEndpoint, spec);
        NS_TEST_EXPECT_MSG_EQ(there[i].remoteEndpoint, back[i].localEndpoint, spec);
        NS_TEST_EXPECT_MSG_EQ(there[i].rate, back[i].rate, spec);
    }
}

/** Choice of port pairs, and the rates of their paths. */
void
TestPortPairChoice()
{
    // In rail-optimized servers port 0 is the NIC, port 1 leads to the local switch.
    const std::vector<Expected> cases{
        {"single-switch:hosts=4", 0, 3, {{0, 0}}, 100},
        {"leaf-spine:hosts-per-leaf=2,uplink=40Gbps", 0, 1, {{0, 0}}, 100},
        {"leaf-spine:hosts-per-leaf=2,uplink=40Gbps", 0, 2, {{0, 0}}, 40},
        {"torus:3x3", 0, 1, {{0, 0}}, 100},
        {"torus:3x3", 0, 8, {{0, 0}}, 100},
        {"hierarchical-torus:2x2,nodes=4", 0, 1, {{0, 0}}, 512},
        {"hierarchical-torus:2x2,nodes=4", 0, 4, {{0, 0}}, 256},
        {"hierarchical-torus:2x2,nodes=4", 0, 5, {{0, 0}}, 256},
        {"rail-optimized:gpus=4,servers=2", 0, 3, {{1, 1}}, 3600},
        {"rail-optimized:gpus=4,servers=2", 0, 4, {{0, 0}}, 100},
        {"rail-optimized:gpus=4,servers=2", 0, 5, {{0, 0}}, 100},
        {"rail-optimized:gpus=4,servers=2,spines=0", 0, 3, {{1, 1}}, 3600},
        {"rail-optimized:gpus=4,servers=2,spines=0", 0, 4, {{0, 0}}, 100},
        {"rail-optimized:gpus=4,servers=2,spines=0", 0, 5, {{1, 0}}, 100},
        {"rail-optimized:gpus=4,servers=2,spines=0", 5, 0, {{0, 1}}, 100},
        {"local-switch-torus:1x1,nodes=4,switches=3", 0, 2, {{0, 0}, {1, 1}, {2, 2}}, 512},
        {"local-switch-torus:2x1,nodes=2,switches=2", 0, 3, {{0, 0}, {1, 1}}, 256},
    };
    for (const Expected& expected : cases)
    {
        const Fabric fabric = FabricHelper().Install(Build(expected.spec));
        FabricPortPairs portPairs(fabric, fabric.topology.hosts);
        Check(fabric, portPairs, expected);
        for (uint32_t a = 0; a < portPairs.GetRanks(); a++)
        {
            for (uint32_t b = 0; b < a; b++)
            {
                CheckMirrored(portPairs, a, b, expected.spec);
            }
        }
        NS_TEST_EXPECT_MSG_EQ(portPairs.GetRank(static_cast<uint32_t>(fabric.devices.size())),
                              portPairs.GetRanks(),
                              "no endpoint of a rank");
        Simulator::Destroy();
    }

    // Hosts with three and with two ports; the last link of each is too slow or too far.
    TopologyGraph graph;
    graph.name = "by hand";
    graph.hosts = 2;
    graph.switches = 2;
    const DataRate fast("100Gbps");
    graph.links = {{0, 2, fast, NanoSeconds(1)},
                   {0, 2, fast, NanoSeconds(1)},
                   {0, 2, DataRate("50Gbps"), NanoSeconds(1)},
                   {1, 2, fast, NanoSeconds(1)},
                   {1, 3, fast, NanoSeconds(1)},
                   {2, 3, fast, NanoSeconds(1)}};
    const Fabric fabric = FabricHelper().Install(graph);
    FabricPortPairs portPairs(fabric, 2);
    Check(fabric, portPairs, {"by hand", 0, 1, {{0, 0}, {1, 0}}, 100});
    CheckMirrored(portPairs, 0, 1, "by hand");
    Simulator::Destroy();
}

/** Messages in turns, or in parts, use all port pairs concurrently, and arrive complete. */
void
TestPortPairUse(const std::string& transport, const std::string& portPairs)
{
    constexpr uint32_t SWITCHES = 4;
    const bool stripe = portPairs == "stripe";
    const uint64_t bytes = stripe ? 4000004 : 1000000;
    ClusterOptions options;
    options.ranks = 4;
    options.topology = "local-switch-torus:1x1,nodes=4,local-rate=100Gbps";
    options.transport = transport;
    options.portPairs = portPairs;
    {
        const Cluster cluster(options);
        std::vector<std::pair<uint32_t, Ptr<ByteBuffer>>> messages;
        std::vector<Ptr<ByteBuffer>> contents;
        for (uint32_t i = 0; i < (stripe ? 1 : SWITCHES); i++)
        {
            auto buffer = Create<ByteBuffer>();
            for (uint64_t at = 0; at < bytes; at++)
            {
                buffer->bytes.push_back(static_cast<uint8_t>(at * 37 + at / 251 + i));
            }
            contents.push_back(buffer);
            messages.emplace_back(2, buffer);
        }
        const auto arrivals = Exchange(cluster, messages, bytes);
        NS_TEST_ASSERT_MSG_EQ(arrivals.size(), messages.size(), "messages");
        for (const Arrival& arrival : arrivals)
        {
            NS_TEST_EXPECT_MSG_EQ(arrival.bytes, bytes, "size");
            NS_TEST_ASSERT_MSG_EQ((arrival.payload ? 1 : 0), 1, "real");
            NS_TEST_EXPECT_MSG_EQ(arrival.payload->bytes, contents[arrival.tag]->bytes, "contents");
            // 1 MB over each of the four switches: 80 us, headers, and TCP's start.
            NS_TEST_EXPECT_MSG_GT(arrival.time, 80e-6, "not faster than four portPairs");
            NS_TEST_EXPECT_MSG_LT(arrival.time, 110e-6, "four portPairs at once");
        }
        const Fabric& fabric = cluster.GetFabric();
        for (uint32_t i = 0; i < SWITCHES; i++)
        {
            uint64_t received = 0;
            const auto& device = fabric.devicesOfSwitches[4 + i];
            for (uint16_t port = 0; port < device->GetNPorts(); port++)
            {
                received += device->GetPort(port).GetCounters().receivedBytes;
            }
            NS_TEST_EXPECT_MSG_GT(received, 1000000, "local switch " << i);
            NS_TEST_EXPECT_MSG_LT(received, 1060000, "local switch " << i);
        }
    }
    Simulator::Destroy();
}

/** With striped port pairs, a small message is not split, and a barrier's empty message arrives. */
void
TestSmallStripes()
{
    for (const std::string transport : {"rdma", "tcp"})
    {
        for (const uint64_t bytes : {0, 1, 4095, 8191, 8192, 12289})
        {
            ClusterOptions options;
            options.ranks = 3;
            options.topology = "local-switch-torus:1x1,nodes=3";
            options.transport = transport;
            options.portPairs = "stripe";
            {
                const Cluster cluster(options);
                const auto arrivals =
                    Exchange(cluster, {{1, nullptr}, {2, nullptr}, {1, nullptr}}, bytes);
                NS_TEST_ASSERT_MSG_EQ(arrivals.size(), 3, transport << " " << bytes);
                uint64_t tags = 0;
                for (const Arrival& arrival : arrivals)
                {
                    NS_TEST_EXPECT_MSG_EQ(arrival.bytes, bytes, transport);
                    NS_TEST_EXPECT_MSG_EQ((arrival.payload ? 1 : 0), 0, "virtual");
                    tags |= 1 << arrival.tag;
                }
                NS_TEST_EXPECT_MSG_EQ(tags, 7, "each once");
            }
            Simulator::Destroy();
        }
    }
}

/** A message from a host at 100 Gbit/s over an uplink at 25 Gbit/s. */
void
CheckSlowLink()
{
    for (const bool isCapped : {false, true})
    {
        ClusterOptions options;
        options.ranks = 2;
        options.topology = "leaf-spine:leaves=2,spines=1,uplink=25Gbps";
        options.congestionControl = "none";
        options.attributes["ns3::training::RdmaNic::PathRateCap"] = isCapped ? "true" : "false";
        {
            const Cluster cluster(options);
            const uint64_t bytes = 4096 * 500;
            const auto arrivals = Exchange(cluster, {{1, nullptr}}, bytes);
            NS_TEST_ASSERT_MSG_EQ(arrivals.size(), 1, "arrives");
            NS_TEST_EXPECT_MSG_EQ_TOL(arrivals[0].time,
                                      500 * (4096 + 82) * 8 / 25e9,
                                      5e-6,
                                      "the uplink is the bottleneck in any case");
            const PortCounters total = cluster.GetFabric().GetTotal();
            // Three quarters of the message wait in the leaf, unless the NIC knows the path.
            const double wait = 0.75 * static_cast<double>(bytes);
            NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(total.peakQueueBytes),
                                      (isCapped ? 0.0 : wait),
                                      0.05 * static_cast<double>(bytes),
                                      "longest queue");
            NS_TEST_EXPECT_MSG_EQ((total.markedFrames > 0), !isCapped, "marks");
        }
        Simulator::Destroy();
    }
}

/**
 * A queue pair sends at the rate of its port; a host that forwards has the ports of its router.
 * With PathRateCap it sends no faster than the slowest link on its path.
 */
void
TestPathRate()
{
    CheckSlowLink();
    // On a torus the host's own link is four times as fast as those to its neighbors.
    ClusterOptions options;
    options.ranks = 16;
    options.topology = "torus:4x4";
    options.congestionControl = "none";
    {
        const Cluster cluster(options);
        const uint64_t bytes = 4096 * 500;
        const auto arrivals = Exchange(cluster, {{2, nullptr}}, bytes);
        NS_TEST_ASSERT_MSG_EQ(arrivals.size(), 1, "arrives");
        const double frame = (4096 + 82) * 8;
        const double delay = 2e-9 + 2 * 500e-9 + frame * (1 / 400e9 + 1 / 100e9 + 1 / 400e9);
        NS_TEST_EXPECT_MSG_EQ_TOL(arrivals[0].time, 500 * frame / 100e9 + delay, 1e-8, "time");
        for (const auto& channel : cluster.GetFabric().channels)
        {
            for (uint32_t end = 0; end < 2; end++)
            {
                NS_TEST_EXPECT_MSG_LT(channel->GetPort(end).GetCounters().peakQueueBytes,
                                      2 * 4158,
                                      "no queue grows");
            }
        }
        // The round trip counts every link with its own rate: 4 of 100G, 2 of 400G.
        const double bits = 8 * (4096 + 44 + 48 + 2 * 38);
        NS_TEST_EXPECT_MSG_EQ_TOL(cluster.GetRoundTrip().GetSeconds(),
                                  2 * (4 * 500e-9 + 2e-9) + bits * (4 / 100e9 + 2 / 400e9),
                                  1e-9,
                                  "round trip");
    }
    Simulator::Destroy();
    // Each switch on the path adds its pipeline delay in both directions.
    Config::SetDefault("ns3::training::SwitchDevice::PipelineDelay", TimeValue(MicroSeconds(100)));
    {
        ClusterOptions options;
        options.ranks = 4;
        options.topology = "leaf-spine:leaves=2,spines=2";
        const Cluster cluster(options);
        const Time least = 2 * (4 * options.delay + 3 * MicroSeconds(100));
        NS_TEST_EXPECT_MSG_GT(cluster.GetRoundTrip(), least, "with pipelines");
        NS_TEST_EXPECT_MSG_LT(cluster.GetRoundTrip(), least + MicroSeconds(3), "no more");
    }
    Config::Reset();
    Simulator::Destroy();
}

constexpr uint32_t SPINES = 4;
constexpr uint64_t PACKET = 4096;
constexpr uint64_t PART_PACKETS = 256;
constexpr uint64_t PART = PART_PACKETS * PACKET;

/** Data packets of rank 0 by spine, and the time of the last message. */
struct Result
{
    std::vector<uint64_t> packets;
    double seconds;
};

/** Sends messages from rank 0 to rank 1, which are under different leaves. */
Result
Run(const std::string& uplink, uint32_t queuePairs, bool split, uint32_t messages)
{
    constexpr uint64_t TOTAL = 8 * PART;
    ClusterOptions options;
    options.ranks = 2;
    options.topology = "leaf-spine:leaves=2,spines=4,hosts-per-leaf=1,uplink=" + uplink;
    options.congestionControl = "none";
    options.queuePairs = queuePairs;
    options.split = split;
    Result result{{}, 0};
    {
        const Cluster cluster(options);
        std::vector<std::pair<uint32_t, Ptr<ByteBuffer>>> sent;
        for (uint32_t i = 0; i < messages; i++)
        {
            auto buffer = Create<ByteBuffer>();
            for (uint64_t at = 0; at < TOTAL / messages; at++)
            {
                buffer->bytes.push_back(static_cast<uint8_t>(at * 41 + at / 253 + i));
            }
            sent.emplace_back(1, buffer);
        }
        const auto arrivals = Exchange(cluster, sent, TOTAL / messages);
        NS_TEST_EXPECT_MSG_EQ(arrivals.size(), messages, "each message arrives once");
        for (const Arrival& arrival : arrivals)
        {
            NS_TEST_EXPECT_MSG_EQ(arrival.payload->bytes,
                                  sent[arrival.tag].second->bytes,
                                  "contents of message " << arrival.tag);
            result.seconds = std::max(result.seconds, arrival.time);
        }
        for (uint32_t spine = 0; spine < SPINES; spine++)
        {
            const auto& device = cluster.GetFabric().devicesOfSwitches[2 + spine];
            const uint8_t data = cluster.GetNics(0)[0]->GetSettings().dataPriority;
            result.packets.push_back(
                device->GetPort(1).GetCounters().byPriority[data].transmittedFrames);
        }
    }
    Simulator::Destroy();
    return result;
}

void
Refuse(const std::function<void(ClusterOptions&)>& change, const std::string& text)
{
    ClusterOptions options;
    options.ranks = 2;
    change(options);
    ExpectPart(GetRefusal([&options] { const Cluster cluster(options); }), text);
    Simulator::Destroy();
}

void
CheckRefusals()
{
    Refuse([](ClusterOptions& o) { o.queuePairs = 0; }, "queue pairs 0 (allowed: 1 to 64)");
    Refuse([](ClusterOptions& o) { o.queuePairs = 65; }, "queue pairs 65 (allowed: 1 to 64)");
    Refuse([](ClusterOptions& o) { o.split = true; }, "split true with one queue pair (allowed: ");
    Refuse([](ClusterOptions& o) { o.queuePairs = 2, o.transport = "tcp"; },
           "queue pairs 2 with transport tcp (allowed with rdma)");
}

/**
 * Several queue pairs spread messages over the paths of ECMP: split, every queue pair carries an
 * equal part of each message; in turns, it carries whole messages.
 */
void
TestQueuePairs()
{
    const auto total = [](const Result& result) {
        return std::accumulate(result.packets.begin(), result.packets.end(), uint64_t{0});
    };
    const auto most = [](const Result& result) {
        return *std::max_element(result.packets.begin(), result.packets.end());
    };
    const Result one = Run("100Gbps", 1, false, 8);
    NS_TEST_EXPECT_MSG_EQ(most(one), 8 * PART_PACKETS, "one queue pair: one path");
    NS_TEST_EXPECT_MSG_EQ(total(one), 8 * PART_PACKETS, "packets");

    const Result split = Run("100Gbps", 8, true, 1);
    NS_TEST_EXPECT_MSG_EQ(total(split), 8 * PART_PACKETS, "split: no other packets");
    uint32_t used = 0;
    for (const uint64_t packets : split.packets)
    {
        NS_TEST_EXPECT_MSG_EQ(packets % PART_PACKETS, 0, "equal parts");
        used += packets > 0;
    }
    NS_TEST_EXPECT_MSG_GT(used, 1, "split: several paths");

    // The same queue pairs, and each carries as much.
    const Result turns = Run("100Gbps", 8, false, 8);
    NS_TEST_EXPECT_MSG_EQ(turns.packets, split.packets, "turns: the same paths");
    const Result whole = Run("100Gbps", 8, false, 1);
    NS_TEST_EXPECT_MSG_EQ(most(whole), 8 * PART_PACKETS, "turns: a message is whole");

    // Slow uplinks: the most loaded path decides.
    const double packet = (PACKET + 82) * 8 / 25e9;
    for (const uint32_t queuePairs : {1, 8})
    {
        const Result slow = Run("25Gbps", queuePairs, queuePairs > 1, 1);
        const double least = static_cast<double>(most(slow)) * packet;
        NS_TEST_EXPECT_MSG_GT(slow.seconds, least, "not faster than the slowest path");
        NS_TEST_EXPECT_MSG_LT(slow.seconds, 1.05 * least + 20e-6, "all paths at once");
    }
    CheckRefusals();
}

/** The latency of hosts delays every message; with jitter each by its own draw, but in order. */
struct HostLatencyTestCase
{
    static constexpr uint32_t MESSAGES = 50;

    /** @return arrival times of empty messages from rank 0, s */
    std::vector<double> Run(const std::string& transport, Time latency, const std::string& jitter)
    {
        ClusterOptions options;
        options.ranks = 2;
        options.transport = transport;
        options.hostLatency = latency;
        options.hostJitter = jitter;
        std::vector<double> times;
        {
            const Cluster cluster(options);
            const auto arrivals =
                Exchange(cluster,
                         std::vector<std::pair<uint32_t, Ptr<ByteBuffer>>>(MESSAGES, {1, nullptr}),
                         0);
            NS_TEST_EXPECT_MSG_EQ(arrivals.size(), MESSAGES, "messages");
            for (const Arrival& arrival : arrivals)
            {
                NS_TEST_EXPECT_MSG_EQ(arrival.tag, times.size(), "in order");
                times.push_back(arrival.time);
            }
        }
        Simulator::Destroy();
        return times;
    }

    void Run()
    {
        constexpr double LATENCY = 1e-3; // longer than all messages take
        for (const std::string transport : {"rdma", "tcp"})
        {
            const auto none = Run(transport, Time(0), "none");
            const auto fixed = Run(transport, Seconds(LATENCY), "none");
            const auto varied = Run(transport, Seconds(LATENCY), "exponential");
            auto draws = MakeJitter("exponential");
            draws->SetStream(1LL << 33);
            double posted = 0;
            for (uint32_t i = 0; i < MESSAGES; i++)
            {
                NS_TEST_EXPECT_MSG_EQ_TOL(fixed[i] - none[i], LATENCY, 1e-12, transport);
                const double before = posted;
                posted = std::max(posted, LATENCY * draws->GetValue());
                NS_TEST_EXPECT_MSG_GT(varied[i], posted, transport << ": not before its post");
                if (transport == "rdma" && posted - before > 1e-5) // the network is idle
                {
                    NS_TEST_EXPECT_MSG_EQ_TOL(varied[i] - posted, none[0], 1e-11, transport);
                }
            }
            NS_TEST_EXPECT_MSG_EQ(Run(transport, Seconds(LATENCY), "exponential"),
                                  varied,
                                  "repeatable");
        }
        Refuse([](ClusterOptions& o) { o.hostLatency = Seconds(2); },
               "host latency 2s (allowed: 0 to 1 s)");
        Refuse([](ClusterOptions& o) { o.hostJitter = "exponential"; },
               "host jitter exponential without host latency (allowed: ");
        Refuse([](ClusterOptions& o) { o.hostLatency = MicroSeconds(1), o.algorithm = "switchml"; },
               "host latency 1us with switchml (allowed: ");
    }
};

/** Credit of a receiver is that of one port. A connection that is refused leaves nothing behind. */
void
TestCreditOfPorts()
{
    ClusterOptions options;
    options.ranks = 2;
    options.transport = "uec";
    options.congestionControl = "rccc";
    options.portPairs = "spray";
    options.topology = "leaf-spine:planes=2,leaves=2,hosts-per-leaf=1,spines=2";
    ExpectPart(GetRefusal([&] { const Cluster cluster(options); }),
               "port pairs spray with credit of the receiver (allowed: turns, stripe; or nscc");
    Simulator::Destroy();
    options.topology = "local-switch-torus:1x1,nodes=2";
    ExpectPart(GetRefusal([&] {
                   const Cluster cluster(options);
                   Exchange(cluster, {{1, nullptr}}, PART);
               }),
               "congestion control with credit of the receiver, sprayed over ");
    Simulator::Destroy();
}

std::vector<Case>
MakeCases()
{
    std::vector<Case> cases;
    cases.push_back({"choice of port pairs", TestPortPairChoice});
    for (const std::string transport : {"rdma", "tcp"})
    {
        cases.push_back({"portPairs by turns over " + transport,
                         [transport] { TestPortPairUse(transport, "turns"); }});
        cases.push_back({"portPairs by stripe over " + transport,
                         [transport] { TestPortPairUse(transport, "stripe"); }});
    }
    cases.push_back({"stripes of small messages", TestSmallStripes});
    cases.push_back({"credit of one port", TestCreditOfPorts});
    cases.push_back({"rate of a queue pair", TestPathRate});
    cases.push_back({"queue pairs", TestQueuePairs});
    cases.push_back({"host latency and jitter", RunTest<HostLatencyTestCase>});
    return cases;
}

const Suite g_suite("port-pairs", Duration::QUICK, MakeCases());

} // namespace ns3::training::tests::port_pairs_test
