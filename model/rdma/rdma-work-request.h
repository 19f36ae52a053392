/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_WORK_REQUEST_H
#define DISTRIBUTED_TRAINING_RDMA_WORK_REQUEST_H

#include "ns3/ptr.h"
#include "ns3/training-byte-buffer.h"

#include <cstdint>
#include <functional>
#include <optional>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * A work request of the IB specification, the entry of a send queue: one message to send.
 */
struct WorkRequest
{
    uint64_t bytes{0};         ///< message size; at most MAX_REQUEST, for a datagram the MTU
    uint64_t address{0};       ///< RDMA WRITE: remote address, meaning defined by the receiver
    Ptr<ByteBuffer> payload;   ///< buffer with the contents, or null (virtual payload)
    uint64_t payloadOffset{0}; ///< offset of the message in `payload`, bytes
    std::optional<uint32_t> immediate; ///< immediate data, sent with the last packet
    uint8_t typeOfService{0};          ///< of IPv4, of its packets; 0: that of their traffic class
    bool signaled{true};               ///< whether it reports completion; datagrams never do
    std::function<void()> sent; ///< called when the last packet is sent for the first time; must
                                ///< not post to the NIC; datagrams never call it
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_WORK_REQUEST_H
