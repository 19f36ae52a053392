/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "test-case.h"

#include "ns3/tcp-message-stream.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tcp_message_stream_test
{

using namespace ns3;
using namespace ns3::training;
using namespace ns3::training::tests;

using PartNumber = MultiPortTransport::PartNumber;

/** @return five real bytes, 5 to 9, as the last but one of three parts */
Message
MakeReal()
{
    Message part{0x0102030405060708, 5};
    part.payload = Create<ByteBuffer>();
    part.payload->bytes = {3, 4, 5, 6, 7, 8, 9};
    part.payloadOffset = 2;
    part.immediate = PartNumber{1, 3}.Pack();
    return part;
}

/** @return bytes without contents, in one part */
Message
MakeVirtual(uint64_t bytes)
{
    Message part{7, bytes};
    part.immediate = PartNumber{}.Pack();
    return part;
}

std::vector<uint8_t>
GetBytes(const Ptr<Packet>& packet)
{
    std::vector<uint8_t> bytes(packet->GetSize());
    packet->CopyData(bytes.data(), packet->GetSize());
    return bytes;
}

void
TestWriter()
{
    TcpMessageWriter writer;
    uint32_t sent = 0;
    Message real = MakeReal();
    real.sent = [&sent] { sent++; };
    writer.Add(real);
    writer.Add(MakeVirtual(40));
    const std::vector<uint8_t> first{1, 2, 3, 4, 5, 6, 7, 8};
    NS_TEST_EXPECT_MSG_EQ(GetBytes(writer.Make(10, 8)), first, "tag");
    NS_TEST_EXPECT_MSG_EQ(GetBytes(writer.Make(10, 8)), first, "again");
    writer.Pass();
    NS_TEST_EXPECT_MSG_EQ((writer.Make(7, 8) == nullptr), true, "less than a unit");
    // Real, part 1 of 3, 5 bytes.
    const std::vector<uint8_t> second{0x81, 4, 0, 0, 0, 0, 0, 5, 5, 6, 7, 8, 9};
    NS_TEST_EXPECT_MSG_EQ(GetBytes(writer.Make(100, 8)),
                          second,
                          "the rest, which need not be a multiple of the unit");
    NS_TEST_EXPECT_MSG_EQ(sent, 0, "not on its way");
    writer.Pass();
    NS_TEST_EXPECT_MSG_EQ(sent, 1, "on its way");
    NS_TEST_EXPECT_MSG_EQ(writer.Make(50, 16)->GetSize(), 48, "whole units");
    writer.Pass();
    NS_TEST_EXPECT_MSG_EQ(writer.IsEmpty(), false, "eight bytes are left");
    NS_TEST_EXPECT_MSG_EQ(writer.Make(50, 16)->GetSize(), 8, "the end of a message");
    writer.Pass();
    NS_TEST_EXPECT_MSG_EQ(writer.IsEmpty(), true, "all written");
}

/** Three messages that arrive in packets of some bytes. */
void
TestReader(uint32_t bytes)
{
    TcpMessageWriter writer;
    for (const Message& part : {MakeReal(), MakeVirtual(0), MakeVirtual(1000)})
    {
        writer.Add(part);
    }
    const auto stream = Create<Packet>();
    while (!writer.IsEmpty())
    {
        stream->AddAtEnd(writer.Make(1 << 20, 1));
        writer.Pass();
    }
    NS_TEST_EXPECT_MSG_EQ(stream->GetSize(), 3 * TCP_MESSAGE_HEADER_BYTES + 1005, "all bytes");
    TcpMessageReader reader;
    std::vector<Message> parts;
    while (stream->GetSize() > 0)
    {
        const uint32_t size = std::min(bytes, stream->GetSize());
        const Ptr<Packet> packet = stream->CreateFragment(0, size);
        stream->RemoveAtStart(size);
        while (reader.Take(packet))
        {
            parts.push_back(reader.GetPart());
        }
    }
    NS_TEST_ASSERT_MSG_EQ(parts.size(), 3, "messages");
    NS_TEST_EXPECT_MSG_EQ(parts[0].tag, 0x0102030405060708, "tag");
    NS_TEST_EXPECT_MSG_EQ(*parts[0].immediate, (PartNumber{1, 3}.Pack()), "part");
    const std::vector<uint8_t> contents{5, 6, 7, 8, 9};
    NS_TEST_EXPECT_MSG_EQ(parts[0].payload->bytes, contents, "contents");
    NS_TEST_EXPECT_MSG_EQ(parts[1].bytes, 0, "an empty message");
    NS_TEST_EXPECT_MSG_EQ(parts[2].bytes, 1000, "size");
    NS_TEST_EXPECT_MSG_EQ((parts[2].payload == nullptr), true, "no contents");
}

const Suite g_suite("tcp-message-stream",
                    Duration::QUICK,
                    {{"bytes of messages", TestWriter},
                     {"bytes one by one", [] { TestReader(1); }},
                     {"17 bytes in a packet", [] { TestReader(17); }},
                     {"all messages in a packet", [] { TestReader(2000); }}});

} // namespace tcp_message_stream_test
