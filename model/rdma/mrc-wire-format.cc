/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * The wire format of Multipath Reliable Connection (MRC), for captures: headers of InfiniBand and
 * those that revision 1.0 of the OCP's specification adds, over UDP and IPv6.
 */

#include "uec-wire-format.h"

namespace ns3::training
{

namespace
{

constexpr uint16_t MRC_ETHERTYPE_IPV6 = 0x86dd;
constexpr uint8_t MRC_NEXT_IPV6 = 41;
constexpr uint8_t MRC_HOP_LIMIT = 64;
constexpr uint64_t MRC_HOST_PREFIX = 0xfd00ULL << 48;
constexpr uint64_t MRC_ROUTE_PREFIX = 0xfcbbULL << 48;
constexpr uint16_t MRC_UDP_PORT = 4791;
constexpr uint16_t MRC_FIRST_SOURCE_PORT = 0xc000;
constexpr uint32_t MRC_PSN_MASK = 0xffffff;

// Opcodes.
constexpr uint8_t MRC_WRITE_FIRST = 0xc6; // then middle, last
constexpr uint8_t MRC_WRITE_ONLY = 0xca;
constexpr uint8_t MRC_ENDPOINT_REQUEST = 0xd8;
constexpr uint8_t MRC_RELIABILITY_SACK = 0xdc;
constexpr uint8_t MRC_RELIABILITY_NACK = 0xdd;
constexpr uint8_t MRC_RELIABILITY_PROBE = 0xde;

constexpr uint8_t MRC_NACK_TRIMMED = 1;
constexpr uint8_t MRC_NACK_TRIMMED_LAST_HOP = 2;
constexpr uint8_t MRC_RETRANSMITTED = 1 << 5;  // in the byte before the PSN
constexpr uint8_t MRC_SACK_SKIP_ONCE = 1 << 5; // in the second byte of SETH
constexpr uint8_t MRC_SACK_PROBE = 1 << 1;

uint8_t
GetMrcOpcode(const UecHeader& header)
{
    const bool first = header.flags & UEC_FIRST;
    const bool last = header.flags & UEC_LAST;
    switch (header.type)
    {
    case UecType::REQUEST:
        return first && last ? MRC_WRITE_ONLY : MRC_WRITE_FIRST + (last ? 2 : first ? 0 : 1);
    case UecType::ACK:
        return MRC_RELIABILITY_SACK;
    case UecType::NACK:
        return MRC_RELIABILITY_NACK;
    case UecType::PROBE:
        return MRC_RELIABILITY_PROBE;
    default:
        return MRC_ENDPOINT_REQUEST;
    }
}

void
PutIpv6(WireBytes& out, const Frame& frame, uint8_t next, uint32_t bytes, bool isRoute)
{
    const uint32_t service = uint32_t{frame.priority} << 5 | static_cast<uint8_t>(frame.ecn);
    const uint16_t entropy = frame.As<UecHeader>().entropy;
    PutNumber(out, 6U << 28 | service << 20 | entropy, 4);
    PutNumber(out, bytes, 2);
    PutNumber(out, next, 1);
    PutNumber(out, MRC_HOP_LIMIT, 1);
    PutNumber(out, MRC_HOST_PREFIX, 8);
    PutNumber(out, frame.source, 8);
    // The fabric has no numbers of switches, so the route is the entropy value that decides it.
    PutNumber(out, isRoute ? MRC_ROUTE_PREFIX | uint64_t{entropy} << 16 : MRC_HOST_PREFIX, 8);
    PutNumber(out, frame.destination, 8);
}

void
PutMrcExtension(WireBytes& out, const Frame& frame, const UecHeader& header)
{
    switch (header.type)
    {
    case UecType::REQUEST:
        PutNumber(out, header.message, 4);
        PutNumber(out, header.request.tag + header.request.offset, 8);
        PutNumber(out, 0, 4); // key
        PutNumber(out, header.request.bytes, 4);
        break;
    case UecType::ACK:
        PutNumber(out, 0, 1);
        PutNumber(out,
                  (header.flags & UEC_MARKED ? MRC_SACK_SKIP_ONCE : 0) |
                      (header.flags & UEC_PROBED ? MRC_SACK_PROBE : 0),
                  1);
        PutNumber(out, (header.ack.cause - header.psn) & 0xffff, 2);
        PutNumber(out, header.entropy, 4);
        PutNumber(out, frame.destinationQp, 4);
        PutNumber(out, (header.psn - 1) & MRC_PSN_MASK, 4);
        PutNumber(out, 0, 2);
        PutNumber(out, (header.ack.base - header.psn) & 0xffff, 2);
        PutNumber(out, header.ack.bitmap, 8);
        PutNumber(out, 0, 2); // time stamp
        PutNumber(out, header.outOfOrder, 2);
        PutNumber(out, header.ack.received, 4);
        break;
    case UecType::NACK:
        PutNumber(out, 0, 2);
        PutNumber(out,
                  header.flags & UEC_LAST_HOP ? MRC_NACK_TRIMMED_LAST_HOP : MRC_NACK_TRIMMED,
                  1);
        PutNumber(out, 0, 1);
        PutNumber(out, header.entropy, 4);
        PutNumber(out, frame.destinationQp, 4);
        PutNumber(out, header.psn & MRC_PSN_MASK, 4);
        PutNumber(out, 0, 4);
        break;
    default:
        PutNumber(out, 0, 4);
        PutNumber(out, header.type == UecType::PORT_STATUS ? header.psn : header.entropy, 4);
        PutNumber(out, frame.destinationQp, 8);
        break;
    }
}

} // namespace

void
PutMrc(WireBytes& out, const Frame& frame)
{
    const auto& header = frame.As<UecHeader>();
    const auto protocol = static_cast<UecProtocol>(frame.opcode);
    const bool isRouted = protocol == UecProtocol::MRC_ROUTED;
    const uint32_t udp = GetUecBytes(protocol, header.type) - Frame::ETHERNET_BYTES -
                         (isRouted ? 2 : 1) * IPV6_BYTES + frame.payloadBytes;
    PutEthernet(out, frame.source, frame.destination, MRC_ETHERTYPE_IPV6);
    if (isRouted)
    {
        PutIpv6(out, frame, MRC_NEXT_IPV6, IPV6_BYTES + udp, true);
    }
    PutIpv6(out, frame, IPV4_UDP, udp, false);
    PutNumber(out, MRC_FIRST_SOURCE_PORT | header.entropy, 2);
    PutNumber(out, MRC_UDP_PORT, 2);
    PutNumber(out, udp, 2);
    PutNumber(out, 0, 2); // no checksum
    PutNumber(out, GetMrcOpcode(header), 1);
    PutNumber(out, 0, 1);
    PutNumber(out, 0xffff, 2); // default partition
    PutNumber(out, frame.destinationQp, 4);
    PutNumber(out, header.flags & UEC_RETRANSMITTED ? MRC_RETRANSMITTED : 0, 1);
    PutNumber(out, header.psn & MRC_PSN_MASK, 3);
    PutMrcExtension(out, frame, header);
    const std::size_t begin = out.size();
    PutPayload(out, frame);
    out.resize(begin + frame.payloadBytes);
    PutNumber(out, 0, MRC_CRC_BYTES);
}

} // namespace ns3::training
