/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "dateline-classes.h"

#include "fabric-traffic-class.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <string>

namespace ns3::training
{

void
DatelineClasses::SetPort(uint16_t port, uint8_t dimension, bool dateline)
{
    m_ports.resize(std::max<std::size_t>(m_ports.size(), port + 1));
    m_ports[port] = {dimension, dateline};
}

void
DatelineClasses::Configure(std::size_t ports, uint8_t losslessClasses)
{
    if (m_ports.empty())
    {
        return;
    }
    m_ports.resize(ports);
    m_losslessClasses = losslessClasses;
    m_secondClasses = static_cast<uint8_t>(losslessClasses << 1);
    if (losslessClasses & (m_secondClasses | 1 << (PRIORITIES - 1)))
    {
        throw ConfigurationError(
            "ns3::training::SwitchDevice::LosslessClasses=" + std::to_string(losslessClasses) +
            " in a topology with datelines (allowed: classes 0 to 6 of which no two are neighbors, "
            "as the next one is the second class of each)");
    }
}

uint8_t
DatelineClasses::GetClass(const Frame& frame, uint16_t egress) const
{
    const uint8_t arrived = frame.ingressPriority;
    const bool isSecond = m_secondClasses >> arrived & 1;
    if (!isSecond && !(m_losslessClasses >> arrived & 1))
    {
        return frame.priority;
    }
    const Port& in = m_ports[frame.ingress];
    const bool stays = in.dimension == m_ports[egress].dimension;
    return arrived - isSecond + (stays && (isSecond || in.dateline));
}

} // namespace ns3::training
