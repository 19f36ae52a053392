/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

// The part of UecConnection that asks for credit and receives it.

#include "roce-wire-format.h"
#include "uec-connection.h"

#include "ns3/training-event-loop.h"
#include "ns3/wire-bytes.h"

#include <algorithm>
#include <limits>

namespace ns3::training
{

void
UecConnection::StopSpeculating()
{
    // From the first answer on, the receiver decides.
    if (m_isSpeculating)
    {
        m_isSpeculating = false;
        m_credit = m_needsCredit ? std::min<int64_t>(m_credit, 0) : m_credit;
    }
}

bool
UecConnection::NeedsCreditNow() const
{
    return m_needsCredit && m_credit <= 0 && HasWork();
}

uint32_t
UecConnection::GetWantedCredit() const
{
    const uint64_t packet = m_overhead + m_port.GetSettings().mtu;
    uint64_t need = m_unsentBytes;
    if (m_linePacket < packet)
    {
        need = static_cast<uint64_t>(static_cast<double>(need) * m_linePacket /
                                     static_cast<double>(packet));
    }
    need += m_sent.GetLostBytes();
    if (m_window < std::numeric_limits<uint64_t>::max() - packet)
    {
        need = std::min(need, m_window + packet);
    }
    auto wanted =
        static_cast<int64_t>(std::min(need, m_port.GetUecSettings().creditLimit)) - m_credit;
    if (m_isSpeculating && m_unsentBytes > 0)
    {
        wanted = std::max(wanted, static_cast<int64_t>(packet));
    }
    const int64_t quanta = wanted > 0 ? (wanted + UEC_QUANTUM - 1) / UEC_QUANTUM : 0;
    return static_cast<uint32_t>((m_granted + static_cast<uint64_t>(quanta)) &
                                 ((1 << UEC_QUANTA_BITS) - 1));
}

void
UecConnection::RequestCredit(int64_t now)
{
    m_creditEvent = now;
    UecHeader header;
    header.type = UecType::CREDIT_REQUEST;
    header.credit = GetWantedCredit();
    header.entropy = m_paths.Next();
    Frame* frame = Frame::Make(header);
    frame->bytes = GetFrameBytes(IPV4_BYTES + UDP_BYTES + UEC_CONTROL_BYTES);
    frame->source = m_port.GetEndpoint();
    frame->destination = m_remote.endpoint;
    frame->destinationQp = m_remote.queuePair;
    frame->flowHash = (m_remote.flowHash & ~ENTROPY_MASK) | header.entropy;
    frame->priority = m_port.GetSettings().ackPriority;
    m_port.SendControl(frame);
    Watch();
}

void
UecConnection::ReceiveCredit(const Frame& frame)
{
    if (m_failed)
    {
        return;
    }
    const int64_t now = EventLoop::Now();
    StopSpeculating();
    const uint64_t granted =
        ExtendCounter(frame.As<UecHeader>().credit, UEC_QUANTA_BITS, m_granted);
    if (granted > m_granted)
    {
        m_credit = std::min(m_credit + static_cast<int64_t>((granted - m_granted) * UEC_QUANTUM),
                            static_cast<int64_t>(m_port.GetUecSettings().creditLimit));
        m_granted = granted;
        m_creditEvent = now;
        OnProgress(now);
    }
    m_port.Schedule(*this);
}

} // namespace ns3::training
