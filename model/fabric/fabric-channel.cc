/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-channel.h"

#include "ns3/log.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingChannel");
NS_OBJECT_ENSURE_REGISTERED(FabricChannel);

TypeId
FabricChannel::GetTypeId()
{
    static TypeId tid = TypeId("ns3::training::FabricChannel")
                            .SetParent<Channel>()
                            .SetGroupName("DistributedTraining")
                            .AddConstructor<FabricChannel>();
    return tid;
}

void
FabricChannel::Connect(FabricPort& a,
                       FabricPort& b,
                       DataRate rate,
                       Time delay,
                       Time pipelineA,
                       Time pipelineB)
{
    NS_LOG_FUNCTION(this << rate << delay);
    m_ports[0] = &a;
    m_ports[1] = &b;
    a.Connect(b, rate.GetBitRate(), delay + pipelineB);
    b.Connect(a, rate.GetBitRate(), delay + pipelineA);
}

void
FabricChannel::AddDevice(Ptr<NetDevice> device)
{
    m_devices.push_back(device);
}

void
FabricChannel::AddImpairments(const Impairments& impairments)
{
    NS_LOG_FUNCTION(this);
    const bool wasUp = IsUp();
    m_ports[0]->AddImpairment(impairments[0]);
    m_ports[1]->AddImpairment(impairments[1]);
    NotifyOwners(wasUp);
}

void
FabricChannel::RemoveImpairments(const Impairments& impairments)
{
    NS_LOG_FUNCTION(this);
    const bool wasUp = IsUp();
    m_ports[0]->RemoveImpairment(impairments[0]);
    m_ports[1]->RemoveImpairment(impairments[1]);
    NotifyOwners(wasUp);
}

bool
FabricChannel::IsUp() const
{
    return !m_ports[0]->IsDown() && !m_ports[1]->IsDown();
}

void
FabricChannel::NotifyOwners(bool wasUp)
{
    if (wasUp == IsUp())
    {
        return;
    }
    NS_LOG_INFO("the link from node " << m_ports[0]->GetNodeId() << " to node "
                                      << m_ports[1]->GetNodeId() << " goes "
                                      << (wasUp ? "down" : "up"));
    for (FabricPort* port : m_ports)
    {
        port->GetOwner().NotifyLinkChange();
    }
}

std::size_t
FabricChannel::GetNDevices() const
{
    return m_devices.size();
}

Ptr<NetDevice>
FabricChannel::GetDevice(std::size_t i) const
{
    return m_devices.at(i);
}

FabricPort&
FabricChannel::GetPort(uint32_t end) const
{
    return *m_ports[end];
}

void
FabricChannel::DoDispose()
{
    m_devices.clear();
    Channel::DoDispose();
}

} // namespace ns3::training
