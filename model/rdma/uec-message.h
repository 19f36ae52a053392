/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_UEC_MESSAGE_H
#define DISTRIBUTED_TRAINING_UEC_MESSAGE_H

#include "ns3/ptr.h"
#include "ns3/training-byte-buffer.h"

#include <cstdint>
#include <functional>

namespace ns3::training
{

/** A message of Ultra Ethernet, a tagged send. @ingroup distributed-training-rdma */
struct UecMessage
{
    uint64_t tag{0};           ///< match bits
    uint64_t data{0};          ///< header data
    uint64_t bytes{0};         ///< size, up to UEC_MAX_MESSAGE
    Ptr<ByteBuffer> payload;   ///< buffer with the contents, or null (virtual payload)
    uint64_t payloadOffset{0}; ///< sent: offset of the message in `payload`, bytes
    uint8_t typeOfService{0};  ///< sent: of IPv4; 0: that of the traffic class
    /// Sent: called when the last packet is sent for the first time; must not call the connection.
    std::function<void()> sent;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_UEC_MESSAGE_H
