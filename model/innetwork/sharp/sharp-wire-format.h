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
 * Sizes and codes of the packets of aggregation trees. As in SHARP they are single-packet messages
 * over reliable connections between neighboring nodes, with InfiniBand's base transport header and
 * acknowledgements, here over UDP. Results may also be sent as datagrams. SHARP's own header is not
 * public, so the header after the transport headers is specific to this module.
 */
namespace ns3::training
{

/// UDP destination port.
static constexpr uint16_t SHARP_UDP_PORT = 0xbe00;
/// InfiniBand's base transport header, bytes.
static constexpr uint32_t SHARP_TRANSPORT_BYTES = 12;
/// Operation, format, job, packet, root, payload length, bytes.
static constexpr uint32_t SHARP_HEADER_BYTES = 16;
/// Maximum payload that the length field can hold, bytes.
static constexpr uint32_t SHARP_MAX_PAYLOAD = 8192;

/** Operation flags of a packet; without any, an all-reduce. */
enum SharpOperation : uint8_t
{
    SHARP_LOCK = 1,       ///< no values: requests the streaming tree and locks it if it is free
    SHARP_UNLOCK = 2,     ///< a sum that unlocks the streaming tree
    SHARP_TO_ONE = 4,     ///< the sum goes to one rank; the others only get a notification
    SHARP_REFUSED = 8,    ///< with SHARP_LOCK: a switch has no streaming tree left
    SHARP_BROADCAST = 16, ///< no sum: forwarded to all immediately
    SHARP_NO_NOTIFICATION = 32 ///< with SHARP_TO_ONE: no notification to the others
};

/** The header after InfiniBand's transport headers, and the fields of its acknowledgements. */
struct SharpHeader
{
    static constexpr uint16_t PROTOCOL = 4; ///< Frame::protocol

    /// Simulation-only checksum: each rank contributed exactly once. Not serialized.
    uint64_t check{0};
    uint32_t packet{0};   ///< packet number on its connection
    uint16_t slot{0};     ///< root rank of a reduce or a broadcast
    uint8_t job{0};       ///< number of the job
    uint8_t operation{0}; ///< bits of SharpOperation
    uint8_t format{0};    ///< NumberFormat of the values
    int8_t exponent{0};   ///< maximum exponent of the values. Not serialized
    bool overflow{false}; ///< a sum has overflowed. Not serialized
};

/**
 * @param payload size of the values, bytes
 * @param opcode SEND_ONLY of a connection, or UD_SEND_ONLY
 * @return size of a frame with these values, bytes
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
