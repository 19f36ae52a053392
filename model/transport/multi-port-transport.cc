/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "multi-port-transport.h"

#include "ns3/boolean.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingMultiPortTransport");
NS_OBJECT_ENSURE_REGISTERED(MultiPortTransport);

namespace
{

/// Minimum size of a part of a striped message, bytes.
constexpr uint64_t MIN_PART = 4096;

/** Calls a handler; ns-3.35 schedules no function objects. */
void
Call(MessageTransport::SentHandler handler)
{
    handler();
}

} // namespace

TypeId
MultiPortTransport::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::MultiPortTransport")
            .SetParent<MessageTransport>()
            .SetGroupName("DistributedTraining")
            .AddAttribute(
                "Stripe",
                "Whether messages are striped over the port pairs; otherwise they use them in turn",
                BooleanValue(false),
                MakeBooleanAccessor(&MultiPortTransport::m_stripe),
                MakeBooleanChecker());
    return tid;
}

void
MultiPortTransport::DoDispose()
{
    m_peers.clear();
    m_partial.clear();
    m_portPairs = nullptr;
    MessageTransport::DoDispose();
}

void
MultiPortTransport::SetPortPairs(uint32_t rank, std::shared_ptr<PortPairTable> portPairs)
{
    SetRank(rank);
    m_portPairs = std::move(portPairs);
}

void
MultiPortTransport::SetGroup(uint32_t rank, std::vector<uint32_t> endpoints)
{
    SetPortPairs(rank, std::make_shared<SinglePortPairs>(std::move(endpoints)));
}

MultiPortTransport::PeerPortPairs&
MultiPortTransport::GetPeerPortPairs(uint32_t peer)
{
    const auto [found, fresh] = m_peers.try_emplace(peer);
    PeerPortPairs& way = found->second;
    if (fresh)
    {
        way.portPairs = m_portPairs->GetPortPairs(m_rank, peer);
        way.portPairs.resize(std::min<std::size_t>(way.portPairs.size(), MAX_PORT_PAIRS));
        // Spreads the first messages to different peers over the port pairs.
        way.next = (m_rank + peer) % way.portPairs.size();
    }
    return way;
}

const std::vector<PortPair>&
MultiPortTransport::GetPortPairs(uint32_t peer)
{
    return GetPeerPortPairs(peer).portPairs;
}

void
MultiPortTransport::Send(uint32_t peer,
                         uint64_t tag,
                         uint64_t bytes,
                         Ptr<ByteBuffer> payload,
                         SentHandler sent)
{
    NS_LOG_FUNCTION(this << peer << tag << bytes);
    PeerPortPairs& way = GetPeerPortPairs(peer);
    const auto portPairs = static_cast<uint32_t>(way.portPairs.size());
    const auto parts =
        static_cast<uint32_t>(m_stripe ? std::clamp<uint64_t>(bytes / MIN_PART, 1, portPairs) : 1);
    if (sent)
    {
        // From an event, because the part is reported while its socket or NIC is sending.
        sent = [left = std::make_shared<uint32_t>(parts), all = std::move(sent)]() {
            if (--*left == 0)
            {
                Simulator::ScheduleNow(&Call, all);
            }
        };
    }
    if (!m_stripe)
    {
        SendOn(peer, way.next, {tag, bytes, std::move(payload), 0, 0, 1, std::move(sent)});
        way.next = (way.next + 1) % portPairs;
        return;
    }
    const uint64_t share = bytes / parts / sizeof(float) * sizeof(float);
    for (uint32_t i = 0; i < parts; i++)
    {
        const uint64_t length = i + 1 < parts ? share : bytes - i * share;
        SendOn(peer, (way.next + i) % portPairs, {tag, length, payload, i * share, i, parts, sent});
    }
    way.next = (way.next + parts) % portPairs;
}

void
MultiPortTransport::DeliverPart(uint32_t peer, const Part& part)
{
    if (part.parts == 1)
    {
        Deliver(peer, part.tag, part.bytes, part.payload);
        return;
    }
    Partial& partial = m_partial[{peer, part.tag}];
    partial.payloads.resize(part.parts);
    partial.payloads.at(part.index) = part.payload;
    partial.bytes += part.bytes;
    if (++partial.arrived < part.parts)
    {
        return;
    }
    Ptr<ByteBuffer> payload;
    if (part.payload)
    {
        payload = Create<ByteBuffer>();
        for (const auto& other : partial.payloads)
        {
            payload->bytes.insert(payload->bytes.end(), other->bytes.begin(), other->bytes.end());
        }
    }
    const uint64_t bytes = partial.bytes;
    m_partial.erase({peer, part.tag});
    Deliver(peer, part.tag, bytes, payload);
}

} // namespace ns3::training
