/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-queue-pair.h"

#include "roce-wire-format.h"

#include "ns3/assert.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/steady-watch.h"
#include "ns3/training-event-loop.h"
#include "ns3/training-prefetch.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRdmaQueuePair");

namespace
{

/// Limit of unacknowledged packets that keeps 24-bit PSNs unambiguous (IB: less than 2^23).
constexpr uint64_t PSN_WINDOW = PSN_MODULUS / 2 - 1;

/// Part of the timeout above which a round trip is measured.
constexpr int64_t TIMEOUT_PARTS = 8;

/// Number of packets left above which a steady state saves more than it takes to find.
constexpr uint64_t MANY_PACKETS = 128;

} // namespace

RdmaQueuePair::RdmaQueuePair(RdmaPort& port,
                             uint32_t number,
                             const RdmaRemote& remote,
                             const RdmaCongestionControl::Path& path,
                             Ptr<RdmaCongestionControl> congestionControl,
                             std::unique_ptr<RdmaLossRecovery> recovery)
    : RdmaSendQueue(number, port.GetSettings().dataPriority),
      m_port(port),
      m_remote(remote),
      m_selective(recovery->IsSelective()),
      m_irn(recovery->IsIrn()),
      m_receiver(port, m_remote, *congestionControl, *recovery, m_counters),
      m_congestionControl(congestionControl),
      m_recovery(std::move(recovery))
{
    NS_ASSERT_MSG(reinterpret_cast<const char*>(&m_oldestEnd) ==
                      reinterpret_cast<const char*>(this) + SEND_LINES * 64,
                  "what sending a packet needs has outgrown the lines that are prefetched");
    m_congestionControl->SetNodeId(port.GetNodeId());
    m_congestionControl->Initialize(path);
    m_recovery->SetIdleRoundTrip(path.roundTrip);
    m_needs = m_congestionControl->GetNeeds();
    m_rate = m_congestionControl->GetRate(EventLoop::Now());
    m_picosecondsPerByte = 8e12 / m_rate;

    const RdmaSettings& settings = port.GetSettings();
    m_linePayload = settings.mtu;
    const uint64_t first = settings.firstPsn;
    m_window = {first, first, first};
    m_doorbellPsn = m_ackRequestedPsn = m_postedPsn = m_oldestEnd = first;
    m_inFlightLimit = settings.inFlightLimit;
    if (m_inFlightLimit == 0)
    {
        m_inFlightLimit =
            m_irn ? static_cast<uint64_t>(path.lineRate * settings.baseRoundTrip.GetSeconds() / 8) +
                        uint64_t{settings.ackInterval} * path.mtu
                  : PSN_WINDOW * path.mtu;
    }
    SetMostInFlight();
    SetWindow(m_congestionControl->GetWindow());
}

void
RdmaQueuePair::SetMessageHandler(MessageHandler handler)
{
    m_receiver.SetMessageHandler(std::move(handler));
}

void
RdmaQueuePair::SetCompletionHandler(CompletionHandler handler)
{
    m_onCompletion = std::move(handler);
}

void
RdmaQueuePair::SetErrorHandler(ErrorHandler handler)
{
    m_onError = std::move(handler);
}

bool
RdmaQueuePair::IsQuiet(const Frame& ack) const
{
    return !m_reportsPeriods &&
           (ExtendPsn(ack.psn, m_window.unackedPsn) + 1 < m_oldestEnd || m_requests.IsEmpty());
}

QueuePairCounters
RdmaQueuePair::GetCounters() const
{
    m_port.CatchUp();
    QueuePairCounters counters = m_counters;
    const uint64_t first = m_port.GetSettings().firstPsn;
    counters.sentPackets = m_window.highestPsn - first + m_counters.retransmittedPackets;
    counters.receivedPackets = m_receiver.GetExpectedPsn() - first;
    counters.sentAcks = m_receiver.GetSentAcks();
    counters.receivedAcks = m_receivedAcks;
    return counters;
}

Ptr<RdmaCongestionControl>
RdmaQueuePair::GetCongestionControl() const
{
    m_port.CatchUp();
    return m_congestionControl;
}

void
RdmaQueuePair::PostReceive(uint64_t count)
{
    m_port.CatchUp();
    m_receiver.PostReceive(count);
}

uint64_t
RdmaQueuePair::Write(Message request)
{
    NS_LOG_FUNCTION(this << request.tag << request.bytes << request.immediate.value_or(0));
    request.isSend = false;
    return Post(std::move(request));
}

uint64_t
RdmaQueuePair::Send(Message request)
{
    NS_LOG_FUNCTION(this << request.bytes << request.immediate.value_or(0));
    request.isSend = true;
    return Post(std::move(request));
}

uint64_t
RdmaQueuePair::Post(Message request)
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
        Simulator::Schedule(latency, &RdmaQueuePair::OnDoorbell, this, packets);
    }
    return number;
}

void
RdmaQueuePair::RenewPriorities()
{
    m_port.CatchUp();
    const RdmaSettings& settings = m_port.GetSettings();
    if (SetPriority(settings.dataPriority))
    {
        m_receiver.SetAckPriority(settings.GetAckPriority());
    }
}

void
RdmaQueuePair::OnDoorbell(uint64_t packets)
{
    m_port.CatchUp(); // the message may have been posted in the context of another node
    if (!m_failed)
    {
        m_doorbellPsn += packets;
        m_port.CountStart();
        SetWindow(m_congestionControl->GetWindow());
        m_port.Schedule(*this);
        SteadyWatch* watch = packets > MANY_PACKETS ? m_port.GetSteadyWatch() : nullptr;
        if (watch)
        {
            watch->OnLongMessage(m_port, GetNumber());
        }
    }
}

bool
RdmaQueuePair::IsLong() const
{
    return !m_failed && m_window.nextPsn + MANY_PACKETS < m_doorbellPsn;
}

bool
RdmaQueuePair::CanSend() const
{
    return m_resends || (m_window.nextPsn < m_doorbellPsn &&
                         IsWindowOpen(m_window.nextPsn - m_window.unackedPsn));
}

bool
RdmaQueuePair::IsWindowOpen(uint64_t inFlight) const
{
    return inFlight < m_limit;
}

void
RdmaQueuePair::SetWindow(uint64_t bytes)
{
    // The last packet may exceed the window, and one packet may always be in flight.
    const uint64_t payload = m_linePayload;
    const uint64_t packets = std::max<uint64_t>(1, bytes / payload + (bytes % payload > 0));
    m_limit = static_cast<uint32_t>(
        std::min<uint64_t>(std::min<uint64_t>(packets, m_mostInFlight) + m_ahead, PSN_WINDOW));
}

void
RdmaQueuePair::SetAhead(uint64_t packets)
{
    if (packets != m_ahead)
    {
        m_ahead = packets;
        SetWindow(m_congestionControl->GetWindow());
    }
}

void
RdmaQueuePair::SetMostInFlight()
{
    m_mostInFlight =
        static_cast<uint32_t>(std::clamp<uint64_t>(m_inFlightLimit / m_linePayload, 1, PSN_WINDOW));
}

bool
RdmaQueuePair::Fill(Frame& frame, uint64_t psn)
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
RdmaQueuePair::MakeFrame(int64_t now)
{
    const bool resend = m_resends;
    const uint64_t psn = resend ? m_recovery->TakeResend(now) : m_window.nextPsn;
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
        if (!IsTimed())
        {
            StartTimer(now);
        }
        m_awaitsResend = false;
        m_ackRequestedPsn = std::max(m_ackRequestedPsn, psn + 1);
    }
    if (resend)
    {
        m_resends = m_recovery->HasResend();
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
    m_lastBytes = frame->bytes + Frame::PREAMBLE_BYTES + Frame::GAP_BYTES;
    m_byteQuota -= m_lastBytes;
    if (now >= m_rateEnd || m_byteQuota <= 0)
    {
        UpdateRate(now);
    }
    // Time lost to other queue pairs is made up for, as by a token bucket.
    m_paceStart = std::max(m_nextSendTime, now - m_port.GetSettings().pacingBurst * GetPaceTime());
    Pace();
    return frame;
}

void
RdmaQueuePair::OnResize(const Frame& frame, uint32_t before, int64_t now)
{
    const int64_t saved = int64_t{before} - frame.bytes;
    m_lastBytes -= static_cast<uint32_t>(saved);
    m_byteQuota += saved;
    const int64_t burst = m_port.GetSettings().pacingBurst * GetPaceTime();
    m_paceStart = std::max(m_paceStart, now - burst);
    Pace();
    const int64_t mtu = m_port.GetSettings().mtu;
    if (before >= mtu) // a full packet: windows follow the size of the recent ones
    {
        const int64_t payload = std::max<int64_t>(mtu - saved, 1);
        const int64_t change = payload - m_linePayload;
        m_linePayload += static_cast<uint32_t>(m_linePayload == mtu ? change : change / 8);
        SetMostInFlight();
        SetWindow(m_congestionControl->GetWindow());
    }
}

void
RdmaQueuePair::Prefetch() const
{
    if (!m_requests.IsInside(m_window.nextPsn))
    {
        m_requests.Prefetch();
    }
}

void
RdmaQueuePair::Prefetch(const Frame& frame) const
{
    const bool isData = frame.kind == FrameKind::ROCE_DATA;
    const void* from = isData ? static_cast<const void*>(&m_receiver) : this;
    const std::size_t lines = !isData            ? ACK_LINES
                              : frame.ackRequest ? RdmaReceiver::ANSWER_LINES
                                                 : RdmaReceiver::ACCEPT_LINES;
    PrefetchBytes(from, 64 * lines);
}

void
RdmaQueuePair::Pace()
{
    m_nextSendTime = std::max(m_paceStart + GetPaceTime(), m_holdUntil);
}

int64_t
RdmaQueuePair::GetPaceTime() const
{
    return static_cast<int64_t>(m_lastBytes * m_picosecondsPerByte);
}

void
RdmaQueuePair::UpdateRate(int64_t now)
{
    int64_t unsent = 0; // bytes reported before OnResize() took them back
    if (m_needs.sentBytes)
    {
        const int64_t sent = m_byteGrant - m_byteQuota;
        unsent = std::max<int64_t>(-sent, 0);
        m_congestionControl->OnSent(static_cast<uint64_t>(sent + unsent), now);
    }
    const double rate = m_congestionControl->GetRate(now);
    m_byteGrant = m_congestionControl->GetByteQuota();
    m_byteQuota = m_byteGrant + unsent;
    m_rateEnd = m_congestionControl->GetRateEnd();
    SetWindow(m_congestionControl->GetWindow());
    if (rate != m_rate)
    {
        NS_LOG_LOGIC("queue pair " << GetNumber() << " sends at " << rate << " bit/s");
        m_rate = rate;
        m_picosecondsPerByte = 8e12 / rate;
        m_port.NotifyRate(GetNumber(), rate);
        if (m_nextSendTime > now) // the new rate applies to the next packet already
        {
            Pace();
        }
    }
}

void
RdmaQueuePair::Review(int64_t now)
{
    if (now >= m_rateEnd)
    {
        UpdateRate(now);
    }
}

void
RdmaQueuePair::Receive(Frame* frame, FrameKind kind)
{
    switch (kind)
    {
    case FrameKind::ROCE_DATA:
        if (m_receiver.Receive(frame))
        {
            return;
        }
        break;
    case FrameKind::ROCE_ACK:
        ReceiveAck(*frame);
        break;
    case FrameKind::ROCE_CNP: {
        const int64_t now = EventLoop::Now();
        NS_LOG_LOGIC("queue pair " << GetNumber() << " receives a CNP");
        m_counters.receivedCnps++;
        m_congestionControl->OnCnp(now);
        UpdateRate(now);
        m_port.Schedule(*this);
        break;
    }
    default:
        NS_LOG_WARN("queue pair " << GetNumber() << " ignores a frame that is not RoCE");
    }
    Frame::Free(frame);
}

void
RdmaQueuePair::ReceiveAck(const Frame& frame)
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
    // Only a round trip near the timeout matters without selective repeat.
    if (m_selective ||
        (now - frame.timestamp) * TIMEOUT_PARTS > m_port.GetSettings().timeout.GetTimeStep())
    {
        m_roundTrip.Add(now - frame.timestamp);
    }
    if (m_expiries > 0 && frame.timestamp >= m_progress)
    {
        m_port.NotifyLoss(); // it answers what was sent again, not an earlier packet that was late
    }
    std::vector<uint64_t> completed;
    if (TakesReordering() && acknowledged >= m_window.unackedPsn)
    {
        // What has arrived is in flight no longer, so a gap does not close the window.
        const uint64_t passed = acknowledged - m_window.unackedPsn;
        SetAhead(positive ? frame.selectivePsn : m_ahead - std::min(m_ahead, passed));
    }
    if (acknowledged > m_window.unackedPsn && acknowledged <= m_window.highestPsn)
    {
        completed = Acknowledge(acknowledged, now);
    }
    if (m_needs.acks && (positive || (isNak && m_selective))) // a packet has arrived
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
        m_congestionControl->OnAck(ack);
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
RdmaQueuePair::Acknowledge(uint64_t psn, int64_t now)
{
    m_ackedBytes += (psn - m_window.unackedPsn) * m_port.GetSettings().mtu;
    m_window.unackedPsn = psn;
    m_window.nextPsn = std::max(m_window.nextPsn, psn);
    m_progress = now;
    m_refusals = 0;
    if (m_expiries > 0)
    {
        m_expiries = 0;
        Simulator::Cancel(m_timer); // its timeout was doubled
        m_awaitsResend = false;
        if (IsTimed())
        {
            StartTimer(now);
        }
    }
    if (m_recovering)
    {
        m_recovery->OnProgress(m_window);
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

bool
RdmaQueuePair::IsTimed() const
{
    return m_ackRequestedPsn > m_window.unackedPsn && !m_awaitsResend;
}

void
RdmaQueuePair::StartTimer(int64_t now)
{
    m_progress = now;
    if (!m_isWatched)
    {
        m_isWatched = true;
        m_port.GetTimers().Add(*this);
    }
}

} // namespace ns3::training
