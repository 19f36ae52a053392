/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "tree-connection.h"

#include "ns3/log.h"
#include "ns3/roce-wire-format.h"
#include "ns3/simulator.h"
#include "ns3/tree-wire-format.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingTreeConnection");

namespace
{

constexpr uint32_t PSN_MASK = PSN_MODULUS - 1;
constexpr uint32_t HALF_OF_PSNS = PSN_MODULUS / 2;

} // namespace

TreeConnection::TreeConnection(Owner& owner,
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

TreeConnection::~TreeConnection()
{
    Close();
}

void
TreeConnection::Close()
{
    m_open = false;
    m_ring.clear();
    m_count = 0;
    Simulator::Cancel(m_timer);
    Simulator::Cancel(m_ackTimer);
}

bool
TreeConnection::IsOpen() const
{
    return m_open;
}

const TreeConnection::Peer&
TreeConnection::GetPeer() const
{
    return m_peer;
}

TreeMessage&
TreeConnection::At(uint32_t index)
{
    return m_ring[(m_first + index) & (m_ring.size() - 1)];
}

void
TreeConnection::Send(const TreeMessage& message)
{
    if (!m_open)
    {
        return;
    }
    if (m_count == m_ring.size())
    {
        std::vector<TreeMessage> larger(std::max<std::size_t>(8, 2 * m_ring.size()));
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
TreeConnection::SendDatagram(const TreeMessage& message)
{
    if (m_open)
    {
        Transmit(message, UD_SEND_ONLY, 0);
    }
}

void
TreeConnection::Transmit(const TreeMessage& message, uint8_t opcode, uint32_t psn)
{
    Frame* frame = Frame::Allocate(FrameKind::TREE);
    frame->aggregation = message.header;
    frame->opcode = opcode;
    frame->bytes = GetTreeFrameBytes(message.payloadBytes, opcode);
    frame->payloadBytes = message.payloadBytes;
    frame->payload = message.payload;
    frame->payloadOffset = message.payloadOffset;
    frame->psn = psn;
    frame->ingress = message.ingress;
    frame->source = m_endpoint;
    frame->destination = m_peer.endpoint;
    frame->destinationQp = m_peer.queuePair;
    frame->flowHash = m_flowHash;
    frame->priority = m_settings.priority;
    m_owner.Transmit(frame);
}

void
TreeConnection::SendAgain()
{
    m_owner.OnResent(m_count);
    for (uint32_t i = 0; i < m_count; i++)
    {
        Transmit(At(i), SEND_ONLY, (m_oldest + i) & PSN_MASK);
    }
}

bool
TreeConnection::Receive(const Frame& frame)
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
        m_complained = false;
        NoteReceived();
        return true;
    }
    if (distance < HALF_OF_PSNS)
    {
        if (!m_complained) // once, as a responder does
        {
            m_complained = true;
            Acknowledge(true);
        }
        return false;
    }
    m_owner.OnDuplicate();
    NoteReceived(); // its acknowledgement may be lost
    return false;
}

void
TreeConnection::NoteReceived()
{
    if (++m_unanswered >= m_settings.ackInterval)
    {
        Acknowledge(false);
    }
    else if (m_ackTimer.IsExpired())
    {
        m_ackTimer = Simulator::Schedule(m_settings.ackDelay, &TreeConnection::OnAckTimer, this);
    }
}

void
TreeConnection::OnAckTimer()
{
    if (m_unanswered > 0)
    {
        Acknowledge(false);
    }
}

void
TreeConnection::Acknowledge(bool missing)
{
    m_unanswered = 0;
    Frame* frame = Frame::Allocate(FrameKind::TREE);
    AggregationHeader header;
    header.job = m_job;
    frame->aggregation = header;
    frame->opcode = ACKNOWLEDGE;
    frame->syndrome = missing ? SYNDROME_NAK_SEQUENCE : SYNDROME_ACK;
    // The latest one that is there, or the first one that is missing.
    frame->psn = missing ? m_expected : (m_expected - 1) & PSN_MASK;
    frame->bytes = GetTreeAcknowledgeBytes();
    frame->ingress = m_ingress;
    frame->source = m_endpoint;
    frame->destination = m_peer.endpoint;
    frame->destinationQp = m_peer.queuePair;
    frame->flowHash = m_flowHash;
    frame->priority = m_settings.priority;
    m_owner.Transmit(frame);
}

void
TreeConnection::OnAcknowledgement(const Frame& frame)
{
    const bool missing = frame.syndrome == SYNDROME_NAK_SEQUENCE;
    const uint32_t next = missing ? frame.psn : (frame.psn + 1) & PSN_MASK;
    const uint32_t acknowledged = (next - m_oldest) & PSN_MASK;
    if (acknowledged > m_count)
    {
        return; // late
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
        Simulator::Cancel(m_timer); // it may have been doubled
        SetTimer();
    }
    if (missing && m_count > 0)
    {
        SendAgain();
    }
}

void
TreeConnection::SetTimer()
{
    // An acknowledgement leaves the timer as it is: when it expires it finds what to wait for.
    if (m_timer.IsExpired())
    {
        m_timer = Simulator::Schedule(TimeStep(m_expiry - Simulator::Now().GetTimeStep()),
                                      &TreeConnection::OnTimer,
                                      this);
    }
}

void
TreeConnection::OnTimer()
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
