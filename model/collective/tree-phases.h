/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TREE_PHASES_H
#define DISTRIBUTED_TRAINING_TREE_PHASES_H

#include "collective/collective-phases.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 * A tree of ranks, with the step of a broadcast in which each rank receives from its parent.
 */
struct PhaseTree
{
    /** An edge from a parent to a child. */
    struct Edge
    {
        uint32_t parent; ///< parent rank
        uint32_t child;  ///< child rank
        uint32_t step;   ///< step from 0, greater than the step of the edge above
    };

    std::vector<Edge> edges; ///< edges; each one follows the edge above it

    /** @return number of steps */
    uint32_t GetSteps() const;
};

/**
 * @ingroup distributed-training-collective
 * @param ranks ranks in chain order, the root first
 * @return a chain: each rank is the parent of the next
 */
PhaseTree MakeChain(const std::vector<uint32_t>& ranks);

/**
 * @ingroup distributed-training-collective
 * @param ranks ranks, the root first
 * @return a star: the root is the parent of all other ranks, in one step
 */
PhaseTree MakeStar(const std::vector<uint32_t>& ranks);

/**
 * @ingroup distributed-training-collective
 * @param ranks ranks, the root first
 * @return a binomial tree: position v is the parent of v + d, where d is below v's lowest bit; the
 *         largest distances come first, so that the subtrees are consecutive positions
 */
PhaseTree MakeBinomialTree(const std::vector<uint32_t>& ranks);

/**
 * @ingroup distributed-training-collective
 * NCCL's first binary tree (trees.cc): the lowest bit set in a position gives its height.
 * @param size number of positions, at least 1
 * @return parent of each position; the root (position 0) is its own parent
 */
std::vector<uint32_t> GetBinaryTreeParents(uint32_t size);

/**
 * @ingroup distributed-training-collective
 * NCCL's second binary tree is the first one, mirrored for an even number of positions, shifted for
 * an odd number.
 * @param position a position in the first tree
 * @param size number of positions
 * @return the position in the second tree
 */
uint32_t MoveToSecondTree(uint32_t position, uint32_t size);

/**
 * @ingroup distributed-training-collective
 * @param ranks the ranks of a tree
 * @param parents for each of them, the position of its parent in `ranks`; the root has its own
 * @return the tree, level by level
 */
PhaseTree MakeTree(const std::vector<uint32_t>& ranks, const std::vector<uint32_t>& parents);

/**
 * @ingroup distributed-training-collective
 * Appends a broadcast down a tree.
 * @param schedule schedule to append to
 * @param tree tree whose root has the chunks
 * @param chunks chunks to broadcast
 * @param step the first step
 * @param message message index in each step
 * @return the step after the last step
 */
uint32_t AddTreeBroadcast(CollectiveSchedule& schedule,
                          const PhaseTree& tree,
                          const ChunkList& chunks,
                          uint32_t step,
                          uint32_t message = 0);

/**
 * @ingroup distributed-training-collective
 * Appends a reduction up a tree.
 * @param schedule schedule to append to
 * @param tree tree whose root receives the sum
 * @param chunks chunks to reduce
 * @param step the first step
 * @param message message index in each step
 * @return the step after the last step
 */
uint32_t AddTreeReduce(CollectiveSchedule& schedule,
                       const PhaseTree& tree,
                       const ChunkList& chunks,
                       uint32_t step,
                       uint32_t message = 0);

/**
 * @ingroup distributed-training-collective
 * Appends a scatter down a tree: the root has the parts of all ranks, and each rank receives the
 * parts of its subtree.
 * @param schedule schedule to append to
 * @param tree tree over the ranks of the group
 * @param group ranks and their parts
 * @param step the first step
 * @return the step after the last step
 */
uint32_t AddTreeScatter(CollectiveSchedule& schedule,
                        const PhaseTree& tree,
                        const PhaseGroup& group,
                        uint32_t step);

/**
 * @ingroup distributed-training-collective
 * Appends a gather up a tree: each rank has its own part, and the root receives the parts of all
 * ranks.
 * @param schedule schedule to append to
 * @param tree tree over the ranks of the group
 * @param group ranks and their parts
 * @param step the first step
 * @return the step after the last step
 */
uint32_t AddTreeGather(CollectiveSchedule& schedule,
                       const PhaseTree& tree,
                       const PhaseGroup& group,
                       uint32_t step);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TREE_PHASES_H
