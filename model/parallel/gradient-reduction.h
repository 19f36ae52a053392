/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_GRADIENT_REDUCTION_H
#define DISTRIBUTED_TRAINING_GRADIENT_REDUCTION_H

#include "parallel/zero-quantization.h"
#include "rank-tasks.h"

#include <cstdint>
#include <map>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-parallel
 *
 * Collects the gradients of a rank in buckets, and writes the collectives that reduce them. A unit
 * is a layer, the embedding or the output layer.
 */
class GradientReduction
{
  public:
    /**
     * @param plan who has which part; outlives this object
     * @param tasks where collectives are written; outlives this object
     * @param quantization of ZeRO++; outlives this object
     */
    GradientReduction(const ParallelPlan& plan, RankTasks& tasks, ZeroQuantization& quantization);

    /**
     * The gradients of a unit have been computed.
     * @param unit that has them
     * @param dense its parameters, without those of experts
     * @param experts parameters of its experts
     * @param isLast whether no other micro-batch adds to them
     */
    void Add(uint32_t unit, uint64_t dense, uint64_t experts, bool isLast);

    /** Reduces what is left in buckets. */
    void ReduceRest();

    /** Awaits all reductions so far, but those by layer. */
    void Await();

    /**
     * By layer: lets the update of a unit wait for a task as well.
     * @param unit to be updated
     * @param task that reduces gradients of it; or 0
     */
    void AddReduction(uint32_t unit, uint64_t task)
    {
        m_reduced[unit].push_back(task);
    }

    /**
     * By layer: awaits the gradients of a unit.
     * @param unit to be updated
     * @return whether it has gradients that were not awaited yet
     */
    bool Await(uint32_t unit);

  private:
    void ReduceBucket(PlanGroups groups);
    void ReduceByLayer(PlanGroups groups, uint64_t parameters);
    uint64_t Start(PlanGroups groups,
                   CollectiveOperation operation,
                   uint64_t bytes,
                   uint64_t after);
    uint64_t Reduce(PlanGroups groups, uint64_t parameters);

    const ParallelPlan& m_plan;
    RankTasks& m_tasks;
    ZeroQuantization& m_quantization;
    std::map<PlanGroups, uint64_t> m_buckets; // parameters whose gradients wait for more
    std::vector<uint64_t> m_reductions;       // not awaited yet
    // By layer: units with gradients in a bucket, and by unit what its next update waits for.
    std::map<PlanGroups, std::vector<uint32_t>> m_unitsOfBucket;
    std::map<uint32_t, std::vector<uint64_t>> m_reduced;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_GRADIENT_REDUCTION_H
