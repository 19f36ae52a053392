/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "forwarding-table.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <limits>

namespace ns3::training
{

void
ForwardingTable::Set(uint32_t destination, const Group& ports)
{
    if (m_static.count(destination) == 0)
    {
        Assign(destination, ports);
    }
}

void
ForwardingTable::SetStatic(uint32_t destination, const Group& ports)
{
    m_static.insert(destination);
    Assign(destination, ports);
}

void
ForwardingTable::Assign(uint32_t destination, const Group& ports)
{
    if (destination >= m_groupOf.size())
    {
        m_groupOf.resize(destination + 1, 0);
    }
    m_groupOf[destination] = FindGroup(ports);
}

uint16_t
ForwardingTable::FindGroup(const Group& ports)
{
    const bool isSingle = ports.size() == 1;
    if (isSingle && ports[0] < m_groupOfPort.size() && m_groupOfPort[ports[0]] != 0)
    {
        return m_groupOfPort[ports[0]];
    }
    // Neighboring destinations mostly share a group, so search the latest groups first.
    const auto found =
        isSingle ? m_starts.rend()
                 : std::find_if(m_starts.rbegin(), m_starts.rend(), [&](uint16_t start) {
                       const Ports group(m_groups.data() + UNIT * start);
                       return std::equal(group.begin(), group.end(), ports.begin(), ports.end());
                   });
    if (found != m_starts.rend())
    {
        return *found;
    }
    const std::size_t place = m_groups.size() / UNIT;
    if (place > std::numeric_limits<uint16_t>::max())
    {
        throw ConfigurationError("a switch with more than " + std::to_string(place) +
                                 " different groups of ports to hosts (allowed: up to " +
                                 std::to_string(MAX_PORTS) + " with one port each)");
    }
    m_groups.push_back(static_cast<uint16_t>(ports.size()));
    m_groups.insert(m_groups.end(), ports.begin(), ports.end());
    m_groups.resize((m_groups.size() + UNIT - 1) / UNIT * UNIT);
    const auto start = static_cast<uint16_t>(place);
    if (!isSingle)
    {
        m_starts.push_back(start);
        return start;
    }
    if (ports[0] >= m_groupOfPort.size())
    {
        m_groupOfPort.resize(std::size_t{ports[0]} + 1, 0);
    }
    m_groupOfPort[ports[0]] = start;
    return start;
}

} // namespace ns3::training
