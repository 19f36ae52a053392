/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric/frame-wire-format.h"
#include "innetwork/network-fallback-wire-format.h"
#include "rdma-test-common.h"
#include "test-case.h"

#include "ns3/config.h"
#include "ns3/fabric-pcap.h"
#include "ns3/fabric-wire-format.h"
#include "ns3/ipv4-header.h"
#include "ns3/packet.h"
#include "ns3/roce-wire-format.h"
#include "ns3/switchml-wire-format.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sys/stat.h>

namespace ns3::training::tests::frame_wire_format_test
{

using Bytes = std::vector<uint8_t>;

/** @return the bytes of a hexadecimal string */
Bytes
FromHex(const std::string& digits)
{
    Bytes bytes;
    for (std::size_t i = 0; i < digits.size(); i += 2)
    {
        bytes.push_back(static_cast<uint8_t>(std::stoul(digits.substr(i, 2), nullptr, 16)));
    }
    return bytes;
}

/** @return the serialized frame */
Bytes
ToBytes(const Frame& frame)
{
    Ptr<Packet> packet = ToPacket(frame);
    Bytes bytes(packet->GetSize());
    packet->CopyData(bytes.data(), packet->GetSize());
    return bytes;
}

/** @return the parsed frame */
ParsedFrame
FromBytes(const Bytes& bytes)
{
    return FromPacket(*Create<Packet>(bytes.data(), static_cast<uint32_t>(bytes.size())));
}

/** @return the value of two bytes */
uint32_t
Get16(const Bytes& bytes, std::size_t at)
{
    return static_cast<uint32_t>(bytes[at] << 8 | bytes[at + 1]);
}

/** @return a RoCE frame with a value in every header field */
Frame*
MakeRoce(FrameKind kind, uint8_t opcode)
{
    Frame* frame = Frame::Allocate(kind);
    frame->opcode = opcode;
    frame->source = 70000;
    frame->destination = 2;
    frame->flowHash = 0x1234;
    frame->priority = kind == FrameKind::ROCE_DATA ? 3 : 6;
    frame->destinationQp = 0x123456;
    frame->psn = kind == FrameKind::ROCE_CNP ? 0 : 0xabcdef;
    frame->remoteAddress = 0x0102030405060708;
    frame->messageBytes = 0x40000000;
    frame->immediate = 0xcafebabe;
    frame->sourceQp = 0x424344;
    frame->messageNumber = 0x00000b;
    frame->selectivePsn = 0x00000c;
    frame->payloadOffset = 0;
    return frame;
}

/** @return a payload in the middle of a buffer */
Ptr<ByteBuffer>
MakePayload(uint32_t offset, uint32_t bytes)
{
    auto buffer = Create<ByteBuffer>();
    for (uint32_t i = 0; i < offset + bytes; i++)
    {
        buffer->bytes.push_back(static_cast<uint8_t>(i * 7 + 1));
    }
    return buffer;
}

/** @return extended transport headers of a data packet (IB specification, table 38), bytes */
uint32_t
GetHeaderBytes(uint8_t opcode)
{
    switch (opcode)
    {
    case 0x03: // SEND last with immediate
    case 0x05: // SEND only with immediate
    case 0x09: // WRITE last with immediate
        return 4;
    case 0x06: // WRITE first
    case 0x0a: // WRITE only
        return 16;
    case 0x0b: // WRITE only with immediate
        return 20;
    case 0x64: // datagram
        return 8;
    case 0x65: // datagram with immediate
        return 12;
    default:
        return 0;
    }
}

/** @return telemetry of two hops, with values that the wire format can represent */
TelemetryStack
MakeTelemetry()
{
    return {{16777215000, 128 * 1048575, 80 * 65535, 100 * GIGA}, {7000, 128, 80, 1600 * GIGA}};
}

/** The line rate, with all signals that a congestion control can need. */
class MeasuredRate : public FixedRate
{
  public:
    /** @return the type */
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::training::tests::MeasuredRate")
                                .SetParent<FixedRate>()
                                .SetGroupName("DistributedTraining")
                                .AddConstructor<MeasuredRate>();
        return tid;
    }

    Needs GetNeeds() const override
    {
        Needs all;
        all.cnp = true;
        all.telemetry = true;
        return all;
    }
};

/** The invariant CRC of two known packets: from annex A17, and captured on a NIC. */
void
TestInvariantCrc()
{
    // 192.168.0.7 to itself, identification 1144, don't fragment, type of service 1.
    const Bytes send = FromHex("4501004004784000401100" // time to live and checksum do not count
                               "00c0a80007c0a80007"
                               "c00012b7002c0000"
                               "2460ffff000000d300cf1710"
                               "4630818be28935d90e9a95505401be885e500000");
    NS_TEST_EXPECT_MSG_EQ(send.size(), 60, "60 bytes of IPv4");
    NS_TEST_EXPECT_MSG_EQ(GetInvariantCrc(send.data(), 60), 0xf353f378, "78 f3 53 f3");
    const Bytes cnp = FromHex("45c2003c718c4000401191610a0011010a001201"
                              "000012b700280000"
                              "8100ffff4000011800000000"
                              "00000000000000000000000000000000");
    NS_TEST_EXPECT_MSG_EQ(GetInvariantCrc(cnp.data(), 56), 0x2a00fd82, "82 fd 00 2a");
}

/** @param frame freed afterwards @param expected its bytes @param what description for messages */
void
Check(Frame* frame, const std::string& expected, const std::string& what)
{
    const Bytes bytes = ToBytes(*frame);
    NS_TEST_EXPECT_MSG_EQ(bytes, FromHex(expected), what);
    NS_TEST_EXPECT_MSG_EQ(bytes.size() + 4, frame->bytes, what << ": size");
    Frame::Free(frame);
}

/** Whole frames against bytes assembled by another program with zlib's CRC. */
void
TestFrameBytes()
{
    Frame* write = MakeRoce(FrameKind::ROCE_DATA, WRITE_ONLY_IMMEDIATE);
    write->bytes = 90;
    write->source = 1;
    write->flowHash = 0xffff1234;
    write->ecn = Ecn::ECT;
    write->ackRequest = true;
    write->messageBytes = 5;
    write->payloadBytes = 5;
    write->payload = Create<ByteBuffer>();
    write->payload->bytes = {9, 1, 2, 3, 4, 5, 9};
    write->payloadOffset = 1;
    Check(write,
          "0200000000020200000000010800456a004800004000401126370a0000020a00"
          "0003d23412b7003400000b70ffff0012345680abcdef01020304050607080000"
          "000100000005cafebabe0102030405000000c678ef93",
          "WRITE with immediate");
    Frame* nak = MakeRoce(FrameKind::ROCE_ACK, ACKNOWLEDGE);
    nak->bytes = 70;
    nak->flowHash = 0x4000;
    nak->ecnEcho = true;
    nak->destinationQp = 7;
    nak->psn = 9;
    nak->syndrome = SYNDROME_NAK_SEQUENCE;
    Check(nak,
          "020000000002020000011170080045c0003400004000401114850a0111710a00"
          "0003c00012b7002000001140ffff40000007000000096000000b0000000ce70e"
          "e1e4",
          "NAK with the packet that caused it, marked");
    Frame* cnp = MakeRoce(FrameKind::ROCE_CNP, CNP);
    cnp->bytes = 78;
    cnp->source = 0;
    cnp->destination = 1;
    cnp->flowHash = 0xffffffff;
    cnp->destinationQp = 0x118;
    Check(cnp,
          "020000000001020000000000080045c0003c00004000401125ef0a0000010a00"
          "0002ffff12b7002800008100ffff400001180000000000000000000000000000"
          "000000000000c60ebeb0",
          "CNP");
    Frame* datagram = MakeRoce(FrameKind::ROCE_DATA, UD_SEND_ONLY);
    datagram->bytes = 70;
    datagram->source = 0;
    datagram->destination = 1;
    datagram->flowHash = 1;
    datagram->destinationQp = 2;
    datagram->psn = 1;
    datagram->sourceQp = 0x42;
    Check(datagram,
          "020000000001020000000000080045680034000040004011264f0a0000010a00"
          "0002c00112b7002000006440ffff000000020000000101234567000000420ee7"
          "ba75",
          "datagram");
    SwitchMlHeader header;
    header.job = 9;
    header.packet = 0x01020304;
    header.slot = 0x1ff;
    header.set = 1;
    header.exponents[0] = -3;
    header.exponents[1] = -128;
    Frame* sum = Frame::Make(header);
    sum->bytes = 64;
    sum->source = 1;
    sum->destination = 4;
    sum->flowHash = 0x1234;
    sum->payloadBytes = 8;
    sum->payload = Create<ByteBuffer>();
    sum->payload->bytes = {0xff, 0xff, 0xff, 0xfe, 0x7f, 0xff, 0xff, 0xff};
    Check(sum,
          "02000000000402000000000108004500002e00004000401126b90a0000020a00"
          "0005d234bee0001a000010090102030481fffd80fffffffe7fffffff",
          "SwitchML");
    NetworkFallbackHeader completion;
    completion.completed = 7;
    completion.system = 0x1234;
    completion.job = 255;
    completion.heard = true;
    Frame* notice = Frame::Make(completion);
    notice->bytes = 64;
    notice->source = 4;
    notice->destination = 1;
    Check(notice,
          "02000000000102000000000408004500002400004000401126c30a0000050a00"
          "0002c000bef1001000001234ff010000000700000000000000000000",
          "fallback notice");
    Frame* measured = MakeRoce(FrameKind::ROCE_DATA, SEND_MIDDLE);
    measured->bytes = 108;
    measured->source = 3;
    measured->destination = 4;
    measured->flowHash = 2;
    measured->ecn = Ecn::CE;
    measured->destinationQp = 2;
    measured->psn = 3;
    measured->payloadBytes = 4;
    measured->payload = Create<ByteBuffer>();
    measured->payload->bytes = {0x11, 0x22, 0x33, 0x44};
    measured->SetTelemetry(std::make_unique<TelemetryStack>(
        TelemetryStack{{0x123456789, 0x987654321, 8079, 100 * GIGA},
                       {7999, 255, 1000000000, 123456789}}));
    Check(measured,
          "0200000000040200000000030800456b005a00004000401126200a0000040a00"
          "0005c00212b800460000020564a90beeca860064000000700001ffff00000000"
          "00000000000000000000000000000000000000000140ffff0000000200000003"
          "11223344508230bc",
          "telemetry of two hops in room for five, its numbers cut to their fields");
    Check(MakePause(0x0a, 0x1234),
          "0180c2000001"
          "0200ffffffff"
          "8808"
          "0101"
          "000a"
          "0000"
          "1234"
          "0000"
          "1234"
          "0000000000000000" +
              std::string(52, '0'),
          "pause of priorities 1 and 3");
    Simulator::Destroy();
}

/**
 * Round trip of every type of frame through bytes: size, checksums, every field, and equal bytes.
 */
struct FrameRoundTripTestCase
{
    void Run();
    void CheckData(uint8_t opcode, uint32_t payload, bool real, bool telemetry);
    void CheckIp();

    /**
     * Checks the common properties of all frames, and frees the frame.
     * @param frame whose `bytes` a test has computed
     * @param what description for messages
     * @return the frame after a round trip
     */
    Frame* Check(Frame* frame, const std::string& what);
};

Frame*
FrameRoundTripTestCase::Check(Frame* frame, const std::string& what)
{
    const Bytes bytes = ToBytes(*frame);
    NS_TEST_EXPECT_MSG_EQ(bytes.size() + 4, frame->bytes, what << ": size");
    const ParsedFrame parsed = FromBytes(bytes);
    NS_TEST_EXPECT_MSG_EQ(parsed.error, "", what);
    Frame* copy = parsed.frame ? parsed.frame : Frame::Allocate(frame->kind);
    NS_TEST_EXPECT_MSG_EQ(copy->bytes, frame->bytes, what);
    NS_TEST_EXPECT_MSG_EQ(static_cast<int>(copy->kind), static_cast<int>(frame->kind), what);
    NS_TEST_EXPECT_MSG_EQ(ToBytes(*copy), bytes, what << ": the same bytes again");
    if (frame->kind != FrameKind::PAUSE)
    {
        NS_TEST_EXPECT_MSG_EQ(copy->source, frame->source, what);
        NS_TEST_EXPECT_MSG_EQ(copy->destination, frame->destination, what);
        NS_TEST_EXPECT_MSG_EQ(copy->flowHash, frame->flowHash, what);
        NS_TEST_EXPECT_MSG_EQ(static_cast<int>(copy->ecn), static_cast<int>(frame->ecn), what);
        uint32_t sum = 0;
        for (std::size_t at = 14; at < 34; at += 2)
        {
            sum += Get16(bytes, at);
        }
        NS_TEST_EXPECT_MSG_EQ((sum & 0xffff) + (sum >> 16), 0xffff, what << ": IPv4 checksum");
        const uint32_t length = Get16(bytes, 16);
        NS_TEST_EXPECT_MSG_EQ((bytes.size() == 14 + length || (bytes.size() == 60 && length < 46)),
                              true,
                              what << ": padded to the shortest frame only");
    }
    Frame::Free(frame);
    return copy;
}

void
FrameRoundTripTestCase::CheckData(uint8_t opcode, uint32_t payload, bool real, bool telemetry)
{
    const std::string what = "opcode " + std::to_string(opcode) + ", " + std::to_string(payload) +
                             " bytes" + (real ? ", real" : "") + (telemetry ? ", telemetry" : "");
    Frame* frame = MakeRoce(FrameKind::ROCE_DATA, opcode);
    frame->priority = payload % PRIORITIES;
    frame->ecn = payload % 2 ? Ecn::CE : Ecn::ECT;
    frame->ackRequest = payload % 2;
    frame->payloadBytes = payload;
    frame->bytes = std::max<uint32_t>(14 + 20 + 8 + (telemetry ? 2 + 5 * 8 : 0) + 12 +
                                          GetHeaderBytes(opcode) + (payload + 3) / 4 * 4 + 4 + 4,
                                      64);
    if (telemetry)
    {
        frame->SetTelemetry(std::make_unique<TelemetryStack>(MakeTelemetry()));
    }
    Bytes contents(payload);
    if (real)
    {
        frame->payload = MakePayload(13, payload);
        frame->payloadOffset = 13;
        contents.assign(frame->payload->bytes.begin() + 13, frame->payload->bytes.end());
    }
    const uint8_t priority = frame->priority;
    const bool ackRequest = frame->ackRequest;
    Frame* copy = Check(frame, what);
    NS_TEST_EXPECT_MSG_EQ(uint32_t{copy->opcode}, uint32_t{opcode}, what);
    NS_TEST_EXPECT_MSG_EQ(uint32_t{copy->priority}, uint32_t{priority}, what);
    NS_TEST_EXPECT_MSG_EQ(copy->ackRequest, ackRequest, what);
    NS_TEST_EXPECT_MSG_EQ(copy->destinationQp, 0x123456, what);
    NS_TEST_EXPECT_MSG_EQ(copy->psn, 0xabcdef, what);
    NS_TEST_EXPECT_MSG_EQ(copy->payloadBytes, payload, what);
    NS_TEST_ASSERT_MSG_NE(copy->payload, nullptr, what);
    const auto begin = copy->payload->bytes.begin() + static_cast<int64_t>(copy->payloadOffset);
    NS_TEST_EXPECT_MSG_EQ(Bytes(begin, begin + payload), contents, what << ": payload");
    if (opcode == WRITE_FIRST || opcode == WRITE_ONLY || opcode == WRITE_ONLY_IMMEDIATE)
    {
        NS_TEST_EXPECT_MSG_EQ(copy->remoteAddress, 0x0102030405060708, what);
        NS_TEST_EXPECT_MSG_EQ(copy->messageBytes, 0x40000000, what);
    }
    if (opcode >= UD_SEND_ONLY)
    {
        NS_TEST_EXPECT_MSG_EQ(copy->sourceQp, 0x424344, what);
    }
    const std::vector<uint8_t> immediates{0x03, 0x05, 0x09, 0x0b, 0x65};
    if (std::find(immediates.begin(), immediates.end(), opcode) != immediates.end())
    {
        NS_TEST_EXPECT_MSG_EQ(copy->immediate, 0xcafebabe, what);
    }
    NS_TEST_EXPECT_MSG_EQ((copy->GetTelemetry() != nullptr), telemetry, what);
    if (copy->GetTelemetry())
    {
        const TelemetryStack expected = MakeTelemetry();
        NS_TEST_ASSERT_MSG_EQ(copy->GetTelemetry()->size(), expected.size(), what);
        for (std::size_t i = 0; i < expected.size(); i++)
        {
            const HopTelemetry& hop = (*copy->GetTelemetry())[i];
            NS_TEST_EXPECT_MSG_EQ(hop.time, expected[i].time, what);
            NS_TEST_EXPECT_MSG_EQ(hop.sentBytes, expected[i].sentBytes, what);
            NS_TEST_EXPECT_MSG_EQ(hop.queueBytes, expected[i].queueBytes, what);
            NS_TEST_EXPECT_MSG_EQ(hop.rate, expected[i].rate, what);
        }
    }
    Frame::Free(copy);
}

void
FrameRoundTripTestCase::CheckIp()
{
    for (const uint32_t payload : {0, 1, 25, 26, 27, 1000, 8980})
    {
        for (const Ecn ecn : {Ecn::NOT_ECT, Ecn::ECT, Ecn::CE})
        {
            const std::string what = "IP packet with " + std::to_string(payload) + " bytes";
            const Bytes contents = MakePayload(0, payload)->bytes;
            Ptr<Packet> packet = Create<Packet>(contents.data(), payload);
            Ipv4Header header;
            header.SetSource("10.0.0.6");
            header.SetDestination("10.0.0.8");
            header.SetProtocol(6);
            header.SetTtl(64);
            header.SetPayloadSize(static_cast<uint16_t>(payload));
            header.SetEcn(ecn == Ecn::NOT_ECT ? Ipv4Header::ECN_NotECT : Ipv4Header::ECN_ECT0);
            packet->AddHeader(header);
            Frame* frame = Frame::Allocate(FrameKind::IP);
            frame->bytes = std::max<uint32_t>(14 + 20 + payload + 4, 64);
            frame->source = 5;
            frame->destination = 7;
            frame->protocol = 0x0800;
            frame->priority = 0;
            frame->ecn = ecn; // CE: marked on the path
            frame->packet = packet;
            uint32_t ports = 0;
            if (payload > 0)
            {
                std::memcpy(&ports, contents.data(), std::min<uint32_t>(4, payload));
            }
            frame->flowHash = HashFlow(5, 7, ports);
            Frame* copy = Check(frame, what);
            NS_TEST_EXPECT_MSG_EQ(uint32_t{copy->protocol}, 0x0800, what);
            NS_TEST_ASSERT_MSG_EQ(copy->packet->GetSize(), 20 + payload, what);
            Ptr<Packet> received = copy->packet->Copy();
            Ipv4Header receivedHeader;
            receivedHeader.EnableChecksum();
            received->RemoveHeader(receivedHeader);
            NS_TEST_EXPECT_MSG_EQ(receivedHeader.IsChecksumOk(), true, what);
            NS_TEST_EXPECT_MSG_EQ(static_cast<int>(receivedHeader.GetEcn()),
                                  static_cast<int>(ecn),
                                  what << ": its ECN field");
            Bytes bytes(payload);
            received->CopyData(bytes.data(), payload);
            NS_TEST_EXPECT_MSG_EQ(bytes, contents, what << ": contents");
            Frame::Free(copy);
        }
    }
}

void
FrameRoundTripTestCase::Run()
{
    const std::vector<uint8_t>
        opcodes{0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x64, 0x65};
    for (const uint8_t opcode : opcodes)
    {
        for (const uint32_t payload : {0, 1, 2, 3, 4, 5, 1000, 4095, 4096, 9000})
        {
            CheckData(opcode, payload, false, false);
            CheckData(opcode, payload, true, false);
            CheckData(opcode, payload, true, true);
        }
    }
    for (const uint8_t syndrome : {SYNDROME_ACK,
                                   static_cast<uint8_t>(SYNDROME_RNR_NAK | 12),
                                   SYNDROME_NAK_SEQUENCE,
                                   uint8_t{0x63}})
    {
        for (const uint32_t hops : {0, 1, 5, 9})
        {
            for (const bool selective : {false, true})
            {
                if (selective && syndrome < SYNDROME_NAK_SEQUENCE)
                {
                    continue;
                }
                const std::string what = "syndrome " + std::to_string(syndrome) + ", " +
                                         std::to_string(hops) + " hops" +
                                         (selective ? ", selective" : "");
                Frame* frame = MakeRoce(FrameKind::ROCE_ACK, ACKNOWLEDGE);
                frame->bytes = 66 + (hops > 0 ? 2 + 8 * hops : 0) + (selective ? 4 : 0);
                frame->syndrome = syndrome;
                frame->ecnEcho = hops == 1;
                if (hops > 0)
                {
                    auto telemetry = std::make_unique<TelemetryStack>(MakeTelemetry());
                    telemetry->resize(std::min<uint32_t>(2, hops));
                    frame->SetTelemetry(std::move(telemetry));
                }
                Frame* copy = Check(frame, what);
                NS_TEST_EXPECT_MSG_EQ(uint32_t{copy->syndrome}, uint32_t{syndrome}, what);
                NS_TEST_EXPECT_MSG_EQ(uint32_t{copy->priority}, 6, what);
                NS_TEST_EXPECT_MSG_EQ(copy->ecnEcho, (hops == 1), what);
                NS_TEST_EXPECT_MSG_EQ(copy->destinationQp, 0x123456, what);
                NS_TEST_EXPECT_MSG_EQ(copy->psn, 0xabcdef, what);
                NS_TEST_EXPECT_MSG_EQ(copy->messageNumber, 0x00000b, what);
                NS_TEST_EXPECT_MSG_EQ(copy->selectivePsn, (selective ? 0x00000cU : 0U), what);
                NS_TEST_EXPECT_MSG_EQ((copy->GetTelemetry() ? copy->GetTelemetry()->size() : 0),
                                      std::min<uint32_t>(2, hops),
                                      what);
                Frame::Free(copy);
            }
        }
    }
    for (const uint32_t elements : {0, 1, 32, 64, 256})
    {
        SwitchMlHeader header;
        header.packet = 0xfffffffe;
        header.slot = SWITCHML_MAX_SLOTS - 1;
        header.job = 3;
        header.exponents[1] = 127;
        Frame* sum = MakeRoce(FrameKind::PROGRAM, 0);
        sum->Set(header);
        sum->bytes = GetSwitchMlFrameBytes(elements);
        sum->payloadBytes = 4 * elements;
        sum->payload = MakePayload(3, 4 * elements);
        sum->payloadOffset = 3;
        const std::string what = "SwitchML, " + std::to_string(elements) + " elements";
        const Bytes contents(sum->payload->bytes.begin() + 3,
                             sum->payload->bytes.begin() + 3 + 4 * elements);
        Frame* copy = Check(sum, what);
        const auto& got = copy->As<SwitchMlHeader>();
        NS_TEST_EXPECT_MSG_EQ(got.packet, 0xfffffffe, what);
        NS_TEST_EXPECT_MSG_EQ(got.slot, SWITCHML_MAX_SLOTS - 1, what);
        NS_TEST_EXPECT_MSG_EQ(+got.set, 0, what);
        NS_TEST_EXPECT_MSG_EQ(+got.job, 3, what);
        NS_TEST_EXPECT_MSG_EQ(+got.exponents[1], 127, what);
        NS_TEST_EXPECT_MSG_EQ(copy->payload->bytes, contents, what);
        Frame::Free(copy);
    }
    for (const uint8_t opcode :
         {UC_WRITE_FIRST, UC_WRITE_MIDDLE, UC_WRITE_LAST_IMMEDIATE, UC_WRITE_ONLY_IMMEDIATE})
    {
        SwitchMlHeader header;
        header.packet = 0x12345;
        header.slot = 0x123;
        header.set = 1;
        header.exponents[0] = -9;
        Frame* sum = MakeRoce(FrameKind::PROGRAM, opcode);
        sum->Set(header);
        sum->bytes = GetSwitchMlRdmaFrameBytes(opcode, 64);
        sum->payloadBytes = 256;
        sum->payload = MakePayload(0, 256);
        sum->ackRequest = false;
        const Ptr<ByteBuffer> contents = sum->payload;
        const std::string what = "SwitchML over RDMA, " + std::to_string(opcode);
        Frame* copy = Check(sum, what);
        const bool isFirst = opcode == UC_WRITE_FIRST || opcode == UC_WRITE_ONLY_IMMEDIATE;
        const bool isLast = opcode > UC_WRITE_MIDDLE;
        const auto& got = copy->As<SwitchMlHeader>();
        const uint32_t number = isFirst ? 0x12345 : isLast ? 0x2345 : 0;
        NS_TEST_EXPECT_MSG_EQ(got.slot, (isFirst ? 0x123 : 0), what);
        NS_TEST_EXPECT_MSG_EQ(+got.set, (isFirst ? 1 : 0), what);
        NS_TEST_EXPECT_MSG_EQ(got.packet, number, what);
        NS_TEST_EXPECT_MSG_EQ(+got.exponents[0], (isLast ? -9 : 0), what);
        NS_TEST_EXPECT_MSG_EQ(copy->destinationQp, 0x123456, what);
        NS_TEST_EXPECT_MSG_EQ(copy->psn, 0xabcdef, what);
        NS_TEST_EXPECT_MSG_EQ(copy->payload->bytes, contents->bytes, what);
        Frame::Free(copy);
    }
    Frame* cnp = MakeRoce(FrameKind::ROCE_CNP, CNP);
    cnp->bytes = 78;
    Frame* copy = Check(cnp, "CNP");
    NS_TEST_EXPECT_MSG_EQ(copy->destinationQp, 0x123456, "CNP");
    NS_TEST_EXPECT_MSG_EQ(uint32_t{copy->priority}, 6, "CNP");
    Frame::Free(copy);
    for (const uint16_t quanta : {0, 1, 65535})
    {
        for (const uint8_t classes : {0x01, 0x08, 0x81, 0xff})
        {
            copy = Check(MakePause(classes, quanta), "pause");
            NS_TEST_EXPECT_MSG_EQ(uint32_t{copy->pauseClasses}, uint32_t{classes}, "classes");
            NS_TEST_EXPECT_MSG_EQ(uint32_t{copy->pauseQuanta}, uint32_t{quanta}, "quanta");
            Frame::Free(copy);
        }
    }
    CheckIp();
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    Simulator::Destroy();
}

/** Flips each bit of a frame: the frame is refused, or no check covers the bit. */
void
TestDamagedFrame()
{
    for (const bool telemetry : {false, true})
    {
        Frame* frame = MakeRoce(FrameKind::ROCE_DATA, WRITE_ONLY_IMMEDIATE);
        frame->payloadBytes = 9;
        frame->bytes = 94 + (telemetry ? 42 : 0);
        frame->SetTelemetry(telemetry ? std::make_unique<TelemetryStack>(MakeTelemetry())
                                      : nullptr);
        frame->payload = MakePayload(0, 9);
        const Bytes bytes = ToBytes(*frame);
        const std::size_t bth = 14 + 20 + 8 + (telemetry ? 42 : 0);
        for (std::size_t bit = 0; bit < 8 * bytes.size(); bit++)
        {
            const std::size_t at = bit / 8;
            Bytes damaged = bytes;
            damaged[at] ^= 1 << bit % 8;
            const ParsedFrame parsed = FromBytes(damaged);
            // Another UDP service; but 4793, next to the port of telemetry, is that of Ultra
            // Ethernet, which refuses the packet.
            const bool isUet = telemetry && bit == 37 * 8;
            const bool isPort = (at == 36 || at == 37) && !isUet;
            const bool isCongestion = at == bth + 4; // FECN, BECN
            // Fields that each hop changes: two of five hops may as well be three or none.
            const bool isHop = telemetry && ((at >= 44 && at < bth) || bit == 336 || bit == 337);
            NS_TEST_EXPECT_MSG_EQ((parsed.frame != nullptr),
                                  (isPort || isCongestion || isHop),
                                  "bit " << bit << ": " << parsed.error);
            if (parsed.frame)
            {
                NS_TEST_EXPECT_MSG_EQ((parsed.frame->kind == FrameKind::IP), isPort, "bit " << bit);
                Frame::Free(parsed.frame);
            }
        }
        // Only the ICRC covers payload and headers.
        Bytes damaged = bytes;
        damaged[bytes.size() - 5] ^= 1;
        NS_TEST_EXPECT_MSG_EQ(FromBytes(damaged).error, "wrong invariant CRC", "a pad byte");
        damaged = bytes;
        damaged[20] ^= 1;
        NS_TEST_EXPECT_MSG_EQ(FromBytes(damaged).error, "wrong IPv4 checksum", "a flag");
        for (std::size_t size = 0; size < bytes.size(); size++)
        {
            const ParsedFrame parsed = FromBytes(Bytes(bytes.begin(), bytes.begin() + size));
            NS_TEST_EXPECT_MSG_EQ(parsed.frame, nullptr, "cut to " << size << " bytes");
        }
        Frame::Free(frame);
    }
    Frame* sum = Frame::Make(SwitchMlHeader());
    sum->bytes = GetSwitchMlFrameBytes(32);
    sum->payloadBytes = 128;
    sum->payload = MakePayload(0, 128);
    const Bytes ofSum = ToBytes(*sum);
    Frame::Free(sum);
    for (const auto& [at, error] : std::vector<std::pair<std::size_t, std::string>>{
             {39, "UDP length differs from IPv4 length"},
             {40, "UDP checksum (allowed: none)"},
             {42, "unknown SwitchML message type 3"}})
    {
        Bytes damaged = ofSum;
        damaged[at] ^= 0x20;
        NS_TEST_EXPECT_MSG_EQ(FromBytes(damaged).error, error, "byte " << at);
    }
    Frame* pause = MakePause(0xff, 65535);
    const Bytes bytes = ToBytes(*pause);
    Frame::Free(pause);
    for (const auto& [at, error] :
         std::vector<std::pair<std::size_t, std::string>>{{5, "MAC control to another address"},
                                                          {13, "unknown EtherType"},
                                                          {15,
                                                           "MAC control that is no priority "
                                                           "flow control"},
                                                          {20, "a pause of different times"}})
    {
        Bytes damaged = bytes;
        damaged[at] ^= 0x10;
        NS_TEST_EXPECT_MSG_EQ(FromBytes(damaged).error, error, "byte " << at);
    }
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
    Simulator::Destroy();
}

/** A protocol of this test with a unique number and ports. */
struct ProbeHeader
{
    static constexpr uint16_t PROTOCOL = 0xfff0; ///< Frame::protocol
    uint32_t key{0};                             ///< receiver key
};

constexpr uint16_t PORT = 0xdead;

void
Put(WireBytes& out, const Frame& frame)
{
    PutUdp(out, frame, PORT, UDP_BYTES + 4);
    PutNumber(out, frame.As<ProbeHeader>().key, 4);
}

std::string
Read(const uint8_t* udp, uint32_t bytes, Frame& frame)
{
    ProbeHeader header;
    header.key = GetWord(udp + UDP_BYTES);
    frame.Set(header);
    return bytes == UDP_BYTES + 4 ? "" : "a probe of another size";
}

bool
IsOdd(const uint8_t* udp, uint32_t bytes)
{
    return bytes > UDP_BYTES + 3 && udp[UDP_BYTES + 3] % 2;
}

std::string
Refuse(const uint8_t*, uint32_t, Frame&)
{
    return "an odd probe";
}

uint32_t
GetKey(const Frame& frame)
{
    return frame.As<ProbeHeader>().key;
}

Frame*
MakeProbe(uint32_t key)
{
    ProbeHeader header;
    header.key = key;
    Frame* frame = Frame::Make(header);
    frame->bytes = Frame::MIN_BYTES;
    frame->source = 1;
    frame->destination = 0;
    return frame;
}

std::string
Register(const WireFormat& format)
{
    return GetRefusal([&]() { const WireFormat::Entry entry(format); });
}

/**
 * A protocol registers its wire format: its frames are serialized and parsed, hosts find its
 * receivers by key, and numbers and ports in use are refused.
 */
void
TestWireFormatRegistry()
{
    Frame* unknown = MakeProbe(2);
    ExpectPart(GetRefusal([&]() { ToPacket(*unknown); }), "unknown protocol 65520 of a frame");
    Frame::Free(unknown);
    static const WireFormat::Entry probe(
        {"probe", ProbeHeader::PROTOCOL, &GetKey, &Put, {WireFormat::Udp(PORT, &Read)}});
    ExpectPart(Register({"late", ProbeHeader::PROTOCOL, &GetKey, &Put, {}}),
               "wire format 'late' with protocol number 65520, that of 'probe'");
    ExpectPart(Register({"late", 0xfff1, &GetKey, &Put, {WireFormat::Udp(PORT, &Read)}}),
               "UDP port 57005, one of 'probe'");
    ExpectPart(Register({"late", 0xfff1, &GetKey, &Put, {WireFormat::Udp(0, &Read, 0x1)}}),
               "UDP port 0, one of");
    const uint16_t etherType = 0x0700;
    ExpectPart(Register({"late", 0xfff1, &GetKey, &Put, {WireFormat::EtherType(0x0700, &Read)}}),
               "EtherType " + std::to_string(etherType) + ", one of 'ATP'");
    static const WireFormat::Entry odd(
        {"odd", 0xfff2, nullptr, &Put, {WireFormat::Udp(PORT, &Refuse, 0xffff, &IsOdd)}});

    Frame* even = MakeProbe(0x12345678);
    ParsedFrame parsed = FromBytes(ToBytes(*even));
    NS_TEST_ASSERT_MSG_EQ(parsed.error, "", "a probe");
    NS_TEST_EXPECT_MSG_EQ(parsed.frame->Is<ProbeHeader>(), true, "of its protocol");
    NS_TEST_EXPECT_MSG_EQ(parsed.frame->As<ProbeHeader>().key, 0x12345678, "its header");
    Frame::Free(parsed.frame);
    even->As<ProbeHeader>().key = 3;
    NS_TEST_EXPECT_MSG_EQ(FromBytes(ToBytes(*even)).error, "an odd probe", "it picks its own");
    Frame::Free(even);

    Fabric fabric = FabricHelper().Install(MakeChain(std::vector<Hop>{{100 * GIGA, 1000}}));
    std::vector<uint32_t> received(2);
    for (uint32_t key : {0, 1})
    {
        fabric.devices[0]->SetProgramReceiver(ProbeHeader::PROTOCOL, key, [&, key](Frame* f) {
            received[key]++;
            Frame::Free(f);
        });
    }
    for (uint32_t key : {1, 1, 2, 0, 1})
    {
        In(0, [&, key]() { fabric.devices[1]->GetPort().Send(MakeProbe(key)); });
    }
    In(1000000000, [&]() {
        fabric.devices[0]->SetProgramReceiver(ProbeHeader::PROTOCOL, 1, nullptr);
        fabric.devices[1]->GetPort().Send(MakeProbe(1));
    });
    Simulator::Run();
    NS_TEST_EXPECT_MSG_EQ(received[0], 1, "key 0");
    NS_TEST_EXPECT_MSG_EQ(received[1], 3, "key 1, until its receiver goes");
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "the others are freed");
    Simulator::Destroy();
}

/**
 * Frames that NICs and switches actually send, with losses, marks and telemetry: sizes match the
 * contents, and the capture files contain them.
 */
struct CaptureTestCase
{
    void Run();
    void CheckFile(const std::string& path, const PortCounters& counters);

    std::map<FrameKind, uint64_t> kinds; // frames in files
    uint64_t telemetry{0};               // frames in files with telemetry of at least one hop
};

void
CaptureTestCase::CheckFile(const std::string& path, const PortCounters& counters)
{
    std::ifstream file(path, std::ios::binary);
    const Bytes all{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    // Little-endian as ns-3 writes: nanoseconds, version 2.4, Ethernet.
    const Bytes header = FromHex("4d3cb2a1020004000000000000000000ffff000001000000");
    NS_TEST_ASSERT_MSG_GT_OR_EQ(all.size(), 24, path);
    NS_TEST_EXPECT_MSG_EQ(std::equal(header.begin(), header.end(), all.begin()), true, path);
    uint64_t records = 0;
    uint64_t bytes = 0;
    uint64_t last = 0;
    std::size_t at = 24;
    while (at + 16 <= all.size())
    {
        uint32_t fields[4];
        std::memcpy(fields, all.data() + at, 16);
        NS_TEST_ASSERT_MSG_EQ(fields[2], fields[3], "recorded whole");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(at + 16 + fields[2], all.size(), "complete");
        const uint64_t time = fields[0] * GIGA + fields[1];
        NS_TEST_EXPECT_MSG_GT_OR_EQ(time, last, "in order of time");
        last = time;
        const ParsedFrame parsed =
            FromBytes(Bytes(all.begin() + static_cast<int64_t>(at) + 16,
                            all.begin() + static_cast<int64_t>(at) + 16 + fields[2]));
        NS_TEST_ASSERT_MSG_EQ(parsed.error, "", "a frame");
        telemetry += parsed.frame->GetTelemetry() && !parsed.frame->GetTelemetry()->empty();
        if (parsed.frame->kind == FrameKind::ROCE_DATA || parsed.frame->kind == FrameKind::ROCE_ACK)
        {
            const uint32_t length = Get16(all, at + 16 + 16);
            NS_TEST_EXPECT_MSG_EQ(fields[2], 14 + length, "no padding needed");
        }
        kinds[parsed.frame->kind]++;
        Frame::Free(parsed.frame);
        records++;
        bytes += fields[2] + 4;
        at += 16 + fields[2];
    }
    NS_TEST_EXPECT_MSG_EQ(at, all.size(), "nothing behind the last record");
    NS_TEST_EXPECT_MSG_EQ(records, counters.transmittedFrames + counters.receivedFrames, path);
    NS_TEST_EXPECT_MSG_EQ(bytes, counters.transmittedBytes + counters.receivedBytes, path);
    NS_TEST_EXPECT_MSG_GT(last, 60000, "as long as the run");
}

void
CaptureTestCase::Run()
{
    TopologyGraph star;
    star.name = "star";
    star.hosts = 9;
    star.switches = 1;
    for (uint32_t host = 0; host < star.hosts; host++)
    {
        star.links.push_back({host, star.hosts, DataRate(100 * GIGA), MicroSeconds(1)});
    }
    const std::string prefix = CreateTempDirFilename("capture");
    std::vector<PortCounters> counters;
    Config::SetDefault("ns3::training::SwitchDevice::BufferSize", UintegerValue(4 << 20));
    {
        RdmaNetwork network(star, MeasuredRate::GetTypeId(), nullptr, 0.01);
        for (uint32_t host = 1; host < star.hosts; host++)
        {
            network.Connect(host, 0, host);
        }
        NS_TEST_EXPECT_MSG_EQ(network.fabric.channels.size(), 9, "links");
        for (const auto& channel : network.fabric.channels)
        {
            channel->GetPort(1).EnableTelemetry();
        }
        FabricPcap pcap(network.fabric, prefix);
        std::ifstream early(prefix + "-host0-0.pcap");
        NS_TEST_EXPECT_MSG_EQ(early.good(), false, "no file before the run");
        for (uint32_t host = 1; host < star.hosts; host++)
        {
            Write(network.Get(host, host), 1000001);
        }
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 8, "messages");
        for (const auto& channel : network.fabric.channels)
        {
            counters.push_back(channel->GetPort(0).GetCounters());
            counters.push_back(channel->GetPort(1).GetCounters());
        }
    }
    Config::Reset();
    for (uint32_t host = 0; host < star.hosts; host++)
    {
        const std::string number = std::to_string(host);
        CheckFile(prefix + "-host" + number + "-0.pcap", counters[2 * host]);
        CheckFile(prefix + "-switch0-" + number + ".pcap", counters[2 * host + 1]);
    }
    for (const FrameKind kind :
         {FrameKind::PAUSE, FrameKind::ROCE_DATA, FrameKind::ROCE_ACK, FrameKind::ROCE_CNP})
    {
        NS_TEST_EXPECT_MSG_GT(kinds[kind], 0, "of every kind");
    }
    NS_TEST_EXPECT_MSG_GT(telemetry, 0, "telemetry");
    NS_TEST_EXPECT_MSG_EQ(Frame::GetInUse(), 0, "all frames given back");
}

void
TestCaptureRefusal()
{
    const std::string directory = CreateTempDirFilename("missing") + "/capture";
    const std::string occupied = CreateTempDirFilename("occupied");
    mkdir((occupied + "-switch0-1.pcap").c_str(), 0700);
    for (const std::string& prefix : {directory, occupied})
    {
        RdmaNetwork network(MakeChain(2, 100 * GIGA, 1000));
        const std::string error = GetRefusal([&] { FabricPcap pcap(network.fabric, prefix); });
        NS_TEST_EXPECT_MSG_EQ(error.find("pcap " + prefix + ": "), 0, error);
        ExpectPart(error, "allowed");
        Write(network.Connect(0, 1, 1), 1);
        Simulator::Run(); // as if the capture had not been tried
        NS_TEST_EXPECT_MSG_EQ(network.deliveries.size(), 1, "arrives");
        std::ifstream file(prefix + "-host0-0.pcap");
        NS_TEST_EXPECT_MSG_EQ(file.good(), false, "no file");
    }
}

const Suite g_suite("frame-wire-format",
                    Duration::QUICK,
                    {{"invariant CRC", TestInvariantCrc},
                     {"frames byte for byte", TestFrameBytes},
                     {"to bytes and back", RunTest<FrameRoundTripTestCase>},
                     {"damaged frames", TestDamagedFrame},
                     {"formats that protocols register", TestWireFormatRegistry},
                     {"captured traffic", RunTest<CaptureTestCase>},
                     {"capture files that cannot be written", TestCaptureRefusal}});

} // namespace ns3::training::tests::frame_wire_format_test
