/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-transport.h"

#include "ns3/log.h"
#include "ns3/roce-wire-format.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRdmaTransport");
NS_OBJECT_ENSURE_REGISTERED(RdmaTransport);

namespace
{

/// Immediate data: number of the part in the upper half, parts less one in the lower.
constexpr uint32_t INDEX_SHIFT = 16;

} // namespace

TypeId
RdmaTransport::GetTypeId()
{
    static TypeId tid = TypeId("ns3::training::RdmaTransport")
                            .SetParent<LanedTransport>()
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
    LanedTransport::DoDispose();
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
    const uint32_t peer = index % m_lanes->GetRanks();
    const uint32_t lane = index / m_lanes->GetRanks();
    const bool known = number >= FIRST_QUEUE_PAIR && peer != m_rank &&
                       lane < GetLanes(peer).size() && GetLanes(peer)[lane].rail == rail;
    return known ? PeekPointer(GetConnection(peer, lane).queuePair) : nullptr;
}

RdmaTransport::Connection&
RdmaTransport::GetConnection(uint32_t peer, uint32_t lane)
{
    Connection& entry = m_connections[{peer, lane}];
    if (!entry.queuePair)
    {
        NS_LOG_LOGIC("rank " << m_rank << " makes a queue pair for rank " << peer << " lane "
                             << lane);
        const uint32_t first = FIRST_QUEUE_PAIR + lane * m_lanes->GetRanks();
        const Lane& way = GetLanes(peer)[lane];
        entry.queuePair = m_nics.at(way.rail)->CreateQueuePair(first + peer,
                                                               way.remoteEndpoint,
                                                               first + m_rank,
                                                               way.rate);
        entry.queuePair->SetMessageHandler(
            [this, peer, lane](const RdmaMessage& message) { Receive(peer, lane, message); });
        entry.queuePair->SetErrorHandler(
            [this, peer](const std::string& reason) { Fail(peer, reason); });
    }
    return entry;
}

void
RdmaTransport::SendOn(uint32_t peer, uint32_t lane, const Part& part)
{
    RdmaQueuePair& queuePair = *GetConnection(peer, lane).queuePair;
    // A work request holds whole packets, so that splitting adds no short ones.
    const uint64_t mtu = m_nics.front()->GetMtu();
    const uint64_t longest = LONGEST_REQUEST / mtu * mtu;
    const uint32_t immediate = part.index << INDEX_SHIFT | (part.parts - 1);
    uint64_t sent = 0;
    do
    {
        const uint64_t length = std::min(longest, part.bytes - sent);
        const bool last = sent + length == part.bytes;
        queuePair.Write(part.tag, length, part.payload, part.offset + sent, immediate, last);
        sent += length;
    } while (sent < part.bytes);
}

void
RdmaTransport::Receive(uint32_t peer, uint32_t lane, const RdmaMessage& message)
{
    Connection& entry = m_connections.at({peer, lane});
    Ptr<ByteBuffer> payload = message.payload;
    if (message.payload && entry.received > 0)
    {
        auto& bytes = entry.payload->bytes;
        bytes.insert(bytes.end(), message.payload->bytes.begin(), message.payload->bytes.end());
        payload = entry.payload;
    }
    entry.received += message.bytes;
    if (!message.hasImmediate)
    {
        entry.payload = payload;
        return;
    }
    const Part part{message.address,
                    entry.received,
                    payload,
                    0,
                    message.immediate >> INDEX_SHIFT,
                    (message.immediate & ((1 << INDEX_SHIFT) - 1)) + 1};
    entry.received = 0;
    entry.payload = nullptr;
    DeliverPart(peer, part);
}

} // namespace ns3::training
