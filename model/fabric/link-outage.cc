/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "link-outage.h"

#include "link-impairment.h"

#include "ns3/simulator.h"

#include <memory>

namespace ns3::training
{

LinkOutage::LinkOutage(Fabric& fabric, const std::vector<uint32_t>& links, Time rerouteDelay)
    : m_fabric(fabric),
      m_links(links),
      m_isStatic(rerouteDelay == Time::Max())
{
    LinkImpairment::Configuration down;
    down.down = true;
    const auto impairment = std::make_shared<LinkImpairment>(down, 0); // draws no numbers
    for (uint32_t link : m_links)
    {
        m_impairments.push_back({impairment, impairment});
        m_fabric.channels.at(link)->AddImpairments(m_impairments.back());
    }
    if (rerouteDelay.IsZero())
    {
        m_fabric.UpdateRoutes();
    }
    else if (!m_isStatic)
    {
        Simulator::Schedule(rerouteDelay, &Fabric::UpdateRoutes, &m_fabric);
    }
}

void
LinkOutage::End()
{
    for (std::size_t i = 0; i < m_links.size(); i++)
    {
        m_fabric.channels[m_links[i]]->RemoveImpairments(m_impairments[i]);
    }
    if (!m_isStatic)
    {
        m_fabric.UpdateRoutes();
    }
}

} // namespace ns3::training
