/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_PACING_H
#define DISTRIBUTED_TRAINING_RDMA_PACING_H

#include <algorithm>
#include <cstdint>

namespace ns3::training
{

class StateVisitor;

/**
 * @ingroup distributed-training-rdma
 *
 * When a rate permits the next packet, as a token bucket; and how many bytes may be sent until the
 * congestion control must be asked for the rate again.
 */
class RdmaPacing
{
  public:
    /** @param rate bit/s */
    explicit RdmaPacing(double rate)
        : m_picosecondsPerByte(8e12 / rate)
    {
    }

    /**
     * @param rate bit/s; applies to the packet sent last already
     * @return whether it differs from the last one
     */
    bool SetRate(double rate)
    {
        const double before = m_picosecondsPerByte;
        m_picosecondsPerByte = 8e12 / rate;
        return m_picosecondsPerByte != before;
    }

    /** @return earliest time of the next packet, ps */
    int64_t GetNextTime() const
    {
        return std::max(m_start + GetPaceTime(), m_holdUntil);
    }

    /**
     * A packet is sent.
     * @param bytes its size on the line
     * @return whether the quota is used up
     */
    bool Send(uint32_t bytes)
    {
        m_lastBytes = bytes;
        m_quota -= bytes;
        return m_quota <= 0;
    }

    /**
     * Charges the packet sent last. Time lost to other queue pairs is made up for, as by a token
     * bucket.
     * @param due time at which it could have been sent, ps
     * @param now time at which it was sent, ps
     * @param burst unused sending time that is kept, in packets
     */
    void Charge(int64_t due, int64_t now, uint32_t burst)
    {
        m_start = std::max(due, now - burst * GetPaceTime());
    }

    /**
     * The packet sent last has become smaller.
     * @param saved bytes; negative: larger
     * @param now simulated time, ps
     * @param burst as for Charge()
     */
    void Shorten(int64_t saved, int64_t now, uint32_t burst)
    {
        m_lastBytes -= static_cast<uint32_t>(saved);
        m_quota += saved;
        Charge(m_start, now, burst);
    }

    /** @param time before which nothing is sent, ps */
    void Hold(int64_t time)
    {
        m_holdUntil = time;
    }

    /** @return see Hold() */
    int64_t GetHoldTime() const
    {
        return m_holdUntil;
    }

    /** @return bytes sent since the last Grant(); negative after Shorten() of what it counted */
    int64_t GetSent() const
    {
        return m_grant - m_quota;
    }

    /**
     * Begins a new quota.
     * @param bytes that may be sent before the rate must be known again
     * @param unsent bytes that the last quota counted and that were not sent
     */
    void Grant(int64_t bytes, int64_t unsent)
    {
        m_grant = bytes;
        m_quota = bytes + unsent;
    }

    /** @return whether the quota has no end */
    bool IsEndless() const;

    /**
     * Visits its state.
     * @param visitor visits it
     */
    void Visit(StateVisitor& visitor);

  private:
    int64_t GetPaceTime() const
    {
        return static_cast<int64_t>(m_lastBytes * m_picosecondsPerByte);
    }

    double m_picosecondsPerByte;
    int64_t m_start{0};      // of the time that is charged to the last packet, ps
    int64_t m_quota{0};      // bytes until the congestion control must be asked again
    int64_t m_grant{0};      // of the last quota, bytes
    int64_t m_holdUntil{0};  // see Hold()
    uint32_t m_lastBytes{0}; // size of the last packet on the line
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_PACING_H
