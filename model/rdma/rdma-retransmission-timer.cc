/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-retransmission-timer.h"

#include "ns3/state-visitor.h"

namespace ns3::training
{

namespace
{

/// Part of the timeout above which a round trip is measured.
constexpr int64_t TIMEOUT_PARTS = 8;

/// IRN uses the low timeout with at most this many packets in flight.
constexpr uint64_t FEW_LATE_PACKETS = 3;

} // namespace

RdmaRetransmissionTimer::RdmaRetransmissionTimer(RdmaPort& port, const RdmaLossRecovery& recovery)
    : m_requestedPsn(port.GetSettings().firstPsn),
      m_isSelective(recovery.IsSelective()),
      m_isIrn(recovery.IsIrn()),
      m_port(port)
{
}

bool
RdmaRetransmissionTimer::OnProgress(int64_t now)
{
    m_progress = now;
    const bool hasExpired = m_expiries > 0;
    m_expiries = 0;
    m_awaitsResend = m_awaitsResend && !hasExpired;
    return hasExpired;
}

bool
RdmaRetransmissionTimer::OnExpiry(int64_t now)
{
    m_stalledSince = m_expiries == 0 ? m_progress : m_stalledSince;
    m_expiries++;
    const RdmaSettings& settings = m_port.GetSettings();
    // Short timeouts of random losses soon add up to the limit, so the time counts, too.
    const bool isShort = m_isSelective && !m_isIrn;
    return m_expiries > settings.retryLimit &&
           (!isShort || now - m_stalledSince >= settings.GetRetryTime());
}

void
RdmaRetransmissionTimer::Measure(int64_t sentAt, int64_t now)
{
    // Only a round trip near the timeout matters without selective repeat.
    if (m_isSelective ||
        (now - sentAt) * TIMEOUT_PARTS > m_port.GetSettings().timeout.GetTimeStep())
    {
        m_roundTrip.Add(now - sentAt);
    }
}

int64_t
RdmaRetransmissionTimer::GetWait(const RdmaLossRecovery::Window& window, int64_t now) const
{
    return std::min(GetDeadline(window) - now, std::max(GetShortestTimeout(), m_progress - now));
}

bool
RdmaRetransmissionTimer::HasShortTimeouts() const
{
    // IRN limits what is in flight, and so the queues. Other queues may grow faster than measured
    // round trips, so without losses only a long silence counts.
    return m_isIrn || (m_isSelective && m_port.HasLosses());
}

int64_t
RdmaRetransmissionTimer::GetTimeout(const RdmaLossRecovery::Window& window) const
{
    if (HasShortTimeouts() && window.highestPsn - window.unackedPsn > FEW_LATE_PACKETS)
    {
        return GetDoubled(m_port.GetSettings().timeoutHigh);
    }
    return GetShortestTimeout();
}

int64_t
RdmaRetransmissionTimer::GetShortestTimeout() const
{
    const RdmaSettings& settings = m_port.GetSettings();
    return GetDoubled(HasShortTimeouts() ? settings.timeoutLow : settings.timeout);
}

int64_t
RdmaRetransmissionTimer::GetDoubled(const Time& timeout) const
{
    // Where a slow host or a pause delays acknowledgements, nothing is lost yet (RFC 6298).
    return std::max(timeout.GetTimeStep(), m_roundTrip.GetTimeout())
           << std::min(m_expiries, RdmaSettings::MAX_DOUBLINGS);
}

void
RdmaRetransmissionTimer::Visit(StateVisitor& visitor, const RdmaLossRecovery::Window& window)
{
    static_assert(StateVisitor::IsSize(sizeof(RdmaRetransmissionTimer), 56),
                  "a new member: visit it unless it stays, then correct the size");
    visitor.Time(m_progress,
                 IsRunning(window) ? static_cast<uint64_t>(GetTimeout(window))
                                   : StateVisitor::NONE);
    visitor.Same({window.nextPsn - m_requestedPsn,
                  m_expiries,
                  static_cast<uint64_t>(m_roundTrip.Get()),
                  static_cast<uint64_t>(m_roundTrip.GetVariation())});
    visitor.Count(m_requestedPsn);
}

} // namespace ns3::training
