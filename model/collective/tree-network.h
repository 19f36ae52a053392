/*
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
 * What MULTITREE knows of a network: nodes, the switch each is on, and links between switches. In a
 * network without switches (torus, mesh) each node is on a switch of its own.
 */
struct TreeNetwork
{
    std::vector<uint32_t> switchOf; ///< per node, its switch
    std::vector<uint32_t> ports;    ///< per node, messages it can send, and receive, in one step
    /// Per switch, the neighbors in the order of search; one entry for each message a step.
    std::vector<std::vector<uint32_t>> neighbors;
    std::vector<uint32_t> priority; ///< per node, for RootOrder::SORTED

    /** @return number of nodes */
    uint32_t GetNodes() const
    {
        return static_cast<uint32_t>(switchOf.size());
    }
};

/**
 * @ingroup distributed-training-collective
 *
 * Makes a network of a topology: node r is rank r, switch s is switch s of the topology. A step is
 * the time of a message over the slowest link; a link that is k times as fast takes k messages a
 * step, and a host's links together give its ports. A host with links to several switches is a
 * switch of its own, behind those of the topology.
 *
 * Neighbors are in the order of TopologyGraph::GetLinksOfNodes(): in a torus or mesh of two
 * dimensions north, south, west, east.
 *
 * Priorities are those of the authors' program: in a mesh of two dimensions the largest
 * |row - row of c| + |row of c - column of c| over its corners c, otherwise 0.
 *
 * @param topology to be looked at
 * @param hosts the host of each rank; different ones
 * @return the network
 */
TreeNetwork MakeTreeNetwork(const TopologyGraph& topology, const std::vector<uint32_t>& hosts);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TREE_NETWORK_H
