/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric/frame-wire-format.h"

#include "fabric-port.h"
#include "fabric-wire-format.h"
#include "fabric/coded-payload.h"
#include "fabric/endpoint-address.h"
#include "fabric/ip-frame.h"
#include "wire-bytes.h"

#include "ns3/abort.h"

#include <algorithm>
#include <array>
#include <optional>

namespace ns3::training
{

namespace
{

// MAC control constants: IEEE 802.1Qbb, 802.3 annex 31D.
constexpr std::array<uint8_t, 6> PAUSE_DESTINATION{0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};
constexpr uint16_t ETHERTYPE_MAC_CONTROL = 0x8808;
constexpr uint16_t OPCODE_PRIORITY_PAUSE = 0x0101;
/// Source of pause frames: a nonexistent endpoint, because a frame does not know the pausing port.
constexpr uint32_t PAUSE_SOURCE = 0xffffffff;

void
PutPause(WireBytes& out, const Frame& frame)
{
    PutEthernet(out, PAUSE_SOURCE, 0, ETHERTYPE_MAC_CONTROL);
    std::copy(PAUSE_DESTINATION.begin(), PAUSE_DESTINATION.end(), out.begin());
    PutNumber(out, OPCODE_PRIORITY_PAUSE, 2);
    PutNumber(out, frame.pauseClasses, 2);
    for (uint8_t priority = 0; priority < PRIORITIES; priority++)
    {
        PutNumber(out, frame.pauseClasses >> priority & 1 ? frame.pauseQuanta : 0, 2);
    }
}

/** Appends a packet of a stock stack, unmodified except for fields that switches change. */
void
PutIp(WireBytes& out, const Frame& frame)
{
    PutEthernet(out, frame.source, frame.destination, frame.protocol);
    const bool isCoded = IsCoded(frame);
    const uint32_t size = isCoded ? GetTcpHeaderBytes(*frame.packet) : frame.packet->GetSize();
    out.resize(HEADER_BYTES + size);
    frame.packet->CopyData(out.data() + HEADER_BYTES, size);
    if (isCoded)
    {
        PutPayload(out, frame);
        out.resize(HEADER_BYTES + size + frame.payloadBytes); // without padding
    }
    uint8_t* const header = out.data() + HEADER_BYTES;
    if (isCoded)
    {
        header[1] = frame.typeOfService | (header[1] & 3);
        Set16(header + 2, static_cast<uint16_t>(size + frame.payloadBytes));
        Set16(header + 4, frame.identification);
    }
    if (frame.ecn == Ecn::CE)
    {
        header[1] |= static_cast<uint8_t>(Ecn::CE);
    }
    SetIpv4Checksum(header, (header[0] & 0xf) * 4); // ns-3 may omit it
}

/** @return the endpoint number of a MAC address; none if it is not an endpoint address */
std::optional<uint32_t>
GetEndpoint(const uint8_t* bytes)
{
    const auto endpoint = static_cast<uint32_t>(GetNumber(bytes + 2, 4));
    Mac48Address address;
    address.CopyFrom(bytes);
    return address == GetEndpointMacAddress(endpoint) ? std::make_optional(endpoint) : std::nullopt;
}

std::string
ReadPause(const WireBytes& bytes, Frame& frame)
{
    const uint8_t* const control = bytes.data() + HEADER_BYTES;
    if (!std::equal(PAUSE_DESTINATION.begin(), PAUSE_DESTINATION.end(), bytes.begin()))
    {
        return "MAC control to another address";
    }
    if (GetNumber(control, 2) != OPCODE_PRIORITY_PAUSE)
    {
        return "MAC control that is no priority flow control";
    }
    frame.pauseClasses = control[3];
    frame.pauseQuanta = 0;
    bool any = false;
    for (uint8_t priority = 0; priority < PRIORITIES; priority++)
    {
        const auto quanta = static_cast<uint16_t>(GetNumber(control + 4 + 2 * priority, 2));
        if (frame.pauseClasses >> priority & 1)
        {
            if (any && quanta != frame.pauseQuanta)
            {
                return "a pause of different times";
            }
            any = true;
            frame.pauseQuanta = quanta;
        }
    }
    return "";
}

/**
 * @param bytes bytes of the whole frame
 * @param own format that owns the EtherType; none: EtherType IPv4
 * @param frame frame to fill in
 * @return an error message, or an empty string
 */
std::string
ReadIpv4(const WireBytes& bytes, const WireFormat::Match& own, Frame& frame)
{
    const uint8_t* const packet = bytes.data() + HEADER_BYTES;
    const uint32_t headerBytes = (packet[0] & 0xf) * 4;
    const auto size = static_cast<uint32_t>(GetNumber(packet + 2, 2));
    if (packet[0] >> 4 != 4 || headerBytes < IPV4_BYTES || size < headerBytes ||
        size > bytes.size() - HEADER_BYTES)
    {
        return "wrong lengths in the IPv4 header";
    }
    if (SumIpv4(packet, headerBytes) != 0)
    {
        return "wrong IPv4 checksum";
    }
    const uint8_t ecn = packet[1] & 3;
    frame.ecn = ecn == 3 ? Ecn::CE : ecn ? Ecn::ECT : Ecn::NOT_ECT;
    frame.priority = packet[1] >> 2 >> DSCP_BITS_BELOW_PRIORITY;
    const auto source = GetEndpoint(bytes.data() + 6);
    const auto destination = GetEndpoint(bytes.data());
    if (!source || !destination)
    {
        return "a MAC address of no endpoint";
    }
    frame.source = *source;
    frame.destination = *destination;
    frame.identification = static_cast<uint16_t>(GetNumber(packet + 4, 2));
    if (frame.identification != 0)
    {
        frame.typeOfService = packet[1] & MAX_TYPE_OF_SERVICE;
    }
    const bool hasOptions = headerBytes != IPV4_BYTES;
    const uint8_t* const at = packet + headerBytes;
    const uint32_t left = size - headerBytes;
    WireFormat::Match match = own;
    if (own.format && hasOptions)
    {
        return "wrong lengths in the IPv4 header";
    }
    if (!own.format && packet[9] == IPV4_UDP && !hasOptions && left >= UDP_BYTES)
    {
        match = WireFormat::FindUdp(at, left);
    }
    if (match.format)
    {
        frame.kind = FrameKind::PROGRAM;
        frame.protocol = match.format->protocol;
        return match.read(at, left, frame);
    }
    frame.protocol = ETHERTYPE_IPV4;
    frame.kind = FrameKind::IP;
    frame.identification = 0; // a coded packet is as good as any other
    frame.typeOfService = 0;
    uint32_t ports = 0; // as read by HostDevice
    std::copy(packet + IPV4_BYTES,
              packet + std::min<uint32_t>(size, IPV4_BYTES + sizeof(ports)),
              reinterpret_cast<uint8_t*>(&ports));
    frame.flowHash = HashFlow(frame.source, frame.destination, ports);
    frame.packet = Create<Packet>(packet, size);
    return "";
}

} // namespace

void
PutFrame(WireBytes& out, const Frame& frame)
{
    out.reserve(frame.bytes);
    switch (frame.kind)
    {
    case FrameKind::PAUSE:
        PutPause(out, frame);
        break;
    case FrameKind::IP:
        PutIp(out, frame);
        break;
    default:
        WireFormat::Find(frame.protocol).write(out, frame);
    }
    NS_ABORT_MSG_IF(out.size() + FCS_BYTES > frame.bytes,
                    "a frame of " << frame.bytes << " bytes has contents of "
                                  << out.size() + FCS_BYTES);
    out.resize(frame.bytes - FCS_BYTES); // Ethernet padding
}

Ptr<Packet>
ToPacket(const Frame& frame)
{
    WireBytes out;
    PutFrame(out, frame);
    return Create<Packet>(out.data(), static_cast<uint32_t>(out.size()));
}

ParsedFrame
FromPacket(const Packet& packet)
{
    WireBytes bytes(packet.GetSize());
    packet.CopyData(bytes.data(), packet.GetSize());
    if (bytes.size() + FCS_BYTES < Frame::MIN_BYTES)
    {
        return {nullptr, "shorter than an Ethernet frame"};
    }
    const auto etherType = static_cast<uint16_t>(GetNumber(bytes.data() + HEADER_BYTES - 2, 2));
    const WireFormat::Match own = WireFormat::FindEtherType(etherType);
    Frame* frame = Frame::Allocate(FrameKind::PAUSE);
    frame->bytes = packet.GetSize() + FCS_BYTES;
    const std::string error = etherType == ETHERTYPE_MAC_CONTROL ? ReadPause(bytes, *frame)
                              : etherType == ETHERTYPE_IPV4 || own.format
                                  ? ReadIpv4(bytes, own, *frame)
                                  : "unknown EtherType";
    if (!error.empty())
    {
        Frame::Free(frame);
        return {nullptr, error};
    }
    return {frame, ""};
}

} // namespace ns3::training
