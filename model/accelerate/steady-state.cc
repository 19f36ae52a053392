/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "steady-state.h"

#include "accelerate/steady-part.h"

#include "ns3/simulator.h"
#include "ns3/training-processes.h"

#include <map>
#include <numeric>

namespace ns3::training
{

namespace
{

/** Finds out which links and switches are connected. */
class Connections
{
  public:
    explicit Connections(const TopologyGraph& topology)
        : m_links(topology.links.size()),
          m_next(m_links + topology.switches)
    {
        std::iota(m_next.begin(), m_next.end(), 0);
        for (std::size_t link = 0; link < m_links; link++)
        {
            for (uint32_t node : {topology.links[link].a, topology.links[link].b})
            {
                if (node >= topology.hosts)
                {
                    m_next[Find(link)] = FindSwitch(node - topology.hosts);
                }
            }
        }
    }

    /** @param link index of a link @return what stands for all that it is connected with */
    std::size_t Find(std::size_t link)
    {
        while (m_next[link] != link)
        {
            link = m_next[link] = m_next[m_next[link]];
        }
        return link;
    }

    /** @param number index of a switch @return likewise */
    std::size_t FindSwitch(std::size_t number)
    {
        return Find(m_links + number);
    }

  private:
    std::size_t m_links;
    std::vector<std::size_t> m_next; // of links, then of switches; itself: there is no next one
};

/**
 * @return the devices of each part of a network that no link connects with the rest; those of hosts
 *         that other processes simulate, or nobody, are left out
 */
std::vector<SteadyPart::Devices>
ListParts(const Fabric& fabric)
{
    Connections connections(fabric.topology);
    std::map<std::size_t, SteadyPart::Devices> parts;
    for (uint32_t endpoint = 0; endpoint < fabric.devices.size(); endpoint++)
    {
        const uint32_t link = fabric.linkOfEndpoint[endpoint];
        const uint32_t process = GetProcess(fabric.devices[endpoint]->GetPort());
        if (link != Fabric::NO_LINK && process == Processes::GetId())
        {
            parts[connections.Find(link)].ofHosts.push_back(PeekPointer(fabric.devices[endpoint]));
        }
    }
    for (std::size_t i = 0; i < fabric.devicesOfSwitches.size(); i++)
    {
        parts[connections.FindSwitch(i)].ofSwitches.push_back(
            PeekPointer(fabric.devicesOfSwitches[i]));
    }
    std::vector<SteadyPart::Devices> list;
    for (auto& [root, devices] : parts)
    {
        list.push_back(std::move(devices));
    }
    return list;
}

} // namespace

SteadyState::SteadyState(Fabric& fabric, bool verifies)
{
    for (SteadyPart::Devices& devices : ListParts(fabric))
    {
        m_parts.push_back(std::make_unique<SteadyPart>(fabric, std::move(devices), verifies));
    }
}

SteadyState::~SteadyState() = default;

uint64_t
SteadyState::GetSkips() const
{
    return std::accumulate(m_parts.begin(),
                           m_parts.end(),
                           uint64_t{0},
                           [](uint64_t sum, const auto& part) { return sum + part->GetSkips(); });
}

uint64_t
SteadyState::GetVerifiedPeriods() const
{
    return std::accumulate(
        m_parts.begin(),
        m_parts.end(),
        uint64_t{0},
        [](uint64_t sum, const auto& part) { return sum + part->GetVerifiedPeriods(); });
}

void
SteadyState::Record(const Fabric& fabric, StateVisitor& visitor)
{
    SteadyPart::Devices all;
    for (const auto& device : fabric.devices)
    {
        all.ofHosts.push_back(PeekPointer(device));
    }
    for (const auto& device : fabric.devicesOfSwitches)
    {
        all.ofSwitches.push_back(PeekPointer(device));
    }
    auto events = SteadyPart::ListEvents(static_cast<uint64_t>(visitor.GetTime()), nullptr);
    QueuedEvent::Sort(events.ofPart);
    SteadyPart::Visit(all, visitor, events);
}

} // namespace ns3::training
