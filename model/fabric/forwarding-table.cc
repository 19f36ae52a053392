/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "forwarding-table.h"

#include "ns3/log.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingForwardingTable");

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
    // Neighboring destinations mostly share a group, so the latest are looked at first.
    const auto found = std::find(m_groups.rbegin(), m_groups.rend(), ports);
    if (found == m_groups.rend())
    {
        m_groups.push_back(ports);
        m_groupOf[destination] = static_cast<uint16_t>(m_groups.size() - 1);
        return;
    }
    m_groupOf[destination] = static_cast<uint16_t>(m_groups.rend() - found - 1);
}

} // namespace ns3::training
