/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// The part of RdmaQueuePair that acts on losses: NAKs, refusals, and the retransmission timer.

#include "rdma-queue-pair.h"
#include "roce-wire-format.h"

#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/training-event-loop.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRdmaQueuePairRecovery");

namespace
{

/// IRN uses the low timeout with at most this many packets in flight.
constexpr uint64_t FEW_PACKETS = 3;

/// RNR retry limit that means unlimited retries (IB).
constexpr uint32_t ENDLESS = 7;

/**
 * @param code timer field of an RNR NAK, 5 bits
 * @return wait time (IB specification, table "encoding for RNR NAK timer field"), ps
 */
int64_t
GetRnrTime(uint8_t code)
{
    constexpr int64_t UNIT = 10000000; // 10 us
    const uint32_t step = code == 0 ? 32 : code;
    if (step == 1)
    {
        return UNIT;
    }
    return step % 2 == 0 ? UNIT << step / 2 : 3 * UNIT << (step - 3) / 2;
}

} // namespace

void
RdmaQueuePair::OnNak(const Frame& frame, uint64_t psn, int64_t now)
{
    NS_LOG_LOGIC("queue pair " << GetNumber() << " receives a NAK: packet " << psn
                               << " is missing");
    m_counters.receivedNaks++;
    m_port.NotifyLoss();
    const bool isOld = psn < m_window.unackedPsn || psn >= m_window.highestPsn;
    if (isOld && !m_selective)
    {
        return;
    }
    const uint64_t arrived = ExtendPsn(frame.selectivePsn, m_window.unackedPsn);
    const uint64_t gap = frame.selectivePsn / PSN_MODULUS;
    if (m_recovery->OnNak(m_window,
                          {gap > 0 ? arrived - gap : psn, arrived, now, m_roundTrip.Get()}))
    {
        m_congestionControl->OnLoss(now);
    }
    UpdateRecoveryState();
}

void
RdmaQueuePair::OnRnrNak(uint8_t timer, uint64_t psn, int64_t now)
{
    if (psn != m_window.unackedPsn || psn >= m_window.highestPsn || now < m_holdUntil)
    {
        return; // an outdated NAK, or a second one for the same packet
    }
    NS_LOG_LOGIC("queue pair " << GetNumber() << " is refused packet " << psn
                               << ": receiver not ready");
    m_counters.receivedRefusals++;
    const uint32_t limit = m_port.GetSettings().rnrRetryLimit;
    if (limit != ENDLESS && ++m_refusals > limit)
    {
        Fail("receiver not ready, retry limit of " + std::to_string(limit) + " reached");
        return;
    }
    m_holdUntil = now + GetRnrTime(timer);
    m_progress = m_holdUntil; // no ACK can arrive earlier
    m_recovery->OnRnrNak(m_window);
    UpdateRecoveryState();
    Pace();
}

void
RdmaQueuePair::UpdateRecoveryState()
{
    // Retransmitted packets request acknowledgements again.
    m_ackRequestedPsn = std::min(m_ackRequestedPsn, m_window.nextPsn);
    m_resends = m_recovery->HasResend();
    m_recovering = m_recovery->IsRecovering();
}

bool
RdmaQueuePair::CheckTimer(int64_t now, int64_t next)
{
    m_port.CatchUp();
    m_isWatched = !m_failed && IsTimed();
    if (m_isWatched)
    {
        SetTimer(now, next);
    }
    return m_isWatched;
}

void
RdmaQueuePair::PrefetchTimer() const
{
    __builtin_prefetch(&m_window);
    __builtin_prefetch(&m_remote); // and the reference to the port
    __builtin_prefetch(&m_progress, 1);
}

void
RdmaQueuePair::SetTimer(int64_t now, int64_t next)
{
    // Fewer packets in flight may shorten the timeout, down to GetShortestTimeout().
    const int64_t left = m_progress + GetTimeout() - now;
    const int64_t wait = std::min(left, std::max(GetShortestTimeout(), m_progress - now));
    if (now + wait <= next && m_timer.IsExpired())
    {
        m_timer = Simulator::Schedule(TimeStep(std::max<int64_t>(wait, 0)),
                                      &RdmaQueuePair::OnTimer,
                                      this);
    }
}

int64_t
RdmaQueuePair::GetTimeout() const
{
    if (HasShortTimeouts() && m_window.highestPsn - m_window.unackedPsn > FEW_PACKETS)
    {
        return GetDoubled(m_port.GetSettings().timeoutHigh);
    }
    return GetShortestTimeout();
}

bool
RdmaQueuePair::HasShortTimeouts() const
{
    // IRN limits what is in flight, and so the queues. Other queues may grow faster than measured
    // round trips, so without losses only a long silence counts.
    return m_irn || (TakesReordering() && m_port.HasLosses());
}

int64_t
RdmaQueuePair::GetShortestTimeout() const
{
    const RdmaSettings& settings = m_port.GetSettings();
    return GetDoubled(HasShortTimeouts() ? settings.timeoutLow : settings.timeout);
}

int64_t
RdmaQueuePair::GetDoubled(const Time& timeout) const
{
    // Where a slow host or a pause delays acknowledgements, nothing is lost yet (RFC 6298).
    return std::max(timeout.GetTimeStep(), m_roundTrip.GetTimeout())
           << std::min(m_expiries, RdmaSettings::MAX_DOUBLINGS);
}

void
RdmaQueuePair::OnTimer()
{
    m_port.CatchUp();
    if (m_failed || !IsTimed())
    {
        return; // no ACK is outstanding; the next packet that requests one restarts the timer
    }
    const int64_t now = EventLoop::Now();
    if (m_progress + GetTimeout() > now)
    {
        SetTimer(now, m_port.GetTimers().GetNextCheck());
        return;
    }
    NS_LOG_LOGIC("queue pair " << GetNumber() << " times out, packet " << m_window.unackedPsn
                               << " is not acknowledged");
    m_counters.timeouts++;
    m_stalledSince = m_expiries == 0 ? m_progress : m_stalledSince;
    const RdmaSettings& settings = m_port.GetSettings();
    // Short timeouts of random losses soon add up to the limit, so the time counts, too.
    if (++m_expiries > settings.retryLimit &&
        (!TakesReordering() || now - m_stalledSince >= settings.GetRetryTime()))
    {
        Fail("retry limit of " + std::to_string(settings.retryLimit) + " reached");
        return;
    }
    m_congestionControl->OnTimeout(now);
    UpdateRate(now);
    m_recovery->OnTimeout(m_window);
    UpdateRecoveryState();
    m_awaitsResend = m_selective; // go-back-N goes back, and requests acknowledgements again
    m_port.Schedule(*this);
}

void
RdmaQueuePair::Close()
{
    NS_LOG_LOGIC("queue pair " << GetNumber() << " is closed");
    m_closed = true;
    m_failed = true;
    m_resends = false;
    m_doorbellPsn = m_window.nextPsn; // stops sending
    Simulator::Cancel(m_timer);
    m_port.CountReports(-m_requests.Clear());
    m_onCompletion = nullptr;
    m_onError = nullptr;
    m_receiver.Close();
}

void
RdmaQueuePair::Fail(const std::string& reason)
{
    NS_LOG_WARN("queue pair " << GetNumber() << " fails: " << reason);
    m_failed = true;
    m_resends = false;
    m_doorbellPsn = m_window.nextPsn;                      // stops sending
    if (const ErrorHandler onError = std::move(m_onError)) // which may close it
    {
        onError("queue pair " + std::to_string(GetNumber()) + " to endpoint " +
                std::to_string(m_remote.endpoint) + ": " + reason);
    }
}

} // namespace ns3::training
