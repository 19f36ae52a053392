/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_DISJOINT_RINGS_H
#define DISTRIBUTED_TRAINING_DISJOINT_RINGS_H

#include "ns3/topology-graph.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * Rings that share no link in one direction, each an order of all hosts: in tori of d dimensions,
 * all sides longer than 2, d Hamiltonian cycles in both directions; in other grids one in both, if
 * there is one; in a full mesh Walecki's cycles in both directions; in rail-optimized servers one
 * through each NIC. Otherwise, or if none is found, a single one: in grids and on a BiGraph that of
 * GetRingOrder(), elsewhere by number, which leaves a switch as rarely as can be.
 *
 * @param topology to be looked at
 * @return at least one ring
 */
std::vector<std::vector<uint32_t>> GetDisjointRings(const TopologyGraph& topology);

/**
 * @ingroup distributed-training-collective
 *
 * Edge-disjoint Hamiltonian cycles of a torus, which exist for any sides (Kotzig 1973; Aubert and
 * Schneider 1982). Found by a search: all rings along one dimension are a cover, and covers
 * exchange the edges of unit squares until each is a single cycle.
 *
 * @param sides lengths, each at least 3
 * @return as many cycles as sides; none if the search gives up
 */
std::vector<std::vector<uint32_t>> FindTorusCycles(const std::vector<uint32_t>& sides);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_DISJOINT_RINGS_H
