/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_MULTITREE_CONSTRUCTION_H
#define DISTRIBUTED_TRAINING_MULTITREE_CONSTRUCTION_H

#include "collective/tree-network.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/** An edge of a tree: the child receives from the parent in a step of the all-gather. */
struct TreeEdge
{
    uint32_t child;  ///< receiving node
    uint32_t parent; ///< sending node
    uint32_t step;   ///< step of the all-gather, from 0
    uint32_t way;    ///< see SpanningTrees::GetPath()
};

/** Switches on the path of an edge, starting at the parent's switch. */
struct TreePath
{
    const uint32_t* first; ///< the first switch
    const uint32_t* last;  ///< end (exclusive)

    /** @return the first switch */
    const uint32_t* begin() const
    {
        return first;
    }

    /** @return the end (exclusive) */
    const uint32_t* end() const
    {
        return last;
    }

    /** @return number of switches */
    std::size_t size() const
    {
        return static_cast<std::size_t>(last - first);
    }
};

/** One spanning tree for each node, rooted at it. */
struct SpanningTrees
{
    uint32_t steps{0};                        ///< number of steps of one phase
    std::vector<std::vector<TreeEdge>> trees; ///< per root, edges in order of allocation
    std::vector<uint32_t> ways; ///< of edges: number of switches, then these; equal ones are shared

    /** @param edge an edge @return its path */
    TreePath GetPath(const TreeEdge& edge) const
    {
        const uint32_t* first = ways.data() + edge.way + 1;
        return {first, first + ways[edge.way]};
    }

    /**
     * @return all edges on one line: `root:child<parent@step,...;root:...`
     */
    std::string Serialize() const;
};

/** The order in which the roots take turns in a round. */
enum class RootOrder
{
    ID,    ///< 0 to N - 1
    SORTED ///< first round as ID; then by priority, then by number, largest first
};

/** The rule that ends a step of the construction. */
enum class StopRule
{
    LAST, ///< the last root of a round has added no edge, as in the authors' program
    ANY   ///< no root of a round has added an edge, as in the paper
};

/**
 * @ingroup distributed-training-collective
 *
 * MULTITREE's construction (Huang, Majumder, Kim, Muzahid, Yum and Kim, "Communication
 * algorithm-architecture co-design for distributed deep learning", ISCA 2021, section III). N trees
 * grow from their roots at the same time. Each step begins with all links free. The roots take
 * turns, and each turn adds one edge to the root's tree: from the first eligible member, which must
 * have joined in an earlier step, to the first node outside the tree that is reachable over free
 * links.
 *
 * In networks with several levels of switches an edge takes a shortest path.
 *
 * @param network the network to span
 * @param order order of the roots
 * @param rule rule that ends a step
 * @return the trees
 * @throw ConfigurationError if a node cannot be reached from all others
 */
SpanningTrees BuildSpanningTrees(const TreeNetwork& network, RootOrder order, StopRule rule);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_MULTITREE_CONSTRUCTION_H
