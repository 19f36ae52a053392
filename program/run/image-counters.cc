/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "image-counters.h"

#include "run/network-images.h"

#include "ns3/network-repetition.h"

namespace ns3::training
{

namespace
{

/** @return whether a switch has dropped frames, or it or a peer has paused the other */
bool
HasReacted(SwitchDevice& device)
{
    PortCounters total;
    for (uint16_t index = 0; index < device.GetNPorts(); index++)
    {
        total += device.GetPort(index).GetCounters();
    }
    return total.pausesSent + total.pausesReceived + total.lostFrames + total.droppedFrames +
               total.trimmedFrames >
           0;
}

/** @return whether the memory of a switch does for so many images that use it alike */
bool
HasSpace(SwitchDevice& device, uint64_t images)
{
    const SharedBuffer& buffer = device.GetBuffer();
    bool hasLossy = false;
    for (uint16_t index = 0; index < device.GetNPorts(); index++)
    {
        const auto& classes = device.GetPort(index).GetCounters().byPriority;
        for (uint8_t priority = 0; priority < classes.size(); priority++)
        {
            hasLossy = hasLossy ||
                       (!buffer.IsLossless(priority) && classes[priority].transmittedFrames > 0);
        }
    }
    return buffer.HasSpaceFor(images, hasLossy);
}

} // namespace

ImageCounters::ImageCounters(const Cluster& cluster)
    : m_cluster(cluster),
      m_network(std::make_shared<NetworkImages>(cluster.GetFabric().topology,
                                                cluster.GetRanks(),
                                                cluster.GetOptions().images))
{
    const TopologyGraph& topology = cluster.GetFabric().topology;
    for (uint32_t node = topology.hosts; node < topology.GetNodes(); node++)
    {
        m_users.push_back(m_network->IsSimulated(node) ? m_network->GetUsers(node) : 1);
    }
}

uint64_t
ImageCounters::Derive() const
{
    const Fabric& fabric = m_cluster.GetFabric();
    uint64_t hops = 0;
    for (uint32_t number = 0; number < fabric.channels.size(); number++)
    {
        const auto& link = fabric.topology.links[number];
        if (!m_network->IsSimulated(link.a) || !m_network->IsSimulated(link.b))
        {
            continue;
        }
        for (const auto& [image, isReversed] : m_network->GetImages(number))
        {
            for (uint32_t end : {0, 1})
            {
                const FabricPort& of = fabric.channels[number]->GetPort(end);
                fabric.channels[image]
                    ->GetPort(isReversed ? 1 - end : end)
                    .SetCounters(of.GetCounters());
                hops += of.GetTransmittedFrames();
            }
        }
    }
    return hops;
}

void
ImageCounters::Check() const
{
    const Fabric& fabric = m_cluster.GetFabric();
    const NetworkRepetition network(fabric, 0, m_cluster.GetOptions().FindRdmaControl());
    if (network.ReactsToMarks() && network.MarksAtRandom())
    {
        RefuseImages("switches may have drawn which frames they mark");
    }
    for (uint32_t index = 0; index < m_users.size(); index++)
    {
        SwitchDevice& device = *fabric.devicesOfSwitches[index];
        const uint32_t node = fabric.topology.hosts + index;
        if (m_users[index] != 1 && HasReacted(device))
        {
            RefuseImages(fabric.topology.GetName(node) +
                         " paused senders or dropped frames, by the frames of all replicas");
        }
        if (m_users[index] > 1 && !HasSpace(device, m_users[index]))
        {
            RefuseImages(fabric.topology.GetName(node) +
                         " had so many bytes that its memory may not do for all replicas");
        }
    }
}

std::string
ImageCounters::FindInexact() const
{
    const Fabric& fabric = m_cluster.GetFabric();
    const NetworkRepetition network(fabric, 0, m_cluster.GetOptions().FindRdmaControl());
    return network.MarksAtRandom() ? "marked frames, to which nothing reacts, are drawn" : "";
}

} // namespace ns3::training
