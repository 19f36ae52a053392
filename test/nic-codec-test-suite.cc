/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric/coded-payload.h"
#include "fabric/endpoint-address.h"
#include "fabric/frame-archive.h"
#include "fabric/frame-wire-format.h"
#include "fabric/gradient-tag.h"
#include "fabric/ip-frame.h"
#include "test-case.h"

#include "ns3/codec-engine.h"
#include "ns3/double.h"
#include "ns3/ipv4-header.h"
#include "ns3/message-coding.h"
#include "ns3/string.h"
#include "ns3/tcp-header.h"
#include "ns3/uinteger.h"

#include <cmath>
#include <cstring>

namespace ns3::training::tests::nic_codec_test
{

using Bytes = std::vector<uint8_t>;

/// Headers of a frame of RoCE data without RETH, frame check sequence included.
constexpr uint32_t ROCE_HEADERS = 14 + 20 + 8 + 12 + 4 + 4;

/// Where headers are in a serialized frame.
constexpr std::size_t IPV4 = 14;

/** @return numbers of all magnitudes that INCEPTIONN tells apart */
std::vector<float>
MakeValues(uint32_t count, double scale)
{
    std::vector<float> values;
    for (uint32_t i = 0; i < count; i++)
    {
        values.push_back(static_cast<float>(scale * std::sin(0.7 * i) * std::pow(0.5, i % 13)));
    }
    return values;
}

Bytes
ToBytes(const std::vector<float>& values)
{
    Bytes bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

Ptr<CodecEngine>
MakeEngine(const std::string& codec)
{
    auto engine = CreateObject<CodecEngine>();
    engine->SetAttribute("Codec", StringValue(codec));
    return engine;
}

/** @return what a receiver gets for numbers */
Bytes
Round(const CodecEngine& engine, std::vector<float> values)
{
    engine.GetCodec().RoundTrip(values.data(), values.size(), CodecKey());
    return ToBytes(values);
}

/** @return a packet in the middle of an RDMA WRITE, whose payload is in the middle of a buffer */
Frame*
MakeRoce(const Bytes& payload, bool isReal)
{
    constexpr uint8_t WRITE_MIDDLE = 7;
    constexpr uint32_t OFFSET = 12;
    Frame* frame = Frame::Allocate(FrameKind::ROCE_DATA);
    frame->opcode = WRITE_MIDDLE;
    frame->source = 1;
    frame->destination = 2;
    frame->destinationQp = 77;
    frame->psn = 1234;
    frame->priority = 3;
    frame->ecn = Ecn::ECT;
    frame->typeOfService = GRADIENT_TYPE_OF_SERVICE;
    frame->payloadBytes = static_cast<uint32_t>(payload.size());
    frame->bytes = ROCE_HEADERS + (frame->payloadBytes + 3) / 4 * 4;
    if (isReal)
    {
        frame->payload = Create<ByteBuffer>();
        frame->payload->bytes.assign(OFFSET, 0xff);
        frame->payload->bytes.insert(frame->payload->bytes.end(), payload.begin(), payload.end());
        frame->payloadOffset = OFFSET;
    }
    return frame;
}

/** @return the payload of a frame of RoCE */
Bytes
GetPayload(const Frame& frame)
{
    const auto from = frame.payload->bytes.begin() + static_cast<int64_t>(frame.payloadOffset);
    return Bytes(from, from + frame.payloadBytes);
}

Bytes
Serialize(const Frame& frame)
{
    const auto packet = ToPacket(frame);
    Bytes bytes(packet->GetSize());
    packet->CopyData(bytes.data(), packet->GetSize());
    return bytes;
}

Bytes
GetContents(const Packet& packet)
{
    Bytes bytes(packet.GetSize());
    packet.CopyData(bytes.data(), packet.GetSize());
    return bytes;
}

/** A part of a TCP stream. */
struct Part
{
    Bytes bytes;
    bool isGradient;
};

/** @return a frame with a TCP segment */
Frame*
MakeSegment(const std::vector<Part>& parts, bool isReal)
{
    auto packet = Create<Packet>();
    for (const Part& part : parts)
    {
        const auto size = static_cast<uint32_t>(part.bytes.size());
        auto piece = isReal || !part.isGradient ? Create<Packet>(part.bytes.data(), size)
                                                : Create<Packet>(size);
        if (part.isGradient)
        {
            piece->AddByteTag(GradientTag(isReal, GRADIENT_TYPE_OF_SERVICE));
        }
        packet->AddAtEnd(piece);
    }
    TcpHeader tcp;
    tcp.SetSourcePort(49153);
    tcp.SetDestinationPort(5000);
    tcp.SetSequenceNumber(SequenceNumber32(4321));
    tcp.SetFlags(TcpHeader::ACK);
    packet->AddHeader(tcp);
    Ipv4Header ip;
    ip.SetSource(GetEndpointIpv4Address(1));
    ip.SetDestination(GetEndpointIpv4Address(2));
    ip.SetProtocol(6);
    ip.SetTtl(64);
    ip.SetDontFragment();
    ip.SetPayloadSize(static_cast<uint16_t>(packet->GetSize()));
    packet->AddHeader(ip);
    return MakeIpFrame(packet, 1, 2);
}

/** @return a frame after its way through the archive of frames between processes */
Frame*
Archive(Frame* frame)
{
    ByteWriter writer;
    WriteFrame(writer, *frame);
    Frame::Free(frame);
    const std::string text = writer.GetText();
    ByteReader reader(text.data(), text.size());
    return ReadFrame(reader);
}

void
CheckWire(const Bytes& wire, uint32_t size, bool isCoded)
{
    const auto get16 = [&](std::size_t at) { return wire[at] << 8 | wire[at + 1]; };
    NS_TEST_EXPECT_MSG_EQ(static_cast<uint32_t>(wire[IPV4 + 1]), (0x28U | 2U), "type of service");
    NS_TEST_EXPECT_MSG_EQ(static_cast<uint32_t>(get16(IPV4 + 4)),
                          (isCoded ? size << 2 : 0U),
                          "identification");
    NS_TEST_EXPECT_MSG_EQ(static_cast<std::size_t>(get16(IPV4 + 2)), wire.size() - IPV4, "");
    const auto parsed =
        FromPacket(*Create<Packet>(wire.data(), static_cast<uint32_t>(wire.size())));
    NS_TEST_ASSERT_MSG_EQ(parsed.error, "", "lengths and checksums are right");
    NS_TEST_EXPECT_MSG_EQ(IsCoded(*parsed.frame), isCoded, "the mark is read");
    NS_TEST_EXPECT_MSG_EQ((isCoded ? GetPlainBytes(*parsed.frame) : size), size, "");
    NS_TEST_EXPECT_MSG_EQ(parsed.frame->psn, 1234, "headers are plain");
    if (isCoded)
    {
        NS_TEST_EXPECT_MSG_EQ(Serialize(*parsed.frame), wire, "the same bytes");
    }
    Frame::Free(parsed.frame);
}

void
CheckSize(const std::string& codec, uint32_t size)
{
    const std::string what = codec + ", " + std::to_string(size) + " bytes";
    const auto sender = MakeEngine(codec);
    const auto receiver = MakeEngine(codec);
    const std::vector<float> values = MakeValues(size / 4, 0.9);
    Bytes payload = ToBytes(values);
    payload.resize(size, 0x5a); // behind the last whole number
    Bytes expected = Round(*sender, values);
    expected.resize(size, 0x5a);
    Bytes code;
    sender->GetCodec().Encode(values.data(), values.size(), CodecKey(), code);
    code.resize(code.size() + size % 4, 0x5a);
    const bool isShorter = code.size() < size;

    Bytes first;
    for (int time = 0; time < 2; time++) // the second one is a retransmission
    {
        Frame* frame = MakeRoce(payload, true);
        const uint32_t bytes = frame->bytes;
        NS_TEST_EXPECT_MSG_EQ(sender->OnSend(*frame), true, "the engine keeps no frame");
        NS_TEST_EXPECT_MSG_EQ(IsCoded(*frame), isShorter, what << ": coded if shorter");
        NS_TEST_EXPECT_MSG_EQ(GetPayload(*frame),
                              (isShorter ? code : expected),
                              what << ": the code, or the rounded numbers");
        const auto line = static_cast<uint32_t>(isShorter ? code.size() : size);
        NS_TEST_EXPECT_MSG_EQ(frame->bytes,
                              ROCE_HEADERS + (line + 3) / 4 * 4,
                              what << ": the frame is as long as its code");
        const Bytes wire = Serialize(*frame);
        first = time == 0 ? wire : first;
        NS_TEST_EXPECT_MSG_EQ(wire, first, what << ": the same once more");
        CheckWire(wire, size, isShorter);

        frame = Archive(frame);
        receiver->OnReceive(*frame);
        NS_TEST_EXPECT_MSG_EQ(IsCoded(*frame), false, "restored");
        NS_TEST_EXPECT_MSG_EQ(frame->bytes, bytes, what << ": its former size");
        NS_TEST_EXPECT_MSG_EQ(GetPayload(*frame), expected, what << ": rounded");
        Frame::Free(frame);
    }
    const CodecCounters& counters = sender->GetCounters();
    NS_TEST_EXPECT_MSG_EQ(counters.codedPackets, (isShorter ? 2 : 0), what);
    NS_TEST_EXPECT_MSG_EQ(counters.bypassedPackets, (isShorter ? 0 : 2), what);
    NS_TEST_EXPECT_MSG_EQ(counters.plainBytes, (isShorter ? 2 * size : 0), what);
    NS_TEST_EXPECT_MSG_EQ(counters.codedBytes, (isShorter ? 2 * code.size() : 0), what);
    const auto classes = sender->GetCodec().CountClasses(values.data(), values.size());
    for (std::size_t i = 0; i < classes.size(); i++)
    {
        NS_TEST_EXPECT_MSG_EQ(counters.classes[i].count,
                              2 * classes[i].count,
                              what << ": class " << classes[i].name);
    }
}

/** Large numbers make a code longer than the data. */
void
CheckPlain()
{
    const auto engine = MakeEngine("inceptionn");
    std::vector<float> values(256, 3.5F);
    values[7] = 0.3F;
    Frame* frame = MakeRoce(ToBytes(values), true);
    engine->OnSend(*frame);
    NS_TEST_EXPECT_MSG_EQ(IsCoded(*frame), false, "plain and unmarked");
    NS_TEST_EXPECT_MSG_EQ(GetPayload(*frame), Round(*engine, values), "rounded");
    NS_TEST_EXPECT_MSG_EQ(engine->GetCounters().bypassedBytes, 1024, "counted");
    NS_TEST_EXPECT_MSG_EQ(engine->GetCounters().GetRatio(), 1, "nothing gained");
    engine->OnReceive(*frame);
    NS_TEST_EXPECT_MSG_EQ(engine->GetReceiveTime(*frame), Time(0), "passes the decoder");
    Frame::Free(frame);
}

/** Frames without numbers. */
void
CheckEmpty()
{
    const auto engine = MakeEngine("inceptionn:ratio=4");
    Frame* frame = Frame::Allocate(FrameKind::ROCE_ACK);
    frame->bytes = 66;
    engine->OnSend(*frame);
    NS_TEST_EXPECT_MSG_EQ(frame->bytes, 66, "an acknowledgement passes");
    NS_TEST_EXPECT_MSG_EQ(engine->GetSendTime(*frame), Time(0), "in no time");
    Frame::Free(frame);
    frame = MakeRoce({}, false);
    engine->OnSend(*frame);
    NS_TEST_EXPECT_MSG_EQ(IsCoded(*frame), false, "0 bytes have no code");
    NS_TEST_EXPECT_MSG_EQ(engine->GetCounters().bypassedPackets, 0, "and are not counted");
    Frame::Free(frame);
}

/** RoCE data: code, sizes, marks, counters, and what the receiver gets, for many sizes. */
void
TestCodedData()
{
    for (const std::string codec : {"inceptionn", "inceptionn:bound=-6,variant=bounded"})
    {
        for (const uint32_t size : {1u, 3u, 4u, 5u, 31u, 32u, 33u, 1000u, 1023u, 4096u, 9000u})
        {
            CheckSize(codec, size);
        }
    }
    CheckPlain();
    CheckEmpty();
}

/** Virtual payload has a code of the declared size, and takes the engine's time. */
void
TestDeclaredCode()
{
    const auto engine = MakeEngine("inceptionn:ratio=4");
    engine->SetAttribute("Lanes", UintegerValue(16));
    engine->SetAttribute("Clock", DoubleValue(200e6));
    NS_TEST_EXPECT_MSG_EQ(engine->GetRate(), 32 * 16 * 200e6, "bit/s");
    Frame* frame = MakeRoce(Bytes(4096), false);
    engine->OnSend(*frame);
    NS_TEST_EXPECT_MSG_EQ(frame->payloadBytes,
                          engine->GetCodec().GetCodedBytes(1024),
                          "the declared size");
    NS_TEST_EXPECT_MSG_EQ(frame->payloadBytes, 1024, "a quarter");
    NS_TEST_EXPECT_MSG_EQ(engine->GetSendTime(*frame), NanoSeconds(64 * 5), "64 cycles");
    Frame* wire = FromPacket(*ToPacket(*frame)).frame;
    NS_TEST_EXPECT_MSG_EQ(wire->payloadBytes, 1024, "as many bytes on the line");
    Frame::Free(wire);
    engine->OnReceive(*frame);
    NS_TEST_EXPECT_MSG_EQ(frame->payloadBytes, 4096, "restored");
    NS_TEST_EXPECT_MSG_EQ(frame->bytes, ROCE_HEADERS + 4096, "restored");
    NS_TEST_EXPECT_MSG_EQ(engine->GetReceiveTime(*frame), NanoSeconds(64 * 5), "64 cycles");
    NS_TEST_EXPECT_MSG_EQ(static_cast<bool>(frame->payload), false, "still virtual");
    NS_TEST_EXPECT_MSG_EQ_TOL(engine->GetCounters().GetRatio(), 4, 1e-9, "the ratio");
    Frame::Free(frame);
}

/** Sends a segment and receives it. @return contents of the packet that arrives */
Bytes
Pass(CodecEngine& engine, Frame* frame, bool isCoded)
{
    const Bytes before = GetContents(*frame->packet);
    const uint32_t bytes = frame->bytes;
    const Ptr<Packet> original = frame->packet;
    engine.OnSend(*frame);
    NS_TEST_EXPECT_MSG_EQ(IsCoded(*frame), isCoded, "coded");
    NS_TEST_EXPECT_MSG_EQ(GetContents(*original), before, "the socket's own copy");
    const Bytes wire = Serialize(*frame);
    NS_TEST_EXPECT_MSG_EQ(wire.size() + 4, frame->bytes, "the frame is as long as its code");
    if (isCoded)
    {
        NS_TEST_EXPECT_MSG_EQ(static_cast<uint32_t>(wire[IPV4 + 1]), 0x28, "marked");
        NS_TEST_EXPECT_MSG_EQ(((wire[IPV4 + 4] << 8 | wire[IPV4 + 5]) >> 2),
                              static_cast<int>(before.size() - 40),
                              "uncoded size");
        const Bytes tcp(before.begin() + 20, before.begin() + 40);
        NS_TEST_EXPECT_MSG_EQ(Bytes(wire.begin() + 34, wire.begin() + 54),
                              tcp,
                              "the TCP header is plain");
        NS_TEST_EXPECT_MSG_LT(frame->bytes, bytes, "shorter");
    }
    const auto parsed =
        FromPacket(*Create<Packet>(wire.data(), static_cast<uint32_t>(wire.size())));
    NS_TEST_EXPECT_MSG_EQ(parsed.error, "", "an IP packet");
    NS_TEST_EXPECT_MSG_EQ(Serialize(*parsed.frame), wire, "the same bytes");
    Frame::Free(parsed.frame);
    frame = Archive(frame);
    engine.OnReceive(*frame);
    NS_TEST_EXPECT_MSG_EQ(frame->bytes, bytes, "its former size");
    const Bytes after = GetContents(*GetIpPacket(*frame));
    Frame::Free(frame);
    return after;
}

/** TCP segments: numbers alone are coded; beside other bytes they are only rounded. */
void
TestCodedSegment()
{
    const std::vector<float> values = MakeValues(300, 0.9);
    const Bytes numbers = ToBytes(values);
    const Bytes header(16, 0xab);
    for (const bool isReal : {true, false})
    {
        const auto engine = MakeEngine(isReal ? "inceptionn" : "inceptionn:ratio=5");
        const Bytes sent = isReal ? numbers : Bytes(numbers.size());
        const Bytes received = isReal ? Round(*engine, values) : sent;
        const auto check = [&](const std::vector<Part>& parts, Bytes payload, bool isCoded) {
            Frame* frame = MakeSegment(parts, isReal);
            const Bytes before = GetContents(*frame->packet);
            payload.insert(payload.begin(), before.begin(), before.begin() + 40);
            const Bytes after = Pass(*engine, frame, isCoded);
            NS_TEST_EXPECT_MSG_EQ(after, payload, "what the stack gets");
        };
        check({{sent, true}}, received, true);
        const auto half = static_cast<int64_t>(sent.size() / 2);
        const Bytes start(sent.begin(), sent.begin() + half);
        const Bytes end(sent.begin() + half, sent.end());
        check({{start, true}, {end, true}}, received, true); // two writes of the socket
        check({{header, false}}, header, false);
        Bytes mixed = received;
        mixed.insert(mixed.begin() + half, header.begin(), header.end());
        check({{start, true}, {header, false}, {end, true}}, mixed, false);
        check({}, {}, false);
        NS_TEST_EXPECT_MSG_EQ(engine->GetCounters().codedPackets, 2, "of numbers alone");
        NS_TEST_EXPECT_MSG_EQ(engine->GetCounters().bypassedPackets, 1, "with a header");
        NS_TEST_EXPECT_MSG_EQ(engine->GetCounters().bypassedBytes, sent.size(), "numbers");
    }
}

const Suite g_suite("nic-codec",
                    Duration::QUICK,
                    {{"an engine codes and restores the payload of RoCE data", TestCodedData},
                     {"the code of virtual payload is as large as declared", TestDeclaredCode},
                     {"an engine codes TCP segments of numbers and leaves headers alone",
                      TestCodedSegment}});

} // namespace ns3::training::tests::nic_codec_test
