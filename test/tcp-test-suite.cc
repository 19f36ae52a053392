/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "record/tcp-figures.h"
#include "test-case.h"

#include "ns3/collective-measurement.h"
#include "ns3/double.h"
#include "ns3/simulator.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/training-run.h"

#include <map>

namespace ns3::training::tests::tcp_test
{

/// IP packet without headers, at the default MTU.
constexpr uint64_t SEGMENT = 9000 - 40;

ClusterOptions
MakeOptions(uint32_t ranks, const std::string& congestionControl)
{
    ClusterOptions options;
    options.ranks = ranks;
    options.transport = "tcp";
    options.congestionControl = congestionControl;
    return options;
}

/** Result of messages that other ranks send to rank 0. */
struct Incast
{
    double seconds;                 ///< until the last message has arrived
    uint64_t framesOfLast;          ///< frames that the last rank has sent
    uint64_t peakQueue;             ///< at the switch port to rank 0, bytes
    TcpFigures figures;             ///< of all ranks
    std::vector<double> curve;      ///< Kmin and Kmax of the switch, bytes per Gbit/s
    std::vector<std::string> notes; ///< of the cluster
};

/** Sends a message from each rank to rank 0. */
Incast
SendToFirst(const ClusterOptions& options, uint64_t bytes)
{
    Incast result{};
    {
        const Cluster cluster(options);
        const Fabric& fabric = cluster.GetFabric();
        const uint32_t last = cluster.GetRanks() - 1;
        for (uint32_t rank = 1; rank <= last; rank++)
        {
            cluster.GetTransport(rank)->SetMessageHandler([](uint32_t, const Message&) {});
        }
        uint32_t left = last;
        cluster.GetTransport(0)->SetMessageHandler([&](uint32_t, const Message&) {
            if (--left == 0)
            {
                result.seconds = Simulator::Now().GetSeconds();
                Simulator::Stop(2 * cluster.GetRoundTrip());
            }
        });
        for (uint32_t rank = 1; rank <= last; rank++)
        {
            cluster.GetTransport(rank)->Send(0, {1, bytes});
        }
        Simulator::Run();
        const auto& counters = fabric.devices[last]->GetPort().GetCounters();
        result.framesOfLast = counters.transmittedFrames;
        for (const auto& link : fabric.channels)
        {
            for (uint32_t end = 0; end < 2; end++)
            {
                const FabricPort& port = link->GetPort(end);
                if (&link->GetPort(1 - end) == &fabric.devices[0]->GetPort())
                {
                    result.peakQueue = port.GetCounters().peakQueueBytes;
                }
            }
        }
        RunFigures figures;
        figures.AddAll({cluster});
        result.figures = *figures.Find<TcpFigures>();
        for (const std::string name : {"EcnKminPerGbps", "EcnKmaxPerGbps"})
        {
            DoubleValue value;
            fabric.devicesOfSwitches[0]->GetAttribute(name, value);
            result.curve.push_back(value.Get());
        }
        result.notes = cluster.GetNotes();
    }
    Simulator::Destroy();
    return result;
}

/** @return the name of every TCP congestion control of ns-3 and loaded extensions */
std::vector<std::string>
GetControls()
{
    std::vector<std::string> names;
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); i++)
    {
        const TypeId type = TypeId::GetRegistered(i);
        if (type.IsChildOf(TcpCongestionOps::GetTypeId()) && type.HasConstructor())
        {
            names.push_back(type.GetName());
        }
    }
    return names;
}

/**
 * A job over every TCP congestion control of ns-3 fills the idle links. Those that hold back by
 * design, as they measure the round trip, still get more than 60 %.
 */
void
TestEveryControl()
{
    const std::map<std::string, double> cautious{{"ns3::TcpBbr", 0.6}, {"ns3::TcpVegas", 0.6}};
    const auto controls = GetControls();
    NS_TEST_EXPECT_MSG_GT(controls.size(), 15, "ns-3's");
    for (const std::string& control : controls)
    {
        TrainingRunOptions options;
        options.cluster = MakeOptions(2, control);
        options.computeScale = 0;
        options.iterations = 1;
        const IterationRecord mean = TrainingRun(options).Run().mean;
        const auto found = cautious.find(control);
        NS_TEST_EXPECT_MSG_GT(mean.lowerBoundS / mean.communicationTimeS,
                              (found == cautious.end() ? 0.95 : found->second),
                              control);
    }
}

/**
 * Queues of two senders: the buffers', with a control that reacts only to loss; at most as much as
 * their algorithms allow, with Vegas and BBR, which need correct round trips.
 */
void
TestQueue()
{
    const auto measure = [](const std::string& control) {
        ClusterOptions options = MakeOptions(3, control);
        options.delay = MicroSeconds(10);
        return SendToFirst(options, 64 << 20);
    };
    constexpr uint64_t BUFFER = 4 << 20;
    constexpr uint64_t PRODUCT = 12500 * 45; // bytes of a bandwidth-delay product, about
    const Incast reno = measure("ns3::TcpLinuxReno");
    NS_TEST_EXPECT_MSG_LT(reno.peakQueue, 2 * BUFFER * 9018 / SEGMENT, "at most both buffers");
    NS_TEST_EXPECT_MSG_GT(reno.peakQueue, 2 * BUFFER - 2 * PRODUCT, "but what is on the way");
    NS_TEST_EXPECT_MSG_GT(reno.figures.GetLimitedShare(), 0.9, "the buffers limit");
    // The window of BBR is at most high gain times the product, 2.885, of each sender.
    const Incast bbr = measure("ns3::TcpBbr");
    NS_TEST_EXPECT_MSG_LT(bbr.peakQueue, 2 * 2.885 * PRODUCT, "BBR");
    // Vegas keeps 2 to 4 segments in the queue, and leaves slow start within a round trip.
    const Incast vegas = measure("ns3::TcpVegas");
    NS_TEST_EXPECT_MSG_LT(vegas.peakQueue, PRODUCT, "Vegas");
    const Incast dctcp = measure("ns3::TcpDctcp");
    NS_TEST_EXPECT_MSG_LT(dctcp.peakQueue, 300000 + 2 * PRODUCT, "DCTCP");
    for (const Incast& light : {bbr, vegas, dctcp})
    {
        NS_TEST_EXPECT_MSG_LT(light.figures.GetLimitedShare(), 0.1, "windows limit");
    }
}

// One host fills the buffers of 20 connections, 80 MiB, and drops nothing before its line.
void
CheckHost()
{
    constexpr uint64_t BYTES = 8 << 20;
    constexpr uint32_t PEERS = 20;
    {
        const Cluster cluster(MakeOptions(PEERS + 1, "ns3::TcpCubic"));
        uint32_t left = PEERS;
        for (uint32_t rank = 1; rank <= PEERS; rank++)
        {
            cluster.GetTransport(rank)->SetMessageHandler([&](uint32_t, const Message&) {
                if (--left == 0)
                {
                    Simulator::Stop(2 * cluster.GetRoundTrip());
                }
            });
            cluster.GetTransport(0)->Send(rank, {1, BYTES});
        }
        Simulator::Run();
        const auto& port = cluster.GetFabric().devices[0]->GetPort();
        NS_TEST_EXPECT_MSG_EQ(port.GetCounters().transmittedFrames,
                              PEERS * ((BYTES + 16 + SEGMENT - 1) / SEGMENT + 2),
                              "frames of the host");
    }
    Simulator::Destroy();
}

void
Check(const ClusterOptions& options, uint64_t bytes, uint64_t segment)
{
    const Incast result = SendToFirst(options, bytes);
    // A message has a header of 16 bytes; the handshake takes two frames of the sender.
    const uint64_t frames = (bytes + 16 + segment - 1) / segment + 2;
    NS_TEST_EXPECT_MSG_EQ(result.framesOfLast, frames, options.congestionControl);
}

/** Without losses every byte is sent once, in full segments. */
void
TestSpurious()
{
    for (const std::string control : {"ns3::TcpNewReno", "ns3::TcpCubic"})
    {
        // Slow start raises the round trip from 2 to 6 ms, as far as the buffers allow.
        ClusterOptions options = MakeOptions(2, control);
        options.rate = DataRate("10Gbps");
        options.delay = MicroSeconds(500);
        Check(options, 60000000, SEGMENT);
        options.attributes["ns3::TcpSocketBase::Timestamp"] = "true";
        Check(options, 60000000, SEGMENT - 12);
        options = MakeOptions(2, control);
        Check(options, 60000000, SEGMENT);
    }
    CheckHost();
}

/**
 * A send buffer below the bandwidth-delay product gives its size per round trip, and the output
 * names it.
 */
void
TestBuffer()
{
    ClusterOptions options = MakeOptions(2, "ns3::TcpCubic");
    options.delay = MicroSeconds(500);
    constexpr uint64_t BUFFER = 56 * SEGMENT;
    options.attributes["ns3::TcpSocket::SndBufSize"] = std::to_string(BUFFER);
    constexpr uint64_t BYTES = 100 * BUFFER;
    const Incast result = SendToFirst(options, BYTES);
    const double roundTrip = 2e-3 + 9038 * 8 / 100e9 * 2; // propagation, one segment
    NS_TEST_EXPECT_MSG_EQ_TOL(result.seconds / (100 * roundTrip), 1, 0.1, "B / RTT");
    NS_TEST_EXPECT_MSG_GT(result.figures.GetLimitedShare(), 0.8, "after slow start");
    NS_TEST_EXPECT_MSG_EQ(result.figures.sendBuffer, BUFFER, "its size");
    ExpectPart(result.figures.Format(), "the send buffers of TCP (490KiB) limited the rate");
    NS_TEST_EXPECT_MSG_EQ(TcpFigures().Format(), "", "nothing to say");

    // ns-3 up to 3.40 crashed as soon as the data in flight filled the announced window.
    options = MakeOptions(2, "ns3::TcpLinuxReno");
    options.loss = 3e-4;
    options.attributes["ns3::TcpSocket::RcvBufSize"] = "262144";
    NS_TEST_EXPECT_MSG_GT(SendToFirst(options, 64 << 20).seconds, 0, "the send buffer follows");
    for (const std::string size : {"262144", "262148"})
    {
        options.attributes["ns3::TcpSocket::SndBufSize"] = "262144";
        options.attributes["ns3::TcpSocket::RcvBufSize"] = size;
        ExpectPart(GetRefusal([&] { const Cluster cluster(options); }),
                   "ns3::TcpSocket::RcvBufSize=" + size +
                       " (allowed: more than ns3::TcpSocket::SndBufSize=262144");
        Simulator::Destroy();
    }
}

/**
 * A cluster does not depend on earlier ones of the process: not on their segments, buffers, timers
 * or congestion control.
 */
void
TestLaterCluster()
{
    constexpr uint64_t BYTES = 4 << 20;
    const auto make = [](const std::string& control, uint64_t mtu, const std::string& buffer) {
        ClusterOptions options = MakeOptions(3, control);
        options.mtu = mtu;
        options.rate = DataRate("10Gbps");
        if (!buffer.empty())
        {
            options.attributes["ns3::TcpSocket::SndBufSize"] = buffer;
        }
        return options;
    };
    const auto measure = [&](const auto&... values) {
        const Incast result = SendToFirst(make(values...), BYTES);
        return std::make_tuple(result.seconds,
                               result.framesOfLast,
                               result.peakQueue,
                               result.figures.sendBuffer);
    };
    const auto large = measure("ns3::TcpCubic", 9000, "");
    const auto small = measure("ns3::TcpDctcp", 1500, "");
    NS_TEST_EXPECT_MSG_GT(std::get<1>(small), 5 * std::get<1>(large), "smaller segments");
    measure("ns3::TcpVegas", 600, "65536");
    NS_TEST_EXPECT_MSG_EQ(measure("ns3::TcpCubic", 9000, ""), large, "as alone");
    NS_TEST_EXPECT_MSG_EQ(measure("ns3::TcpDctcp", 1500, ""), small, "as alone");
}

/** Copies of frames, of connection requests among them, do not break connections. */
void
TestDuplicates()
{
    for (uint32_t run = 1; run <= 5; run++)
    {
        ClusterOptions options = MakeOptions(8, "ns3::TcpCubic");
        RngSeedManager::SetRun(run);
        options.topology = "leaf-spine:leaves=4,spines=2";
        options.algorithm = "direct";
        options.faults = {"*:duplicate=0.5"};
        {
            const Cluster cluster(options);
            GuardedRun guard(cluster);
            const auto result = MeasureCollective(cluster,
                                                  guard,
                                                  CollectiveOperation::ALL_REDUCE,
                                                  256 << 10,
                                                  true,
                                                  run);
            NS_TEST_EXPECT_MSG_EQ(result.mismatch, "", "run " << run);
        }
        Simulator::Destroy();
    }
}

/**
 * Switches mark at the threshold of the control or system that needs a step, and the notes of the
 * cluster say so.
 */
struct MarkingTest
{
    using Curve = std::vector<double>;

    void Check(const ClusterOptions& options, const Curve& curve, const std::string& notes)
    {
        {
            const Cluster cluster(options);
            Curve actual;
            for (const std::string name : {"EcnKminPerGbps", "EcnKmaxPerGbps"})
            {
                DoubleValue value;
                cluster.GetFabric().devicesOfSwitches[0]->GetAttribute(name, value);
                actual.push_back(value.Get());
            }
            NS_TEST_EXPECT_MSG_EQ(actual, curve, options.congestionControl);
            std::string all;
            for (const std::string& note : cluster.GetNotes())
            {
                all += note + "\n";
            }
            NS_TEST_EXPECT_MSG_EQ(all, notes, options.congestionControl);
        }
        Simulator::Destroy();
    }

    void Run()
    {
        const std::string step = ": switches mark all frames above ";
        const std::string red = ": switches mark from 400 kB on, up to 20 %, all frames above 1600 "
                                "kB at 100Gbps\n";
        Check(MakeOptions(4, "ns3::TcpDctcp"),
              {3000, 3000},
              "ECN for ns3::TcpDctcp" + step + "300 kB at 100Gbps\n");
        const std::string own = "congestion control: ns3::training::TcpCubic in place of "
                                "ns3::TcpCubic\n";
        Check(MakeOptions(4, "ns3::TcpCubic"), {4000, 16000}, own);
        ClusterOptions options = MakeOptions(4, "ns3::TcpCubic");
        options.attributes["ns3::TcpSocketBase::UseEcn"] = "On";
        Check(options, {4000, 16000}, own + "ECN for ns3::training::TcpCubic" + red);
        options = MakeOptions(4, "ns3::TcpDctcp");
        options.attributes["ns3::training::SwitchDevice::EcnKmaxPerGbps"] = "8000";
        Check(options,
              {4000, 8000},
              "ECN for ns3::TcpDctcp: switches mark from 400 kB on, up to 20 %, all frames above "
              "800 kB at 100Gbps\n");
        options = MakeOptions(4, "auto");
        options.transport = "rdma";
        Check(options,
              {10485.76, 20971.52},
              "ECN for dcqcn: switches mark from 1049 kB on, up to 5 %, all frames above "
              "2097 kB at 100Gbps\n");
        options.congestionControl = "dcqcn:preset=hpcc";
        Check(options, {4000, 16000}, "ECN for dcqcn" + red);
        // Half of a pool of packet memory that holds no longer queue, or a fifth with PFC.
        options.buffer = 1000000;
        options.congestionControl = "dctcp";
        {
            const Cluster cluster(options);
            const SwitchDevice& device = *cluster.GetFabric().devicesOfSwitches[0];
            DoubleValue kmax;
            device.GetAttribute("EcnKmaxPerGbps", kmax);
            NS_TEST_EXPECT_MSG_EQ(kmax.Get(), device.GetBuffer().GetQueueLimit() / 100, "limited");
            NS_TEST_EXPECT_MSG_LT(kmax.Get(), 2000, "to a fifth of the memory");
        }
        Simulator::Destroy();
        options.attributes["ns3::training::SwitchDevice::EcnKmaxPerGbps"] = "5000";
        Check(options,
              {4000, 5000},
              "ECN for dctcp: switches mark from 400 kB on, up to 20 %, all frames above 500 kB at "
              "100Gbps\n");
        options.attributes.clear();
        options.buffer = 0;
        options.congestionControl = "dctcp";
        Check(options, {3000, 3000}, "ECN for dctcp" + step + "300 kB at 100Gbps\n");
        options.congestionControl = "swift";
        Check(options, {4000, 16000}, "");
        options.congestionControl = "auto";
        options.algorithm = "atp";
        const std::string atp = "ECN for atp" + step + "80 kB at 100Gbps\n";
        const std::string shared = ", so the rate is at most ";
        const std::string others = " of that with servers on hosts without ranks (more hosts than "
                                   "ranks avoid this)\n";
        Check(options,
              {800, 800},
              atp + "atp: a server shares the line of rank 3" + shared + "1/2" + others);
        options.algorithm = "atp:servers=0/2";
        Check(options,
              {800, 800},
              atp + "atp: a server shares the line of rank 0/2" + shared + "2/3" + others);
        options.algorithm = "atp";
        options.topology = "single-switch:hosts=5";
        Check(options, {800, 800}, atp);
    }
};

const Suite g_suite(
    "tcp",
    Duration::EXTENSIVE,
    {{"queues of TCP: buffers, Vegas, BBR, and DCTCP at its own threshold", TestQueue},
     {"TCP sends every segment once when nothing is lost", TestSpurious},
     {"TCP buffers: rate, report, and sizes that ns-3 does not survive", TestBuffer},
     {"TCP survives duplicated connection requests", TestDuplicates},
     {"marking thresholds of DCTCP over TCP and of ATP, and ATP's server", RunTest<MarkingTest>},
     {"a job with every TCP congestion control fills an idle network", TestEveryControl}},
    TestSuite::Type::SYSTEM);

} // namespace ns3::training::tests::tcp_test
