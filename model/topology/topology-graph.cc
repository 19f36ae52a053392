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

namespace
{

/** @return the number below a limit behind a prefix, as 3 in host3; none if it has another form */
std::optional<uint32_t>
FindNumber(const std::string& name, const std::string& prefix, uint32_t limit)
{
    const bool begins = name.rfind(prefix, 0) == 0;
    const auto number = begins ? ParseUnsigned(name.substr(prefix.size())) : std::nullopt;
    return number && *number < limit ? std::optional(static_cast<uint32_t>(*number)) : std::nullopt;
}

} // namespace

void
TopologyGraph::CheckLinks(double count, const std::string& what)
{
    CheckMemory(count * BYTES_PER_LINK, what);
}

std::string
TopologyGraph::GetName(uint32_t node) const
{
    if (node < hosts)
    {
        return "host" + std::to_string(node);
    }
    const uint32_t number = node - hosts;
    return shape.planes == 1 ? "switch" + std::to_string(number)
                             : "plane" + std::to_string(GetPlane(node)) + ".switch" +
                                   std::to_string(number % (switches / shape.planes));
}

std::optional<uint32_t>
TopologyGraph::FindNode(const std::string& name) const
{
    const auto dot = name.find('.');
    if (dot != std::string::npos)
    {
        const auto plane = FindPlane(name.substr(0, dot));
        const uint32_t count = switches / shape.planes;
        const auto number = FindNumber(name.substr(dot + 1), "switch", count);
        return plane && number ? std::optional(hosts + *plane * count + *number) : std::nullopt;
    }
    const auto host = FindNumber(name, "host", hosts);
    const auto number = FindNumber(name, "switch", switches);
    return host ? host : number ? std::optional(hosts + *number) : std::nullopt;
}

std::optional<uint32_t>
TopologyGraph::FindPlane(const std::string& name) const
{
    return FindNumber(name, "plane", shape.planes > 1 ? shape.planes : 0);
}

std::vector<uint32_t>
TopologyGraph::FindLinks(const std::string& target) const
{
    const auto dash = target.find('-');
    const bool isPair = dash != std::string::npos;
    const std::string names[2] = {target.substr(0, dash), target.substr(isPair ? dash + 1 : 0)};
    std::optional<uint32_t> nodes[2];
    std::optional<uint32_t> planes[2];
    for (uint32_t i = 0; i < 2; i++)
    {
        nodes[i] = FindNode(names[i]);
        planes[i] = FindPlane(names[i]);
        if (!nodes[i] && !planes[i] && target != "*")
        {
            return {};
        }
    }
    std::vector<uint32_t> found;
    for (uint32_t l = 0; l < links.size(); l++)
    {
        const Link& link = links[l];
        const auto isAt = [&](uint32_t i) {
            return nodes[i] ? *nodes[i] == link.a || *nodes[i] == link.b
                            : !planes[i] || GetPlane(std::max(link.a, link.b)) == *planes[i];
        };
        if (isAt(0) && isAt(1) && (!isPair || names[0] != names[1]))
        {
            found.push_back(l);
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

std::set<uint32_t>
TopologyGraph::GetGateways() const
{
    std::set<uint32_t> gateways;
    for (const Link& link : links)
    {
        for (uint32_t node : {link.a, link.b})
        {
            if (node >= hosts && !IsScaleUpSwitch(node) && IsScaleUpSwitch(GetPeer(link, node)))
            {
                gateways.insert(node - hosts);
            }
        }
    }
    return gateways;
}

uint32_t
TopologyGraph::GetCircuits() const
{
    uint32_t circuits = 0;
    for (const Link& link : links)
    {
        circuits = std::max(circuits, link.circuit == ALWAYS ? 0 : link.circuit + 1);
    }
    return circuits;
}

std::vector<uint32_t>
TopologyGraph::GetDarkLinks(uint32_t circuit) const
{
    std::vector<uint32_t> dark;
    for (uint32_t i = 0; i < links.size(); i++)
    {
        if (links[i].circuit != ALWAYS && links[i].circuit != circuit)
        {
            dark.push_back(i);
        }
    }
    return dark;
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
