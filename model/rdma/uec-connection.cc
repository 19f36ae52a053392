/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "uec-connection.h"

#include "roce-wire-format.h"

#include "ns3/assert.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/training-event-loop.h"
#include "ns3/wire-bytes.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingUecConnection");

namespace
{

/// Limit of packets from the first unacknowledged one on (reference simulator).
constexpr uint64_t MAX_RANGE = 1 << 14;

} // namespace

UecConnection::UecConnection(UecPort& port,
                             uint32_t number,
                             const RdmaRemote& remote,
                             const UecCongestionControl::Path& path,
                             Ptr<UecCongestionControl> congestionControl)
    : RdmaSendQueue(number, port.GetSettings().dataPriority),
      m_port(port),
      m_remote{remote.endpoint,
               remote.queuePair,
               HashFlow(port.GetEndpoint(), remote.endpoint, number << 16 ^ remote.queuePair)},
      m_needsCredit(congestionControl->NeedsCredit()),
      m_overhead(GetUecFrameBytes(0, m_needsCredit)),
      m_linePacket(m_overhead + port.GetSettings().mtu),
      m_credit(static_cast<int64_t>(port.GetUecSettings().creditLimit)),
      m_congestionControl(congestionControl),
      m_paths(port.GetUecSettings().pathBits, port.GetRandom()),
      m_receiver(port, m_remote, m_needsCredit, m_counters)
{
    m_congestionControl->Initialize(path);
    m_window = m_congestionControl->GetWindow();
}

void
UecConnection::SetMessageHandler(MessageHandler handler)
{
    m_receiver.SetMessageHandler(std::move(handler));
}

void
UecConnection::SetErrorHandler(ErrorHandler handler)
{
    m_onError = std::move(handler);
}

QueuePairCounters
UecConnection::GetCounters() const
{
    return m_counters;
}

Ptr<UecCongestionControl>
UecConnection::GetCongestionControl() const
{
    return m_congestionControl;
}

void
UecConnection::Send(Message message)
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
    m_messages.push_back({std::move(message), m_postedPsn, packets});
    m_postedPsn += packets;
    const Time latency = m_port.GetSettings().GetPostLatency();
    if (latency.IsZero())
    {
        OnDoorbell(packets, bytes);
    }
    else
    {
        Simulator::Schedule(latency, &UecConnection::OnDoorbell, this, packets, bytes);
    }
}

void
UecConnection::OnDoorbell(uint64_t packets, uint64_t bytes)
{
    if (m_failed)
    {
        return;
    }
    m_doorbellPsn += packets;
    m_unsentBytes += bytes;
    if (NeedsCreditNow())
    {
        RequestCredit(EventLoop::Now());
    }
    m_port.Schedule(*this);
}

const UecConnection::Posted&
UecConnection::FindMessage(uint64_t psn, uint64_t& number) const
{
    const auto behind = std::upper_bound(
        m_messages.begin(),
        m_messages.end(),
        psn,
        [](uint64_t wanted, const Posted& message) { return wanted < message.firstPsn; });
    const auto index = static_cast<uint64_t>(behind - m_messages.begin()) - 1;
    number = m_firstMessage + index;
    return m_messages[index];
}

bool
UecConnection::HasWork() const
{
    return m_sent.HasLost() || m_sent.GetNext() < m_doorbellPsn;
}

uint32_t
UecConnection::GetNextBytes() const
{
    if (m_sent.HasLost())
    {
        return m_sent.At(m_sent.GetFirstLost()).bytes;
    }
    const uint32_t mtu = m_port.GetSettings().mtu;
    const Posted& message = m_messages[m_current - m_firstMessage];
    const uint64_t sent = (m_sent.GetNext() - message.firstPsn) * mtu;
    return m_overhead + static_cast<uint32_t>(std::min<uint64_t>(mtu, message.bytes - sent));
}

uint64_t
UecConnection::GetInFlight() const
{
    return m_sent.GetInFlight();
}

bool
UecConnection::CanSend() const
{
    if (m_failed || !HasWork() || (m_needsCredit && m_credit <= 0))
    {
        return false;
    }
    const uint64_t inFlight = GetInFlight();
    return (inFlight == 0 || inFlight + GetNextBytes() <= m_window) &&
           (m_sent.HasLost() || m_sent.GetNext() - m_sent.GetUnacked() < MAX_RANGE);
}

bool
UecConnection::IsShort(const UecSentPackets::Packet& packet) const
{
    return packet.bytes < m_overhead + m_port.GetSettings().mtu;
}

Frame*
UecConnection::MakeFrame(int64_t now)
{
    const bool resend = m_sent.HasLost();
    const uint64_t psn = resend ? m_sent.GetFirstLost() : m_sent.GetNext();
    uint64_t number = m_current;
    const Posted& message =
        resend ? FindMessage(psn, number) : m_messages[m_current - m_firstMessage];
    const uint32_t mtu = m_port.GetSettings().mtu;
    const uint64_t index = psn - message.firstPsn;
    const bool last = index + 1 == message.packets;

    UecHeader header;
    header.psn = static_cast<uint32_t>(psn);
    header.message = static_cast<uint16_t>(number);
    header.entropy = m_paths.Next();
    header.request.tag = message.tag;
    header.request.bytes = static_cast<uint32_t>(message.bytes);
    header.request.offset = static_cast<uint32_t>(index * mtu);
    header.request.data = index == 0 ? message.immediate.value_or(0) : 0;
    header.request.payload =
        last ? static_cast<uint32_t>(message.bytes) - header.request.offset : mtu;
    header.flags = static_cast<uint8_t>((index == 0 ? UEC_FIRST : 0) | (last ? UEC_LAST : 0) |
                                        (resend ? UEC_RETRANSMITTED : 0));

    const uint32_t bytes = m_overhead + header.request.payload;
    m_sent.Send(psn, bytes, header.entropy, now);
    if (resend)
    {
        m_counters.retransmittedPackets++;
        m_port.NotifyRetransmission(GetNumber(), psn);
    }
    else
    {
        m_unsentBytes -= bytes;
        m_current += last;
        if (last && message.sent)
        {
            message.sent();
        }
    }
    m_counters.sentPackets++;
    if (m_needsCredit)
    {
        m_credit -= bytes;
        header.flags |= UEC_CREDIT;
        header.credit = GetWantedCredit();
        m_creditEvent = now;
    }
    // Without an answer to this packet, the next one may have to wait.
    if (resend || m_sent.GetNext() == m_doorbellPsn || (m_needsCredit && m_credit <= 0) ||
        GetInFlight() + bytes >= m_window)
    {
        header.flags |= UEC_ACK_REQUEST;
    }
    Watch();

    Frame* frame = Frame::Make(header);
    frame->bytes = bytes;
    frame->source = m_port.GetEndpoint();
    frame->destination = m_remote.endpoint;
    frame->destinationQp = m_remote.queuePair;
    frame->flowHash = (m_remote.flowHash & ~ENTROPY_MASK) | header.entropy;
    frame->priority = GetPriority();
    frame->ecn = Ecn::ECT;
    frame->payloadBytes = header.request.payload;
    frame->typeOfService = message.typeOfService;
    if (message.payload)
    {
        frame->payload = message.payload;
        frame->payloadOffset = message.payloadOffset + header.request.offset;
    }
    return frame;
}

void
UecConnection::OnResize(const Frame& frame, uint32_t before, int64_t)
{
    if (!frame.Is<UecHeader>() || frame.As<UecHeader>().type != UecType::REQUEST)
    {
        return; // not of this queue
    }
    const uint64_t psn = ExtendCounter(frame.As<UecHeader>().psn, UEC_PSN_BITS, m_sent.GetNext());
    const uint32_t saved = before - frame.bytes;
    m_sent.Shorten(psn, frame.bytes, saved);
    m_credit += m_needsCredit ? saved : 0;
    const uint32_t full = m_overhead + m_port.GetSettings().mtu;
    if (before == full) // what is asked for follows the size of the recent full packets
    {
        const int64_t change = int64_t{frame.bytes} - m_linePacket;
        m_linePacket += static_cast<uint32_t>(m_linePacket == full ? change : change / 8);
    }
}

void
UecConnection::Receive(Frame* frame)
{
    switch (frame->As<UecHeader>().type)
    {
    case UecType::REQUEST:
        m_receiver.Receive(*frame);
        break;
    case UecType::CREDIT_REQUEST:
        m_receiver.ReceiveCreditRequest(*frame);
        break;
    case UecType::ACK:
        ReceiveAck(*frame);
        break;
    case UecType::NACK:
        ReceiveNack(*frame);
        break;
    case UecType::CREDIT:
        ReceiveCredit(*frame);
        break;
    }
    Frame::Free(frame);
}

void
UecConnection::ReceiveAck(const Frame& frame)
{
    const auto& header = frame.As<UecHeader>();
    const uint64_t psn = ExtendCounter(header.psn, UEC_PSN_BITS, m_sent.GetUnacked());
    if (m_failed || psn > m_sent.GetNext())
    {
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
    m_paths.Report(header.entropy,
                   feedback.isMarked ? UecPaths::Outcome::MARKED : UecPaths::Outcome::GOOD);
    FindLosses(sentAt, now);
    feedback.inFlight = GetInFlight();
    m_congestionControl->OnAck(feedback);
    m_window = m_congestionControl->GetWindow();
    StopSpeculating();
    if (m_sent.GetArrivedBytes() > before)
    {
        OnProgress(now);
    }
    CompleteMessages();
    m_port.Schedule(*this);
}

void
UecConnection::CompleteMessages()
{
    while (!m_messages.empty() &&
           m_messages.front().firstPsn + m_messages.front().packets <= m_sent.GetUnacked())
    {
        m_messages.pop_front();
        m_firstMessage++;
        m_port.NotifyCompletion(GetNumber(), m_counters.completedMessages);
        m_counters.completedMessages++;
    }
}

void
UecConnection::Watch()
{
    if (!m_isWatched)
    {
        m_isWatched = true;
        m_port.GetTimers().Add(*this);
    }
}

} // namespace ns3::training
