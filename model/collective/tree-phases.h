/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TREE_PHASES_H
#define DISTRIBUTED_TRAINING_TREE_PHASES_H

#include "collective-phases.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 * A tree of ranks, and in which step of a broadcast each gets what its parent has.
 */
struct PhaseTree
{
    /** From a parent to a child. */
    struct Edge
    {
        uint32_t parent; ///< rank
        uint32_t child;  ///< rank
        uint32_t step;   ///< from 0 on; that of the parent's own edge is less
    };

    std::vector<Edge> edges; ///< a parent's own edge lies before those to its children

    /** @return number of steps */
    uint32_t GetSteps() const;
};

/**
 * @ingroup distributed-training-collective
 * @param ranks from the root on
 * @return each rank is the parent of the next one
 */
PhaseTree MakeChain(const std::vector<uint32_t>& ranks);

/**
 * @ingroup distributed-training-collective
 * @param ranks the root is the first of them
 * @return the root is the parent of all, in a single step
 */
PhaseTree MakeStar(const std::vector<uint32_t>& ranks);

/**
 * @ingroup distributed-training-collective
 * @param ranks the root is the first of them
 * @return a binomial tree: position v is the parent of v + d, where d is below v's lowest bit; the
 *         largest distances come first, so that the subtrees are consecutive positions
 */
PhaseTree MakeBinomialTree(const std::vector<uint32_t>& ranks);

/**
 * @ingroup distributed-training-collective
 * Appends a broadcast down a tree.
 * @param schedule to be appended to
 * @param tree the root has the chunks
 * @param chunks what is sent
 * @param step the first step
 * @param message number of the messages of each step
 * @return the step behind the last
 */
uint32_t AddTreeBroadcast(CollectiveSchedule& schedule,
                          const PhaseTree& tree,
                          const ChunkList& chunks,
                          uint32_t step,
                          uint32_t message = 0);

/**
 * @ingroup distributed-training-collective
 * Appends a reduction up a tree.
 * @param schedule to be appended to
 * @param tree the root gets the sum
 * @param chunks what is added
 * @param step the first step
 * @param message number of the messages of each step
 * @return the step behind the last
 */
uint32_t AddTreeReduce(CollectiveSchedule& schedule,
                       const PhaseTree& tree,
                       const ChunkList& chunks,
                       uint32_t step,
                       uint32_t message = 0);

/**
 * @ingroup distributed-training-collective
 * Appends a scatter down a tree: the root has the parts of all, and each rank gets its own and
 * those of its subtree.
 * @param schedule to be appended to
 * @param tree of the ranks of the group
 * @param group the parts
 * @param step the first step
 * @return the step behind the last
 */
uint32_t AddTreeScatter(CollectiveSchedule& schedule,
                        const PhaseTree& tree,
                        const PhaseGroup& group,
                        uint32_t step);

/**
 * @ingroup distributed-training-collective
 * Appends a gather up a tree: each rank has its part, and the root gets those of all.
 * @param schedule to be appended to
 * @param tree of the ranks of the group
 * @param group the parts
 * @param step the first step
 * @return the step behind the last
 */
uint32_t AddTreeGather(CollectiveSchedule& schedule,
                       const PhaseTree& tree,
                       const PhaseGroup& group,
                       uint32_t step);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TREE_PHASES_H
