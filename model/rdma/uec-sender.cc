/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "uec-sender.h"

#include "roce-wire-format.h"

#include "ns3/assert.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/training-event-loop.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingUecSender");

void
UecSender::Send(Message message)
{
    NS_LOG_FUNCTION(this << message.tag << message.bytes);
    NS_ASSERT(message.bytes <= UEC_MAX_MESSAGE);
    if (m_failed)
    {
        return;
    }
    m_counters.postedMessages++;
    const uint64_t mtu = m_port.GetSettings().mtu;
    const uint64_t packets = std::max<uint64_t>(1, (message.bytes + mtu - 1) / mtu);
    const uint64_t bytes = message.bytes + packets * m_overhead;
    m_messages.Add(std::move(message), packets);
    const Time latency = m_port.GetSettings().GetPostLatency();
    if (latency.IsZero())
    {
        OnDoorbell(packets, bytes);
    }
    else
    {
        Simulator::Schedule(latency, &UecSender::OnDoorbell, this, packets, bytes);
    }
}

void
UecSender::OnDoorbell(uint64_t packets, uint64_t bytes)
{
    if (m_failed)
    {
        return;
    }
    m_doorbellPsn += packets;
    m_unsentBytes += bytes;
    WatchPaths();
    if (NeedsCreditNow())
    {
        RequestCredit(EventLoop::Now());
    }
    ScheduleSend();
}

void
UecSender::ReceiveAck(const Frame& frame)
{
    const auto& header = frame.As<UecHeader>();
    const uint64_t psn = ExtendCounter(header.psn, UEC_PSN_BITS, m_sent.GetUnacked());
    if (m_failed || psn > m_sent.GetNext())
    {
        return;
    }
    if (header.flags & UEC_PROBED)
    {
        ReceiveProbeAnswer(header);
        return;
    }
    const int64_t now = EventLoop::Now();
    m_counters.receivedAcks++;
    UecCongestionControl::Feedback feedback{};
    feedback.now = now;
    feedback.isMarked = header.flags & UEC_MARKED;
    feedback.bytes = m_sent.Report(header.ack.received);
    int64_t sentAt = 0; // of the packet that has arrived; 0: unknown
    const uint64_t cause = ExtendCounter(header.ack.cause, UEC_PSN_BITS, m_sent.GetUnacked());
    if (m_sent.Has(cause))
    {
        // The round trip is known if it is certain which transmission has arrived.
        const UecSentPackets::Packet& packet = m_sent.At(cause);
        const uint8_t sends = header.flags & UEC_RETRANSMITTED ? 2 : 1;
        if (packet.state == UecSentPackets::Packet::State::IN_FLIGHT && packet.sends == sends)
        {
            feedback.roundTrip = now - packet.sentAt;
            feedback.isShort = IsShort(packet);
            sentAt = packet.sentAt;
            m_roundTrip.Add(feedback.roundTrip);
        }
    }
    const uint64_t before = m_sent.GetArrivedBytes();
    m_sent.MarkArrivedBefore(psn);
    const uint64_t base = ExtendCounter(header.ack.base, UEC_PSN_BITS, psn);
    for (uint64_t left = header.ack.bitmap; left; left &= left - 1)
    {
        const uint64_t arrived = base + static_cast<uint64_t>(__builtin_ctzll(left));
        if (m_sent.Has(arrived))
        {
            m_sent.MarkArrived(arrived);
        }
    }
    GetPaths(header.entropy)
        .Report(header.entropy,
                feedback.isMarked ? UecPaths::Outcome::MARKED : UecPaths::Outcome::GOOD);
    FindLosses(sentAt, now);
    feedback.inFlight = GetInFlight();
    m_congestionControl.OnAck(feedback);
    m_window = m_congestionControl.GetWindow();
    m_credit.StopSpeculating();
    if (m_sent.GetArrivedBytes() > before)
    {
        OnProgress(now);
    }
    CompleteMessages();
    ScheduleSend();
}

void
UecSender::CompleteMessages()
{
    while (m_messages.Complete(m_sent.GetUnacked()))
    {
        m_port.NotifyCompletion(GetNumber(), m_counters.completedMessages);
        m_counters.completedMessages++;
    }
}

void
UecSender::Watch()
{
    if (!m_isWatched)
    {
        m_isWatched = true;
        m_port.GetTimers().Add(*this);
    }
}

void
UecSender::ReceiveCredit(const Frame& frame)
{
    if (m_failed)
    {
        return;
    }
    m_credit.StopSpeculating();
    if (m_credit.Grant(frame.As<UecHeader>().credit))
    {
        const int64_t now = EventLoop::Now();
        m_credit.SetEvent(now);
        OnProgress(now);
    }
    ScheduleSend();
}

} // namespace ns3::training
