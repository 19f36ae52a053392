/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Congestion controls on whole paths: telemetry, utilization of the line, fairness, and queue
 * length in the switch.
 */

#include "rdma-test-common.h"
#include "rdma/congestion/rdma-hpcc.h"
#include "test-case.h"

#include "ns3/config.h"
#include "ns3/random-variable-stream.h"
#include "ns3/rdma-congestion-control.h"
#include "ns3/roce-wire-format.h"
#include "ns3/training-cluster.h"
#include "ns3/training-registry.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3::training::tests::rdma_incast_test
{

constexpr uint32_t MTU = 1000;

/// Size of a frame in the middle of a message, bytes.
constexpr uint32_t FRAME_BYTES = MTU + ROCE_BYTES + Frame::ETHERNET_BYTES;

/// Preamble and gap, bytes.
constexpr uint32_t LINE_BYTES = Frame::PREAMBLE_BYTES + Frame::GAP_BYTES;

/** On an idle path every switch adds one record with predictable numbers. */
void
TestTelemetryPath()
{
    constexpr uint64_t PACKETS = 50;
    const std::vector<Hop> hops{{25 * GIGA, MICROSECOND},
                                {100 * GIGA, 2 * MICROSECOND},
                                {400 * GIGA, MICROSECOND / 2},
                                {100 * GIGA, MICROSECOND}};
    RdmaNetwork network(MakeChain(hops), RdmaHpcc::GetTypeId(), [](RdmaNic& nic) {
        nic.SetAttribute("Mtu", UintegerValue(MTU));
        nic.SetAttribute("PathHops", UintegerValue(4));
    });
    network.Connect(0, 1, 1);
    uint64_t packet = 0;
    network.SetTap(0, [&](Frame& frame) {
        NS_TEST_EXPECT_MSG_EQ(frame.kind, FrameKind::ROCE_ACK, "answers alone");
        NS_TEST_EXPECT_MSG_EQ(frame.psn, packet, "one a packet");
        NS_TEST_EXPECT_MSG_NE(frame.hasTelemetry, 0, "which bring telemetry back");
        NS_TEST_EXPECT_MSG_EQ(frame.bytes, 66 + 42, "at the price of room for five hops");
        if (!frame.hasTelemetry)
        {
            return false;
        }
        NS_TEST_EXPECT_MSG_EQ(frame.GetTelemetry()->size(), 3, "a record a switch");
        // The first packet is longer by its RETH.
        const uint64_t bytes = FRAME_BYTES + 42 + (packet == 0 ? RETH_BYTES : 0);
        int64_t time = frame.timestamp;
        for (std::size_t i = 0; i < frame.GetTelemetry()->size(); i++)
        {
            const auto bits = static_cast<double>(8 * (bytes + Frame::PREAMBLE_BYTES));
            time += static_cast<int64_t>(bits * 1e12 / static_cast<double>(hops[i].rate) + 0.5) +
                    hops[i].delay;
            const HopTelemetry& hop = (*frame.GetTelemetry())[i];
            NS_TEST_EXPECT_MSG_EQ_TOL(hop.time, time, 5, "stored and forwarded, hop " << i);
            NS_TEST_EXPECT_MSG_EQ(hop.rate, hops[i + 1].rate, "of the link it leaves by");
            NS_TEST_EXPECT_MSG_EQ(hop.queueBytes, 0, "nothing waits");
            NS_TEST_EXPECT_MSG_EQ(hop.sentBytes,
                                  packet * (FRAME_BYTES + 42 + LINE_BYTES) +
                                      (packet > 0 ? RETH_BYTES : 0),
                                  "everything before it");
        }
        packet++;
        return false;
    });
    Write(network.Get(0, 1), PACKETS * MTU);
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(packet, PACKETS, "all were answered");
    NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 1, "the message");
    const auto hpcc =
        DynamicCast<RdmaHpcc>(network.Get(0, 1).GetCongestionControl())->GetUtilization();
    NS_TEST_EXPECT_MSG_LT(hpcc, 0.999, "a quarter of a link");
}

/** Expected steady state of an algorithm. */
struct Promise
{
    std::string name;   ///< of the algorithm
    uint32_t senders;   ///< number of senders
    double utilization; ///< minimum utilization of the line, headers and telemetry included
    double most;        ///< maximum utilization
    double jain;        ///< minimum fairness index of the flows
    double leastQueue;  ///< minimum of the mean queue in the switch, bytes
    double mostQueue;   ///< maximum of the mean queue
};

/**
 * Hosts 1 to n send to host 0 over one switch forever; measured in steady state.
 * @param promise expected steady state
 */
void
TestCongestedIncast(const Promise& promise)
{
    constexpr int64_t BEGIN = 3 * MILLISECOND;
    constexpr int64_t END = 6 * MILLISECOND;
    const uint32_t senders = promise.senders;
    TopologyGraph star;
    star.name = "star";
    star.hosts = senders + 1;
    star.switches = 1;
    for (uint32_t host = 0; host < star.hosts; host++)
    {
        star.links.push_back({host, star.hosts, DataRate(100 * GIGA), MicroSeconds(1)});
    }
    const auto& entry = Registry<CongestionControlEntry>::Find(promise.name);
    RdmaNetwork network(
        star,
        entry.getTypeId(),
        [](RdmaNic& nic) {
            nic.SetAttribute("Mtu", UintegerValue(MTU));
            nic.SetAttribute("BaseRoundTrip", TimeValue(NanoSeconds(4200)));
            nic.SetAttribute("PathHops", UintegerValue(2));
        },
        0,
        entry.ecnStepPerGbps);
    for (uint32_t host = 1; host <= senders; host++)
    {
        network.Connect(host, 0, host);
        Write(network.Get(host, host), 100000000);
    }
    const FabricPort& port = network.fabric.devicesOfSwitches[0]->GetPort(0);
    const auto getSent = [&port] {
        return port.GetCounters().transmittedBytes +
               port.GetCounters().transmittedFrames * LINE_BYTES;
    };
    std::vector<uint64_t> received(senders + 1);
    uint64_t sent = 0;
    In(BEGIN, [&] {
        sent = getSent();
        for (uint32_t host = 1; host <= senders; host++)
        {
            received[host] = network.Get(0, host).GetCounters().receivedPackets;
        }
    });
    double queue = 0;
    uint32_t samples = 0;
    for (int64_t time = BEGIN; time < END; time += MICROSECOND / 2)
    {
        In(time, [&] {
            queue += static_cast<double>(port.GetQueueBytes(3));
            samples++;
        });
    }
    In(END, [] { Simulator::Stop(); });
    Simulator::Run();
    double sum = 0;
    double squares = 0;
    for (uint32_t host = 1; host <= senders; host++)
    {
        const auto packets = static_cast<double>(
            network.Get(0, host).GetCounters().receivedPackets - received[host]);
        sum += packets;
        squares += packets * packets;
    }
    const double utilization =
        static_cast<double>(getSent() - sent) / GetBytesSent(100e9, END - BEGIN);
    NS_TEST_EXPECT_MSG_GT_OR_EQ(utilization, promise.utilization, "part of the line in use");
    NS_TEST_EXPECT_MSG_LT_OR_EQ(utilization, promise.most, "part of the line in use");
    NS_TEST_EXPECT_MSG_GT_OR_EQ(sum * sum / senders / squares, promise.jain, "fairness");
    NS_TEST_EXPECT_MSG_GT_OR_EQ(queue / samples, promise.leastQueue, "mean queue");
    NS_TEST_EXPECT_MSG_LT_OR_EQ(queue / samples, promise.mostQueue, "mean queue");
    NS_TEST_EXPECT_MSG_EQ(network.fabric.GetTotal().droppedFrames, 0, "nothing is dropped");
    NS_TEST_EXPECT_MSG_EQ((network.fabric.GetTotal().pausesSent > 0),
                          (promise.name == "none" && senders > 1),
                          "only what knows no limit has to be paused");
}

/** With frame losses messages still arrive, and a window that was cut grows again. */
void
TestCongestionLoss(const std::string& name)
{
    constexpr uint64_t MESSAGES = 20;
    constexpr uint64_t BYTES = 200 * MTU;
    const auto& entry = Registry<CongestionControlEntry>::Find(name);
    RdmaNetwork network(
        MakeChain(2, 100 * GIGA, MICROSECOND),
        entry.getTypeId(),
        [](RdmaNic& nic) {
            nic.SetAttribute("Mtu", UintegerValue(MTU));
            nic.SetAttribute("BaseRoundTrip", TimeValue(NanoSeconds(4200)));
            nic.SetAttribute("RetransmissionTimeout", TimeValue(MicroSeconds(100)));
        },
        0,
        entry.ecnStepPerGbps);
    network.Connect(0, 1, 1);
    bool lossy = true;
    auto random = CreateObject<UniformRandomVariable>();
    random->SetStream(3);
    for (const uint32_t host : {0, 1})
    {
        network.SetTap(host, [&](Frame&) { return lossy && random->GetValue() < 0.01; });
    }
    for (uint64_t i = 0; i < MESSAGES; i++)
    {
        Write(network.Get(0, 1), BYTES);
    }
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), MESSAGES, "all messages");
    for (const Delivery& delivery : network.deliveries)
    {
        NS_TEST_EXPECT_MSG_EQ(delivery.message.bytes, BYTES, "whole");
    }
    NS_TEST_EXPECT_MSG_GT(network.Get(0, 1).GetCounters().retransmittedPackets, 0, "after losses");
    // Without further losses it recovers: many round trips.
    lossy = false;
    const int64_t begin = PicosecondsNow();
    constexpr uint64_t LONG = 40000000;
    Write(network.Get(0, 1), LONG);
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), MESSAGES + 1, "the long message");
    const double bound = static_cast<double>(LONG) * (1124.0 / 1000) * 8e12 / 100e9;
    NS_TEST_EXPECT_MSG_LT(static_cast<double>(network.deliveries.back().time - begin),
                          1.25 * bound,
                          "at nearly the line rate");
}

/** A cluster's switches mark as its congestion control recommends, unless the user overrides it. */
void
TestClusterMarking()
{
    const auto getThresholds = [](const std::string& name) {
        ClusterOptions options;
        options.ranks = 2;
        options.congestionControl = name;
        const Cluster cluster(options);
        DoubleValue kmin;
        DoubleValue kmax;
        cluster.GetFabric().devicesOfSwitches[0]->GetAttribute("EcnKminPerGbps", kmin);
        cluster.GetFabric().devicesOfSwitches[0]->GetAttribute("EcnKmaxPerGbps", kmax);
        Simulator::Destroy();
        return std::pair(kmin.Get(), kmax.Get());
    };
    NS_TEST_EXPECT_MSG_EQ(getThresholds("dctcp"), std::pair(3000.0, 3000.0), "a step");
    NS_TEST_EXPECT_MSG_EQ(getThresholds("dcqcn:preset=hpcc"), std::pair(4e3, 16e3), "the defaults");
    NS_TEST_EXPECT_MSG_EQ(getThresholds("dcqcn"), std::pair(10485.76, 20971.52), "SONiC's");
    const std::string kmax = "ns3::training::SwitchDevice::EcnKmaxPerGbps";
    Config::SetDefault(kmax, DoubleValue(5000));
    NS_TEST_EXPECT_MSG_EQ(getThresholds("dctcp"), std::pair(4e3, 5e3), "the user's");
    Config::SetDefault(kmax, DoubleValue(16000));
}

std::vector<Case>
MakeCases()
{
    std::vector<Case> cases;
    const auto addCongestedIncast = [&cases](const Promise& promise) {
        cases.push_back({promise.name + ", " + std::to_string(promise.senders) + " to 1",
                         [=] { TestCongestedIncast(promise); }});
    };
    cases.push_back({"telemetry of an idle path", TestTelemetryPath});
    cases.push_back({"marking thresholds of a cluster", TestClusterMarking});
    constexpr double PRODUCT = 100e9 * 4.2e-6 / 8;
    // Full utilization, or the target of the algorithm.
    for (const char* name : {"none", "window", "dcqcn", "dctcp", "timely", "swift"})
    {
        addCongestedIncast({name, 1, 0.999, 1.0001, 1, 0, FRAME_BYTES});
    }
    addCongestedIncast({"theta-power-tcp", 1, 0.999, 1.0001, 1, 0, FRAME_BYTES});
    addCongestedIncast({"hpcc", 1, 0.9595, 0.9605, 1, 0, 1});      // eta + W_AI
    addCongestedIncast({"power-tcp", 1, 0.9615, 0.9625, 1, 0, 1}); // eta + beta
    for (const uint32_t senders : {2, 4, 8})
    {
        const double others = (senders - 1) * PRODUCT;
        // All windows minus the capacity of the path, apart from headers and rounding.
        addCongestedIncast({"window", senders, 0.999, 1.0001, 0.999, 0.95 * others, 1.2 * others});
        // Each sender's port is paused at about a ninth of the buffer.
        addCongestedIncast({"none", senders, 0.999, 1.0001, 0.999, 5e6, 20e6});
        // Near the marking threshold of 300 KB, unless the windows hold less.
        addCongestedIncast({"dctcp",
                            senders,
                            0.999,
                            1.0001,
                            0.9,
                            0.95 * std::min(others, 300e3),
                            std::min(1.2 * others, 310e3)});
        // Between Kmin and Kmax on average, empty after the cuts.
        addCongestedIncast({"dcqcn", senders, 0.95, 1.0001, 0.98, 50e3, 1600e3});
        // A few packets, since each sender is paced.
        // Eta and each sender's increase.
        const auto most = [=](double increase) { return std::min(1.0, 0.95 + senders * increase); };
        // Increases beyond the line are a queue.
        const auto queue = [=](double packets, double increase) {
            return (packets + std::max(0.0, 0.95 + senders * increase - 1)) * PRODUCT;
        };
        addCongestedIncast({"hpcc", senders, 0.94, most(0.01) + 1e-4, 0.95, 0, queue(0.08, 0.01)});
        addCongestedIncast(
            {"power-tcp", senders, 0.95, most(0.012) + 1e-4, 0.999, 0, queue(0.05, 0.012)});
        addCongestedIncast({"theta-power-tcp", senders, 0.99, 1.0001, 0.999, 0, 0.2 * PRODUCT});
        // No fixed point (Zhu et al., "ECN or delay", CoNEXT 2016), only a bound on the queue.
        addCongestedIncast({"timely", senders, 0.4, 1.0001, 0.5, 0, 1e6});
        // The target delay at the resulting window of a sender, minus the idle round trip.
        double delay = 26.106e-6;
        for (int i = 0; i < 20; i++)
        {
            const double window = 100e9 / 8 * delay / senders / 1082;
            delay = 26.106e-6 + 100e-6 / (1 / std::sqrt(0.1) - 0.1) *
                                    std::max(0.0, 1 / std::sqrt(window) - 0.1);
        }
        const double delayed = (delay - 4.2e-6) * 100e9 / 8 * 1062 / 1082;
        addCongestedIncast(
            {"swift", senders, 0.999, 1.0001, 0.999, 0.97 * delayed, 1.03 * delayed});
    }
    for (const auto& [name, entry] : Registry<CongestionControlEntry>::All())
    {
        cases.push_back({name + " after losses", [name = name] { TestCongestionLoss(name); }});
    }
    return cases;
}

const Suite g_suite("rdma-incast", Duration::EXTENSIVE, MakeCases());

} // namespace ns3::training::tests::rdma_incast_test
