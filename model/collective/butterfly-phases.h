/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_BUTTERFLY_PHASES_H
#define DISTRIBUTED_TRAINING_BUTTERFLY_PHASES_H

#include "collective/collective-phases.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-collective
 *
 * A pattern of exchanges among 2^steps positions: in each step every position exchanges with one
 * partner, and after the last step each position has received data from every other position
 * exactly once.
 */
struct Butterfly
{
    uint32_t steps; ///< number of steps
    /// Returns the partner of a position in a step; symmetric.
    std::function<uint32_t(uint32_t position, uint32_t step)> partner;
};

/**
 * @ingroup distributed-training-collective
 * @param size number of positions, a power of two
 * @return the butterfly with distances 1, 2, 4, ... (recursive doubling)..
 */
Butterfly MakeDistanceDoubling(uint32_t size);

/**
 * @ingroup distributed-training-collective
 * @param size number of positions, a power of two
 * @return the butterfly with distances size / 2, size / 4, ... (recursive halving)..
 */
Butterfly MakeDistanceHalving(uint32_t size);

/**
 * @ingroup distributed-training-collective
 * Appends an all-reduce in which the partners exchange whole vectors.
 * @param schedule schedule to append to
 * @param ranks participating ranks
 * @param butterfly exchange pattern with one position per rank
 * @param chunks the vector
 * @param step the first step
 * @param message message index in each step
 * @return the step after the last step
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
 * the partner reaches in later steps. Each step halves the remaining parts.
 * @param schedule schedule to append to
 * @param group participating ranks and their parts
 * @param butterfly exchange pattern with one position per rank
 * @param step the first step
 * @param message message index in each step
 * @return the step after the last step
 */
uint32_t AddButterflyReduceScatter(CollectiveSchedule& schedule,
                                   const PhaseGroup& group,
                                   const Butterfly& butterfly,
                                   uint32_t step,
                                   uint32_t message = 0);

/**
 * @ingroup distributed-training-collective
 * Appends an all-gather, which runs the steps of the reduce-scatter in reverse order.
 * @param schedule schedule to append to
 * @param group participating ranks and their parts
 * @param butterfly exchange pattern with one position per rank; its last step comes first
 * @param step the first step
 * @param message message index in each step
 * @return the step after the last step
 */
uint32_t AddButterflyAllGather(CollectiveSchedule& schedule,
                               const PhaseGroup& group,
                               const Butterfly& butterfly,
                               uint32_t step,
                               uint32_t message = 0);

/**
 * @ingroup distributed-training-collective
 *
 * Reduces the number of participating ranks to a power of two: among the first ranks, every even
 * rank is idle, hands its vector to the next rank and receives the result afterwards (MPICH).
 */
struct Folding
{
    /** An idle rank and the worker that replaces it. */
    struct Pair
    {
        uint32_t idle;   ///< idle rank
        uint32_t worker; ///< rank that works on its behalf
        ChunkList part;  ///< part of the idle rank
    };

    PhaseGroup group;        ///< working ranks, each with its own part or both parts of its pair
    std::vector<Pair> pairs; ///< idle ranks and their workers; empty for a power of two

    /**
     * @param rank rank, from 0 to ranks - 1
     * @return the rank that works on its behalf; the rank itself unless idle
     */
    uint32_t GetWorker(uint32_t rank) const;
};

/**
 * @ingroup distributed-training-collective
 * @param all ranks and their parts
 * @return the working ranks, a power of two, and the idle ranks
 */
Folding Fold(const PhaseGroup& all);

/**
 * @ingroup distributed-training-collective
 * Appends the fold step before a reduction: idle ranks send their vectors to their workers.
 * @param schedule schedule to append to
 * @param folding idle ranks and workers
 * @param step the step to use if any rank is idle
 * @return the step after it
 */
uint32_t AddFold(CollectiveSchedule& schedule, const Folding& folding, uint32_t step);

/**
 * @ingroup distributed-training-collective
 * Appends the unfold step after an algorithm: workers send the result to the idle ranks.
 * @param schedule schedule to append to
 * @param folding idle ranks and workers
 * @param step the step to use if any rank is idle
 * @return the step after it
 */
uint32_t AddUnfold(CollectiveSchedule& schedule, const Folding& folding, uint32_t step);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_BUTTERFLY_PHASES_H
