/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TOPOLOGY_TWINS_H
#define DISTRIBUTED_TRAINING_TOPOLOGY_TWINS_H

#include "topology-graph.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * Finds twins: nodes with equal links to the same nodes, such as the hosts of a leaf, or spines.
 * Links are equal if their rates, delays, costs and dimensions are.
 * @param topology their network
 * @param first first node to compare
 * @param end one past the last node to compare
 * @return for each of these nodes, the first of its twins, which may be itself
 */
std::vector<uint32_t> FindTwins(const TopologyGraph& topology, uint32_t first, uint32_t end);

/**
 * @ingroup distributed-training-fabric
 *
 * Leaves out nodes without which no best path between any two of the first hosts becomes worse: all
 * but two hosts of each set of twins, and all but one of the switches. As hosts of a fat-tree have
 * many twins, and so have its core switches, searches from all hosts take much less time.
 * @param topology a network
 * @param ranks number of hosts; the others are left out
 * @return the remaining network, with nodes and links in the same order
 */
TopologyGraph MergeTwins(const TopologyGraph& topology, uint32_t ranks);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TOPOLOGY_TWINS_H
