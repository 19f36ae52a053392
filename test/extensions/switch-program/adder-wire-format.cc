/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * The packets of the adder: IPv4, UDP, a header of 8 bytes, and 32-bit integers.
 */

#include "adder-wire-format.h"

#include "ns3/fabric-wire-format.h"

#include <algorithm>

namespace
{

using namespace ns3::training;

constexpr uint16_t ADDER_UDP_PORT = 0xbf10;
constexpr uint32_t ADDER_HEADER_BYTES = 8;

void
Write(WireBytes& out, const Frame& frame)
{
    const auto& header = frame.As<AdderHeader>();
    PutUdp(out, frame, ADDER_UDP_PORT, UDP_BYTES + ADDER_HEADER_BYTES + frame.payloadBytes);
    PutNumber(out, header.job, 4);
    PutNumber(out, header.packet, 4);
    PutPayload(out, frame);
}

std::string
Read(const uint8_t* udp, uint32_t bytes, Frame& frame)
{
    constexpr uint32_t HEADERS = UDP_BYTES + ADDER_HEADER_BYTES;
    if (bytes < HEADERS || (bytes - HEADERS) % 4 != 0)
    {
        return "an adder's packet of another size";
    }
    AdderHeader header;
    header.job = static_cast<uint8_t>(GetNumber(udp + UDP_BYTES, 4));
    header.packet = static_cast<uint32_t>(GetNumber(udp + UDP_BYTES + 4, 4));
    frame.Set(header);
    TakePayload(frame, udp + HEADERS, bytes - HEADERS);
    return CheckUdp(udp, bytes);
}

uint32_t
GetJob(const Frame& frame)
{
    return frame.As<AdderHeader>().job;
}

const WireFormat::Entry g_adder(
    {"adder", AdderHeader::PROTOCOL, &GetJob, &Write, {WireFormat::Udp(ADDER_UDP_PORT, &Read)}});

} // namespace

uint32_t
GetAdderFrameBytes(uint32_t elements)
{
    return std::max(Frame::ETHERNET_BYTES + 20 + UDP_BYTES + ADDER_HEADER_BYTES + 4 * elements,
                    uint32_t{Frame::MIN_BYTES});
}
