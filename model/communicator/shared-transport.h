/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SHARED_TRANSPORT_H
#define DISTRIBUTED_TRAINING_SHARED_TRANSPORT_H

#include "ns3/message-transport.h"
#include "ns3/simple-ref-count.h"
#include "ns3/training-busy-unit.h"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * The transport and the adder of one rank, shared by all its communicators. It dispatches each
 * message to the communicator in its MessageTag and translates the source to a rank of that
 * communicator. A message to a communicator that does not exist yet is queued.
 */
class SharedTransport : public SimpleRefCount<SharedTransport>
{
  public:
    /**
     * @param transport of the rank
     * @param onError called with the peer's rank in the transport's group when a path has failed
     */
    SharedTransport(Ptr<MessageTransport> transport, MessageTransport::ErrorHandler onError);
    /** The transport may go on: later messages and failures are dropped. */
    ~SharedTransport();
    SharedTransport(const SharedTransport&) = delete;
    SharedTransport& operator=(const SharedTransport&) = delete;

    /**
     * Adds a communicator.
     * @param number of the communicator, unused at this rank, or of one that has ended
     * @param ranks its members in order, by their ranks in the transport's group; empty: all
     * @param onMessage called for each of its messages
     */
    void Attach(uint32_t number,
                const std::vector<uint32_t>& ranks,
                MessageTransport::MessageHandler onMessage);

    /** @param number of a communicator that ends; later messages to it are dropped */
    void Detach(uint32_t number);

    /**
     * Sends a message.
     * @param number of the communicator
     * @param peer rank in the communicator
     * @param message what it receives
     */
    void Send(uint32_t number, uint32_t peer, Message message) const;

    /**
     * @param number of a communicator
     * @param rank rank in it
     * @return that rank in the transport's group
     */
    uint32_t GetRank(uint32_t number, uint32_t rank) const;

    /**
     * Reserves the rank's adder, which performs one addition at a time.
     * @param duration of the addition
     * @return time from now to the end of the addition
     */
    Time ReserveAdder(Time duration);

    /** @return time of all additions so far */
    Time GetAdderTime() const
    {
        return m_adder.GetBusy();
    }

    /** Drops messages that wait for their communicator, and frees the adder. */
    void Abort();

  private:
    /** An attached communicator. */
    struct Member
    {
        std::vector<uint32_t> ranks;                     // empty: all
        std::unordered_map<uint32_t, uint32_t> position; // index of each rank in `ranks`
        MessageTransport::MessageHandler onMessage;      // null: detached
    };

    void OnMessage(uint32_t peer, const Message& message);

    Ptr<MessageTransport> m_transport;
    std::map<uint32_t, Member> m_members;
    /// Messages that arrived before their communicator was attached, each with its sender.
    std::map<uint32_t, std::vector<std::pair<uint32_t, Message>>> m_early;
    BusyUnit m_adder;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SHARED_TRANSPORT_H
