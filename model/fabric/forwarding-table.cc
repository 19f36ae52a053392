/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "forwarding-table.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace ns3::training
{

void
ForwardingTable::Reset(std::shared_ptr<DestinationClasses> classes,
                       uint32_t firstOwn,
                       uint32_t ownClasses,
                       uint32_t ownPlaces)
{
    m_shared = std::move(classes);
    m_private = nullptr;
    m_classes = m_shared.get();
    m_firstOwn = firstOwn;
    m_ownClasses = ownClasses;
    m_ownPlaces = ownPlaces;
    m_ofClass.assign(m_shared->count, 0);
    m_ofPlace.assign(ownPlaces, 0);
    m_groups.assign(UNIT, 0);
    m_starts.assign(1, 0);
    m_groupOfPort.clear();
    for (const auto& [destination, ports] : m_static)
    {
        SetOwn(destination, ports);
    }
}

void
ForwardingTable::SetClass(uint32_t number, const Group& ports)
{
    if (number >= m_ofClass.size())
    {
        m_ofClass.resize(number + 1, 0);
    }
    m_ofClass[number] = FindGroup(ports);
}

void
ForwardingTable::SetPlace(uint32_t place, const Group& ports)
{
    m_ofPlace.at(place) = FindGroup(ports);
}

void
ForwardingTable::SetDestination(uint32_t destination)
{
    if (m_private && m_shared && m_static.count(destination) == 0)
    {
        m_private->classOf.resize(std::max<std::size_t>(m_private->classOf.size(), destination + 1),
                                  DestinationClasses::NONE);
        m_private->placeOf.resize(m_private->classOf.size(), 0);
        m_private->classOf[destination] = m_shared->classOf.at(destination);
    }
}

void
ForwardingTable::Set(uint32_t destination, const Group& ports)
{
    if (m_static.count(destination) == 0)
    {
        SetOwn(destination, ports);
    }
}

void
ForwardingTable::SetStatic(uint32_t destination, const Group& ports)
{
    m_static[destination] = ports;
    SetOwn(destination, ports);
}

void
ForwardingTable::SetOwn(uint32_t destination, const Group& ports)
{
    if (!m_private)
    {
        m_private = std::make_unique<DestinationClasses>(*m_shared);
        m_classes = m_private.get();
        for (uint32_t& number : m_private->classOf)
        {
            number = number - m_firstOwn < m_ownClasses ? DestinationClasses::BY_PLACE : number;
        }
        m_firstOwn = DestinationClasses::BY_PLACE;
        m_ownClasses = 1;
    }
    auto& [classOf, placeOf, count] = *m_private;
    if (destination >= classOf.size())
    {
        classOf.resize(destination + 1, DestinationClasses::NONE);
        placeOf.resize(destination + 1, 0);
    }
    const uint16_t group = FindGroup(ports); // or throws
    // Places below are those of the destinations at this switch, which SetPlace() changes.
    if (classOf[destination] != DestinationClasses::BY_PLACE || placeOf[destination] < m_ownPlaces)
    {
        classOf[destination] = DestinationClasses::BY_PLACE;
        placeOf[destination] = static_cast<uint32_t>(m_ofPlace.size());
        m_ofPlace.push_back(group);
    }
    m_ofPlace[placeOf[destination]] = group;
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
