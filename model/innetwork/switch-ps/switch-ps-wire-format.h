/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCH_PS_WIRE_FORMAT_H
#define DISTRIBUTED_TRAINING_SWITCH_PS_WIRE_FORMAT_H

#include "ns3/fabric-frame.h"
#include "ns3/wire-bytes.h"

#include <algorithm>
#include <cstdint>

/**
 * @file
 * @ingroup distributed-training-innetwork
 * Packets between workers and a parameter server in a switch. The proposal (Hashmi, Towards
 * Alleviating Bottlenecks in Distributed Training of Deep Neural Nets) defines no format, so this
 * one is specific to this module: IPv4, UDP, a header of 16 bytes, float32 numbers in network byte
 * order.
 */
namespace ns3::training
{

/// UDP destination port.
static constexpr uint16_t SWITCH_PS_UDP_PORT = 0xbef0;
/// Type, job, slot, packet, key range and clock, bytes.
static constexpr uint32_t SWITCH_PS_HEADER_BYTES = 16;
/// Type of a gradient, and of weights or sums.
static constexpr uint8_t SWITCH_PS_DATA = 1;
/// Type of a request for weights.
static constexpr uint8_t SWITCH_PS_PULL = 2;
/// Maximum slots: 15 bits besides the version bit.
static constexpr uint32_t SWITCH_PS_MAX_SLOTS = 1 << 15;
/// Maximum numbers per packet that fit a jumbo frame of 9000 bytes.
static constexpr uint32_t SWITCH_PS_MAX_ELEMENTS = 2048;

/** The header of a packet. */
struct SwitchPsHeader
{
    static constexpr uint16_t PROTOCOL = 5; ///< Frame::protocol

    /// Simulation-only checksum: each worker contributed exactly once. Not serialized.
    uint64_t check{0};
    uint32_t packet{0};   ///< packet number in its job, or among its pulls
    uint32_t keyRange{0}; ///< number of the key range in its job
    uint32_t clock{0};    ///< completed steps: of the sender, or of the slowest worker
    uint16_t slot{0};     ///< slot in the switch's memory
    uint8_t set{0};       ///< version of the slot, 0 or 1
    uint8_t job{0};       ///< number of the job
    bool isPull{false};   ///< a request for weights, or its answer
    int8_t exponent{0};   ///< maximum exponent of the numbers. Not serialized
    bool overflow{false}; ///< a number exceeded the range of exponents. Not serialized
};

/**
 * @param elements numbers in the packet
 * @return size of its frame, bytes
 */
inline uint32_t
GetSwitchPsFrameBytes(uint32_t elements)
{
    return std::max(Frame::ETHERNET_BYTES + IPV4_BYTES + UDP_BYTES + SWITCH_PS_HEADER_BYTES +
                        4 * elements,
                    uint32_t{Frame::MIN_BYTES});
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCH_PS_WIRE_FORMAT_H
