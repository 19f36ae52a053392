/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_BUTTERFLY_PHASES_H
#define DISTRIBUTED_TRAINING_BUTTERFLY_PHASES_H

#include "collective-phases.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * A pattern of exchanges among 2^steps positions: in each step every position exchanges with one
 * other, and after the last step each has received from all others exactly once.
 */
struct Butterfly
{
    uint32_t steps; ///< number of steps
    /// The partner of a position in a step; its own inverse.
    std::function<uint32_t(uint32_t position, uint32_t step)> partner;
};

/**
 * @ingroup distributed-training-collective
 * @param size a power of two
 * @return distances 1, 2, 4, ...
 */
Butterfly MakeNearFirst(uint32_t size);

/**
 * @ingroup distributed-training-collective
 * @param size a power of two
 * @return distances size / 2, size / 4, ...
 */
Butterfly MakeFarFirst(uint32_t size);

/**
 * @ingroup distributed-training-collective
 * Appends an all-reduce in which the partners exchange whole vectors.
 * @param schedule that gets the actions
 * @param ranks that take part
 * @param butterfly of as many positions
 * @param chunks the vector
 * @param step the first step
 * @param message number of the message in each step
 * @return the step after the last
 */
uint32_t AddButterflyAllReduce(CollectiveSchedule& schedule,
                               const std::vector<uint32_t>& ranks,
                               const Butterfly& butterfly,
                               const ChunkList& chunks,
                               uint32_t step,
                               uint32_t message = 0);

/**
 * @ingroup distributed-training-collective
 * Appends a reduce-scatter: a rank sends its partner the parts of the partner and of all ranks that
 * the partner reaches later; each step halves the parts that are left.
 * @param schedule that gets the actions
 * @param group ranks that take part
 * @param butterfly of as many positions
 * @param step the first step
 * @param message number of the message in each step
 * @return the step after the last
 */
uint32_t AddButterflyReduceScatter(CollectiveSchedule& schedule,
                                   const PhaseGroup& group,
                                   const Butterfly& butterfly,
                                   uint32_t step,
                                   uint32_t message = 0);

/**
 * @ingroup distributed-training-collective
 * Appends an all-gather, the reduce-scatter in reverse order.
 * @param schedule that gets the actions
 * @param group ranks that take part
 * @param butterfly of as many positions; its last step is the first here
 * @param step the first step
 * @param message number of the message in each step
 * @return the step after the last
 */
uint32_t AddButterflyAllGather(CollectiveSchedule& schedule,
                               const PhaseGroup& group,
                               const Butterfly& butterfly,
                               uint32_t step,
                               uint32_t message = 0);

/**
 * @ingroup distributed-training-collective
 *
 * Reduces the ranks of an algorithm to a power of two: of the first ranks, every even one is idle,
 * leaves its work to the next rank and gets the result from it afterwards (MPICH).
 */
struct Folding
{
    /** An idle rank and its worker. */
    struct Pair
    {
        uint32_t idle;   ///< rank that is idle
        uint32_t worker; ///< rank that does its work
        ChunkList part;  ///< part of the idle rank
    };

    PhaseGroup group;        ///< ranks that work, each with its part or both parts of its pair
    std::vector<Pair> pairs; ///< idle ranks; none if the number is a power of two

    /**
     * @param rank 0 to ranks - 1
     * @return rank that does its work
     */
    uint32_t GetWorker(uint32_t rank) const;
};

/**
 * @ingroup distributed-training-collective
 * @param all some ranks and their parts
 * @return a power of two of them that work, and the idle others
 */
Folding Fold(const PhaseGroup& all);

/**
 * @ingroup distributed-training-collective
 * Appends the step before a reduction: idle ranks send their vectors to their workers.
 * @param schedule that gets the actions
 * @param folding idle ranks and workers
 * @param step the step, if any rank is idle
 * @return the step after it
 */
uint32_t AddFold(CollectiveSchedule& schedule, const Folding& folding, uint32_t step);

/**
 * @ingroup distributed-training-collective
 * Appends the step after an algorithm: idle ranks get the result from their workers.
 * @param schedule that gets the actions
 * @param folding idle ranks and workers
 * @param step the step, if any rank is idle
 * @return the step after it
 */
uint32_t AddUnfold(CollectiveSchedule& schedule, const Folding& folding, uint32_t step);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_BUTTERFLY_PHASES_H
