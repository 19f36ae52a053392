/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "sharp-connection.h"

#include "sharp-wire-format.h"

#include "ns3/log.h"
#include "ns3/nvlink-packets.h"
#include "ns3/roce-wire-format.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingSharpConnection");

namespace
{

constexpr uint32_t PSN_MASK = PSN_MODULUS - 1;
constexpr uint32_t HALF_OF_PSNS = PSN_MODULUS / 2;

} // namespace

SharpConnection::SharpConnection(Owner& owner,
                                 uint32_t endpoint,
                                 const Peer& peer,
                                 uint8_t job,
                                 const Settings& settings)
    : m_owner(owner),
      m_endpoint(endpoint),
      m_peer(peer),
      m_job(job),
      m_settings(settings),
      m_flowHash(HashFlow(endpoint, peer.endpoint, peer.queuePair)),
      m_oldest(settings.firstPsn),
      m_expected(settings.firstPsn)
{
}

SharpConnection::~SharpConnection()
{
    Close();
}

void
SharpConnection::Close()
{
    NS_LOG_FUNCTION(this << m_peer.endpoint << m_count);
    m_open = false;
    m_ring.clear();
    m_count = 0;
    Simulator::Cancel(m_timer);
    Simulator::Cancel(m_ackTimer);
}

bool
SharpConnection::IsOpen() const
{
    return m_open;
}

const SharpConnection::Peer&
SharpConnection::GetPeer() const
{
    return m_peer;
}

SharpMessage&
SharpConnection::At(uint32_t index)
{
    return m_ring[(m_first + index) & (m_ring.size() - 1)];
}

void
SharpConnection::Send(const SharpMessage& message)
{
    if (!m_open)
    {
        return;
    }
    if (m_count == m_ring.size())
    {
        std::vector<SharpMessage> larger(std::max<std::size_t>(8, 2 * m_ring.size()));
        for (uint32_t i = 0; i < m_count; i++)
        {
            larger[i] = std::move(At(i));
        }
        m_ring = std::move(larger);
        m_first = 0;
    }
    At(m_count) = message;
    if (m_count == 0)
    {
        m_timeouts = 0;
        m_expiry = Simulator::Now().GetTimeStep() + m_settings.timeout.GetTimeStep();
        SetTimer();
    }
    m_count++;
    Transmit(message, SEND_ONLY, (m_oldest + m_count - 1) & PSN_MASK);
}

void
SharpConnection::SendDatagram(const SharpMessage& message)
{
    if (m_open)
    {
        Transmit(message, UD_SEND_ONLY, 0);
    }
}

Frame*
SharpConnection::MakeFrame(const SharpHeader& header, uint8_t opcode, uint32_t psn) const
{
    Frame* frame = Frame::Make(header);
    frame->opcode = opcode;
    frame->psn = psn;
    frame->source = m_endpoint;
    frame->destination = m_peer.endpoint;
    frame->destinationQp = m_peer.queuePair;
    frame->flowHash = m_flowHash;
    frame->priority = m_settings.priority;
    return frame;
}

void
SharpConnection::Transmit(const SharpMessage& message, uint8_t opcode, uint32_t psn)
{
    Frame* frame = MakeFrame(message.header, opcode, psn);
    frame->bytes =
        message.bytes > 0 ? message.bytes : GetSharpFrameBytes(message.payloadBytes, opcode);
    frame->payloadBytes = message.payloadBytes;
    frame->payload = message.payload;
    frame->payloadOffset = message.payloadOffset;
    frame->ingress = message.ingress;
    m_owner.Transmit(frame);
}

void
SharpConnection::SendAgain()
{
    NS_LOG_LOGIC("endpoint " << m_endpoint << " sends " << m_count << " packets from PSN "
                             << m_oldest << " on to endpoint " << m_peer.endpoint << " again");
    m_owner.OnResent(m_count);
    for (uint32_t i = 0; i < m_count; i++)
    {
        Transmit(At(i), SEND_ONLY, (m_oldest + i) & PSN_MASK);
    }
}

bool
SharpConnection::Receive(const Frame& frame)
{
    if (!m_open)
    {
        return false;
    }
    m_ingress = frame.ingress;
    if (frame.opcode == ACKNOWLEDGE)
    {
        OnAcknowledgement(frame);
        return false;
    }
    const uint32_t distance = (frame.psn - m_expected) & PSN_MASK;
    if (distance == 0)
    {
        m_expected = (m_expected + 1) & PSN_MASK;
        m_nakSent = false;
        if (m_settings.nvlink && frame.As<SharpHeader>().operation & SHARP_BROADCAST)
        {
            m_written += frame.payloadBytes;
        }
        NoteReceived();
        return true;
    }
    if (distance < HALF_OF_PSNS)
    {
        if (!m_nakSent) // one NAK per gap, as an InfiniBand responder
        {
            NS_LOG_LOGIC("endpoint " << m_endpoint << " misses PSN " << m_expected
                                     << " of endpoint " << m_peer.endpoint);
            m_nakSent = true;
            Acknowledge(true);
        }
        return false;
    }
    m_owner.OnDuplicate();
    NoteReceived(); // its ACK may be lost
    return false;
}

void
SharpConnection::NoteReceived()
{
    if (++m_unanswered >= m_settings.ackInterval)
    {
        Acknowledge(false);
    }
    else if (m_ackTimer.IsExpired())
    {
        m_ackTimer = Simulator::Schedule(m_settings.ackDelay, &SharpConnection::OnAckTimer, this);
    }
}

void
SharpConnection::OnAckTimer()
{
    if (m_unanswered > 0)
    {
        Acknowledge(false);
    }
}

void
SharpConnection::Acknowledge(bool missing)
{
    m_unanswered = 0;
    SharpHeader header;
    header.job = m_job;
    // An ACK carries the last PSN received, a NAK the first one missing.
    const uint32_t psn = missing ? m_expected : (m_expected - 1) & PSN_MASK;
    Frame* frame = MakeFrame(header, ACKNOWLEDGE, psn);
    frame->syndrome = missing ? SYNDROME_NAK_SEQUENCE : SYNDROME_ACK;
    frame->bytes = m_settings.nvlink ? GetNvlinkFrameBytes(NvlinkPacket::RESPONSE, m_written)
                                     : GetSharpAcknowledgeBytes();
    m_written = 0;
    frame->ingress = m_ingress;
    m_owner.Transmit(frame);
}

void
SharpConnection::OnAcknowledgement(const Frame& frame)
{
    const bool missing = frame.syndrome == SYNDROME_NAK_SEQUENCE;
    const uint32_t next = missing ? frame.psn : (frame.psn + 1) & PSN_MASK;
    const uint32_t acknowledged = (next - m_oldest) & PSN_MASK;
    if (acknowledged > m_count)
    {
        return; // outdated
    }
    for (uint32_t i = 0; i < acknowledged; i++)
    {
        At(i).payload = nullptr;
    }
    m_first += acknowledged;
    m_count -= acknowledged;
    m_oldest = next;
    if (acknowledged > 0 || missing)
    {
        m_expiry = Simulator::Now().GetTimeStep() + m_settings.timeout.GetTimeStep();
    }
    if (acknowledged > 0 && m_timeouts > 0)
    {
        m_timeouts = 0;
        Simulator::Cancel(m_timer); // its timeout may be doubled
        SetTimer();
    }
    if (missing && m_count > 0)
    {
        SendAgain();
    }
}

void
SharpConnection::SetTimer()
{
    // An ACK does not move the timer: on expiry it finds the next packet to wait for.
    if (m_timer.IsExpired())
    {
        m_timer = Simulator::Schedule(TimeStep(m_expiry - Simulator::Now().GetTimeStep()),
                                      &SharpConnection::OnTimer,
                                      this);
    }
}

void
SharpConnection::OnTimer()
{
    if (m_count == 0)
    {
        return;
    }
    const int64_t now = Simulator::Now().GetTimeStep();
    if (m_expiry <= now)
    {
        if (m_timeouts++ >= m_settings.retryLimit)
        {
            NS_LOG_WARN("endpoint " << m_peer.endpoint << " does not answer endpoint "
                                    << m_endpoint);
            Close();
            m_owner.OnBroken(*this);
            return;
        }
        m_expiry = now + (m_settings.timeout.GetTimeStep() << std::min(m_timeouts, 20U));
        SendAgain();
    }
    SetTimer();
}

} // namespace ns3::training
