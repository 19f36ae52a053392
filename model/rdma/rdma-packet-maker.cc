/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-packet-maker.h"

#include "roce-wire-format.h"

#include "ns3/assert.h"
#include "ns3/log.h"
#include "ns3/state-visitor.h"
#include "ns3/training-event-loop.h"

#include <algorithm>
#include <limits>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRdmaPacketMaker");

RdmaPacketMaker::RdmaPacketMaker(RdmaPort& port,
                                 uint32_t number,
                                 const RdmaRemote& remote,
                                 const RdmaCongestionControl::Path& path,
                                 RdmaCongestionControl& congestionControl,
                                 RdmaLossRecovery& recovery,
                                 QueuePairCounters& counters)
    : RdmaSendQueue(number, port.GetSettings().dataPriority),
      m_needs(congestionControl.GetNeeds()),
      m_doorbellPsn(port.GetSettings().firstPsn),
      m_pacing(congestionControl.GetRate(EventLoop::Now())),
      m_port(port),
      m_remote(remote),
      m_timer(port, recovery),
      m_congestionControl(congestionControl),
      m_recovery(recovery),
      m_isSelective(recovery.IsSelective()),
      m_takesReordering(m_isSelective && !recovery.IsIrn()),
      m_counters(counters),
      m_windowLimit(port.GetSettings(), path, recovery.IsIrn())
{
    NS_ASSERT_MSG(reinterpret_cast<const char*>(&m_timer) ==
                      reinterpret_cast<const char*>(this) + SEND_LINES * 64,
                  "what sending a packet needs has outgrown the lines that are prefetched");
    m_window = {m_doorbellPsn, m_doorbellPsn, m_doorbellPsn};
    UpdateWindow();
}

bool
RdmaPacketMaker::CanSend() const
{
    return m_resends || (m_window.nextPsn < m_doorbellPsn &&
                         IsWindowOpen(m_window.nextPsn - m_window.unackedPsn));
}

bool
RdmaPacketMaker::IsWindowOpen(uint64_t inFlight) const
{
    return inFlight < m_limit;
}

void
RdmaPacketMaker::UpdateWindow()
{
    m_limit = m_windowLimit.GetPackets(m_congestionControl.GetWindow());
}

bool
RdmaPacketMaker::Fill(Frame& frame, uint64_t psn)
{
    const uint32_t mtu = m_port.GetSettings().mtu;
    if (m_requests.IsInside(psn))
    {
        m_requests.FillInside(frame, mtu);
        return false;
    }
    if (RdmaCarrier* carrier = m_port.GetCarrier())
    {
        carrier->Fill(frame, psn);
        return true;
    }
    return m_requests.Fill(frame, psn, mtu);
}

Frame*
RdmaPacketMaker::MakeFrame(int64_t now)
{
    const bool resend = m_resends;
    const uint64_t psn = resend ? m_recovery.TakeResend(now) : m_window.nextPsn;
    Frame* frame = Frame::Allocate(FrameKind::ROCE_DATA);
    const bool last = Fill(*frame, psn);
    frame->source = m_port.GetEndpoint();
    frame->destination = m_remote.endpoint;
    frame->destinationQp = m_remote.queuePair;
    frame->flowHash = m_remote.flowHash;
    frame->psn = static_cast<uint32_t>(psn % PSN_MODULUS);
    frame->priority = GetPriority();
    frame->ecn = Ecn::ECT;
    frame->timestamp = now;
    if (m_needs.telemetry)
    {
        const uint32_t switches = std::max(MIN_TELEMETRY_HOPS, m_port.GetSettings().pathHops - 1);
        auto telemetry = std::make_unique<TelemetryStack>();
        telemetry->reserve(switches);
        frame->SetTelemetry(std::move(telemetry));
        frame->bytes += GetTelemetryBytes(switches);
    }
    // A closed window needs an ACK to open again.
    frame->ackRequest = last || resend || m_needs.ackPerPacket ||
                        (psn + 1) % m_port.GetSettings().ackInterval == 0 ||
                        !IsWindowOpen(psn + 1 - m_window.unackedPsn);

    if (psn < m_window.highestPsn)
    {
        NS_LOG_LOGIC("queue pair " << GetNumber() << " sends packet " << psn << " again");
        m_counters.retransmittedPackets++;
        m_port.NotifyRetransmission(GetNumber(), psn);
    }
    if (frame->ackRequest)
    {
        // The timer starts with the first ACK request, however slow the queue pair is.
        if (!m_timer.IsRunning(m_window))
        {
            m_timer.Start(now);
            WatchTimer();
        }
        m_timer.Request(psn);
    }
    if (resend)
    {
        m_resends = m_recovery.HasResend();
    }
    else
    {
        m_window.nextPsn++;
        if (last && psn == m_window.highestPsn && m_requests.NotifySent(psn))
        {
            m_port.CountReports(-1);
        }
        m_window.highestPsn = std::max(m_window.highestPsn, m_window.nextPsn);
    }
    const bool isSpent = m_pacing.Send(frame->bytes + Frame::PREAMBLE_BYTES + Frame::GAP_BYTES);
    if (now >= m_rateEnd || isSpent)
    {
        UpdateRate(now);
    }
    m_pacing.Charge(m_nextSendTime, now, m_port.GetSettings().pacingBurst);
    m_nextSendTime = m_pacing.GetNextTime();
    return frame;
}

void
RdmaPacketMaker::OnResize(const Frame& frame, uint32_t before, int64_t now)
{
    const int64_t saved = int64_t{before} - frame.bytes;
    m_pacing.Shorten(saved, now, m_port.GetSettings().pacingBurst);
    m_nextSendTime = m_pacing.GetNextTime();
    if (before >= m_port.GetSettings().mtu)
    {
        m_windowLimit.FollowSize(saved);
        UpdateWindow();
    }
}

void
RdmaPacketMaker::Prefetch() const
{
    if (!m_requests.IsInside(m_window.nextPsn))
    {
        m_requests.Prefetch();
    }
}

void
RdmaPacketMaker::UpdateRate(int64_t now)
{
    int64_t unsent = 0; // bytes reported before OnResize() took them back
    if (m_needs.sentBytes)
    {
        const int64_t sent = m_pacing.GetSent();
        unsent = std::max<int64_t>(-sent, 0);
        m_congestionControl.OnSent(static_cast<uint64_t>(sent + unsent), now);
    }
    const double rate = m_congestionControl.GetRate(now);
    m_pacing.Grant(m_congestionControl.GetByteQuota(), unsent);
    m_rateEnd = m_congestionControl.GetRateEnd();
    UpdateWindow();
    if (m_pacing.SetRate(rate))
    {
        NS_LOG_LOGIC("queue pair " << GetNumber() << " sends at " << rate << " bit/s");
        m_port.NotifyRate(GetNumber(), rate);
        if (m_nextSendTime > now) // the new rate applies to the next packet already
        {
            m_nextSendTime = m_pacing.GetNextTime();
        }
    }
}

void
RdmaPacketMaker::Review(int64_t now)
{
    if (now >= m_rateEnd)
    {
        UpdateRate(now);
    }
}

void
RdmaPacketMaker::UpdateResends()
{
    // Retransmitted packets request acknowledgements again.
    m_timer.Return(m_window.nextPsn);
    m_resends = m_recovery.HasResend();
}

void
RdmaPacketMaker::Stop()
{
    m_resends = false;
    m_doorbellPsn = m_window.nextPsn;
}

bool
RdmaPacketMaker::VisitPackets(StateVisitor& visitor, bool repeats)
{
    static_assert(StateVisitor::IsSize(sizeof(RdmaPacketMaker), 320),
                  "a new member: visit it unless it stays, then correct the size");
    VisitTurn(visitor);
    m_pacing.Visit(visitor);
    m_timer.Visit(visitor, m_window);
    m_windowLimit.Visit(visitor);
    // What hears of every acknowledgement, or after some bytes, has a state of its own, which is
    // not visited.
    repeats = repeats && !m_needs.acks && !m_needs.telemetry &&
              m_rateEnd == std::numeric_limits<int64_t>::max() && m_pacing.IsEndless() &&
              !m_resends;
    visitor.Same({GetNumber(), repeats, static_cast<uint64_t>(m_rateEnd), m_limit});
    // Inside a message, and a message whose contents are not copied: each packet is as the last.
    const uint64_t next = m_window.nextPsn;
    const uint64_t end = std::min(m_requests.GetEnd(), m_doorbellPsn);
    const bool isLong = repeats && m_requests.IsInside(next) && next + 1 < end;
    visitor.Count(m_window.nextPsn, isLong ? end - 1 : next + 1);
    visitor.Same({m_window.highestPsn - next,
                  next - m_window.unackedPsn,
                  next % m_port.GetSettings().ackInterval,
                  m_requests.GetCount(),
                  m_requests.GetFirst(),
                  m_requests.GetEnd(),
                  m_doorbellPsn});
    visitor.Count(m_window.highestPsn);
    return repeats;
}

} // namespace ns3::training
