/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-datagram-queue-pair.h"

#include "rdma-nic.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/roce-wire-format.h"
#include "ns3/simulator.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRdmaDatagramQueuePair");

RdmaDatagramQueuePair::RdmaDatagramQueuePair(RdmaNic& nic, uint32_t number)
    : RdmaSendQueue(number, nic.GetDatagramPriority()),
      m_nic(nic)
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
RdmaDatagramQueuePair::SendDatagram(uint32_t endpoint,
                                    uint32_t queuePair,
                                    uint32_t bytes,
                                    Ptr<ByteBuffer> payload,
                                    uint64_t payloadOffset,
                                    uint32_t immediate,
                                    bool withImmediate)
{
    NS_LOG_FUNCTION(this << endpoint << queuePair << bytes);
    NS_ABORT_MSG_IF(bytes > m_nic.GetMtu(),
                    "a datagram of " << bytes << " bytes (allowed: up to " << m_nic.GetMtu()
                                     << ")");
    Frame* frame = Frame::Allocate(FrameKind::ROCE_DATA);
    frame->opcode = withImmediate ? UD_SEND_ONLY_IMMEDIATE : UD_SEND_ONLY;
    frame->immediate = withImmediate ? immediate : 0;
    frame->payloadBytes = bytes;
    frame->payload = std::move(payload);
    frame->payloadOffset = payloadOffset;
    frame->bytes = GetDataFrameBytes(frame->opcode, bytes);
    frame->source = m_nic.GetEndpoint();
    frame->sourceQp = GetNumber();
    frame->destination = endpoint;
    frame->destinationQp = queuePair;
    frame->flowHash = HashFlow(frame->source, endpoint, GetNumber() << 16 ^ queuePair);
    frame->priority = GetPriority();
    frame->ecn = Ecn::ECT;
    frame->psn = m_nextPsn;
    m_nextPsn = (m_nextPsn + 1) % PSN_MODULUS;
    if (m_nic.GetPostLatency().IsZero())
    {
        Enqueue(frame);
    }
    else
    {
        Simulator::Schedule(m_nic.GetPostLatency(), &RdmaDatagramQueuePair::Enqueue, this, frame);
    }
}

void
RdmaDatagramQueuePair::Enqueue(Frame* frame)
{
    frame->next = nullptr;
    (m_first ? m_last->next : m_first) = frame;
    m_last = frame;
    m_waiting++;
    m_nic.Schedule(*this);
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
    if (m_nic.GetCompletionLatency().IsZero())
    {
        Deliver(datagram);
    }
    else
    {
        Simulator::Schedule(m_nic.GetCompletionLatency(),
                            &RdmaDatagramQueuePair::Deliver,
                            this,
                            datagram);
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
