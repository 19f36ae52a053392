/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-receiver.h"

#include "roce-wire-format.h"

#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/state-visitor.h"
#include "ns3/training-event-loop.h"

#include <algorithm>
#include <optional>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRdmaReceiver");

RdmaReceiver::RdmaReceiver(RdmaPort& port,
                           const RdmaRemote& remote,
                           const RdmaCongestionControl& congestionControl,
                           RdmaLossRecovery& recovery,
                           QueuePairCounters& counters)
    : m_expectedPsn(port.GetSettings().firstPsn),
      m_ackPriority(port.GetSettings().GetAckPriority()),
      m_port(port),
      m_remote(remote),
      m_counters(counters),
      m_recovery(recovery),
      m_congestionControl(congestionControl)
{
}

void
RdmaReceiver::SetMessageHandler(MessageHandler handler)
{
    m_onMessage = std::move(handler);
}

void
RdmaReceiver::PostReceive(uint64_t count)
{
    m_countsReceives = true;
    m_receives += count;
}

bool
RdmaReceiver::Receive(Frame* frame)
{
    if (frame->ecn == Ecn::CE)
    {
        m_marked = true;
        if (m_congestionControl.GetNeeds().cnp)
        {
            SendCnp();
        }
    }
    const uint64_t psn = ExtendPsn(frame->psn, m_expectedPsn);
    if (psn != m_expectedPsn)
    {
        return ReceiveOutOfOrder(frame, psn);
    }
    if (m_countsReceives && !TakeReceive(frame->opcode))
    {
        Refuse(*frame);
        return false;
    }
    if (m_kept > 0)
    {
        FillGap(*frame);
        return false;
    }
    m_complaint = Complaint::NONE;
    m_expectedPsn++;
    m_acceptedMessages += IsLast(frame->opcode);
    if (frame->ackRequest)
    {
        Answer(SYNDROME_ACK, psn, *frame);
    }
    Accept(*frame);
    return false;
}

bool
RdmaReceiver::ReceiveOutOfOrder(Frame* frame, uint64_t psn)
{
    if (psn < m_expectedPsn)
    {
        // The ACK may have been lost: repeat it (C9-110).
        m_counters.duplicatePackets++;
        if (frame->ackRequest)
        {
            Answer(SYNDROME_ACK, m_expectedPsn - 1, *frame);
        }
        return false;
    }
    const int64_t now = EventLoop::Now();
    const bool kept = m_recovery.Keep(psn - m_expectedPsn, frame, now);
    const bool selective = m_recovery.IsSelective();
    m_kept += kept;
    NS_LOG_LOGIC("endpoint " << m_port.GetEndpoint() << " expects packet " << m_expectedPsn
                             << " and " << (kept ? "keeps " : "discards ") << psn);
    (selective && !kept ? m_counters.duplicatePackets : m_counters.outOfOrderPackets)++;
    const bool isReported = m_complaint == Complaint::NAK;
    const auto report = m_complaint == Complaint::RNR_NAK
                            ? std::nullopt
                            : m_recovery.Report({m_expectedPsn, psn, isReported});
    if (report)
    {
        m_complaint = Complaint::NAK;
        Answer(SYNDROME_NAK_SEQUENCE, m_expectedPsn, *frame, *report % PSN_MODULUS);
    }
    else if (selective && frame->ackRequest)
    {
        Answer(SYNDROME_ACK, m_expectedPsn - 1, *frame);
    }
    const int64_t patience = m_recovery.GetPatience();
    if (kept && patience > 0 && m_gapTimer.IsExpired())
    {
        m_gapTimer = Simulator::Schedule(TimeStep(patience), &RdmaReceiver::CheckGaps, this);
    }
    return kept;
}

void
RdmaReceiver::CheckGaps()
{
    // The last packets in flight may be lost, so this does not wait for another arrival.
    m_port.CatchUp();
    const int64_t now = EventLoop::Now();
    std::vector<RdmaLossRecovery::Overdue> overdue;
    const int64_t next = m_recovery.Review(now, overdue);
    for (const auto& gap : overdue)
    {
        if (m_complaint == Complaint::RNR_NAK)
        {
            break; // the sender waits
        }
        m_complaint = Complaint::NAK;
        const uint64_t named =
            gap.missing == 0 ? 0 : std::min(gap.arrived - gap.missing, MAX_NAMED_GAP);
        const uint64_t selective =
            named * PSN_MODULUS + (m_expectedPsn + gap.arrived) % PSN_MODULUS;
        Frame* frame =
            MakeAnswer(SYNDROME_NAK_SEQUENCE, m_expectedPsn, static_cast<uint32_t>(selective));
        frame->timestamp = gap.sentAt;
        m_port.SendControl(frame);
    }
    if (next > 0)
    {
        m_gapTimer = Simulator::Schedule(TimeStep(next - now), &RdmaReceiver::CheckGaps, this);
    }
}

void
RdmaReceiver::FillGap(Frame& frame)
{
    m_recovery.OnGapFilled(EventLoop::Now());
    const Frame* next = &frame;
    bool answers = m_complaint != Complaint::NONE; // the sender waits for the gap to be filled
    m_complaint = Complaint::NONE;
    Frame* kept = m_recovery.Advance(); // a packet that was kept and refused before
    m_counters.duplicatePackets += kept ? 1 : 0;
    while (true)
    {
        m_expectedPsn++;
        m_acceptedMessages += IsLast(next->opcode);
        answers = answers || next->ackRequest;
        Accept(*next);
        if (kept)
        {
            m_kept--;
            Frame::Free(kept);
        }
        next = kept = m_recovery.PeekKept();
        if (!kept)
        {
            if (answers)
            {
                Answer(SYNDROME_ACK, m_expectedPsn - 1, frame);
            }
            return;
        }
        if (m_countsReceives && !TakeReceive(kept->opcode))
        {
            Refuse(frame);
            return;
        }
        m_recovery.Advance();
    }
}

bool
RdmaReceiver::TakeReceive(uint8_t opcode)
{
    const bool takes = IsSend(opcode) ? IsFirst(opcode) : HasImmediate(opcode);
    if (takes && m_receives == 0)
    {
        return false;
    }
    m_receives -= takes;
    return true;
}

void
RdmaReceiver::Refuse(Frame& data)
{
    NS_LOG_LOGIC("endpoint " << m_port.GetEndpoint() << " refuses packet " << m_expectedPsn
                             << ": no receive is posted");
    m_counters.refusedPackets++;
    m_complaint = Complaint::RNR_NAK;
    Answer(SYNDROME_RNR_NAK | m_port.GetSettings().minRnrTimer, m_expectedPsn, data);
}

void
RdmaReceiver::Accept(const Frame& frame)
{
    if (IsFirst(frame.opcode))
    {
        if (RdmaCarrier* carrier = m_port.GetCarrier())
        {
            carrier->Accept(frame);
            return;
        }
        m_tag = frame.remoteAddress;
        m_payload = nullptr;
        m_offset = 0;
        if (frame.payload)
        {
            m_payload = Create<ByteBuffer>();
            m_payload->bytes.resize(frame.messageBytes);
        }
    }
    if (frame.payload)
    {
        auto& bytes = m_payload->bytes;
        if (IsSend(frame.opcode)) // a SEND's length is known only at its end
        {
            bytes.resize(m_offset + frame.payloadBytes);
        }
        const auto from = frame.payload->bytes.begin() + static_cast<int64_t>(frame.payloadOffset);
        std::copy(from, from + frame.payloadBytes, bytes.begin() + static_cast<int64_t>(m_offset));
    }
    m_offset += frame.payloadBytes;
    if (IsLast(frame.opcode))
    {
        Message message{m_tag, m_offset, std::move(m_payload)};
        message.isSend = IsSend(frame.opcode);
        if (HasImmediate(frame.opcode))
        {
            message.immediate = frame.immediate;
        }
        m_payload = nullptr;
        m_offset = 0;
        const Time& latency = m_port.GetSettings().completionLatency;
        if (latency.IsZero())
        {
            Deliver(message);
        }
        else
        {
            Simulator::Schedule(latency, &RdmaReceiver::Deliver, this, message);
        }
    }
}

void
RdmaReceiver::Deliver(const Message& message)
{
    m_port.CatchUp();
    m_counters.receivedMessages++;
    m_counters.receivedBytes += message.bytes;
    if (m_onMessage)
    {
        m_onMessage(message);
    }
}

inline Frame*
RdmaReceiver::MakeAnswer(uint8_t syndrome, uint64_t psn, uint32_t selective)
{
    Frame* frame = MakeControl(FrameKind::ROCE_ACK, ROCE_BYTES + AETH_BYTES, m_ackPriority);
    frame->ecnEcho = m_marked;
    m_marked = false;
    frame->messageNumber = m_acceptedMessages % PSN_MODULUS;
    frame->selectivePsn = 0;
    if (syndrome == SYNDROME_ACK)
    {
        m_sentAcks++;
        if (m_kept > 0 && m_recovery.GetPatience() > 0)
        {
            frame->selectivePsn =
                static_cast<uint32_t>(std::min<uint64_t>(m_kept, PSN_MODULUS - 1));
            frame->bytes = GetFrameBytes(ROCE_BYTES + AETH_BYTES + SELECTIVE_BYTES);
        }
    }
    else if (syndrome == SYNDROME_NAK_SEQUENCE)
    {
        m_counters.sentNaks++;
        if (m_recovery.IsSelective())
        {
            frame->selectivePsn = selective;
            frame->bytes = GetFrameBytes(ROCE_BYTES + AETH_BYTES + SELECTIVE_BYTES);
        }
    }
    frame->opcode = ACKNOWLEDGE;
    frame->syndrome = syndrome;
    frame->psn = static_cast<uint32_t>(psn % PSN_MODULUS);
    return frame;
}

void
RdmaReceiver::Answer(uint8_t syndrome, uint64_t psn, Frame& data, uint32_t selective)
{
    Frame* frame = MakeAnswer(syndrome, psn, selective);
    frame->timestamp = data.timestamp;
    if (const TelemetryStack* telemetry = data.GetTelemetry())
    {
        frame->bytes += GetTelemetryBytes(
            std::max(MIN_TELEMETRY_HOPS, static_cast<uint32_t>(telemetry->size())));
        frame->SetTelemetry(data.TakeTelemetry());
    }
    m_port.SendControl(frame);
}

void
RdmaReceiver::SendAck()
{
    Frame* frame = MakeAnswer(SYNDROME_ACK, m_expectedPsn - 1);
    frame->timestamp = EventLoop::Now(); // of no packet
    m_port.SendControl(frame);
}

void
RdmaReceiver::Close()
{
    m_onMessage = nullptr;
    Simulator::Cancel(m_gapTimer);
}

void
RdmaReceiver::Visit(StateVisitor& visitor)
{
    static_assert(StateVisitor::IsSize(sizeof(RdmaReceiver), 192),
                  "a new member: visit it unless it stays, then correct the size");
    visitor.Count(m_expectedPsn);
    visitor.Count(m_offset);
    visitor.Count(m_sentAcks);
    visitor.Same({m_kept,
                  m_acceptedMessages,
                  m_countsReceives,
                  m_receives,
                  static_cast<uint64_t>(m_complaint),
                  m_marked});
}

void
RdmaReceiver::SendCnp()
{
    const int64_t now = EventLoop::Now();
    if (now < m_nextCnp)
    {
        return;
    }
    m_nextCnp = now + m_port.GetSettings().cnpInterval.GetTimeStep();
    NS_LOG_LOGIC("endpoint " << m_port.GetEndpoint() << " sends a CNP to endpoint "
                             << m_remote.endpoint);
    m_counters.sentCnps++;
    Frame* frame =
        MakeControl(FrameKind::ROCE_CNP, ROCE_BYTES + CNP_BYTES, m_port.GetSettings().cnpPriority);
    frame->opcode = CNP;
    frame->psn = 0;
    m_port.SendControl(frame);
}

Frame*
RdmaReceiver::MakeControl(FrameKind kind, uint32_t transportBytes, uint8_t priority) const
{
    Frame* frame = Frame::Allocate(kind);
    frame->bytes = GetFrameBytes(transportBytes);
    frame->source = m_port.GetEndpoint();
    frame->destination = m_remote.endpoint;
    frame->destinationQp = m_remote.queuePair;
    frame->flowHash = m_remote.flowHash;
    frame->priority = priority;
    return frame;
}

} // namespace ns3::training
