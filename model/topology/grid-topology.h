/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_GRID_TOPOLOGY_H
#define DISTRIBUTED_TRAINING_GRID_TOPOLOGY_H

#include "topology-graph.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/** A dimension of a grid. */
struct GridDimension
{
    /** Links along a dimension. */
    enum class Kind
    {
        LINE,      ///< from each node to the next
        RING,      ///< a line, and from the last node to the first; a side of 2 has one link
        FULL_RING, ///< a ring; a side of 2 has two links
        NOTHING    ///< no links
    };

    uint32_t side; ///< nodes along it, at least 1
    Kind kind;     ///< its links
    DataRate rate; ///< rate of a link
    Time delay;    ///< propagation delay of a link
};

/**
 * @ingroup distributed-training-helper
 *
 * Adds the routers of a grid and their links. A ring of more than two nodes has its dateline
 * between the last and the first.
 *
 * @param graph empty; gets its shape, and for each node a switch and a host without link
 * @param dimensions the last one changes fastest in node ids
 */
void AddGrid(TopologyGraph& graph, const std::vector<GridDimension>& dimensions);

/**
 * @ingroup distributed-training-helper
 *
 * Joins each host to its router by a link of 1 ns that carries as much as all other links of the
 * router together.
 *
 * @param graph complete except for these links; switch h is the router of host h
 * @param initial rate if a router has no other link
 * @param rails number of such links of each host
 */
void AddHostsOfGrid(TopologyGraph& graph, const DataRate& initial, uint32_t rails = 1);

/**
 * @ingroup distributed-training-helper
 * @param nodes number of nodes
 * @return rows and columns, as near to each other as possible, no more rows than columns
 */
std::vector<uint32_t> MakeNearSquare(uint32_t nodes);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_GRID_TOPOLOGY_H
