/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RANK_ORDERS_H
#define DISTRIBUTED_TRAINING_RANK_ORDERS_H

#include "ns3/topology-graph.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/** A walk through a grid: each node is a neighbor of the previous node. */
struct GridWalk
{
    std::vector<uint32_t> nodes; ///< all nodes, in walking order
    bool closed{false};          ///< whether the last node is a neighbor of the first
};

/**
 * @ingroup distributed-training-collective
 *
 * Computes a walk through a grid that visits each node once; the walk is closed if the grid has a
 * Hamiltonian cycle. In two dimensions it takes the first row from left to right, then the columns
 * of the other rows from right to left, alternately down and up.
 *
 * @param sides lengths; lengths of the sides; the last dimension changes fastest in node ids
 * @param wraps whether the first and the last node of a row are neighbors
 * @return the walk
 */
GridWalk WalkGrid(const std::vector<uint32_t>& sides, bool wraps);

/**
 * @ingroup distributed-training-collective
 *
 * Returns the ring order of hosts used by the MULTITREE paper's simulator: WalkGrid() on grids; on
 * a BiGraph upper and lower switches alternately, each pair of switches once in each direction; one
 * host of each group in turn if TopologyShape::ringAcrossGroups is set; otherwise by number.
 *
 * @param topology topology of the hosts
 * @return all hosts, in ring order
 */
std::vector<uint32_t> GetRingOrder(const TopologyGraph& topology);

/**
 * @ingroup distributed-training-collective
 *
 * HDRM (Dong et al., "EFLOPS: algorithm and system co-design for a high performance distributed
 * training platform", HPCA 2020): maps the ranks of recursive halving and doubling to the hosts of
 * a BiGraph such that each exchange is between an upper and a lower switch and no two exchanges of
 * a step share a link.
 *
 * @param m hosts on a switch, a power of two, at most half of n
 * @param n switches, a power of two
 * @return per rank, the host
 */
std::vector<uint32_t> GetHdrmOrder(uint32_t m, uint32_t n);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RANK_ORDERS_H
