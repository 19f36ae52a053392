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
 * The network as MULTITREE sees it: nodes, the switch of each node, and links between switches. In
 * a network without switches (torus, mesh) each node has a switch of its own.
 */
struct TreeNetwork
{
    std::vector<uint32_t> switchOf; ///< per node, its switch
    std::vector<uint32_t> ports;    ///< per node, messages that it can send and receive in a step
    /// Per switch, its neighbors in the order of search; one entry for each message per step.
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
 * Converts a topology: node r is rank r, switch s is switch s of the topology. A step is the time
 * of a message over the slowest link; a link that is k times as fast carries k messages per step,
 * and the rates of a host's links add up to its ports. A host with links to several switches
 * becomes a switch, with a number after those of the topology.
 *
 * Neighbors are in the order of TopologyGraph::GetLinksOfNodes(): in a torus or mesh of two
 * dimensions north, south, west, east.
 *
 * Priorities are those of the authors' program: in a mesh of two dimensions the largest
 * |row - row of c| + |row of c - column of c| over its corners c, otherwise 0.
 *
 * @param topology to be converted
 * @param hosts the host of each rank; different ones
 * @return the network
 */
TreeNetwork MakeTreeNetwork(const TopologyGraph& topology, const std::vector<uint32_t>& hosts);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TREE_NETWORK_H
