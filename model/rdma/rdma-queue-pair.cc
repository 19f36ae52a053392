/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-queue-pair.h"

#include "rdma-nic.h"

#include "ns3/assert.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRdmaQueuePair");

namespace
{

/// Packets that may be unacknowledged, so that a number is never ambiguous (IB: less than 2^23).
constexpr uint64_t PSN_WINDOW = PSN_MODULUS / 2 - 1;

/// A timer is doubled with each expiry, this often at the most.
constexpr uint32_t MOST_DOUBLINGS = 7;

} // namespace

RdmaQueuePair::RdmaQueuePair(RdmaNic& nic,
                             uint32_t number,
                             uint32_t remoteEndpoint,
                             uint32_t remoteNumber,
                             Ptr<RdmaCongestionControl> congestionControl)
    : m_nic(nic),
      m_number(number),
      m_remoteEndpoint(remoteEndpoint),
      m_remoteNumber(remoteNumber),
      m_flowHash(HashFlow(nic.GetEndpoint(), remoteEndpoint, number << 16 ^ remoteNumber)),
      m_congestionControl(congestionControl)
{
    RdmaCongestionControl::Path path;
    path.lineRate = static_cast<double>(nic.GetLineRate());
    path.roundTrip = nic.GetBaseRoundTrip().GetTimeStep();
    path.mtu = nic.GetMtu();
    path.hops = nic.GetPathHops();
    m_congestionControl->Initialize(path);
    m_needs = m_congestionControl->GetNeeds();
}

void
RdmaQueuePair::SetMessageHandler(MessageHandler handler)
{
    m_onMessage = std::move(handler);
}

void
RdmaQueuePair::SetErrorHandler(ErrorHandler handler)
{
    m_onError = std::move(handler);
}

const QueuePairCounters&
RdmaQueuePair::GetCounters() const
{
    return m_counters;
}

Ptr<RdmaCongestionControl>
RdmaQueuePair::GetCongestionControl() const
{
    return m_congestionControl;
}

uint32_t
RdmaQueuePair::GetNumber() const
{
    return m_number;
}

void
RdmaQueuePair::Write(uint64_t address,
                     uint64_t bytes,
                     Ptr<ByteBuffer> payload,
                     uint64_t payloadOffset,
                     uint32_t immediate,
                     bool withImmediate)
{
    NS_LOG_FUNCTION(this << address << bytes << immediate);
    NS_ASSERT(bytes <= LONGEST_REQUEST);
    if (m_failed)
    {
        return;
    }
    const uint64_t mtu = m_nic.GetMtu();
    const uint64_t packets = std::max<uint64_t>(1, (bytes + mtu - 1) / mtu);
    m_requests.push_back({address,
                          bytes,
                          std::move(payload),
                          payloadOffset,
                          m_postedPsn,
                          packets,
                          immediate,
                          withImmediate});
    m_postedPsn += packets;
    m_nic.Schedule(*this);
}

bool
RdmaQueuePair::CanSend() const
{
    return m_nextPsn < m_postedPsn && !m_failed && IsWindowOpen(m_nextPsn - m_unackedPsn);
}

bool
RdmaQueuePair::IsWindowOpen(uint64_t inFlight) const
{
    return inFlight < PSN_WINDOW && inFlight * m_nic.GetMtu() < m_congestionControl->GetWindow();
}

int64_t
RdmaQueuePair::GetNextSendTime() const
{
    return m_nextSendTime;
}

Frame*
RdmaQueuePair::MakeFrame(int64_t now)
{
    const uint32_t mtu = m_nic.GetMtu();
    const Request& request = m_requests[m_cursor];
    const uint64_t index = m_nextPsn - request.firstPsn;
    const bool first = index == 0;
    const bool last = index + 1 == request.packets;
    Frame* frame = Frame::Allocate(FrameKind::ROCE_DATA);
    frame->payloadBytes = last ? static_cast<uint32_t>(request.bytes - index * mtu) : mtu;
    if (last)
    {
        const uint8_t plain = first ? WRITE_ONLY : WRITE_LAST;
        frame->opcode = request.withImmediate ? plain + 1 : plain;
        frame->immediate = request.immediate;
    }
    else
    {
        frame->opcode = first ? WRITE_FIRST : WRITE_MIDDLE;
    }
    if (first)
    {
        frame->remoteAddress = request.address;
        frame->messageBytes = request.bytes;
    }
    if (request.payload)
    {
        frame->payload = request.payload;
        frame->payloadOffset = request.payloadOffset + index * mtu;
    }
    frame->bytes = GetWriteFrameBytes(frame->opcode, frame->payloadBytes);
    frame->source = m_nic.GetEndpoint();
    frame->destination = m_remoteEndpoint;
    frame->destinationQp = m_remoteNumber;
    frame->flowHash = m_flowHash;
    frame->psn = static_cast<uint32_t>(m_nextPsn % PSN_MODULUS);
    frame->priority = m_nic.GetDataPriority();
    frame->ecn = Ecn::ECT;
    // Without an answer a closed window would stay closed.
    frame->timestamp = now;
    if (m_needs.telemetry)
    {
        const uint32_t switches = std::max(LEAST_TELEMETRY_HOPS, m_nic.GetPathHops() - 1);
        frame->telemetry = std::make_unique<TelemetryStack>();
        frame->telemetry->reserve(switches);
        frame->bytes += GetTelemetryBytes(switches);
    }
    frame->ackRequest = last || m_needs.ackPerPacket ||
                        (m_nextPsn + 1) % m_nic.GetAckInterval() == 0 ||
                        !IsWindowOpen(m_nextPsn + 1 - m_unackedPsn);

    m_counters.sentPackets++;
    if (m_nextPsn < m_highestPsn)
    {
        m_counters.retransmittedPackets++;
    }
    if (frame->ackRequest)
    {
        // Before an answer is due there is none to wait for, however slow the queue pair is.
        if (m_awaitedPsn <= m_unackedPsn)
        {
            StartTimer(now);
        }
        m_awaitedPsn = m_nextPsn + 1;
    }
    m_nextPsn++;
    m_highestPsn = std::max(m_highestPsn, m_nextPsn);
    if (last)
    {
        m_cursor++;
    }
    const double wireBits = 8.0 * (frame->bytes + Frame::PREAMBLE_BYTES + Frame::GAP_BYTES);
    m_nextSendTime =
        now + static_cast<int64_t>(wireBits * 1e12 / m_congestionControl->GetRate(now));
    return frame;
}

void
RdmaQueuePair::Receive(Frame* frame)
{
    switch (frame->kind)
    {
    case FrameKind::ROCE_DATA:
        ReceiveData(frame);
        break;
    case FrameKind::ROCE_ACK:
        ReceiveAck(*frame);
        break;
    case FrameKind::ROCE_CNP:
        m_counters.receivedCnps++;
        m_congestionControl->OnCnp(Simulator::Now().GetTimeStep());
        break;
    default:
        NS_LOG_WARN("a frame that is not RoCE");
    }
    Frame::Free(frame);
}

void
RdmaQueuePair::ReceiveData(Frame* frame)
{
    m_marked |= frame->ecn == Ecn::CE;
    if (frame->ecn == Ecn::CE && m_congestionControl->GetNeeds().cnp)
    {
        SendCnp();
    }
    const uint64_t psn = Extend(frame->psn, m_expectedPsn);
    if (psn > m_expectedPsn)
    {
        m_counters.outOfOrderPackets++;
        if (!m_nakSent)
        {
            m_nakSent = true;
            m_counters.sentNaks++;
            Answer(SYNDROME_NAK_SEQUENCE, m_expectedPsn, *frame);
        }
        return;
    }
    if (psn < m_expectedPsn)
    {
        // The acknowledgement may have been lost: say again what has been accepted (C9-110).
        m_counters.duplicatePackets++;
        if (frame->ackRequest)
        {
            m_counters.sentAcks++;
            Answer(SYNDROME_ACK, m_expectedPsn - 1, *frame);
        }
        return;
    }
    m_expectedPsn++;
    m_nakSent = false;
    m_counters.receivedPackets++;
    if (frame->ackRequest)
    {
        m_counters.sentAcks++;
        Answer(SYNDROME_ACK, psn, *frame);
    }
    Accept(*frame);
}

void
RdmaQueuePair::Accept(const Frame& frame)
{
    if (IsFirst(frame.opcode))
    {
        m_message = {};
        m_message.address = frame.remoteAddress;
        m_message.bytes = frame.messageBytes;
        m_offset = 0;
        if (frame.payload)
        {
            m_message.payload = Create<ByteBuffer>();
            m_message.payload->bytes.resize(m_message.bytes);
        }
    }
    if (frame.payload)
    {
        const auto from = frame.payload->bytes.begin() + static_cast<int64_t>(frame.payloadOffset);
        std::copy(from,
                  from + frame.payloadBytes,
                  m_message.payload->bytes.begin() + static_cast<int64_t>(m_offset));
    }
    m_offset += frame.payloadBytes;
    if (IsLast(frame.opcode))
    {
        m_message.hasImmediate = HasImmediate(frame.opcode);
        m_message.immediate = frame.immediate;
        const RdmaMessage message = std::move(m_message);
        m_message = {};
        if (m_onMessage)
        {
            m_onMessage(message);
        }
    }
}

void
RdmaQueuePair::ReceiveAck(const Frame& frame)
{
    if (m_failed)
    {
        return;
    }
    const bool positive = frame.syndrome == SYNDROME_ACK;
    const uint64_t psn = Extend(frame.psn, m_unackedPsn);
    // A NAK names the packet that is missing, so it acknowledges those before it.
    const uint64_t acknowledged = positive ? psn + 1 : psn;
    if (acknowledged > m_unackedPsn && acknowledged <= m_highestPsn)
    {
        m_ackedBytes += (acknowledged - m_unackedPsn) * m_nic.GetMtu();
        m_unackedPsn = acknowledged;
        m_nextPsn = std::max(m_nextPsn, m_unackedPsn);
        m_progress = Simulator::Now().GetTimeStep();
        if (m_expiries > 0)
        {
            m_expiries = 0;
            Simulator::Cancel(m_timer); // it had been doubled
            if (m_awaitedPsn > m_unackedPsn)
            {
                StartTimer(m_progress);
            }
        }
        while (!m_requests.empty() &&
               m_requests.front().firstPsn + m_requests.front().packets <= m_unackedPsn)
        {
            const Request& done = m_requests.front();
            m_ackedBytes -= done.packets * m_nic.GetMtu() - done.bytes; // the last may be short
            m_requests.pop_front();
            m_cursor -= m_cursor > 0 ? 1 : 0;
        }
    }
    const int64_t now = Simulator::Now().GetTimeStep();
    if (positive)
    {
        RdmaCongestionControl::Ack ack;
        ack.now = now;
        ack.roundTrip = now - frame.timestamp;
        ack.bytes = m_ackedBytes;
        ack.firstUnackedPsn = m_unackedPsn;
        ack.nextPsn = m_nextPsn;
        ack.ecnEcho = frame.ecnEcho;
        ack.telemetry = frame.telemetry.get();
        m_ackedBytes = 0;
        m_congestionControl->OnAck(ack);
    }
    else if (psn >= m_unackedPsn && psn < m_highestPsn)
    {
        m_congestionControl->OnLoss(now);
        Rewind(psn);
    }
    m_nic.Schedule(*this);
}

void
RdmaQueuePair::Rewind(uint64_t psn)
{
    NS_LOG_LOGIC("queue pair " << m_number << " goes back from " << m_nextPsn << " to " << psn);
    m_nextPsn = psn;
    m_awaitedPsn = psn;
    m_cursor = 0;
    while (m_requests[m_cursor].firstPsn + m_requests[m_cursor].packets <= psn)
    {
        m_cursor++;
    }
}

void
RdmaQueuePair::StartTimer(int64_t now)
{
    m_progress = now;
    if (m_timer.IsExpired())
    {
        m_timer = Simulator::Schedule(TimeStep(GetTimeout()), &RdmaQueuePair::OnTimer, this);
    }
}

int64_t
RdmaQueuePair::GetTimeout() const
{
    return m_nic.GetTimeout().GetTimeStep() << std::min(m_expiries, MOST_DOUBLINGS);
}

void
RdmaQueuePair::OnTimer()
{
    if (m_awaitedPsn <= m_unackedPsn)
    {
        return; // nothing is awaited; the next packet that asks for an answer starts it again
    }
    // One event that looks again is cheaper than one that is moved with each acknowledgement.
    const int64_t now = Simulator::Now().GetTimeStep();
    const int64_t deadline = m_progress + GetTimeout();
    if (now < deadline)
    {
        m_timer = Simulator::Schedule(TimeStep(deadline - now), &RdmaQueuePair::OnTimer, this);
        return;
    }
    m_counters.timeouts++;
    if (++m_expiries > m_nic.GetRetryLimit())
    {
        m_failed = true;
        if (m_onError)
        {
            m_onError("queue pair " + std::to_string(m_number) + " to endpoint " +
                      std::to_string(m_remoteEndpoint) + ": retry limit of " +
                      std::to_string(m_nic.GetRetryLimit()) + " reached");
        }
        return;
    }
    m_congestionControl->OnTimeout(now);
    Rewind(m_unackedPsn);
    m_nic.Schedule(*this);
}

Frame*
RdmaQueuePair::MakeControl(FrameKind kind, uint32_t transportBytes) const
{
    Frame* frame = Frame::Allocate(kind);
    frame->bytes = GetFrameBytes(transportBytes);
    frame->source = m_nic.GetEndpoint();
    frame->destination = m_remoteEndpoint;
    frame->destinationQp = m_remoteNumber;
    frame->flowHash = m_flowHash;
    frame->priority = m_nic.GetControlPriority();
    return frame;
}

void
RdmaQueuePair::Answer(uint8_t syndrome, uint64_t psn, Frame& data)
{
    Frame* frame = MakeControl(FrameKind::ROCE_ACK, ROCE_BYTES + AETH_BYTES);
    frame->timestamp = data.timestamp;
    frame->ecnEcho = m_marked;
    m_marked = false;
    if (data.telemetry)
    {
        frame->bytes += GetTelemetryBytes(
            std::max(LEAST_TELEMETRY_HOPS, static_cast<uint32_t>(data.telemetry->size())));
        frame->telemetry = std::move(data.telemetry);
    }
    frame->opcode = ACKNOWLEDGE;
    frame->syndrome = syndrome;
    frame->psn = static_cast<uint32_t>(psn % PSN_MODULUS);
    m_nic.SendControl(frame);
}

void
RdmaQueuePair::SendCnp()
{
    const int64_t now = Simulator::Now().GetTimeStep();
    if (now < m_nextCnp)
    {
        return;
    }
    m_nextCnp = now + m_nic.GetCnpInterval().GetTimeStep();
    m_counters.sentCnps++;
    Frame* frame = MakeControl(FrameKind::ROCE_CNP, ROCE_BYTES + CNP_BYTES);
    frame->opcode = CNP;
    frame->psn = 0;
    m_nic.SendControl(frame);
}

uint64_t
RdmaQueuePair::Extend(uint32_t psn, uint64_t reference) const
{
    // The number closest to the reference that has these low 24 bits.
    const auto distance = static_cast<int32_t>((psn - static_cast<uint32_t>(reference)) << 8) >> 8;
    return reference + static_cast<uint64_t>(static_cast<int64_t>(distance));
}

} // namespace ns3::training
