/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-helper.h"

#include "ns3/configuration-error.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/time-resolution.h"

#include <algorithm>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingFabricHelper");

namespace
{

/**
 * @param fabric whose links may be down
 * @param endpoint to be routed to
 * @param paths of its topology
 * @return per node, the links that lead one hop closer
 */
ShortestPaths::NextLinks
FindRoutes(const Fabric& fabric, uint32_t endpoint, const ShortestPaths& paths)
{
    const auto& links = fabric.topology.links;
    if (endpoint >= fabric.devices.size())
    {
        const uint32_t index = fabric.addressedSwitches[endpoint - fabric.devices.size()];
        return paths.GetRoutes(fabric.topology.hosts + index,
                               [&](uint32_t link) { return fabric.channels[link]->IsUp(); });
    }
    // Into a host with several rails only the endpoint's own leads.
    const auto device = fabric.devices[endpoint];
    const uint32_t host = fabric.hostOfEndpoint[endpoint];
    return paths.GetRoutes(host, [&](uint32_t link) {
        return fabric.channels[link]->IsUp() && ((links[link].a != host && links[link].b != host) ||
                                                 fabric.channels[link] == device->GetChannel());
    });
}

/**
 * Sets the routes of all switches to one endpoint.
 * @param fabric the fabric
 * @param endpoint to be routed to
 * @param next as FindRoutes() finds it
 */
void
SetRoutes(Fabric& fabric, uint32_t endpoint, const ShortestPaths::NextLinks& next)
{
    const TopologyGraph& topology = fabric.topology;
    for (uint32_t i = 0; i < topology.switches; i++)
    {
        const uint32_t node = topology.hosts + i;
        ForwardingTable::Group ports;
        for (uint32_t link : next[node])
        {
            const uint32_t end = topology.links[link].a == node ? 0 : 1;
            ports.push_back(fabric.channels[link]->GetPort(end).GetIndex());
        }
        fabric.devicesOfSwitches[i]->GetTable().Set(endpoint, ports);
    }
}

/** @throw ConfigurationError if a host cannot reach an endpoint */
void
CheckReachable(const Fabric& fabric, uint32_t endpoint, const ShortestPaths::NextLinks& next)
{
    const uint32_t destination = fabric.hostOfEndpoint[endpoint];
    for (uint32_t host = 0; host < fabric.topology.hosts; host++)
    {
        if (host != destination && next[host].empty())
        {
            throw ConfigurationError("topology '" + fabric.topology.name + "': host " +
                                     std::to_string(host) + " cannot reach host " +
                                     std::to_string(destination) + " (allowed: all can)");
        }
    }
}

} // namespace

std::string
Fabric::GetEndName(uint32_t link, uint32_t end) const
{
    const uint32_t node = end == 0 ? topology.links[link].a : topology.links[link].b;
    return node < topology.hosts ? "host" + std::to_string(node)
                                 : "switch" + std::to_string(node - topology.hosts);
}

void
Fabric::UpdateRoutes()
{
    const ShortestPaths paths(topology);
    for (uint32_t endpoint = 0; endpoint < devices.size() + addressedSwitches.size(); endpoint++)
    {
        SetRoutes(*this, endpoint, FindRoutes(*this, endpoint, paths));
    }
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
        SetRoutes(*this, endpoint, FindRoutes(*this, endpoint, ShortestPaths(topology)));
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
            total += channel->GetPort(end).counters;
        }
    }
    return total;
}

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
FabricHelper::SetPartition(std::vector<uint32_t> processOf)
{
    m_processOf = std::move(processOf);
}

Fabric
FabricHelper::Install(const TopologyGraph& topology) const
{
    UsePicoseconds();
    Fabric fabric;
    fabric.topology = topology;
    for (uint32_t node = 0; node < topology.GetNodes(); node++)
    {
        NodeContainer& nodes = node < topology.hosts ? fabric.hosts : fabric.switches;
        nodes.Create(1, m_processOf.empty() ? 0 : m_processOf.at(node));
    }
    int64_t stream = FIRST_STREAM;
    for (uint32_t i = 0; i < topology.switches; i++)
    {
        auto device = m_switch.Create<SwitchDevice>();
        device->SetNodeId(fabric.switches.Get(i)->GetId());
        fabric.switches.Get(i)->AggregateObject(device);
        stream += device->AssignStreams(stream);
        fabric.devicesOfSwitches.push_back(device);
    }
    AddRails(fabric);
    std::vector<uint32_t> rail(topology.hosts, 0); // of each host, the one its next link is for
    for (const auto& link : topology.links)
    {
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
    for (const auto& device : fabric.devicesOfSwitches)
    {
        device->Configure();
    }
    const ShortestPaths paths(topology);
    for (uint32_t endpoint = 0; endpoint < fabric.devices.size(); endpoint++)
    {
        const ShortestPaths::NextLinks next = FindRoutes(fabric, endpoint, paths);
        CheckReachable(fabric, endpoint, next);
        SetRoutes(fabric, endpoint, next);
    }
    return fabric;
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
    for (uint32_t host = 0; host < topology.hosts; host++)
    {
        // A host alone has no link, but a device all the same.
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
            }
            fabric.devices[endpoint] = device;
            fabric.hostOfEndpoint[endpoint] = host;
            fabric.rails[host].push_back(device);
        }
    }
}

} // namespace ns3::training
