/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_MESSAGE_GRANTS_H
#define DISTRIBUTED_TRAINING_MESSAGE_GRANTS_H

#include "message-tag.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * The rendezvous of a rank with its peers: a message that needs a grant is not sent before its
 * receiver has granted it. A grant is a message without payload, with a tag of its own.
 *
 * A receiver grants a message once, although it may begin the step of the message several times. A
 * grant may arrive before its message is ready to be sent, or after.
 */
class MessageGrants
{
  public:
    /**
     * @param tag of a message
     * @return the tag of its grant
     */
    static uint64_t GetGrantOf(uint64_t tag)
    {
        return tag | GRANT_BIT;
    }

    /**
     * @param grant tag of a grant
     * @return the tag of the granted message
     */
    static uint64_t GetGranted(uint64_t grant)
    {
        return grant & ~GRANT_BIT;
    }

    /**
     * @param tag of a received message
     * @return whether it is a grant
     */
    static bool IsGrant(const MessageTag& tag)
    {
        return tag.step >= MessageTag::GRANT && tag.step < MessageTag::TURN;
    }

    /**
     * Receiver: notes that a message is granted.
     * @param peer its source
     * @param tag of the message
     * @return whether it is new: the grant must be sent
     */
    bool Grant(uint32_t peer, uint64_t tag);

    /**
     * Receiver: forgets a grant, when the receive of its message begins.
     * @param peer source of the message
     * @param tag of the message
     */
    void Forget(uint32_t peer, uint64_t tag);

    /**
     * Sender: uses up the grant of a message.
     * @param peer destination
     * @param tag of the message
     * @param action waits for the grant if it has not arrived
     * @return whether it has arrived
     */
    bool Take(uint32_t peer, uint64_t tag, uint32_t action);

    /**
     * Sender: accepts a received grant.
     * @param peer its source
     * @param tag of the granted message
     * @return the action that waits for it; nothing if the message is not ready
     */
    std::optional<uint32_t> OnGrant(uint32_t peer, uint64_t tag);

    /** Drops all state. */
    void Clear();

  private:
    /// Tells the tag of a grant from that of its message.
    static constexpr uint64_t GRANT_BIT = uint64_t{MessageTag::GRANT} << MessageTag::MESSAGE_BITS;

    /** Peer and tag of a message. */
    using Key = std::pair<uint32_t, uint64_t>;

    std::set<Key> m_sent;              // grants sent, until the receive of their message begins
    std::set<Key> m_received;          // grants received, until they are used
    std::map<Key, uint32_t> m_waiting; // actions that wait for a grant
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_MESSAGE_GRANTS_H
