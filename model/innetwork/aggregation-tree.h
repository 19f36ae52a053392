/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_AGGREGATION_TREE_H
#define DISTRIBUTED_TRAINING_AGGREGATION_TREE_H

#include "ns3/topology-graph.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/** A switch that adds for a job. */
struct AggregationNode
{
    /// Instead of a switch.
    static constexpr uint32_t NONE = UINT32_MAX;

    uint32_t switchIndex{0};     ///< which switch
    uint32_t parent{NONE};       ///< position in the tree of the one above; root: NONE
    std::vector<uint32_t> hosts; ///< whose packets come straight to it
    std::vector<uint32_t> below; ///< positions in the tree of switches that send to it
};

/** Which switches of a tree add. */
enum class AggregationLevels : uint8_t
{
    TWO, ///< those that hosts are linked to, and the root
    ALL  ///< all where several ways meet
};

/**
 * @ingroup distributed-training-helper
 *
 * A tree over switches, whose root is of all switches one that is nearest to the farthest host;
 * hosts of a single switch have that as root.
 *
 * With two levels, the switch that a host is linked to adds for its hosts, and the root adds what
 * those send. With all levels, what they send goes by shortest paths that meet early, and every
 * switch where several meet adds, too; others just forward.
 *
 * @param topology the network
 * @param hosts of the job
 * @param choice of equally good roots and paths, modulo their number, so that jobs spread over them
 * @param levels which switches add
 * @param links of each of these hosts the one to use; none: the first links
 * @return the switches that add, the root first; hosts in the order given
 * @throw ConfigurationError if a host is linked to no switch, or switches do not reach each other
 */
std::vector<AggregationNode> BuildAggregationTree(const TopologyGraph& topology,
                                                  const std::vector<uint32_t>& hosts,
                                                  uint32_t choice,
                                                  AggregationLevels levels = AggregationLevels::TWO,
                                                  const std::vector<uint32_t>& links = {});

/**
 * @ingroup distributed-training-helper
 *
 * @param topology hosts may have several links
 * @param hosts of the job
 * @return for each host the link by which a tree over all is the lowest; the first of equally good
 *         ones
 */
std::vector<uint32_t> ChooseAggregationLinks(const TopologyGraph& topology,
                                             const std::vector<uint32_t>& hosts);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_AGGREGATION_TREE_H
