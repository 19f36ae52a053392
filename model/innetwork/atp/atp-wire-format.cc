/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "atp-wire-format.h"

#include "ns3/fabric-wire-format.h"

namespace ns3::training
{

namespace
{

/** Bits of the flags byte, as released; the rack bit replaces the data index. */
enum Flag : uint8_t
{
    IS_ACK = 0x01,
    IS_COLLISION = 0x02,
    IS_RESEND = 0x04,
    IS_CONGESTED = 0x08,
    IS_RACK_SUM = 0x10,
    IS_OVERFLOW = 0x80
};

/// Bit of the extension byte.
constexpr uint8_t IS_CONTESTED = 0x80;
/// Offset from an index to that of the other half of the values, as released.
constexpr uint32_t SECOND_INDEX = 20000;

void
PutAtp(WireBytes& out, const Frame& frame)
{
    const auto& header = frame.As<AtpHeader>();
    const uint32_t fixed =
        Frame::ETHERNET_BYTES + IPV4_BYTES + ATP_HEADER_BYTES + frame.payloadBytes;
    const uint32_t extension = frame.bytes > fixed ? ATP_EXTENSION_BYTES : 0;
    PutIpv4(out, frame, ETHERTYPE_ATP, IPV4_ATP, ATP_HEADER_BYTES + frame.payloadBytes + extension);
    PutNumber(out, header.workers, 4);
    PutNumber(out, header.fanIn[0], 1);
    PutNumber(out,
              (header.isResult ? IS_ACK : 0) | (header.collision ? IS_COLLISION : 0) |
                  (header.resend ? IS_RESEND : 0) | (header.congested ? IS_CONGESTED : 0) |
                  (header.isRackSum ? IS_RACK_SUM : 0) | (header.overflow ? IS_OVERFLOW : 0),
              1);
    PutNumber(out, header.job, 2);
    PutNumber(out, header.packet & 0xffff, 2);
    PutNumber(out, header.slot, 2);
    PutNumber(out, (header.slot + SECOND_INDEX) & 0xffff, 2);
    PutPayload(out, frame);
    PutNumber(out, header.children, 4);
    PutNumber(out, header.fanIn[1], 1);
    PutNumber(out, 0, 1);
    PutNumber(out, header.packet >> 16, 2);
    PutNumber(out, header.newSlot, 4); // replaces the tensor length, which a server overwrites
    if (extension)
    {
        PutNumber(out, (header.contested ? IS_CONTESTED : 0) | header.priority, extension);
    }
}

std::string
ReadAtp(const uint8_t* at, uint32_t bytes, Frame& frame)
{
    const uint32_t extension = bytes % 4 == (ATP_HEADER_BYTES + ATP_EXTENSION_BYTES) % 4;
    if (bytes < ATP_HEADER_BYTES + extension || (bytes - ATP_HEADER_BYTES - extension) % 4 != 0)
    {
        return "an ATP packet of another size";
    }
    const uint32_t payload = bytes - ATP_HEADER_BYTES - extension;
    AtpHeader header;
    header.workers = static_cast<uint32_t>(GetNumber(at, 4));
    header.fanIn[0] = at[4];
    const uint8_t flags = at[5];
    header.isResult = flags & IS_ACK;
    header.collision = flags & IS_COLLISION;
    header.resend = flags & IS_RESEND;
    header.congested = flags & IS_CONGESTED;
    header.isRackSum = flags & IS_RACK_SUM;
    header.overflow = flags & IS_OVERFLOW;
    const uint64_t job = GetNumber(at + 6, 2);
    if (job > 255)
    {
        return "ATP job " + std::to_string(job) + " (allowed: up to 255)";
    }
    header.job = static_cast<uint8_t>(job);
    header.slot = static_cast<uint16_t>(GetNumber(at + 10, 2));
    const uint8_t* const behind = at + ATP_FRONT_BYTES + payload;
    header.children = static_cast<uint32_t>(GetNumber(behind, 4));
    header.fanIn[1] = behind[4];
    header.packet = static_cast<uint32_t>(GetNumber(behind + 6, 2) << 16 | GetNumber(at + 8, 2));
    header.newSlot = static_cast<uint16_t>(GetNumber(behind + 8, 4));
    if (extension)
    {
        header.contested = behind[12] & IS_CONTESTED;
        header.priority = behind[12] & ATP_MAX_PRIORITY;
    }
    frame.Set(header);
    frame.flowHash = HashFlow(frame.source, frame.destination, header.job);
    TakePayload(frame, at + ATP_FRONT_BYTES, payload);
    return "";
}

uint32_t
GetAtpKey(const Frame& frame)
{
    const auto& header = frame.As<AtpHeader>();
    return header.isResult ? header.job : GetAtpServerKey(header.job);
}

const WireFormat::Entry g_atp({"ATP",
                               AtpHeader::PROTOCOL,
                               &GetAtpKey,
                               &PutAtp,
                               {WireFormat::EtherType(ETHERTYPE_ATP, &ReadAtp)}});

} // namespace

} // namespace ns3::training
