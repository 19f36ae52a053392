/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "test-case.h"

#include "ns3/rdma-work-requests.h"

namespace ns3::training::tests::rdma_work_requests_test
{

constexpr uint32_t MTU = 1000;

/** A packet of a request. */
struct Packet
{
    bool isLast;
    uint8_t opcode;
    uint32_t payload;
};

/** @return a packet of the requests */
Packet
Fill(RdmaWorkRequests& requests, uint64_t psn)
{
    Frame* frame = Frame::Allocate(FrameKind::ROCE_DATA);
    const bool isLast = requests.Fill(*frame, psn, MTU);
    const Packet packet{isLast, frame->opcode, frame->payloadBytes};
    NS_TEST_EXPECT_MSG_EQ(frame->bytes,
                          GetDataFrameBytes(frame->opcode, frame->payloadBytes),
                          "size of packet " << psn);
    Frame::Free(frame);
    return packet;
}

void
ExpectPacket(const Packet& packet, bool isLast, uint8_t opcode, uint32_t payload)
{
    NS_TEST_EXPECT_MSG_EQ(packet.isLast, isLast, "last");
    NS_TEST_EXPECT_MSG_EQ(+packet.opcode, +opcode, "opcode");
    NS_TEST_EXPECT_MSG_EQ(packet.payload, payload, "payload");
}

void
TestPackets()
{
    RdmaWorkRequests requests;
    NS_TEST_EXPECT_MSG_EQ(requests.IsEmpty(), true, "nothing yet");
    uint32_t reports = 0;
    Message send;
    send.bytes = 3500;
    send.isSend = true;
    send.sent = [&] { reports++; };
    Message write;
    write.bytes = MTU;
    write.immediate = 5;
    NS_TEST_EXPECT_MSG_EQ(requests.Add(send, 7, MTU), 4, "three full packets and a half");
    NS_TEST_EXPECT_MSG_EQ(requests.Add(write, 11, MTU), 1, "one full packet");
    NS_TEST_EXPECT_MSG_EQ(requests.Add(Message(), 12, MTU), 1, "an empty message");
    ExpectPacket(Fill(requests, 7), false, SEND_FIRST, MTU);
    NS_TEST_EXPECT_MSG_EQ(requests.IsInside(8), true, "the next is like others");
    NS_TEST_EXPECT_MSG_EQ(requests.IsInside(10), false, "the last is not");
    ExpectPacket(Fill(requests, 9), false, SEND_MIDDLE, MTU);
    ExpectPacket(Fill(requests, 10), true, SEND_LAST, 500);
    NS_TEST_EXPECT_MSG_EQ(requests.NotifySent(10), true, "its sending is reported");
    NS_TEST_EXPECT_MSG_EQ(requests.NotifySent(10), false, "once");
    NS_TEST_EXPECT_MSG_EQ(reports, 1, "once");
    ExpectPacket(Fill(requests, 11), true, WRITE_ONLY_IMMEDIATE, MTU);
    NS_TEST_EXPECT_MSG_EQ(requests.IsInside(8), false, "of another request");
    ExpectPacket(Fill(requests, 12), true, WRITE_ONLY, 0);
    NS_TEST_EXPECT_MSG_EQ(requests.GetOldestEnd(), 11, "the oldest");
    requests.RemoveOldest();
    NS_TEST_EXPECT_MSG_EQ(requests.GetOldestEnd(), 12, "the next");
    requests.Add(send, 13, MTU);
    NS_TEST_EXPECT_MSG_EQ(requests.GetCount(), 3, "left");
    NS_TEST_EXPECT_MSG_EQ(requests.Clear(), 1, "is not reported any more");
    NS_TEST_EXPECT_MSG_EQ(requests.IsEmpty(), true, "all forgotten");
    Simulator::Destroy();
}

const Suite g_suite("rdma-work-requests",
                    Duration::QUICK,
                    {{"packets of requests, their order and their end", TestPackets}});

} // namespace ns3::training::tests::rdma_work_requests_test
