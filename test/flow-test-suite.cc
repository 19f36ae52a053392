/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "core/input-manifest.h"
#include "file-test-common.h"
#include "measure/queue-lengths.h"

#include "ns3/config.h"
#include "ns3/flow-file.h"
#include "ns3/flow-measurement.h"
#include "ns3/packet-size.h"
#include "ns3/simulator.h"
#include "ns3/training-cluster.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace ns3::training::tests::flow_test
{

/** @return settings of listed flows */
FlowSettings
List(const std::vector<ListedFlow>& flows)
{
    return {flows,
            FlowSizes({{1, 0}, {1, 1}}),
            0.1,
            Choose<FlowPatternEntry>("random"),
            Time(0),
            Seconds(1)};
}

/** What a measurement has found. */
struct Found
{
    std::vector<FlowRow> rows; // by end
    uint64_t started;
    uint64_t ended;
    uint64_t startedBytes;
    uint64_t endedBytes;
    FlowStatistics::Row all;
    std::size_t inRows; // flows in the rows by size
};

/** Simulates flows on a cluster of its own. */
Found
Measure(const ClusterOptions& options, const FlowSettings& settings)
{
    Found found{};
    {
        const Cluster cluster(options);
        FlowMeasurement measurement(cluster, settings);
        measurement.SetHandler([&](const FlowRow& row) { found.rows.push_back(row); });
        measurement.Run();
        found.started = measurement.GetStarted();
        found.ended = measurement.GetEnded();
        found.startedBytes = measurement.GetStartedBytes();
        found.endedBytes = measurement.GetEndedBytes();
        found.all = measurement.GetStatistics().GetTotal();
        for (const auto& row : measurement.GetStatistics().GetRows(measurement.GetBins()))
        {
            found.inRows += row.flows;
        }
    }
    Simulator::Destroy();
    return found;
}

/** Flow files as HPCC's simulator has them. */
struct FlowFileTestCase
{
    void Run()
    {
        NS_TEST_EXPECT_MSG_EQ(Read("3 # flows\n0 1 3 100 1000 2.5\n\n2 0 3 100 1 0.5\n1 2 0 100 7 "
                                   "2.5\n"),
                              "",
                              "three flows");
        NS_TEST_ASSERT_MSG_EQ(flows.size(), 3, "all of them");
        NS_TEST_EXPECT_MSG_EQ(flows[0].ends.source, 2, "the first one to start");
        NS_TEST_EXPECT_MSG_EQ(flows[0].start, MilliSeconds(500), "its start");
        NS_TEST_EXPECT_MSG_EQ(flows[1].bytes, 1000, "of one start: the order of the file");
        NS_TEST_EXPECT_MSG_EQ(flows[2].ends.destination, 2, "the last one");
        NS_TEST_EXPECT_MSG_EQ(+flows[1].priority, 3, "its priority");
        NS_TEST_EXPECT_MSG_EQ(+flows[2].priority, 0, "of another class");
        ExpectPart(Read("2\n0 1 3 100 1 0\n1 2 3 101 1 0\n"),
                   "flows.txt:3: port 101 after port 100 (allowed: one port for all flows");
        ExpectPart(Read(""), "flows.txt:1: '' (allowed: the number of flows, 1 to 8388608)");
        ExpectPart(Read("0\n"), "flows.txt:1: '0' (allowed: the number of flows");
        ExpectPart(Read("x\n"), "flows.txt:1: 'x'");
        ExpectPart(Read("\n2\n0 1 3 100 1 0\n"), "flows.txt:2: '2' before 1 flows (allowed: ");
        // HPCC's simulator stops behind the declared flows, and behind the columns that it knows.
        NS_TEST_EXPECT_MSG_EQ(Read("1\n0 1 3 100 1 0 9\n0 1 3 100 1 0\n\nsource destination\n"),
                              "",
                              "more lines and columns");
        NS_TEST_EXPECT_MSG_EQ(flows.size(), 1, "the declared one");
        const InputManifest::File& file = InputManifest::Get(path);
        NS_TEST_EXPECT_MSG_EQ(file.used, 1, "flows");
        NS_TEST_EXPECT_MSG_EQ(file.ignored.at("column 7").first, path + ":2", "its place");
        NS_TEST_EXPECT_MSG_EQ(
            file.ignored.at("line behind the flows that the first line declares").count,
            2,
            "lines");
        // ConWeave's has no column of ports; nodes 1, 4 and 5 are hosts.
        NS_TEST_EXPECT_MSG_EQ(Read("1\n1 5 3 70 0.5\n", {1, 4, 5}), "", "five columns");
        NS_TEST_EXPECT_MSG_EQ(flows.at(0).ends.source, 0, "node 1");
        NS_TEST_EXPECT_MSG_EQ(flows[0].ends.destination, 2, "node 5");
        NS_TEST_EXPECT_MSG_EQ(flows[0].bytes, 70, "bytes");
        NS_TEST_EXPECT_MSG_EQ(
            InputManifest::Get(path).assumed.count("hosts as nodes 1 to 5 of the topology's file"),
            1,
            "said");
        ExpectPart(Read("1\n1 2 3 70 0.5\n", {1, 4, 5}),
                   "two different hosts below 6 that are no switches");
        for (const std::string& flow : Split("0 3 3 100 1 0|1 1 3 100 1 0|0 1 8 100 1 0|"
                                             "0 1 3 65536 1 0|0 1 3 100 0 0|0 1 3 100 1.5 0|"
                                             "0 1 3 100 1099511627777 0|0 1 3 100 1 -1|"
                                             "0 1 3 100 1 nan|0 1 3 100 1 1e7|0 1 3 100"))
        {
            ExpectPart(Read("1\n" + flow + "\n"), "flows.txt:2: '" + flow + "' (allowed: source ");
        }
        ExpectPart(GetRefusal([] { ReadFlowFile("/nowhere", 3); }), "cannot be read");
    }

    /** @return the refusal of a file, for three hosts */
    std::string Read(const std::string& content, const std::vector<uint32_t>& nodes = {})
    {
        path = WriteFile("flows.txt", content);
        flows.clear();
        return GetRefusal([&] { flows = ReadFlowFile(path, 3, nodes); });
    }

    std::string path;
    std::vector<ListedFlow> flows;
};

void
Test(const std::string& topology, const std::string& transport, uint64_t bytes, uint64_t mtu)
{
    ClusterOptions options;
    options.topology = topology;
    options.transport = transport;
    options.mtu = mtu;
    std::vector<ListedFlow> flows;
    for (const uint32_t peer : {1U, 5U, 15U})
    {
        flows.push_back({{0, peer}, bytes, MilliSeconds(2 * peer)});
    }
    const Found found = Measure(options, List(flows));
    NS_TEST_ASSERT_MSG_EQ(found.rows.size(), flows.size(), "every flow ends");
    for (const FlowRow& row : found.rows)
    {
        // Packets that Ultra Ethernet sprays over links slower than the host's wait here and
        // there.
        NS_TEST_EXPECT_MSG_EQ_TOL(row.slowdown,
                                  1,
                                  (transport == "uec" ? 2e-3 : 1e-4),
                                  bytes << " bytes to host " << row.destination << ", " << transport
                                        << ", " << topology << ", MTU " << mtu);
    }
}

void
TestLoneFlowSlowdown()
{
    for (const std::string& topology : Split("single-switch|fat-tree:k=4|leaf-spine|torus:4x4|"
                                             "torus:3x3x2|mesh:4x4|ring:16|"
                                             "rail-optimized:servers=4,gpus=4"))
    {
        for (const uint64_t bytes :
             {1ULL, 3ULL, 4096ULL, 4097ULL, 5000ULL, 7000ULL, 9000ULL, 100000ULL, 10000000ULL})
        {
            Test(topology, "rdma", bytes, 0);
        }
        Test(topology, "uec", 4096000, 0);
    }
    Test("fat-tree:k=4", "rdma", 65537, 1000); // an odd MTU, many packets
    Test("fat-tree:k=4", "rdma", 65537, 257);
    Test("fat-tree:k=4", "uec", 1, 0);
}

FlowSettings
MakeRandom(const std::string& pattern)
{
    const auto sizes = Choose<FlowSizesEntry>("alistorage");
    return {{},
            sizes.entry->make(sizes.values),
            0.4,
            Choose<FlowPatternEntry>(pattern),
            MicroSeconds(50),
            MicroSeconds(200)};
}

void
Check(const Found& found, const std::string& name)
{
    NS_TEST_EXPECT_MSG_EQ(found.rows.size(), found.ended, name << ": each ends once");
    NS_TEST_EXPECT_MSG_GT(found.all.flows, 10U, name << ": measured ones");
    NS_TEST_EXPECT_MSG_EQ(found.inRows, found.all.flows, name << ": each is in a row");
    NS_TEST_EXPECT_MSG_LT_OR_EQ(found.ended, found.started, name);
    uint64_t bytes = 0;
    std::size_t measured = 0;
    for (const FlowRow& row : found.rows)
    {
        bytes += row.bytes;
        measured += row.isMeasured ? 1 : 0;
        NS_TEST_EXPECT_MSG_EQ(row.isMeasured,
                              (row.startS >= 50e-6 && row.startS < 250e-6),
                              name << ": which are measured");
        NS_TEST_EXPECT_MSG_GT(row.slowdown, 0.995, name << ": none is too fast");
    }
    NS_TEST_EXPECT_MSG_EQ(bytes, found.endedBytes, name << ": bytes");
    NS_TEST_EXPECT_MSG_EQ(measured, found.all.flows, name << ": all measured ones have ended");
}

/** All flows end once, whole. */
void
TestFlowConservation()
{
    std::vector<uint64_t> measured;
    for (const std::string transport : {"rdma", "tcp", "uec"})
    {
        for (const double loss : {0.0, 1e-3})
        {
            ClusterOptions options;
            options.ranks = 8;
            options.transport = transport;
            options.loss = loss;
            const Found found = Measure(options, MakeRandom("random"));
            Check(found, transport);
            measured.push_back(found.all.flows);
        }
    }
    NS_TEST_EXPECT_MSG_EQ(std::count(measured.begin(), measured.end(), measured[0]),
                          6,
                          "the same flows");
    for (const std::string pattern : {"permutation", "incast:senders=3", "storage:targets=2"})
    {
        ClusterOptions options;
        options.ranks = 8;
        options.topology = "leaf-spine:leaves=2,spines=4";
        Check(Measure(options, MakeRandom(pattern)), pattern);
    }
    ClusterOptions few;
    few.ranks = 3;
    ExpectPart(GetRefusal([&] { Measure(few, MakeRandom("incast:senders=3")); }),
               "senders=3 among 3 hosts (allowed: 1 to 2)");
    Simulator::Destroy();
}

/** Random flows and incasts of one run have the loads that were asked for, and their shapes. */
void
TestIncasts()
{
    ClusterOptions options;
    options.ranks = 16;
    options.congestionControl = "none";
    FlowSettings settings = MakeRandom("random");
    settings.sizes = FlowSizes({{20000, 1}});
    settings.load = 0.3;
    settings.duration = MilliSeconds(2);
    settings.incasts = {0.02, 10, 5000};
    std::map<uint64_t, std::vector<FlowRow>> incasts;
    uint64_t measured = 0;
    {
        const Cluster cluster(options);
        FlowMeasurement measurement(cluster, settings);
        measurement.SetHandler([&](const FlowRow& row) {
            incasts[row.incast].push_back(row);
            measured += row.isMeasured && row.incast == 0 ? 1 : 0;
        });
        measurement.Run();
        // Poisson: four standard deviations of the number of flows, or of incasts.
        const double bytes = 16 * 100e9 / 8 * settings.duration.GetSeconds();
        NS_TEST_EXPECT_MSG_EQ_TOL(measurement.GetOfferedLoad(false),
                                  0.3,
                                  4 * 0.3 / std::sqrt(0.3 * bytes / 20000),
                                  "load of random flows");
        NS_TEST_EXPECT_MSG_EQ_TOL(measurement.GetOfferedLoad(true),
                                  0.02,
                                  4 * 0.02 / std::sqrt(0.02 * bytes / 50000),
                                  "load of incasts");
        NS_TEST_EXPECT_MSG_EQ(measurement.GetStatistics().GetFlows(), measured, "their own rows");
        NS_TEST_EXPECT_MSG_EQ(measurement.GetMeasured(), measured, "random flows");
        NS_TEST_EXPECT_MSG_GT(measurement.GetIncasts(), 100, "incasts");
    }
    Simulator::Destroy();
    incasts.erase(0);
    for (const auto& [number, flows] : incasts)
    {
        std::set<uint32_t> senders;
        for (const FlowRow& row : flows)
        {
            senders.insert(row.source);
            NS_TEST_EXPECT_MSG_EQ(row.bytes, 5000, "size");
            NS_TEST_EXPECT_MSG_EQ(row.destination, flows[0].destination, "to one host");
            NS_TEST_EXPECT_MSG_EQ(row.startS, flows[0].startS, "at once");
        }
        NS_TEST_EXPECT_MSG_EQ(senders.size(), flows.size(), "each by another host");
        const bool isWhole = !flows[0].isMeasured || flows.size() == 10;
        NS_TEST_EXPECT_MSG_EQ(isWhole, true, "all senders");
    }
    // The incasts change nothing in which random flows there are.
    settings.incasts.load = 0;
    NS_TEST_EXPECT_MSG_EQ(Measure(options, settings).all.flows, measured, "the same flows");
    settings.incasts = {0.02, 16, 5000};
    ExpectPart(GetRefusal([&] { Measure(options, settings); }),
               "senders=16 among 16 hosts (allowed: 1 to 15)");
    Simulator::Destroy();
}

/** The largest and the mean queue of a port, where they are known in closed form. */
void
TestQueueLengths()
{
    ClusterOptions options;
    options.ranks = 3;
    options.congestionControl = "none";
    const Cluster cluster(options);
    const QueueLengths queues(cluster.GetFabric());
    const auto push = [&](uint32_t bytes, uint32_t source) {
        Frame* frame = Frame::Allocate(FrameKind::ROCE_DATA);
        frame->bytes = bytes;
        frame->source = source;
        frame->destination = 2;
        frame->destinationQp = 9; // nobody's
        cluster.GetFabric().devices[source]->GetPort().Send(frame);
    };
    // Two frames meet at the port to host 2: one waits while the other is sent.
    constexpr uint32_t BYTES = 1230; // 100 ns with preamble and gap
    push(BYTES, 0);
    push(BYTES, 1);
    Simulator::Stop(MicroSeconds(10));
    Simulator::Run();
    const std::string text = queues.ToJson().Write();
    ExpectPart(text, "\"node\":\"switch0\",\"port\":2,\"peer\":\"host2\"");
    ExpectPart(text, "\"peak_queue_bytes\":1230,\"mean_queue_bytes\":12.3}");
    ExpectPart(text, "\"peak_queue_bytes\":0,\"mean_queue_bytes\":0}");
    Simulator::Destroy();
}

void
TestSharedLink()
{
    constexpr uint64_t BYTES = 20000000;
    const PacketSize packet = PacketSize::OfRdma(4096);
    const double line = 8.0 * BYTES / packet.GetGoodput() / 100e9; // of one flow
    // none: always the full rate. DCQCN starts with cuts of both rates. HPCC keeps 95 % of the
    // link busy, telemetry beside.
    for (const std::string control : {"none", "hpcc", "dcqcn:preset=hpcc"})
    {
        ClusterOptions options;
        options.ranks = 3;
        options.congestionControl = control;
        const Found found =
            Measure(options, List({{{0, 2}, BYTES, Time(0)}, {{1, 2}, BYTES, Time(0)}}));
        NS_TEST_ASSERT_MSG_EQ(found.rows.size(), 2, control);
        const double first = found.rows[0].timeS;
        const double last = found.rows[1].timeS;
        NS_TEST_EXPECT_MSG_GT(last, 2 * line, control << ": not above the rate");
        const double use = control == "hpcc" ? 0.95 : 1;
        NS_TEST_EXPECT_MSG_EQ_TOL(last,
                                  2 * line / use,
                                  (control == "dcqcn:preset=hpcc" ? 0.2 : 0.05) * 2 * line,
                                  control << ": the link is used");
        // A flow alone ends after half of the time.
        NS_TEST_EXPECT_MSG_EQ_TOL(first, last, 0.15 * last, control << ": equal shares");
        NS_TEST_EXPECT_MSG_EQ_TOL(found.all.slowdown.p999, last / found.rows[1].idleS, 1e-9, "");
    }
}

void
TestFlowPriority()
{
    constexpr uint64_t BYTES = 20000000;
    ClusterOptions options;
    options.ranks = 3;
    options.congestionControl = "none";
    for (const std::string device : {"SwitchDevice", "HostDevice"})
    {
        options.attributes["ns3::training::" + device + "::LosslessClasses"] = "40";   // 3, 5
        options.attributes["ns3::training::" + device + "::StrictPriorities"] = "224"; // 5 to 7
    }
    for (const uint8_t second : {3, 5})
    {
        const Found found =
            Measure(options, List({{{0, 2}, BYTES, Time(0), 3}, {{1, 2}, BYTES, Time(0), second}}));
        NS_TEST_ASSERT_MSG_EQ(found.rows.size(), 2, "both end");
        NS_TEST_EXPECT_MSG_EQ_TOL(found.rows[0].slowdown,
                                  (second == 5 ? 1.0 : 2.0),
                                  0.02,
                                  "first: alone on the link with strict priority");
        NS_TEST_EXPECT_MSG_EQ_TOL(found.rows[1].slowdown, 2, 0.02, "the other one");
        NS_TEST_EXPECT_MSG_EQ((second == 3 || found.rows[0].source == 1), true, "which one");
    }
    // Between the same hosts, too: each queue pair keeps its class.
    const Found found = Measure(options,
                                List({{{0, 1}, BYTES, Time(0), 3},
                                      {{0, 1}, BYTES, NanoSeconds(1), 5},
                                      {{0, 1}, 1, MilliSeconds(1), 3}}));
    NS_TEST_ASSERT_MSG_EQ(found.rows.size(), 3, "all end");
    NS_TEST_EXPECT_MSG_EQ(found.rows[0].number, 1, "the strict class is first");
    NS_TEST_EXPECT_MSG_EQ_TOL(found.rows[0].slowdown, 1, 0.02, "and has the link");
    options.transport = "tcp";
    options.congestionControl = "auto";
    ExpectPart(GetRefusal([&] {
                   Measure(options, List({{{0, 1}, 1, Time(0), 3}, {{1, 2}, 1, Time(0), 4}}));
               }),
               "priorities 3 and 4 with --transport=tcp (allowed: one priority, or");
    Simulator::Destroy();
    options.transport = "rdma";
    Config::SetDefault("ns3::training::RdmaNic::DataPriority", UintegerValue(5));
    ExpectPart(GetRefusal([&] {
                   Measure(options, List({{{0, 1}, 1, Time(0), 3}}));
               }),
               "RdmaNic::DataPriority with a flow file (allowed: one of them");
    Config::Reset();
    Simulator::Destroy();
}

const Suite g_suite(
    "flow",
    Duration::QUICK,
    {{"flow files are read, sorted by start, or refused with file and line",
      RunTest<FlowFileTestCase>},
     {"a flow that is alone has a slowdown of 1 on every topology, whatever its size",
      TestLoneFlowSlowdown},
     {"flows are conserved, and the same over every transport", TestFlowConservation},
     {"incasts beside random flows have their loads and shapes", TestIncasts},
     {"queues of ports: the largest and the mean", TestQueueLengths},
     {"two flows to one host share its link: work is conserved, shares are equal", TestSharedLink},
     {"the priority of a listed flow is the class of its packets and answers", TestFlowPriority}},
    TestSuite::Type::SYSTEM);

} // namespace ns3::training::tests::flow_test
