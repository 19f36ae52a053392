/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_MESSAGE_H
#define DISTRIBUTED_TRAINING_MESSAGE_H

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
 * What one side sends to another, on all floors: a message between ranks, one part of it, the work
 * request of a queue pair (an entry of its send queue), a tagged send of Ultra Ethernet, and what
 * each of them reports at the receiver.
 */
struct Message
{
    /// Identifies the message at the receiver: remote address of an RDMA WRITE, match bits of Ultra
    /// Ethernet. A SEND of RDMA has none.
    uint64_t tag{0};
    uint64_t bytes{0};         ///< size, may be 0
    Ptr<ByteBuffer> payload{}; ///< buffer with the contents, or null (virtual payload)
    /// Sent: called once when the last byte has been passed to the network (RDMA, Ultra Ethernet:
    /// to the line for the first time; TCP: to the socket); null: not called. MessageTransport
    /// calls it from an event; a function that a connection calls must not post to the NIC.
    std::function<void()> sent{};
    /// Sent: of IPv4, marks its packets, as for an engine in the NIC; 0: that of the traffic class.
    /// TCP marks segments with nothing but contents of such messages.
    uint8_t typeOfService{0};
    bool isSend{false};        ///< RDMA: a SEND, not a WRITE; its queue pair decides
    bool signaled{true};       ///< sent by RDMA: reports its completion; datagrams never do
    uint64_t payloadOffset{0}; ///< sent: offset of the message in `payload`, bytes
    /// Travels with the message: immediate data of RDMA, 32 bits; header data of Ultra Ethernet.
    /// MultiPortTransport keeps it for itself.
    std::optional<uint64_t> immediate{};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_MESSAGE_H
