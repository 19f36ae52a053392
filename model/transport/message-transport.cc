/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "message-transport.h"

#include "ns3/log.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingMessageTransport");
NS_OBJECT_ENSURE_REGISTERED(MessageTransport);

TypeId
MessageTransport::GetTypeId()
{
    static TypeId tid = TypeId("ns3::training::MessageTransport")
                            .SetParent<Object>()
                            .SetGroupName("DistributedTraining");
    return tid;
}

void
MessageTransport::DoDispose()
{
    m_onMessage = nullptr;
    m_onError = nullptr;
    Object::DoDispose();
}

void
MessageTransport::SetRank(uint32_t rank)
{
    m_rank = rank;
}

void
MessageTransport::SetMessageHandler(MessageHandler handler)
{
    m_onMessage = std::move(handler);
}

void
MessageTransport::SetErrorHandler(ErrorHandler handler)
{
    m_onError = std::move(handler);
}

void
MessageTransport::Deliver(uint32_t peer, const Message& message)
{
    NS_LOG_FUNCTION(this << peer << message.tag << message.bytes);
    if (m_onMessage)
    {
        m_onMessage(peer, message);
    }
}

void
MessageTransport::Fail(uint32_t peer, const std::string& reason)
{
    NS_LOG_WARN("rank " << m_rank << " cannot reach rank " << peer << ": " << reason);
    if (m_onError)
    {
        m_onError(peer, reason);
    }
}

} // namespace ns3::training
