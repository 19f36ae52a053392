/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-fabric.h"

#include "ns3/log.h"
#include "ns3/node-list.h"
#include "ns3/node.h"
#include "ns3/shortest-paths.h"
#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <map>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingFabric");

namespace
{

/** An endpoint, and its index among the endpoints of its host at the same switch. */
struct Rail
{
    uint32_t endpoint;
    uint32_t number;
    uint32_t count;
};

/** @return the endpoints with their indices */
std::vector<Rail>
CountRails(const Fabric& fabric, const std::vector<uint32_t>& endpoints)
{
    std::map<uint32_t, uint32_t> counts; // number of endpoints by host
    std::vector<Rail> rails;
    for (uint32_t endpoint : endpoints)
    {
        const bool isHost = endpoint < fabric.devices.size();
        rails.push_back({endpoint, isHost ? counts[fabric.hostOfEndpoint[endpoint]]++ : 0, 1});
    }
    for (Rail& rail : rails)
    {
        if (rail.endpoint < fabric.devices.size())
        {
            rail.count = counts[fabric.hostOfEndpoint[rail.endpoint]];
        }
    }
    return rails;
}

/** @return the ports for one rail; the rails of a host at one switch share the equal-cost ports */
ForwardingTable::Group
GetShare(const ForwardingTable::Group& ports, const Rail& rail)
{
    const std::size_t shares = std::min<std::size_t>(ports.size(), rail.count);
    ForwardingTable::Group share;
    for (std::size_t i = 0; i < ports.size(); i++)
    {
        if (i % shares == rail.number % shares)
        {
            share.push_back(ports[i]);
        }
    }
    return share;
}

/**
 * Sets the routes of all switches to the endpoints at one switch.
 * @param fabric the fabric
 * @param index index of the switch
 * @param endpoints endpoints at the switch
 * @param paths shortest paths of its topology
 */
void
SetRoutes(Fabric& fabric,
          uint32_t index,
          const std::vector<uint32_t>& endpoints,
          ShortestPaths& paths)
{
    const TopologyGraph& topology = fabric.topology;
    const auto getPort = [&](uint32_t link, uint32_t node) {
        return fabric.channels[link]->GetPort(topology.links[link].a == node ? 0 : 1).GetIndex();
    };
    const bool allUp = std::all_of(fabric.channels.begin(),
                                   fabric.channels.end(),
                                   [](const auto& channel) { return channel->IsUp(); });
    ShortestPaths::LinkFilter usable;
    if (!allUp)
    {
        usable = [&fabric](uint32_t link) { return fabric.channels[link]->IsUp(); };
    }
    paths.Search(topology.hosts + index, usable);
    const std::vector<Rail> rails = CountRails(fabric, endpoints);
    std::vector<uint32_t> next;
    ForwardingTable::Group ports;
    for (uint32_t i = 0; i < topology.switches; i++)
    {
        const uint32_t node = topology.hosts + i;
        paths.GetNextLinks(node, next);
        ports.clear();
        for (uint32_t link : next)
        {
            ports.push_back(getPort(link, node));
        }
        ForwardingTable& table = fabric.devicesOfSwitches[i]->GetTable();
        for (const Rail& rail : rails)
        {
            const uint32_t endpoint = rail.endpoint;
            const bool isHost = endpoint < fabric.devices.size();
            const uint32_t last = isHost ? fabric.linkOfEndpoint[endpoint] : Fabric::NO_LINK;
            if (isHost && !fabric.channels[last]->IsUp())
            {
                table.Set(endpoint, {});
            }
            else if (isHost && i == index)
            {
                table.Set(endpoint, {getPort(last, node)});
            }
            else
            {
                table.Set(endpoint, rail.count > 1 ? GetShare(ports, rail) : ports);
            }
        }
    }
}

} // namespace

std::string
Fabric::GetEndName(uint32_t link, uint32_t end) const
{
    return topology.GetName(end == 0 ? topology.links[link].a : topology.links[link].b);
}

void
Fabric::UpdateRoutes()
{
    NS_LOG_INFO("computes the routes of " << topology.switches << " switches");
    std::vector<std::vector<uint32_t>> endpointsOf(topology.switches);
    for (uint32_t endpoint = 0; endpoint < devices.size(); endpoint++)
    {
        const uint32_t link = linkOfEndpoint[endpoint];
        const uint32_t last = link == NO_LINK ? 0
                                              : TopologyGraph::GetPeer(topology.links[link],
                                                                       hostOfEndpoint[endpoint]);
        if (last >= topology.hosts)
        {
            endpointsOf[last - topology.hosts].push_back(endpoint);
        }
    }
    for (uint32_t i = 0; i < addressedSwitches.size(); i++)
    {
        endpointsOf[addressedSwitches[i]].push_back(static_cast<uint32_t>(devices.size()) + i);
    }
    ShortestPaths paths(topology);
    for (uint32_t index = 0; index < topology.switches; index++)
    {
        if (!endpointsOf[index].empty())
        {
            SetRoutes(*this, index, endpointsOf[index], paths);
        }
    }
}

void
Fabric::PinPath(uint32_t source, uint32_t destination, const std::vector<uint32_t>& nodes)
{
    // The egress ports on the path: the host's port, then one port per switch.
    const FabricPort* port = &devices.at(source)->GetPort();
    const FabricPort* last = devices.at(destination)->GetPort().GetPeer();
    std::vector<std::pair<uint32_t, uint16_t>> pins; // switch, port
    for (std::size_t i = 0; i < nodes.size(); i++)
    {
        const bool isSwitch = nodes[i] >= topology.hosts && nodes[i] < topology.GetNodes();
        if (!isSwitch || port->GetPeer()->GetNodeId() != GetId(nodes[i]))
        {
            break;
        }
        auto& device = *devicesOfSwitches[nodes[i] - topology.hosts];
        std::vector<uint16_t> next;
        for (uint16_t index = 0; index < device.GetNPorts(); index++)
        {
            const FabricPort& candidate = device.GetPort(index);
            const bool leads = i + 1 < nodes.size() && nodes[i + 1] < topology.GetNodes() &&
                               candidate.GetPeer()->GetNodeId() == GetId(nodes[i + 1]);
            if (leads || (i + 1 == nodes.size() && &candidate == last))
            {
                next.push_back(index);
            }
        }
        if (next.empty())
        {
            break;
        }
        pins.emplace_back(nodes[i] - topology.hosts, next[source % next.size()]);
        port = &device.GetPort(pins.back().second);
    }
    if (pins.empty() || pins.size() < nodes.size())
    {
        std::string text;
        for (uint32_t node : nodes)
        {
            text += (text.empty() ? "" : ", ") + std::to_string(node);
        }
        throw ConfigurationError("path from endpoint " + std::to_string(source) + " to " +
                                 std::to_string(destination) + " by nodes '" + text +
                                 "' (allowed: switches, each with a link to the next)");
    }
    for (const auto& [index, egress] : pins)
    {
        NS_LOG_LOGIC("switch " << index << " sends frames from endpoint " << source << " to "
                               << destination << " by port " << egress);
        devicesOfSwitches[index]->GetPathContext().Pin(source, destination, egress);
    }
}

uint32_t
Fabric::GetId(uint32_t node) const
{
    return (node < topology.hosts ? hosts.Get(node) : switches.Get(node - topology.hosts))->GetId();
}

uint32_t
Fabric::AddressSwitch(uint32_t index)
{
    const auto found = std::find(addressedSwitches.begin(), addressedSwitches.end(), index);
    const auto endpoint =
        static_cast<uint32_t>(devices.size() + (found - addressedSwitches.begin()));
    if (found == addressedSwitches.end())
    {
        addressedSwitches.push_back(index);
        ShortestPaths paths(topology);
        SetRoutes(*this, index, {endpoint}, paths);
    }
    return endpoint;
}

uint64_t
Fabric::GetPacketHops() const
{
    return GetTotal().transmittedFrames;
}

PortCounters
Fabric::GetTotal() const
{
    PortCounters total;
    for (const auto& channel : channels)
    {
        for (uint32_t end = 0; end < 2; end++)
        {
            total += channel->GetPort(end).GetCounters();
        }
    }
    return total;
}

uint32_t
GetProcess(const FabricPort& port)
{
    return NodeList::GetNode(port.GetNodeId())->GetSystemId();
}

} // namespace ns3::training
