/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_LINK_CREDITS_H
#define DISTRIBUTED_TRAINING_LINK_CREDITS_H

#include "fabric-traffic-class.h"

#include <array>
#include <cstdint>

namespace ns3::training
{

class StateVisitor;

/**
 * @ingroup distributed-training-fabric
 *
 * The credits of one port, for both directions of its link and each class.
 *
 * As in InfiniBand (specification, volume 1, 7.9.4), the receiver grants up to what it has received
 * so far plus its free space. A frame spends its bytes when its transmission begins. A class may
 * begin a frame as long as any credit is left, because the size of the next frame need not be known
 * in advance; so the receiver has space for one more frame than it grants.
 */
class LinkCredits
{
  public:
    /**
     * Limits what the port sends.
     * @param classes bit p: class p needs credits
     * @param bytes space of the receiver for each class
     */
    void SetSending(uint8_t classes, uint64_t bytes);

    /**
     * Limits what the port receives.
     * @param classes bit p: class p needs credits
     * @param bytes space for each class
     */
    void SetReceiving(uint8_t classes, uint64_t bytes);

    /** @return bit p: frames of class p need credits to be sent */
    uint8_t GetSendingClasses() const
    {
        return m_sendingClasses;
    }

    /** @return bit p: the peer needs credits to send frames of class p */
    uint8_t GetReceivingClasses() const
    {
        return m_receivingClasses;
    }

    /**
     * @param priority class
     * @return bytes that may still be sent; at most 0: none
     */
    int64_t GetBalance(uint8_t priority) const
    {
        return m_balance[priority];
    }

    /**
     * A frame is sent, or its credits come back.
     * @param priority its class
     * @param bytes negative: spent
     * @return whether the class may begin another frame
     */
    bool Add(uint8_t priority, int64_t bytes)
    {
        m_balance[priority] += bytes;
        return m_balance[priority] > 0;
    }

    /**
     * A frame has come to the end of the link.
     * @param priority its class
     * @param bytes its size
     */
    void NoteReceived(uint8_t priority, uint64_t bytes)
    {
        m_received[priority] += bytes;
    }

    /**
     * @param priority class
     * @param held bytes of the class that are stored
     * @return bytes to grant to the peer now
     */
    uint64_t Grant(uint8_t priority, uint64_t held);

    /** @param visitor visits the balances, and what has come and was granted since the start */
    void Visit(StateVisitor& visitor);

  private:
    uint8_t m_sendingClasses{0};
    uint8_t m_receivingClasses{0};
    std::array<int64_t, PRIORITIES> m_balance{};
    uint64_t m_space{0};
    std::array<uint64_t, PRIORITIES> m_received{};
    std::array<uint64_t, PRIORITIES> m_granted{}; // since the start
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_LINK_CREDITS_H
