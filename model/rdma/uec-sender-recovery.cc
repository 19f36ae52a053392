/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// The part of UecSender that acts on losses: NACKs and timeouts.

#include "uec-sender.h"

#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/training-event-loop.h"

#include <algorithm>
#include <limits>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingUecSenderRecovery");

namespace
{

/// Limit of timeout doublings. Queues that are trimmed are short.
constexpr uint32_t MAX_BACKOFF = 2;

} // namespace

void
UecSender::ReceiveNack(const Frame& frame)
{
    const auto& header = frame.As<UecHeader>();
    const uint64_t psn = ExtendCounter(header.psn, UEC_PSN_BITS, m_sent.GetUnacked());
    if (m_failed)
    {
        return;
    }
    m_counters.receivedNaks++;
    const int64_t now = EventLoop::Now();
    m_credit.StopSpeculating();
    // A NACK that comes late is of an earlier transmission.
    const UecSentPackets::Packet& packet = m_sent.At(psn);
    if (m_sent.Has(psn) && packet.state == UecSentPackets::Packet::State::IN_FLIGHT &&
        packet.entropy == header.entropy)
    {
        NS_LOG_LOGIC("connection " << GetNumber() << ": packet " << psn << " was trimmed");
        UecCongestionControl::Feedback feedback{};
        feedback.now = now;
        feedback.roundTrip = now - packet.sentAt;
        feedback.bytes = packet.bytes;
        feedback.isShort = IsShort(packet);
        feedback.inFlight = GetInFlight();
        feedback.isMarked = header.flags & UEC_MARKED;
        feedback.isLastHop = header.flags & UEC_LAST_HOP;
        m_congestionControl.OnNack(feedback);
        m_window = m_congestionControl.GetWindow();
        m_credit.Spend(packet.saved); // the receiver grants credit for a packet without code
        m_sent.MarkLost(psn);
        GetPaths(header.entropy)
            .Report(header.entropy,
                    !feedback.isLastHop ? UecPaths::Outcome::TRIMMED
                    : feedback.isMarked ? UecPaths::Outcome::MARKED
                                        : UecPaths::Outcome::GOOD);
        OnProgress(now); // the network delivers headers
    }
    ScheduleSend();
}

void
UecSender::OnProgress(int64_t now)
{
    if (m_backoff > 0)
    {
        m_backoff = 0;
        Simulator::Cancel(m_timer); // its timeout was doubled
        SetTimer(now, m_port.GetTimers().GetNextCheck());
    }
}

int64_t
UecSender::GetTimeout() const
{
    return std::max(m_port.GetSettings().timeout.GetTimeStep(), m_roundTrip.GetTimeout())
           << std::min(m_backoff, MAX_BACKOFF);
}

void
UecSender::FindLosses(int64_t sentAt, int64_t now)
{
    // SLEEK, the loss recovery of the reference: 1.5 windows arrive behind a lost packet. A window
    // takes a round trip. Paths differ in their queues, as the deviation of round trips shows.
    const int64_t base = m_port.GetSettings().baseRoundTrip.GetTimeStep();
    const int64_t sentBefore = sentAt - std::max(base * 3 / 2, m_roundTrip.GetTimeout());
    bool isFound = false;
    for (auto* oldest = m_sent.FindOldest(); oldest && oldest->time < sentBefore;
         oldest = m_sent.FindOldest())
    {
        NS_LOG_LOGIC("connection " << GetNumber() << ": packet " << oldest->psn << " is lost");
        isFound = true;
        const uint32_t bytes = m_sent.At(oldest->psn).bytes;
        OnLoss(oldest->psn);                     // so it is in flight no longer
        if (!m_port.GetUecSettings().isTrimming) // otherwise a full queue would have trimmed it
        {
            m_congestionControl.OnTimeout(bytes);
        }
    }
    if (isFound && NeedsCreditNow())
    {
        RequestCredit(now);
    }
}

void
UecSender::OnLoss(uint64_t psn)
{
    const uint16_t entropy = m_sent.At(psn).entropy;
    GetPaths(entropy).Report(entropy, UecPaths::Outcome::LOST);
    m_sent.MarkLost(psn);
    WatchPaths();
}

int64_t
UecSender::GetDeadline()
{
    const auto* oldest = m_sent.FindOldest();
    const bool waits = NeedsCreditNow();
    if (!oldest && !waits)
    {
        return std::numeric_limits<int64_t>::max();
    }
    int64_t start = waits ? m_credit.GetEvent() : std::numeric_limits<int64_t>::max();
    if (oldest)
    {
        start = std::min(start, oldest->time);
    }
    return start + GetTimeout();
}

bool
UecSender::CheckTimer(int64_t now, int64_t next)
{
    m_isWatched = !m_failed && GetDeadline() < std::numeric_limits<int64_t>::max();
    if (m_isWatched)
    {
        SetTimer(now, next);
    }
    return m_isWatched;
}

void
UecSender::SetTimer(int64_t now, int64_t next)
{
    const int64_t deadline = GetDeadline();
    if (deadline <= next && m_timer.IsExpired())
    {
        m_timer = Simulator::Schedule(TimeStep(std::max<int64_t>(deadline - now, 0)),
                                      &UecSender::OnTimer,
                                      this);
    }
}

void
UecSender::OnTimer()
{
    if (m_failed)
    {
        return;
    }
    const int64_t now = EventLoop::Now();
    const int64_t sentBefore = now - GetTimeout();
    bool raises = false;
    for (auto* oldest = m_sent.FindOldest(); oldest && oldest->time <= sentBefore;
         oldest = m_sent.FindOldest())
    {
        raises = raises || m_backoff == 0 || oldest->time >= m_backoffTime;
        OnExpiry(oldest->psn); // so it is in flight no longer
    }
    if (NeedsCreditNow() && m_credit.GetEvent() <= sentBefore)
    {
        raises = raises || m_backoff == 0 || m_credit.GetEvent() >= m_backoffTime;
        RequestCredit(now);
    }
    if (raises)
    {
        m_stalledSince = m_backoff == 0 ? sentBefore : m_stalledSince;
        m_backoff++;
        m_backoffTime = now;
    }
    const uint32_t limit = m_port.GetSettings().retryLimit;
    if (m_backoff > limit && now - m_stalledSince >= m_port.GetSettings().GetRetryTime())
    {
        Fail("retry limit of " + std::to_string(limit) + " reached");
        return;
    }
    if (GetDeadline() < std::numeric_limits<int64_t>::max())
    {
        Watch();
        SetTimer(now, m_port.GetTimers().GetNextCheck());
    }
    ScheduleSend();
}

void
UecSender::OnExpiry(uint64_t psn)
{
    NS_LOG_LOGIC("connection " << GetNumber() << " times out, packet " << psn
                               << " is not acknowledged");
    m_counters.timeouts++;
    m_credit.StopSpeculating();
    OnLoss(psn);
    m_congestionControl.OnTimeout(m_sent.At(psn).bytes);
    m_window = m_congestionControl.GetWindow();
}

void
UecSender::Close()
{
    m_failed = true;
    Simulator::Cancel(m_timer);
    Simulator::Cancel(m_probeTimer);
    m_onError = nullptr;
}

void
UecSender::Fail(const std::string& reason)
{
    NS_LOG_WARN("connection " << GetNumber() << " fails: " << reason);
    m_failed = true;
    if (m_onError)
    {
        m_onError("connection " + std::to_string(GetNumber()) + " to endpoint " +
                  std::to_string(m_remote.endpoint) + ": " + reason);
    }
}

} // namespace ns3::training
