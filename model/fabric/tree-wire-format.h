/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TREE_WIRE_FORMAT_H
#define DISTRIBUTED_TRAINING_TREE_WIRE_FORMAT_H

#include "fabric-frame.h"
#include "roce-wire-format.h"
#include "wire-bytes.h"

#include <cstdint>
#include <string>

/**
 * @file
 * @ingroup distributed-training-fabric
 * Sizes and codes of the packets of aggregation trees. As in SHARP they are messages of one packet
 * each over reliable connections from node to node, with InfiniBand's base transport header and
 * its acknowledgements, here in UDP; results may come as datagrams, too. The header behind it is
 * this module's own: that of SHARP is not public.
 */
namespace ns3::training
{

/// UDP destination port.
static constexpr uint16_t TREE_UDP_PORT = 0xbe00;
/// InfiniBand's base transport header, bytes.
static constexpr uint32_t TREE_TRANSPORT_BYTES = 12;
/// Operation, format, job, packet, root, payload length, bytes.
static constexpr uint32_t TREE_HEADER_BYTES = 16;
/// Largest payload that its length can say, bytes.
static constexpr uint32_t TREE_MOST_PAYLOAD = 8192;

/** What a packet asks for, bit by bit; without any, a sum for all. */
enum TreeOperation : uint8_t
{
    TREE_LOCK = 1,    ///< no values: whether the streaming tree is free, which it then no longer is
    TREE_UNLOCK = 2,  ///< a sum after which the streaming tree is free again
    TREE_TO_ONE = 4,  ///< the sum is for one rank, the others just learn that it is there
    TREE_REFUSED = 8, ///< with TREE_LOCK: some switch's streaming trees are all taken
    TREE_DIRECT = 16, ///< no sum: to all at once
    TREE_QUIET = 32   ///< with TREE_TO_ONE: the others are not told
};

/**
 * @param payload bytes
 * @param opcode SEND_ONLY of a connection, or UD_SEND_ONLY
 * @return size of a frame with values, bytes
 */
inline uint32_t
GetTreeFrameBytes(uint32_t payload, uint8_t opcode = SEND_ONLY)
{
    return GetFrameBytes(IPV4_BYTES + UDP_BYTES + TREE_TRANSPORT_BYTES +
                         (IsDatagram(opcode) ? DETH_BYTES : 0) + TREE_HEADER_BYTES +
                         (payload + 3) / 4 * 4);
}

/** @return size of an acknowledgement's frame, bytes */
inline uint32_t
GetTreeAcknowledgeBytes()
{
    return GetFrameBytes(IPV4_BYTES + UDP_BYTES + TREE_TRANSPORT_BYTES + AETH_BYTES);
}

/**
 * Appends a frame's bytes.
 * @param out to append to
 * @param frame of a tree
 */
void PutTree(WireBytes& out, const Frame& frame);

/**
 * Reads what PutTree() has written.
 * @param udp the datagram
 * @param bytes its length
 * @param frame to be filled in
 * @return what is wrong, if anything
 */
std::string ReadTree(const uint8_t* udp, uint32_t bytes, Frame& frame);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TREE_WIRE_FORMAT_H
