/*
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

/**
 * @ingroup distributed-training-helper
 *
 * Two levels: the switch that a host is linked to adds for its hosts, and one root adds what those
 * send: of all switches one that is nearest to the farthest of them. Hosts of a single switch have
 * that as root.
 *
 * @param topology hosts by their first links
 * @param hosts of the job
 * @param choice of equally good roots, modulo their number, so that jobs spread over them
 * @return the switches that add, the root first
 */
std::vector<AggregationNode> BuildAggregationTree(const TopologyGraph& topology,
                                                  const std::vector<uint32_t>& hosts,
                                                  uint32_t choice);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_AGGREGATION_TREE_H
