/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-test-common.h"
#include "rdma/congestion/rdma-dctcp.h"
#include "test-case.h"

#include "ns3/roce-wire-format.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <map>
#include <set>

namespace ns3::training::tests::rdma_out_of_order_test
{

constexpr uint32_t MTU = 4096;
constexpr uint64_t PACKETS = 200;

/// Line time of a packet at 100 Gbit/s, ps.
constexpr int64_t PACKET_TIME = (MTU + 82) * 80;

/// Reordering window of the receiver, ps.
constexpr int64_t WINDOW = 20 * MICROSECOND;

/**
 * Packets that arrive late, within the reordering window, are no loss: no NAK, nothing sent again.
 * @param recovery NAME or NAME:key=value,...
 * @param late delay of every seventh packet, in packet times
 * @param isTaken whether the recovery takes the delay for reordering
 */
void
TestRdmaReordering(const std::string& recovery, uint32_t late, bool isTaken)
{
    RdmaNetwork network(MakeChain(1, 100 * GIGA, MICROSECOND),
                        RdmaLineRate::GetTypeId(),
                        [&](RdmaNic& nic) {
                            nic.SetAttribute("LossRecovery", StringValue(recovery));
                            nic.SetAttribute("InFlightLimit", UintegerValue(100 * MTU));
                        });
    RdmaQueuePair& sender = network.Connect(0, 1, 1);
    RdmaQueuePair& receiver = network.Get(1, 1);
    std::set<uint32_t> seen;
    network.SetTap(1, [&](Frame& frame) {
        if (frame.psn % 7 != 3 || !seen.insert(frame.psn).second)
        {
            return false;
        }
        Frame* copy = frame.Clone();
        In(late * PACKET_TIME + 1, [&receiver, copy]() { receiver.Receive(copy); });
        return true;
    });
    Write(sender, PACKETS * MTU);
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), 1, "the message arrives, once");
    const QueuePairCounters sent = sender.GetCounters();
    NS_TEST_EXPECT_MSG_EQ((sent.retransmittedPackets == 0), isTaken, "sent again");
    NS_TEST_EXPECT_MSG_EQ(sent.timeouts, 0, "no timeout");
    if (recovery.rfind("out-of-order", 0) == 0)
    {
        NS_TEST_EXPECT_MSG_EQ((receiver.GetCounters().sentNaks == 0), isTaken, "NAKs");
        // An acknowledgement per interval of 16, at the end and, at most, per gap filled.
        NS_TEST_EXPECT_MSG_LT(receiver.GetCounters().sentAcks,
                              PACKETS / 7 + PACKETS / 16 + 2,
                              "ACKs");
    }
    Simulator::Destroy();
}

/**
 * Lost packets: each run of lost packets is reported once, when it has lasted for the window, and
 * sent again once; nothing else is.
 * @param lost packets to drop, once each
 */
void
TestRdmaReportedGap(const std::set<uint32_t>& lost)
{
    RdmaNetwork network(MakeChain(1, 100 * GIGA, MICROSECOND),
                        RdmaLineRate::GetTypeId(),
                        [](RdmaNic& nic) {
                            nic.SetAttribute("LossRecovery",
                                             StringValue("out-of-order:window=20us"));
                        });
    RdmaQueuePair& sender = network.Connect(0, 1, 1);
    std::set<uint32_t> lose = lost;
    std::map<uint32_t, int64_t> found; // by missing packet: arrival of the next packet
    uint32_t runs = 0;
    for (uint32_t psn : lost)
    {
        runs += lost.count(psn + 1) == 0;
    }
    network.SetTap(1, [&](Frame& frame) { return lose.erase(frame.psn) > 0; });
    std::vector<int64_t> naks;
    network.SetTap(0, [&](Frame& frame) {
        if (frame.syndrome == SYNDROME_NAK_SEQUENCE)
        {
            naks.push_back(PicosecondsNow());
            NS_TEST_EXPECT_MSG_EQ(lost.count(frame.psn), 1, "a lost packet is named");
            const uint32_t behind = frame.selectivePsn % PSN_MODULUS;
            const uint32_t gap = frame.selectivePsn / PSN_MODULUS;
            NS_TEST_EXPECT_MSG_EQ(lost.count(behind), 0, "the first behind it");
            NS_TEST_EXPECT_MSG_EQ(lost.count(behind - 1), 1, "of the gap");
            NS_TEST_EXPECT_MSG_EQ((gap == 0 || lost.count(behind - gap)), true, "all of it");
        }
        return false;
    });
    Write(sender, PACKETS * MTU);
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), 1, "the message arrives, once");
    const QueuePairCounters sent = sender.GetCounters();
    NS_TEST_EXPECT_MSG_EQ(sent.retransmittedPackets, lost.size(), "what was lost, no more");
    NS_TEST_EXPECT_MSG_EQ(naks.size(), runs, "one NAK per gap");
    NS_TEST_EXPECT_MSG_EQ(sent.timeouts, 0, "no timeout");
    NS_TEST_EXPECT_MSG_EQ(network.Get(1, 1).GetCounters().duplicatePackets, 0, "none twice");
    // The gap is found when the packet behind it arrives, and reported by the first packet that
    // arrives a window later.
    int64_t gap = *lost.begin();
    while (lost.count(static_cast<uint32_t>(gap)))
    {
        gap++;
    }
    const int64_t reported = MICROSECOND + (gap + 1) * PACKET_TIME + WINDOW + MICROSECOND;
    NS_TEST_EXPECT_MSG_EQ_TOL(naks.front(), reported, 2 * PACKET_TIME, "time of the first NAK");
    Simulator::Destroy();
}

/** A lost end of a message, and a NAK that is lost, are recovered from by a timeout. */
void
TestRdmaLostTail()
{
    RdmaNetwork network(MakeChain(1, 100 * GIGA, MICROSECOND),
                        RdmaLineRate::GetTypeId(),
                        [](RdmaNic& nic) {
                            nic.SetAttribute("LossRecovery",
                                             StringValue("out-of-order:window=1us"));
                        });
    RdmaQueuePair& sender = network.Connect(0, 1, 1);
    std::set<uint32_t> lose{PACKETS - 1, PACKETS + 190};
    bool losesNak = true;
    network.SetTap(1, [&](Frame& frame) { return lose.erase(frame.psn) > 0; });
    network.SetTap(0, [&](Frame& frame) {
        const bool isLost = losesNak && frame.syndrome == SYNDROME_NAK_SEQUENCE;
        losesNak = losesNak && !isLost;
        return isLost;
    });
    Write(sender, PACKETS * MTU);
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), 1, "the first message");
    NS_TEST_EXPECT_MSG_EQ(sender.GetCounters().timeouts, 1, "by a timeout");
    Write(sender, PACKETS * MTU);
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), 2, "the second message");
    NS_TEST_EXPECT_MSG_EQ(losesNak, false, "the NAK was lost");
    Simulator::Destroy();
}

/** A loss in a class that the network pauses leaves the window; in another it is halved. */
void
TestRdmaLosslessClass()
{
    std::map<uint32_t, uint64_t> windows; // by lossless classes
    for (const uint32_t classes : {0x00, 0x08, 0xf7})
    {
        RdmaNetwork network(MakeChain(1, 100 * GIGA, MICROSECOND),
                            RdmaDctcp::GetTypeId(),
                            [&](RdmaNic& nic) {
                                nic.SetAttribute("LossRecovery", StringValue("out-of-order"));
                                nic.SetAttribute("LosslessClasses", UintegerValue(classes));
                            });
        RdmaQueuePair& sender = network.Connect(0, 1, 1);
        bool isLost = false;
        network.SetTap(1, [&](Frame& frame) {
            const bool drops = !isLost && frame.psn == PACKETS / 2;
            isLost = isLost || drops;
            return drops;
        });
        Write(sender, PACKETS * MTU);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), 1, "the message");
        windows[classes] = sender.GetCongestionControl()->GetWindow();
        Simulator::Destroy();
    }
    NS_TEST_EXPECT_MSG_LT(windows[0x00], windows[0x08], "smaller after a loss");
    NS_TEST_EXPECT_MSG_EQ(windows[0xf7], windows[0x00], "class 3 is lossy, too");
}

/** The answer to a first NAK that comes after a second one shows no reordering. */
void
TestRdmaSecondNak()
{
    constexpr int64_t PATIENCE = 26 * MICROSECOND; // two of the default round trip
    RdmaNetwork network(
        MakeChain(1, 100 * GIGA, MICROSECOND),
        RdmaLineRate::GetTypeId(),
        [](RdmaNic& nic) { nic.SetAttribute("LossRecovery", StringValue("out-of-order")); });
    RdmaQueuePair& sender = network.Connect(0, 1, 1);
    RdmaQueuePair& receiver = network.Get(1, 1);
    std::map<uint32_t, uint32_t> transmissions;
    int64_t behind = 0; // arrival of the packet behind the second loss
    network.SetTap(1, [&](Frame& frame) {
        const uint32_t count = ++transmissions[frame.psn];
        behind = frame.psn == PACKETS + 11 ? PicosecondsNow() : behind;
        if (frame.psn == 10 && count == 2)
        {
            Frame* copy = frame.Clone();
            In(PATIENCE - MICROSECOND, [&receiver, copy]() { receiver.Receive(copy); });
            return true;
        }
        return (frame.psn == 10 || frame.psn == PACKETS + 10) && count == 1;
    });
    std::vector<int64_t> naks;
    network.SetTap(0, [&](Frame& frame) {
        if (frame.syndrome == SYNDROME_NAK_SEQUENCE)
        {
            naks.push_back(PicosecondsNow());
        }
        return false;
    });
    Write(sender, PACKETS * MTU);
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(naks.size(), 2, "the answer comes after the second one");
    Write(sender, PACKETS * MTU);
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(naks.size(), 3, "the next loss");
    NS_TEST_EXPECT_MSG_EQ_TOL(naks.back() - behind,
                              PATIENCE + MICROSECOND,
                              MICROSECOND,
                              "as patient as before");
    Simulator::Destroy();
}

/**
 * Frames of both directions are lost at random. A run has no more events once nothing is sent and
 * no timer runs, so a message that is missing then would be missing for ever. A lost frame costs
 * round trips; where nothing is in flight behind it, the shortest timeout. Only the first one may
 * cost a longer one.
 * @param loss probability that a link loses a frame
 * @param window of each sender, packets
 */
void
TestRdmaRandomLosses(double loss, uint64_t window)
{
    int64_t idle = 0; // time without losses
    for (uint32_t seed = 0; seed <= 20; seed++)
    {
        RngSeedManager::SetRun(seed + 1);
        RdmaNetwork network(
            MakeChain(2, 100 * GIGA, MICROSECOND),
            FixedRate::GetTypeId(),
            [](RdmaNic& nic) { nic.SetAttribute("LossRecovery", StringValue("out-of-order")); },
            seed == 0 ? 0 : loss);
        for (uint32_t number = 1; number <= 2; number++)
        {
            RdmaQueuePair& sender = network.Connect(0, 1, number);
            network.GetFixedRate(0, number).window = window * MTU;
            for (uint32_t message = 0; message < 4; message++)
            {
                Write(sender, 5 * PACKETS / (message + 1) * MTU);
            }
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(network.deliveries.size(), 8, "all messages, seed " << seed);
        uint64_t repeats = 0;
        for (uint32_t number = 1; number <= 2; number++)
        {
            const QueuePairCounters sent = network.Get(0, number).GetCounters();
            NS_TEST_EXPECT_MSG_EQ(sent.completedMessages, 4, "complete, seed " << seed);
            repeats += sent.retransmittedPackets;
        }
        const int64_t time = network.deliveries.back().time;
        idle = seed == 0 ? time : idle;
        NS_TEST_EXPECT_MSG_EQ((seed > 0 || repeats == 0), true, "nothing again without losses");
        // 60 us are three times two round trips of 3 us and a window of 13 us.
        const int64_t cost = (window > 3 ? 60 : 250) * MICROSECOND;
        const int64_t most = idle + cost * static_cast<int64_t>(repeats) + 30 * MILLISECOND;
        NS_TEST_EXPECT_MSG_LT_OR_EQ(time, most, "in time, seed " << seed);
    }
}

std::vector<Case>
MakeCases()
{
    std::vector<Case> cases;
    for (const double loss : {1e-3, 1e-2, 5e-2})
    {
        for (const uint64_t window : {1, 2, 8, 64})
        {
            cases.push_back({"out-of-order: losses of " + std::to_string(loss) + ", window of " +
                                 std::to_string(window) + " packets",
                             [=] { TestRdmaRandomLosses(loss, window); }});
        }
    }
    for (const uint32_t late : {1, 2, 3, 20})
    {
        cases.push_back({"out-of-order:window=20us, packets late by " + std::to_string(late),
                         [late] { TestRdmaReordering("out-of-order:window=20us", late, true); }});
        cases.push_back(
            {"selective-repeat:threshold=4, packets late by " + std::to_string(late),
             [late] { TestRdmaReordering("selective-repeat:threshold=4", late, late < 4); }});
        cases.push_back({"selective-repeat, packets late by " + std::to_string(late),
                         [late] { TestRdmaReordering("selective-repeat", late, false); }});
        cases.push_back({"go-back-n, packets late by " + std::to_string(late),
                         [late] { TestRdmaReordering("go-back-n", late, false); }});
    }
    cases.push_back({"out-of-order:window=20us, packets late by 80",
                     [] { TestRdmaReordering("out-of-order:window=20us", 80, false); }});
    cases.push_back({"out-of-order: 1 packets lost from 0", [] { TestRdmaReportedGap({0}); }});
    cases.push_back({"out-of-order: 1 packets lost from 10", [] { TestRdmaReportedGap({10}); }});
    cases.push_back({"out-of-order: 3 packets lost from 10", [] {
                         TestRdmaReportedGap({10, 11, 12});
                     }});
    cases.push_back({"out-of-order: 3 packets lost from 10", [] {
                         TestRdmaReportedGap({10, 12, 40});
                     }});
    cases.push_back({"out-of-order: a lost end and a lost NAK", TestRdmaLostTail});
    cases.push_back({"a loss in a lossless class is no congestion", TestRdmaLosslessClass});
    cases.push_back({"out-of-order: an answer after a second NAK", TestRdmaSecondNak});
    return cases;
}

const Suite g_suite("rdma-out-of-order", Duration::QUICK, MakeCases());

} // namespace ns3::training::tests::rdma_out_of_order_test
