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

std::string
Fabric::GetEndName(uint32_t link, uint32_t end) const
{
    const uint32_t node = end == 0 ? topology.links[link].a : topology.links[link].b;
    return node < topology.hosts ? "host" + std::to_string(node)
                                 : "switch" + std::to_string(node - topology.hosts);
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
            const PortCounters& counters = channel->GetPort(end).counters;
            total.transmittedFrames += counters.transmittedFrames;
            total.transmittedBytes += counters.transmittedBytes;
            for (uint8_t priority = 0; priority < PRIORITIES; priority++)
            {
                total.transmittedByPriority[priority] += counters.transmittedByPriority[priority];
            }
            total.receivedFrames += counters.receivedFrames;
            total.receivedBytes += counters.receivedBytes;
            total.lostFrames += counters.lostFrames;
            total.lostBytes += counters.lostBytes;
            total.droppedFrames += counters.droppedFrames;
            total.droppedBytes += counters.droppedBytes;
            total.markedFrames += counters.markedFrames;
            total.pausesSent += counters.pausesSent;
            total.pausesReceived += counters.pausesReceived;
            total.peakQueueBytes = std::max(total.peakQueueBytes, counters.peakQueueBytes);
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
FabricHelper::SetLoss(double rate)
{
    m_loss = rate;
}

Fabric
FabricHelper::Install(const TopologyGraph& topology) const
{
    UsePicoseconds();
    Fabric fabric;
    fabric.topology = topology;
    fabric.hosts.Create(topology.hosts);
    fabric.switches.Create(topology.switches);
    for (uint32_t host = 0; host < topology.hosts; host++)
    {
        auto device = m_host.Create<HostDevice>();
        fabric.hosts.Get(host)->AddDevice(device);
        device->SetEndpoint(host);
        fabric.devices.push_back(device);
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

    // portOfLink[node]: for each link of the node in ascending order, the number of its port.
    std::vector<std::vector<uint16_t>> portOfLink(2);
    portOfLink[0].resize(topology.links.size());
    portOfLink[1].resize(topology.links.size());
    for (uint32_t i = 0; i < topology.links.size(); i++)
    {
        const auto& link = topology.links[i];
        auto channel = CreateObject<FabricChannel>();
        FabricPort* ports[2];
        Time pipelines[2];
        for (uint32_t end = 0; end < 2; end++)
        {
            const uint32_t node = end == 0 ? link.a : link.b;
            if (node < topology.hosts)
            {
                if (fabric.devices[node]->IsLinkUp())
                {
                    throw ConfigurationError("topology '" + topology.name + "': host " +
                                             std::to_string(node) +
                                             " has more than one link (allowed: one)");
                }
                ports[end] = &fabric.devices[node]->GetPort();
                fabric.devices[node]->SetChannel(channel);
            }
            else
            {
                auto device = fabric.devicesOfSwitches[node - topology.hosts];
                ports[end] = &device->AddPort();
                pipelines[end] = device->GetPipelineDelay();
            }
            portOfLink[end][i] = ports[end]->GetIndex();
        }
        channel->Connect(*ports[0], *ports[1], link.rate, link.delay, pipelines[0], pipelines[1]);
        channel->SetLoss(m_loss, stream);
        stream += 2;
        fabric.channels.push_back(channel);
    }
    for (const auto& device : fabric.devicesOfSwitches)
    {
        fabric.missingHeadroom += device->ConfigureBuffer();
    }
    SetRoutes(fabric, portOfLink);
    return fabric;
}

void
FabricHelper::SetRoutes(Fabric& fabric, const std::vector<std::vector<uint16_t>>& portOfLink) const
{
    const TopologyGraph& topology = fabric.topology;
    const ShortestPaths paths(topology);
    for (uint32_t destination = 0; destination < topology.hosts; destination++)
    {
        const ShortestPaths::NextLinks next = paths.GetRoutes(destination);
        for (uint32_t host = 0; host < topology.hosts; host++)
        {
            if (host != destination && next[host].empty())
            {
                throw ConfigurationError("topology '" + topology.name + "': host " +
                                         std::to_string(host) + " cannot reach host " +
                                         std::to_string(destination) + " (allowed: all can)");
            }
        }
        for (uint32_t i = 0; i < topology.switches; i++)
        {
            const uint32_t node = topology.hosts + i;
            ForwardingTable::Group ports;
            for (uint32_t link : next[node])
            {
                ports.push_back(portOfLink[topology.links[link].a == node ? 0 : 1][link]);
            }
            fabric.devicesOfSwitches[i]->GetTable().Set(destination, ports);
        }
    }
}

} // namespace ns3::training
