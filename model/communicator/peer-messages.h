/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PEER_MESSAGES_H
#define DISTRIBUTED_TRAINING_PEER_MESSAGES_H

#include "communicator-endpoint.h"
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
 * Matches point-to-point messages of a rank with its receives. Messages to each peer are numbered,
 * so they match the peer's receives in order. One message per peer may be unordered.
 */
class PeerMessages
{
  public:
    /** Creates an object that serves no communicator. */
    PeerMessages() = default;

    /**
     * @param rank this rank, for error messages
     * @param communicator number of the communicator, for tags
     */
    PeerMessages(uint32_t rank, uint32_t communicator);

    /**
     * @param peer destination of the next message
     * @param channel of the message, see Tensor
     * @return the tag of the message
     */
    uint64_t GetNextSendTag(uint32_t peer, uint32_t channel);

    /**
     * @param peer source of the next message
     * @param channel of the message, see Tensor
     * @return the tag of the message
     */
    uint64_t GetNextReceiveTag(uint32_t peer, uint32_t channel);

    /** @return the tag of an unordered message */
    uint64_t GetUnorderedTag() const;

    /**
     * @param tensor to be sent
     * @return a copy of its bytes; null if its payload is virtual
     */
    static Ptr<ByteBuffer> Copy(const Tensor& tensor);

    /**
     * Sends a message.
     * @param endpoint of the communicator
     * @param tensor to be sent
     * @param peer destination
     * @param tag of the message
     * @param done see Communicator::Send()
     */
    static void Send(const CommunicatorEndpoint& endpoint,
                     const Tensor& tensor,
                     uint32_t peer,
                     uint64_t tag,
                     Communicator::Done done);

    /**
     * Expects a message, which may have arrived already.
     * @param tensor receives the payload
     * @param peer source rank
     * @param tag of the message
     * @param done called from a separate event when the tensor is filled in
     */
    void Expect(Ptr<Tensor> tensor, uint32_t peer, uint64_t tag, Communicator::Done done);

    /**
     * Accepts a received message.
     * @param peer source rank
     * @param tag of the message
     * @param bytes its size
     * @param payload its bytes; null if virtual
     */
    void OnMessage(uint32_t peer, uint64_t tag, uint64_t bytes, Ptr<ByteBuffer> payload);

    /** @return one line about the first expected message; empty if there is none */
    std::string DescribeExpected() const;

    /** Drops all state: sent, expected and arrived messages. */
    void Clear();

    /**
     * Calls a function from a separate event, so that completion never precedes the return of the
     * call that requested it.
     * @param done the function; may be null
     */
    static void CompleteLater(Communicator::Done done);

  private:
    /** A received message's source and tag. */
    using Key = std::pair<uint32_t, uint64_t>;

    /** A tensor that waits for a message. */
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
    uint64_t GetTag(uint32_t channel, uint64_t number) const;

    /// Ordered messages sent, and expected so far, by peer and channel.
    std::map<std::pair<uint32_t, uint32_t>, uint64_t> m_sent;
    std::map<std::pair<uint32_t, uint32_t>, uint64_t> m_received;
    std::map<Key, Expected> m_expected;
    std::map<Key, Early> m_early;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PEER_MESSAGES_H
