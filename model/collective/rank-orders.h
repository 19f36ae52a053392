/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RANK_ORDERS_H
#define DISTRIBUTED_TRAINING_RANK_ORDERS_H

#include "ns3/topology-graph.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/** Nodes of a grid in an order in which each is next to the one before. */
struct GridWalk
{
    std::vector<uint32_t> nodes; ///< all nodes
    bool closed{false};          ///< whether the last is next to the first
};

/**
 * @ingroup distributed-training-collective
 *
 * A way through a grid that visits each node once: closed wherever the grid has a Hamiltonian
 * cycle. With two sides the first row from left to right, then the columns of the other rows from
 * right to left, up and down in turn.
 *
 * @param sides lengths, the last one changes fastest in node ids
 * @param wraps whether the first and the last node of a row are neighbors
 * @return the way
 */
GridWalk WalkGrid(const std::vector<uint32_t>& sides, bool wraps);

/**
 * @ingroup distributed-training-collective
 *
 * The order of hosts in which the MULTITREE paper's simulator runs rings: WalkGrid() on grids; on a
 * BiGraph upper and lower switches in turn, each pair of switches once in each direction; on trees
 * of switches that are described by its paper (two-switch, m-ary-n-tree) one host of each leaf in
 * turn; otherwise by number.
 *
 * @param topology to be looked at
 * @return all hosts
 */
std::vector<uint32_t> GetRingOrder(const TopologyGraph& topology);

/**
 * @ingroup distributed-training-collective
 *
 * HDRM (Dong et al., "EFLOPS: algorithm and system co-design for a high performance distributed
 * training platform", HPCA 2020): which host of a BiGraph gets which rank of recursive halving and
 * doubling, so that each exchange is between an upper and a lower switch and no two of a step
 * share a link.
 *
 * @param m hosts on a switch, a power of two, at most half of n
 * @param n switches, a power of two
 * @return per rank, the host
 */
std::vector<uint32_t> GetHdrmOrder(uint32_t m, uint32_t n);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RANK_ORDERS_H
