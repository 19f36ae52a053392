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
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * The regular structure of a topology. Builders set these properties. Algorithms test the
 * properties, never the name of a builder, so they also work on new topologies and on files.
 */
struct TopologyShape
{
    /// Grids (torus, mesh, ring): nodes along each dimension. Node ids are row-major: the last
    /// dimension changes fastest. Others: empty.
    std::vector<uint32_t> sides;
    bool wraps{false};     ///< grids: whether the first and last node of a dimension are neighbors
    uint32_t groupSize{1}; ///< consecutive hosts per group (server, package, leaf); 1: no groups
    bool serverGroups{false}; ///< whether groups are servers with links between their hosts
    bool rails{false};        ///< whether every host of a group has its own external link, its rail
    uint32_t hostsPerNic{1};  ///< consecutive hosts of a group that share an external link
    /// Switches of a server that each see a slice of the addresses, and that the graph has as one.
    uint32_t localSwitches{1};
    /// Equal networks side by side, which share no switch: port p of each host is in plane p, and
    /// the switches of plane p are those behind the ones of plane p - 1. 1: a network of one plane.
    uint32_t planes{1};
    bool fullMesh{false}; ///< whether every two hosts (or their routers) share a link
    /// Whether each switch of the first half is linked to every switch of the second half, with no
    /// other links between switches and one group of hosts per switch.
    bool bipartite{false};
    /// Whether rings visit one host of each group in turn instead of group by group.
    bool ringAcrossGroups{false};

    /** @return hosts per server; 1 if there are no servers */
    uint32_t GetHostsPerServer() const
    {
        return serverGroups ? groupSize : 1;
    }
};

/**
 * @ingroup distributed-training-fabric
 *
 * The hosts, switches and links of a network. A fabric is built and routed from this description.
 * Nodes are numbered from 0, hosts first; host h is endpoint h.
 *
 * Hosts do not forward. A forwarding node, as in a torus, is modeled as a host plus its own switch
 * (its router). The link between them has the sum of the rates of all other links of the router.
 */
struct TopologyGraph
{
    /// Memory of a link in a simulation, with its ports and queues, bytes.
    static constexpr double BYTES_PER_LINK = 4096;
    /// Dimension of a link outside any grid dimension.
    static constexpr uint8_t NO_DIMENSION = 255;
    /// Server of a host without a scale-up network.
    static constexpr uint32_t NO_SERVER = std::numeric_limits<uint32_t>::max();

    /// Circuit of a link that no optical circuit switch makes.
    static constexpr uint32_t ALWAYS = std::numeric_limits<uint32_t>::max();

    /** A full-duplex link. */
    struct Link
    {
        uint32_t a;    ///< node at end a
        uint32_t b;    ///< node at end b
        DataRate rate; ///< of each direction
        Time delay;    ///< propagation delay
        /// Grid dimension. Routes take the highest dimension first; node ids rise from a to b.
        uint8_t dimension{NO_DIMENSION};
        /// Whether frames that cross the link change to another lossless class until they leave the
        /// dimension.
        bool dateline{false};
        uint32_t cost{1}; ///< routing cost; routes minimize the sum
        double loss{0};   ///< frame loss probability
        /// Whether it is inside a host that forwards, between the host and its own router, so that
        /// the ports of the host are those of the router.
        bool internal{false};
        /// Configuration of the optical circuit switches that makes it; ALWAYS: it is a cable.
        uint32_t circuit{ALWAYS};
    };

    std::string name;                   ///< as written by the user
    uint32_t hosts{0};                  ///< number of hosts
    std::vector<uint32_t> nodesOfHosts; ///< their numbers in a file; empty: those of hosts
    uint32_t switches{0};               ///< number of switches
    std::vector<Link> links;            ///< all links; parallel links are allowed
    TopologyShape shape;                ///< regular structure, if any
    /// Whether the number of hosts in use determines it, rather than its text alone.
    bool followsRanks{false};
    /// Indices of switches of a scale-up network, which join the GPUs of a server (NVSwitches).
    std::set<uint32_t> scaleUpSwitches;

    /** @param node a node @return whether a node is a switch of a scale-up network */
    bool IsScaleUpSwitch(uint32_t node) const
    {
        return node >= hosts && scaleUpSwitches.count(node - hosts) > 0;
    }

    /** @param link a link @return the scale-up switch at an end of a link, or NO_SERVER */
    uint32_t GetScaleUpSwitch(const Link& link) const;

    /**
     * @return for each host, its server: the lowest of its scale-up switches, or NO_SERVER. Hosts
     *         with the same one are in the same server.
     */
    std::vector<uint32_t> GetServers() const;

    /**
     * @param count number of links, before they are made
     * @param what for the message, such as a topology's name
     * @throw ConfigurationError if they need more memory than there is
     */
    static void CheckLinks(double count, const std::string& what);

    /**
     * @return indices of switches of another network with a link to a scale-up switch: NICs of GPUs
     *         that pass on
     */
    std::set<uint32_t> GetGateways() const;

    /** @return number of configurations of optical circuit switches; 0: there are none */
    uint32_t GetCircuits() const;

    /**
     * @param circuit a configuration
     * @return indices of the links that other configurations make
     */
    std::vector<uint32_t> GetDarkLinks(uint32_t circuit) const;

    /** @return number of nodes */
    uint32_t GetNodes() const
    {
        return hosts + switches;
    }

    /**
     * @param node a node of the topology
     * @return a name such as host3 or switch1; of several planes, the switch has its number in its
     *         plane, as plane0.switch1
     */
    std::string GetName(uint32_t node) const;

    /**
     * @param name name of a node, as of GetName(), or switch1 for the second one of all planes
     * @return the node; none if there is no such node
     */
    std::optional<uint32_t> FindNode(const std::string& name) const;

    /**
     * @param name name of a plane, such as plane1
     * @return its number; none if there is no such plane
     */
    std::optional<uint32_t> FindPlane(const std::string& name) const;

    /**
     * @param target all links "*", a node such as host3, a link such as host3-switch1, a plane such
     *        as plane1, or the links between a node and a plane, as host3-plane1
     * @return its links; those of a node or a plane at either end; empty if there is no such target
     */
    std::vector<uint32_t> FindLinks(const std::string& target) const;

    /**
     * @param link a link of the node
     * @param node node at one end of the link
     * @return the node at the other end
     */
    static uint32_t GetPeer(const Link& link, uint32_t node)
    {
        return link.a == node ? link.b : link.a;
    }

    /**
     * @return for each node, the indices of its links. Grid links are sorted by dimension, down
     *         before up (in two dimensions: north, south, west, east); other links are sorted by
     *         index.
     */
    std::vector<std::vector<uint32_t>> GetLinksOfNodes() const;

    /** @param node a switch @return its plane; 0 if there is but one */
    uint32_t GetPlane(uint32_t node) const
    {
        return (node - hosts) / (switches / shape.planes);
    }

    /** @return for each host, the peer of its first link */
    std::vector<uint32_t> GetSwitchesOfHosts() const;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TOPOLOGY_GRAPH_H
