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
 * Finds link-disjoint rings: rings over all hosts that share no link in the same direction. A torus
 * of d dimensions with sides longer than 2 has d edge-disjoint Hamiltonian cycles in both
 * directions. Other grids have one Hamiltonian cycle in both directions, if one exists. A full mesh
 * has Walecki's cycles in both directions. Servers with rails have one ring through each rail.
 * Otherwise, or if no cycle is found, the result is a single ring: GetRingOrder() in grids and on a
 * BiGraph, elsewhere the hosts by number, which minimizes the hops between switches.
 *
 * @param topology topology of the hosts
 * @return at least one ring
 */
std::vector<std::vector<uint32_t>> GetDisjointRings(const TopologyGraph& topology);

/**
 * @ingroup distributed-training-collective
 * @param topology topology of the hosts
 * @return GetDisjointRings(), but in servers whose GPUs share NICs, a ring through each GPU
 */
std::vector<std::vector<uint32_t>> GetBalancedRings(const TopologyGraph& topology);

/**
 * @ingroup distributed-training-collective
 * @param topology with servers, or of a full mesh
 * @param hosts that are to be joined
 * @param balanced whether to fill all links of 4 hosts, of which disjoint rings leave a third idle:
 *        six rings, and each link is in two of them
 * @return rings of hosts of a server, wherever that is: along links between every two of them, or
 *         as many as it has GPUs through its switch; empty: there are 2 hosts, or several servers
 */
std::vector<std::vector<uint32_t>> GetLocalRings(const TopologyGraph& topology,
                                                 const std::vector<uint32_t>& hosts,
                                                 bool balanced);

/**
 * @ingroup distributed-training-collective
 *
 * Finds edge-disjoint Hamiltonian cycles of a torus, which exist for any sides (Kotzig 1973; Aubert
 * and Schneider 1982). The rings along one dimension cover all nodes. A randomized search exchanges
 * the edges of unit squares between these covers until each cover is a single cycle.
 *
 * @param sides lengths of the sides, each at least 3
 * @return one cycle per side; empty if the search gives up
 */
std::vector<std::vector<uint32_t>> FindTorusCycles(const std::vector<uint32_t>& sides);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_DISJOINT_RINGS_H
