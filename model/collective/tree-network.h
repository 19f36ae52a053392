/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TREE_NETWORK_H
#define DISTRIBUTED_TRAINING_TREE_NETWORK_H

#include "ns3/topology-graph.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * The network model of MULTITREE: nodes, the switch of each node, and links between switches. In a
 * network without switches (torus, mesh) each node has its own switch.
 */
struct TreeNetwork
{
    std::vector<uint32_t> switchOf; ///< per node, its switch
    std::vector<uint32_t> ports;    ///< per node, maximum messages sent and received per step
    /// Per switch, its neighbors in search order, with one entry per message that the link carries
    /// per step.
    std::vector<std::vector<uint32_t>> neighbors;
    std::vector<uint32_t> priority; ///< per node, see RootOrder::SORTED

    /** @return number of nodes */
    uint32_t GetNodes() const
    {
        return static_cast<uint32_t>(switchOf.size());
    }
};

/**
 * @ingroup distributed-training-collective
 *
 * Converts a topology: node r is rank r, switch s is switch s of the topology. The length of a step
 * is the time of a message over the slowest link. A link that is k times as fast carries k messages
 * per step. The number of ports of a host is the sum over its links. A host with links to several
 * switches becomes a switch itself, numbered after the switches of the topology.
 *
 * Neighbors are in the order of TopologyGraph::GetLinksOfNodes(): in a torus or mesh of two
 * dimensions north, south, west, east.
 *
 * Priorities are those of the authors' program: in a mesh of two dimensions the largest
 * |row - row of c| + |row of c - column of c| over its corners c, otherwise 0.
 *
 * @param topology topology to convert
 * @param hosts host of each rank; distinct
 * @return the network
 */
TreeNetwork MakeTreeNetwork(const TopologyGraph& topology, const std::vector<uint32_t>& hosts);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TREE_NETWORK_H
