/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ATP_WIRE_FORMAT_H
#define DISTRIBUTED_TRAINING_ATP_WIRE_FORMAT_H

#include "ns3/fabric-frame.h"

#include <algorithm>
#include <cstdint>

/**
 * @file
 * @ingroup distributed-training-innetwork
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
static constexpr uint32_t ATP_MAX_SLOTS = 1 << 15;
/// Largest priority (ESA).
static constexpr uint8_t ATP_MAX_PRIORITY = 127;

/** The header of a packet. */
struct AtpHeader
{
    static constexpr uint16_t PROTOCOL = 3; ///< Frame::protocol

    /// Simulation-only checksum: each worker contributed exactly once. Not serialized.
    uint64_t check{0};
    uint32_t packet{0};    ///< number of the packet in its job
    uint32_t workers{0};   ///< bit w: worker w of the rack has contributed
    uint32_t children{0};  ///< bit c: child c of the server's switch has contributed
    uint16_t slot{0};      ///< of the switches' pools
    uint16_t newSlot{0};   ///< a result with `collision`: the slot to use from now on
    uint8_t job{0};        ///< number of the job
    uint8_t fanIn[2]{};    ///< workers of the rack, children of the server's switch
    uint8_t priority{0};   ///< ESA: of the job, to keep or take slots, 0 to 127
    bool isResult{false};  ///< from a server to all workers: sums, or a request for floats
    bool overflow{false};  ///< values are floats; a result without `resend`: send floats
    bool isRackSum{false}; ///< `children` tell the contributors, not `workers`
    bool resend{false};    ///< switches must not hold it
    bool collision{false}; ///< it found its slot taken
    bool congested{false}; ///< a packet in it was marked on the path
    bool contested{false}; ///< A2TP: another job has asked for the slot
};

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
                    uint32_t{Frame::MIN_BYTES});
}

/**
 * @param job number of a job
 * @return key of the packets to its servers at a host; that of packets to workers is the number
 */
inline uint32_t
GetAtpServerKey(uint8_t job)
{
    return 0x100U | job;
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ATP_WIRE_FORMAT_H
