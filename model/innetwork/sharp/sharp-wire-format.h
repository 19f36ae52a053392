/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SHARP_WIRE_FORMAT_H
#define DISTRIBUTED_TRAINING_SHARP_WIRE_FORMAT_H

#include "ns3/fabric-frame.h"
#include "ns3/roce-wire-format.h"

#include <cstdint>

/**
 * @file
 * @ingroup distributed-training-innetwork
 * Sizes and codes of the packets of aggregation trees. As in SHARP they are messages of one packet
 * each over reliable connections from node to node, with InfiniBand's base transport header and
 * its acknowledgements, here in UDP; results may come as datagrams, too. The header behind it is
 * this module's own: that of SHARP is not public.
 */
namespace ns3::training
{

/// UDP destination port.
static constexpr uint16_t SHARP_UDP_PORT = 0xbe00;
/// InfiniBand's base transport header, bytes.
static constexpr uint32_t SHARP_TRANSPORT_BYTES = 12;
/// Operation, format, job, packet, root, payload length, bytes.
static constexpr uint32_t SHARP_HEADER_BYTES = 16;
/// Largest payload that its length can say, bytes.
static constexpr uint32_t SHARP_MAX_PAYLOAD = 8192;

/** What a packet asks for, bit by bit; without any, a sum for all. */
enum SharpOperation : uint8_t
{
    SHARP_LOCK = 1,   ///< no values: whether the streaming tree is free, which it then no longer is
    SHARP_UNLOCK = 2, ///< a sum after which the streaming tree is free again
    SHARP_TO_ONE = 4, ///< the sum is for one rank, the others just learn that it is there
    SHARP_REFUSED = 8, ///< with SHARP_LOCK: some switch's streaming trees are all taken
    SHARP_DIRECT = 16, ///< no sum: to all at once
    SHARP_QUIET = 32   ///< with SHARP_TO_ONE: the others are not told
};

/** The header of a packet behind InfiniBand's, and the fields that its acknowledgements have. */
struct SharpHeader
{
    static constexpr uint16_t PROTOCOL = 4; ///< Frame::protocol

    /// Simulation-only checksum: each rank contributed exactly once. Not serialized.
    uint64_t check{0};
    uint32_t packet{0};   ///< number of the packet on its connection
    uint16_t slot{0};     ///< root of a reduce or a broadcast
    uint8_t job{0};       ///< number of the job
    uint8_t operation{0}; ///< bits of SharpOperation
    uint8_t format{0};    ///< NumberFormat of the values
    int8_t exponent{0};   ///< largest of the values. Not serialized
    bool overflow{false}; ///< a sum has left the range of its numbers. Not serialized
};

/**
 * @param payload bytes
 * @param opcode SEND_ONLY of a connection, or UD_SEND_ONLY
 * @return size of a frame with values, bytes
 */
inline uint32_t
GetSharpFrameBytes(uint32_t payload, uint8_t opcode = SEND_ONLY)
{
    return GetFrameBytes(IPV4_BYTES + UDP_BYTES + SHARP_TRANSPORT_BYTES +
                         (IsDatagram(opcode) ? DETH_BYTES : 0) + SHARP_HEADER_BYTES +
                         (payload + 3) / 4 * 4);
}

/** @return size of an acknowledgement's frame, bytes */
inline uint32_t
GetSharpAcknowledgeBytes()
{
    return GetFrameBytes(IPV4_BYTES + UDP_BYTES + SHARP_TRANSPORT_BYTES + AETH_BYTES);
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SHARP_WIRE_FORMAT_H
