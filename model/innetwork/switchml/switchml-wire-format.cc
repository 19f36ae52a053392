/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "switchml-wire-format.h"

#include "ns3/fabric-wire-format.h"

namespace ns3::training
{

namespace
{

/** Appends everything after the base transport header in RDMA framing. */
void
PutMessage(WireBytes& out, const Frame& frame)
{
    const auto& header = frame.As<SwitchMlHeader>();
    if (HasUnreliableReth(frame.opcode))
    {
        PutNumber(out, 0, 8); // destination address of the sum: not simulated
        PutNumber(out, header.slot << 1 | header.set, 4);
        PutNumber(out, header.packet, 4);
    }
    if (HasUnreliableImmediate(frame.opcode))
    {
        PutNumber(out, header.packet & 0xffff, 2);
        PutNumber(out, static_cast<uint8_t>(header.exponents[0]), 1);
        PutNumber(out, static_cast<uint8_t>(header.exponents[1]), 1);
    }
    PutPayload(out, frame);
}

std::string
ReadMessage(const uint8_t* udp, uint32_t bytes, Frame& frame)
{
    const RoceContents contents = ReadRoceHeaders(udp, bytes, frame);
    if (!contents.error.empty())
    {
        return contents.error;
    }
    const uint8_t* at = contents.at;
    const uint32_t size = contents.bytes;
    const uint32_t headers = (HasUnreliableReth(frame.opcode) ? RETH_BYTES : 0) +
                             (HasUnreliableImmediate(frame.opcode) ? IMMEDIATE_BYTES : 0);
    if (size < headers || (size - headers) % 4 != 0)
    {
        return "a SwitchML packet of another size";
    }
    SwitchMlHeader header;
    if (HasUnreliableReth(frame.opcode))
    {
        const auto key = static_cast<uint32_t>(GetNumber(at + 8, 4));
        header.slot = static_cast<uint16_t>(key >> 1 & (SWITCHML_MAX_SLOTS - 1));
        header.set = key & 1;
        header.packet = static_cast<uint32_t>(GetNumber(at + 12, 4));
        at += RETH_BYTES;
    }
    if (HasUnreliableImmediate(frame.opcode))
    {
        header.packet = HasUnreliableReth(frame.opcode) ? header.packet
                                                        : static_cast<uint32_t>(GetNumber(at, 2));
        header.exponents[0] = static_cast<int8_t>(at[2]);
        header.exponents[1] = static_cast<int8_t>(at[3]);
        at += IMMEDIATE_BYTES;
    }
    frame.Set(header);
    TakePayload(frame, at, size - headers);
    return "";
}

void
PutSwitchMl(WireBytes& out, const Frame& frame)
{
    const auto& header = frame.As<SwitchMlHeader>();
    if (frame.opcode != 0)
    {
        PutRoceData(out, frame, &PutMessage);
        return;
    }
    PutUdp(out,
           frame,
           SWITCHML_UDP_PORT,
           UDP_BYTES + SWITCHML_HEADER_BYTES + SWITCHML_EXPONENT_BYTES + frame.payloadBytes);
    // Size codes 0 to 3 mean 128, 256, 512, 1024 bytes.
    const uint32_t size =
        frame.payloadBytes < 256 ? 0 : 31 - __builtin_clz(frame.payloadBytes / 128);
    PutNumber(out, SWITCHML_DATA << 4 | size, 1);
    PutNumber(out, header.job, 1);
    PutNumber(out, header.packet, 4);
    PutNumber(out, header.set << 15 | header.slot, 2);
    PutNumber(out, static_cast<uint8_t>(header.exponents[0]), 1);
    PutNumber(out, static_cast<uint8_t>(header.exponents[1]), 1);
    PutPayload(out, frame);
}

std::string
ReadSwitchMl(const uint8_t* udp, uint32_t bytes, Frame& frame)
{
    constexpr uint32_t HEADERS = UDP_BYTES + SWITCHML_HEADER_BYTES + SWITCHML_EXPONENT_BYTES;
    const std::string error = CheckUdp(udp, bytes);
    if (!error.empty())
    {
        return error;
    }
    if (bytes < HEADERS || (bytes - HEADERS) % 4 != 0)
    {
        return "a SwitchML packet of another size";
    }
    const uint8_t type = udp[UDP_BYTES] >> 4;
    if (type != SWITCHML_DATA)
    {
        return "unknown SwitchML message type " + std::to_string(type);
    }
    frame.flowHash = static_cast<uint32_t>(GetNumber(udp, 2) & ENTROPY_MASK);
    SwitchMlHeader header;
    const uint8_t* at = udp + UDP_BYTES;
    header.job = at[1];
    header.packet = static_cast<uint32_t>(GetNumber(at + 2, 4));
    header.slot = static_cast<uint16_t>(GetNumber(at + 6, 2) & (SWITCHML_MAX_SLOTS - 1));
    header.set = at[6] >> 7;
    header.exponents[0] = static_cast<int8_t>(at[8]);
    header.exponents[1] = static_cast<int8_t>(at[9]);
    frame.Set(header);
    TakePayload(frame, udp + HEADERS, bytes - HEADERS);
    return "";
}

bool
IsMessage(const uint8_t* udp, uint32_t bytes)
{
    const uint8_t opcode = bytes > UDP_BYTES ? udp[UDP_BYTES] : 0;
    return HasUnreliableReth(opcode) || HasUnreliableImmediate(opcode) || opcode == UC_WRITE_MIDDLE;
}

uint32_t
GetSwitchMlJob(const Frame& frame)
{
    return frame.As<SwitchMlHeader>().job;
}

const WireFormat::Entry g_switchMl(
    {"SwitchML",
     SwitchMlHeader::PROTOCOL,
     &GetSwitchMlJob,
     &PutSwitchMl,
     {WireFormat::Udp(SWITCHML_UDP_PORT, &ReadSwitchMl, SWITCHML_UDP_PORT_MASK),
      WireFormat::Udp(ROCE_UDP_PORT, &ReadMessage, 0xffff, &IsMessage)}});

} // namespace

} // namespace ns3::training
