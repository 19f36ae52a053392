/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective/rank-placement.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>

namespace ns3::training
{

RankPlacement::RankPlacement(const CollectiveRequest& request)
    : m_topology(request.topology)
{
    for (uint32_t rank = 0; rank < request.ranks; rank++)
    {
        m_hosts.push_back(request.GetHost(rank));
    }
    if (!m_topology)
    {
        m_topology = &m_switch;
        m_switch.hosts = request.ranks;
        m_switch.switches = 1;
        m_hosts.clear();
        for (uint32_t rank = 0; rank < request.ranks; rank++)
        {
            m_hosts.push_back(rank);
            m_switch.links.push_back({rank, request.ranks, DataRate("100Gbps"), Time(0)});
        }
    }
}

const TopologyGraph&
RankPlacement::GetTopology() const
{
    return *m_topology;
}

const std::vector<uint32_t>&
RankPlacement::GetHosts() const
{
    return m_hosts;
}

bool
RankPlacement::IsFull() const
{
    return m_hosts.size() == m_topology->hosts;
}

std::vector<uint32_t>
RankPlacement::GetRanks(const std::vector<uint32_t>& hosts) const
{
    constexpr uint32_t NONE = std::numeric_limits<uint32_t>::max();
    std::vector<uint32_t> rankOf(m_topology->hosts, NONE);
    for (uint32_t rank = 0; rank < m_hosts.size(); rank++)
    {
        rankOf[m_hosts[rank]] = rank;
    }
    std::vector<uint32_t> ranks;
    for (uint32_t host : hosts)
    {
        if (rankOf[host] != NONE)
        {
            ranks.push_back(rankOf[host]);
        }
    }
    return ranks;
}

std::vector<std::vector<uint32_t>>
RankPlacement::GetCoordinates() const
{
    const TopologyShape& shape = m_topology->shape;
    const bool hasPlaces = !shape.sides.empty() || shape.groupSize > 1;
    const auto switches = hasPlaces ? std::vector<uint32_t>() : m_topology->GetSwitchesOfHosts();
    std::map<uint32_t, uint32_t> onSwitch; // number of ranks so far, by switch
    std::vector<std::vector<uint32_t>> all;
    for (uint32_t host : m_hosts)
    {
        std::vector<uint32_t> place;
        if (!shape.sides.empty())
        {
            uint32_t rest = host;
            for (auto side = shape.sides.rbegin(); side != shape.sides.rend(); ++side)
            {
                if (*side > 1)
                {
                    place.insert(place.begin(), rest % *side);
                }
                rest /= *side;
            }
        }
        else if (shape.groupSize > 1)
        {
            place = {host / shape.groupSize, host % shape.groupSize};
        }
        else
        {
            place = {switches[host], onSwitch[switches[host]]++};
        }
        all.push_back(place);
    }
    return all;
}

std::vector<std::vector<uint32_t>>
RankPlacement::GetPlaces() const
{
    auto places = GetCoordinates();
    for (std::size_t level = 0; level < places.front().size(); level++)
    {
        std::map<uint32_t, uint32_t> numbers;
        for (const auto& place : places)
        {
            numbers[place[level]] = 0;
        }
        uint32_t next = 0;
        for (auto& [value, number] : numbers)
        {
            number = next++;
        }
        for (auto& place : places)
        {
            place[level] = numbers[place[level]];
        }
    }
    return places;
}

std::vector<uint32_t>
RankPlacement::GetSizes(const std::vector<std::vector<uint32_t>>& places)
{
    std::vector<uint32_t> sizes(places.front().size(), 0);
    for (const auto& place : places)
    {
        for (std::size_t level = 0; level < sizes.size(); level++)
        {
            sizes[level] = std::max(sizes[level], place[level] + 1);
        }
    }
    return sizes;
}

std::vector<uint32_t>
RankPlacement::GetDimensions() const
{
    const auto sizes = GetSizes(GetPlaces());
    std::vector<uint32_t> dimensions;
    std::copy_if(sizes.rbegin(), sizes.rend(), std::back_inserter(dimensions), [](uint32_t size) {
        return size > 1;
    });
    return dimensions.empty() ? std::vector<uint32_t>{1} : dimensions;
}

} // namespace ns3::training
