/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric-net-device.h"

#include "fabric/endpoint-address.h"

#include "ns3/log.h"
#include "ns3/node.h"

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingFabricNetDevice");
NS_OBJECT_ENSURE_REGISTERED(FabricNetDevice);

TypeId
FabricNetDevice::GetTypeId()
{
    static TypeId tid = TypeId("ns3::training::FabricNetDevice")
                            .SetParent<NetDevice>()
                            .SetGroupName("DistributedTraining");
    return tid;
}

void
FabricNetDevice::DoDispose()
{
    m_node = nullptr;
    m_channel = nullptr;
    m_receive.Nullify();
    m_promiscReceive.Nullify();
    NetDevice::DoDispose();
}

uint32_t
FabricNetDevice::GetEndpoint() const
{
    return m_endpoint;
}

void
FabricNetDevice::SetChannel(Ptr<FabricChannel> channel)
{
    m_channel = channel;
    m_channel->AddDevice(this);
}

bool
FabricNetDevice::PassUp(Ptr<Packet> packet, uint16_t protocol, const Address& from)
{
    bool isTaken = false;
    if (!m_promiscReceive.IsNull())
    {
        isTaken = m_promiscReceive(this, packet, protocol, from, GetAddress(), PACKET_HOST);
    }
    if (!m_receive.IsNull())
    {
        isTaken = m_receive(this, packet, protocol, from) || isTaken;
    }
    return isTaken;
}

void
FabricNetDevice::CallLinkChange()
{
    m_linkChange();
}

void
FabricNetDevice::SetIfIndex(const uint32_t index)
{
    m_interface = index;
}

uint32_t
FabricNetDevice::GetIfIndex() const
{
    return m_interface;
}

Ptr<Channel>
FabricNetDevice::GetChannel() const
{
    return m_channel;
}

void
FabricNetDevice::SetAddress(Address)
{
    NS_LOG_WARN("the address of a fabric endpoint follows from its number");
}

Address
FabricNetDevice::GetAddress() const
{
    return GetEndpointMacAddress(m_endpoint);
}

bool
FabricNetDevice::SetMtu(const uint16_t mtu)
{
    m_mtu = mtu;
    return true;
}

uint16_t
FabricNetDevice::GetMtu() const
{
    return m_mtu;
}

bool
FabricNetDevice::IsLinkUp() const
{
    return m_channel && m_channel->IsUp();
}

void
FabricNetDevice::AddLinkChangeCallback(Callback<void> callback)
{
    m_linkChange.ConnectWithoutContext(callback);
}

bool
FabricNetDevice::IsBroadcast() const
{
    return true;
}

Address
FabricNetDevice::GetBroadcast() const
{
    return Mac48Address::GetBroadcast();
}

bool
FabricNetDevice::IsMulticast() const
{
    return false;
}

Address
FabricNetDevice::GetMulticast(Ipv4Address multicastGroup) const
{
    return Mac48Address::GetMulticast(multicastGroup);
}

Address
FabricNetDevice::GetMulticast(Ipv6Address addr) const
{
    return Mac48Address::GetMulticast(addr);
}

bool
FabricNetDevice::IsBridge() const
{
    return false;
}

bool
FabricNetDevice::IsPointToPoint() const
{
    return false;
}

bool
FabricNetDevice::SendFrom(Ptr<Packet> packet,
                          const Address&,
                          const Address& dest,
                          uint16_t protocol)
{
    return Send(packet, dest, protocol);
}

Ptr<Node>
FabricNetDevice::GetNode() const
{
    return m_node;
}

void
FabricNetDevice::SetNode(Ptr<Node> node)
{
    m_node = node;
}

bool
FabricNetDevice::NeedsArp() const
{
    return false;
}

void
FabricNetDevice::SetReceiveCallback(ReceiveCallback callback)
{
    m_receive = callback;
}

void
FabricNetDevice::SetPromiscReceiveCallback(PromiscReceiveCallback callback)
{
    m_promiscReceive = callback;
}

bool
FabricNetDevice::SupportsSendFrom() const
{
    return false;
}

} // namespace ns3::training
