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

/** A division of the ranks into two parts, and the capacity between the parts. */
struct NetworkCut
{
    std::vector<uint32_t> inside; ///< ranks in the first part, ascending
    double rate;                  ///< capacity between the parts per direction, bit/s
};

/**
 * @ingroup distributed-training-fabric
 * @param topology topology; the ranks are hosts 0 to ranks - 1
 * @param ranks number of ranks
 * @return for each switch with ranks, the cut around the switch and its hosts
 */
std::vector<NetworkCut> FindSwitchCuts(const TopologyGraph& topology, uint32_t ranks);

/**
 * Bisects the ranks along the structure of the topology and computes the maximum flow between the
 * halves. The candidates are: lower and upper ranks; in a grid, the halves of each dimension; with
 * groups (servers, packages), lower and upper half of each group, and even and odd groups. The
 * exact minimum bisection is NP-complete; on all regular topologies it is one of the candidates.
 *
 * @ingroup distributed-training-fabric
 * @param topology topology; the ranks are hosts 0 to ranks - 1
 * @param ranks number of ranks
 * @return the cuts; the parts differ in size if a division is not even
 */
std::vector<NetworkCut> FindHalves(const TopologyGraph& topology, uint32_t ranks);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NETWORK_CUTS_H
