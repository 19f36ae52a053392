/*
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
 * In each step every position of a group of 2^steps ranks exchanges with one other, so that after
 * the last one each has heard of all others exactly once.
 */
struct Butterfly
{
    uint32_t steps; ///< how many
    /// With whom a position exchanges in a step; its own inverse.
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
 * @param schedule to be appended to
 * @param ranks who takes part
 * @param butterfly of as many positions
 * @param chunks the vector
 * @param step the first step
 * @param message number of the messages of each step
 * @return the step behind the last
 */
uint32_t AddButterflyAllReduce(CollectiveSchedule& schedule,
                               const std::vector<uint32_t>& ranks,
                               const Butterfly& butterfly,
                               const ChunkList& chunks,
                               uint32_t step,
                               uint32_t message = 0);

/**
 * @ingroup distributed-training-collective
 * Appends a reduce-scatter: what the partner and those whom it meets later own is sent to it; each
 * step halves what is left.
 * @param schedule to be appended to
 * @param group who takes part
 * @param butterfly of as many positions
 * @param step the first step
 * @param message number of the messages of each step
 * @return the step behind the last
 */
uint32_t AddButterflyReduceScatter(CollectiveSchedule& schedule,
                                   const PhaseGroup& group,
                                   const Butterfly& butterfly,
                                   uint32_t step,
                                   uint32_t message = 0);

/**
 * @ingroup distributed-training-collective
 * Appends an all-gather: the reduce-scatter backwards.
 * @param schedule to be appended to
 * @param group who takes part
 * @param butterfly of as many positions; its last step is the first one here
 * @param step the first step
 * @param message number of the messages of each step
 * @return the step behind the last
 */
uint32_t AddButterflyAllGather(CollectiveSchedule& schedule,
                               const PhaseGroup& group,
                               const Butterfly& butterfly,
                               uint32_t step,
                               uint32_t message = 0);

/**
 * @ingroup distributed-training-collective
 *
 * Makes a number of ranks that is no power of two one: of the first ranks, every even one leaves
 * its work to the next one and gets the result afterwards (MPICH).
 */
struct Folding
{
    /** A rank that leaves its work to another one. */
    struct Pair
    {
        uint32_t idle;   ///< who leaves it
        uint32_t worker; ///< who takes it
        ChunkList part;  ///< the part of who leaves it
    };

    PhaseGroup group;        ///< those that go on, each with its part or both of a pair's
    std::vector<Pair> pairs; ///< none if the number is a power of two

    /**
     * @param rank 0 to ranks - 1
     * @return who does its work
     */
    uint32_t GetWorker(uint32_t rank) const;
};

/**
 * @ingroup distributed-training-collective
 * @param all some ranks and their parts
 * @return a power of two of them, and what the others do
 */
Folding Fold(const PhaseGroup& all);

/**
 * @ingroup distributed-training-collective
 * Appends the step before a reduction: those who leave their work send their vectors.
 * @param schedule to be appended to
 * @param folding who to whom
 * @param step the step, if there is one
 * @return the step behind it
 */
uint32_t AddFold(CollectiveSchedule& schedule, const Folding& folding, uint32_t step);

/**
 * @ingroup distributed-training-collective
 * Appends the step behind: those who have left their work get the result.
 * @param schedule to be appended to
 * @param folding who from whom
 * @param step the step, if there is one
 * @return the step behind it
 */
uint32_t AddUnfold(CollectiveSchedule& schedule, const Folding& folding, uint32_t step);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_BUTTERFLY_PHASES_H
