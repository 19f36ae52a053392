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
 * Sizes and fields of ATP's packets, as in its released switch program and hosts: an own EtherType,
 * IPv4 without UDP, and a header of 26 bytes in two parts with the values between them. The
 * released header supports one switch. The fields for two levels (bitmap and fan-in of the server's
 * switch, upper half of the sequence number) replace the tensor's key.
 */
namespace ns3::training
{

/// EtherType of ATP's packets.
static constexpr uint16_t ETHERTYPE_ATP = 0x0700;
/// Protocol number in the IPv4 header: reserved for experiments (RFC 3692).
static constexpr uint8_t IPV4_ATP = 253;
/// Size of both parts of the header.
static constexpr uint32_t ATP_HEADER_BYTES = 26;
/// Size of the part before the values.
static constexpr uint32_t ATP_FRONT_BYTES = 14;
/// Contested bit of A2TP and priority of ESA, at the end of the packet.
static constexpr uint32_t ATP_EXTENSION_BYTES = 1;
/// Values per packet in the released program.
static constexpr uint32_t ATP_ELEMENTS = 62;
/// Maximum slots: the index of the other half of the values must fit 16 bits.
static constexpr uint32_t ATP_MAX_SLOTS = 1 << 15;
/// Largest priority (ESA).
static constexpr uint8_t ATP_MAX_PRIORITY = 127;

/** The header of a packet. */
struct AtpHeader
{
    static constexpr uint16_t PROTOCOL = 3; ///< Frame::protocol

    /// Simulation-only checksum: each worker contributed exactly once. Not serialized.
    uint64_t check{0};
    uint32_t packet{0};    ///< sequence number within the job
    uint32_t workers{0};   ///< bit w: worker w of the rack has contributed
    uint32_t children{0};  ///< bit c: child c of the server's switch has contributed
    uint16_t slot{0};      ///< slot in the switches' pools
    uint16_t newSlot{0};   ///< result with `collision`: the slot to use from now on
    uint8_t job{0};        ///< number of the job
    uint8_t fanIn[2]{};    ///< workers of the rack, children of the server's switch
    uint8_t priority{0};   ///< ESA: priority of the job for holding or taking slots, 0 to 127
    bool isResult{false};  ///< from a server to all workers: sums, or a request for floats
    bool overflow{false};  ///< values are floats; in a result without `resend`: send floats
    bool isRackSum{false}; ///< `children` identifies the contributors, not `workers`
    bool resend{false};    ///< a retransmission: switches must not hold it
    bool collision{false}; ///< its slot was taken by another packet
    bool congested{false}; ///< a contribution carried an ECN mark
    bool contested{false}; ///< A2TP: another job has requested the slot
};

/**
 * @param elements values per packet
 * @param isExtended whether it has the extension byte
 * @return size of its frame, bytes: 308 for 62 elements, plus the frame check sequence
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
 * @return receiver key of packets to the job's servers; the key of packets to workers is the number
 */
inline uint32_t
GetAtpServerKey(uint8_t job)
{
    return 0x100U | job;
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ATP_WIRE_FORMAT_H
