/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ROCE_WIRE_FORMAT_H
#define DISTRIBUTED_TRAINING_ROCE_WIRE_FORMAT_H

#include "ns3/fabric-frame.h"
#include "ns3/wire-bytes.h"

#include <algorithm>
#include <cstdint>
#include <string>

/**
 * @file
 * @ingroup distributed-training-fabric
 * The wire format of RoCEv2: InfiniBand transport headers in UDP (IB specification volume 1, annex
 * A17). A data packet of the middle of a message is 62 bytes longer than its payload, 82 with
 * preamble and gap: 98.04 % of the line rate at MTU 4096.
 */
namespace ns3::training
{

/// IPv4, UDP, base transport header and invariant CRC, bytes.
static constexpr uint32_t ROCE_BYTES = 20 + 8 + 12 + 4;
/// RDMA extended transport header: address, key and length of a WRITE, bytes.
static constexpr uint32_t RETH_BYTES = 16;
/// Immediate data, bytes.
static constexpr uint32_t IMMEDIATE_BYTES = 4;
/// ACK extended transport header, bytes.
static constexpr uint32_t AETH_BYTES = 4;
/// Datagram extended transport header: key and source queue pair, bytes.
static constexpr uint32_t DETH_BYTES = 8;
/// Selective repeat: the packet that caused a NAK, behind the AETH, bytes.
static constexpr uint32_t SELECTIVE_BYTES = 4;
/// Reserved bytes of a congestion notification packet.
static constexpr uint32_t CNP_BYTES = 16;
/// Hops that a telemetry header has room for at least (HPCC: 42 bytes for five).
static constexpr uint32_t MIN_TELEMETRY_HOPS = 5;
/// UDP destination port of RoCEv2.
static constexpr uint16_t ROCE_UDP_PORT = 4791;
/// UDP destination port of RoCEv2 with in-band telemetry in front of the base transport header: one
/// of this module's own, so that no decoder takes the telemetry for a transport header.
static constexpr uint16_t TELEMETRY_UDP_PORT = 4792;
/// Frame::protocol of frames whose kind is RoCE, by default.
static constexpr uint16_t ROCE_PROTOCOL = 0;
/// The least number of a queue pair for data: 0 and 1 are for management (InfiniBand).
static constexpr uint32_t FIRST_QUEUE_PAIR = 2;
/// Packet sequence numbers count modulo this.
static constexpr uint32_t PSN_MODULUS = 1 << 24;
/// Longest message of one work request, bytes (IB: 2^31; split below so that it is a whole number
/// of packets for every MTU that is a power of two).
static constexpr uint64_t MAX_REQUEST = uint64_t{1} << 30;

/** Opcodes of reliable connections and unreliable datagrams (base transport header). */
enum RoceOpcode : uint8_t
{
    SEND_FIRST = 0x00,
    SEND_MIDDLE = 0x01,
    SEND_LAST = 0x02,
    SEND_LAST_IMMEDIATE = 0x03,
    SEND_ONLY = 0x04,
    SEND_ONLY_IMMEDIATE = 0x05,
    WRITE_FIRST = 0x06,
    WRITE_MIDDLE = 0x07,
    WRITE_LAST = 0x08,
    WRITE_LAST_IMMEDIATE = 0x09,
    WRITE_ONLY = 0x0a,
    WRITE_ONLY_IMMEDIATE = 0x0b,
    ACKNOWLEDGE = 0x11,
    UD_SEND_ONLY = 0x64,
    UD_SEND_ONLY_IMMEDIATE = 0x65,
    CNP = 0x81
};

/// AETH syndrome of a positive acknowledgement with unlimited credits.
static constexpr uint8_t SYNDROME_ACK = 0x1f;
/// AETH syndrome of a receiver that is not ready, to be combined with a timer code of 5 bits.
static constexpr uint8_t SYNDROME_RNR_NAK = 0x20;
/// AETH syndrome of a packet sequence error.
static constexpr uint8_t SYNDROME_NAK_SEQUENCE = 0x60;

/**
 * @param hops it has room for
 * @return size of a telemetry header, between UDP and the base transport header (HPCC, section 4.1:
 *         a count, a path identifier, and 64 bit for each hop), bytes
 */
inline uint32_t
GetTelemetryBytes(uint32_t hops)
{
    return 2 + 8 * hops;
}

/**
 * @param transportBytes everything above Ethernet
 * @return size of the frame, padded to the shortest there is, bytes
 */
inline uint32_t
GetFrameBytes(uint32_t transportBytes)
{
    return std::max(transportBytes + Frame::ETHERNET_BYTES, uint32_t{Frame::MIN_BYTES});
}

/**
 * @param opcode of a data packet of a connection
 * @return whether it is part of a SEND, not of a WRITE
 */
inline bool
IsSend(uint8_t opcode)
{
    return opcode <= SEND_ONLY_IMMEDIATE;
}

/**
 * @param opcode of a data packet of a connection
 * @return whether it begins a message
 */
inline bool
IsFirst(uint8_t opcode)
{
    return opcode == WRITE_FIRST || opcode == WRITE_ONLY || opcode == WRITE_ONLY_IMMEDIATE ||
           opcode == SEND_FIRST || opcode == SEND_ONLY || opcode == SEND_ONLY_IMMEDIATE;
}

/**
 * @param opcode of a data packet of a connection
 * @return whether it ends a message
 */
inline bool
IsLast(uint8_t opcode)
{
    return opcode != WRITE_FIRST && opcode != WRITE_MIDDLE && opcode != SEND_FIRST &&
           opcode != SEND_MIDDLE;
}

/**
 * @param opcode of a data packet
 * @return whether it carries immediate data
 */
inline bool
HasImmediate(uint8_t opcode)
{
    return opcode == WRITE_LAST_IMMEDIATE || opcode == WRITE_ONLY_IMMEDIATE ||
           opcode == SEND_LAST_IMMEDIATE || opcode == SEND_ONLY_IMMEDIATE ||
           opcode == UD_SEND_ONLY_IMMEDIATE;
}

/**
 * @param opcode of a data packet
 * @return whether it has an RDMA extended transport header
 */
inline bool
HasReth(uint8_t opcode)
{
    return opcode == WRITE_FIRST || opcode == WRITE_ONLY || opcode == WRITE_ONLY_IMMEDIATE;
}

/**
 * @param opcode of a data packet
 * @return whether it is a datagram, with a datagram extended transport header
 */
inline bool
IsDatagram(uint8_t opcode)
{
    return opcode == UD_SEND_ONLY || opcode == UD_SEND_ONLY_IMMEDIATE;
}

/**
 * @param opcode of a data packet
 * @param payload bytes
 * @return size of its frame, with pad bytes, bytes
 */
inline uint32_t
GetDataFrameBytes(uint8_t opcode, uint32_t payload)
{
    return GetFrameBytes(ROCE_BYTES + (HasReth(opcode) ? RETH_BYTES : 0) +
                         (IsDatagram(opcode) ? DETH_BYTES : 0) +
                         (HasImmediate(opcode) ? IMMEDIATE_BYTES : 0) + (payload + 3) / 4 * 4);
}

/**
 * The invariant CRC of RoCEv2 (annex A17.3.3): Ethernet's CRC-32 over all fields that routers leave
 * alone. In-band telemetry, which they change, is left out.
 * @param packet an IPv4 packet without options, with a UDP header and a base transport header
 * @param bytes its size up to the invariant CRC
 * @return the CRC, which is sent least significant byte first
 */
uint32_t GetInvariantCrc(const uint8_t* packet, uint32_t bytes);

/**
 * Appends a data packet of RoCEv2, from Ethernet's header to the invariant CRC, for a protocol
 * whose packets have extended transport headers of their own.
 * @param out to append to
 * @param frame with opcode, queue pair and sequence number
 * @param putExtensions appends all between the base transport header and the invariant CRC
 */
void PutRoceData(WireBytes& out,
                 const Frame& frame,
                 void (*putExtensions)(WireBytes& out, const Frame& frame));

/** The part of a RoCEv2 packet behind its base transport header. */
struct RoceContents
{
    const uint8_t* at{nullptr}; ///< its first byte
    uint32_t bytes{0};          ///< its size, without the invariant CRC
    uint32_t pad{0};            ///< pad bytes behind the payload
    bool isMarked{false};       ///< the BECN bit
    std::string error;          ///< what is wrong with the packet, or nothing
};

/**
 * Checks a RoCEv2 packet and reads its headers up to the base transport header.
 * @param udp the datagram, with an IPv4 header in front of it
 * @param bytes its length
 * @param frame with its addresses; gets flow hash, telemetry, opcode, queue pair, sequence number
 *        and acknowledge request
 * @return the rest, or an error
 */
RoceContents ReadRoceHeaders(const uint8_t* udp, uint32_t bytes, Frame& frame);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ROCE_WIRE_FORMAT_H
