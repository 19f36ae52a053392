/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-test-common.h"
#include "test-case.h"

#include "ns3/roce-wire-format.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <set>

namespace ns3::training::tests::rdma_recovery_test
{

/**
 * Go-back-N with isolated losses: one NAK each, and at most a window of retransmissions.
 * @param delay of the link, ps
 * @param lost the packets to drop, once each
 */
void
TestRdmaGoBackN(uint32_t packets, int64_t delay, const std::vector<uint32_t>& lost)
{
    constexpr uint32_t MTU = 4096;
    RdmaNetwork network(MakeChain(1, 100 * GIGA, delay));
    RdmaQueuePair& sender = network.Connect(0, 1, 1);
    std::set<uint32_t> lose(lost.begin(), lost.end());
    network.SetTap(1, [&](Frame& frame) { return lose.erase(frame.psn) > 0; });
    Write(sender, uint64_t{packets} * MTU);
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(lose.size(), 0, "all that was to be lost has been");
    NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), 1, "the message arrives, once");
    const QueuePairCounters& sent = sender.GetCounters();
    const QueuePairCounters& received = network.Get(1, 1).GetCounters();
    const bool last = lost.back() + 1 == packets; // no later packet reveals the gap
    NS_TEST_EXPECT_MSG_EQ(received.sentNaks, lost.size() - (last ? 1 : 0), "one NAK per gap");
    NS_TEST_EXPECT_MSG_EQ(sent.timeouts, (last ? 1 : 0), "timeouts");
    NS_TEST_EXPECT_MSG_EQ(received.receivedPackets, packets, "accepted");
    NS_TEST_EXPECT_MSG_EQ(sent.sentPackets, packets + sent.retransmittedPackets, "sent");
    // Only packets in flight when the NAK arrived are retransmitted: a round trip of packets.
    const auto window = static_cast<uint64_t>(2 * delay / LineTime(MTU + 82, 100 * GIGA) + 4);
    uint64_t most = last ? 16 : 0; // since the last acknowledgement
    uint64_t least = 0;
    for (uint32_t psn : lost)
    {
        most += std::min<uint64_t>(window, packets - psn);
        least++;
    }
    NS_TEST_EXPECT_MSG_LT_OR_EQ(sent.retransmittedPackets, most, "no more than the window");
    NS_TEST_EXPECT_MSG_GT_OR_EQ(sent.retransmittedPackets, least, "all that was lost");
    NS_TEST_EXPECT_MSG_EQ(sent.sentPackets,
                          received.receivedPackets + received.duplicatePackets +
                              received.outOfOrderPackets + lost.size(),
                          "every packet is accounted for");
    if (!last)
    {
        NS_TEST_EXPECT_MSG_EQ(received.duplicatePackets, 0, "the NAK says where to go back to");
    }
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
}

constexpr int64_t DELAY = 1000000;           ///< of the link, ps
constexpr int64_t TIMEOUT = 4 * MILLISECOND; ///< the default, ps

/**
 * Losses that only the timer repairs, to the picosecond: last packets, ACKs and NAKs, with doubled
 * timeouts, until the queue pair fails.
 */
void
TestRdmaTimeout()
{
    const TopologyGraph graph = MakeChain(1, 100 * GIGA, DELAY);
    const int64_t oneWay = LineTime(1000 + 78 + 8, 100 * GIGA) + DELAY;

    // The only packet is lost 0 to 3 times.
    for (uint32_t losses = 0; losses <= 3; losses++)
    {
        RdmaNetwork network(graph);
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        uint32_t left = losses;
        network.SetTap(1, [&](Frame&) { return left > 0 ? left-- > 0 : false; });
        Write(sender, 1000);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), 1, "arrives");
        NS_TEST_EXPECT_MSG_EQ(network.deliveries[0].time,
                              TIMEOUT * ((1 << losses) - 1) + oneWay,
                              "doubling timeouts, " << losses << " losses");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().timeouts, losses, "timeouts");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().retransmittedPackets, losses, "sent again");
    }

    // The ACK is lost: the packet is retransmitted and acknowledged, but not delivered twice.
    {
        RdmaNetwork network(graph);
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        uint32_t left = 2;
        network.SetTap(0, [&](Frame&) { return left > 0 ? left-- > 0 : false; });
        Write(sender, 1000);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 1, "delivered once");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().timeouts, 2, "timeouts");
        const QueuePairCounters& received = network.Get(1, 1).GetCounters();
        NS_TEST_EXPECT_MSG_EQ(received.duplicatePackets, 2, "duplicates");
        NS_TEST_EXPECT_MSG_EQ(received.sentAcks, 3, "are acknowledged");
        NS_TEST_EXPECT_MSG_EQ(received.sentNaks, 0, "and no gap");
        // The queue pair continues to work.
        Write(sender, 5000);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 2, "the next message");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().timeouts, 2, "without another timeout");
    }

    // An ACK in the middle of a message is lost: a later one covers it.
    {
        RdmaNetwork network(graph);
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        bool lose = true;
        network.SetTap(0, [&](Frame&) { return std::exchange(lose, false); });
        Write(sender, 64 * 4096);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 1, "delivered");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().timeouts, 0, "no timeout");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().retransmittedPackets, 0, "nothing again");
    }

    // The NAK is lost: the receiver sends only one, and the timer repairs the loss.
    {
        RdmaNetwork network(graph);
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        bool lose = true;
        network.SetTap(1, [&](Frame& frame) {
            return frame.psn == 20 ? std::exchange(lose, false) : false;
        });
        network.SetTap(0, [&](Frame& frame) { return frame.syndrome == SYNDROME_NAK_SEQUENCE; });
        Write(sender, 64 * 4096);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 1, "delivered");
        NS_TEST_EXPECT_MSG_EQ(network.Get(1, 1).GetCounters().sentNaks, 1, "one NAK");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().timeouts, 1, "one timeout");
        NS_TEST_EXPECT_MSG_GT(network.deliveries[0].time, TIMEOUT, "after the timeout");
        NS_TEST_EXPECT_MSG_LT(network.deliveries[0].time, TIMEOUT + 100 * MICROSECOND, "at once");
    }

    // After progress the timeout is reset from its doubled value.
    {
        RdmaNetwork network(graph);
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        uint32_t left = 3;
        network.SetTap(1, [&](Frame&) { return left > 0 ? left-- > 0 : false; });
        Write(sender, 1000); // arrives after 4 + 8 + 16 ms
        In(30 * MILLISECOND, [&]() {
            NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 1, "the first has arrived");
            left = 1;
            Write(sender, 1000);
        });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), 2, "the second as well");
        NS_TEST_EXPECT_MSG_EQ(network.deliveries[1].time,
                              30 * MILLISECOND + TIMEOUT + oneWay,
                              "after one plain timeout");
    }

    // Nothing arrives: an error after all retries, then silence.
    for (const uint32_t limit : {7u, 2u, 0u})
    {
        RdmaNetwork network(graph, RdmaLineRate::GetTypeId(), [&](RdmaNic& nic) {
            nic.SetAttribute("RetryLimit", UintegerValue(limit));
        });
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        network.SetTap(1, [](Frame&) { return true; });
        std::string error;
        int64_t when = 0;
        uint32_t errors = 0;
        sender.SetErrorHandler([&](const std::string& text) {
            error = text;
            when = PicosecondsNow();
            errors++;
            Write(sender, 1000); // ignored
        });
        Write(sender, 1000);
        Write(sender, 1000);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(errors, 1, "one error");
        NS_TEST_EXPECT_MSG_EQ(when, TIMEOUT * ((int64_t{2} << limit) - 1), "when");
        NS_TEST_EXPECT_MSG_EQ(error,
                              "queue pair 1 to endpoint 1: retry limit of " +
                                  std::to_string(limit) + " reached",
                              "what");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().sentPackets,
                              2 * (uint64_t{limit} + 1),
                              "no more is sent");
        NS_TEST_EXPECT_MSG_EQ(sender.GetSender().CanSend(), false, "ever");
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 0, "nothing has arrived");
        NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    }
}

/**
 * A queue pair that has not requested an ACK yet does not time out for lack of one: slow pace, long
 * pause, small window.
 */
void
TestRdmaSlowSender()
{
    constexpr uint32_t PACKETS = 40;
    // 16 packets at this pace take twice the timeout.
    {
        constexpr double RATE = 16 * (4096 + 82) * 8 / 0.008;
        RdmaNetwork network(MakeChain(1, 100 * GIGA, MICROSECOND), FixedRate::GetTypeId());
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        network.GetFixedRate(0, 1).rate = RATE;
        Write(sender, PACKETS * 4096);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), 1, "arrives");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().timeouts, 0, "no timeout");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().retransmittedPackets, 0, "nothing twice");
        NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(network.deliveries[0].time),
                                  8e12 * ((PACKETS - 1) * (4096 + 82) + 16) / RATE,
                                  2.0 * MICROSECOND,
                                  "at its pace");
    }
    // The same, if the first packet that requests an ACK is lost.
    {
        constexpr double RATE = 16 * (4096 + 82) * 8 / 0.008;
        RdmaNetwork network(MakeChain(1, 100 * GIGA, MICROSECOND), FixedRate::GetTypeId());
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        network.GetFixedRate(0, 1).rate = RATE;
        bool lose = true;
        network.SetTap(1, [&](Frame& frame) {
            return frame.psn == 0 ? std::exchange(lose, false) : false;
        });
        network.SetTap(0, [&](Frame& frame) { return frame.syndrome != SYNDROME_ACK; });
        Write(sender, PACKETS * 4096);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 1, "arrives");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().timeouts, 1, "one timeout");
    }
    // A line shared by many queue pairs is equally slow for each.
    {
        RdmaNetwork network(MakeChain(1, GIGA, MICROSECOND));
        for (uint32_t number = 0; number < 32; number++)
        {
            Write(network.Connect(0, 1, number), PACKETS * 4096);
        }
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 32, "all arrive");
        for (uint32_t number = 0; number < 32; number++)
        {
            const QueuePairCounters& counters = network.Get(0, number).GetCounters();
            NS_TEST_EXPECT_MSG_EQ(counters.timeouts, 0, "no timeout");
            NS_TEST_EXPECT_MSG_EQ(counters.sentPackets, PACKETS, "nothing twice");
        }
    }
    // A window smaller than the ACK interval.
    for (const uint32_t packets : {1u, 3u, 15u, 16u, 17u, 40u})
    {
        RdmaNetwork network(MakeChain(1, 100 * GIGA, MICROSECOND), FixedRate::GetTypeId());
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        network.GetFixedRate(0, 1).window = packets * 4096;
        Write(sender, 5 * PACKETS * 4096);
        uint64_t most = 0;
        uint64_t acknowledged = 0;
        uint64_t sent = 0;
        network.SetTap(1, [&](Frame&) {
            sent++;
            most = std::max(most, sent - acknowledged);
            return false;
        });
        network.SetTap(0, [&](Frame& frame) {
            acknowledged = frame.psn + 1;
            return false;
        });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 1, "arrives, window " << packets);
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().timeouts, 0, "without the timer's help");
        NS_TEST_EXPECT_MSG_LT_OR_EQ(most, packets, "the window holds");
    }
}

/** @param recovery loss recovery */
void
TestRdmaPsnWrap(const std::string& recovery)
{
    // 16.8 million frames: they bypass the links to take less than a second. The ACKs use the
    // links.
    constexpr uint64_t WRAP = 1 << 24;
    constexpr uint64_t PACKETS = WRAP + 1000;
    RdmaNetwork network(MakeChain(1, GIGA, 1000), RdmaLineRate::GetTypeId(), [&](RdmaNic& nic) {
        nic.SetAttribute("Mtu", UintegerValue(1));
        nic.SetAttribute("AckInterval", UintegerValue(1 << 16));
        nic.SetAttribute("InFlightLimit", UintegerValue(1 << 23));
        nic.SetAttribute("LossRecovery", StringValue(recovery));
    });
    RdmaQueuePair& sender = network.Connect(0, 1, 1);
    RdmaQueuePair& receiver = network.Get(1, 1);
    network.fabric.devices[0]->SetAttribute("PauseResponse", TimeValue(Time(0)));
    network.fabric.devices[0]->GetPort().Arrive(MakePause(1 << LOSSLESS, 65535)); // 33 ms
    Write(sender, PACKETS);
    std::set<uint64_t> lose{WRAP - 3, WRAP, WRAP + 70};
    uint64_t index = 0; // next packet, unwrapped
    uint64_t wrong = 0;
    uint64_t again = 0;
    const auto step = [&]() {
        // Small steps around the wrap, so that few packets are out of order.
        const uint64_t end = index + (index < WRAP - 200 ? WRAP - 100 - index : 50);
        while (sender.GetSender().CanSend() && index < end)
        {
            Frame* frame = sender.GetSender().MakeFrame(PicosecondsNow());
            const uint64_t behind = (index - frame->psn) % WRAP;
            const uint64_t psn = index - behind;
            wrong += behind > 200;
            again += behind > 0;
            // Go-back-N continues from there, selective repeat from its old position.
            index = behind == 0 || recovery == "go-back-n" ? psn + 1 : index;
            if (lose.erase(psn))
            {
                Frame::Free(frame);
            }
            else
            {
                receiver.Receive(frame);
            }
        }
    };
    for (int64_t i = 0; i < 100; i++)
    {
        In(i * 50 * MICROSECOND, step);
    }
    Simulator::Stop(MilliSeconds(20));
    Simulator::Run();
    const QueuePairCounters& sent = sender.GetCounters();
    const QueuePairCounters& received = receiver.GetCounters();
    NS_TEST_EXPECT_MSG_EQ(wrong, 0, "the wire carries the low 24 bits, in order");
    NS_TEST_EXPECT_MSG_EQ(lose.size(), 0, "all that was to be lost has been");
    NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), 1, "the message arrives");
    NS_TEST_EXPECT_MSG_EQ(network.deliveries[0].message.bytes, PACKETS, "whole");
    NS_TEST_EXPECT_MSG_EQ(received.receivedPackets, PACKETS, "accepted");
    NS_TEST_EXPECT_MSG_EQ(received.duplicatePackets, 0, "nothing taken for old");
    NS_TEST_EXPECT_MSG_EQ(sent.timeouts, 0, "no timeout");
    NS_TEST_EXPECT_MSG_EQ(sent.sentPackets, PACKETS + sent.retransmittedPackets, "sent");
    if (recovery == "go-back-n")
    {
        NS_TEST_EXPECT_MSG_EQ(received.sentNaks, 3, "a NAK for each gap");
        NS_TEST_EXPECT_MSG_EQ(again, 3, "goes back for each");
    }
    else
    {
        NS_TEST_EXPECT_MSG_EQ(sent.retransmittedPackets, 3, "sent again");
        NS_TEST_EXPECT_MSG_EQ(again, 3, "likewise");
    }
}

std::vector<Case>
MakeCases()
{
    std::vector<Case> cases;
    const auto addRdmaGoBackN =
        [&cases](uint32_t packets, int64_t delay, const std::vector<uint32_t>& lost) {
            cases.push_back({"go-back-N: " + std::to_string(packets) + " packets, delay " +
                                 std::to_string(delay / MICROSECOND) + " us, " +
                                 std::to_string(lost.size()) + " lost from " +
                                 std::to_string(lost.front()),
                             [=] { TestRdmaGoBackN(packets, delay, lost); }});
        };
    // 5 us in each direction at 100 Gbit/s hold 30 packets; 1000 us hold all of them.
    for (int64_t delay : {0, 5, 1000})
    {
        for (const std::vector<uint32_t>& lost :
             std::vector<std::vector<uint32_t>>{{0}, {1}, {31}, {62}, {63}})
        {
            addRdmaGoBackN(64, delay * MICROSECOND, lost);
        }
    }
    addRdmaGoBackN(1000, 5 * MICROSECOND, {100, 300, 500, 900});
    addRdmaGoBackN(1000, 5 * MICROSECOND, {0, 100, 999});
    cases.push_back({"retransmission timeout", TestRdmaTimeout});
    cases.push_back({"no timeout before an acknowledgement is due", TestRdmaSlowSender});
    cases.push_back(
        {"packet sequence numbers wrap at 2^24, go-back-n", [] { TestRdmaPsnWrap("go-back-n"); }});
    cases.push_back({"packet sequence numbers wrap at 2^24, selective-repeat",
                     [] { TestRdmaPsnWrap("selective-repeat"); }});
    return cases;
}

const Suite g_suite("rdma-recovery", Duration::EXTENSIVE, MakeCases());

} // namespace ns3::training::tests::rdma_recovery_test
