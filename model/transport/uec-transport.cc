/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "uec-transport.h"

#include "ns3/log.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingUecTransport");
NS_OBJECT_ENSURE_REGISTERED(UecTransport);

namespace
{

// Header data: number of parts minus one, index of the part, and whether another send follows.
constexpr uint32_t INDEX_SHIFT = 16;
constexpr uint64_t CONTINUES = uint64_t{1} << 32;
constexpr uint64_t FIELD_MASK = (1 << INDEX_SHIFT) - 1;

} // namespace

TypeId
UecTransport::GetTypeId()
{
    static TypeId tid = TypeId("ns3::training::UecTransport")
                            .SetParent<MultiPortTransport>()
                            .SetGroupName("DistributedTraining")
                            .AddConstructor<UecTransport>();
    return tid;
}

void
UecTransport::DoDispose()
{
    for (auto& [key, entry] : m_connections)
    {
        entry.connection->SetMessageHandler(nullptr);
        entry.connection->SetErrorHandler(nullptr);
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
UecTransport::SetNics(std::vector<Ptr<UecNic>> nics)
{
    m_nics = std::move(nics);
    for (uint32_t rail = 0; rail < m_nics.size(); rail++)
    {
        m_nics[rail]->SetListener([this, rail](uint32_t number) { return Accept(rail, number); });
    }
}

UecConnection*
UecTransport::Accept(uint32_t rail, uint32_t number)
{
    const uint32_t peer = number % m_portPairs->GetRanks();
    const uint32_t portPair = number / m_portPairs->GetRanks();
    const bool known = peer != m_rank && portPair < GetConnections(peer).size() &&
                       GetConnections(peer)[portPair].rail == rail;
    return known ? PeekPointer(GetConnection(peer, portPair).connection) : nullptr;
}

UecTransport::Connection&
UecTransport::GetConnection(uint32_t peer, uint32_t portPair)
{
    Connection& entry = m_connections[{peer, portPair}];
    if (!entry.connection)
    {
        NS_LOG_LOGIC("rank " << m_rank << " makes a connection for rank " << peer << ", port pair "
                             << portPair);
        const uint32_t first = portPair * m_portPairs->GetRanks();
        const PortPair& way = GetConnections(peer)[portPair];
        entry.connection =
            m_nics.at(way.rail)->CreateConnection(first + peer, way.remoteEndpoint, first + m_rank);
        entry.connection->SetMessageHandler([this, peer, portPair](const UecMessage& message) {
            Receive(peer, portPair, message);
        });
        entry.connection->SetErrorHandler(
            [this, peer](const std::string& reason) { Fail(peer, reason); });
    }
    return entry;
}

void
UecTransport::SendOn(uint32_t peer, uint32_t portPair, const Part& part)
{
    UecConnection& connection = *GetConnection(peer, portPair).connection;
    // Each send holds whole packets, so splitting adds no short packets.
    const uint64_t mtu = m_nics.front()->GetSettings().mtu;
    const uint64_t longest = UEC_MAX_MESSAGE / mtu * mtu;
    uint64_t sent = 0;
    do
    {
        const uint64_t length = std::min(longest, part.bytes - sent);
        UecMessage message;
        message.tag = part.tag;
        message.bytes = length;
        message.payload = part.payload;
        message.payloadOffset = part.offset + sent;
        sent += length;
        message.data = uint64_t{part.index} << INDEX_SHIFT | (part.parts - 1) |
                       (sent < part.bytes ? CONTINUES : 0);
        if (sent == part.bytes)
        {
            message.sent = part.sent;
        }
        connection.Send(std::move(message));
    } while (sent < part.bytes);
}

void
UecTransport::Receive(uint32_t peer, uint32_t portPair, const UecMessage& message)
{
    Connection& entry = m_connections.at({peer, portPair});
    entry.arriving.Append(message.bytes, message.payload);
    if (message.data & CONTINUES)
    {
        return;
    }
    const Arriving whole = std::exchange(entry.arriving, {});
    const Part part{message.tag,
                    whole.bytes,
                    whole.payload,
                    0,
                    static_cast<uint32_t>(message.data >> INDEX_SHIFT & FIELD_MASK),
                    static_cast<uint32_t>(message.data & FIELD_MASK) + 1};
    DeliverPart(peer, part);
}

} // namespace ns3::training
