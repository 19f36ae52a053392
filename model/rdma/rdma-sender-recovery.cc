/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// The part of RdmaSender that acts on losses: NAKs, refusals, and the retransmission timer.

#include "rdma-sender.h"
#include "roce-wire-format.h"

#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/training-event-loop.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRdmaSenderRecovery");

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
RdmaSender::OnNak(const Frame& frame, uint64_t psn, int64_t now)
{
    NS_LOG_LOGIC("queue pair " << GetNumber() << " receives a NAK: packet " << psn
                               << " is missing");
    m_counters.receivedNaks++;
    m_port.NotifyLoss();
    const bool isOld = psn < m_window.unackedPsn || psn >= m_window.highestPsn;
    if (isOld && !m_isSelective)
    {
        return;
    }
    const uint64_t arrived = ExtendPsn(frame.selectivePsn, m_window.unackedPsn);
    const uint64_t gap = frame.selectivePsn / PSN_MODULUS;
    const bool isNew =
        m_recovery.OnNak(m_window,
                         {gap > 0 ? arrived - gap : psn, arrived, now, m_timer.GetRoundTrip()});
    if (isNew && !m_port.GetSettings().IsLossless())
    {
        m_congestionControl.OnLoss(now);
    }
    UpdateRecoveryState();
}

void
RdmaSender::OnRnrNak(uint8_t timer, uint64_t psn, int64_t now)
{
    if (psn != m_window.unackedPsn || psn >= m_window.highestPsn || now < m_pacing.GetHoldTime())
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
    m_pacing.Hold(now + GetRnrTime(timer));
    m_timer.Start(m_pacing.GetHoldTime()); // no ACK can arrive earlier
    m_recovery.OnRnrNak(m_window);
    UpdateRecoveryState();
    m_nextSendTime = m_pacing.GetNextTime();
}

void
RdmaSender::UpdateRecoveryState()
{
    UpdateResends();
    m_recovering = m_recovery.IsRecovering();
}

bool
RdmaSender::CheckTimer(int64_t now, int64_t next)
{
    m_port.CatchUp();
    m_isWatched = !m_failed && m_timer.IsRunning(m_window);
    if (m_isWatched)
    {
        SetTimer(now, next);
    }
    return m_isWatched;
}

void
RdmaSender::PrefetchTimer() const
{
    __builtin_prefetch(&m_window);
    __builtin_prefetch(&m_port);
    __builtin_prefetch(&m_timer, 1);
    __builtin_prefetch(&m_oldestEnd, 1);
}

void
RdmaSender::SetTimer(int64_t now, int64_t next)
{
    const int64_t wait = m_timer.GetWait(m_window, now);
    if (now + wait <= next && m_expiry.IsExpired())
    {
        m_expiry =
            Simulator::Schedule(TimeStep(std::max<int64_t>(wait, 0)), &RdmaSender::OnTimer, this);
    }
}

void
RdmaSender::OnTimer()
{
    m_port.CatchUp();
    if (m_failed || !m_timer.IsRunning(m_window))
    {
        return; // no ACK is outstanding; the next packet that requests one restarts the timer
    }
    const int64_t now = EventLoop::Now();
    if (m_timer.GetDeadline(m_window) > now)
    {
        SetTimer(now, m_port.GetTimers().GetNextCheck());
        return;
    }
    NS_LOG_LOGIC("queue pair " << GetNumber() << " times out, packet " << m_window.unackedPsn
                               << " is not acknowledged");
    m_counters.timeouts++;
    if (m_timer.OnExpiry(now))
    {
        Fail("retry limit of " + std::to_string(m_port.GetSettings().retryLimit) + " reached");
        return;
    }
    if (!m_port.GetSettings().IsLossless())
    {
        m_congestionControl.OnTimeout(now);
        UpdateRate(now);
    }
    m_recovery.OnTimeout(m_window);
    UpdateRecoveryState();
    if (m_isSelective) // go-back-N goes back, and requests acknowledgements again
    {
        m_timer.AwaitResend();
    }
    m_port.Schedule(*this);
}

void
RdmaSender::Close()
{
    m_failed = true;
    Stop();
    Simulator::Cancel(m_expiry);
    m_port.CountReports(-m_requests.Clear());
    m_onCompletion = nullptr;
    m_onError = nullptr;
}

void
RdmaSender::Fail(const std::string& reason)
{
    NS_LOG_WARN("queue pair " << GetNumber() << " fails: " << reason);
    m_failed = true;
    Stop();
    if (const ErrorHandler onError = std::move(m_onError)) // which may close it
    {
        onError("queue pair " + std::to_string(GetNumber()) + " to endpoint " +
                std::to_string(GetRemote().endpoint) + ": " + reason);
    }
}

} // namespace ns3::training
