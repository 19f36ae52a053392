/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NETWORK_FALLBACK_WIRE_FORMAT_H
#define DISTRIBUTED_TRAINING_NETWORK_FALLBACK_WIRE_FORMAT_H

#include "ns3/fabric-frame.h"

#include <cstdint>

/**
 * @file
 * @ingroup distributed-training-innetwork
 * Notices by which ranks agree to fall back from the network to the hosts: a protocol specific to
 * this module, over UDP, with a header of 8 bytes.
 */
namespace ns3::training
{

/// UDP destination port.
static constexpr uint16_t NETWORK_FALLBACK_UDP_PORT = 0xbef1;
/// Protocol, job, flags and completed operations, bytes.
static constexpr uint32_t NETWORK_FALLBACK_HEADER_BYTES = 8;

/** The header of a notice. */
struct NetworkFallbackHeader
{
    static constexpr uint16_t PROTOCOL = 1; ///< Frame::protocol

    uint32_t completed{0}; ///< operations completed by the network at the sender, mod 2^32
    uint16_t system{0};    ///< protocol number of the job's system
    uint8_t job{0};        ///< number of the job
    bool heard{false};     ///< the sender has received the receiver's notice
};

/**
 * @param system protocol number of a system
 * @param job number of a job
 * @return receiver key of the job's notices at a host
 */
inline uint32_t
GetNetworkFallbackKey(uint16_t system, uint8_t job)
{
    return uint32_t{system} << 8 | job;
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NETWORK_FALLBACK_WIRE_FORMAT_H
