/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "communicator/server-map.h"

#include "ns3/shortest-paths.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace ns3::training
{

namespace
{

constexpr const char* KEY = "ranks-per-server";

} // namespace

Key
ServerMap::GetKey()
{
    return Key::Count(KEY,
                      0,
                      0,
                      65536,
                      "consecutive hosts that form a server; 0: as in the topology");
}

ServerMap::ServerMap(const HostModelRequest& request)
    : m_ranks(request.ranks),
      m_hostsPerServer(request.topology.shape.GetHostsPerServer()),
      m_hasLocalLinks(m_hostsPerServer > 1),
      m_ranksPerNic(request.topology.shape.hostsPerNic)
{
    if (const auto count = static_cast<uint32_t>(request.keys.GetCount(KEY)))
    {
        m_hostsPerServer = count;
    }
    std::set<uint32_t> servers;
    ShortestPaths paths(request.topology);
    const auto& hosts = request.hosts;
    const uint32_t first = hosts.empty() ? 0 : hosts[0];
    paths.Search(first);
    const auto best = paths.GetPaths();
    for (uint32_t rank = 0; rank < m_ranks; rank++)
    {
        const uint32_t host = hosts.empty() ? rank : hosts[rank];
        servers.insert(host / m_hostsPerServer);
        const bool isLocal = IsLocal(first, host);
        double& delay = isLocal ? m_localDelay : m_remoteDelay;
        double& rate = isLocal ? m_localRate : m_remoteRate;
        if (host != first)
        {
            const double seconds = best[host].delay.GetSeconds();
            const double bytes = static_cast<double>(best[host].rate) / 8;
            delay = rate == 0 ? seconds : std::min(delay, seconds);
            rate = rate == 0 ? bytes : std::min(rate, bytes);
        }
    }
    m_servers = static_cast<uint32_t>(servers.size());
    const TopologyGraph& topology = request.topology;
    std::vector<uint32_t> owners(topology.GetNodes()); // a host that forwards owns its router
    std::iota(owners.begin(), owners.end(), 0);
    for (const auto& link : topology.links)
    {
        if (link.internal)
        {
            owners[std::max(link.a, link.b)] = std::min(link.a, link.b);
        }
    }
    for (const auto& link : topology.links)
    {
        const uint32_t a = owners[link.a];
        const uint32_t b = owners[link.b];
        const uint32_t peer = a == first ? b : a;
        const bool isDirect = peer < topology.hosts && IsLocal(first, peer);
        if (!link.internal && (a == first || b == first) &&
            (isDirect || topology.IsScaleUpSwitch(peer)))
        {
            m_hasLocalLinks |= isDirect;
            m_localSum += static_cast<double>(link.rate.GetBitRate()) / 8;
        }
    }
    m_localSum = std::max(m_localSum, m_localRate);
}

bool
ServerMap::IsLocal(uint32_t a, uint32_t b) const
{
    return a / m_hostsPerServer == b / m_hostsPerServer;
}

Time
ServerMap::GetLocalHop(double seconds) const
{
    return Seconds(std::max(0.0, seconds - m_localDelay));
}

Time
ServerMap::GetRemoteHop(double seconds) const
{
    return Seconds(std::max(0.0, seconds - m_remoteDelay));
}

} // namespace ns3::training
