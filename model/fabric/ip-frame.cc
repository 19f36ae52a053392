/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric/ip-frame.h"

#include "fabric/endpoint-address.h"

#include "ns3/ipv4-header.h"
#include "ns3/node.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

constexpr uint32_t IPV4_HEADER_BYTES = 20;

/** @return the 32 bits after the IPv4 header: the port numbers of TCP or UDP */
uint32_t
PeekPorts(Ptr<const Packet> packet)
{
    uint8_t bytes[IPV4_HEADER_BYTES + 4] = {};
    packet->CopyData(bytes, sizeof(bytes));
    uint32_t ports = 0;
    std::copy(bytes + IPV4_HEADER_BYTES, bytes + sizeof(bytes), reinterpret_cast<uint8_t*>(&ports));
    return ports;
}

} // namespace

Frame*
MakeIpFrame(Ptr<Packet> packet, uint32_t source, uint32_t destination)
{
    Ipv4Header header;
    packet->PeekHeader(header);
    return MakeIpFrame(packet, header, source, destination);
}

Frame*
MakeIpFrame(Ptr<Packet> packet, const Ipv4Header& header, uint32_t source, uint32_t destination)
{
    Frame* frame = Frame::Allocate(FrameKind::IP);
    frame->source = source;
    frame->destination = destination;
    frame->flowHash = HashFlow(frame->source, frame->destination, PeekPorts(packet));
    frame->bytes = std::max(packet->GetSize() + Frame::ETHERNET_BYTES, uint32_t{Frame::MIN_BYTES});
    frame->protocol = ETHERTYPE_IPV4;
    frame->ecn = header.GetEcn() == Ipv4Header::ECN_NotECT ? Ecn::NOT_ECT : Ecn::ECT;
    frame->packet = packet;
    return frame;
}

uint32_t
GetTcpHeaderBytes(const Packet& packet)
{
    constexpr uint8_t TCP = 6;
    constexpr uint32_t MAX_IPV4_HEADER = 60;
    constexpr uint32_t DATA_OFFSET = 12; // in the TCP header
    uint8_t bytes[MAX_IPV4_HEADER + DATA_OFFSET + 1] = {};
    packet.CopyData(bytes, sizeof(bytes));
    const uint32_t ip = (bytes[0] & 0xf) * 4;
    return bytes[9] == TCP ? ip + (bytes[ip + DATA_OFFSET] >> 4) * 4 : 0;
}

Ptr<Packet>
GetIpPacket(const Frame& frame)
{
    if (frame.ecn != Ecn::CE)
    {
        return frame.packet;
    }
    // The sender may still hold the packet in its retransmission buffer, so modify a copy.
    Ptr<Packet> packet = frame.packet->Copy();
    Ipv4Header header;
    packet->RemoveHeader(header);
    header.SetEcn(Ipv4Header::ECN_CE);
    if (Node::ChecksumEnabled())
    {
        header.EnableChecksum(); // recompute it for the changed header
    }
    packet->AddHeader(header);
    return packet;
}

} // namespace ns3::training
