/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FABRIC_H
#define DISTRIBUTED_TRAINING_FABRIC_H

#include "fabric-channel.h"
#include "host-device.h"
#include "switch-device.h"

#include "ns3/node-container.h"
#include "ns3/topology-graph.h"

#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * The simulation objects of a topology; index h is host h, index s is switch s, index l is link l.
 *
 * Each link of a host is a rail with its own device and endpoint. The first rail of host h is
 * endpoint h; the other rails follow, host by host.
 */
struct Fabric
{
    /// Value in place of a link: no link.
    static constexpr uint32_t NO_LINK = std::numeric_limits<uint32_t>::max();
    /// Value in place of the index of a switch: no switch.
    static constexpr uint32_t NO_SWITCH = std::numeric_limits<uint32_t>::max();

    TopologyGraph topology;               ///< its description
    NodeContainer hosts;                  ///< a node for each host
    NodeContainer switches;               ///< a node for each switch
    std::vector<Ptr<HostDevice>> devices; ///< by endpoint: each host's first, then others
    std::vector<uint32_t> hostOfEndpoint; ///< host of each host endpoint
    std::vector<uint32_t> linkOfEndpoint; ///< link of each host endpoint; NO_LINK if none
    std::vector<std::vector<Ptr<HostDevice>>> rails;  ///< all devices of each host
    std::vector<Ptr<SwitchDevice>> devicesOfSwitches; ///< the device of each switch
    std::vector<Ptr<FabricChannel>> channels;         ///< each link
    std::vector<uint32_t> addressedSwitches;          ///< switches with an endpoint, in their order
    uint32_t routedHosts{NO_LINK};       ///< there are routes to this number of first hosts
    std::set<uint32_t> otherRoutedHosts; ///< and to these hosts, see RouteTo()

    /**
     * @param link index of a link
     * @param end end of the link, 0 or 1
     * @return name of the node at that end, such as "host3" or "switch1", for tables
     */
    std::string GetEndName(uint32_t link, uint32_t end) const;

    /**
     * @param endpoint endpoint of a host
     * @return index of the switch at the other end of its link; NO_SWITCH if there is none
     */
    uint32_t GetLastSwitch(uint32_t endpoint) const;

    /**
     * Recomputes the routes of all switches, to the hosts that have any, over the links that are
     * up. Static routes stay unchanged.
     */
    void UpdateRoutes();

    /**
     * Adds the routes to a host, unless there are any.
     * @param host its number
     */
    void RouteTo(uint32_t host);

    /**
     * Pins the path from one endpoint to another, for switches whose path choice follows explicit
     * paths. Parallel links are selected by source endpoint modulo their number.
     * @param source endpoint of a host
     * @param destination endpoint of another host
     * @param nodes the switches on the path, as nodes of the topology, in order
     * @throw ConfigurationError if consecutive nodes are not linked
     */
    void PinPath(uint32_t source, uint32_t destination, const std::vector<uint32_t>& nodes);

    /**
     * Assigns an endpoint to a switch, for frames addressed to its programs.
     * @param index index of the switch
     * @return its endpoint, numbered after all host endpoints
     */
    uint32_t AddressSwitch(uint32_t index);

    /**
     * @param node a node of the topology
     * @return id of its ns3::Node
     */
    uint32_t GetId(uint32_t node) const;

    /** @return number of frames sent by all ports, i.e. packet-hops */
    uint64_t GetPacketHops() const;

    /** @return sum of all ports' counters */
    PortCounters GetTotal() const;
};

/**
 * @ingroup distributed-training-fabric
 * @param port a port of a fabric
 * @return number of the process that simulates it
 */
uint32_t GetProcess(const FabricPort& port);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FABRIC_H
