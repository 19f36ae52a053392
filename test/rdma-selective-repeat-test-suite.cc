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
#include <map>
#include <numeric>
#include <set>

namespace ns3::training::tests::rdma_selective_repeat_test
{

constexpr uint32_t MTU = 4096;
constexpr int64_t TIMEOUT_LOW = 100 * MICROSECOND;
constexpr int64_t TIMEOUT_HIGH = 320 * MICROSECOND;

/**
 * @param ackInterval packets per acknowledgement
 * @return a function that sets attributes for selective repeat with 16 MiB in flight
 */
std::function<void(RdmaNic&)>
Configure(uint32_t ackInterval = 16)
{
    return [ackInterval](RdmaNic& nic) {
        nic.SetAttribute("LossRecovery", StringValue("selective-repeat"));
        nic.SetAttribute("InFlightLimit", UintegerValue(16 << 20));
        nic.SetAttribute("AckInterval", UintegerValue(ackInterval));
    };
}

/**
 * Exactly the lost packets are retransmitted, and every packet ahead of a gap is answered by a NAK
 * that names the gap and the packet.
 * @param delay of the link, ps
 * @param lost the packets to drop, once each, not the last one
 */
void
TestRdmaSelectiveRepeat(uint32_t packets, int64_t delay, const std::vector<uint32_t>& lost)
{
    RdmaNetwork network(MakeChain(1, 100 * GIGA, delay), RdmaLineRate::GetTypeId(), Configure());
    for (const auto& nic : network.nics)
    {
        nic->SetAttribute("TimeoutLow", TimeValue(MilliSeconds(10)));
        nic->SetAttribute("TimeoutHigh", TimeValue(MilliSeconds(10)));
    }
    RdmaQueuePair& sender = network.Connect(0, 1, 1);
    std::set<uint32_t> lose(lost.begin(), lost.end());
    std::vector<uint32_t> arrived;
    network.SetTap(1, [&](Frame& frame) {
        if (lose.erase(frame.psn) > 0)
        {
            return true;
        }
        arrived.push_back(frame.psn);
        return false;
    });
    uint64_t wrong = 0;
    uint64_t naks = 0;
    network.SetTap(0, [&](Frame& frame) {
        const bool isNak = frame.syndrome == SYNDROME_NAK_SEQUENCE;
        naks += isNak;
        wrong += frame.bytes != (isNak ? 70 : 66);
        wrong += isNak && frame.selectivePsn <= frame.psn;
        wrong += isNak && std::find(lost.begin(), lost.end(), frame.psn) == lost.end();
        return false;
    });
    Write(sender, uint64_t{packets} * MTU);
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(lose.size(), 0, "all that was to be lost has been");
    NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), 1, "the message arrives, once");
    const QueuePairCounters& sent = sender.GetCounters();
    const QueuePairCounters& received = network.Get(1, 1).GetCounters();
    NS_TEST_EXPECT_MSG_EQ(sent.retransmittedPackets, lost.size(), "what was lost, no more");
    NS_TEST_EXPECT_MSG_EQ(sent.sentPackets, packets + lost.size(), "sent");
    NS_TEST_EXPECT_MSG_EQ(sent.timeouts, 0, "no timeout");
    NS_TEST_EXPECT_MSG_EQ(received.receivedPackets, packets, "accepted");
    NS_TEST_EXPECT_MSG_EQ(received.duplicatePackets, 0, "nothing twice");
    // One NAK per packet that arrived while an earlier one was missing.
    uint64_t ahead = 0;
    std::set<uint32_t> kept;
    uint32_t expected = 0;
    for (uint32_t psn : arrived)
    {
        ahead += psn != expected;
        kept.insert(psn);
        while (kept.erase(expected))
        {
            expected++;
        }
    }
    NS_TEST_EXPECT_MSG_EQ(received.outOfOrderPackets, ahead, "ahead of a gap");
    NS_TEST_EXPECT_MSG_EQ(received.sentNaks, ahead, "a NAK each");
    NS_TEST_EXPECT_MSG_EQ(naks, ahead, "which arrive");
    NS_TEST_EXPECT_MSG_EQ(sent.receivedNaks, ahead, "and are counted");
    NS_TEST_EXPECT_MSG_EQ(wrong, 0, "NAKs name a missing packet and a later one");
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
}

/** Losses that only the timer repairs: both timeouts, to the picosecond. */
void
TestRdmaSelectiveTimeout()
{
    const TopologyGraph graph = MakeChain(1, 100 * GIGA, MICROSECOND);
    const int64_t oneWay = LineTime(1000 + 78 + 8, 100 * GIGA) + MICROSECOND;

    // Few packets in flight: the low timeout, doubling.
    for (uint32_t losses = 0; losses <= 3; losses++)
    {
        RdmaNetwork network(graph, RdmaLineRate::GetTypeId(), Configure());
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        uint32_t left = losses;
        network.SetTap(1, [&](Frame&) { return left > 0 ? left-- > 0 : false; });
        Write(sender, 1000);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), 1, "arrives");
        NS_TEST_EXPECT_MSG_EQ(network.deliveries[0].time,
                              TIMEOUT_LOW * ((1 << losses) - 1) + oneWay,
                              "doubling timeouts, " << losses << " losses");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().timeouts, losses, "timeouts");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().retransmittedPackets, losses, "sent again");
    }

    // The last of many packets is lost; with an ACK per packet only this one is in flight.
    {
        RdmaNetwork network(graph, RdmaLineRate::GetTypeId(), Configure(1));
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        bool lose = true;
        network.SetTap(1, [&](Frame& frame) {
            return frame.psn == 63 ? std::exchange(lose, false) : false;
        });
        Write(sender, 64 * MTU);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 1, "arrives");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().timeouts, 1, "by one timeout");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().retransmittedPackets, 1, "and one packet");
        NS_TEST_EXPECT_MSG_LT(network.deliveries[0].time, 2 * TIMEOUT_LOW, "the short one");
    }

    // A packet and its retransmission are lost: the high timeout, then only this packet.
    {
        RdmaNetwork network(graph, RdmaLineRate::GetTypeId(), Configure());
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        uint32_t left = 2;
        network.SetTap(1, [&](Frame& frame) {
            return frame.psn == 20 && left > 0 ? left-- > 0 : false;
        });
        Write(sender, 64 * MTU);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), 1, "arrives");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().timeouts, 1, "by one timeout");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().retransmittedPackets, 2, "sent twice more");
        // The NAK for packet 21 arrives while packet 27 is on the line. The retransmission of
        // packet 20 follows it and requests an ACK, the first one since packet 15.
        const int64_t nak = LineTime(22 * (MTU + 82) + 16 - 12, 100 * GIGA) +
                            LineTime(70 + 8, 100 * GIGA) + 2 * MICROSECOND;
        const int64_t resend = LineTime(28 * (MTU + 82) + 16, 100 * GIGA);
        NS_TEST_EXPECT_MSG_GT(resend, nak, "packet 27 is on the line");
        NS_TEST_EXPECT_MSG_LT(resend - LineTime(MTU + 82, 100 * GIGA), nak, "and no other");
        NS_TEST_EXPECT_MSG_EQ(network.deliveries[0].time,
                              resend + TIMEOUT_HIGH + LineTime(MTU + 70, 100 * GIGA) + MICROSECOND,
                              "the long one");
    }

    // The last several packets are lost: one timeout for all.
    {
        RdmaNetwork network(graph, RdmaLineRate::GetTypeId(), Configure(1));
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        std::set<uint32_t> lose{50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
        network.SetTap(1, [&](Frame& frame) { return lose.erase(frame.psn) > 0; });
        Write(sender, 64 * MTU);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 1, "arrives");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().timeouts, 1, "by one timeout");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().retransmittedPackets, 14, "and no packet more");
    }

    // No ACK arrives for a while: everything is retransmitted and delivered once.
    {
        RdmaNetwork network(graph, RdmaLineRate::GetTypeId(), Configure());
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        uint32_t left = 4;
        network.SetTap(0, [&](Frame&) { return left > 0 ? left-- > 0 : false; });
        Write(sender, 64 * MTU);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 1, "delivered once");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().timeouts, 1, "one timeout");
        NS_TEST_EXPECT_MSG_EQ(network.Get(1, 1).GetCounters().sentNaks, 0, "and no gap");
        Write(sender, 64 * MTU);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 2, "the queue pair works on");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().timeouts, 1, "without another timeout");
    }

    // Nothing arrives: an error after all retries.
    {
        RdmaNetwork network(graph, RdmaLineRate::GetTypeId(), Configure());
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        std::vector<std::string> errors;
        int64_t when = 0;
        sender.SetErrorHandler([&](const std::string& reason) {
            errors.push_back(reason);
            when = PicosecondsNow();
        });
        network.SetTap(1, [](Frame&) { return true; });
        Write(sender, 1000);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(errors.size(), 1, "one error");
        NS_TEST_EXPECT_MSG_EQ(errors[0],
                              "queue pair 1 to endpoint 1: retry limit of 7 reached",
                              "which says why");
        NS_TEST_EXPECT_MSG_EQ(when, 255 * TIMEOUT_LOW, "after 1 + 2 + ... + 128 timeouts");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().sentPackets, 8, "and eight packets");
    }

    // A NAK is lost: the next one carries the same information.
    {
        RdmaNetwork network(graph, RdmaLineRate::GetTypeId(), Configure());
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        bool loseData = true;
        bool loseNak = true;
        network.SetTap(1, [&](Frame& frame) {
            return frame.psn == 20 ? std::exchange(loseData, false) : false;
        });
        network.SetTap(0, [&](Frame& frame) {
            return frame.syndrome == SYNDROME_NAK_SEQUENCE ? std::exchange(loseNak, false) : false;
        });
        Write(sender, 64 * MTU);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 1, "delivered");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().timeouts, 0, "no timeout");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().retransmittedPackets,
                              2,
                              "the lost packet, and the one of which nothing was heard");
    }
}

/**
 * Packets in flight stay within the limit, by default the bandwidth-delay product plus one ACK
 * interval. This limit keeps the line full.
 */
void
TestRdmaInFlightLimit()
{
    constexpr uint32_t PACKETS = 1000;
    const auto measure = [](const std::function<void(RdmaNic&)>& configure, int64_t& end) {
        RdmaNetwork network(MakeChain(1, 100 * GIGA, 3 * MICROSECOND),
                            RdmaLineRate::GetTypeId(),
                            configure);
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        uint64_t acknowledged = 0;
        uint64_t most = 0;
        network.SetTap(0, [&](Frame& frame) {
            acknowledged = frame.psn + 1;
            return false;
        });
        Write(sender, PACKETS * MTU);
        std::function<void()> look = [&]() {
            most = std::max(most, sender.GetCounters().sentPackets - acknowledged);
            if (network.deliveries.empty())
            {
                In(100000, look);
            }
        };
        In(0, look);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 1, "arrives");
        NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().timeouts, 0, "no timeout");
        end = network.deliveries.empty() ? 0 : network.deliveries[0].time;
        return most;
    };
    const auto selective = [](int64_t roundTrip) {
        return [roundTrip](RdmaNic& nic) {
            nic.SetAttribute("LossRecovery", StringValue("selective-repeat"));
            nic.SetAttribute("BaseRoundTrip", TimeValue(TimeStep(roundTrip)));
        };
    };
    // A NIC with the base round trip, including the line time of a packet and an ACK.
    int64_t end = 0;
    NS_TEST_EXPECT_MSG_EQ(measure(selective(6341000), end), 34, "what the line carries");
    const int64_t full = LineTime(uint64_t{PACKETS} * (MTU + 82) + 16 - 12, 100 * GIGA);
    NS_TEST_EXPECT_MSG_EQ(end, full + 3 * MICROSECOND, "at the line rate");
    // A NIC with a shorter base round trip.
    NS_TEST_EXPECT_MSG_EQ(measure(selective(3 * MICROSECOND), end),
                          3000 * 100 / 8 / MTU + 16,
                          "BDP and 16 packets");
    NS_TEST_EXPECT_MSG_GT(end, full + 10 * MICROSECOND, "that is too little");
    for (const uint32_t packets : {1u, 2u, 5u, 30u})
    {
        for (const std::string recovery : {"go-back-n", "selective-repeat"})
        {
            const auto limited = [packets, recovery](RdmaNic& nic) {
                nic.SetAttribute("LossRecovery", StringValue(recovery));
                nic.SetAttribute("InFlightLimit", UintegerValue(packets * MTU + 1));
            };
            NS_TEST_EXPECT_MSG_EQ(measure(limited, end), packets, recovery << " with a limit");
        }
    }
    NS_TEST_EXPECT_MSG_GT(
        measure([](RdmaNic& nic) { nic.SetAttribute("AckInterval", UintegerValue(900)); }, end),
        500,
        "go-back-N has no limit by default");
}

/**
 * Packets that overtake each other: messages are delivered in order, whatever the order of arrival.
 */
void
TestRdmaOvertaking()
{
    // Messages of 1, 3, 1 and 2 packets bypass the links, in some of the possible orders.
    std::vector<uint32_t> order{0, 1, 2, 3, 4, 5, 6};
    uint32_t tried = 0;
    do
    {
        if (++tried % 97 != 0) // about 50 of 5040
        {
            continue;
        }
        RdmaNetwork network(MakeChain(1, 100 * GIGA, 0), RdmaLineRate::GetTypeId(), Configure());
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        network.fabric.devices[0]->SetAttribute("PauseResponse", TimeValue(Time(0)));
        network.fabric.devices[0]->GetPort().Arrive(MakePause(1 << LOSSLESS, 65535));
        const std::vector<uint64_t> sizes{100, 2 * MTU + 1, 0, MTU + 1};
        for (uint64_t bytes : sizes)
        {
            Write(sender, bytes);
        }
        std::map<uint32_t, Frame*> frames;
        while (sender.GetSender().CanSend())
        {
            Frame* frame = sender.GetSender().MakeFrame(PicosecondsNow());
            frames[frame->psn] = frame;
        }
        NS_TEST_ASSERT_MSG_EQ(frames.size(), order.size(), "packets");
        std::set<uint32_t> arrived;
        for (uint32_t psn : order)
        {
            network.Get(1, 1).Receive(frames.at(psn));
            arrived.insert(psn);
            uint32_t whole = 0;
            while (arrived.count(whole))
            {
                whole++;
            }
            const uint32_t ends[] = {1, 4, 5, 7};
            const auto complete =
                static_cast<std::size_t>(std::upper_bound(ends, ends + 4, whole) - ends);
            NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), complete, "as soon as it can be");
        }
        for (std::size_t i = 0; i < network.deliveries.size(); i++)
        {
            NS_TEST_EXPECT_MSG_EQ(network.deliveries[i].message.bytes, sizes[i], "in order");
        }
        Simulator::Run();
    } while (std::next_permutation(order.begin(), order.end()));
}

/** State of a sender in recovery, event by event. */
void
TestRdmaSelectiveSender()
{
    const auto choice = Choose<LossRecoveryEntry>("selective-repeat");
    const auto recovery = choice.entry->make(choice.values);
    RdmaLossRecovery::Window window{100, 120, 120};
    const auto resends = [&]() {
        std::vector<uint64_t> psns;
        while (recovery->HasResend())
        {
            psns.push_back(recovery->TakeResend(0));
        }
        return psns;
    };
    using Psns = std::vector<uint64_t>;
    NS_TEST_EXPECT_MSG_EQ(recovery->IsRecovering(), false, "nothing wrong yet");
    // 100 and 102 are missing.
    NS_TEST_EXPECT_MSG_EQ(recovery->OnNak(window, {window.unackedPsn, 101, 0, 0}),
                          true,
                          "a new loss");
    NS_TEST_EXPECT_MSG_EQ(resends(), Psns{100}, "before what has arrived");
    NS_TEST_EXPECT_MSG_EQ(recovery->OnNak(window, {window.unackedPsn, 103, 0, 0}),
                          false,
                          "the same episode");
    NS_TEST_EXPECT_MSG_EQ(resends(), Psns{102}, "once each");
    NS_TEST_EXPECT_MSG_EQ(recovery->OnNak(window, {window.unackedPsn, 104, 0, 0}),
                          false,
                          "no loss");
    NS_TEST_EXPECT_MSG_EQ(resends(), Psns{}, "nothing more");
    NS_TEST_EXPECT_MSG_EQ(recovery->OnNak(window, {window.unackedPsn, 99, 0, 0}),
                          false,
                          "an old answer");
    NS_TEST_EXPECT_MSG_EQ(recovery->OnNak(window, {window.unackedPsn, 120, 0, 0}),
                          false,
                          "a wrong answer");
    NS_TEST_EXPECT_MSG_EQ(resends(), Psns{}, "have no effect");
    // A loss before the end of the episode is not a new one for the congestion control, ...
    window = {105, 140, 140};
    recovery->OnProgress(window);
    NS_TEST_EXPECT_MSG_EQ(recovery->IsRecovering(), true, "until 120");
    NS_TEST_EXPECT_MSG_EQ(recovery->OnNak(window, {window.unackedPsn, 106, 0, 0}),
                          false,
                          "the same episode");
    NS_TEST_EXPECT_MSG_EQ(resends(), Psns{105}, "sent again");
    // ... one after it is.
    window.unackedPsn = 120;
    recovery->OnProgress(window);
    NS_TEST_EXPECT_MSG_EQ(recovery->IsRecovering(), false, "the end of the episode");
    NS_TEST_EXPECT_MSG_EQ(recovery->OnNak(window, {window.unackedPsn, 122, 0, 0}),
                          true,
                          "a new loss");
    NS_TEST_EXPECT_MSG_EQ(resends(), (Psns{120, 121}), "of two packets");
    // A timeout: all packets that have not arrived are lost.
    NS_TEST_EXPECT_MSG_EQ(recovery->OnNak(window, {window.unackedPsn, 130, 0, 0}),
                          false,
                          "the same episode");
    recovery->OnTimeout(window);
    Psns expected(20);
    std::iota(expected.begin(), expected.end(), 120);
    expected.erase(expected.begin() + 10);
    expected.erase(expected.begin() + 2);
    NS_TEST_EXPECT_MSG_EQ(resends(), expected, "but for 122 and 130");
    NS_TEST_EXPECT_MSG_EQ(window.nextPsn, 140, "then on as before");
    // A refusal: one packet, although it was kept; also if a NAK arrives before it is sent.
    window.unackedPsn = 130;
    recovery->OnProgress(window);
    recovery->OnRnrNak(window);
    NS_TEST_EXPECT_MSG_EQ(recovery->OnNak(window, {window.unackedPsn, 131, 0, 0}),
                          false,
                          "no loss");
    NS_TEST_EXPECT_MSG_EQ(recovery->HasResend(), true, "to be sent again");
    NS_TEST_EXPECT_MSG_EQ(recovery->TakeResend(0), 130, "the one refused");
}

void
TestRdmaLossRecoveryName()
{
    NS_TEST_EXPECT_MSG_EQ(Registry<LossRecoveryEntry>::Names(),
                          "go-back-n, out-of-order, selective-repeat",
                          "those there are");
    const std::string message = GetRefusal([&] {
        RdmaNetwork network(MakeChain(1, GIGA, 0), RdmaLineRate::GetTypeId(), [](RdmaNic& nic) {
            nic.SetAttribute("LossRecovery", StringValue("hope"));
        });
    });
    NS_TEST_EXPECT_MSG_EQ(message,
                          "unknown loss recovery 'hope' (allowed: go-back-n, out-of-order, "
                          "selective-repeat)",
                          "another is refused");
    Simulator::Destroy();
}

std::vector<Case>
MakeCases()
{
    std::vector<Case> cases;
    const auto addRdmaSelectiveRepeat =
        [&cases](uint32_t packets, int64_t delay, const std::vector<uint32_t>& lost) {
            cases.push_back({"selective repeat: " + std::to_string(packets) + " packets, delay " +
                                 std::to_string(delay / MICROSECOND) + " us, " +
                                 std::to_string(lost.size()) + " lost from " +
                                 std::to_string(lost.front()),
                             [=] { TestRdmaSelectiveRepeat(packets, delay, lost); }});
        };
    for (int64_t delay : {0, 5, 1000})
    {
        for (const std::vector<uint32_t>& lost :
             std::vector<std::vector<uint32_t>>{{0}, {1}, {31}, {62}, {10, 11, 12, 40}, {0, 2}})
        {
            addRdmaSelectiveRepeat(64, delay * MICROSECOND, lost);
        }
    }
    addRdmaSelectiveRepeat(1000, 5 * MICROSECOND, {100, 300, 301, 500, 900});
    cases.push_back({"selective repeat: timeouts", TestRdmaSelectiveTimeout});
    cases.push_back({"limit of packets in flight", TestRdmaInFlightLimit});
    cases.push_back(
        {"selective repeat: messages in order though packets are not", TestRdmaOvertaking});
    cases.push_back({"selective repeat: state of the sender", TestRdmaSelectiveSender});
    cases.push_back({"loss recoveries by name", TestRdmaLossRecoveryName});
    return cases;
}

const Suite g_suite("rdma-selective-repeat", Duration::QUICK, MakeCases());

} // namespace ns3::training::tests::rdma_selective_repeat_test
