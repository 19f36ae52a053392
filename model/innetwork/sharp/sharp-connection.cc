/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "sharp-connection.h"

#include "rdma/congestion/rdma-line-rate.h"

#include "ns3/log.h"
#include "ns3/nvlink-packets.h"
#include "ns3/roce-wire-format.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <limits>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingSharpConnection");

namespace
{

constexpr uint32_t PSN_MASK = PSN_MODULUS - 1;

/// Part of the timeout that is left on a link that loses packets, and of it in delays of an
/// acknowledgement. A measured round trip and four deviations remain the minimum.
constexpr int64_t LOSSY_PARTS = 20;
constexpr int64_t LOSSY_DELAYS = 4;

} // namespace

SharpConnection::SharpConnection(Owner& owner,
                                 uint32_t endpoint,
                                 const Peer& peer,
                                 uint8_t job,
                                 const Settings& settings)
    : m_owner(owner),
      m_peer(peer),
      m_job(job),
      m_connection(settings),
      m_flowHash(HashFlow(endpoint, peer.endpoint, peer.queuePair)),
      m_oldest(settings.firstPsn),
      m_next(settings.firstPsn),
      m_expected(settings.firstPsn)
{
    m_carrier = this;
    m_endpoint = endpoint;
    m_settings.mtu = SHARP_MAX_PAYLOAD;
    m_settings.ackInterval = 1;
    m_settings.dataPriority = settings.priority;
    m_settings.ackPriority = settings.priority;
    m_settings.timeout = settings.timeout;
    m_settings.retryLimit = settings.retryLimit;
    m_settings.firstPsn = settings.firstPsn;
    m_timers.Attach(m_settings.timeout);
    // Its owners limit what is in flight, so no congestion control paces it.
    RdmaCongestionControl::Path path{};
    path.lineRate = std::numeric_limits<double>::infinity();
    path.mtu = m_settings.mtu;
    m_queuePair =
        Create<RdmaQueuePair>(static_cast<RdmaPort&>(*this),
                              0,
                              RdmaRemote{peer.endpoint, peer.queuePair, m_flowHash},
                              path,
                              CreateObject<RdmaLineRate>(),
                              Registry<LossRecoveryEntry>::Find("go-back-n").make(KeyValues()));
    m_queuePair->SetErrorHandler([this](const std::string&) { OnError(); });
}

SharpConnection::~SharpConnection()
{
    Close();
}

void
SharpConnection::Close()
{
    NS_LOG_FUNCTION(this << m_peer.endpoint << m_messages.size());
    m_open = false;
    m_queuePair->Close();
    m_timers.Stop();
    m_messages.clear();
    Simulator::Cancel(m_ackTimer);
}

void
SharpConnection::Send(const SharpMessage& message)
{
    if (m_open)
    {
        m_messages.push_back(message);
        m_queuePair->GetSender().SendPacket();
    }
}

void
SharpConnection::SendDatagram(const SharpMessage& message)
{
    if (!m_open)
    {
        return;
    }
    Frame* frame = Frame::Allocate(FrameKind::PROGRAM);
    frame->source = m_endpoint;
    frame->destination = m_peer.endpoint;
    frame->destinationQp = m_peer.queuePair;
    frame->flowHash = m_flowHash;
    frame->priority = m_settings.dataPriority;
    Put(*frame, message, UD_SEND_ONLY);
    m_owner.Transmit(frame);
}

void
SharpConnection::Put(Frame& frame, const SharpMessage& message, uint8_t opcode)
{
    frame.Set(message.header);
    frame.opcode = opcode;
    frame.payloadBytes = message.payloadBytes;
    frame.payload = message.payload;
    frame.payloadOffset = message.payloadOffset;
    frame.ingress = message.ingress;
    frame.bytes =
        message.bytes > 0 ? message.bytes : GetSharpFrameBytes(message.payloadBytes, opcode);
}

void
SharpConnection::Fill(Frame& frame, uint64_t psn)
{
    Put(frame, m_messages[psn - m_oldest], SEND_ONLY);
    if (psn < m_next)
    {
        m_owner.OnResent();
    }
    m_next = std::max(m_next, psn + 1);
}

void
SharpConnection::Transmit(Frame* frame)
{
    frame->ecn = Ecn::NOT_ECT; // nobody would slow down
    if (frame->kind == FrameKind::ROCE_ACK)
    {
        SharpHeader header;
        header.job = m_job;
        frame->Set(header);
        frame->ingress = m_ingress;
        frame->bytes = m_connection.nvlink ? GetNvlinkFrameBytes(NvlinkPacket::RESPONSE, m_written)
                                           : GetSharpAcknowledgeBytes();
        m_written = 0;
        m_unanswered = 0;
    }
    m_owner.Transmit(frame);
}

void
SharpConnection::OnProgress(uint64_t psn)
{
    for (; m_oldest < psn; m_oldest++)
    {
        m_messages.pop_front();
    }
}

void
SharpConnection::Receive(Frame* frame)
{
    if (!m_open)
    {
        Frame::Free(frame);
        return;
    }
    m_ingress = frame->ingress;
    if (frame->opcode == ACKNOWLEDGE)
    {
        if (frame->syndrome == SYNDROME_NAK_SEQUENCE)
        {
            ShortenTimeout();
        }
        m_queuePair->Receive(frame, FrameKind::ROCE_ACK);
        return;
    }
    RequestAck(*frame);
    m_queuePair->Receive(frame, FrameKind::ROCE_DATA);
}

void
SharpConnection::RequestAck(Frame& frame)
{
    const uint32_t distance = (frame.psn - m_expected) & PSN_MASK;
    const bool isDuplicate = distance >= PSN_MODULUS / 2;
    if (isDuplicate)
    {
        ShortenTimeout();
        m_owner.OnDuplicate();
    }
    else if (distance == 0 && frame.As<SharpHeader>().operation & SHARP_BROADCAST)
    {
        m_written += frame.payloadBytes;
    }
    if (distance > 0 && !isDuplicate)
    {
        return; // answered at once
    }
    frame.ackRequest = ++m_unanswered >= m_connection.ackInterval;
    if (!frame.ackRequest && m_ackTimer.IsExpired())
    {
        m_ackTimer = Simulator::Schedule(m_connection.ackDelay, &SharpConnection::OnAckTimer, this);
    }
}

void
SharpConnection::ShortenTimeout()
{
    if (m_settings.timeout < m_connection.timeout)
    {
        return;
    }
    const int64_t patience = m_settings.GetRetryTime();
    m_settings.timeout = std::min(
        m_connection.timeout,
        std::max(m_connection.timeout / LOSSY_PARTS, m_connection.ackDelay * LOSSY_DELAYS));
    while (m_settings.GetRetryTime() < patience)
    {
        m_settings.retryLimit++;
    }
}

void
SharpConnection::OnAckTimer()
{
    if (m_unanswered > 0)
    {
        m_queuePair->GetReceiver().SendAck();
    }
}

void
SharpConnection::Accept(const Frame& frame)
{
    m_expected = (m_expected + 1) & PSN_MASK;
    if (m_open)
    {
        m_owner.OnPacket(frame);
    }
}

void
SharpConnection::OnError()
{
    NS_LOG_WARN("endpoint " << m_peer.endpoint << " does not answer endpoint " << m_endpoint);
    Close();
    m_owner.OnBroken(*this);
}

} // namespace ns3::training
