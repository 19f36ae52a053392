/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_WORK_REQUESTS_H
#define DISTRIBUTED_TRAINING_RDMA_WORK_REQUESTS_H

#include "roce-wire-format.h"
#include "training-message.h"

#include "ns3/fabric-frame.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

namespace ns3::training
{

/**
 * @ingroup distributed-training-rdma
 *
 * The work requests of a send queue, from posting until their last packet is acknowledged, and the
 * packets of one MTU that they consist of. Packets follow each other from request to request.
 */
class RdmaWorkRequests
{
  public:
    /** A posted work request. */
    struct Posted : Message
    {
        uint64_t firstPsn; ///< PSN of its first packet
        uint64_t packets;  ///< number of its packets
    };

    /**
     * Adds a work request behind the others.
     * @param request SEND or WRITE
     * @param firstPsn PSN of its first packet
     * @param mtu payload of a full packet, bytes
     * @return number of its packets
     */
    uint64_t Add(Message request, uint64_t firstPsn, uint32_t mtu);

    /** @return whether there is none */
    bool IsEmpty() const
    {
        return !m_posted || m_posted->empty();
    }

    /** @return number of work requests */
    std::size_t GetCount() const
    {
        return m_posted ? m_posted->size() : 0;
    }

    /** @return the oldest one; IsEmpty() must be false */
    const Posted& GetOldest() const
    {
        return m_posted->front();
    }

    /** @return one past the last packet of the oldest one; IsEmpty() must be false */
    uint64_t GetOldestEnd() const
    {
        return GetOldest().firstPsn + GetOldest().packets;
    }

    /** Forgets the oldest one; IsEmpty() must be false. */
    void RemoveOldest()
    {
        m_posted->pop_front();
    }

    /**
     * Forgets all.
     * @return number of those whose sending has not been reported yet, see Message::sent
     */
    int64_t Clear();

    /**
     * @param psn PSN of a packet
     * @return whether it is known to be inside of the request of the packet filled last, so that it
     *         differs from that one by nothing but its PSN
     */
    bool IsInside(uint64_t psn) const
    {
        return psn > m_first && psn + 1 < m_end;
    }

    /**
     * Fills in a packet whose PSN IsInside().
     * @param frame receives opcode, type of service, payload and size
     * @param mtu payload of a full packet, bytes
     */
    void FillInside(Frame& frame, uint32_t mtu) const
    {
        frame.payloadBytes = mtu;
        frame.opcode = m_middle;
        frame.typeOfService = m_service;
        frame.bytes = GetDataFrameBytes(m_middle, mtu);
    }

    /**
     * Fills in a packet.
     * @param frame receives opcode, type of service, payload and size
     * @param psn its PSN
     * @param mtu payload of a full packet, bytes
     * @return whether it is the last one of its request
     */
    bool Fill(Frame& frame, uint64_t psn, uint32_t mtu);

    /**
     * The last packet of a request has been sent for the first time.
     * @param psn its PSN
     * @return whether that was reported, see Message::sent
     */
    bool NotifySent(uint64_t psn);

    /** @return first packet of the request of the packet filled last */
    uint64_t GetFirst() const
    {
        return m_first;
    }

    /** @return one past its last packet; 0 if each packet must be looked up */
    uint64_t GetEnd() const
    {
        return m_end;
    }

    /** Prefetches what Fill() will look up. */
    void Prefetch() const;

  private:
    Posted& Find(uint64_t psn);

    uint8_t m_middle{0};       // opcode in the middle of the request at m_first
    uint8_t m_service{0};      // its type of service
    bool m_reportsSent{false}; // whether a request has had Message::sent
    uint64_t m_first{0};       // see GetFirst()
    uint64_t m_end{0};         // see GetEnd()
    // The oldest first; null before the first, as many queue pairs only receive.
    std::unique_ptr<std::deque<Posted>> m_posted;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_WORK_REQUESTS_H
