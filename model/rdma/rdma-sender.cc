/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-sender.h"

#include "roce-wire-format.h"

#include "ns3/assert.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/state-visitor.h"
#include "ns3/steady-watch.h"
#include "ns3/training-event-loop.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRdmaSender");

namespace
{

/// Number of packets left above which a steady state saves more than it takes to find.
constexpr uint64_t MANY_PACKETS = 128;

} // namespace

void
RdmaSender::SetCompletionHandler(CompletionHandler handler)
{
    m_onCompletion = std::move(handler);
}

void
RdmaSender::SetErrorHandler(ErrorHandler handler)
{
    m_onError = std::move(handler);
}

bool
RdmaSender::IsQuiet(const Frame& ack) const
{
    return !m_reportsPeriods &&
           (ExtendPsn(ack.psn, m_window.unackedPsn) + 1 < m_oldestEnd || m_requests.IsEmpty());
}

void
RdmaSender::AddTo(QueuePairCounters& counters) const
{
    counters.sentPackets =
        m_window.highestPsn - m_port.GetSettings().firstPsn + m_counters.retransmittedPackets;
    counters.receivedAcks = m_receivedAcks;
}

uint64_t
RdmaSender::Post(Message request)
{
    m_port.CatchUp();
    NS_ASSERT(request.bytes <= MAX_REQUEST);
    const uint64_t number = m_counters.postedMessages;
    if (m_failed)
    {
        return number;
    }
    m_counters.postedMessages++;
    m_port.CountReports(request.sent ? 1 : 0);
    const uint64_t packets =
        m_requests.Add(std::move(request), m_postedPsn, m_port.GetSettings().mtu);
    m_postedPsn += packets;
    m_oldestEnd = m_requests.GetOldestEnd();
    const Time latency = m_port.GetSettings().GetPostLatency();
    if (latency.IsZero())
    {
        OnDoorbell(packets);
    }
    else
    {
        Simulator::Schedule(latency, &RdmaSender::OnDoorbell, this, packets);
    }
    return number;
}

void
RdmaSender::OnDoorbell(uint64_t packets)
{
    m_port.CatchUp(); // the message may have been posted in the context of another node
    if (!m_failed)
    {
        m_doorbellPsn += packets;
        m_port.CountStart();
        UpdateWindow();
        m_port.Schedule(*this);
        SteadyWatch* watch = packets > MANY_PACKETS ? m_port.GetSteadyWatch() : nullptr;
        if (watch)
        {
            watch->OnLongMessage(m_port, GetNumber());
        }
    }
}

void
RdmaSender::ReceiveCnp()
{
    const int64_t now = EventLoop::Now();
    NS_LOG_LOGIC("queue pair " << GetNumber() << " receives a CNP");
    m_counters.receivedCnps++;
    m_congestionControl.OnCnp(now);
    UpdateRate(now);
    m_port.Schedule(*this);
}

void
RdmaSender::ReceiveAck(const Frame& frame)
{
    if (m_failed)
    {
        return;
    }
    const int64_t now = EventLoop::Now();
    const bool positive = frame.syndrome == SYNDROME_ACK;
    const bool isNak = frame.syndrome == SYNDROME_NAK_SEQUENCE;
    const uint64_t psn = ExtendPsn(frame.psn, m_window.unackedPsn);
    // A NAK names the missing packet, so it acknowledges all packets before it.
    const uint64_t acknowledged = positive ? psn + 1 : psn;
    m_timer.Measure(frame.timestamp, now);
    if (m_timer.IsAnswer(frame.timestamp))
    {
        m_port.NotifyLoss(); // it answers what was sent again, not an earlier packet that was late
    }
    std::vector<uint64_t> completed;
    if (m_takesReordering && acknowledged >= m_window.unackedPsn)
    {
        // What has arrived is in flight no longer, so a gap does not close the window.
        const uint64_t passed = acknowledged - m_window.unackedPsn;
        const uint64_t ahead = m_windowLimit.GetAhead();
        if (m_windowLimit.SetAhead(positive ? frame.selectivePsn : ahead - std::min(ahead, passed)))
        {
            UpdateWindow();
        }
    }
    if (acknowledged > m_window.unackedPsn && acknowledged <= m_window.highestPsn)
    {
        completed = Acknowledge(acknowledged, now);
    }
    if (m_needs.acks && (positive || (isNak && m_isSelective))) // a packet has arrived
    {
        RdmaCongestionControl::Ack ack;
        ack.now = now;
        ack.roundTrip = now - frame.timestamp;
        ack.bytes = m_ackedBytes;
        ack.firstUnackedPsn = m_window.unackedPsn;
        ack.nextPsn = m_window.nextPsn;
        ack.ecnEcho = frame.ecnEcho;
        ack.telemetry = frame.GetTelemetry();
        m_ackedBytes = 0;
        m_congestionControl.OnAck(ack);
    }
    if (positive)
    {
        m_receivedAcks++;
    }
    else if (isNak)
    {
        OnNak(frame, psn, now);
    }
    else
    {
        OnRnrNak(frame.syndrome & ~SYNDROME_RNR_NAK, psn, now);
    }
    if (m_needs.acks || !positive || now >= m_rateEnd)
    {
        UpdateRate(now);
    }
    m_port.Schedule(*this);
    if (m_reportsPeriods)
    {
        m_port.GetSteadyWatch()->OnPeriod();
    }
    for (const uint64_t number : completed)
    {
        m_onCompletion(number);
    }
}

std::vector<uint64_t>
RdmaSender::Acknowledge(uint64_t psn, int64_t now)
{
    m_ackedBytes += (psn - m_window.unackedPsn) * m_port.GetSettings().mtu;
    m_window.unackedPsn = psn;
    m_window.nextPsn = std::max(m_window.nextPsn, psn);
    m_refusals = 0;
    if (m_timer.OnProgress(now))
    {
        Simulator::Cancel(m_expiry); // its timeout was doubled
        if (m_timer.IsRunning(m_window))
        {
            WatchTimer();
        }
    }
    if (m_recovering)
    {
        m_recovery.OnProgress(m_window);
        UpdateRecoveryState();
    }
    std::vector<uint64_t> signaled;
    if (psn >= m_oldestEnd && m_port.GetCarrier())
    {
        m_port.GetCarrier()->OnProgress(psn);
    }
    while (psn >= m_oldestEnd && !m_requests.IsEmpty())
    {
        const RdmaWorkRequests::Posted& done = m_requests.GetOldest();
        m_ackedBytes -=
            done.packets * m_port.GetSettings().mtu - done.bytes; // the last packet may be short
        if (done.signaled && m_onCompletion)
        {
            signaled.push_back(m_counters.completedMessages);
        }
        NS_LOG_LOGIC("queue pair " << GetNumber() << " completes work request "
                                   << m_counters.completedMessages);
        m_port.NotifyCompletion(GetNumber(), m_counters.completedMessages);
        m_counters.completedMessages++;
        m_requests.RemoveOldest();
        m_oldestEnd = m_requests.IsEmpty() ? m_oldestEnd : m_requests.GetOldestEnd();
    }
    return signaled;
}

uint64_t
RdmaSender::GetPacketsToEnd() const
{
    const uint64_t next = m_window.nextPsn;
    return m_requests.IsEmpty() ? StateVisitor::NONE : std::max(m_oldestEnd, next + 1) - next - 1;
}

bool
RdmaSender::IsLong() const
{
    return !m_failed && m_window.nextPsn + MANY_PACKETS < m_doorbellPsn;
}

void
RdmaSender::WatchTimer()
{
    if (!m_isWatched)
    {
        m_isWatched = true;
        m_port.GetTimers().Add(*this);
    }
}

void
RdmaSender::Visit(StateVisitor& visitor)
{
    static_assert(StateVisitor::IsSize(sizeof(RdmaSender), 448),
                  "a new member: visit it unless it stays, then correct the size");
    const bool repeats = VisitPackets(visitor, !m_recovering && !m_failed);
    visitor.Count(m_window.unackedPsn, m_requests.IsEmpty() ? StateVisitor::NONE : m_oldestEnd);
    visitor.CountIf(repeats, m_ackedBytes);
    visitor.CountIf(repeats, m_receivedAcks);
    visitor.Same({m_postedPsn, m_oldestEnd, m_refusals});
}

} // namespace ns3::training
