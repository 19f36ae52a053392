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
 * Common parts of wire formats: numbers in network byte order, Ethernet, IPv4 and UDP.
 */
namespace ns3::training
{

/// A serialized frame without frame check sequence.
using WireBytes = std::vector<uint8_t>;

/// Ethernet frame check sequence, bytes; included in Frame::bytes, but not in WireBytes.
static constexpr uint32_t FCS_BYTES = 4;
/// Ethernet header, bytes.
static constexpr uint32_t HEADER_BYTES = Frame::ETHERNET_BYTES - FCS_BYTES;
/// IPv4 header without options, bytes.
static constexpr uint32_t IPV4_BYTES = 20;
/// UDP header, bytes.
static constexpr uint32_t UDP_BYTES = 8;
/// Protocol number of UDP in an IPv4 header.
static constexpr uint8_t IPV4_UDP = 17;
/// Shift of the priority in the DSCP: the three bits of the priority are its top bits.
static constexpr uint8_t DSCP_BITS_BELOW_PRIORITY = 3;
/// Bits of the flow hash that the UDP source port carries.
static constexpr uint32_t ENTROPY_MASK = 0x3fff;

/**
 * Appends a number, most significant byte first.
 * @param out buffer to append to
 * @param value the number
 * @param bytes width of the number in bytes
 */
void PutNumber(WireBytes& out, uint64_t value, uint32_t bytes);

/**
 * Overwrites two bytes.
 * @param at first byte of the number, most significant byte first
 * @param value the number
 */
void Set16(uint8_t* at, uint16_t value);

/**
 * @param from first byte of the number, most significant byte first
 * @param bytes width of the number in bytes
 * @return the number
 */
uint64_t GetNumber(const uint8_t* from, uint32_t bytes);

/**
 * @param from first byte of a 32-bit word, most significant byte first
 * @return the word
 */
inline uint32_t
GetWord(const uint8_t* from)
{
    return uint32_t{from[0]} << 24 | uint32_t{from[1]} << 16 | uint32_t{from[2]} << 8 | from[3];
}

/**
 * @param to first byte to write, most significant byte first
 * @param word the 32-bit word
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
 * @return the checksum over it; 0 if the checksum in the header is correct
 */
uint16_t SumIpv4(const uint8_t* header, uint32_t bytes);

/**
 * Computes and sets the checksum of an IPv4 header.
 * @param header the header
 * @param bytes its size
 */
void SetIpv4Checksum(uint8_t* header, uint32_t bytes);

/**
 * Appends an Ethernet header.
 * @param out buffer to append to
 * @param source endpoint
 * @param destination endpoint
 * @param etherType EtherType of the payload
 */
void PutEthernet(WireBytes& out, uint32_t source, uint32_t destination, uint16_t etherType);

/**
 * Appends Ethernet and IPv4 headers.
 * @param out buffer to append to
 * @param frame frame that provides addresses, priority and ECN field
 * @param etherType EtherType of the frame
 * @param protocol IP protocol number of the payload
 * @param bytes size of the IPv4 payload
 */
void PutIpv4(WireBytes& out,
             const Frame& frame,
             uint16_t etherType,
             uint8_t protocol,
             uint32_t bytes);

/**
 * Appends Ethernet, IPv4 and UDP headers.
 * @param out buffer to append to
 * @param frame frame that provides addresses, priority, ECN field and flow hash
 * @param port UDP destination port
 * @param udpBytes UDP length, header included
 */
void PutUdp(WireBytes& out, const Frame& frame, uint16_t port, uint32_t udpBytes);

/**
 * @param udp a datagram
 * @param bytes its length according to IPv4
 * @return an error message about the UDP length or checksum, or an empty string
 */
std::string CheckUdp(const uint8_t* udp, uint32_t bytes);

/**
 * Appends a frame's payload, padded to a multiple of four bytes. A virtual payload is written as
 * zeros.
 * @param out buffer to append to
 * @param frame the frame
 */
void PutPayload(WireBytes& out, const Frame& frame);

/**
 * Sets a real payload of a frame.
 * @param frame the frame
 * @param from first byte of the payload
 * @param bytes number of bytes
 */
void TakePayload(Frame& frame, const uint8_t* from, uint32_t bytes);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_WIRE_BYTES_H
