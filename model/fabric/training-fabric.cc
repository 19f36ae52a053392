/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-fabric.h"

#include "core/setup-progress.h"

#include "ns3/log.h"
#include "ns3/node-list.h"
#include "ns3/node.h"
#include "ns3/shortest-paths.h"
#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

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

/** @return the ports for one rail; the rails of a host at one switch share the equal-cost ports */
ForwardingTable::Group
GetShare(const ForwardingTable::Group& ports, uint32_t number, uint32_t count)
{
    const std::size_t shares = std::min<std::size_t>(ports.size(), count);
    ForwardingTable::Group share;
    for (std::size_t i = 0; i < ports.size(); i++)
    {
        if (i % shares == number % shares)
        {
            share.push_back(ports[i]);
        }
    }
    return share;
}

/**
 * Divides endpoints into classes, and sets routes of all switches, over the links that are up. The
 * endpoints at a switch are one class. If hosts have several rails there, the rails of the same
 * number are a class.
 */
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

    /** Finds the endpoints and their classes, as ResetTables() tells the tables. */
    void FindClasses()
    {
        const TopologyGraph& topology = m_fabric.topology;
        m_switches.resize(topology.switches);
        for (uint32_t endpoint = 0; endpoint < m_fabric.devices.size(); endpoint++)
        {
            const uint32_t last = m_fabric.GetLastSwitch(endpoint);
            if (last != Fabric::NO_SWITCH)
            {
                m_switches[last].rails.push_back({endpoint, 0, 1});
            }
        }
        m_classes = std::make_shared<DestinationClasses>();
        const std::size_t endpoints = m_fabric.devices.size() + m_fabric.addressedSwitches.size();
        m_classes->classOf.assign(endpoints, DestinationClasses::NONE);
        m_classes->placeOf.assign(endpoints, 0);
        for (Switch& last : m_switches)
        {
            CountRails(last.rails);
            last.firstClass = m_classes->count;
            for (std::size_t place = 0; place < last.rails.size(); place++)
            {
                const Rail& rail = last.rails[place];
                const uint32_t number = last.firstClass + last.GetClass(rail);
                const bool isUp = m_isUp[m_fabric.linkOfEndpoint[rail.endpoint]];
                m_classes->classOf[rail.endpoint] = isUp ? number : DestinationClasses::NONE;
                m_classes->placeOf[rail.endpoint] = static_cast<uint32_t>(place);
            }
            m_classes->count += static_cast<uint32_t>(last.classes.size());
        }
        for (std::size_t endpoint = m_fabric.devices.size(); endpoint < endpoints; endpoint++)
        {
            m_classes->classOf[endpoint] = m_classes->count++;
        }
    }

    /** Forgets the routes of all switches, and tells them the classes. */
    void ResetTables()
    {
        for (uint32_t i = 0; i < m_fabric.topology.switches; i++)
        {
            const Switch& own = m_switches[i];
            m_fabric.devicesOfSwitches[i]->GetTable().Reset(
                m_classes,
                own.firstClass,
                static_cast<uint32_t>(own.classes.size()),
                static_cast<uint32_t>(own.rails.size()));
        }
    }

    /**
     * Sets the routes to the hosts at one switch, after FindClasses(), and to endpoints of the
     * switch itself.
     * @param index index of the switch
     * @param endpoints of the switch itself
     */
    void SetRoutes(uint32_t index, const std::vector<uint32_t>& endpoints)
    {
        static const Switch NOBODY;
        const TopologyGraph& topology = m_fabric.topology;
        const Switch& last = m_switches.empty() ? NOBODY : m_switches[index];
        m_paths.SearchSwitches(topology.hosts + index, m_usable);
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
            for (uint32_t endpoint : endpoints)
            {
                table.SetClass(table.GetClasses()->classOf[endpoint], m_group);
            }
            for (uint32_t number = 0; i != index && number < last.classes.size(); number++)
            {
                const auto& [rail, count] = last.classes[number];
                table.SetClass(last.firstClass + number,
                               count > 1 ? GetShare(m_group, rail, count) : m_group);
            }
        }
        ForwardingTable& table = m_fabric.devicesOfSwitches[index]->GetTable();
        for (std::size_t place = 0; place < last.rails.size(); place++)
        {
            const uint32_t link = m_fabric.linkOfEndpoint[last.rails[place].endpoint];
            table.SetPlace(static_cast<uint32_t>(place), {GetPort(link, topology.hosts + index)});
        }
    }

  private:
    /** A switch, and the endpoints at it. */
    struct Switch
    {
        uint32_t firstClass{0};
        std::vector<Rail> rails;                            // ascending
        std::vector<std::pair<uint32_t, uint32_t>> classes; // number and count of their rails

        /** @return number of the rail's class at this switch, a new one if there is none */
        uint32_t GetClass(const Rail& rail)
        {
            const std::pair key(rail.number, rail.count);
            const auto found = std::find(classes.begin(), classes.end(), key);
            const auto number = static_cast<uint32_t>(found - classes.begin());
            if (found == classes.end())
            {
                classes.push_back(key);
            }
            return number;
        }
    };

    /** Sets the indices of endpoints at a switch. */
    void CountRails(std::vector<Rail>& rails) const
    {
        std::unordered_map<uint32_t, uint32_t> counts; // number of endpoints by host
        for (Rail& rail : rails)
        {
            rail.number = counts[m_fabric.hostOfEndpoint[rail.endpoint]]++;
        }
        for (Rail& rail : rails)
        {
            rail.count = counts[m_fabric.hostOfEndpoint[rail.endpoint]];
        }
    }

    uint16_t GetPort(uint32_t link, uint32_t node) const
    {
        return m_ports[link][m_fabric.topology.links[link].a == node ? 0 : 1];
    }

    Fabric& m_fabric;
    ShortestPaths m_paths;
    std::vector<bool> m_isUp;                     // by link
    std::vector<std::array<uint16_t, 2>> m_ports; // by link and end
    ShortestPaths::LinkFilter m_usable;           // null: all links are up
    std::vector<Switch> m_switches;               // after FindClasses()
    std::shared_ptr<DestinationClasses> m_classes;
    std::vector<uint32_t> m_next;
    ForwardingTable::Group m_group;
};

} // namespace

std::string
Fabric::GetEndName(uint32_t link, uint32_t end) const
{
    return topology.GetName(end == 0 ? topology.links[link].a : topology.links[link].b);
}

uint32_t
Fabric::GetLastSwitch(uint32_t endpoint) const
{
    const uint32_t link = linkOfEndpoint[endpoint];
    const uint32_t last =
        link == NO_LINK ? 0
                        : TopologyGraph::GetPeer(topology.links[link], hostOfEndpoint[endpoint]);
    return last >= topology.hosts ? last - topology.hosts : NO_SWITCH;
}

void
Fabric::UpdateRoutes()
{
    NS_LOG_INFO("computes the routes of " << topology.switches << " switches");
    std::vector<bool> isLast(topology.switches, false);
    for (uint32_t endpoint = 0; endpoint < devices.size(); endpoint++)
    {
        const uint32_t host = hostOfEndpoint[endpoint];
        const uint32_t last = GetLastSwitch(endpoint);
        if (last != NO_SWITCH && (host < routedHosts || otherRoutedHosts.count(host) > 0))
        {
            isLast[last] = true;
        }
    }
    std::map<uint32_t, std::vector<uint32_t>> endpointsOf; // of switches themselves
    for (uint32_t i = 0; i < addressedSwitches.size(); i++)
    {
        endpointsOf[addressedSwitches[i]].push_back(static_cast<uint32_t>(devices.size()) + i);
    }
    Router router(*this);
    router.FindClasses();
    router.ResetTables();
    SetupProgress progress("routes", topology.switches);
    for (uint32_t index = 0; index < topology.switches; index++)
    {
        progress.Advance();
        if (isLast[index] || endpointsOf.count(index) > 0)
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
    router.FindClasses();
    for (const auto& device : rails[host])
    {
        const uint32_t last = GetLastSwitch(device->GetEndpoint());
        if (last != NO_SWITCH)
        {
            router.SetRoutes(last, {});
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
        DestinationClasses& classes = *devicesOfSwitches[index]->GetTable().GetClasses();
        classes.classOf.push_back(classes.count++);
        classes.placeOf.push_back(0);
        for (const auto& device : devicesOfSwitches)
        {
            device->GetTable().SetDestination(endpoint);
        }
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
        hops +=
            channel->GetPort(0).GetTransmittedFrames() + channel->GetPort(1).GetTransmittedFrames();
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
