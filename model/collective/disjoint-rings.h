/*
 * Copyright (c) 2026 The distributed-training authors
 *
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
 * Rings that share no link in one direction, each an order of all hosts. In tori of d dimensions
 * with sides longer than 2 they are d Hamiltonian cycles in both directions; in other grids one
 * cycle in both directions, if there is one; in a full mesh Walecki's cycles in both directions;
 * between servers with rails one ring through each rail. Otherwise, or if none is found, there is a
 * single ring: that of GetRingOrder() in grids and on a BiGraph, elsewhere by number, which leaves
 * a switch as rarely as possible.
 *
 * @param topology that the hosts are on
 * @return at least one ring
 */
std::vector<std::vector<uint32_t>> GetDisjointRings(const TopologyGraph& topology);

/**
 * @ingroup distributed-training-collective
 *
 * Edge-disjoint Hamiltonian cycles of a torus, which exist for any sides (Kotzig 1973; Aubert and
 * Schneider 1982). The rings along one dimension cover all nodes; a search exchanges the edges of
 * unit squares between such covers until each cover is a single cycle.
 *
 * @param sides lengths, each at least 3
 * @return as many cycles as sides; none if the search gives up
 */
std::vector<std::vector<uint32_t>> FindTorusCycles(const std::vector<uint32_t>& sides);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_DISJOINT_RINGS_H
