/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "multi-port-transport.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/training-jitter.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingMultiPortTransport");
NS_OBJECT_ENSURE_REGISTERED(MultiPortTransport);

namespace
{

/// Minimum size of a part of a message, bytes.
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
                MakeBooleanChecker())
            .AddAttribute("Spray",
                          "Whether packets of each message are sprayed over the port pairs by one "
                          "connection, as Ultra Ethernet and MRC can",
                          BooleanValue(false),
                          MakeBooleanAccessor(&MultiPortTransport::m_spray),
                          MakeBooleanChecker())
            .AddAttribute("QueuePairs",
                          "Connections per port pair, such as queue pairs",
                          UintegerValue(1),
                          MakeUintegerAccessor(&MultiPortTransport::m_queuePairs),
                          MakeUintegerChecker<uint32_t>(1, MAX_QUEUE_PAIRS))
            .AddAttribute("Split",
                          "Whether messages are split among the connections of a port pair; "
                          "otherwise they use them in turn",
                          BooleanValue(false),
                          MakeBooleanAccessor(&MultiPortTransport::m_split),
                          MakeBooleanChecker())
            .AddAttribute("PostLatency",
                          "Time from Send() until the host has posted a message",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&MultiPortTransport::m_postLatency),
                          MakeTimeChecker(Time(0)))
            .AddAttribute(
                "PostJitter",
                "Distribution of a factor of PostLatency, drawn for each message: NAME or "
                "NAME:key=value of a JitterEntry",
                StringValue("none"),
                MakeStringAccessor(&MultiPortTransport::SetPostJitter,
                                   &MultiPortTransport::GetPostJitter),
                MakeStringChecker());
    return tid;
}

void
MultiPortTransport::DoDispose()
{
    m_peers.clear();
    m_partial.clear();
    m_portPairs = nullptr;
    m_jitter = nullptr;
    MessageTransport::DoDispose();
}

void
MultiPortTransport::SetPostJitter(std::string jitter)
{
    m_jitter = MakeJitter(jitter);
    m_postJitter = std::move(jitter);
}

std::string
MultiPortTransport::GetPostJitter() const
{
    return m_postJitter;
}

int64_t
MultiPortTransport::AssignStreams(int64_t stream)
{
    if (m_jitter)
    {
        m_jitter->SetStream(stream);
    }
    return 1;
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

void
MultiPortTransport::UsePool()
{
    m_isPool = true;
}

MultiPortTransport::PeerConnections&
MultiPortTransport::GetPeerConnections(uint32_t peer)
{
    const auto [found, fresh] = m_peers.try_emplace(peer);
    PeerConnections& way = found->second;
    if (fresh)
    {
        std::vector<PortPair> portPairs = m_portPairs->GetPortPairs(m_rank, peer);
        portPairs.resize(std::min<std::size_t>(portPairs.size(), MAX_PORT_PAIRS));
        if (m_spray && portPairs.size() > 1)
        {
            portPairs.resize(std::min<std::size_t>(portPairs.size(), MAX_SPRAYED));
            way.sprayed = portPairs;
            portPairs.resize(1);
            portPairs.front().rail = 0; // its NIC has the connections of all
        }
        way.ports = static_cast<uint32_t>(portPairs.size());
        for (uint32_t i = 0; i < m_queuePairs; i++)
        {
            way.portPairs.insert(way.portPairs.end(), portPairs.begin(), portPairs.end());
        }
        // Spreads the first messages to different peers over the port pairs.
        way.next = (m_rank + peer) % way.ports;
    }
    return way;
}

const std::vector<PortPair>&
MultiPortTransport::GetConnections(uint32_t peer)
{
    return GetPeerConnections(peer).portPairs;
}

const std::vector<PortPair>&
MultiPortTransport::GetSprayed(uint32_t peer)
{
    return GetPeerConnections(peer).sprayed;
}

void
MultiPortTransport::Send(uint32_t peer, Message message)
{
    NS_LOG_FUNCTION(this << peer << message.tag << message.bytes);
    if (m_postLatency.IsZero())
    {
        Post(peer, std::move(message));
        return;
    }
    const Time now = Simulator::Now();
    const double factor = m_jitter ? m_jitter->GetValue() : 1;
    m_lastPost = std::max(m_lastPost, now + Seconds(m_postLatency.GetSeconds() * factor));
    Simulator::Schedule(m_lastPost - now, &MultiPortTransport::PostOf, this, m_life, peer, message);
}

void
MultiPortTransport::Restart(uint32_t numbers)
{
    NS_LOG_FUNCTION(this << numbers);
    NS_ABORT_MSG_IF(m_isPool, "a pool of connections cannot restart");
    m_life++;
    m_lastPost = Simulator::Now();
    m_peers.clear();
    m_partial.clear();
}

void
MultiPortTransport::PostOf(uint32_t life, uint32_t peer, const Message& message)
{
    if (life == m_life)
    {
        Post(peer, message);
    }
}

void
MultiPortTransport::Post(uint32_t peer, Message message)
{
    PeerConnections& way = GetPeerConnections(peer);
    const auto connections = static_cast<uint32_t>(way.portPairs.size());
    if (m_isPool)
    {
        const uint32_t connection = TakeIdle(way, message.sent);
        message.immediate = PartNumber{}.Pack();
        SendOn(peer, connection, std::move(message));
        return;
    }
    const uint32_t most = (m_stripe ? way.ports : 1) * (m_split ? m_queuePairs : 1);
    const auto parts =
        static_cast<uint32_t>(std::clamp<uint64_t>(message.bytes / MIN_PART, 1, most));
    if (message.sent)
    {
        // From an event, because the part is reported while its socket or NIC is sending.
        message.sent = [left = std::make_shared<uint32_t>(parts), all = std::move(message.sent)]() {
            if (--*left == 0)
            {
                Simulator::ScheduleNow(&Call, all);
            }
        };
    }
    const uint64_t share = message.bytes / parts / sizeof(float) * sizeof(float);
    // A message that is not striped keeps to one port pair.
    const uint32_t step = m_stripe ? 1 : way.ports;
    for (uint32_t i = 0; i < parts; i++)
    {
        Message part = message;
        part.bytes = i + 1 < parts ? share : message.bytes - i * share;
        part.payloadOffset += i * share;
        part.immediate = PartNumber{i, parts}.Pack();
        SendOn(peer, (way.next + i * step) % connections, std::move(part));
    }
    way.next = (way.next + (m_stripe ? parts : 1)) % connections;
}

uint32_t
MultiPortTransport::TakeIdle(PeerConnections& way, SentHandler& sent)
{
    way.messages.resize(way.portPairs.size());
    uint32_t connection = way.next;
    for (uint32_t i = connection; i < way.messages.size(); i += way.ports)
    {
        connection = way.messages[i] < way.messages[connection] ? i : connection;
    }
    way.next = (way.next + 1) % way.ports;
    uint32_t& messages = way.messages[connection];
    messages++;
    sent = [&messages, then = std::move(sent)]() {
        messages--;
        if (then)
        {
            Simulator::ScheduleNow(&Call, then);
        }
    };
    return connection;
}

void
MultiPortTransport::DeliverPart(uint32_t peer, const Message& part)
{
    const auto [index, parts] = PartNumber::Unpack(*part.immediate);
    if (parts == 1)
    {
        Deliver(peer, part);
        return;
    }
    Partial& partial = m_partial[{peer, part.tag}];
    partial.payloads.resize(parts);
    partial.payloads.at(index) = part.payload;
    partial.bytes += part.bytes;
    if (++partial.arrived < parts)
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
    Deliver(peer, {part.tag, bytes, payload});
}

} // namespace ns3::training
