/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_MESSAGE_TRANSPORT_H
#define DISTRIBUTED_TRAINING_MESSAGE_TRANSPORT_H

#include "ns3/object.h"
#include "ns3/training-message.h"

#include <cstdint>
#include <functional>
#include <string>

namespace ns3::training
{

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
    /** A whole message has arrived. (peer rank, its tag, bytes and contents) */
    using MessageHandler = std::function<void(uint32_t, const Message&)>;

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
     * @param message what has arrived
     * @see MessageHandler
     */
    void Deliver(uint32_t peer, const Message& message);
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
