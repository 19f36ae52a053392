/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PEER_MESSAGES_H
#define DISTRIBUTED_TRAINING_PEER_MESSAGES_H

#include "training-communicator.h"

#include "ns3/ptr.h"
#include "ns3/training-byte-buffer.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * Matches the tensors that a rank sends to single peers with the tensors that it expects from them.
 * The messages to a peer are numbered, so that they match its receives in order; one message to
 * each peer may be apart from this order.
 */
class PeerMessages
{
  public:
    /** Makes the messages of no communicator. */
    PeerMessages() = default;

    /**
     * @param rank this rank, for messages of errors
     * @param communicator number of the communicator, for tags
     */
    PeerMessages(uint32_t rank, uint32_t communicator);

    /**
     * @param peer rank that the next message goes to
     * @return the tag of the message
     */
    uint64_t GetNextSendTag(uint32_t peer);

    /**
     * @param peer rank that the next message is expected from
     * @return the tag of the message
     */
    uint64_t GetNextReceiveTag(uint32_t peer);

    /** @return the tag of the message apart from the order of the others */
    uint64_t GetTagApart() const;

    /**
     * @param tensor to be sent
     * @return a copy of its bytes; null if its payload is virtual
     */
    static Ptr<ByteBuffer> Copy(const Tensor& tensor);

    /**
     * Expects a message, which may have arrived already.
     * @param tensor receives the payload
     * @param peer rank that sends the message
     * @param tag of the message
     * @param done called, by an event of its own, when the tensor is filled in
     */
    void Expect(Ptr<Tensor> tensor, uint32_t peer, uint64_t tag, Communicator::Done done);

    /**
     * Takes a message that has arrived.
     * @param peer rank that sent it
     * @param tag of the message
     * @param bytes its size
     * @param payload its bytes; null if virtual
     */
    void OnMessage(uint32_t peer, uint64_t tag, uint64_t bytes, Ptr<ByteBuffer> payload);

    /** @return one line about the first message that is expected; empty if none is */
    std::string DescribeExpected() const;

    /** Forgets all messages, sent, expected and arrived. */
    void Clear();

    /**
     * Calls a function by an event of its own: completion must not come before the call returns
     * that asked for it.
     * @param done to be called; may be null
     */
    static void CompleteLater(Communicator::Done done);

  private:
    /** A message at its receiver: peer and tag. */
    using Key = std::pair<uint32_t, uint64_t>;

    /** A tensor that a message will fill in. */
    struct Expected
    {
        Ptr<Tensor> tensor;
        Communicator::Done done;
    };

    /** A message that arrived before it was expected. */
    struct Early
    {
        uint64_t bytes;
        Ptr<ByteBuffer> payload;
    };

    void Deliver(const Expected& expected, const Early& message) const;

    uint32_t m_rank{0};
    uint32_t m_communicator{0};
    std::map<uint32_t, uint64_t> m_sent;     // messages in order to each peer
    std::map<uint32_t, uint64_t> m_received; // messages in order expected from each peer, so far
    std::map<Key, Expected> m_expected;
    std::map<Key, Early> m_early;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PEER_MESSAGES_H
