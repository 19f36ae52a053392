/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "forwarding-table.h"

#include "ns3/abort.h"

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
    // Neighboring destinations mostly share a group, so search the latest groups first.
    const auto found = std::find_if(m_starts.rbegin(), m_starts.rend(), [&](uint16_t start) {
        const Ports group(m_groups.data() + start);
        return std::equal(group.begin(), group.end(), ports.begin(), ports.end());
    });
    if (found != m_starts.rend())
    {
        m_groupOf[destination] = *found;
        return;
    }
    NS_ABORT_MSG_IF(m_groups.size() > std::numeric_limits<uint16_t>::max(),
                    "more groups of ports than a forwarding table can hold");
    m_groupOf[destination] = static_cast<uint16_t>(m_groups.size());
    m_starts.push_back(m_groupOf[destination]);
    m_groups.push_back(static_cast<uint16_t>(ports.size()));
    m_groups.insert(m_groups.end(), ports.begin(), ports.end());
}

} // namespace ns3::training
