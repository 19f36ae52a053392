/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/rail-routing.h"

#include "fabric/endpoint-address.h"

#include "ns3/node.h"

namespace ns3::training
{

NS_OBJECT_ENSURE_REGISTERED(RailRouting);

TypeId
RailRouting::GetTypeId()
{
    static TypeId tid = TypeId("ns3::training::RailRouting")
                            .SetParent<Ipv4StaticRouting>()
                            .SetGroupName("DistributedTraining")
                            .AddConstructor<RailRouting>();
    return tid;
}

void
RailRouting::DoDispose()
{
    m_ipv4 = nullptr;
    m_portPairs = nullptr;
    Ipv4StaticRouting::DoDispose();
}

void
RailRouting::SetPortPairs(uint32_t rank, std::shared_ptr<PortPairTable> portPairs)
{
    m_rank = rank;
    m_portPairs = std::move(portPairs);
}

void
RailRouting::SetIpv4(Ptr<Ipv4> ipv4)
{
    m_ipv4 = ipv4;
    Ipv4StaticRouting::SetIpv4(ipv4);
}

Ptr<Ipv4Route>
RailRouting::RouteOutput(Ptr<Packet> packet,
                         const Ipv4Header& header,
                         Ptr<NetDevice> device,
                         Socket::SocketErrno& error)
{
    if (!device)
    {
        const uint32_t source = header.GetSource().Get();
        const uint32_t destination = header.GetDestination().Get();
        const auto [found, fresh] = m_rails.try_emplace({source, destination}, 0);
        if (fresh)
        {
            found->second = FindRail(source, destination);
        }
        device = m_ipv4->GetObject<Node>()->GetDevice(found->second);
    }
    return Ipv4StaticRouting::RouteOutput(packet, header, device, error);
}

uint32_t
RailRouting::FindRail(uint32_t source, uint32_t destination) const
{
    const uint32_t peer = m_portPairs->GetRank(destination - FIRST_IPV4_ADDRESS);
    uint32_t rail = 0;
    if (peer != m_rank && peer < m_portPairs->GetRanks())
    {
        for (const PortPair& portPair : m_portPairs->GetPortPairs(m_rank, peer))
        {
            if (portPair.remoteEndpoint + FIRST_IPV4_ADDRESS == destination)
            {
                rail = portPair.rail;
                if (portPair.localEndpoint + FIRST_IPV4_ADDRESS == source)
                {
                    break;
                }
            }
        }
    }
    return rail;
}

} // namespace ns3::training
