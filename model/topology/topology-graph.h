/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TOPOLOGY_GRAPH_H
#define DISTRIBUTED_TRAINING_TOPOLOGY_GRAPH_H

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * The regular structure of a topology. Builders set these properties; algorithms ask for them,
 * never for the name of a builder, so that a new topology or a file has the same algorithms.
 */
struct TopologyShape
{
    /// Grids (torus, mesh, ring): nodes along each dimension. Node ids are row-major: the last
    /// dimension changes fastest. Others: empty.
    std::vector<uint32_t> sides;
    bool wraps{false};     ///< grids: the first and the last node of a dimension are neighbors
    uint32_t groupSize{1}; ///< hosts of a group (server, package, leaf); consecutive; 1: no groups
    bool serverGroups{false}; ///< groups are servers: a link inside joins their hosts
    bool rails{false};        ///< every host of a group has a link of its own out of it, its rail
    bool fullMesh{false};     ///< a link joins every two hosts (or their routers)
    /// The first half of the switches is linked to each of the second half, and no others; a group
    /// of hosts is on each switch.
    bool bipartite{false};
    /// Rings visit one host of each group in turn instead of group by group.
    bool ringAcrossGroups{false};

    /** @return hosts of a server, 1 if there are no servers */
    uint32_t GetHostsPerServer() const
    {
        return serverGroups ? groupSize : 1;
    }
};

/**
 * @ingroup distributed-training-fabric
 *
 * The hosts, switches and links of a network, as data from which a fabric is built and routed.
 * Nodes are numbered from 0, hosts first; host h is endpoint h.
 *
 * Hosts do not forward. A node that forwards, as in a torus, is a host and a switch of its own (its
 * router), joined by a link that carries as much as all other links of the router together.
 */
struct TopologyGraph
{
    /// A link that is along no dimension.
    static constexpr uint8_t NO_DIMENSION = 255;

    /** A full-duplex link. */
    struct Link
    {
        uint32_t a;    ///< node at one end
        uint32_t b;    ///< node at the other end
        DataRate rate; ///< of each direction
        Time delay;    ///< propagation
        /// Grids: routes follow the highest dimension first; ids rise from a to b.
        uint8_t dimension{NO_DIMENSION};
        /// Frames that cross it change to another lossless class while they stay in the dimension.
        bool dateline{false};
        uint32_t cost{1}; ///< routes have the least sum of costs
        double loss{0};   ///< probability that a frame is lost
    };

    std::string name;        ///< as the user wrote it
    uint32_t hosts{0};       ///< number of hosts
    uint32_t switches{0};    ///< number of switches
    std::vector<Link> links; ///< all links; parallel ones allowed
    TopologyShape shape;     ///< its regular structure, if any

    /** @return number of nodes */
    uint32_t GetNodes() const
    {
        return hosts + switches;
    }

    /**
     * @param node of the topology
     * @return a name such as host3 or switch1
     */
    std::string GetName(uint32_t node) const;

    /**
     * @param link one of its links
     * @param node at one end of it
     * @return the node at the other end
     */
    static uint32_t GetPeer(const Link& link, uint32_t node)
    {
        return link.a == node ? link.b : link.a;
    }

    /**
     * @return for each node, the indices of its links: those of a grid by dimension, down before up
     *         (of two dimensions: north, south, west, east), others in the order of their indices
     */
    std::vector<std::vector<uint32_t>> GetLinksOfNodes() const;

    /** @return for each host, the node that its first link leads to */
    std::vector<uint32_t> GetSwitchesOfHosts() const;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TOPOLOGY_GRAPH_H
