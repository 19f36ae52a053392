/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "uec-connection.h"

#include "uec-wire-format.h"

#include "ns3/log.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingUecConnection");

namespace
{

/** @return the congestion control, which knows its path */
UecCongestionControl&
Initialize(UecCongestionControl& congestionControl, const UecCongestionControl::Path& path)
{
    congestionControl.Initialize(path);
    return congestionControl;
}

/** @return the remote side, with a flow hash */
RdmaRemote
AddHash(const RdmaRemote& remote, uint32_t endpoint, uint32_t number)
{
    return {remote.endpoint,
            remote.queuePair,
            HashFlow(endpoint, remote.endpoint, number << 16 ^ remote.queuePair)};
}

} // namespace

UecConnection::UecConnection(UecPort& port,
                             uint32_t number,
                             const RdmaRemote& remote,
                             const UecCongestionControl::Path& path,
                             Ptr<UecCongestionControl> congestionControl,
                             const std::vector<UecPortPair>& ports)
    : m_congestionControl(congestionControl),
      m_sender(port,
               number,
               AddHash(remote, port.GetEndpoint(), number),
               Initialize(*congestionControl, path),
               m_counters,
               ports),
      m_receiver(port, m_sender.GetRemote(), congestionControl->NeedsCredit(), m_counters, ports)
{
}

void
UecConnection::SetMessageHandler(MessageHandler handler)
{
    m_receiver.SetMessageHandler(std::move(handler));
}

void
UecConnection::SetErrorHandler(ErrorHandler handler)
{
    m_sender.SetErrorHandler(std::move(handler));
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
    m_sender.Send(std::move(message));
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
        m_sender.ReceiveAck(*frame);
        break;
    case UecType::NACK:
        m_sender.ReceiveNack(*frame);
        break;
    case UecType::CREDIT:
        m_sender.ReceiveCredit(*frame);
        break;
    case UecType::PROBE:
        m_receiver.ReceiveProbe(*frame);
        break;
    case UecType::PORT_STATUS:
        m_sender.ReceivePortStatus(*frame);
        break;
    }
    Frame::Free(frame);
}

void
UecConnection::Close()
{
    NS_LOG_LOGIC("connection " << GetNumber() << " is closed");
    m_closed = true;
    m_sender.Close();
    m_receiver.Close();
}

} // namespace ns3::training
