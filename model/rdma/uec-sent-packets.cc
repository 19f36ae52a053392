/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "uec-sent-packets.h"

#include "uec-wire-format.h"

#include <algorithm>
#include <limits>

namespace ns3::training
{

uint64_t
UecSentPackets::GetInFlight() const
{
    // The remote side counts packets before it acknowledges each of them.
    const uint64_t reported = m_reportedQuanta * UEC_QUANTUM;
    const uint64_t unnamed = reported > m_arrivedBytes ? reported - m_arrivedBytes : 0;
    return m_inFlightBytes > unnamed ? m_inFlightBytes - unnamed : 0;
}

void
UecSentPackets::MakeRoom()
{
    std::vector<Packet> packets(2 * m_packets.size());
    for (uint64_t psn = m_unacked; psn < m_next; psn++)
    {
        packets[psn & (packets.size() - 1)] = At(psn);
    }
    m_packets.swap(packets);
}

void
UecSentPackets::Send(uint64_t psn, uint32_t bytes, uint16_t entropy, int64_t now)
{
    if (psn == m_next)
    {
        if (m_next - m_unacked >= m_packets.size())
        {
            MakeRoom();
        }
        m_next++;
        Get(psn).sends = 0;
    }
    else
    {
        m_lost.erase(m_lost.begin());
        m_lostBytes -= At(psn).bytes;
    }
    Packet& packet = Get(psn);
    packet.sentAt = now;
    packet.bytes = static_cast<uint16_t>(bytes);
    packet.saved = 0;
    packet.entropy = entropy;
    packet.state = Packet::State::IN_FLIGHT;
    packet.sends += packet.sends < std::numeric_limits<uint8_t>::max();
    m_inFlightBytes += bytes;
    m_sendOrder.push_back({psn, now});
}

void
UecSentPackets::Shorten(uint64_t psn, uint32_t bytes, uint32_t saved)
{
    Packet& packet = Get(psn);
    packet.bytes = static_cast<uint16_t>(bytes);
    packet.saved = static_cast<uint16_t>(saved);
    m_inFlightBytes -= saved;
}

void
UecSentPackets::MarkLost(uint64_t psn)
{
    Packet& packet = Get(psn);
    packet.state = Packet::State::LOST;
    m_inFlightBytes -= packet.bytes;
    m_lostBytes += packet.bytes;
    m_lost.insert(psn);
}

void
UecSentPackets::MarkArrived(uint64_t psn)
{
    Packet& packet = Get(psn);
    if (packet.state == Packet::State::ARRIVED)
    {
        return;
    }
    if (packet.state == Packet::State::LOST)
    {
        m_lost.erase(psn);
        m_lostBytes -= packet.bytes;
    }
    else
    {
        m_inFlightBytes -= packet.bytes;
    }
    m_arrivedBytes += packet.bytes;
    packet.state = Packet::State::ARRIVED;
}

void
UecSentPackets::MarkArrivedBefore(uint64_t psn)
{
    for (; m_unacked < psn; m_unacked++)
    {
        MarkArrived(m_unacked);
    }
}

uint64_t
UecSentPackets::Report(uint32_t received)
{
    const uint64_t before = m_reportedQuanta;
    m_reportedQuanta = std::max(before, ExtendCounter(received, UEC_QUANTA_BITS, before));
    return (m_reportedQuanta - before) * UEC_QUANTUM;
}

const UecSentPackets::Transmission*
UecSentPackets::FindOldest()
{
    while (!m_sendOrder.empty())
    {
        const Transmission& oldest = m_sendOrder.front();
        const Packet& packet = At(oldest.psn);
        if (oldest.psn >= m_unacked && packet.state == Packet::State::IN_FLIGHT &&
            packet.sentAt == oldest.time)
        {
            return &oldest;
        }
        m_sendOrder.pop_front();
    }
    return nullptr;
}

} // namespace ns3::training
