/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_MESSAGE_TRANSPORT_H
#define DISTRIBUTED_TRAINING_MESSAGE_TRANSPORT_H

#include "ns3/object.h"
#include "ns3/training-byte-buffer.h"

#include <cstdint>
#include <functional>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-transport
 * What a rank sends to another one.
 */
struct Message
{
    uint64_t tag{0};           ///< identifies the message at the receiver
    uint64_t bytes{0};         ///< size, may be 0
    Ptr<ByteBuffer> payload{}; ///< contents (`bytes` long), or null (virtual payload)
    /// Called once, from an event, when the last byte has been passed to the network (RDMA: to the
    /// line for the first time; TCP: to the socket); null: not called.
    std::function<void()> sent{};
    /// Of IPv4: marks its packets for an engine in the NIC; 0: not marked. TCP marks segments with
    /// nothing but contents of such messages.
    uint8_t typeOfService{0};
};

/**
 * @ingroup distributed-training-transport
 *
 * Messages between the ranks of a group, seen from one rank: reliable, with boundaries, 64-bit
 * sizes, and completion at the receiver. Messages of a pair of ranks arrive in order unless they
 * use different port pairs (see MultiPortTransport).
 */
class MessageTransport : public Object
{
  public:
    /**
     * A whole message has arrived.
     * (peer rank, tag, bytes, contents or null if the payload is virtual)
     */
    using MessageHandler = std::function<void(uint32_t, uint64_t, uint64_t, Ptr<ByteBuffer>)>;

    /** The path to a peer has failed permanently. (peer rank, reason) */
    using ErrorHandler = std::function<void(uint32_t, const std::string&)>;

    /** The last byte of a message has been passed to the network. */
    using SentHandler = std::function<void()>;

    /** @return the type */
    static TypeId GetTypeId();

    /** @param rank this rank */
    void SetRank(uint32_t rank);

    /** @param handler called for each received message */
    void SetMessageHandler(MessageHandler handler);

    /** @param handler called when a path has failed */
    void SetErrorHandler(ErrorHandler handler);

    /**
     * Sends a message. The first message to a peer opens the connection.
     * @param peer destination rank, not this one
     * @param message what it receives
     */
    virtual void Send(uint32_t peer, Message message) = 0;

  protected:
    void DoDispose() override;

    /**
     * Passes a message to the handler.
     * @param peer the other rank
     * @param tag of the message
     * @param bytes size of the message
     * @param payload its bytes; null if it is virtual
     * @see MessageHandler
     */
    void Deliver(uint32_t peer, uint64_t tag, uint64_t bytes, Ptr<ByteBuffer> payload);
    /**
     * Reports a failure to the handler.
     * @param peer the other rank
     * @param reason why, one line
     * @see ErrorHandler
     */
    void Fail(uint32_t peer, const std::string& reason);

    uint32_t m_rank{0}; ///< this rank

  private:
    MessageHandler m_onMessage;
    ErrorHandler m_onError;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_MESSAGE_TRANSPORT_H
