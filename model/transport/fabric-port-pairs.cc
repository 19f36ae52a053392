/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-port-pairs.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace ns3::training
{

namespace
{

/// Maximum number of cached paths; the cache is cleared beyond it.
constexpr std::size_t MAX_PATHS = 1 << 21;

/// Queue pair numbers, which enumerate the port pairs to all ranks, have 24 bits.
constexpr uint32_t MAX_NUMBERS = (1 << 24) - 1;

} // namespace

FabricPortPairs::FabricPortPairs(const Fabric& fabric, uint32_t ranks, RankImages images)
    : m_fabric(fabric),
      m_ranks(ranks),
      m_images(images)
{
    bool differ = false;
    for (const auto& link : fabric.topology.links)
    {
        if (std::min(link.a, link.b) >= fabric.topology.hosts)
        {
            differ |= m_rate > 0 && m_rate != link.rate.GetBitRate();
            m_rate = link.rate.GetBitRate();
        }
    }
    m_rate = differ ? 0 : m_rate;
}

uint32_t
FabricPortPairs::GetRanks() const
{
    return m_ranks;
}

uint32_t
FabricPortPairs::GetRank(uint32_t endpoint) const
{
    return endpoint < m_fabric.hostOfEndpoint.size()
               ? std::min(m_fabric.hostOfEndpoint[endpoint], m_ranks)
               : m_ranks;
}

std::vector<PortPair>
FabricPortPairs::GetPortPairs(uint32_t rank, uint32_t peer)
{
    // Both sides must compute the same port pairs in the same order.
    std::vector<PortPair> portPairs = Find(std::min(rank, peer), std::max(rank, peer));
    if (rank > peer)
    {
        for (PortPair& portPair : portPairs)
        {
            std::swap(portPair.localEndpoint, portPair.remoteEndpoint);
            portPair.rail = FindRail(rank, portPair.localEndpoint);
        }
    }
    for (PortPair& portPair : portPairs)
    {
        const uint32_t number = m_fabric.linkOfEndpoint[portPair.localEndpoint];
        const auto& link = m_fabric.topology.links[number];
        // A host that forwards has the ports of its router. A GPU that passes on has its NIC.
        const bool isPassedOn =
            IsScaleUp(portPair.localEndpoint) != IsScaleUp(portPair.remoteEndpoint);
        portPair.rate = link.internal || isPassedOn ? portPair.pathRate : link.rate.GetBitRate();
        // What passes several switches is turned by one of them.
        const auto getSwitch = [this](uint32_t endpoint) {
            return m_fabric.GetLastSwitch(endpoint);
        };
        if (m_images.GetImage(peer) > 0 &&
            getSwitch(portPair.localEndpoint) == getSwitch(portPair.remoteEndpoint))
        {
            const uint32_t rail = FindRail(peer, portPair.remoteEndpoint);
            portPair.remoteEndpoint =
                m_fabric.rails[m_images.GetSimulated(peer)][rail]->GetEndpoint();
        }
    }
    return portPairs;
}

uint32_t
FabricPortPairs::GetRankAt(uint32_t rank, uint32_t peer) const
{
    return m_images.TurnBack(rank, peer);
}

/** @return number of the rank's port with an endpoint */
uint32_t
FabricPortPairs::FindRail(uint32_t rank, uint32_t endpoint) const
{
    const auto& rails = m_fabric.rails[rank];
    const auto found = std::find_if(rails.begin(), rails.end(), [endpoint](const auto& device) {
        return device->GetEndpoint() == endpoint;
    });
    return static_cast<uint32_t>(found - rails.begin());
}

/** @return whether the port leads to the scale-up network of a server */
bool
FabricPortPairs::IsScaleUp(uint32_t endpoint) const
{
    const TopologyGraph& topology = m_fabric.topology;
    return topology.GetScaleUpSwitch(topology.links[m_fabric.linkOfEndpoint[endpoint]]) !=
           TopologyGraph::NO_SERVER;
}

std::vector<PortPair>
FabricPortPairs::Find(uint32_t rank, uint32_t peer)
{
    const auto& own = m_fabric.rails[rank];
    const auto& others = m_fabric.rails[peer];
    Path best{FAR, 0};
    std::vector<std::pair<uint32_t, uint32_t>> pairs; // port numbers, on the best path
    for (uint32_t i = 0; i < own.size(); i++)
    {
        for (uint32_t j = 0; j < others.size(); j++)
        {
            const Path path = GetPath(own[i]->GetEndpoint(), others[j]->GetEndpoint());
            if (path.cost < best.cost || (path.cost == best.cost && path.rate > best.rate))
            {
                best = path;
                pairs.clear();
            }
            if (path.cost == best.cost && path.rate == best.rate)
            {
                pairs.emplace_back(i, j);
            }
        }
    }
    // Without spines, a GPU of either server passes on what changes rails: the one of the lower
    // rank's server does, so that messages of a pair have one NIC.
    const auto isPassedOn = [&](const auto& pair) {
        return IsScaleUp(own[pair.first]->GetEndpoint()) &&
               !IsScaleUp(others[pair.second]->GetEndpoint());
    };
    if (std::any_of(pairs.begin(), pairs.end(), isPassedOn))
    {
        pairs.erase(std::remove_if(pairs.begin(), pairs.end(), std::not_fn(isPassedOn)),
                    pairs.end());
    }
    // Greedy: always takes the pair with the least used ports, until every port is used.
    std::vector<uint32_t> ownUse(own.size(), 0);
    std::vector<uint32_t> otherUse(others.size(), 0);
    std::vector<PortPair> portPairs;
    while (portPairs.size() < MAX_NUMBERS / m_ranks)
    {
        const auto use = [&](const auto& pair) {
            return ownUse[pair.first] + otherUse[pair.second];
        };
        const auto next =
            std::min_element(pairs.begin(), pairs.end(), [&](const auto& a, const auto& b) {
                return std::pair(use(a), a) < std::pair(use(b), b);
            });
        const bool isNew = ownUse[next->first] == 0 || otherUse[next->second] == 0;
        if (!isNew)
        {
            break;
        }
        ownUse[next->first]++;
        otherUse[next->second]++;
        portPairs.push_back({next->first,
                             own[next->first]->GetEndpoint(),
                             others[next->second]->GetEndpoint(),
                             0,
                             best.rate});
    }
    return portPairs;
}

FabricPortPairs::Path
FabricPortPairs::GetPath(uint32_t from, uint32_t to)
{
    const TopologyGraph& topology = m_fabric.topology;
    const uint32_t first = m_fabric.linkOfEndpoint[from];
    const uint32_t last = m_fabric.linkOfEndpoint[to];
    const auto& firstLink = topology.links[first];
    const auto& lastLink = topology.links[last];
    if (first == last)
    {
        return {firstLink.cost, firstLink.rate.GetBitRate()};
    }
    const uint32_t a = TopologyGraph::GetPeer(firstLink, m_fabric.hostOfEndpoint[from]);
    const uint32_t b = TopologyGraph::GetPeer(lastLink, m_fabric.hostOfEndpoint[to]);
    if (std::min(a, b) < topology.hosts)
    {
        return {FAR, 0}; // the port of another host, which forwards nothing
    }
    const bool isOnlyPair = m_fabric.rails[m_fabric.hostOfEndpoint[from]].size() == 1 &&
                            m_fabric.rails[m_fabric.hostOfEndpoint[to]].size() == 1;
    const Path between = a == b                     ? Path{0, UINT64_MAX}
                         : isOnlyPair && m_rate > 0 ? Path{0, m_rate} // no search needed
                                                    : GetPathOfSwitches(a, b);
    return {between.cost == FAR ? FAR : between.cost + firstLink.cost + lastLink.cost,
            std::min({between.rate, firstLink.rate.GetBitRate(), lastLink.rate.GetBitRate()})};
}

FabricPortPairs::Path
FabricPortPairs::GetPathOfSwitches(uint32_t from, uint32_t to)
{
    const TopologyGraph& topology = m_fabric.topology;
    auto found = m_found.find(to);
    if (found == m_found.end())
    {
        if ((m_found.size() + 1) * topology.switches > MAX_PATHS)
        {
            m_found.clear();
        }
        if (!m_paths)
        {
            m_paths = std::make_unique<ShortestPaths>(topology);
        }
        m_paths->SearchSwitches(to);
        const auto rates = m_rate > 0 ? std::vector<ShortestPaths::Path>() : m_paths->GetPaths();
        std::vector<Path> paths;
        for (uint32_t node = topology.hosts; node < topology.GetNodes(); node++)
        {
            paths.push_back({m_paths->IsReached(node) ? m_paths->GetCost(node) : FAR,
                             m_rate > 0 ? m_rate : rates[node].rate});
        }
        found = m_found.emplace(to, std::move(paths)).first;
    }
    return found->second[from - topology.hosts];
}

} // namespace ns3::training
