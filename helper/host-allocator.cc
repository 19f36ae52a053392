/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "host-allocator.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ns3::training
{

const std::vector<std::string> HostAllocator::PLACEMENTS{"packed", "spread", "random", "list"};

HostAllocator::HostAllocator(const TopologyGraph& topology, uint32_t hosts, int64_t stream)
    : m_groups(hosts, topology.GetNodes()),
      m_isFree(hosts, true),
      m_random(CreateObject<UniformRandomVariable>())
{
    m_random->SetStream(stream);
    for (const auto& link : topology.links)
    {
        for (const auto& [host, other] : {std::pair(link.a, link.b), std::pair(link.b, link.a)})
        {
            if (host < hosts && m_groups[host] == topology.GetNodes())
            {
                m_groups[host] = other;
            }
        }
    }
}

std::vector<uint32_t>
HostAllocator::Take(const std::string& placement, uint32_t count, const std::vector<uint32_t>& list)
{
    std::vector<uint32_t> hosts;
    for (uint32_t host = 0; host < m_isFree.size(); host++)
    {
        if (m_isFree[host])
        {
            hosts.push_back(host);
        }
    }
    if (placement == "list")
    {
        const bool isFree = std::all_of(list.begin(), list.end(), [&](uint32_t host) {
            return static_cast<bool>(m_isFree.at(host));
        });
        hosts = isFree ? list : std::vector<uint32_t>();
    }
    if (hosts.size() < count)
    {
        return {};
    }
    if (placement == "random")
    {
        for (uint32_t i = 0; i < count; i++)
        {
            const auto last = static_cast<uint32_t>(hosts.size() - 1);
            std::swap(hosts[i], hosts[m_random->GetInteger(i, last)]);
        }
    }
    if (placement == "spread")
    {
        // First the first free host of each switch, then the second ones, and so on.
        std::map<uint32_t, uint32_t> used; // by switch
        std::vector<std::pair<uint32_t, uint32_t>> turns;
        for (uint32_t host : hosts)
        {
            turns.emplace_back(used[m_groups[host]]++, host);
        }
        std::sort(turns.begin(), turns.end());
        std::transform(turns.begin(), turns.end(), hosts.begin(), [](const auto& turn) {
            return turn.second;
        });
        std::sort(hosts.begin(), hosts.begin() + count);
    }
    hosts.resize(count);
    for (uint32_t host : hosts)
    {
        m_isFree[host] = false;
    }
    return hosts;
}

void
HostAllocator::GiveBack(const std::vector<uint32_t>& hosts)
{
    for (uint32_t host : hosts)
    {
        m_isFree[host] = true;
    }
}

} // namespace ns3::training
