/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ZERO_QUANTIZATION_H
#define DISTRIBUTED_TRAINING_ZERO_QUANTIZATION_H

#include "rank-tasks.h"

#include <cstdint>
#include <memory>

namespace ns3::training
{

/**
 * @ingroup distributed-training-parallel
 *
 * Writes the collectives of ZeRO++ (Wang et al., 2023, section 3) that carry numbers in code, and
 * their kernels, which memory limits. As in DeepSpeed (partition_parameters.py,
 * coalesced_collectives.py) parameters have 8 bits and a scale for 8000, gradients 4 bits and a
 * scale for a row of a matrix. A rank codes its part of a vector, and the part of each receiver,
 * for itself: each part begins with a scale of its own, and all are padded to the largest one.
 */
class ZeroQuantization
{
  public:
    /**
     * @param plan who has which part; outlives this object
     * @param tasks where tasks are written; outlives this object
     */
    ZeroQuantization(const ParallelPlan& plan, RankTasks& tasks);

    /**
     * Quantizes the part of this rank, and gathers all parts.
     * @param groups whose ranks have a part each, two or more
     * @param parameters in all parts, not 0
     * @return the all-gather
     */
    uint64_t Gather(PlanGroups groups, uint64_t parameters);

    /** Dequantizes parameters that have arrived. @param parameters in all parts */
    void Restore(uint64_t parameters);

    /**
     * Reduces gradients of dense layers: an all-to-all inside a node, whose sums are quantized
     * again, and one across. The part that rank j of a node gets of the first one is, node by node,
     * what the ranks j get of the second one. The first kernel puts it in that order.
     * @param gradients of this rank
     * @return the last step; 0: there is none
     */
    uint64_t Reduce(uint64_t gradients);

  private:
    uint64_t Exchange(PlanGroups groups,
                      const std::shared_ptr<const TaskCode>& code,
                      uint64_t after);

    const ParallelPlan& m_plan;
    RankTasks& m_tasks;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ZERO_QUANTIZATION_H
