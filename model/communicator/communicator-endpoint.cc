/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "communicator-endpoint.h"

#include "ns3/simulator.h"

namespace ns3::training
{

CommunicatorEndpoint::CommunicatorEndpoint(const TracedCallback<const MessageRecord&>& onSend)
    : m_onSend(onSend)
{
}

void
CommunicatorEndpoint::Attach(Ptr<SharedTransport> transport,
                             uint32_t number,
                             uint32_t rank,
                             uint32_t size,
                             const std::vector<uint32_t>& members,
                             MessageTransport::MessageHandler onMessage)
{
    m_transport = transport;
    m_number = number;
    m_rank = rank;
    m_size = size;
    m_transport->Attach(number, members, std::move(onMessage));
}

void
CommunicatorEndpoint::Detach()
{
    if (m_transport)
    {
        m_transport->Detach(m_number);
    }
    m_transport = nullptr;
}

MessageRecord
CommunicatorEndpoint::MakeRecord(uint32_t from, uint32_t to, uint64_t tag, uint64_t bytes) const
{
    const MessageTag parts = MessageTag::Unpack(tag);
    MessageRecord record;
    record.source = GetTransportRank(from);
    record.destination = GetTransportRank(to);
    record.collective = parts.collective;
    record.step = parts.step;
    record.message = parts.message;
    record.tag = tag;
    record.bytes = bytes;
    record.time = Simulator::Now();
    return record;
}

void
CommunicatorEndpoint::Send(uint32_t peer, Message message) const
{
    m_onSend(MakeRecord(m_rank, peer, message.tag, message.bytes));
    m_transport->Send(m_number, peer, std::move(message));
}

std::optional<CommunicatorEndpoint::Chunk>
CommunicatorEndpoint::Take(uint32_t peer, uint64_t tag)
{
    const auto found = m_early.find({peer, tag});
    if (found == m_early.end())
    {
        return std::nullopt;
    }
    const Chunk chunk = std::move(found->second);
    m_early.erase(found);
    return chunk;
}

void
CommunicatorEndpoint::Clear()
{
    m_early.clear();
    m_grants.Clear();
}

} // namespace ns3::training
