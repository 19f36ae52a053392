/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "topology-graph.h"

#include "core/memory.h"

#include "ns3/training-quantity.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace ns3::training
{

void
TopologyGraph::CheckLinks(double count, const std::string& what)
{
    CheckMemory(count * BYTES_PER_LINK, what);
}

std::string
TopologyGraph::GetName(uint32_t node) const
{
    return node < hosts ? "host" + std::to_string(node) : "switch" + std::to_string(node - hosts);
}

std::optional<uint32_t>
TopologyGraph::FindNode(const std::string& name) const
{
    const bool isHost = name.rfind("host", 0) == 0;
    if (!isHost && name.rfind("switch", 0) != 0)
    {
        return std::nullopt;
    }
    const auto number = ParseUnsigned(name.substr(isHost ? 4 : 6));
    return number && *number < (isHost ? hosts : switches)
               ? std::optional(static_cast<uint32_t>(*number) + (isHost ? 0 : hosts))
               : std::nullopt;
}

std::vector<uint32_t>
TopologyGraph::FindLinks(const std::string& target) const
{
    const auto dash = target.find('-');
    const auto node = FindNode(target.substr(0, dash));
    const auto other = dash == std::string::npos ? node : FindNode(target.substr(dash + 1));
    std::vector<uint32_t> found;
    for (uint32_t i = 0; i < links.size() && ((node && other) || target == "*"); i++)
    {
        const auto isAt = [&](const std::optional<uint32_t>& end) {
            return !end || *end == links[i].a || *end == links[i].b;
        };
        if (isAt(node) && isAt(other) && (dash == std::string::npos || node != other))
        {
            found.push_back(i);
        }
    }
    return found;
}

uint32_t
TopologyGraph::GetScaleUpSwitch(const Link& link) const
{
    for (const uint32_t node : {link.a, link.b})
    {
        if (IsScaleUpSwitch(node))
        {
            return node;
        }
    }
    return NO_SERVER;
}

std::vector<uint32_t>
TopologyGraph::GetServers() const
{
    std::vector<uint32_t> servers(hosts, NO_SERVER);
    for (const Link& link : links)
    {
        for (const uint32_t node : {link.a, link.b})
        {
            if (node < hosts)
            {
                servers[node] = std::min(servers[node], GetScaleUpSwitch(link));
            }
        }
    }
    return servers;
}

std::vector<std::vector<uint32_t>>
TopologyGraph::GetLinksOfNodes() const
{
    std::vector<std::vector<uint32_t>> all(GetNodes());
    for (uint32_t i = 0; i < links.size(); i++)
    {
        all[links[i].a].push_back(i);
        all[links[i].b].push_back(i);
    }
    for (uint32_t node = 0; node < GetNodes() && !shape.sides.empty(); node++)
    {
        const auto key = [this, node](uint32_t link) {
            return std::tuple(links[link].dimension, links[link].a == node, link);
        };
        std::sort(all[node].begin(), all[node].end(), [&key](uint32_t a, uint32_t b) {
            return key(a) < key(b);
        });
    }
    return all;
}

std::vector<uint32_t>
TopologyGraph::GetSwitchesOfHosts() const
{
    constexpr uint32_t NOWHERE = std::numeric_limits<uint32_t>::max();
    std::vector<uint32_t> all(hosts, NOWHERE);
    for (const Link& link : links)
    {
        for (uint32_t node : {link.a, link.b})
        {
            if (node < hosts && all[node] == NOWHERE)
            {
                all[node] = GetPeer(link, node);
            }
        }
    }
    return all;
}

} // namespace ns3::training
