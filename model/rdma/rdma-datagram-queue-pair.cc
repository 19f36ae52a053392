/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-datagram-queue-pair.h"

#include "roce-wire-format.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRdmaDatagramQueuePair");

RdmaDatagramQueuePair::RdmaDatagramQueuePair(RdmaPort& port, uint32_t number)
    : RdmaSendQueue(number, port.GetSettings().datagramPriority),
      m_port(port)
{
}

RdmaDatagramQueuePair::~RdmaDatagramQueuePair()
{
    while (m_first)
    {
        Frame* frame = m_first;
        m_first = frame->next;
        Frame::Free(frame);
    }
}

void
RdmaDatagramQueuePair::SetReceiveHandler(ReceiveHandler handler)
{
    m_onReceive = std::move(handler);
}

const DatagramCounters&
RdmaDatagramQueuePair::GetCounters() const
{
    return m_counters;
}

uint64_t
RdmaDatagramQueuePair::GetWaiting() const
{
    return m_waiting;
}

void
RdmaDatagramQueuePair::SendDatagram(uint32_t endpoint, uint32_t queuePair, Message request)
{
    NS_LOG_FUNCTION(this << endpoint << queuePair << request.bytes);
    const uint32_t mtu = m_port.GetSettings().mtu;
    NS_ABORT_MSG_IF(request.bytes > mtu,
                    "a datagram of " << request.bytes << " bytes (allowed: up to " << mtu << ")");
    Frame* frame = Frame::Allocate(FrameKind::ROCE_DATA);
    frame->opcode = request.immediate ? UD_SEND_ONLY_IMMEDIATE : UD_SEND_ONLY;
    frame->immediate = static_cast<uint32_t>(request.immediate.value_or(0));
    frame->payloadBytes = static_cast<uint32_t>(request.bytes);
    frame->payload = std::move(request.payload);
    frame->payloadOffset = request.payloadOffset;
    frame->bytes = GetDataFrameBytes(frame->opcode, frame->payloadBytes);
    frame->source = m_port.GetEndpoint();
    frame->sourceQp = GetNumber();
    frame->destination = endpoint;
    frame->destinationQp = queuePair;
    frame->flowHash = HashFlow(frame->source, endpoint, GetNumber() << 16 ^ queuePair);
    frame->priority = GetPriority();
    frame->ecn = Ecn::ECT;
    frame->psn = m_nextPsn;
    m_nextPsn = (m_nextPsn + 1) % PSN_MODULUS;
    const Time latency = m_port.GetSettings().GetPostLatency();
    if (latency.IsZero())
    {
        Enqueue(frame);
    }
    else
    {
        Simulator::Schedule(latency, &RdmaDatagramQueuePair::Enqueue, this, frame);
    }
}

void
RdmaDatagramQueuePair::Enqueue(Frame* frame)
{
    frame->next = nullptr;
    (m_first ? m_last->next : m_first) = frame;
    m_last = frame;
    m_waiting++;
    m_port.Schedule(*this);
}

bool
RdmaDatagramQueuePair::CanSend() const
{
    return m_first;
}

Frame*
RdmaDatagramQueuePair::MakeFrame(int64_t now)
{
    Frame* frame = m_first;
    m_first = frame->next;
    m_waiting--;
    frame->timestamp = now;
    m_counters.sentPackets++;
    m_counters.sentBytes += frame->payloadBytes;
    return frame;
}

void
RdmaDatagramQueuePair::Receive(const Frame& frame)
{
    const RdmaDatagram datagram{frame.source,
                                frame.sourceQp,
                                frame.payloadBytes,
                                frame.immediate,
                                HasImmediate(frame.opcode),
                                frame.ecn == Ecn::CE,
                                frame.payload,
                                frame.payloadOffset};
    const Time& latency = m_port.GetSettings().completionLatency;
    if (latency.IsZero())
    {
        Deliver(datagram);
    }
    else
    {
        Simulator::Schedule(latency, &RdmaDatagramQueuePair::Deliver, this, datagram);
    }
}

void
RdmaDatagramQueuePair::Deliver(const RdmaDatagram& datagram)
{
    m_counters.receivedPackets++;
    m_counters.receivedBytes += datagram.bytes;
    if (m_onReceive)
    {
        m_onReceive(datagram);
    }
}

} // namespace ns3::training
