/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NVLINK_PACKETS_H
#define DISTRIBUTED_TRAINING_NVLINK_PACKETS_H

#include "ns3/fabric-frame.h"

#include <algorithm>
#include <cstdint>

/**
 * @file
 * @ingroup distributed-training-innetwork
 * Sizes of NVLink's packets, of which one simulated frame stands for several. A packet has flits of
 * 16 bytes: a header; an extension for what the header has no space for; up to 16 of data (Foley
 * and Danskin, "Ultra-Performance Pascal GPU and NVLink Interconnect", IEEE Micro 37(2), 2017). A
 * packet carries the 128 bytes of a cache line. That requests to a multicast address have the
 * extension and answers do not is inferred.
 */
namespace ns3::training
{

/// Size of a flit, bytes.
static constexpr uint32_t NVLINK_FLIT_BYTES = 16;
/// Values in a packet, bytes.
static constexpr uint32_t NVLINK_PAYLOAD_BYTES = 128;

/** A kind of packet. */
enum class NvlinkPacket
{
    READ,    ///< request of values: header and extension
    ANSWER,  ///< values that were requested: header and data
    WRITE,   ///< values to store: header, extension and data
    RESPONSE ///< values were stored: header
};

/**
 * @param values bytes of values
 * @return packets that carry them; at least one
 */
inline uint32_t
GetNvlinkPackets(uint32_t values)
{
    return std::max(1U, (values + NVLINK_PAYLOAD_BYTES - 1) / NVLINK_PAYLOAD_BYTES);
}

/**
 * @param kind of the packets
 * @param values bytes of values that the packets carry, request or answer
 * @return size of a frame that takes as long on the line as the packets; at least that of the
 *         shortest frame
 */
inline uint32_t
GetNvlinkFrameBytes(NvlinkPacket kind, uint32_t values)
{
    const bool isRequest = kind == NvlinkPacket::READ || kind == NvlinkPacket::WRITE;
    const bool hasData = kind == NvlinkPacket::ANSWER || kind == NvlinkPacket::WRITE;
    const uint32_t flits = GetNvlinkPackets(values) * (isRequest ? 2 : 1) +
                           (hasData ? (values + NVLINK_FLIT_BYTES - 1) / NVLINK_FLIT_BYTES : 0);
    constexpr uint32_t OVERHEAD = Frame::PREAMBLE_BYTES + Frame::GAP_BYTES;
    return std::max(flits * NVLINK_FLIT_BYTES, Frame::MIN_BYTES + OVERHEAD) - OVERHEAD;
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NVLINK_PACKETS_H
