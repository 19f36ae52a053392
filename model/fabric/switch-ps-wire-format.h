/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCH_PS_WIRE_FORMAT_H
#define DISTRIBUTED_TRAINING_SWITCH_PS_WIRE_FORMAT_H

#include "fabric-frame.h"
#include "wire-bytes.h"

#include <algorithm>
#include <cstdint>
#include <string>

/**
 * @file
 * @ingroup distributed-training-fabric
 * Packets between workers and a parameter server in a switch. The proposal (Hashmi, Towards
 * Alleviating Bottlenecks in Distributed Training of Deep Neural Nets) has no format, so this is
 * the module's own: IPv4, UDP, a header of 16 bytes, float32 numbers in network byte order.
 */
namespace ns3::training
{

/// UDP destination port.
static constexpr uint16_t SWITCH_PS_UDP_PORT = 0xbef0;
/// Type, job, slot, packet, key range, clock.
static constexpr uint32_t SWITCH_PS_HEADER_BYTES = 16;
/// Type of a gradient, and of weights or sums.
static constexpr uint8_t SWITCH_PS_DATA = 1;
/// Type of a request for weights.
static constexpr uint8_t SWITCH_PS_PULL = 2;
/// Slots that the 15 bits beside the version tell apart.
static constexpr uint32_t SWITCH_PS_MOST_SLOTS = 1 << 15;
/// Numbers in a packet, so that it fits a jumbo frame of 9000 bytes.
static constexpr uint32_t SWITCH_PS_MOST_ELEMENTS = 2048;

/**
 * @param elements numbers in the packet
 * @return size of its frame, bytes
 */
inline uint32_t
GetSwitchPsFrameBytes(uint32_t elements)
{
    return std::max(Frame::ETHERNET_BYTES + IPV4_BYTES + UDP_BYTES + SWITCH_PS_HEADER_BYTES +
                        4 * elements,
                    uint32_t{Frame::MINIMUM_BYTES});
}

/**
 * Appends a frame's bytes.
 * @param out to append to
 * @param frame of kind SWITCH_PS
 */
void PutSwitchPs(WireBytes& out, const Frame& frame);

/**
 * Reads what PutSwitchPs() has written.
 * @param udp the datagram
 * @param bytes its length
 * @param frame to be filled in
 * @return what is wrong, if anything
 */
std::string ReadSwitchPs(const uint8_t* udp, uint32_t bytes, Frame& frame);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCH_PS_WIRE_FORMAT_H
