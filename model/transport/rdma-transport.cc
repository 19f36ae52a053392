/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-transport.h"

#include "ns3/log.h"
#include "ns3/roce-wire-format.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRdmaTransport");
NS_OBJECT_ENSURE_REGISTERED(RdmaTransport);

namespace
{

/// Immediate data: index of the part in the upper half, number of parts minus one in the lower.
constexpr uint32_t INDEX_SHIFT = 16;

} // namespace

TypeId
RdmaTransport::GetTypeId()
{
    static TypeId tid = TypeId("ns3::training::RdmaTransport")
                            .SetParent<MultiPortTransport>()
                            .SetGroupName("DistributedTraining")
                            .AddConstructor<RdmaTransport>();
    return tid;
}

void
RdmaTransport::DoDispose()
{
    for (auto& [key, connection] : m_connections)
    {
        connection.queuePair->SetMessageHandler(nullptr);
        connection.queuePair->SetErrorHandler(nullptr);
    }
    m_connections.clear();
    for (const auto& nic : m_nics)
    {
        nic->SetListener(nullptr);
    }
    m_nics.clear();
    MultiPortTransport::DoDispose();
}

void
RdmaTransport::SetNic(Ptr<RdmaNic> nic)
{
    SetNics({nic});
}

void
RdmaTransport::SetNics(std::vector<Ptr<RdmaNic>> nics)
{
    m_nics = std::move(nics);
    for (uint32_t rail = 0; rail < m_nics.size(); rail++)
    {
        m_nics[rail]->SetListener([this, rail](uint32_t number) { return Accept(rail, number); });
    }
}

RdmaQueuePair*
RdmaTransport::Accept(uint32_t rail, uint32_t number)
{
    const uint32_t index = number - FIRST_QUEUE_PAIR;
    const uint32_t peer = index % m_portPairs->GetRanks();
    const uint32_t connection = index / m_portPairs->GetRanks();
    const bool known = number >= FIRST_QUEUE_PAIR && peer != m_rank &&
                       connection < GetConnections(peer).size() &&
                       GetConnections(peer)[connection].rail == rail;
    return known ? PeekPointer(GetConnection(peer, connection).queuePair) : nullptr;
}

RdmaTransport::Connection&
RdmaTransport::GetConnection(uint32_t peer, uint32_t connection)
{
    Connection& entry = m_connections[{peer, connection}];
    if (!entry.queuePair)
    {
        NS_LOG_LOGIC("rank " << m_rank << " makes a queue pair for rank " << peer << ", connection "
                             << connection);
        const uint32_t first = FIRST_QUEUE_PAIR + connection * m_portPairs->GetRanks();
        const PortPair& way = GetConnections(peer)[connection];
        entry.queuePair = m_nics.at(way.rail)->CreateQueuePair(first + peer,
                                                               way.remoteEndpoint,
                                                               first + m_rank,
                                                               way.rate,
                                                               way.pathRate);
        entry.queuePair->SetMessageHandler([this, peer, connection](const RdmaMessage& message) {
            Receive(peer, connection, message);
        });
        entry.queuePair->SetErrorHandler(
            [this, peer](const std::string& reason) { Fail(peer, reason); });
    }
    return entry;
}

void
RdmaTransport::SendOn(uint32_t peer, uint32_t connection, const Part& part)
{
    RdmaQueuePair& queuePair = *GetConnection(peer, connection).queuePair;
    // Each work request holds whole packets, so splitting adds no short packets.
    const uint64_t mtu = m_nics.front()->GetSettings().mtu;
    const uint64_t longest = MAX_REQUEST / mtu * mtu;
    uint64_t sent = 0;
    do
    {
        const uint64_t length = std::min(longest, part.bytes - sent);
        WorkRequest request;
        request.address = part.tag;
        request.bytes = length;
        request.payload = part.payload;
        request.payloadOffset = part.offset + sent;
        if (sent + length == part.bytes)
        {
            request.immediate = part.index << INDEX_SHIFT | (part.parts - 1);
            request.sent = part.sent;
        }
        queuePair.Write(std::move(request));
        sent += length;
    } while (sent < part.bytes);
}

void
RdmaTransport::Receive(uint32_t peer, uint32_t connection, const RdmaMessage& message)
{
    Connection& entry = m_connections.at({peer, connection});
    entry.arriving.Append(message.bytes, message.payload);
    if (!message.hasImmediate)
    {
        return;
    }
    const Arriving whole = std::exchange(entry.arriving, {});
    const Part part{message.address,
                    whole.bytes,
                    whole.payload,
                    0,
                    message.immediate >> INDEX_SHIFT,
                    (message.immediate & ((1 << INDEX_SHIFT) - 1)) + 1};
    DeliverPart(peer, part);
}

} // namespace ns3::training
