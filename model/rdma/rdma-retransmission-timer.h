/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RDMA_RETRANSMISSION_TIMER_H
#define DISTRIBUTED_TRAINING_RDMA_RETRANSMISSION_TIMER_H

#include "rdma-loss-recovery.h"
#include "rdma-port.h"
#include "rdma-round-trip.h"

#include "ns3/nstime.h"

#include <algorithm>
#include <cstdint>

namespace ns3::training
{

class StateVisitor;

/**
 * @ingroup distributed-training-rdma
 *
 * When a queue pair takes its oldest packet for lost. The timer runs while a requested
 * acknowledgement is outstanding, from the request or the last progress on; its owner schedules
 * the events.
 */
class RdmaRetransmissionTimer
{
  public:
    /**
     * @param port of the NIC
     * @param recovery of the queue pair
     */
    RdmaRetransmissionTimer(RdmaPort& port, const RdmaLossRecovery& recovery);

    /**
     * @param window of the sender
     * @return whether an acknowledgement is outstanding
     */
    bool IsRunning(const RdmaLossRecovery::Window& window) const
    {
        return m_requestedPsn > window.unackedPsn && !m_awaitsResend;
    }

    /**
     * A packet that requests an acknowledgement is sent.
     * @param psn PSN of the packet
     */
    void Request(uint64_t psn)
    {
        m_awaitsResend = false;
        m_requestedPsn = std::max(m_requestedPsn, psn + 1);
    }

    /**
     * What is sent again requests acknowledgements again.
     * @param psn PSN of the next packet
     */
    void Return(uint64_t psn)
    {
        m_requestedPsn = std::min(m_requestedPsn, psn);
    }

    /** @param time from which on it runs, ps */
    void Start(int64_t time)
    {
        m_progress = time;
    }

    /**
     * More packets are acknowledged.
     * @param now simulated time, ps
     * @return whether it has expired since the last progress, so that its timeout is shorter now
     */
    bool OnProgress(int64_t now);

    /**
     * It has expired.
     * @param now simulated time, ps
     * @return whether too often without progress
     */
    bool OnExpiry(int64_t now);

    /** The timer stands until what the expiry resends has been sent. */
    void AwaitResend()
    {
        m_awaitsResend = true;
    }

    /**
     * @param sentAt when a packet was sent that is acknowledged now, ps
     * @param now simulated time, ps
     */
    void Measure(int64_t sentAt, int64_t now);

    /**
     * @param sentAt when a packet was sent that is acknowledged now, ps
     * @return whether that was after the expiry that resent it
     */
    bool IsAnswer(int64_t sentAt) const
    {
        return m_expiries > 0 && sentAt >= m_progress;
    }

    /** @return the measured round trip, ps; 0: none was measured */
    int64_t GetRoundTrip() const
    {
        return m_roundTrip.Get();
    }

    /**
     * @param window of the sender
     * @return time at which it expires, ps
     */
    int64_t GetDeadline(const RdmaLossRecovery::Window& window) const
    {
        return m_progress + GetTimeout(window);
    }

    /**
     * @param window of the sender
     * @param now simulated time, ps
     * @return time until it must be looked at again, ps: fewer packets in flight may shorten the
     *         timeout
     */
    int64_t GetWait(const RdmaLossRecovery::Window& window, int64_t now) const;

    /**
     * Visits its state.
     * @param visitor visits it
     * @param window of the sender
     */
    void Visit(StateVisitor& visitor, const RdmaLossRecovery::Window& window);

  private:
    bool HasShortTimeouts() const;
    int64_t GetTimeout(const RdmaLossRecovery::Window& window) const;
    int64_t GetShortestTimeout() const;
    int64_t GetDoubled(const Time& timeout) const;

    uint64_t m_requestedPsn;    // one past the last packet sent that requests an acknowledgement
    int64_t m_progress{0};      // start of the timer or arrival of the last acknowledgement, ps
    uint32_t m_expiries{0};     // without progress since
    bool m_awaitsResend{false}; // see AwaitResend()
    const bool m_isSelective;   // loss recovery keeps packets ahead of a gap
    const bool m_isIrn;         // IRN's timeouts apply
    int64_t m_stalledSince{0};  // start of the first timer that has expired without progress, ps
    RdmaPort& m_port;
    RdmaRoundTrip m_roundTrip;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RDMA_RETRANSMISSION_TIMER_H
