/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ROCE_WIRE_FORMAT_H
#define DISTRIBUTED_TRAINING_ROCE_WIRE_FORMAT_H

#include "ns3/fabric-frame.h"
#include "ns3/roce-opcode.h"
#include "ns3/wire-bytes.h"

#include <algorithm>
#include <cstdint>
#include <string>

/**
 * @file
 * @ingroup distributed-training-fabric
 * The wire format of RoCEv2: InfiniBand transport headers over UDP (IB specification volume 1,
 * annex A17). A packet in the middle of a message is 62 bytes longer than its payload, 82 with
 * preamble and gap: a goodput of 98.04 % of the line rate at MTU 4096.
 */
namespace ns3::training
{

/// IPv4, UDP, base transport header and invariant CRC, bytes.
static constexpr uint32_t ROCE_BYTES = 20 + 8 + 12 + 4;
/// RDMA extended transport header (RETH): address, key and length of a WRITE, bytes.
static constexpr uint32_t RETH_BYTES = 16;
/// Immediate data, bytes.
static constexpr uint32_t IMMEDIATE_BYTES = 4;
/// ACK extended transport header (AETH), bytes.
static constexpr uint32_t AETH_BYTES = 4;
/// Datagram extended transport header (DETH): key and source queue pair, bytes.
static constexpr uint32_t DETH_BYTES = 8;
/// Selective repeat: PSN of the packet that triggered a NAK, after the AETH, bytes. Out-of-order
/// recovery: the first packet behind a gap; the upper 8 bits have the packets of the gap, 0: all
/// from the PSN of the NAK on. An ACK while packets are missing has the number of those behind.
static constexpr uint32_t SELECTIVE_BYTES = 4;
/// Longest gap behind another one that a NAK can name, packets.
static constexpr uint64_t MAX_NAMED_GAP = 255;
/// Reserved bytes of a congestion notification packet.
static constexpr uint32_t CNP_BYTES = 16;
/// Minimum hops in a telemetry header (HPCC: 42 bytes for five).
static constexpr uint32_t MIN_TELEMETRY_HOPS = 5;
/// UDP destination port of RoCEv2.
static constexpr uint16_t ROCE_UDP_PORT = 4791;
/// UDP destination port of RoCEv2 with in-band telemetry before the base transport header. It is
/// specific to this module, so that no decoder takes the telemetry for a transport header.
static constexpr uint16_t TELEMETRY_UDP_PORT = 4792;
/// Default Frame::protocol of RoCE frames.
static constexpr uint16_t ROCE_PROTOCOL = 0;
/// Lowest queue pair number for data: 0 and 1 are reserved for management (InfiniBand).
static constexpr uint32_t FIRST_QUEUE_PAIR = 2;
/// Modulus of PSNs on the wire.
static constexpr uint32_t PSN_MODULUS = 1 << 24;
/// Maximum message size of one work request, bytes. IB allows 2^31; this is a whole number of
/// packets for every power-of-two MTU.
static constexpr uint64_t MAX_REQUEST = uint64_t{1} << 30;

/**
 * @param hops capacity
 * @return size of a telemetry header, between UDP and the base transport header (HPCC, section 4.1:
 *         a count, a path identifier, and 64 bits per hop), bytes
 */
inline uint32_t
GetTelemetryBytes(uint32_t hops)
{
    return 2 + 8 * hops;
}

/**
 * @param transportBytes bytes above Ethernet
 * @return size of the frame, padded to the Ethernet minimum, bytes
 */
inline uint32_t
GetFrameBytes(uint32_t transportBytes)
{
    return std::max(transportBytes + Frame::ETHERNET_BYTES, uint32_t{Frame::MIN_BYTES});
}

/**
 * @param opcode of a data packet
 * @param payload payload size, bytes
 * @return size of its frame, including pad bytes, bytes
 */
inline uint32_t
GetDataFrameBytes(uint8_t opcode, uint32_t payload)
{
    return GetFrameBytes(ROCE_BYTES + (HasReth(opcode) ? RETH_BYTES : 0) +
                         (IsDatagram(opcode) ? DETH_BYTES : 0) +
                         (HasImmediate(opcode) ? IMMEDIATE_BYTES : 0) + (payload + 3) / 4 * 4);
}

/**
 * The invariant CRC (ICRC) of RoCEv2 (annex A17.3.3): Ethernet's CRC-32 over all fields that
 * routers do not change. In-band telemetry changes on the path and is excluded.
 * @param packet an IPv4 packet without options, with a UDP header and a base transport header
 * @param bytes its size up to the ICRC
 * @return the CRC, sent least significant byte first
 */
uint32_t GetInvariantCrc(const uint8_t* packet, uint32_t bytes);

/**
 * Appends a RoCEv2 data packet, from the Ethernet header to the ICRC, for a protocol with its own
 * extended transport headers.
 * @param out output buffer
 * @param frame with opcode, queue pair and PSN
 * @param putExtensions appends everything between the base transport header and the ICRC
 */
void PutRoceData(WireBytes& out,
                 const Frame& frame,
                 void (*putExtensions)(WireBytes& out, const Frame& frame));

/** The part of a RoCEv2 packet after its base transport header. */
struct RoceContents
{
    const uint8_t* at{nullptr}; ///< first byte
    uint32_t bytes{0};          ///< size without the ICRC
    uint32_t pad{0};            ///< pad bytes after the payload
    bool isMarked{false};       ///< the BECN bit
    std::string error;          ///< error in the packet, or empty
};

/**
 * Checks a RoCEv2 packet and parses its headers up to the base transport header.
 * @param udp the UDP datagram, preceded by an IPv4 header
 * @param bytes its length
 * @param frame with its addresses; receives flow hash, telemetry, opcode, queue pair, PSN and ACK
 *        request
 * @return the rest, or an error
 */
RoceContents ReadRoceHeaders(const uint8_t* udp, uint32_t bytes, Frame& frame);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ROCE_WIRE_FORMAT_H
