/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "test-case.h"

#include "ns3/uec-sent-packets.h"
#include "ns3/uec-wire-format.h"

#include <cstdint>

namespace rdma_uec_sent_packets_test
{

using namespace ns3;
using namespace ns3::training;
using namespace ns3::training::tests;

void
TestStates()
{
    UecSentPackets sent;
    for (uint32_t psn = 0; psn < 100; psn++) // the ring grows
    {
        sent.Send(psn, 1000 + psn, 7, psn);
    }
    NS_TEST_EXPECT_MSG_EQ(sent.GetInFlight(), 104950, "all in flight");
    sent.MarkLost(20);
    sent.MarkLost(10);
    sent.MarkArrived(30);
    sent.MarkArrived(30);
    NS_TEST_EXPECT_MSG_EQ(sent.GetInFlight(), 104950 - 1010 - 1020 - 1030, "without these");
    NS_TEST_EXPECT_MSG_EQ(sent.GetLostBytes(), 2030, "lost");
    NS_TEST_EXPECT_MSG_EQ(sent.GetFirstLost(), 10, "to be sent again first");
    sent.Send(10, 1010, 8, 500);
    NS_TEST_EXPECT_MSG_EQ(sent.GetFirstLost(), 20, "then");
    NS_TEST_EXPECT_MSG_EQ(+sent.At(10).sends, 2, "transmissions");
    NS_TEST_EXPECT_MSG_EQ(sent.At(10).entropy, 8, "the last path");
    sent.MarkArrivedBefore(25); // the lost one has arrived, too
    NS_TEST_EXPECT_MSG_EQ(sent.HasLost(), false, "nothing to send again");
    NS_TEST_EXPECT_MSG_EQ(sent.GetLostBytes(), 0, "no bytes");
    NS_TEST_EXPECT_MSG_EQ(sent.GetArrivedBytes(), 25300 + 1030, "arrived");
    NS_TEST_EXPECT_MSG_EQ(sent.GetInFlight(), 104950 - 25300 - 1030, "the rest");
    NS_TEST_EXPECT_MSG_EQ((sent.Has(24) || !sent.Has(25) || !sent.Has(99) || sent.Has(100)),
                          false,
                          "packets 25 to 99");
    sent.Shorten(99, 599, 500);
    NS_TEST_EXPECT_MSG_EQ(sent.GetInFlight(), 104950 - 25300 - 1030 - 500, "coded");
}

void
TestReports()
{
    UecSentPackets sent;
    sent.Send(0, UEC_QUANTUM, 0, 0);
    sent.Send(1, 4 * UEC_QUANTUM, 0, 0);
    NS_TEST_EXPECT_MSG_EQ(sent.Report(3), 3 * UEC_QUANTUM, "three quanta");
    NS_TEST_EXPECT_MSG_EQ(sent.GetInFlight(), 2 * UEC_QUANTUM, "the rest, before it is named");
    NS_TEST_EXPECT_MSG_EQ(sent.Report(1), 0, "a late report");
    sent.MarkArrived(0);
    NS_TEST_EXPECT_MSG_EQ(sent.GetInFlight(), 2 * UEC_QUANTUM, "not twice");
}

void
TestOldest()
{
    UecSentPackets sent;
    NS_TEST_EXPECT_MSG_EQ(sent.FindOldest(), nullptr, "nothing sent");
    for (uint32_t psn = 0; psn < 4; psn++)
    {
        sent.Send(psn, 100, 0, 10 * psn);
    }
    sent.MarkArrived(1);
    NS_TEST_EXPECT_MSG_EQ(sent.FindOldest()->psn, 0, "the first");
    sent.MarkLost(0);
    NS_TEST_EXPECT_MSG_EQ(sent.FindOldest()->psn, 2, "neither lost nor arrived");
    sent.Send(0, 100, 0, 40);
    sent.MarkArrivedBefore(4);
    NS_TEST_EXPECT_MSG_EQ(sent.FindOldest(), nullptr, "all have arrived");
}

const Suite g_suite("rdma-uec-sent-packets",
                    Duration::QUICK,
                    {{"in flight, lost, arrived", TestStates},
                     {"bytes that the remote side reports", TestReports},
                     {"oldest transmission", TestOldest}});

} // namespace rdma_uec_sent_packets_test
