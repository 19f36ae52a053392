/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-queue-pair.h"

#include "ns3/log.h"
#include "ns3/state-visitor.h"
#include "ns3/training-event-loop.h"
#include "ns3/training-prefetch.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRdmaQueuePair");

namespace
{

/** @return the congestion control, which knows its path */
RdmaCongestionControl&
Initialize(RdmaCongestionControl& congestionControl,
           uint32_t node,
           const RdmaCongestionControl::Path& path)
{
    congestionControl.SetNodeId(node);
    congestionControl.Initialize(path);
    return congestionControl;
}

} // namespace

RdmaQueuePair::RdmaQueuePair(RdmaPort& port,
                             uint32_t number,
                             const RdmaRemote& remote,
                             const RdmaCongestionControl::Path& path,
                             Ptr<RdmaCongestionControl> congestionControl,
                             std::unique_ptr<RdmaLossRecovery> recovery)
    : m_port(port),
      m_congestionControl(congestionControl),
      m_recovery(std::move(recovery)),
      m_sender(port,
               number,
               remote,
               path,
               Initialize(*congestionControl, port.GetNodeId(), path),
               *m_recovery,
               m_counters),
      m_receiver(port, m_sender.GetRemote(), *congestionControl, *m_recovery, m_counters)
{
    m_recovery->SetIdleRoundTrip(path.roundTrip);
}

void
RdmaQueuePair::SetMessageHandler(MessageHandler handler)
{
    m_receiver.SetMessageHandler(std::move(handler));
}

void
RdmaQueuePair::SetCompletionHandler(CompletionHandler handler)
{
    m_sender.SetCompletionHandler(std::move(handler));
}

void
RdmaQueuePair::SetErrorHandler(ErrorHandler handler)
{
    m_sender.SetErrorHandler(std::move(handler));
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
    return m_sender.Post(std::move(request));
}

uint64_t
RdmaQueuePair::Send(Message request)
{
    NS_LOG_FUNCTION(this << request.bytes << request.immediate.value_or(0));
    request.isSend = true;
    return m_sender.Post(std::move(request));
}

QueuePairCounters
RdmaQueuePair::GetCounters() const
{
    m_port.CatchUp();
    QueuePairCounters counters = m_counters;
    counters.receivedPackets = m_receiver.GetExpectedPsn() - m_port.GetSettings().firstPsn;
    counters.sentAcks = m_receiver.GetSentAcks();
    m_sender.AddTo(counters);
    return counters;
}

Ptr<RdmaCongestionControl>
RdmaQueuePair::GetCongestionControl() const
{
    m_port.CatchUp();
    return m_congestionControl;
}

void
RdmaQueuePair::RenewPriorities()
{
    m_port.CatchUp();
    const RdmaSettings& settings = m_port.GetSettings();
    if (m_sender.SetPriority(settings.dataPriority))
    {
        m_receiver.SetAckPriority(settings.GetAckPriority());
    }
}

void
RdmaQueuePair::Prefetch(const Frame& frame) const
{
    const bool isData = frame.kind == FrameKind::ROCE_DATA;
    const void* from = isData ? static_cast<const void*>(&m_receiver) : &m_sender;
    const std::size_t lines = !isData            ? RdmaSender::ACK_LINES
                              : frame.ackRequest ? RdmaReceiver::ANSWER_LINES
                                                 : RdmaReceiver::ACCEPT_LINES;
    PrefetchBytes(from, 64 * lines);
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
        m_sender.ReceiveAck(*frame);
        break;
    case FrameKind::ROCE_CNP:
        m_sender.ReceiveCnp();
        break;
    default:
        NS_LOG_WARN("queue pair " << GetNumber() << " ignores a frame that is not RoCE");
    }
    Frame::Free(frame);
}

void
RdmaQueuePair::Close()
{
    NS_LOG_LOGIC("queue pair " << GetNumber() << " is closed");
    m_closed = true;
    m_sender.Close();
    m_receiver.Close();
}

void
RdmaQueuePair::Visit(StateVisitor& visitor)
{
    static_assert(StateVisitor::IsSize(sizeof(RdmaQueuePair), 832),
                  "a new member: visit it unless it stays, then correct the size");
    if (visitor.PassesOver(m_sender.IsIdle() && !m_receiver.IsReceiving()))
    {
        visitor.Same({GetNumber(), m_sender.GetPostedPsn(), m_receiver.GetExpectedPsn()});
        return;
    }
    m_sender.Visit(visitor);
    visitor.Same({m_counters.postedMessages,
                  m_counters.completedMessages,
                  m_counters.receivedMessages,
                  m_counters.retransmittedPackets,
                  m_counters.duplicatePackets,
                  m_counters.outOfOrderPackets,
                  m_counters.refusedPackets,
                  m_counters.sentNaks,
                  m_counters.receivedNaks,
                  m_counters.receivedRefusals,
                  m_counters.sentCnps,
                  m_counters.receivedCnps,
                  m_counters.timeouts});
    m_receiver.Visit(visitor);
}

} // namespace ns3::training
