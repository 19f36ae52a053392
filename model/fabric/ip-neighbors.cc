/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ip-neighbors.h"

#include "fabric/endpoint-address.h"

#include "ns3/ipv4-route.h"
#include "ns3/ipv4-routing-protocol.h"
#include "ns3/ipv4-routing-table-entry.h"
#include "ns3/ipv4-static-routing.h"
#include "ns3/ipv4.h"
#include "ns3/mac48-address.h"
#include "ns3/node.h"
#include "ns3/socket.h"

#include <typeinfo>
#include <utility>

namespace ns3::training
{

namespace
{

/// Routes up to which looking at all of them is faster than asking for one.
constexpr uint32_t MAX_ROUTES = 8;

/** @return whether routing may find a gateway; false only if all its routes lead to neighbors */
bool
MayHaveGateway(const Ipv4RoutingProtocol& routing)
{
    if (typeid(routing) != typeid(Ipv4StaticRouting)) // a derived class may choose differently
    {
        return true;
    }
    const auto& table = static_cast<const Ipv4StaticRouting&>(routing);
    const uint32_t routes = table.GetNRoutes();
    for (uint32_t i = 0; i < routes && routes <= MAX_ROUTES; i++)
    {
        if (table.GetRoute(i).IsGateway())
        {
            return true;
        }
    }
    return routes > MAX_ROUTES;
}

/** @return whether an address of a device, or of none if it is null, meets a condition */
template <typename Condition>
bool
AnyAddress(const FabricNetDevice* device, Condition isMet)
{
    const auto ipv4 = device ? device->GetNode()->GetObject<Ipv4>() : nullptr;
    const int32_t interface = ipv4 ? ipv4->GetInterfaceForDevice(device) : -1;
    const uint32_t addresses = interface < 0 ? 0 : ipv4->GetNAddresses(interface);
    for (uint32_t i = 0; i < addresses; i++)
    {
        if (isMet(ipv4->GetAddress(interface, i).GetLocal()))
        {
            return true;
        }
    }
    return false;
}

} // namespace

IpNeighbors::IpNeighbors(std::vector<const FabricNetDevice*> devices)
    : m_devices(std::move(devices))
{
}

void
IpNeighbors::Remove(uint32_t endpoint)
{
    m_devices.at(endpoint) = nullptr;
}

uint32_t
IpNeighbors::Resolve(IpNeighbors* neighbors,
                     FabricNetDevice& device,
                     const Ipv4Header& header,
                     const Address& mac)
{
    if (Mac48Address::IsMatchingType(mac) && !Mac48Address::ConvertFrom(mac).IsGroup())
    {
        const auto endpoint = FindEndpoint(Mac48Address::ConvertFrom(mac));
        return !endpoint || (neighbors && *endpoint >= neighbors->GetSize()) ? NONE : *endpoint;
    }
    if (neighbors)
    {
        return neighbors->FindNextHop(&device, header);
    }
    const uint32_t address = header.GetDestination().Get();
    return address < FIRST_IPV4_ADDRESS ? NONE : address - FIRST_IPV4_ADDRESS;
}

uint32_t
IpNeighbors::FindNextHop(Ptr<FabricNetDevice> device, const Ipv4Header& header)
{
    Ipv4Address next = header.GetDestination();
    if (next.IsBroadcast() || next.IsMulticast())
    {
        return NONE;
    }
    const auto ipv4 = device->GetNode()->GetObject<Ipv4>();
    const auto routing = ipv4 ? ipv4->GetRoutingProtocol() : nullptr;
    if (routing && MayHaveGateway(*routing))
    {
        Socket::SocketErrno error;
        const auto route = routing->RouteOutput(nullptr, header, device, error);
        if (route && route->GetOutputDevice() == device &&
            route->GetGateway() != Ipv4Address::GetAny())
        {
            next = route->GetGateway();
        }
    }
    return Find(next);
}

uint32_t
IpNeighbors::Find(Ipv4Address address)
{
    // Usually the address is the endpoint's own, and no table is needed.
    const uint32_t usual = address.Get() - FIRST_IPV4_ADDRESS; // large if the address is below
    if (HasAddress(usual, address))
    {
        return usual;
    }
    auto found = m_endpoints.find(address.Get());
    if (found == m_endpoints.end() || !HasAddress(found->second, address))
    {
        Collect();
        found = m_endpoints.find(address.Get());
    }
    if (found != m_endpoints.end())
    {
        return found->second;
    }
    const bool isBare = usual < m_devices.size() && m_devices[usual] &&
                        !m_devices[usual]->GetNode()->GetObject<Ipv4>();
    return isBare ? usual : NONE;
}

bool
IpNeighbors::HasAddress(uint32_t endpoint, Ipv4Address address) const
{
    return endpoint < m_devices.size() &&
           AnyAddress(m_devices[endpoint],
                      [address](Ipv4Address other) { return other == address; });
}

void
IpNeighbors::Collect()
{
    m_endpoints.clear();
    for (uint32_t endpoint = 0; endpoint < m_devices.size(); endpoint++)
    {
        AnyAddress(m_devices[endpoint], [this, endpoint](Ipv4Address address) {
            m_endpoints.emplace(address.Get(), endpoint);
            return false;
        });
    }
}

} // namespace ns3::training
