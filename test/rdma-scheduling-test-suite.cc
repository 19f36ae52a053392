/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-test-common.h"
#include "rdma/congestion/rdma-dcqcn.h"
#include "test-case.h"

#include "ns3/nic-program.h"
#include "ns3/roce-wire-format.h"
#include "ns3/string.h"
#include "ns3/topology-builder.h"

#include <map>

namespace ns3::training::tests::rdma_scheduling_test
{

/** @param values non-negative @return Jain's fairness index: 1 if all are equal */
double
GetJain(const std::vector<double>& values)
{
    double sum = 0;
    double squares = 0;
    for (double value : values)
    {
        sum += value;
        squares += value * value;
    }
    return sum * sum / (static_cast<double>(values.size()) * squares);
}

/** Divides the payload of data packets on the line, as an engine that compresses. */
class ShrinkingProgram : public NicProgram
{
  public:
    explicit ShrinkingProgram(uint32_t ratio)
        : m_ratio(ratio)
    {
    }

    Time GetSendLatency() const override
    {
        return Time(0);
    }

    Time GetReceiveLatency() const override
    {
        return Time(0);
    }

    Time GetSendTime(const Frame& frame) const override
    {
        return frame.kind == FrameKind::ROCE_DATA ? send : Time(0);
    }

    Time GetReceiveTime(const Frame& frame) const override
    {
        return frame.kind == FrameKind::ROCE_DATA ? receive : Time(0);
    }

    bool OnSend(Frame& frame) override
    {
        frame.bytes -= GetSaved(frame);
        return true;
    }

    bool OnReceive(Frame& frame) override
    {
        frame.bytes += GetSaved(frame);
        return true;
    }

    Time send;    ///< service time of a data packet on its way out
    Time receive; ///< service time of a data packet on its way in

  private:
    uint32_t GetSaved(const Frame& frame) const
    {
        return frame.payloadBytes - frame.payloadBytes / m_ratio;
    }

    uint32_t m_ratio;
};

/** A network whose NICs run ShrinkingProgram. */
struct ShrinkingNetwork : RdmaNetwork
{
    ShrinkingNetwork(const TopologyGraph& topology,
                     uint32_t ratio,
                     TypeId congestionControl = RdmaLineRate::GetTypeId(),
                     const std::function<void(RdmaNic&)>& configure = nullptr)
        : RdmaNetwork(topology, congestionControl, configure)
    {
        for (const auto& device : fabric.devices)
        {
            programs.push_back(CreateObject<ShrinkingProgram>(ratio));
            device->SetProgram(programs.back());
        }
    }

    std::vector<Ptr<ShrinkingProgram>> programs; ///< by host
};

/** If a congestion control rounds its window down to 0, one packet at a time is still sent. */
void
TestRdmaNoWindow()
{
    constexpr uint32_t MTU = 4096;
    constexpr int64_t DELAY = MICROSECOND;
    RdmaNetwork network(MakeChain(1, 100 * GIGA, DELAY), FixedRate::GetTypeId());
    RdmaQueuePair& sender = network.Connect(0, 1, 1);
    network.GetFixedRate(0, 1).window = 0;
    Write(sender, 5 * MTU);
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), 1, "the message arrives");
    NS_TEST_EXPECT_MSG_GT(network.deliveries[0].time, 9 * DELAY, "a round trip for each packet");
}

constexpr uint32_t MTU = 4096;
constexpr uint64_t PACKETS = 200;
constexpr int64_t DELAY = MICROSECOND;

/** @return frame of a packet in the middle of a message, bytes */
uint32_t
GetFrame(uint32_t ratio)
{
    return GetDataFrameBytes(WRITE_MIDDLE, MTU) - MTU + MTU / ratio;
}

int64_t
Finish(ShrinkingNetwork& network)
{
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 1, "the message arrives");
    return network.deliveries.empty() ? 0 : network.deliveries[0].time;
}

/** @return when the message has arrived, ps */
int64_t
Measure(ShrinkingNetwork& network)
{
    Write(network.Connect(0, 1, 1), PACKETS * MTU);
    return Finish(network);
}

/**
 * A program in the NIC that shrinks packets makes messages faster: queue pairs pace, windows limit
 * and the NIC injects what is on the line.
 */
void
TestRdmaShrinking()
{
    constexpr uint64_t RATE = 10 * GIGA;
    for (const uint32_t ratio : {1u, 2u, 4u, 8u, 16u})
    {
        // The first packet has a RETH; the gap behind the last one does not delay it.
        const int64_t line = LineTime(PACKETS * (GetFrame(ratio) + 20) + 16 - 12, RATE) + DELAY;
        for (const TypeId& control : {RdmaLineRate::GetTypeId(), RdmaDcqcn::GetTypeId()})
        {
            ShrinkingNetwork network(MakeChain(1, RATE, DELAY), ratio, control);
            const int64_t time = Measure(network);
            NS_TEST_EXPECT_MSG_EQ_TOL(time,
                                      line,
                                      static_cast<int64_t>(PACKETS),
                                      "paced by the line, ratio " << ratio);
        }
        {
            ShrinkingNetwork network(MakeChain(1, RATE, DELAY), ratio, FixedRate::GetTypeId());
            RdmaQueuePair& sender = network.Connect(0, 1, 1);
            network.GetFixedRate(0, 1).rate = RATE / 4.0;
            Write(sender, PACKETS * MTU);
            const auto time = static_cast<double>(Finish(network));
            NS_TEST_EXPECT_MSG_EQ_TOL(time / static_cast<double>(4 * (line - DELAY)),
                                      1,
                                      0.02,
                                      "paced by a quarter of the line, ratio " << ratio);
        }
        {
            ShrinkingNetwork network(
                MakeChain(1, RATE, DELAY),
                ratio,
                RdmaLineRate::GetTypeId(),
                [](RdmaNic& nic) { nic.SetAttribute("InjectionRate", StringValue("5Gbps")); });
            const auto time = static_cast<double>(Measure(network));
            NS_TEST_EXPECT_MSG_EQ_TOL(time / static_cast<double>(2 * (line - DELAY)),
                                      1,
                                      0.02,
                                      "injected at half the line, ratio " << ratio);
        }
        {
            // A round trip of 2 ms, in which a window of 8 packets on the line is sent.
            ShrinkingNetwork network(MakeChain(1, RATE, 1000 * MICROSECOND),
                                     ratio,
                                     FixedRate::GetTypeId());
            RdmaQueuePair& sender = network.Connect(0, 1, 1);
            network.GetFixedRate(0, 1).window = 8 * MTU;
            Write(sender, PACKETS * MTU);
            const double windows = PACKETS / (8. * ratio);
            const auto time = static_cast<double>(Finish(network));
            NS_TEST_EXPECT_MSG_EQ_TOL(time / 2e9,
                                      std::ceil(windows) - 0.5,
                                      0.4,
                                      "windows of 8 packets on the line, ratio " << ratio);
        }
    }
}

/** An engine slower than the line limits, on either side; the receiver's one pauses the sender. */
void
TestRdmaSlowEngine()
{
    constexpr uint64_t PACKETS = 1000;
    constexpr int64_t SERVICE = 2000000; // ps; the line takes 0.9 us for a shrunk packet
    for (const bool sends : {true, false})
    {
        ShrinkingNetwork network(MakeChain(2, 10 * GIGA, MICROSECOND), 4);
        (sends ? network.programs[0]->send : network.programs[1]->receive) = TimeStep(SERVICE);
        Write(network.Connect(0, 1, 1), PACKETS * 4096);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), 1, "the message arrives");
        const int64_t fill = network.deliveries[0].time - PACKETS * SERVICE;
        NS_TEST_EXPECT_MSG_GT(fill, (sends ? -SERVICE : 2 * MICROSECOND), "not faster");
        NS_TEST_EXPECT_MSG_LT(fill, 5 * MICROSECOND, "and not slower");
        const auto& counters = network.fabric.devices[1]->GetPort().GetCounters();
        NS_TEST_EXPECT_MSG_EQ((counters.pausesSent > 0), !sends, "pauses of a slow receiver");
        NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    }
}

/** Queue pairs of a NIC are served round robin. */
void
TestRdmaFairness()
{
    for (const uint32_t pairs : {2u, 16u, 100u})
    {
        constexpr uint64_t PACKETS = 64;
        RdmaNetwork network(
            BuildTopology("single-switch", 5, DataRate("100Gbps"), NanoSeconds(500)));
        std::map<uint32_t, double> half;
        uint64_t seen = 0;
        int64_t last = 0;
        for (uint32_t number = 0; number < pairs; number++)
        {
            Write(network.Connect(0, 1 + number % 4, number), PACKETS * 4096);
        }
        for (uint32_t host = 1; host < 5; host++)
        {
            network.SetTap(host, [&](Frame& frame) {
                half[frame.destinationQp] += ++seen <= pairs * PACKETS / 2 ? 1 : 0;
                last = PicosecondsNow();
                return false;
            });
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), pairs, "all arrive");
        std::vector<double> shares;
        for (const auto& [number, packets] : half)
        {
            shares.push_back(packets);
            NS_TEST_EXPECT_MSG_EQ_TOL(packets, PACKETS / 2, 1.0, "half of each, at half-time");
        }
        NS_TEST_EXPECT_MSG_GT(GetJain(shares), 0.999, "Jain's fairness index");
        NS_TEST_EXPECT_MSG_EQ(last,
                              LineTime(pairs * (PACKETS * (4096 + 82) + 16), 100 * GIGA) -
                                  LineTime(12, 100 * GIGA) + LineTime(4096 + 62 + 8, 100 * GIGA) +
                                  2 * 500000,
                              "the line never idles");
    }
}

/**
 * Many senders to one receiver: no drops, no deadlock, and the line is nearly full.
 * @param leastGoodput minimum goodput, as a fraction of the maximum
 * @param leastJain minimum fairness when half has arrived
 */
void
TestRdmaIncast(uint32_t senders, TypeId congestionControl, double leastGoodput, double leastJain)
{
    constexpr uint64_t BYTES = 8 << 20;
    RdmaNetwork network(
        BuildTopology("single-switch", senders + 1, DataRate("100Gbps"), MicroSeconds(1)),
        congestionControl);
    std::map<uint32_t, double> half;
    uint64_t seen = 0;
    for (uint32_t host = 1; host <= senders; host++)
    {
        Write(network.Connect(host, 0, host), BYTES);
    }
    network.SetTap(0, [&](Frame& frame) {
        half[frame.source] += ++seen <= senders * BYTES / 4096 / 2 ? 1 : 0;
        return false;
    });
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), senders, "all arrive");
    const double best = 8e12 * static_cast<double>(senders * BYTES) * (4096 + 82) / 4096 / 100e9;
    const double goodput = best / static_cast<double>(network.deliveries.back().time);
    NS_TEST_EXPECT_MSG_LT_OR_EQ(goodput, 1.0, "no more than the line can carry");
    NS_TEST_EXPECT_MSG_GT_OR_EQ(goodput, leastGoodput, "goodput, of the best there is");
    std::vector<double> shares;
    for (const auto& [source, packets] : half)
    {
        shares.push_back(packets);
    }
    NS_TEST_EXPECT_MSG_GT_OR_EQ(GetJain(shares), leastJain, "Jain's fairness index at half-time");
    const PortCounters total = network.fabric.GetTotal();
    NS_TEST_EXPECT_MSG_EQ(total.droppedFrames, 0, "nothing is dropped");
    NS_TEST_EXPECT_MSG_GT(total.markedFrames, 0, "the queue is marked");
    uint64_t cnps = 0;
    for (uint32_t host = 1; host <= senders; host++)
    {
        const QueuePairCounters& counters = network.Get(host, host).GetCounters();
        NS_TEST_EXPECT_MSG_EQ(counters.retransmittedPackets, 0, "nothing is sent again");
        NS_TEST_EXPECT_MSG_EQ(counters.timeouts, 0, "no timeout");
        cnps += counters.receivedCnps;
    }
    NS_TEST_EXPECT_MSG_EQ((cnps > 0), (congestionControl == RdmaDcqcn::GetTypeId()), "CNPs");
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
}

/**
 * A queue pair sends at the rate of its congestion control, alone and together with queue pairs of
 * other rates.
 * @param rates of the queue pairs of one NIC, bit/s
 */
void
TestRdmaPacing(const std::vector<double>& rates)
{
    constexpr double DURATION = 0.002; // s
    // The queue pairs start in order of increasing and of decreasing rate.
    for (const bool reverse : {false, true})
    {
        RdmaNetwork network(MakeChain(1, 100 * GIGA, MICROSECOND), FixedRate::GetTypeId());
        std::map<uint32_t, uint64_t> packets;
        std::map<uint32_t, int64_t> first;
        std::map<uint32_t, int64_t> last;
        for (uint32_t number = 0; number < rates.size(); number++)
        {
            network.Connect(0, 1, number);
            network.GetFixedRate(0, number).rate = rates[number];
            const int64_t start = reverse ? static_cast<int64_t>(rates.size()) - number : number;
            In(start * 3 * MICROSECOND,
               [&network, number]() { Write(network.Get(0, number), MAX_REQUEST); });
        }
        network.SetTap(1, [&](Frame& frame) {
            packets[frame.destinationQp]++;
            first.emplace(frame.destinationQp, PicosecondsNow());
            last[frame.destinationQp] = PicosecondsNow();
            return false;
        });
        Simulator::Stop(Seconds(DURATION));
        Simulator::Run();
        for (uint32_t number = 0; number < rates.size(); number++)
        {
            NS_TEST_ASSERT_MSG_GT(packets[number], 5, "it sends");
            const double rate = 8e12 * static_cast<double>(packets[number] - 1) * (4096 + 82) /
                                static_cast<double>(last[number] - first[number]);
            NS_TEST_EXPECT_MSG_EQ_TOL(rate, rates[number], 0.01 * rates[number], "rate");
            NS_TEST_EXPECT_MSG_GT(
                last[number],
                static_cast<int64_t>(1e12 * (DURATION - 3 * 33424 / rates[number])),
                "to the end");
        }
    }
}

/** Events per packet do not grow with the number of queue pairs. */
struct RdmaCostTestCase
{
    void Run();

    /** @param rate total rate, bit/s @return events of the run */
    uint64_t CountEvents(uint32_t pairs, double rate);

    static constexpr uint64_t PACKETS = 16384; ///< total
};

uint64_t
RdmaCostTestCase::CountEvents(uint32_t pairs, double rate)
{
    RdmaNetwork network(MakeChain(1, 100 * GIGA, MICROSECOND), FixedRate::GetTypeId());
    for (uint32_t number = 0; number < pairs; number++)
    {
        RdmaQueuePair& sender = network.Connect(0, 1, number);
        network.GetFixedRate(0, number).rate = rate / pairs;
        Write(sender, PACKETS / pairs * 4096);
    }
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), pairs, "all arrive");
    return Simulator::GetEventCount() - network.initialEvents;
}

void
RdmaCostTestCase::Run()
{
    // An ACK per 16 packets in either case. A queue pair's timer check finds no timeout once or
    // more.
    constexpr uint64_t ACKS = PACKETS / 16;
    const uint64_t one = CountEvents(1, 100e9);
    const uint64_t many = CountEvents(256, 25600e9); // each could fill the line
    NS_TEST_EXPECT_MSG_LT_OR_EQ(one, 2 * PACKETS + ACKS + 10, "two events a packet");
    NS_TEST_EXPECT_MSG_GT_OR_EQ(one, PACKETS + ACKS, "and no less than one");
    NS_TEST_EXPECT_MSG_LT_OR_EQ(many, one + 2 * 256, "no more with many, but for their timers");
    const uint64_t pacedOne = CountEvents(1, 50e9);
    const uint64_t pacedMany = CountEvents(256, 50e9);
    NS_TEST_EXPECT_MSG_LT_OR_EQ(pacedOne, 2 * PACKETS + ACKS + 10, "paced");
    NS_TEST_EXPECT_MSG_LT_OR_EQ(pacedMany, pacedOne + 4 * 256 + PACKETS / 20, "paced, many");
}

std::vector<Case>
MakeCases()
{
    std::vector<Case> cases;
    const auto addRdmaPacing = [&cases](const std::vector<double>& rates) {
        cases.push_back({"pacing of " + std::to_string(rates.size()) +
                             " queue pairs, the first at " + std::to_string(rates.front()) + " bps",
                         [=] { TestRdmaPacing(rates); }});
    };
    cases.push_back({"queue pairs share the line", TestRdmaFairness});
    cases.push_back({"a window of no bytes lets one packet through at a time", TestRdmaNoWindow});
    cases.push_back({"what a program in the NIC saves on the line is gained", TestRdmaShrinking});
    cases.push_back(
        {"an engine in the NIC that is slower than the line limits", TestRdmaSlowEngine});
    cases.push_back({"incast of 8, " + RdmaDcqcn::GetTypeId().GetName(),
                     [] { TestRdmaIncast(8, RdmaDcqcn::GetTypeId(), 0.65, 0.9); }});
    cases.push_back({"incast of 8, " + RdmaLineRate::GetTypeId().GetName(),
                     [] { TestRdmaIncast(8, RdmaLineRate::GetTypeId(), 0.995, 0.97); }});
    addRdmaPacing({37e9});
    addRdmaPacing({99e9});
    addRdmaPacing({200e6});
    addRdmaPacing({200e6, 50e9});
    addRdmaPacing({1e9, 2e9, 5e9, 10e9, 30e9});
    cases.push_back({"cost of a packet with 1 and 256 queue pairs", RunTest<RdmaCostTestCase>});
    return cases;
}

const Suite g_suite("rdma-scheduling", Duration::QUICK, MakeCases());

} // namespace ns3::training::tests::rdma_scheduling_test
