/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "wire-bytes.h"

#include "fabric-port.h"
#include "fabric/endpoint-address.h"

#include <algorithm>
#include <array>

namespace ns3::training
{

namespace
{

/// DSCP of each priority: class selectors, except for priority 3, which has the usual RoCE value
/// 26.
constexpr std::array<uint8_t, PRIORITIES> DSCP{0, 8, 16, 26, 32, 40, 48, 56};

// Fixed values of wire fields without a counterpart in Frame.
constexpr uint16_t IPV4_DONT_FRAGMENT = 0x4000;
constexpr uint8_t IPV4_TIME_TO_LIVE = 64;
constexpr uint16_t FIRST_ENTROPY_PORT = 0xc000;

} // namespace

void
Set16(uint8_t* at, uint16_t value)
{
    at[0] = static_cast<uint8_t>(value >> 8);
    at[1] = static_cast<uint8_t>(value);
}

void
PutNumber(WireBytes& out, uint64_t value, uint32_t bytes)
{
    while (bytes-- > 0)
    {
        out.push_back(static_cast<uint8_t>(value >> 8 * bytes));
    }
}

uint64_t
GetNumber(const uint8_t* from, uint32_t bytes)
{
    uint64_t value = 0;
    while (bytes-- > 0)
    {
        value = value << 8 | *from++;
    }
    return value;
}

uint16_t
SumIpv4(const uint8_t* header, uint32_t bytes)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < bytes; i += 2)
    {
        sum += static_cast<uint32_t>(GetNumber(header + i, 2));
    }
    sum = (sum & 0xffff) + (sum >> 16);
    sum += sum >> 16;
    return static_cast<uint16_t>(~sum);
}

void
SetIpv4Checksum(uint8_t* header, uint32_t bytes)
{
    Set16(header + 10, 0);
    Set16(header + 10, SumIpv4(header, bytes));
}

void
PutEthernet(WireBytes& out, uint32_t source, uint32_t destination, uint16_t etherType)
{
    for (uint32_t endpoint : {destination, source})
    {
        uint8_t address[6];
        GetEndpointMacAddress(endpoint).CopyTo(address);
        out.insert(out.end(), address, address + sizeof(address));
    }
    PutNumber(out, etherType, 2);
}

void
PutIpv4(WireBytes& out, const Frame& frame, uint16_t etherType, uint8_t protocol, uint32_t bytes)
{
    PutEthernet(out, frame.source, frame.destination, etherType);
    PutNumber(out, 0x45, 1); // version 4, header length 5 words
    const uint8_t mark = frame.typeOfService;
    const uint8_t service = mark != 0 ? mark : DSCP[frame.priority] << 2;
    PutNumber(out, service | static_cast<uint8_t>(frame.ecn), 1);
    PutNumber(out, IPV4_BYTES + bytes, 2);
    PutNumber(out, frame.identification, 2);
    PutNumber(out, IPV4_DONT_FRAGMENT, 2);
    PutNumber(out, IPV4_TIME_TO_LIVE, 1);
    PutNumber(out, protocol, 1);
    PutNumber(out, 0, 2); // placeholder for the checksum
    PutNumber(out, GetEndpointIpv4Address(frame.source).Get(), 4);
    PutNumber(out, GetEndpointIpv4Address(frame.destination).Get(), 4);
    SetIpv4Checksum(out.data() + HEADER_BYTES, IPV4_BYTES);
}

void
PutUdp(WireBytes& out, const Frame& frame, uint16_t port, uint32_t udpBytes)
{
    PutIpv4(out, frame, ETHERTYPE_IPV4, IPV4_UDP, udpBytes);
    PutNumber(out, FIRST_ENTROPY_PORT | (frame.flowHash & ENTROPY_MASK), 2);
    PutNumber(out, port, 2);
    PutNumber(out, udpBytes, 2);
    PutNumber(out, 0, 2); // no checksum
}

std::string
CheckUdp(const uint8_t* udp, uint32_t bytes)
{
    if (GetNumber(udp + 4, 2) != bytes)
    {
        return "UDP length differs from IPv4 length";
    }
    return GetNumber(udp + 6, 2) != 0 ? "UDP checksum (allowed: none)" : "";
}

void
PutPayload(WireBytes& out, const Frame& frame)
{
    const std::size_t begin = out.size();
    out.resize(begin + (frame.payloadBytes + 3) / 4 * 4);
    if (frame.payload)
    {
        const uint8_t* const from = frame.payload->bytes.data() + frame.payloadOffset;
        std::copy(from, from + frame.payloadBytes, out.data() + begin);
    }
}

void
TakePayload(Frame& frame, const uint8_t* from, uint32_t bytes)
{
    frame.payloadBytes = bytes;
    frame.payload = Create<ByteBuffer>();
    frame.payload->bytes.assign(from, from + bytes);
    frame.payloadOffset = 0;
}

} // namespace ns3::training
