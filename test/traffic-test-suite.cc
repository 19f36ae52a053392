/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "file-test-common.h"

#include "ns3/background-traffic.h"
#include "ns3/flow-pattern.h"
#include "ns3/flow-sizes.h"
#include "ns3/flow-statistics.h"
#include "ns3/idle-paths.h"
#include "ns3/poisson-flows.h"
#include "ns3/simulator.h"
#include "ns3/training-cluster.h"

#include <cmath>
#include <map>
#include <set>

namespace ns3::training::tests::traffic_test
{

/// Standard deviations that a measured mean may be away: exceeded in 1 of 2 million cases.
constexpr double SIGMAS = 5;

/** @return a named distribution */
FlowSizes
MakeSizes(const std::string& text)
{
    const auto choice = Choose<FlowSizesEntry>(text);
    return choice.entry->make(choice.values);
}

/** @return a named pattern */
std::unique_ptr<FlowPattern>
MakePattern(const std::string& text, uint32_t hosts, UniformRandomVariable& random)
{
    const auto choice = Choose<FlowPatternEntry>(text);
    return choice.entry->make(choice.values, hosts, random);
}

/** Means and quantiles of distributions, by closed forms and by drawing. */
struct FlowSizesTestCase
{
    void Run()
    {
        NS_TEST_EXPECT_MSG_EQ_TOL(MakeSizes("websearch").GetMean(), 1711250, 1e-3, "websearch");
        NS_TEST_EXPECT_MSG_EQ_TOL(MakeSizes("fbhadoop").GetMean(), 120420.75, 1e-3, "fbhadoop");
        NS_TEST_EXPECT_MSG_EQ(MakeSizes("fixed:bytes=4096").GetMean(), 4096, "fixed");
        NS_TEST_EXPECT_MSG_EQ_TOL(MakeSizes("websearch").GetQuantile(0.35), 40e3, 1e-6, "between");
        NS_TEST_EXPECT_MSG_EQ(MakeSizes("websearch").GetQuantile(1), 30e6, "largest");
        // The second moment of a distribution that is uniform from a to b is (a^2 + a b + b^2) / 3.
        const FlowSizes uniform({{0, 0}, {1000, 0.5}, {10000, 1}});
        const double mean = 0.5 * 500 + 0.5 * 5500;
        const double square = 0.5 * 1e6 / 3 + 0.5 * (1e6 + 1e7 + 1e8) / 3;
        NS_TEST_EXPECT_MSG_EQ_TOL(uniform.GetMean(), mean, 1e-9, "mean");
        const auto variable = uniform.MakeVariable();
        variable->SetStream(7);
        constexpr int COUNT = 20000;
        double sum = 0;
        int small = 0;
        for (int i = 0; i < COUNT; i++)
        {
            const double size = variable->GetValue();
            sum += size;
            small += size <= 1000 ? 1 : 0;
        }
        const double sigma = std::sqrt((square - mean * mean) / COUNT);
        NS_TEST_EXPECT_MSG_EQ_TOL(sum / COUNT, mean, SIGMAS * sigma, "drawn mean");
        NS_TEST_EXPECT_MSG_EQ_TOL(small,
                                  COUNT / 2,
                                  SIGMAS * std::sqrt(COUNT) / 2,
                                  "drawn up to the median");
        TestFiles();
    }

    /** @return the refusal of a file */
    std::string Read(const std::string& content)
    {
        const std::string path = WriteFile("sizes.txt", content);
        read = 0;
        return GetRefusal([&] { read = MakeSizes("file:path=" + path).GetMean(); });
    }

    void TestFiles()
    {
        NS_TEST_EXPECT_MSG_EQ(Read("0 0\n1000 50 # half\n\n10000 100\n"), "", "percent");
        NS_TEST_EXPECT_MSG_EQ_TOL(read, 3000, 1e-9, "its mean");
        NS_TEST_EXPECT_MSG_EQ(Read("500 1"), "", "one size");
        NS_TEST_EXPECT_MSG_EQ(read, 500, "its mean");
        ExpectPart(Read("0 0\n1000 50\n"), "the last part is 50 (allowed: 1 or 100");
        ExpectPart(Read(""), "the last part is 0");
        ExpectPart(Read("0 0\n1000\n"), "sizes.txt:2: '1000' (allowed: a size");
        ExpectPart(Read("10 20\n5 100\n"), "sizes.txt:2: '5 100' (allowed: neither");
        ExpectPart(Read("10 nan\n"), "sizes.txt:1:");
        ExpectPart(Read("-1 100\n"), "sizes.txt:1:");
        ExpectPart(Read("1 2 3\n"), "sizes.txt:1:");
        ExpectPart(GetRefusal([] { MakeSizes("file:path=/nowhere"); }), "cannot be read");
    }

    double read{0};
};

/** Flows from storage, all or a part of them. */
void
TestReads(UniformRandomVariable& random)
{
    constexpr uint32_t COUNT = 4000;
    for (const double reads : {0.0, 0.25, 1.0})
    {
        auto storage = MakePattern("storage:targets=3,reads=" + std::to_string(reads), 10, random);
        std::vector<HostPair> flows;
        int read = 0;
        for (uint32_t i = 0; i < COUNT; i++)
        {
            storage->Draw(i % 7, random, flows);
            const bool isRead = flows[0].source >= 7;
            read += isRead ? 1 : 0;
            NS_TEST_EXPECT_MSG_EQ(isRead ? flows[0].destination : flows[0].source,
                                  i % 7,
                                  "a client");
            NS_TEST_EXPECT_MSG_GT(isRead ? flows[0].source : flows[0].destination,
                                  6U,
                                  "a storage host");
        }
        const double sigma = std::sqrt(COUNT * reads * (1 - reads));
        NS_TEST_EXPECT_MSG_EQ_TOL(read, COUNT * reads, SIGMAS * sigma, "reads");
    }
    ExpectPart(GetRefusal([&] { MakePattern("storage:reads=2", 4, random); }),
               "'reads=2' (allowed: targets=1 to 1048576, reads=0 to 1");
}

void
TestIncast(UniformRandomVariable& random)
{
    auto incast = MakePattern("incast:senders=4", 6, random);
    std::vector<HostPair> flows;
    std::map<uint32_t, int> received;
    constexpr int COUNT = 6000;
    for (int i = 0; i < COUNT; i++)
    {
        incast->Draw(0, random, flows);
        std::set<uint32_t> ends{flows[0].destination};
        for (const HostPair& flow : flows)
        {
            ends.insert(flow.source);
            NS_TEST_EXPECT_MSG_EQ(flow.destination, flows[0].destination, "one receiver");
        }
        NS_TEST_EXPECT_MSG_EQ(ends.size(), 5, "four senders and a receiver");
        received[flows[0].destination]++;
    }
    for (uint32_t host = 0; host < 6; host++)
    {
        const double sigma = std::sqrt(COUNT * (1.0 / 6) * (5.0 / 6));
        NS_TEST_EXPECT_MSG_EQ_TOL(received[host], COUNT / 6, SIGMAS * sigma, "receives");
    }
}

/** Who sends to whom. */
void
TestFlowPattern()
{
    auto random = CreateObject<UniformRandomVariable>();
    random->SetStream(3);
    std::vector<HostPair> flows;
    for (const uint32_t hosts : {2U, 3U, 7U, 16U})
    {
        auto permutation = MakePattern("permutation", hosts, *random);
        std::set<uint32_t> receivers;
        for (uint32_t host = 0; host < hosts; host++)
        {
            permutation->Draw(host, *random, flows);
            NS_TEST_EXPECT_MSG_EQ(flows.size(), 1, "a flow");
            NS_TEST_EXPECT_MSG_EQ(flows[0].source, host, "each host sends");
            NS_TEST_EXPECT_MSG_NE(flows[0].destination, host, "to another one");
            receivers.insert(flows[0].destination);
        }
        NS_TEST_EXPECT_MSG_EQ(receivers.size(), hosts, "no two to the same");

        auto pairs = MakePattern("random", hosts, *random);
        std::map<uint32_t, int> counts;
        constexpr int COUNT = 5000;
        for (int i = 0; i < COUNT; i++)
        {
            pairs->Draw(hosts - 1, *random, flows);
            counts[flows[0].destination]++;
        }
        NS_TEST_EXPECT_MSG_EQ(counts.size(), hosts - 1, "all others, but not itself");
        const double part = 1.0 / (hosts - 1);
        for (const auto& [host, count] : counts)
        {
            const double sigma = std::sqrt(COUNT * part * (1 - part));
            NS_TEST_EXPECT_MSG_EQ_TOL(count, COUNT * part, SIGMAS * sigma, "host " << host);
        }
    }
    TestIncast(*random);
    auto storage = MakePattern("storage:targets=3", 10, *random);
    NS_TEST_EXPECT_MSG_EQ(storage->GetProcesses(), 7, "clients");
    NS_TEST_EXPECT_MSG_EQ(storage->GetLoadedHosts(), 3, "storage hosts carry the load");
    std::set<uint32_t> targets;
    for (uint32_t i = 0; i < 700; i++)
    {
        storage->Draw(i % 7, *random, flows);
        NS_TEST_EXPECT_MSG_EQ(flows[0].source, i % 7, "a client");
        targets.insert(flows[0].destination);
    }
    NS_TEST_EXPECT_MSG_EQ(targets, (std::set<uint32_t>{7, 8, 9}), "the last hosts");
    TestReads(*random);
    ExpectPart(GetRefusal([&] { MakePattern("incast:senders=4", 4, *random); }),
               "senders=4 among 4 hosts (allowed: 1 to 3)");
    ExpectPart(GetRefusal([&] { MakePattern("storage:targets=9", 4, *random); }),
               "targets=9 among 4 hosts (allowed: 1 to 3)");
}

/** Arrivals form a Poisson process with the load that was asked for. */
void
TestPoissonFlows()
{
    constexpr double RATE = 100e9;
    constexpr double LOAD = 0.4;
    const Time end = MilliSeconds(400);
    for (const std::string name :
         {"random", "permutation", "incast:senders=5", "storage:targets=2", "storage:reads=0.5"})
    {
        auto random = CreateObject<UniformRandomVariable>();
        random->SetStream(3);
        auto pattern = MakePattern(name, 8, *random);
        const uint32_t loaded = pattern->GetLoadedHosts();
        const uint32_t flows = pattern->GetFlowsPerEvent();
        const double gap = pattern->GetMeanGap(LOAD, RATE, 1e6);
        const double events = LOAD * RATE / 8 * loaded * end.GetSeconds() / 1e6 / flows;
        uint64_t bytes = 0;
        std::vector<double> gaps; // between events of all processes
        Time last;
        PoissonFlows arrivals(MakeSizes("fixed:bytes=1M"),
                              std::move(pattern),
                              gap,
                              10,
                              [&](const HostPair&, uint64_t size) {
                                  bytes += size;
                                  if (Simulator::Now() > last)
                                  {
                                      gaps.push_back((Simulator::Now() - last).GetSeconds());
                                      last = Simulator::Now();
                                  }
                              });
        arrivals.Run(Time(0), end);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(bytes, arrivals.GetFlows() * (1 << 20), "sizes of " << name);
        NS_TEST_EXPECT_MSG_EQ(arrivals.GetFlows(), gaps.size() * flows, "flows of " << name);
        const auto count = static_cast<double>(gaps.size());
        NS_TEST_EXPECT_MSG_EQ_TOL(count, events, SIGMAS * std::sqrt(events), name);
        // A Poisson process has exponential gaps: their deviation equals their mean. The
        // variance of a measured variance is 8 / n of its square.
        double sum = 0;
        double squares = 0;
        for (const double time : gaps)
        {
            sum += time;
            squares += time * time;
        }
        const double mean = sum / count;
        const double variance = squares / count - mean * mean;
        NS_TEST_EXPECT_MSG_EQ_TOL(variance / (mean * mean),
                                  1,
                                  SIGMAS * std::sqrt(8 / count),
                                  "gaps of " << name);
        Simulator::Destroy();
    }
}

void
TestFlowStatistics()
{
    FlowStatistics statistics;
    NS_TEST_EXPECT_MSG_EQ(std::isnan(statistics.GetTotal().slowdown.p50), true, "no flows");
    for (int i = 100; i > 0; i--)
    {
        statistics.Add(10, i, 2 * i);
        statistics.Add(11, 1000, 3);
    }
    statistics.Add(31, 5, 4);
    const auto rows = statistics.GetRows({10, 20, 30});
    NS_TEST_EXPECT_MSG_EQ(rows[0].flows, 100, "up to 10 bytes");
    NS_TEST_EXPECT_MSG_EQ(rows[0].slowdown.p50, 51, "value 50 of 0 to 99");
    NS_TEST_EXPECT_MSG_EQ(rows[0].slowdown.p95, 96, "value 95");
    NS_TEST_EXPECT_MSG_EQ(rows[0].slowdown.p99, 100, "value 99");
    NS_TEST_EXPECT_MSG_EQ(rows[1].flows, 100, "up to 20 bytes");
    NS_TEST_EXPECT_MSG_EQ(rows[1].slowdown.p99, 1000, "all alike");
    NS_TEST_EXPECT_MSG_EQ(rows[0].slowdown.p999, 100, "value 99, too");
    NS_TEST_EXPECT_MSG_EQ(rows[0].seconds.p50, 102, "completion times");
    NS_TEST_EXPECT_MSG_EQ(rows[1].seconds.p999, 3, "all alike");
    NS_TEST_EXPECT_MSG_EQ(rows[2].flows, 0, "none");
    NS_TEST_EXPECT_MSG_EQ(statistics.GetTotal().flows, 201, "all");
    NS_TEST_EXPECT_MSG_EQ(statistics.GetTotal().largest, 31, "the largest");
}

void
Test(const std::string& transport, uint64_t bytes, uint32_t peer)
{
    ClusterOptions options;
    options.topology = "fat-tree:k=4";
    options.transport = transport;
    Time arrival;
    double idle = 0;
    double secondsPerBit = 0;
    {
        const Cluster cluster(options);
        const PacketSize packet =
            transport == "rdma" ? PacketSize::OfRdma(4096) : PacketSize::OfUec(4096);
        const Fabric& fabric = cluster.GetFabric();
        IdlePaths paths(fabric.topology, packet, fabric.devicesOfSwitches[0]->GetPipelineDelay());
        idle = paths.GetTime(0, peer, bytes);
        secondsPerBit = (peer == 1 ? 2 : peer == 2 ? 4 : 6) / 100e9;
        cluster.GetTransport(peer)->SetMessageHandler([&](uint32_t, const Message& message) {
            arrival = Simulator::Now();
            NS_TEST_EXPECT_MSG_EQ(message.bytes, bytes, "all bytes");
        });
        cluster.GetTransport(0)->Send(peer, {0, bytes});
        Simulator::Run();
    }
    Simulator::Destroy();
    // A WRITE has a RETH of 16 bytes in its first packet, which goes over all links before
    // others can follow it, and immediate data of 4 bytes in its last one. Sends of Ultra
    // Ethernet have all headers in each packet.
    const double late = transport == "uec" ? 0
                        : bytes <= 4096    ? 20 * 8 * secondsPerBit
                                           : 16 * 8 * secondsPerBit + 4 * 8 / 100e9;
    NS_TEST_EXPECT_MSG_EQ_TOL(arrival.GetSeconds() - idle,
                              late,
                              1e-11,
                              transport << ", " << bytes << " bytes to host " << peer);
}

/** A flow that is alone takes the time of the closed form. */
void
TestLoneFlow()
{
    for (const uint32_t peer : {1U, 2U, 15U}) // same switch, same pod, other pod
    {
        // RoCE pads payload to 4 bytes.
        for (const uint64_t bytes : {4ULL, 4096ULL, 4100ULL, 8192ULL, 1000004ULL})
        {
            Test("rdma", bytes, peer);
        }
        // A short last packet of Ultra Ethernet may overtake others on another path.
        for (const uint64_t bytes : {1ULL, 4096ULL, 8192ULL, 1024000ULL})
        {
            Test("uec", bytes, peer);
        }
    }
}

ClusterOptions
MakeOptions(const std::string& background)
{
    ClusterOptions options;
    options.ranks = 8;
    options.topology = "fat-tree:k=4";
    options.background = background;
    return options;
}

/** @return number of flows, all of which must end */
uint64_t
Run(const ClusterOptions& options)
{
    const std::string name = options.background + ", " + options.transport;
    uint64_t flows = 0;
    {
        const Cluster cluster(options);
        Simulator::Run();
        const BackgroundTraffic& traffic = *cluster.GetBackground();
        flows = traffic.GetStartedFlows();
        NS_TEST_EXPECT_MSG_GT(flows, 0, "flows of " << name);
        NS_TEST_EXPECT_MSG_EQ(traffic.GetStatistics().GetFlows(), flows, "ended of " << name);
        NS_TEST_EXPECT_MSG_EQ(traffic.GetEndedBytes(), traffic.GetStartedBytes(), name);
        NS_TEST_EXPECT_MSG_EQ(traffic.GetFailure(), "", name);
        for (const uint32_t host : {0U, 8U})
        {
            const bool takesPart =
                host < options.ranks ? options.background.find("others") == std::string::npos
                                     : options.background.find("hosts=ranks") == std::string::npos;
            if (host < cluster.GetFabric().devices.size())
            {
                const auto& counters = cluster.GetFabric().devices[host]->GetPort().GetCounters();
                NS_TEST_EXPECT_MSG_EQ((counters.receivedFrames > 0 || takesPart),
                                      takesPart,
                                      "host " << host << " of " << name);
            }
        }
    }
    Simulator::Destroy();
    return flows;
}

/** All flows arrive once, whole, over every transport, with losses too. */
void
TestBackgroundTraffic()
{
    std::set<uint64_t> started;
    for (const std::string transport : {"rdma", "tcp", "uec"})
    {
        for (const double loss : {0.0, 1e-3})
        {
            ClusterOptions options = MakeOptions("fbhadoop:load=0.5,stop=300us");
            options.transport = transport;
            options.loss = loss;
            started.insert(Run(options));
        }
    }
    NS_TEST_EXPECT_MSG_EQ(started.size(), 1, "the same flows");
    for (const std::string background : {"websearch:pattern=permutation,hosts=ranks,stop=200us",
                                         "fixed:bytes=64K,pattern=incast,senders=3,stop=200us",
                                         "fixed:bytes=1,pattern=storage,load=0.001,stop=20us",
                                         "fixed:hosts=others,start=100us,stop=300us"})
    {
        Run(MakeOptions(background));
    }
    ClusterOptions rails = MakeOptions("fixed:bytes=64K,stop=100us");
    rails.topology = "rail-optimized:gpus=4";
    Run(rails);
    const auto refuse = [](const std::string& background, const std::string& path = "ecmp") {
        ClusterOptions options = MakeOptions(background);
        options.path = path;
        const std::string text = GetRefusal([&] { const Cluster cluster(options); });
        Simulator::Destroy();
        return text;
    };
    ExpectPart(refuse("web"), "background web (allowed: none, or flow sizes: ");
    ExpectPart(refuse("websearch:load=2"), "load");
    ExpectPart(refuse("websearch:senders=2"),
               "senders with pattern=random (allowed: with "
               "pattern=incast)");
    ExpectPart(refuse("websearch:pattern=storm"), "pattern");
    ExpectPart(refuse("fixed:bytes=0"), "bytes");
    ExpectPart(refuse("file"), "without path");
    ExpectPart(refuse("fixed:pattern=incast,senders=16"), "senders=16 among 16 hosts");
    ExpectPart(refuse("fixed", "schedule"), "with path schedule");
    ClusterOptions full = MakeOptions("fixed:hosts=others");
    full.ranks = 15;
    ExpectPart(GetRefusal([&] { const Cluster cluster(full); }), "on 1 hosts (allowed: 2");
    Simulator::Destroy();
}

const Suite g_suite(
    "traffic",
    Duration::QUICK,
    {{"flow sizes have their mean and quantiles; files are read or refused",
      RunTest<FlowSizesTestCase>},
     {"patterns: everyone sends, nobody to itself; incast, storage, permutation", TestFlowPattern},
     {"flows arrive as a Poisson process, with the load", TestPoissonFlows},
     {"slowdowns by size: each flow in one row, quantiles as fct_analysis.py", TestFlowStatistics},
     {"a flow alone takes the time on an idle path, but for longer headers", TestLoneFlow},
     {"background traffic: bytes are conserved, arrivals do not depend on the "
      "network, refusals",
      TestBackgroundTraffic}});

} // namespace ns3::training::tests::traffic_test
