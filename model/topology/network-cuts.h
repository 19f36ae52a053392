/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NETWORK_CUTS_H
#define DISTRIBUTED_TRAINING_NETWORK_CUTS_H

#include "topology-graph.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/** A division of the ranks in two parts, and the capacity between them. */
struct NetworkCut
{
    std::vector<uint32_t> inside; ///< ranks in the first part, ascending
    double rate;                  ///< capacity between the parts, each way, bit/s
};

/**
 * @ingroup distributed-training-fabric
 * @param topology where the ranks are hosts 0 to ranks - 1
 * @param ranks number of ranks
 * @return for each switch that has ranks, the cut around it and its hosts
 */
std::vector<NetworkCut> FindSwitchCuts(const TopologyGraph& topology, uint32_t ranks);

/**
 * Divides the ranks in halves along the structure of the topology and finds the maximum flow
 * between them: lower and upper half; of a grid, halves of each dimension; of groups (servers,
 * packages), lower and upper half of each group, and even and odd groups. The minimum over all
 * halves is NP-complete; on all regular topologies it is among these.
 *
 * @ingroup distributed-training-fabric
 * @param topology where the ranks are hosts 0 to ranks - 1
 * @param ranks number of ranks
 * @return the cuts; their parts differ in size where a division is not even
 */
std::vector<NetworkCut> FindHalves(const TopologyGraph& topology, uint32_t ranks);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NETWORK_CUTS_H
