/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_MULTITREE_CONSTRUCTION_H
#define DISTRIBUTED_TRAINING_MULTITREE_CONSTRUCTION_H

#include "tree-network.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/** An edge of a tree: the child joins it in a step of the all-gather, served by the parent. */
struct TreeEdge
{
    uint32_t child;             ///< node that receives
    uint32_t parent;            ///< node that sends
    uint32_t step;              ///< of the all-gather, from 0
    std::vector<uint32_t> path; ///< switches on the way, the parent's first
};

/** One spanning tree for each node, rooted at it. */
struct SpanningTrees
{
    uint32_t steps{0};                        ///< of one phase
    std::vector<std::vector<TreeEdge>> trees; ///< per root, its edges in order of allocation

    /**
     * @return all edges on one line: `root:child<parent@step,...;root:...`
     */
    std::string Serialize() const;
};

/** In which order the roots take turns. */
enum class RootOrder
{
    ID,    ///< 0 to N - 1
    SORTED ///< in the first round so; then by priority, then by number, largest first
};

/** When a step of the construction ends. */
enum class StopRule
{
    LAST, ///< once the last root of a round added nothing, as the authors' program
    ANY   ///< once a whole round added nothing, as the paper says
};

/**
 * @ingroup distributed-training-collective
 *
 * MULTITREE's construction (Huang, Majumder, Kim, Muzahid, Yum and Kim, "Communication
 * algorithm-architecture co-design for distributed deep learning", ISCA 2021, section III): N trees
 * grow from their roots at the same time. In each step, with all links free again, the roots take
 * turns; in its turn a tree is given one more edge, from the first node that has joined it in an
 * earlier step to the first node outside it that is in reach over free links.
 *
 * In networks with several levels of switches an edge takes a shortest path.
 *
 * @param network to be spanned
 * @param order of the roots
 * @param rule that ends a step
 * @return the trees
 * @throw ConfigurationError if some node cannot be reached from all others
 */
SpanningTrees BuildSpanningTrees(const TreeNetwork& network, RootOrder order, StopRule rule);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_MULTITREE_CONSTRUCTION_H
