/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_UEC_MESSAGES_H
#define DISTRIBUTED_TRAINING_UEC_MESSAGES_H

#include "training-message.h"

#include <algorithm>
#include <cstdint>
#include <deque>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * The messages of a sender of Ultra Ethernet, from posting until all their packets are
 * acknowledged. Packets follow each other from message to message.
 */
class UecMessages
{
  public:
    /** A posted message. */
    struct Posted : Message
    {
        uint64_t firstPsn; ///< of its packets
        uint64_t packets;  ///< number of its packets
    };

    /**
     * Adds a message behind the others.
     * @param message the message
     * @param packets number of its packets
     */
    void Add(Message message, uint64_t packets)
    {
        m_messages.push_back({std::move(message), m_postedPsn, packets});
        m_postedPsn += packets;
    }

    /** @return the message of the next new packet; there must be one */
    const Posted& GetCurrent() const
    {
        return m_messages[m_current - m_first];
    }

    /** @return number of the message of the next new packet */
    uint64_t GetCurrentNumber() const
    {
        return m_current;
    }

    /** The next new packet is of the next message. */
    void TakeNext()
    {
        m_current++;
    }

    /**
     * @param psn of a packet that is not acknowledged
     * @param number receives the number of its message
     * @return its message
     */
    const Posted& Find(uint64_t psn, uint64_t& number) const
    {
        const auto behind = std::upper_bound(
            m_messages.begin(),
            m_messages.end(),
            psn,
            [](uint64_t wanted, const Posted& message) { return wanted < message.firstPsn; });
        const auto index = static_cast<uint64_t>(behind - m_messages.begin()) - 1;
        number = m_first + index;
        return m_messages[index];
    }

    /**
     * Forgets the oldest message if it is complete.
     * @param unackedPsn first packet that is not acknowledged
     * @return whether it was
     */
    bool Complete(uint64_t unackedPsn)
    {
        if (m_messages.empty() ||
            m_messages.front().firstPsn + m_messages.front().packets > unackedPsn)
        {
            return false;
        }
        m_messages.pop_front();
        m_first++;
        return true;
    }

  private:
    uint64_t m_postedPsn{0}; // one past the last packet
    uint64_t m_first{0};     // number of the first message in m_messages
    uint64_t m_current{0};   // see GetCurrentNumber()
    std::deque<Posted> m_messages;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_UEC_MESSAGES_H
