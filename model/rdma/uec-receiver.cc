/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "uec-receiver.h"

#include "ns3/assert.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingUecReceiver");

namespace
{

/// Packets farther ahead are refused: no sender has so many in flight.
constexpr uint64_t MAX_AHEAD = 1 << 15;

} // namespace

void
UecArrivals::Add(uint64_t psn, uint64_t expected)
{
    while (!Covers(psn, expected))
    {
        std::vector<uint64_t> words(2 * m_words.size());
        for (uint64_t word = 0; word < m_words.size(); word++)
        {
            const uint64_t number = expected / 64 + word;
            words[number & (words.size() - 1)] = m_words[number & m_mask];
        }
        m_words.swap(words);
        m_mask = m_words.size() - 1;
    }
    m_words[psn / 64 & m_mask] |= uint64_t{1} << psn % 64;
}

UecReceiver::UecReceiver(UecPort& port,
                         const RdmaRemote& remote,
                         bool grantsCredit,
                         QueuePairCounters& counters,
                         const std::vector<UecPortPair>& ports)
    : m_port(port),
      m_remote(remote),
      m_ports(ports),
      m_grantsCredit(grantsCredit),
      m_counters(counters)
{
}

void
UecReceiver::SetMessageHandler(MessageHandler handler)
{
    m_onMessage = std::move(handler);
}

bool
UecReceiver::HasArrived(uint64_t psn) const
{
    return psn < m_expected ||
           (m_ahead > 0 && m_arrivals.Covers(psn, m_expected) && m_arrivals.Has(psn));
}

void
UecReceiver::Receive(const Frame& frame)
{
    const auto& header = frame.As<UecHeader>();
    const uint64_t psn = ExtendCounter(header.psn, UEC_PSN_BITS, m_expected);
    if (psn > m_expected + MAX_AHEAD)
    {
        NS_LOG_WARN("endpoint " << m_port.GetEndpoint() << " refuses packet " << psn
                                << ", far ahead of " << m_expected);
        return;
    }
    if (header.flags & UEC_TRIMMED)
    {
        ReceiveTrimmed(frame, psn);
        return;
    }
    RaiseWanted(header.credit);
    if (HasArrived(psn))
    {
        m_counters.duplicatePackets++;
        Acknowledge(frame, psn);
        return;
    }
    const bool isRequested = header.flags & UEC_ACK_REQUEST;
    // A NACK may close the window over packets that do not ask for an acknowledgement. The sender
    // would then wait for its timeout, because the header has overtaken them.
    bool acknowledges = isRequested || frame.ecn == Ecn::CE || m_counters.receivedPackets == 0 ||
                        m_expected < m_trimmedEnd;
    m_isAckRequested = m_isAckRequested || isRequested;
    m_counters.receivedPackets++;
    const uint32_t lineBytes = frame.bytes - frame.savedBytes;
    m_receivedBytes += lineBytes;
    m_unacknowledged += lineBytes;
    if (psn == m_expected)
    {
        m_expected++;
        while (m_ahead > 0 && m_arrivals.Has(m_expected))
        {
            m_arrivals.Remove(m_expected);
            m_ahead--;
            m_expected++;
        }
        if (m_ahead == 0 && m_isAckRequested)
        {
            acknowledges = true;
            m_isAckRequested = false;
        }
    }
    else
    {
        m_counters.outOfOrderPackets++;
        m_arrivals.Add(psn, m_expected);
        m_ahead++;
    }
    if (acknowledges || m_unacknowledged >= m_port.GetUecSettings().ackBytes)
    {
        Acknowledge(frame, psn);
    }
    Place(frame, header);
}

void
UecReceiver::ReceiveTrimmed(const Frame& frame, uint64_t psn)
{
    if (HasArrived(psn))
    {
        Acknowledge(frame, psn);
        return;
    }
    const auto& request = frame.As<UecHeader>();
    RaiseWanted(request.credit);
    NS_LOG_LOGIC("endpoint " << m_port.GetEndpoint() << " gets packet " << psn << " trimmed");
    m_counters.sentNaks++;
    m_trimmedEnd = std::max(m_trimmedEnd, psn + 1);
    UecHeader header;
    header.type = UecType::NACK;
    header.psn = request.psn;
    header.flags = static_cast<uint8_t>((request.flags & UEC_LAST_HOP) |
                                        (frame.ecn == Ecn::CE ? UEC_MARKED : 0));
    Answer(frame, header);
    if (m_grantsCredit)
    {
        // The packet has spent its credit and will need the same again.
        m_wanted += GetPacketQuanta();
        m_port.GetCreditPacer().Request(*this);
    }
}

uint64_t
UecReceiver::GetPacketQuanta() const
{
    return GetUecFrameBytes(m_port.GetSettings().mtu, true) / UEC_QUANTUM + 1;
}

void
UecReceiver::Acknowledge(const Frame& frame, uint64_t psn)
{
    const auto& request = frame.As<UecHeader>();
    m_unacknowledged = 0;
    m_counters.sentAcks++;
    UecHeader header;
    header.type = UecType::ACK;
    header.psn = static_cast<uint32_t>(m_expected);
    header.flags = static_cast<uint8_t>((request.flags & UEC_RETRANSMITTED) |
                                        (frame.ecn == Ecn::CE ? UEC_MARKED : 0));
    header.outOfOrder = static_cast<uint16_t>(std::min<uint64_t>(m_ahead, 0xffff));
    const uint64_t base =
        std::max(m_expected + 1, psn < UEC_BITMAP_PACKETS ? 0 : psn - (UEC_BITMAP_PACKETS - 1));
    header.ack = {};
    header.ack.base = static_cast<uint32_t>(base);
    header.ack.bitmap = m_ahead > 0 ? m_arrivals.GetBits(base) : 0;
    header.ack.cause = static_cast<uint32_t>(psn);
    header.ack.received =
        static_cast<uint32_t>(m_receivedBytes / UEC_QUANTUM & ((1 << UEC_QUANTA_BITS) - 1));
    Answer(frame, header);
}

UecPortPair
UecReceiver::FindPorts(const Frame& request) const
{
    if (m_ports.empty())
    {
        return {&m_port, m_remote.endpoint};
    }
    // The way that the request has come, unless its link has gone down meanwhile.
    const auto came = std::find_if(m_ports.begin(), m_ports.end(), [&](const UecPortPair& ports) {
        return ports.port->GetEndpoint() == request.destination;
    });
    const auto up = std::find_if(m_ports.begin(), m_ports.end(), [](const UecPortPair& ports) {
        return ports.port->IsUp();
    });
    return came != m_ports.end() && (came->port->IsUp() || up == m_ports.end()) ? *came
           : up != m_ports.end()                                                ? *up
                                                                                : m_ports.front();
}

void
UecReceiver::Answer(const Frame& request, UecHeader header)
{
    header.entropy = request.As<UecHeader>().entropy;
    const UecPortPair ports = FindPorts(request);
    ports.port->SendControl(m_port.MakeControl(header, m_remote, ports));
}

void
UecReceiver::ReceiveProbe(const Frame& frame)
{
    UecHeader header;
    header.type = UecType::ACK;
    header.flags = UEC_PROBED;
    header.psn = static_cast<uint32_t>(m_expected);
    header.ack = {};
    Answer(frame, header);
}

void
UecReceiver::Place(const Frame& frame, const UecHeader& header)
{
    const uint64_t number = ExtendCounter(header.message, UEC_MESSAGE_BITS, m_firstMessage);
    const uint64_t index = number - m_firstMessage;
    NS_ASSERT_MSG(index <= MAX_AHEAD, "a message has at least one packet");
    if (index >= m_messages.size())
    {
        m_messages.resize(index + 1);
    }
    Partial& message = m_messages[index];
    message.isKnown = true;
    message.tag = header.request.tag;
    message.bytes = header.request.bytes;
    if (header.flags & UEC_FIRST)
    {
        message.immediate = header.request.data;
    }
    if (frame.payload)
    {
        if (!message.payload)
        {
            message.payload = Create<ByteBuffer>();
            message.payload->bytes.resize(message.bytes);
        }
        const auto from = frame.payload->bytes.begin() + static_cast<int64_t>(frame.payloadOffset);
        std::copy(from,
                  from + frame.payloadBytes,
                  message.payload->bytes.begin() + header.request.offset);
    }
    message.received += frame.payloadBytes;
    while (!m_messages.empty() && m_messages.front().isKnown &&
           m_messages.front().received == m_messages.front().bytes)
    {
        const Message complete = std::move(m_messages.front());
        m_messages.pop_front();
        m_firstMessage++;
        const Time& latency = m_port.GetSettings().completionLatency;
        if (latency.IsZero())
        {
            Deliver(complete);
        }
        else
        {
            Simulator::Schedule(latency, &UecReceiver::Deliver, this, complete);
        }
    }
}

void
UecReceiver::Deliver(const Message& message)
{
    m_counters.receivedMessages++;
    m_counters.receivedBytes += message.bytes;
    if (m_onMessage)
    {
        m_onMessage(message);
    }
}

void
UecReceiver::RaiseWanted(uint32_t credit)
{
    if (!m_grantsCredit)
    {
        return;
    }
    const uint64_t wanted = ExtendCounter(credit, UEC_QUANTA_BITS, m_wanted);
    if (wanted > m_wanted && wanted < uint64_t{1} << 63)
    {
        m_wanted = wanted;
        if (WantsCredit())
        {
            m_port.GetCreditPacer().Request(*this);
        }
    }
}

void
UecReceiver::ReceiveCreditRequest(const Frame& frame)
{
    if (m_grantsCredit)
    {
        // The grant may have been lost, so it is repeated. It is a sum, so this adds nothing.
        SendCredit();
        RaiseWanted(frame.As<UecHeader>().credit);
        m_port.GetCreditPacer().Request(*this);
    }
}

void
UecReceiver::Close()
{
    m_onMessage = nullptr;
    m_closed = true;
}

bool
UecReceiver::WantsCredit() const
{
    return !m_closed && m_wanted > m_granted;
}

bool
UecReceiver::MayGetAdvance() const
{
    return !m_closed && (m_granted - m_wanted) * UEC_QUANTUM < m_port.GetUecSettings().creditLimit;
}

uint64_t
UecReceiver::GrantCredit(bool isAdvance)
{
    const uint64_t turn = std::max<uint64_t>(uint64_t{m_port.GetUecSettings().creditPackets} *
                                                 m_port.GetSettings().mtu / UEC_QUANTUM,
                                             1);
    const uint64_t before = m_granted;
    m_granted = isAdvance ? before + turn : std::max(before, std::min(before + turn, m_wanted));
    SendCredit();
    return (m_granted - before) * UEC_QUANTUM;
}

void
UecReceiver::SendCredit()
{
    UecHeader header;
    header.type = UecType::CREDIT;
    header.credit = static_cast<uint32_t>(m_granted & ((1 << UEC_QUANTA_BITS) - 1));
    m_creditEntropy = (m_creditEntropy + 1) & ENTROPY_MASK;
    header.entropy = m_creditEntropy;
    m_port.SendControl(m_port.MakeControl(header, m_remote, {&m_port, m_remote.endpoint}));
}

} // namespace ns3::training
