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
#include "ns3/training-setup-progress.h"

#include <algorithm>
#include <array>
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

/** Sets routes of all switches, over the links that are up. */
class Router
{
  public:
    explicit Router(Fabric& fabric)
        : m_fabric(fabric),
          m_paths(fabric.topology)
    {
        for (const auto& channel : fabric.channels)
        {
            m_isUp.push_back(channel->IsUp());
            m_ports.push_back({channel->GetPort(0).GetIndex(), channel->GetPort(1).GetIndex()});
        }
        if (std::find(m_isUp.begin(), m_isUp.end(), false) != m_isUp.end())
        {
            m_usable = [this](uint32_t link) { return m_isUp[link]; };
        }
    }

    Router(const Router&) = delete;
    Router& operator=(const Router&) = delete;

    /**
     * Sets the routes to the endpoints at one switch.
     * @param index index of the switch
     * @param endpoints endpoints at the switch
     */
    void SetRoutes(uint32_t index, const std::vector<uint32_t>& endpoints)
    {
        const TopologyGraph& topology = m_fabric.topology;
        m_paths.Search(topology.hosts + index, m_usable);
        const std::vector<Rail> rails = CountRails(m_fabric, endpoints);
        for (uint32_t i = 0; i < topology.switches; i++)
        {
            const uint32_t node = topology.hosts + i;
            m_paths.GetNextLinks(node, m_next);
            m_group.clear();
            for (uint32_t link : m_next)
            {
                m_group.push_back(GetPort(link, node));
            }
            ForwardingTable& table = m_fabric.devicesOfSwitches[i]->GetTable();
            for (const Rail& rail : rails)
            {
                const uint32_t endpoint = rail.endpoint;
                const bool isHost = endpoint < m_fabric.devices.size();
                const uint32_t last = isHost ? m_fabric.linkOfEndpoint[endpoint] : Fabric::NO_LINK;
                if (isHost && !m_isUp[last])
                {
                    table.Set(endpoint, {});
                }
                else if (isHost && i == index)
                {
                    table.Set(endpoint, {GetPort(last, node)});
                }
                else
                {
                    table.Set(endpoint, rail.count > 1 ? GetShare(m_group, rail) : m_group);
                }
            }
        }
    }

  private:
    uint16_t GetPort(uint32_t link, uint32_t node) const
    {
        return m_ports[link][m_fabric.topology.links[link].a == node ? 0 : 1];
    }

    Fabric& m_fabric;
    ShortestPaths m_paths;
    std::vector<bool> m_isUp;                     // by link
    std::vector<std::array<uint16_t, 2>> m_ports; // by link and end
    ShortestPaths::LinkFilter m_usable;           // null: all links are up
    std::vector<uint32_t> m_next;
    ForwardingTable::Group m_group;
};

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
        const uint32_t host = hostOfEndpoint[endpoint];
        const uint32_t link = linkOfEndpoint[endpoint];
        const uint32_t last =
            link == NO_LINK ? 0 : TopologyGraph::GetPeer(topology.links[link], host);
        if (last >= topology.hosts && (host < routedHosts || otherRoutedHosts.count(host) > 0))
        {
            endpointsOf[last - topology.hosts].push_back(endpoint);
        }
    }
    for (uint32_t i = 0; i < addressedSwitches.size(); i++)
    {
        endpointsOf[addressedSwitches[i]].push_back(static_cast<uint32_t>(devices.size()) + i);
    }
    Router router(*this);
    SetupProgress progress("routes", topology.switches);
    for (uint32_t index = topology.switches; index-- > 0;) // so that a table has its size at once
    {
        progress.Advance();
        if (!endpointsOf[index].empty())
        {
            router.SetRoutes(index, endpointsOf[index]);
        }
    }
}

void
Fabric::RouteTo(uint32_t host)
{
    if (host < routedHosts || !otherRoutedHosts.insert(host).second)
    {
        return;
    }
    Router router(*this);
    std::map<uint32_t, std::vector<uint32_t>> endpointsOf; // by switch
    for (const auto& device : rails[host])
    {
        const uint32_t link = linkOfEndpoint[device->GetEndpoint()];
        const uint32_t last =
            link == NO_LINK ? 0 : TopologyGraph::GetPeer(topology.links[link], host);
        if (last >= topology.hosts)
        {
            endpointsOf[last - topology.hosts].push_back(device->GetEndpoint());
        }
    }
    for (const auto& [index, endpoints] : endpointsOf)
    {
        router.SetRoutes(index, endpoints);
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
        Router(*this).SetRoutes(index, {endpoint});
    }
    return endpoint;
}

uint64_t
Fabric::GetPacketHops() const
{
    uint64_t hops = 0;
    for (const auto& channel : channels)
    {
        hops += channel->GetPort(0).GetCounters().transmittedFrames +
                channel->GetPort(1).GetCounters().transmittedFrames;
    }
    return hops;
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
