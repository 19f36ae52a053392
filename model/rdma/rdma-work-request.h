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
#include <optional>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * An entry of a send queue (a work request in the IB specification): one message to send.
 */
struct WorkRequest
{
    uint64_t bytes{0};         ///< size of the message; up to MAX_REQUEST, of a datagram to the MTU
    uint64_t address{0};       ///< RDMA WRITE: remote address, at the receiver's disposal
    Ptr<ByteBuffer> payload;   ///< buffer with the contents, or null (virtual payload)
    uint64_t payloadOffset{0}; ///< first byte of the message in `payload`
    std::optional<uint32_t> immediate; ///< immediate data, sent with the last packet
    bool signaled{true};               ///< whether its completion is reported; not of datagrams
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_WORK_REQUEST_H
