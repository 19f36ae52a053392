/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_WIRE_BYTES_H
#define DISTRIBUTED_TRAINING_WIRE_BYTES_H

#include "fabric-frame.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup distributed-training-fabric
 * The parts that wire formats share: numbers in network byte order, Ethernet, IPv4 and UDP.
 */
namespace ns3::training
{

/// A frame as it is written or read, without frame check sequence.
using WireBytes = std::vector<uint8_t>;

/// Ethernet's frame check sequence, part of Frame::bytes but not of what is written, bytes.
static constexpr uint32_t FCS_BYTES = 4;
/// Ethernet's header, bytes.
static constexpr uint32_t HEADER_BYTES = Frame::ETHERNET_BYTES - FCS_BYTES;
/// IPv4 header without options, bytes.
static constexpr uint32_t IPV4_BYTES = 20;
/// UDP header, bytes.
static constexpr uint32_t UDP_BYTES = 8;
/// Protocol number of UDP in an IPv4 header.
static constexpr uint8_t IPV4_UDP = 17;
/// The differentiated services code point of a priority begins with its three bits.
static constexpr uint8_t DSCP_BITS_BELOW_PRIORITY = 3;
/// Bits of the flow hash that the UDP source port carries.
static constexpr uint32_t ENTROPY_MASK = 0x3fff;

/**
 * Appends a number, most significant byte first.
 * @param out to append to
 * @param value the number
 * @param bytes of it
 */
void PutNumber(WireBytes& out, uint64_t value, uint32_t bytes);

/**
 * @param from where the number begins, most significant byte first
 * @param bytes of it
 * @return the number
 */
uint64_t GetNumber(const uint8_t* from, uint32_t bytes);

/**
 * @param from where 32 bits begin, most significant byte first
 * @return their number
 */
inline uint32_t
GetWord(const uint8_t* from)
{
    return uint32_t{from[0]} << 24 | uint32_t{from[1]} << 16 | uint32_t{from[2]} << 8 | from[3];
}

/**
 * @param to where to write 32 bits, most significant byte first
 * @param word their number
 */
inline void
SetWord(uint8_t* to, uint32_t word)
{
    to[0] = static_cast<uint8_t>(word >> 24);
    to[1] = static_cast<uint8_t>(word >> 16);
    to[2] = static_cast<uint8_t>(word >> 8);
    to[3] = static_cast<uint8_t>(word);
}

/**
 * @param header an IPv4 header
 * @param bytes its size
 * @return the sum over it, 0 if its checksum is right
 */
uint16_t SumIpv4(const uint8_t* header, uint32_t bytes);

/**
 * Puts the right checksum into an IPv4 header.
 * @param header the header
 * @param bytes its size
 */
void SetIpv4Checksum(uint8_t* header, uint32_t bytes);

/**
 * Appends an Ethernet header.
 * @param out to append to
 * @param source endpoint
 * @param destination endpoint
 * @param etherType of what follows
 */
void PutEthernet(WireBytes& out, uint32_t source, uint32_t destination, uint16_t etherType);

/**
 * Appends Ethernet and IPv4 headers.
 * @param out to append to
 * @param frame whose addresses, priority and ECN field they carry
 * @param etherType of the frame
 * @param protocol of what follows
 * @param bytes of what follows
 */
void PutIpv4(WireBytes& out,
             const Frame& frame,
             uint16_t etherType,
             uint8_t protocol,
             uint32_t bytes);

/**
 * Appends Ethernet, IPv4 and UDP headers.
 * @param out to append to
 * @param frame whose addresses, priority, ECN field and flow hash they carry
 * @param port UDP destination port
 * @param udpBytes UDP length, its header included
 */
void PutUdp(WireBytes& out, const Frame& frame, uint16_t port, uint32_t udpBytes);

/**
 * @param udp a datagram
 * @param bytes its length as IPv4 has it
 * @return an error in its own length or checksum, or nothing
 */
std::string CheckUdp(const uint8_t* udp, uint32_t bytes);

/**
 * Appends a frame's payload, zeros if it is virtual, padded to four bytes.
 * @param out to append to
 * @param frame the frame
 */
void PutPayload(WireBytes& out, const Frame& frame);

/**
 * Gives a frame a real payload.
 * @param frame the frame
 * @param from first byte
 * @param bytes how many
 */
void TakePayload(Frame& frame, const uint8_t* from, uint32_t bytes);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_WIRE_BYTES_H
