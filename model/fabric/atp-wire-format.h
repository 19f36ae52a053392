/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ATP_WIRE_FORMAT_H
#define DISTRIBUTED_TRAINING_ATP_WIRE_FORMAT_H

#include "fabric-frame.h"
#include "wire-bytes.h"

#include <algorithm>
#include <cstdint>
#include <string>

/**
 * @file
 * @ingroup distributed-training-fabric
 * Sizes and fields of ATP's packets, as in its released switch program and hosts: an EtherType of
 * their own, IPv4 without UDP, a header of 26 bytes in two parts with the values between them. The
 * released header is for one switch; what two levels need (bitmap and fan-in of the server's
 * switch, the upper half of the sequence number) stands where it has the tensor's key.
 */
namespace ns3::training
{

/// EtherType of ATP's packets.
static constexpr uint16_t ETHERTYPE_ATP = 0x0700;
/// Protocol number in the IPv4 header: reserved for experiments (RFC 3692).
static constexpr uint8_t IPV4_ATP = 253;
/// Both parts of the header.
static constexpr uint32_t ATP_HEADER_BYTES = 26;
/// The part in front of the values.
static constexpr uint32_t ATP_FRONT_BYTES = 14;
/// Sticky collision bit of A2TP and priority of ESA, behind all others.
static constexpr uint32_t ATP_EXTENSION_BYTES = 1;
/// Values of the released program.
static constexpr uint32_t ATP_ELEMENTS = 62;
/// Slots for which the second index, that of the other half of the values, fits 16 bits.
static constexpr uint32_t ATP_MOST_SLOTS = 1 << 15;
/// Largest priority (ESA).
static constexpr uint8_t ATP_MOST_PRIORITY = 127;

/**
 * @param elements values in the packet
 * @param isExtended whether it has the extension
 * @return size of its frame, bytes: 308 for 62 elements, and the frame check sequence
 */
inline uint32_t
GetAtpFrameBytes(uint32_t elements, bool isExtended)
{
    return std::max(Frame::ETHERNET_BYTES + 20 + ATP_HEADER_BYTES + 4 * elements +
                        (isExtended ? ATP_EXTENSION_BYTES : 0),
                    uint32_t{Frame::MINIMUM_BYTES});
}

/**
 * Appends a frame's bytes.
 * @param out to append to
 * @param frame of ATP
 */
void PutAtp(WireBytes& out, const Frame& frame);

/**
 * Reads what PutAtp() has written.
 * @param at behind the IPv4 header
 * @param bytes from there to the end of the IPv4 packet
 * @param frame to be filled in, with its addresses
 * @return what is wrong, if anything
 */
std::string ReadAtp(const uint8_t* at, uint32_t bytes, Frame& frame);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ATP_WIRE_FORMAT_H
