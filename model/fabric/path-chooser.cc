/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "path-chooser.h"

#include <algorithm>
#include <iterator>

namespace ns3::training
{

uint16_t
PathContext::ChooseAlive(const Frame& frame, const ForwardingTable::Ports& group) const
{
    // Local reroute: until routes are recomputed, only the switches at a dead link avoid it.
    ForwardingTable::Group alive;
    std::copy_if(group.begin(), group.end(), std::back_inserter(alive), [this](uint16_t port) {
        return IsUp(port);
    });
    return alive.empty()
               ? NONE
               : alive[uint64_t{HashFlow(frame.flowHash, m_hashSeed, 1)} * alive.size() >> 32];
}

PathChooser::PathChooser(const std::vector<Ptr<FabricPort>>& ports,
                         Ptr<UniformRandomVariable> random)
    : m_context(ports, random)
{
}

void
PathChooser::SetPath(const std::string& path)
{
    const auto choice = ns3::training::Choose<PathChoiceEntry>(path);
    m_choice = choice.entry->make(choice.values, m_context);
    m_isByHash = m_choice->IsByHash();
    m_minPorts = m_choice->GetMinPorts();
    m_avoidsFailures = m_choice->AvoidsFailures();
    m_path = path;
}

const std::string&
PathChooser::GetPath() const
{
    return m_path;
}

PathContext&
PathChooser::GetContext()
{
    return m_context;
}

void
PathChooser::Clear()
{
    if (m_choice)
    {
        m_choice->Clear();
    }
}

uint16_t
PathChooser::ChooseByAlgorithm(const Frame& frame, const ForwardingTable::Ports& group)
{
    const std::size_t size = group.size();
    const bool chooses = size >= m_minPorts;
    m_choices += chooses ? 1 : 0;
    const uint16_t choice = chooses     ? m_choice->Choose(frame, group)
                            : size == 0 ? PathContext::NONE
                                        : group[0];
    return choice == PathContext::NONE || !m_avoidsFailures ? choice
                                                            : AvoidFailedPort(choice, frame, group);
}

} // namespace ns3::training
