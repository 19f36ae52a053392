/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_GRID_TOPOLOGY_H
#define DISTRIBUTED_TRAINING_GRID_TOPOLOGY_H

#include "topology-graph.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ns3::training
{

/** A dimension of a grid. */
struct GridDimension
{
    /** Kind of links along a dimension. */
    enum class Kind
    {
        LINE,      ///< open line: from each node to the next
        RING,      ///< a line closed by a link from last to first; a side of 2 has one link
        FULL_RING, ///< ring; a side of 2 has two links
        NOTHING    ///< no links
    };

    uint32_t side; ///< number of nodes along it, at least 1
    Kind kind;     ///< its links
    DataRate rate; ///< rate of a link
    Time delay;    ///< propagation delay of a link
};

/**
 * @ingroup distributed-training-helper
 *
 * Adds the routers of a grid and their links. A ring of more than two nodes has its dateline
 * between the last and the first node.
 *
 * @param graph an empty graph; receives the shape, and for each node a switch and an unlinked host
 * @param dimensions dimensions; the last changes fastest in node ids
 */
void AddGrid(TopologyGraph& graph, const std::vector<GridDimension>& dimensions);

/**
 * @ingroup distributed-training-helper
 *
 * Links each host to its router. The link has a delay of 1 ns and, unless it is given, the sum of
 * the rates of all other links of the router.
 *
 * @param graph a graph complete except for these links; switch h is the router of host h
 * @param initial link rate if a router has no other link
 * @param rails number of links from each host to its router
 * @param hostRate rate of these links; none: the sum
 */
void AddHostsOfGrid(TopologyGraph& graph,
                    const DataRate& initial,
                    uint32_t rails = 1,
                    const std::optional<DataRate>& hostRate = {});

/**
 * @ingroup distributed-training-helper
 * @param nodes number of nodes
 * @return number of rows and columns, as nearly equal as possible, with rows <= columns
 */
std::vector<uint32_t> MakeNearSquare(uint32_t nodes);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_GRID_TOPOLOGY_H
