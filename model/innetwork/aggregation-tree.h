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

/** A switch that aggregates for a job. */
struct AggregationNode
{
    /// Index of no switch.
    static constexpr uint32_t NONE = UINT32_MAX;

    uint32_t switchIndex{0};     ///< index of the switch
    uint32_t parent{NONE};       ///< index of the parent in the tree; root: NONE
    std::vector<uint32_t> hosts; ///< hosts that send to it directly
    std::vector<uint32_t> below; ///< indices in the tree of its child switches
};

/** The switches of a tree that aggregate. */
enum class AggregationLevels : uint8_t
{
    TWO, ///< the leaf switches and the root
    ALL  ///< all switches where several paths merge
};

/**
 * @ingroup distributed-training-helper
 *
 * Builds an aggregation tree of switches. The root is a switch with minimum distance to the
 * farthest host. If all hosts are on one switch, that switch is the root.
 *
 * With two levels, each leaf switch aggregates for its hosts, and the root aggregates the leaf
 * switches. With all levels, paths to the root are shortest paths that merge early, and every
 * switch where several paths merge aggregates too. The other switches only forward.
 *
 * @param topology the network
 * @param hosts of the job
 * @param choice selects among equally good roots and paths, modulo their number, so that jobs
 *        spread over them
 * @param levels the switches that aggregate
 * @param links the link to use for each of these hosts; empty: the first links
 * @return the aggregating switches, the root first; hosts in the given order
 * @throw ConfigurationError if a host has no switch, or no path of switches connects the hosts
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
 * @return for each host the link that minimizes the height of a tree over all hosts; the first of
 *         equally good links
 */
std::vector<uint32_t> ChooseAggregationLinks(const TopologyGraph& topology,
                                             const std::vector<uint32_t>& hosts);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_AGGREGATION_TREE_H
