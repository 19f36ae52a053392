/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RAIL_ROUTING_H
#define DISTRIBUTED_TRAINING_RAIL_ROUTING_H

#include "port-pair-table.h"

#include "ns3/ipv4-static-routing.h"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

namespace ns3::training
{

/**
 * @ingroup distributed-training-transport
 *
 * IPv4 routing of a host with several rails: a packet to an endpoint uses the rail of the port pair
 * to it. Rail i is device i of the host.
 */
class RailRouting : public Ipv4StaticRouting
{
  public:
    /** @return the type */
    static TypeId GetTypeId();

    /**
     * @param rank rank of this host
     * @param portPairs the port pairs between the ranks
     */
    void SetPortPairs(uint32_t rank, std::shared_ptr<PortPairTable> portPairs);

    // Ipv4RoutingProtocol
    Ptr<Ipv4Route> RouteOutput(Ptr<Packet> packet,
                               const Ipv4Header& header,
                               Ptr<NetDevice> device,
                               Socket::SocketErrno& error) override;
    void SetIpv4(Ptr<Ipv4> ipv4) override;

  private:
    void DoDispose() override;
    uint32_t FindRail(uint32_t source, uint32_t destination) const;

    Ptr<Ipv4> m_ipv4;
    uint32_t m_rank{0};
    std::shared_ptr<PortPairTable> m_portPairs;
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> m_rails; // by local and remote address
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RAIL_ROUTING_H
