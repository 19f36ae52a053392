/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-transport.h"

#include "ns3/log.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingRdmaTransport");
NS_OBJECT_ENSURE_REGISTERED(RdmaTransport);

TypeId
RdmaTransport::GetTypeId()
{
    static TypeId tid = TypeId("ns3::training::RdmaTransport")
                            .SetParent<MessageTransport>()
                            .SetGroupName("DistributedTraining")
                            .AddConstructor<RdmaTransport>();
    return tid;
}

void
RdmaTransport::DoDispose()
{
    for (auto& [rank, peer] : m_peers)
    {
        peer.queuePair->SetMessageHandler(nullptr);
        peer.queuePair->SetErrorHandler(nullptr);
    }
    m_peers.clear();
    if (m_nic)
    {
        m_nic->SetListener(nullptr);
    }
    m_nic = nullptr;
    MessageTransport::DoDispose();
}

void
RdmaTransport::SetNic(Ptr<RdmaNic> nic)
{
    m_nic = nic;
    m_nic->SetListener([this](uint32_t number) {
        const bool known = number >= 1 && number <= m_endpoints.size();
        return known ? PeekPointer(GetPeer(number - 1).queuePair) : nullptr;
    });
}

RdmaTransport::Peer&
RdmaTransport::GetPeer(uint32_t peer)
{
    Peer& entry = m_peers[peer];
    if (!entry.queuePair)
    {
        NS_LOG_LOGIC("rank " << m_rank << " makes a queue pair for rank " << peer);
        entry.queuePair = m_nic->CreateQueuePair(1 + peer, m_endpoints.at(peer), 1 + m_rank);
        entry.queuePair->SetMessageHandler(
            [this, peer](const RdmaMessage& message) { Receive(peer, message); });
        entry.queuePair->SetErrorHandler(
            [this, peer](const std::string& reason) { Fail(peer, reason); });
    }
    return entry;
}

void
RdmaTransport::Send(uint32_t peer, uint64_t tag, uint64_t bytes, Ptr<ByteBuffer> payload)
{
    NS_LOG_FUNCTION(this << peer << tag << bytes);
    RdmaQueuePair& queuePair = *GetPeer(peer).queuePair;
    // A work request holds whole packets, so that splitting adds no short ones.
    const uint64_t part = LONGEST_REQUEST / m_nic->GetMtu() * m_nic->GetMtu();
    uint64_t offset = 0;
    do
    {
        const uint64_t length = std::min(part, bytes - offset);
        const bool last = offset + length == bytes;
        queuePair.Write(tag, length, payload, offset, 0, last);
        offset += length;
    } while (offset < bytes);
}

void
RdmaTransport::Receive(uint32_t peer, const RdmaMessage& message)
{
    Peer& entry = m_peers.at(peer);
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
    const uint64_t bytes = entry.received;
    entry.received = 0;
    entry.payload = nullptr;
    Deliver(peer, message.address, bytes, payload);
}

} // namespace ns3::training
