/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_NETWORK_CUTS_H
#define DISTRIBUTED_TRAINING_NETWORK_CUTS_H

#include "topology-graph.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/** A division of the ranks in two, and what links the one part to the other. */
struct NetworkCut
{
    std::vector<uint32_t> inside; ///< the ranks in the one part, ascending
    double rate;                  ///< that can cross at the same time, each way, bit/s
};

/**
 * @ingroup distributed-training-fabric
 * @param topology where the ranks are hosts 0 to ranks - 1
 * @param ranks number of ranks
 * @return for each switch that has ranks, the cut around it and its hosts
 */
std::vector<NetworkCut> FindSwitchCuts(const TopologyGraph& topology, uint32_t ranks);

/**
 * Divides the ranks in halves, each time where least can cross (by maximum flow): lower and upper
 * half; of a grid in each dimension; of groups (servers, packages) lower and upper half of each,
 * and even and odd ones. The worst of all halves is hard to find (NP-complete); these find it on
 * all regular topologies.
 *
 * @ingroup distributed-training-fabric
 * @param topology where the ranks are hosts 0 to ranks - 1
 * @param ranks number of ranks
 * @return the cuts; parts differ in size if a half is none
 */
std::vector<NetworkCut> FindHalves(const TopologyGraph& topology, uint32_t ranks);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_NETWORK_CUTS_H
