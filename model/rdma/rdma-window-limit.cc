/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rdma-window-limit.h"

#include "roce-wire-format.h"

#include "ns3/state-visitor.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

/// Limit of unacknowledged packets that keeps 24-bit PSNs unambiguous (IB: less than 2^23).
constexpr uint64_t PSN_WINDOW = PSN_MODULUS / 2 - 1;

} // namespace

RdmaWindowLimit::RdmaWindowLimit(const RdmaSettings& settings,
                                 const RdmaCongestionControl::Path& path,
                                 bool isIrn)
    : m_mtu(settings.mtu),
      m_linePayload(settings.mtu),
      m_inFlightLimit(settings.inFlightLimit)
{
    if (m_inFlightLimit == 0)
    {
        m_inFlightLimit =
            isIrn ? static_cast<uint64_t>(path.lineRate * settings.baseRoundTrip.GetSeconds() / 8) +
                        uint64_t{settings.ackInterval} * path.mtu
                  : PSN_WINDOW * path.mtu;
    }
    SetMostInFlight();
}

void
RdmaWindowLimit::SetMostInFlight()
{
    m_mostInFlight =
        static_cast<uint32_t>(std::clamp<uint64_t>(m_inFlightLimit / m_linePayload, 1, PSN_WINDOW));
}

uint32_t
RdmaWindowLimit::GetPackets(uint64_t window) const
{
    // The last packet may exceed the window, and one packet may always be in flight.
    const uint64_t payload = m_linePayload;
    const uint64_t packets = std::max<uint64_t>(1, window / payload + (window % payload > 0));
    return static_cast<uint32_t>(
        std::min<uint64_t>(std::min<uint64_t>(packets, m_mostInFlight) + m_ahead, PSN_WINDOW));
}

void
RdmaWindowLimit::FollowSize(int64_t saved)
{
    const int64_t mtu = m_mtu;
    const int64_t change = std::max<int64_t>(mtu - saved, 1) - m_linePayload;
    m_linePayload += static_cast<uint32_t>(m_linePayload == mtu ? change : change / 8);
    SetMostInFlight();
}

void
RdmaWindowLimit::Visit(StateVisitor& visitor) const
{
    static_assert(StateVisitor::IsSize(sizeof(RdmaWindowLimit), 32),
                  "a new member: visit it unless it stays, then correct the size");
    visitor.Same({m_mostInFlight, m_ahead, m_linePayload});
}

} // namespace ns3::training
