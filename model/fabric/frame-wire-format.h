/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FRAME_WIRE_FORMAT_H
#define DISTRIBUTED_TRAINING_FRAME_WIRE_FORMAT_H

#include "wire-bytes.h"

#include "ns3/packet.h"

#include <cstdint>
#include <string>

/**
 * @file
 * @ingroup distributed-training-fabric
 * Frames as the bytes that are on a cable: Ethernet, IPv4, UDP port 4791 and InfiniBand's transport
 * headers (IB specification volume 1, chapter 9 and annex A17), IEEE 802.1Qbb pause frames, and
 * packets of stock ns-3 stacks. Needed only where someone looks, such as a capture file.
 *
 * What a Frame does not know has a fixed value: see doc/wire-format.rst, as for what is not on the
 * wire and therefore does not come back.
 */
namespace ns3::training
{

/// UDP destination port of RoCEv2 with in-band telemetry in front of the base transport header: one
/// of this module's own, so that nobody takes the telemetry for a transport header.
static constexpr uint16_t TELEMETRY_UDP_PORT = 4792;

/**
 * @param frame whose `bytes` are what its contents take
 * @return its bytes from the destination address on, without frame check sequence
 */
Ptr<Packet> ToPacket(const Frame& frame);

/** What bytes have turned out to be. */
struct ParsedFrame
{
    Frame* frame{nullptr}; ///< owned by the caller; null if they are not a frame of the fabric
    std::string error;     ///< why not
};

/**
 * Reads what ToPacket() has written. A payload is taken for a real one.
 * @param packet the bytes
 * @return a frame, or what is wrong: lengths, checksum, invariant CRC, a protocol that is unknown
 */
ParsedFrame FromPacket(const Packet& packet);

/**
 * The invariant CRC of RoCEv2 (annex A17.3.3): Ethernet's CRC-32 over all that routers leave alone.
 * In-band telemetry, which they do not, is left out.
 * @param packet an IPv4 packet without options, with a UDP header and a base transport header
 * @param bytes its size up to the invariant CRC
 * @return the CRC, which is sent least significant byte first
 */
uint32_t GetInvariantCrc(const uint8_t* packet, uint32_t bytes);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FRAME_WIRE_FORMAT_H
