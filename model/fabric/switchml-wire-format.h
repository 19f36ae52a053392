/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCHML_WIRE_FORMAT_H
#define DISTRIBUTED_TRAINING_SWITCHML_WIRE_FORMAT_H

#include "fabric-frame.h"

#include <algorithm>
#include <cstdint>

/**
 * @file
 * @ingroup distributed-training-fabric
 * Sizes and codes of SwitchML's packets in UDP, as in its released switch program and client: IPv4,
 * UDP, a header of 8 bytes, two exponents, and 32-bit integers in network byte order.
 */
namespace ns3::training
{

/// UDP destination port: the switch takes 0xbee0 to 0xbeef.
static constexpr uint16_t SWITCHML_UDP_PORT = 0xbee0;
/// The bits of the port that count.
static constexpr uint16_t SWITCHML_UDP_PORT_MASK = 0xfff0;
/// Type and size, job, packet, slot.
static constexpr uint32_t SWITCHML_HEADER_BYTES = 8;
/// One byte for each of two blocks.
static constexpr uint32_t SWITCHML_EXPONENT_BYTES = 2;
/// Message type of values, as the released client writes it.
static constexpr uint8_t SWITCHML_DATA = 1;
/// Message type of a notice between workers: this module's own.
static constexpr uint8_t SWITCHML_NOTICE = 15;
/// Slots that the 15 bits of a pool index tell apart.
static constexpr uint32_t SWITCHML_MOST_SLOTS = 1 << 15;

/**
 * @param elements values in the packet
 * @return size of its frame, bytes: 180, 308, 1076 for 32, 64, 256 elements, and the frame check
 *         sequence
 */
inline uint32_t
GetSwitchMlFrameBytes(uint32_t elements)
{
    return std::max(Frame::ETHERNET_BYTES + 20 + 8 + SWITCHML_HEADER_BYTES +
                        SWITCHML_EXPONENT_BYTES + 4 * elements,
                    uint32_t{Frame::MINIMUM_BYTES});
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCHML_WIRE_FORMAT_H
