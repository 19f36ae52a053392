/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-helper.h"

#include "core/memory.h"
#include "core/random-streams.h"

#include "ns3/node.h"
#include "ns3/shortest-paths.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"
#include "ns3/training-time-resolution.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

namespace ns3::training
{

namespace
{

/** @return for each host, the connected components of the network that its links reach */
std::vector<std::set<uint32_t>>
FindParts(const TopologyGraph& topology)
{
    ShortestPaths paths(topology);
    std::vector<uint32_t> partOf(topology.GetNodes(), Fabric::NO_LINK);
    uint32_t parts = 0;
    for (uint32_t root = topology.hosts; root < topology.GetNodes(); root++)
    {
        if (partOf[root] == Fabric::NO_LINK)
        {
            paths.Search(root);
            for (uint32_t node = topology.hosts; node < topology.GetNodes(); node++)
            {
                partOf[node] = paths.IsReached(node) ? parts : partOf[node];
            }
            parts++;
        }
    }
    std::vector<std::set<uint32_t>> partsOf(topology.hosts);
    for (const auto& link : topology.links)
    {
        const bool direct = link.a < topology.hosts && link.b < topology.hosts;
        for (uint32_t host : {link.a, link.b})
        {
            if (host < topology.hosts)
            {
                partsOf[host].insert(direct ? parts : partOf[TopologyGraph::GetPeer(link, host)]);
            }
        }
        parts += direct;
    }
    return partsOf;
}

/** @throw ConfigurationError if a host cannot reach another one, in some configuration */
void
CheckReachable(const TopologyGraph& topology)
{
    for (uint32_t circuit = 0; circuit < topology.GetCircuits(); circuit++)
    {
        TopologyGraph configured = topology;
        configured.links.clear();
        for (TopologyGraph::Link link : topology.links)
        {
            if (link.circuit == circuit || link.circuit == TopologyGraph::ALWAYS)
            {
                link.circuit = TopologyGraph::ALWAYS;
                configured.links.push_back(link);
            }
        }
        configured.name += " with circuits " + std::to_string(circuit);
        CheckReachable(configured);
    }
    const std::vector<std::set<uint32_t>> parts = FindParts(topology);
    std::map<uint32_t, uint32_t> hostsOf; // number of hosts by part
    for (const auto& ofHost : parts)
    {
        for (uint32_t part : ofHost)
        {
            if (++hostsOf[part] == topology.hosts)
            {
                return; // all hosts meet there
            }
        }
    }
    const auto meet = [&parts](uint32_t a, uint32_t b) {
        return std::any_of(parts[a].begin(), parts[a].end(), [&](uint32_t part) {
            return parts[b].count(part) > 0;
        });
    };
    for (uint32_t to = 0; to < topology.hosts; to++)
    {
        for (uint32_t from = 0; from < topology.hosts; from++)
        {
            if (from != to && !meet(from, to))
            {
                throw ConfigurationError("topology '" + topology.name + "': host " +
                                         std::to_string(from) + " cannot reach host " +
                                         std::to_string(to) + " (allowed: all can" +
                                         (topology.name.compare(0, 5, "file:") == 0
                                              ? "; ,forward=all behind the path lets hosts with "
                                                "several links forward)"
                                              : ")"));
            }
        }
    }
}

/**
 * @return indices of the scale-up switches that speak NVLink's credits: a link to a gateway, which
 *         pauses, makes one pause as well
 */
std::set<uint32_t>
FindCreditSwitches(const TopologyGraph& topology, const std::set<uint32_t>& gateways)
{
    std::set<uint32_t> switches = topology.scaleUpSwitches;
    for (const auto& link : topology.links)
    {
        for (uint32_t node : {link.a, link.b})
        {
            if (node >= topology.hosts && gateways.count(node - topology.hosts) > 0)
            {
                switches.erase(TopologyGraph::GetPeer(link, node) - topology.hosts);
            }
        }
    }
    return switches;
}

} // namespace

FabricHelper::FabricHelper()
{
    m_host.SetTypeId(HostDevice::GetTypeId());
    m_switch.SetTypeId(SwitchDevice::GetTypeId());
}

void
FabricHelper::SetHostAttribute(const std::string& name, const AttributeValue& value)
{
    m_host.Set(name, value);
}

void
FabricHelper::SetSwitchAttribute(const std::string& name, const AttributeValue& value)
{
    m_switch.Set(name, value);
}

void
FabricHelper::SetAttributes(const AttributeList& attributes)
{
    attributes.ApplyTo(m_host);
    attributes.ApplyTo(m_switch);
}

void
FabricHelper::SetPartition(std::vector<uint32_t> processOf)
{
    m_processOf = std::move(processOf);
}

void
FabricHelper::SetRoutedHosts(uint32_t hosts)
{
    m_routedHosts = hosts;
}

void
FabricHelper::CheckSize(const TopologyGraph& topology)
{
    std::vector<uint32_t> ports(topology.GetNodes(), 0);
    for (const auto& link : topology.links)
    {
        for (uint32_t node : {link.a, link.b})
        {
            if (++ports[node] > ForwardingTable::MAX_PORTS && node >= topology.hosts)
            {
                throw ConfigurationError(
                    "topology '" + topology.name + "': " + topology.GetName(node) + " has " +
                    std::to_string(ports[node]) + " ports or more (allowed: up to " +
                    std::to_string(ForwardingTable::MAX_PORTS) + ")");
            }
        }
    }
    constexpr double BYTES_PER_ROUTE = 2; // of a switch to the hosts at another one
    constexpr double BYTES_PER_HOST = 8192;
    const auto hosts = static_cast<double>(topology.hosts);
    const auto switches = static_cast<double>(topology.switches);
    CheckMemory(BYTES_PER_ROUTE * switches * switches + BYTES_PER_HOST * hosts +
                    TopologyGraph::BYTES_PER_LINK * static_cast<double>(topology.links.size()),
                "topology '" + topology.name + "' of " + std::to_string(topology.hosts) +
                    " hosts and " + std::to_string(topology.switches) + " switches");
}

Fabric
FabricHelper::Install(const TopologyGraph& topology) const
{
    CheckReachable(topology);
    NodeContainer hosts;
    NodeContainer switches;
    for (uint32_t node = 0; node < topology.GetNodes(); node++)
    {
        NodeContainer& nodes = node < topology.hosts ? hosts : switches;
        nodes.Create(1, m_processOf.empty() ? 0 : m_processOf.at(node));
    }
    return InstallOn(hosts, switches, topology);
}

Fabric
FabricHelper::Install(const NodeContainer& hosts,
                      const NodeContainer& switches,
                      const TopologyGraph& topology) const
{
    CheckNodes(hosts, switches, topology);
    CheckSize(topology);
    CheckReachable(topology);
    return InstallOn(hosts, switches, topology);
}

void
FabricHelper::CheckNodes(const NodeContainer& hosts,
                         const NodeContainer& switches,
                         const TopologyGraph& topology) const
{
    const std::string where = "topology '" + topology.name + "': ";
    if (!m_processOf.empty())
    {
        throw ConfigurationError(where + "a partition for nodes of the caller (allowed: none, as "
                                         "each node has its system id)");
    }
    const auto checkNumber = [&](const NodeContainer& nodes, const char* kind, uint32_t expected) {
        if (nodes.GetN() != expected)
        {
            throw ConfigurationError(where + std::to_string(nodes.GetN()) + " " + kind +
                                     " nodes (allowed: " + std::to_string(expected) + ")");
        }
    };
    checkNumber(hosts, "host", topology.hosts);
    checkNumber(switches, "switch", topology.switches);
    for (std::size_t l = 0; l < topology.links.size(); l++)
    {
        const auto& link = topology.links[l];
        if (std::max(link.a, link.b) >= topology.GetNodes() || link.a == link.b ||
            link.rate.GetBitRate() == 0 || link.delay.IsStrictlyNegative())
        {
            throw ConfigurationError(
                where + "link " + std::to_string(l) + " between nodes " + std::to_string(link.a) +
                " and " + std::to_string(link.b) + " at " + FormatRate(link.rate) + " and " +
                std::to_string(link.delay.GetPicoSeconds()) + "ps (allowed: two nodes below " +
                std::to_string(topology.GetNodes()) + ", a rate above 0, and no negative delay)");
        }
    }
    std::set<uint32_t> ids;
    for (uint32_t node = 0; node < topology.GetNodes(); node++)
    {
        const Ptr<Node> own =
            node < topology.hosts ? hosts.Get(node) : switches.Get(node - topology.hosts);
        const std::string name = where + "node " + std::to_string(own->GetId());
        if (!ids.insert(own->GetId()).second)
        {
            throw ConfigurationError(name + " is given twice (allowed: once)");
        }
        if (own->GetObject<SwitchDevice>())
        {
            throw ConfigurationError(name +
                                     " is a switch already (allowed: a switch of one fabric)");
        }
    }
}

Fabric
FabricHelper::InstallOn(const NodeContainer& hosts,
                        const NodeContainer& switches,
                        const TopologyGraph& topology) const
{
    UsePicoseconds();
    Fabric fabric;
    fabric.topology = topology;
    fabric.hosts = hosts;
    fabric.switches = switches;
    const std::set<uint32_t> gateways = topology.GetGateways();
    const std::set<uint32_t> creditSwitches = FindCreditSwitches(topology, gateways);
    for (uint32_t i = 0; i < topology.switches; i++)
    {
        auto device = m_switch.Create<SwitchDevice>();
        device->SetNodeId(fabric.switches.Get(i)->GetId());
        if (creditSwitches.count(i) > 0)
        {
            device->SetScaleUp();
        }
        if (gateways.count(i) > 0)
        {
            device->SetAttribute("TrimClasses", UintegerValue(0)); // a GPU passes on from memory
        }
        if (topology.scaleUpSwitches.count(i) > 0)
        {
            UintegerValue memory;
            device->GetAttribute("RegisterMemory", memory);
            device->SetAttribute("RegisterMemory",
                                 UintegerValue(memory.Get() * topology.shape.localSwitches));
        }
        fabric.switches.Get(i)->AggregateObject(device);
        device->AssignStreams(GetRandomStream(RandomUse::SWITCHES, i));
        fabric.devicesOfSwitches.push_back(device);
    }
    AddRails(fabric);
    std::vector<uint32_t> rail(topology.hosts, 0); // by host: rail of its next link
    for (uint32_t l = 0; l < topology.links.size(); l++)
    {
        const auto& link = topology.links[l];
        auto channel = CreateObject<FabricChannel>();
        FabricPort* ports[2];
        Time pipelines[2];
        for (uint32_t end = 0; end < 2; end++)
        {
            const uint32_t node = end == 0 ? link.a : link.b;
            if (node < topology.hosts)
            {
                auto device = fabric.rails[node][rail[node]++];
                ports[end] = &device->GetPort();
                device->SetChannel(channel);
                fabric.linkOfEndpoint[device->GetEndpoint()] = l;
            }
            else
            {
                auto device = fabric.devicesOfSwitches[node - topology.hosts];
                ports[end] = &device->AddPort();
                pipelines[end] = device->GetPipelineDelay();
            }
        }
        channel->Connect(*ports[0], *ports[1], link.rate, link.delay, pipelines[0], pipelines[1]);
        fabric.channels.push_back(channel);
    }
    SetDimensions(fabric);
    SetOrder(fabric);
    for (const auto& device : fabric.devicesOfSwitches)
    {
        device->Configure();
    }
    fabric.routedHosts = m_routedHosts;
    fabric.UpdateRoutes();
    return fabric;
}

void
FabricHelper::SetDimensions(Fabric& fabric)
{
    const TopologyGraph& topology = fabric.topology;
    if (std::none_of(topology.links.begin(), topology.links.end(), [](const auto& link) {
            return link.dateline;
        }))
    {
        return;
    }
    constexpr uint8_t TO_HOST = TopologyGraph::NO_DIMENSION - 1; // unused by other links
    for (uint32_t l = 0; l < topology.links.size(); l++)
    {
        const auto& link = topology.links[l];
        for (uint32_t end = 0; end < 2; end++)
        {
            const uint32_t node = end == 0 ? link.a : link.b;
            if (node >= topology.hosts)
            {
                const bool toHost = TopologyGraph::GetPeer(link, node) < topology.hosts;
                fabric.devicesOfSwitches[node - topology.hosts]->SetDimension(
                    fabric.channels[l]->GetPort(end).GetIndex(),
                    toHost ? TO_HOST : link.dimension,
                    link.dateline);
            }
        }
    }
}

void
FabricHelper::SetOrder(Fabric& fabric)
{
    const TopologyGraph& topology = fabric.topology;
    constexpr uint32_t NOWHERE = std::numeric_limits<uint32_t>::max();
    // Endpoints by the switch of their host.
    std::vector<std::vector<uint32_t>> endpointsOf(topology.GetNodes());
    for (uint32_t endpoint = 0; endpoint < fabric.devices.size(); endpoint++)
    {
        const uint32_t link = fabric.linkOfEndpoint[endpoint];
        if (link != Fabric::NO_LINK)
        {
            const uint32_t host = fabric.hostOfEndpoint[endpoint];
            endpointsOf[TopologyGraph::GetPeer(topology.links[link], host)].push_back(endpoint);
        }
    }
    auto order = std::make_shared<std::vector<uint32_t>>(fabric.devices.size(), 0);
    std::vector<uint32_t> below(topology.GetNodes(), 0); // number of endpoints
    std::vector<uint32_t> stride(topology.GetNodes(), NOWHERE);
    std::vector<uint32_t> level;
    uint32_t place = 0;
    for (uint32_t node = topology.hosts; node < topology.GetNodes(); node++)
    {
        for (uint32_t endpoint : endpointsOf[node])
        {
            (*order)[endpoint] = place++;
        }
        if (!endpointsOf[node].empty())
        {
            below[node] = static_cast<uint32_t>(endpointsOf[node].size());
            stride[node] = 1;
            level.push_back(node);
        }
    }
    const auto linksOf = topology.GetLinksOfNodes();
    while (!level.empty())
    {
        std::set<std::pair<uint32_t, uint32_t>> ways; // links from the next level to this one
        for (uint32_t node : level)
        {
            for (uint32_t link : linksOf[node])
            {
                const uint32_t peer = TopologyGraph::GetPeer(topology.links[link], node);
                if (stride[peer] == NOWHERE && peer >= topology.hosts)
                {
                    ways.insert({peer, node});
                }
            }
        }
        level.clear();
        for (const auto& [node, child] : ways)
        {
            if (stride[node] == NOWHERE)
            {
                stride[node] = below[child];
                level.push_back(node);
            }
            below[node] += below[child];
        }
    }
    for (uint32_t i = 0; i < topology.switches; i++)
    {
        const uint32_t found = stride[topology.hosts + i];
        fabric.devicesOfSwitches[i]->GetPathContext().SetOrder(order, found == NOWHERE ? 1 : found);
    }
}

void
FabricHelper::AddRails(Fabric& fabric) const
{
    const TopologyGraph& topology = fabric.topology;
    std::vector<uint32_t> links(topology.hosts, 0);
    for (const auto& link : topology.links)
    {
        for (uint32_t node : {link.a, link.b})
        {
            if (node < topology.hosts)
            {
                links[node]++;
            }
        }
    }
    fabric.rails.resize(topology.hosts);
    fabric.devices.resize(topology.hosts);
    fabric.hostOfEndpoint.resize(topology.hosts);
    fabric.linkOfEndpoint.resize(topology.hosts, Fabric::NO_LINK);
    for (uint32_t host = 0; host < topology.hosts; host++)
    {
        // A single host has no link, but still a device.
        for (uint32_t rail = 0; rail < std::max<uint32_t>(1, links[host]); rail++)
        {
            auto device = m_host.Create<HostDevice>();
            fabric.hosts.Get(host)->AddDevice(device);
            const auto endpoint = rail == 0 ? host : static_cast<uint32_t>(fabric.devices.size());
            device->SetEndpoint(endpoint);
            if (rail > 0)
            {
                fabric.devices.emplace_back();
                fabric.hostOfEndpoint.emplace_back();
                fabric.linkOfEndpoint.push_back(Fabric::NO_LINK);
            }
            fabric.devices[endpoint] = device;
            fabric.hostOfEndpoint[endpoint] = host;
            fabric.rails[host].push_back(device);
        }
    }
    std::vector<const FabricNetDevice*> devices;
    for (const auto& device : fabric.devices)
    {
        devices.push_back(PeekPointer(device));
    }
    const auto neighbors = std::make_shared<IpNeighbors>(std::move(devices));
    for (const auto& device : fabric.devices)
    {
        device->SetNeighbors(neighbors);
    }
}

} // namespace ns3::training
