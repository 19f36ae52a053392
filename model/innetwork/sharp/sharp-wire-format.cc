/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "sharp-wire-format.h"

#include "ns3/fabric-wire-format.h"

namespace ns3::training
{

namespace
{

void
PutSharp(WireBytes& out, const Frame& frame)
{
    const auto& header = frame.As<SharpHeader>();
    const bool isAcknowledge = frame.opcode == ACKNOWLEDGE;
    const uint32_t datagram = IsDatagram(frame.opcode) ? DETH_BYTES : 0;
    PutUdp(
        out,
        frame,
        SHARP_UDP_PORT,
        UDP_BYTES + SHARP_TRANSPORT_BYTES + datagram +
            (isAcknowledge ? AETH_BYTES : SHARP_HEADER_BYTES + (frame.payloadBytes + 3) / 4 * 4));
    PutNumber(out, frame.opcode, 1);
    PutNumber(out, header.job, 1); // replaces migration state, pad count and version
    PutNumber(out, 0xffff, 2);     // default partition
    PutNumber(out, frame.destinationQp, 4);
    PutNumber(out, frame.psn, 4);
    if (isAcknowledge)
    {
        PutNumber(out, frame.syndrome, 1);
        PutNumber(out, 0, 3); // message sequence number: not simulated
        return;
    }
    PutNumber(out, 0, datagram); // queue key and source queue pair: not simulated
    PutNumber(out, header.operation, 1);
    PutNumber(out, header.format, 1);
    PutNumber(out, header.slot, 2);
    PutNumber(out, header.packet, 4);
    PutNumber(out, frame.payloadBytes, 4);
    PutNumber(out, 0, 4); // reserved
    PutPayload(out, frame);
}

std::string
ReadSharp(const uint8_t* udp, uint32_t bytes, Frame& frame)
{
    const std::string error = CheckUdp(udp, bytes);
    if (!error.empty())
    {
        return error;
    }
    constexpr uint32_t TRANSPORT = UDP_BYTES + SHARP_TRANSPORT_BYTES;
    const uint8_t* at = udp + UDP_BYTES;
    const bool isAcknowledge = bytes >= TRANSPORT + AETH_BYTES && at[0] == ACKNOWLEDGE;
    const uint32_t datagram = bytes > TRANSPORT && at[0] == UD_SEND_ONLY ? DETH_BYTES : 0;
    if (!isAcknowledge && (bytes < TRANSPORT + datagram + SHARP_HEADER_BYTES ||
                           (at[0] != SEND_ONLY && datagram == 0)))
    {
        return "no packet of an aggregation tree";
    }
    frame.opcode = at[0];
    frame.flowHash = static_cast<uint32_t>(GetNumber(udp, 2) & ENTROPY_MASK);
    frame.destinationQp = static_cast<uint32_t>(GetNumber(at + 4, 4));
    frame.psn = static_cast<uint32_t>(GetNumber(at + 8, 4));
    SharpHeader header;
    header.job = at[1];
    at += SHARP_TRANSPORT_BYTES;
    if (isAcknowledge)
    {
        frame.syndrome = at[0];
        frame.Set(header);
        return "";
    }
    at += datagram;
    header.operation = at[0];
    header.format = at[1];
    header.slot = static_cast<uint16_t>(GetNumber(at + 2, 2));
    header.packet = static_cast<uint32_t>(GetNumber(at + 4, 4));
    frame.Set(header);
    const auto payload = static_cast<uint32_t>(GetNumber(at + 8, 4));
    if (payload > SHARP_MAX_PAYLOAD ||
        (payload + 3) / 4 * 4 != bytes - TRANSPORT - datagram - SHARP_HEADER_BYTES)
    {
        return "an aggregation tree's packet of another size";
    }
    if (payload > 0)
    {
        TakePayload(frame, at + SHARP_HEADER_BYTES, payload);
    }
    return "";
}

uint32_t
GetSharpJob(const Frame& frame)
{
    return frame.As<SharpHeader>().job;
}

const WireFormat::Entry g_sharp({"SHARP",
                                 SharpHeader::PROTOCOL,
                                 &GetSharpJob,
                                 &PutSharp,
                                 {WireFormat::Udp(SHARP_UDP_PORT, &ReadSharp)}});

} // namespace

} // namespace ns3::training
