/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-test-common.h"
#include "test-case.h"

#include "ns3/callback.h"
#include "ns3/rdma-datagram-queue-pair.h"
#include "ns3/rdma-send-scheduler.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <deque>

namespace ns3::training::tests::rdma_nic_test
{

constexpr uint32_t MTU = 4096;
constexpr int64_t DELAY = MICROSECOND;
constexpr int64_t PACKET_BITS = 8 * (MTU + 82); // on the line, in the middle of a message

/** Records a traced rate. */
void
NoteRate(std::vector<std::pair<int64_t, double>>* rates, uint32_t, double rate)
{
    rates->emplace_back(PicosecondsNow(), rate);
}

/** Records a traced retransmission. */
void
NotePsn(std::vector<uint64_t>* psns, uint32_t, uint64_t psn)
{
    psns->push_back(psn);
}

/** A rate that changes with each CNP. */
class SteppedRate : public RdmaCongestionControl
{
  public:
    /** @return the type */
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::training::tests::SteppedRate")
                                .SetParent<RdmaCongestionControl>()
                                .SetGroupName("DistributedTraining")
                                .AddConstructor<SteppedRate>();
        return tid;
    }

    void Initialize(const Path&) override
    {
    }

    double GetRate(int64_t) override
    {
        return rates.front();
    }

    void OnCnp(int64_t) override
    {
        rates.pop_front();
    }

    std::deque<double> rates{1e9}; ///< current rate, rate after the next CNP, ..., bit/s
};

/**
 * A rate change applies to the waiting packet: it is sent when the previous packet is paid for at
 * the new rate, at the earliest now.
 */
void
TestRdmaRateChange()
{
    /** Rates, times of their changes, and the send time of the waiting packet. */
    struct Example
    {
        std::vector<double> rates;    ///< bit/s
        std::vector<int64_t> changes; ///< time of each change since the previous packet, ps
        int64_t next;                 ///< time of the next packet since the previous packet, ps
    };

    // At 1 Gbit/s a packet takes 33.424 us.
    const int64_t unit = PACKET_BITS * 1000;
    const std::vector<Example> examples{
        {{1e9}, {}, unit},
        {{1e9, 2e9}, {5 * MICROSECOND}, unit / 2},
        {{1e9, 2e9}, {20 * MICROSECOND}, 20 * MICROSECOND}, // already overdue at the new rate
        {{1e9, 0.5e9}, {5 * MICROSECOND}, 2 * unit},
        {{1e9, 0.5e9, 1e9}, {5 * MICROSECOND, 10 * MICROSECOND}, unit},
        {{1e9, 2e9, 1e9}, {5 * MICROSECOND, 10 * MICROSECOND}, unit},
        {{1e9, 2e9, 0.25e9, 4e9}, {2 * MICROSECOND, 4 * MICROSECOND, 6 * MICROSECOND}, unit / 4},
        {{1e9, 0.5e9, 0.25e9}, {5 * MICROSECOND, 40 * MICROSECOND}, 4 * unit}};
    for (std::size_t i = 0; i < examples.size(); i++)
    {
        const Example& example = examples[i];
        RdmaNetwork network(MakeChain(1, 100 * GIGA, DELAY), SteppedRate::GetTypeId());
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        auto control = DynamicCast<SteppedRate>(sender.GetCongestionControl());
        control->rates.assign(example.rates.begin(), example.rates.end());
        std::vector<std::pair<int64_t, double>> traced;
        network.nics[0]->TraceConnectWithoutContext("Rate", MakeBoundCallback(&NoteRate, &traced));
        std::vector<int64_t> arrivals;
        network.SetTap(1, [&](Frame& frame) {
            arrivals.push_back(PicosecondsNow());
            if (frame.psn == 1)
            {
                const int64_t sent = PicosecondsNow() - DELAY - LineTime(MTU + 70, 100 * GIGA);
                for (int64_t change : example.changes)
                {
                    In(sent + change - PicosecondsNow(),
                       [&sender]() { sender.Receive(Frame::Allocate(FrameKind::ROCE_CNP)); });
                }
            }
            return false;
        });
        Write(sender, 5 * MTU);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(arrivals.size(), 5, "all packets");
        NS_TEST_EXPECT_MSG_EQ(arrivals[2] - arrivals[1], example.next, "example " << i);
        // Later packets use the last rate.
        const double last = 8e12 * (MTU + 82) / example.rates.back();
        NS_TEST_EXPECT_MSG_EQ(arrivals[4] - arrivals[3], static_cast<int64_t>(last), "then");
        NS_TEST_ASSERT_MSG_EQ(traced.size(), example.changes.size(), "each change is traced");
        for (std::size_t k = 0; k < traced.size(); k++)
        {
            NS_TEST_EXPECT_MSG_EQ(traced[k].second, example.rates[k + 1], "rate");
            const int64_t sent = arrivals[1] - DELAY - LineTime(MTU + 70, 100 * GIGA);
            NS_TEST_EXPECT_MSG_EQ(traced[k].first, sent + example.changes[k], "when it changed");
        }
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().receivedCnps, example.changes.size(), "CNPs");
    }

    // The line is busy, and the next packet follows immediately.
    RdmaNetwork network(MakeChain(1, 100 * GIGA, DELAY), SteppedRate::GetTypeId());
    RdmaQueuePair& sender = network.Connect(0, 1, 1);
    DynamicCast<SteppedRate>(sender.GetCongestionControl())->rates = {100e9, 1e9};
    std::vector<int64_t> arrivals;
    network.SetTap(1, [&](Frame&) {
        arrivals.push_back(PicosecondsNow());
        return false;
    });
    sender.Send(MakeRequest(2 * MTU));
    In(100000, [&]() { sender.Receive(Frame::Allocate(FrameKind::ROCE_CNP)); });
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(arrivals.size(), 2, "both packets");
    NS_TEST_EXPECT_MSG_EQ(arrivals[1] - arrivals[0], unit, "at the new rate");
}

/** A slow rate that becomes fast by itself. */
class RisingRate : public RdmaCongestionControl
{
  public:
    /// Time of the rise, ps.
    static constexpr int64_t RISE = 300 * MICROSECOND;

    /** @return the type */
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::training::tests::RisingRate")
                                .SetParent<RdmaCongestionControl>()
                                .SetGroupName("DistributedTraining")
                                .AddConstructor<RisingRate>();
        return tid;
    }

    void Initialize(const Path&) override
    {
    }

    double GetRate(int64_t now) override
    {
        m_isFast = now >= RISE;
        return m_isFast ? 1e9 : 1e6;
    }

    int64_t GetRateEnd() const override
    {
        return m_isFast ? std::numeric_limits<int64_t>::max() : RISE;
    }

  private:
    bool m_isFast{false};
};

/** A rate that rises with time brings the waiting packet forward, though no event tells of it. */
void
TestRdmaRisingRate()
{
    RdmaNetwork network(MakeChain(1, 100 * GIGA, DELAY), RisingRate::GetTypeId(), [](RdmaNic& nic) {
        nic.SetAttribute("PacingBurst", UintegerValue(0));
    });
    RdmaQueuePair& sender = network.Connect(0, 1, 1);
    std::vector<int64_t> sent;
    network.SetTap(1, [&](Frame&) {
        sent.push_back(PicosecondsNow() - DELAY - LineTime(MTU + 70, 100 * GIGA));
        return false;
    });
    sender.Send(MakeRequest(4 * MTU));
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(sent.size(), 4, "all packets");
    // At 1 Mbit/s the second packet would wait for 33 ms.
    NS_TEST_EXPECT_MSG_EQ(sent[1], RisingRate::RISE, "when the rate rises");
    NS_TEST_EXPECT_MSG_EQ(sent[2] - sent[1], PACKET_BITS * 1000, "then at 1 Gbit/s");
}

/**
 * After a pause a paced queue pair makes up for some of the lost time, as a token bucket: packet n
 * leaves n line times after the end of the pause, or when n - PacingBurst packets are paid for.
 */
void
TestRdmaPacingBurst(uint32_t burst)
{
    constexpr uint64_t PACKETS = 40;
    constexpr uint64_t FIRST = 5; // packets before the pause
    RdmaNetwork network(
        MakeChain(1, 100 * GIGA, DELAY),
        SteppedRate::GetTypeId(),
        [&](RdmaNic& nic) { nic.SetAttribute("PacingBurst", UintegerValue(burst)); });
    RdmaQueuePair& sender = network.Connect(0, 1, 1);
    DynamicCast<SteppedRate>(sender.GetCongestionControl())->rates = {50e9};
    const int64_t unit = PACKET_BITS * 20; // at 50 Gbit/s
    const int64_t line = LineTime(MTU + 82, 100 * GIGA);
    std::vector<int64_t> sent;
    network.SetTap(1, [&](Frame&) {
        sent.push_back(PicosecondsNow() - DELAY - LineTime(MTU + 70, 100 * GIGA));
        return false;
    });
    network.fabric.devices[0]->SetAttribute("PauseResponse", TimeValue(Time(0)));
    FabricPort& port = network.fabric.devices[0]->GetPort();
    const int64_t resume = 20 * unit;
    In((FIRST - 1) * unit + unit / 2, [&]() { port.Arrive(MakePause(1 << 3, MAX_PAUSE)); });
    In(resume, [&]() { port.Arrive(MakePause(1 << 3, 0)); });
    sender.Send(MakeRequest(PACKETS * MTU));
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(sent.size(), PACKETS, "all packets");
    for (uint64_t i = FIRST; i < PACKETS; i++)
    {
        const auto n = static_cast<int64_t>(i - FIRST);
        const int64_t time = resume + std::max(n * line, (n - burst) * unit);
        NS_TEST_EXPECT_MSG_EQ_TOL(sent[i], time, 10, "packet " << i);
    }
}

/** Latencies of posting and completion, in closed form. */
void
TestRdmaLatency()
{
    constexpr int64_t NANOSECOND = 1000;
    for (const auto& [doorbell, dma, completion] :
         std::vector<std::tuple<int64_t, int64_t, int64_t>>{{0, 0, 0},
                                                            {150, 0, 0},
                                                            {0, 600, 0},
                                                            {0, 0, 750},
                                                            {150, 600, 750}})
    {
        const auto configure =
            [doorbell = doorbell, dma = dma, completion = completion](RdmaNic& nic) {
                nic.SetAttribute("DoorbellLatency", TimeValue(NanoSeconds(doorbell)));
                nic.SetAttribute("DmaReadLatency", TimeValue(NanoSeconds(dma)));
                nic.SetAttribute("CompletionLatency", TimeValue(NanoSeconds(completion)));
            };
        RdmaNetwork network(MakeChain(1, 100 * GIGA, DELAY), RdmaLineRate::GetTypeId(), configure);
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        const int64_t before = (doorbell + dma) * NANOSECOND;
        const int64_t after = completion * NANOSECOND;
        // Three together wait once. A fourth one, posted while the line is busy, waits separately.
        Write(sender, 1000);
        sender.Send(MakeRequest(2 * MTU));
        Write(sender, 1000);
        In(600 * NANOSECOND, [&]() { Write(sender, 1000); });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), 4, "all arrive");
        const uint64_t small = 1000 + 62 + 16;
        const auto arrive = [](uint64_t ahead, uint64_t frame) {
            return LineTime(ahead + frame + 8, 100 * GIGA) + DELAY;
        };
        const uint64_t middle = small + 20 + 2 * (MTU + 82);
        NS_TEST_EXPECT_MSG_EQ(network.deliveries[0].time, before + arrive(0, small) + after, "1");
        NS_TEST_EXPECT_MSG_EQ(network.deliveries[1].time,
                              before + arrive(small + 20 + MTU + 82, MTU + 62) + after,
                              "2");
        NS_TEST_EXPECT_MSG_EQ(network.deliveries[2].time,
                              before + arrive(middle, small) + after,
                              "3");
        // The line is idle again 0.84 us after the start of the first three.
        const int64_t free = before + LineTime(middle + small + 20, 100 * GIGA);
        const int64_t own = 600 * NANOSECOND + before;
        NS_TEST_EXPECT_MSG_EQ(network.deliveries[3].time,
                              std::max(free, own) + arrive(0, small) + after,
                              "4");

        // Datagrams have the same latency.
        const int64_t start = PicosecondsNow();
        int64_t received = 0;
        auto datagrams = network.nics[0]->CreateDatagramQueuePair(1);
        network.nics[1]->CreateDatagramQueuePair(1)->SetReceiveHandler(
            [&](const RdmaDatagram&) { received = PicosecondsNow(); });
        datagrams->SendDatagram(1, 1, MakeRequest(1000));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(received - start, before + arrive(0, 1000 + 62 + 8) + after, "UD");
    }
}

/** The injection rate limits the total data of a NIC; its queue pairs share it equally. */
void
TestRdmaInjectionRate()
{
    constexpr uint64_t PACKETS = 64;
    for (const double rate : {25e9, 50e9, 99e9, 100e9, 400e9, 0.0})
    {
        for (const uint32_t pairs : {1u, 7u})
        {
            RdmaNetwork network(MakeChain(1, 100 * GIGA, DELAY),
                                RdmaLineRate::GetTypeId(),
                                [rate](RdmaNic& nic) {
                                    nic.SetAttribute(
                                        "InjectionRate",
                                        DataRateValue(DataRate(static_cast<uint64_t>(rate))));
                                });
            std::vector<int64_t> arrivals;
            for (uint32_t number = 0; number < pairs; number++)
            {
                network.Connect(0, 1, number);
            }
            network.SetTap(1, [&](Frame&) {
                arrivals.push_back(PicosecondsNow());
                return false;
            });
            for (uint32_t number = 0; number < pairs; number++)
            {
                network.Get(0, number).Send(MakeRequest(PACKETS * MTU));
            }
            Simulator::Run();
            NS_TEST_ASSERT_MSG_EQ(arrivals.size(), pairs * PACKETS, "all arrive");
            const double effective = rate == 0 || rate > 100e9 ? 100e9 : rate;
            const double gap = 8e12 * (MTU + 82) / effective;
            const auto first = static_cast<double>(DELAY + LineTime(MTU + 70, 100 * GIGA));
            for (std::size_t i = 0; i < arrivals.size(); i++)
            {
                // One picosecond of rounding per packet.
                NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(arrivals[i]),
                                          first + static_cast<double>(i) * gap,
                                          static_cast<double>(i + 1),
                                          "packet " << i << " at " << rate);
            }
            NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), pairs, "all messages");
        }
    }
}

/** A retransmission is traced with its packet number. */
void
TestRdmaRetransmissionTrace()
{
    for (const std::string recovery : {"go-back-n", "selective-repeat"})
    {
        RdmaNetwork network(
            MakeChain(1, 100 * GIGA, DELAY),
            RdmaLineRate::GetTypeId(),
            [recovery](RdmaNic& nic) { nic.SetAttribute("LossRecovery", StringValue(recovery)); });
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        std::vector<uint64_t> traced;
        network.nics[0]->TraceConnectWithoutContext("Retransmission",
                                                    MakeBoundCallback(&NotePsn, &traced));
        bool lose = true;
        network.SetTap(1, [&](Frame& frame) {
            return frame.psn == 5 ? std::exchange(lose, false) : false;
        });
        Write(sender, 20 * MTU);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 1, "arrives");
        NS_TEST_EXPECT_MSG_EQ(traced.size(), sender.GetCounters().retransmittedPackets, "all");
        NS_TEST_ASSERT_MSG_GT(traced.size(), 0, "at least one");
        NS_TEST_EXPECT_MSG_EQ(traced[0], 5, "the lost one first");
    }
}

/** A send queue that counts CanSend() calls. */
class CountingQueue : public RdmaSendQueue
{
  public:
    /** @param gap time between packets, ps */
    CountingQueue(uint32_t number, uint32_t packets, int64_t gap)
        : RdmaSendQueue(number, LOSSLESS),
          m_left(packets),
          m_gap(gap)
    {
    }

    bool CanSend() const override
    {
        asked++;
        return m_left > 0;
    }

    Frame* MakeFrame(int64_t now) override
    {
        m_left--;
        m_nextSendTime = now + m_gap;
        Frame* frame = training::tests::MakeFrame(1062, LOSSLESS);
        frame->psn = GetNumber();
        return frame;
    }

    static uint64_t asked; ///< calls of CanSend() on all of them

  private:
    uint32_t m_left;
    int64_t m_gap;
};

uint64_t CountingQueue::asked = 0;

/**
 * The scheduler inspects only queues that are ready, however many others there are, and serves them
 * round robin.
 */
void
TestRdmaSchedulerCost()
{
    constexpr uint32_t PACKETS = 16384; // total
    for (const bool paced : {false, true})
    {
        for (const uint32_t count : {1u, 16u, 4096u})
        {
            Recorder from;
            Recorder to;
            from.port.Connect(to.port, 100 * GIGA, TimeStep(DELAY));
            to.port.Connect(from.port, 100 * GIGA, TimeStep(DELAY));
            RdmaSendScheduler scheduler;
            scheduler.Attach(&from.port, 0);
            from.port.SetSource(&scheduler);
            CountingQueue::asked = 0;
            // Together the paced queues fill half the line.
            const int64_t gap = paced ? 2 * count * LineTime(1082, 100 * GIGA) : 0;
            std::deque<CountingQueue> queues;
            for (uint32_t number = 0; number < count; number++)
            {
                queues.emplace_back(number, PACKETS / count, gap);
            }
            from.port.Arrive(MakePause(1 << LOSSLESS, 10)); // all queues are ready at the start
            for (CountingQueue& queue : queues)
            {
                scheduler.Schedule(queue);
            }
            Simulator::Run();
            NS_TEST_ASSERT_MSG_EQ(to.arrivals.size(), PACKETS, "all arrive");
            NS_TEST_EXPECT_MSG_LT_OR_EQ(CountingQueue::asked,
                                        uint64_t{4} * PACKETS + count,
                                        "questions with " << count << " queues");
            uint64_t wrong = 0;
            for (uint32_t i = 0; i < PACKETS; i++)
            {
                wrong += to.arrivals[i].psn != i % count;
            }
            NS_TEST_EXPECT_MSG_EQ(wrong, 0, "in turn");
            scheduler.Attach(nullptr, 0);
            Simulator::Destroy();
        }
    }
}

/**
 * Packets to queue pairs that a NIC does not have are dropped: counted, and traced with the reason.
 */
struct RdmaUnknownQueuePairTestCase
{
    void Run()
    {
        RdmaNetwork network(MakeChain(1, 100 * GIGA, DELAY));
        network.fabric.devices[1]->TraceConnectWithoutContext(
            "Drop",
            MakeCallback(&RdmaUnknownQueuePairTestCase::Note, this));
        network.nics[0]->CreateQueuePair(5, 1, 9)->Send(MakeRequest(0));
        network.nics[0]->CreateDatagramQueuePair(6)->SendDatagram(1, 8, MakeRequest(100));
        Simulator::Stop(MicroSeconds(100)); // before the first timeout
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(numbers.size(), 2, "each packet");
        NS_TEST_EXPECT_MSG_EQ(numbers[0], 9, "of the connection");
        NS_TEST_EXPECT_MSG_EQ(numbers[1], 8, "the datagram");
        NS_TEST_EXPECT_MSG_EQ(network.fabric.devices[1]->GetPort().GetCounters().droppedFrames,
                              2,
                              "counted");
    }

    void Note(const Frame& frame, uint16_t, DropReason reason)
    {
        NS_TEST_EXPECT_MSG_EQ(reason, DropReason::NO_RECEIVER, "reason");
        numbers.push_back(frame.destinationQp);
    }

    std::vector<uint32_t> numbers; // of queue pairs
};

const Suite g_suite("rdma-nic",
                    Duration::QUICK,
                    {{"packets to unknown queue pairs are dropped",
                      RunTest<RdmaUnknownQueuePairTestCase>},
                     {"a new rate acts on the waiting packet", TestRdmaRateChange},
                     {"a rate that rises with time acts on the waiting packet", TestRdmaRisingRate},
                     {"pacing keeps a credit of 0 packets", [] { TestRdmaPacingBurst(0); }},
                     {"pacing keeps a credit of 4 packets", [] { TestRdmaPacingBurst(4); }},
                     {"latencies of doorbell, DMA and completion", TestRdmaLatency},
                     {"injection rate", TestRdmaInjectionRate},
                     {"trace of retransmissions", TestRdmaRetransmissionTrace},
                     {"scheduler of 1 to 4096 queues", TestRdmaSchedulerCost}});

} // namespace ns3::training::tests::rdma_nic_test
