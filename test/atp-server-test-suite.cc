/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-test-common.h"
#include "test-case.h"

#include "ns3/atp-numbers.h"
#include "ns3/atp-recovery.h"
#include "ns3/atp-server.h"
#include "ns3/atp-slots.h"
#include "ns3/atp-window.h"
#include "ns3/atp-wire-format.h"
#include "ns3/boolean.h"
#include "ns3/contribution-check.h"
#include "ns3/number-format.h"
#include "ns3/topology-builder.h"
#include "ns3/wire-bytes.h"

#include <set>

namespace ns3::training::tests::atp_server_test
{

constexpr uint32_t ELEMENTS = 2;
constexpr uint32_t WINDOW = 4;
constexpr uint8_t JOB = 3;

/** A result sent by the server. */
struct Result
{
    AtpHeader header;
    uint32_t bits; ///< its first element
};

/**
 * A server on host 0. Host 1 plays the switches: it sends packets of rank 0, which is alone at its
 * switch, and of a rack of ranks 1, 2 and 3. It also receives the results.
 */
class Bench
{
  public:
    Bench()
    {
        m_fabric = FabricHelper().Install(
            BuildTopology("single-switch", 2, DataRate("100Gbps"), NanoSeconds(500)));
        server = CreateObject<AtpServer>();
        server->SetAttribute("Verify", BooleanValue(true));
        AtpServer::Session session;
        session.job = JOB;
        session.switchEndpoint = 1;
        session.window = WINDOW;
        session.slots = 100;
        session.elements = ELEMENTS;
        session.children = {{0}, {1, 2, 3}};
        server->SetSession(session, m_fabric.devices[0]);
        m_fabric.devices[1]->SetProgramReceiver(AtpHeader::PROTOCOL, JOB, [this](Frame* frame) {
            results.push_back({frame->As<AtpHeader>(),
                               frame->payload
                                   ? GetWord(frame->payload->bytes.data() + frame->payloadOffset)
                                   : 0});
            Frame::Free(frame);
        });
    }

    ~Bench()
    {
        Simulator::Destroy();
    }

    /**
     * Sends the contributions of some ranks, each with the value 10^rank, in one frame.
     * @param change sets further header fields
     */
    template <typename Change>
    void Send(uint32_t packet, uint32_t ranks, Change change)
    {
        AtpHeader header;
        header.job = JOB;
        header.packet = packet;
        header.slot = 17;
        header.isRackSum = ranks == 1 || ranks >= 14;
        header.children = (ranks & 1 ? 1 : 0) | (ranks & 14 ? 2 : 0);
        header.workers = header.isRackSum ? 0 : ranks >> 1;
        int32_t value = 0;
        for (uint32_t rank = 0; rank < 4; rank++)
        {
            ContributionCheck check;
            check.Configure(JOB, rank, 4);
            header.check += ranks >> rank & 1 ? check.GetPart(packet) : 0;
            value += ranks >> rank & 1 ? static_cast<int32_t>(std::pow(10, rank)) : 0;
        }
        change(header);
        Frame* frame = MakeFrame(GetAtpFrameBytes(ELEMENTS, false), LOSSY, 1, 0);
        frame->Set(header);
        frame->payloadBytes = 4 * ELEMENTS;
        frame->payload = Create<ByteBuffer>();
        frame->payload->bytes.assign(4 * ELEMENTS, 0);
        SetWord(frame->payload->bytes.data(),
                header.overflow ? ToBits(static_cast<float>(value) + 0.5F)
                                : static_cast<uint32_t>(saturates ? INT32_MAX : value));
        m_fabric.devices[1]->GetPort().Send(frame);
        Simulator::Run();
    }

    void Send(uint32_t packet, uint32_t ranks)
    {
        Send(packet, ranks, [](AtpHeader&) {});
    }

    Ptr<AtpServer> server;
    std::vector<Result> results;
    bool saturates{false}; ///< integers are saturated

  private:
    Fabric m_fabric;
};

/** Contributions in any combination make the correct sum once. */
void
TestAtpServerSum()
{
    Bench bench;
    const auto& counters = bench.server->GetCounters();
    bench.Send(0, 15);
    NS_TEST_ASSERT_MSG_EQ(bench.results.size(), 1, "complete by switches");
    NS_TEST_EXPECT_MSG_EQ(bench.results[0].bits, 1111, "as it came");
    NS_TEST_EXPECT_MSG_EQ(+bench.results[0].header.slot, 17, "of its slot");

    bench.Send(1, 4);
    bench.Send(1, 4);  // again
    bench.Send(1, 6);  // includes rank 2 again
    bench.Send(1, 14); // the whole rack, again with rank 2
    bench.Send(1, 1);
    NS_TEST_EXPECT_MSG_EQ(counters.duplicates, 3, "none of these is added");
    NS_TEST_EXPECT_MSG_EQ(bench.results.size(), 1, "two are missing");
    bench.Send(1, 10);
    NS_TEST_ASSERT_MSG_EQ(bench.results.size(), 2, "complete");
    NS_TEST_EXPECT_MSG_EQ(bench.results[1].bits, 1111, "each once");

    bench.Send(2, 2);
    bench.Send(2, 15);
    NS_TEST_EXPECT_MSG_EQ(bench.results.back().bits, 1111, "the whole in place of a part");
    bench.Send(2, 8);
    NS_TEST_EXPECT_MSG_EQ(bench.results.size(), 4, "who asks is answered");
    NS_TEST_EXPECT_MSG_EQ(bench.results.back().bits, 1111, "with the same");
    NS_TEST_EXPECT_MSG_EQ(counters.answers, 1, "again");

    // Packet 8 reuses the entry of packet 0, two windows earlier.
    bench.Send(8, 1, [](AtpHeader& header) { header.congested = true; });
    bench.Send(0, 15);
    NS_TEST_EXPECT_MSG_EQ(counters.stale, 1, "nobody waits for it");
    bench.Send(8, 14, [](AtpHeader& header) { header.contested = true; });
    NS_TEST_ASSERT_MSG_EQ(bench.results.size(), 5, "complete");
    NS_TEST_EXPECT_MSG_EQ(bench.results.back().header.congested, true, "marks are told");
    NS_TEST_EXPECT_MSG_EQ(bench.results.back().header.contested, true, "and contention");
    bench.Send(3, 15);
    NS_TEST_EXPECT_MSG_EQ(bench.results.back().header.congested, false, "of this packet");

    // A collision gets a replacement slot, the same in each answer.
    bench.Send(4, 1, [](AtpHeader& header) { header.collision = true; });
    bench.Send(4, 14, [](AtpHeader& header) { header.collision = true; });
    const AtpHeader told = bench.results.back().header;
    NS_TEST_EXPECT_MSG_EQ(told.collision, true, "told");
    NS_TEST_EXPECT_MSG_NE(told.newSlot, 17, "another");
    NS_TEST_EXPECT_MSG_EQ(counters.remapped, 1, "once");
    bench.Send(4, 1);
    NS_TEST_EXPECT_MSG_EQ(bench.results.back().header.newSlot, told.newSlot, "the same");
    NS_TEST_EXPECT_MSG_EQ(counters.results, 6, "sums");
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
}

void
SendFloats(Bench& bench, uint32_t packet)
{
    for (uint32_t rank : {3, 0, 2, 2, 1})
    {
        bench.Send(packet, 1U << rank, [](AtpHeader& header) { header.overflow = true; });
    }
}

/** Overflowing sums and values out of range use floats. */
void
TestAtpServerFloat()
{
    Bench bench;
    const auto& counters = bench.server->GetCounters();
    bench.Send(0, 14);
    SendFloats(bench, 0);
    NS_TEST_ASSERT_MSG_EQ(bench.results.size(), 2, "a wish and a result");
    NS_TEST_EXPECT_MSG_EQ(bench.results[0].header.overflow, true, "for floats");
    NS_TEST_EXPECT_MSG_EQ(bench.results[0].header.resend, false, "not to free slots");
    NS_TEST_EXPECT_MSG_EQ(bench.results[1].header.overflow, true, "are floats");
    NS_TEST_EXPECT_MSG_EQ(bench.results[1].header.resend, true, "and final");
    NS_TEST_EXPECT_MSG_EQ(ToFloat(bench.results[1].bits), 1113.0F, "each once");
    NS_TEST_EXPECT_MSG_EQ(counters.floats, 1, "counted");

    // Saturated in a switch, or at the server.
    bench.saturates = true;
    bench.Send(1, 15);
    NS_TEST_ASSERT_MSG_EQ(bench.results.size(), 3, "a wish");
    NS_TEST_EXPECT_MSG_EQ(bench.results[2].header.resend, false, "no result");
    // A worker that missed the request sends integers again.
    bench.Send(1, 2, [](AtpHeader& header) { header.resend = true; });
    NS_TEST_ASSERT_MSG_EQ(bench.results.size(), 4, "is told again");
    NS_TEST_EXPECT_MSG_EQ(bench.results[3].header.resend, false, "a wish");
    SendFloats(bench, 1);
    NS_TEST_ASSERT_MSG_EQ(bench.results.size(), 5, "a result");
    NS_TEST_EXPECT_MSG_EQ(ToFloat(bench.results[4].bits), 1113.0F, "each once");
    bench.Send(2, 1);
    bench.saturates = false;
    bench.Send(2, 14);
    NS_TEST_EXPECT_MSG_EQ(bench.results.back().header.overflow, true, "one saturated part");
    NS_TEST_EXPECT_MSG_EQ(bench.results.back().header.resend, false, "makes a wish");
}

/** Slots: one per window position, and replacements. */
void
TestAtpSlots()
{
    for (const uint32_t slots : {100, 101, 1000, 20000})
    {
        AtpSlots mine;
        mine.Reset(1, 100, slots);
        std::set<uint16_t> used;
        for (uint64_t packet = 0; packet < 100; packet++)
        {
            used.insert(mine.Get(packet));
            NS_TEST_EXPECT_MSG_LT(mine.Get(packet), slots, "in range");
            NS_TEST_EXPECT_MSG_EQ(mine.Get(packet), mine.Get(packet + 100), "by place");
        }
        NS_TEST_EXPECT_MSG_EQ(used.size(), 100, "no two the same");
        if (slots < 1000)
        {
            continue;
        }
        for (uint32_t i = 0; i < 50; i++)
        {
            const uint16_t old = mine.Get(i);
            const uint16_t slot = mine.Choose(old, i % 3, 3);
            NS_TEST_EXPECT_MSG_EQ(used.insert(slot).second, true, "a free one");
            NS_TEST_EXPECT_MSG_EQ(slot % 3, i % 3, "of this server");
            used.erase(old);
            mine.Set(i + 100, slot);
            NS_TEST_EXPECT_MSG_EQ(mine.Get(i), slot, "from now on");
        }
    }
    AtpSlots mine;
    AtpSlots others;
    mine.Reset(1, 100, 20000);
    others.Reset(2, 100, 20000);
    uint32_t same = 0;
    for (uint64_t packet = 0; packet < 100; packet++)
    {
        same += mine.Get(packet) == others.Get(packet);
    }
    NS_TEST_EXPECT_MSG_LT(same, 3, "jobs have different ones");
    mine.Reset(1, 100, 30); // more window positions than slots: shared
    NS_TEST_EXPECT_MSG_EQ(mine.Choose(5, 0, 1), 5, "there is no other");
}

/** Windows, round by round, against the published rules. */
struct AtpWindowTest
{
    /** One round of results, some of them marked, contested, or late. */
    void Round(AtpWindow& window, uint32_t marked, uint32_t contested, uint32_t late = 0)
    {
        const uint32_t results = window.GetPackets();
        for (uint32_t i = 0; i < results; i++)
        {
            now += i == results - late ? 20000001 : 0;
            window.OnResult(now, i < marked, i < contested);
        }
        base += results;
        window.OnProgress(now, base, base);
    }

    void Run()
    {
        AtpWindow window;
        window.Reset(AtpWindow::Control::FIXED, 100, 1, 308, 0);
        Round(window, 50, 50);
        NS_TEST_EXPECT_MSG_EQ(window.GetPackets(), 100, "fixed");
        NS_TEST_EXPECT_MSG_EQ(window.GetSlots(), 100, "fixed");

        base = 0;
        window.Reset(AtpWindow::Control::ECN, 100, 1, 308, 0);
        for (const uint32_t expected : {50, 25, 12, 6, 3, 1, 1})
        {
            Round(window, 1, 0);
            NS_TEST_EXPECT_MSG_EQ(window.GetPackets(), expected, "halved, down to a packet");
        }
        double packets = 1;
        while (packets < 100)
        {
            Round(window, 0, 0);
            packets = std::min(100.0, packets + 1500.0 / 308);
            NS_TEST_EXPECT_MSG_EQ(window.GetPackets(),
                                  static_cast<uint32_t>(packets),
                                  "1500 bytes more, up to 100 packets");
        }

        // A2TP: marks cut the window by half their smoothed fraction.
        base = 0;
        window.Reset(AtpWindow::Control::A2TP, 160, 1, 309, 20000000);
        Round(window, 80, 0);
        NS_TEST_EXPECT_MSG_EQ(window.GetPackets(), 155, "160 (1 - 1/8 * 1/2 / 2)");
        NS_TEST_EXPECT_MSG_EQ(window.GetSlots(), 155, "not more than the window");
        Round(window, 0, 0);
        NS_TEST_EXPECT_MSG_EQ(window.GetPackets(), 156, "a packet more");
        NS_TEST_EXPECT_MSG_EQ(window.GetSlots(), 156, "a packet more");

        // Contention: a fraction of up to 0.1 is tolerated; above it, late workers give up more
        // slots.
        double slots[2];
        for (const bool isLate : {false, true})
        {
            base = 0;
            now = 0;
            window.Reset(AtpWindow::Control::A2TP, 1000, 1, 309, 20000000);
            double gamma = 0;
            double beta = 0;
            double expected = 1000;
            for (uint32_t round = 0; round < 3; round++)
            {
                gamma += ((isLate ? 0.25 : 1) - gamma) / 64;
                beta += (std::min(1.0, 700 / expected) - beta) / 8;
                expected = beta > 0.1 ? expected * (1 - std::pow(beta - 0.1, gamma) / 1.9)
                                      : std::min(1000.0, expected + 1);
                Round(window, 0, 700, isLate ? 750 : 0);
                NS_TEST_EXPECT_MSG_EQ(window.GetSlots(),
                                      static_cast<uint32_t>(expected),
                                      "round " << round);
                NS_TEST_EXPECT_MSG_EQ(window.GetPackets(), 1000, "of the links");
            }
            slots[isLate] = expected;
        }
        NS_TEST_EXPECT_MSG_LT(slots[1], slots[0], "who is late gives more");
    }

    int64_t now{0};
    uint64_t base{0};
};

/** A worker with ten packets in flight. */
struct Sender
{
    Sender(uint64_t first, uint64_t servers, uint32_t threshold)
    {
        recovery.Begin(first, servers, threshold);
    }

    /** @return the packets that are sent again after a result */
    std::string Take(uint64_t packet)
    {
        waiting[packet] = false;
        while (base < waiting.size() && !waiting[base])
        {
            base++;
        }
        std::string resent;
        recovery.OnResult(
            packet,
            base,
            waiting.size(),
            [this](uint64_t other) { return waiting[other]; },
            [&resent](uint64_t other) { resent += std::to_string(other) + " "; });
        return resent;
    }

    AtpRecovery recovery;
    std::vector<bool> waiting = std::vector<bool>(10, true);
    uint64_t base{0};
};

void
TestAtpRecovery()
{
    const auto expect = [](Sender& sender, uint64_t packet, const std::string& resent) {
        const std::string actual = sender.Take(packet);
        NS_TEST_EXPECT_MSG_EQ(actual, resent, "after the result of packet " << packet);
    };
    Sender one(0, 1, 3);
    expect(one, 0, "");
    expect(one, 2, "");
    expect(one, 3, "");
    expect(one, 4, "1 "); // the third one past packet 1
    expect(one, 5, "");
    expect(one, 1, "");
    expect(one, 7, "");
    Sender two(1, 2, 1);
    expect(two, 1, ""); // of another server than packet 0
    expect(two, 2, "0 ");
    Sender late(0, 1, 0);
    late.recovery.OnTimeout(0, 10);
    expect(late, 0, "1 2 ");
    expect(late, 2, "3 4 ");
    expect(late, 9, ""); // of the first time
}

void
TestAtpNumbers()
{
    AtpNumbers numbers;
    numbers.Configure(false, 100, 5);
    const std::vector<float> values{1.234F, -5};
    const float large = 5.01F;
    NS_TEST_EXPECT_MSG_EQ(numbers.NeedFloats(values.data(), 2), false, "they fit");
    NS_TEST_EXPECT_MSG_EQ(numbers.NeedFloats(&large, 1), true, "above the largest value");
    uint8_t bytes[8];
    std::vector<float> sums(2);
    numbers.Write(values.data(), 2, false, bytes);
    NS_TEST_EXPECT_MSG_EQ(GetWord(bytes), 123, "rounded");
    const double bound = numbers.Read(bytes, 2, false, 3, sums.data());
    NS_TEST_EXPECT_MSG_EQ(sums[0], 1.23F, "as a number");
    NS_TEST_EXPECT_MSG_EQ(bound, 3 * 0.5 / 100 + std::ldexp(5, -24), "half a step per worker");
    numbers.Write(values.data(), 2, true, bytes);
    NS_TEST_EXPECT_MSG_EQ(numbers.Read(bytes, 2, true, 3, sums.data()), 0, "exact");
    NS_TEST_EXPECT_MSG_EQ(sums[0], values[0], "a float");
    numbers.Add({{1.234F, 6}, {1.234F, 1.234F}}, 0, 1, {}, sums);
    numbers.Add({{1.234F, 6}, {1.234F, 1.234F}}, 1, 2, {}, sums);
    NS_TEST_EXPECT_MSG_EQ(sums[0], 2.46F, "of integers");
    NS_TEST_EXPECT_MSG_EQ(sums[1], 6 + 1.234F, "of floats, as one is too large");
    numbers.Configure(false, 1e9, 5);
    numbers.Add({{2, 0}, {2, 0}}, 0, 2, {}, sums);
    NS_TEST_EXPECT_MSG_EQ(sums[0], 4, "of floats, as the integers would saturate");
}

const Suite g_suite("atp-server",
                    Duration::QUICK,
                    {{"parts that fit, overlap, come late, or come again", TestAtpServerSum},
                     {"sums of floats", TestAtpServerFloat},
                     {"slots of packets", TestAtpSlots},
                     {"windows by marks and contention", RunTest<AtpWindowTest>},
                     {"packets that are sent again", TestAtpRecovery},
                     {"integers and floats", TestAtpNumbers}});

} // namespace ns3::training::tests::atp_server_test
