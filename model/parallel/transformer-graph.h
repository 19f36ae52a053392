/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TRANSFORMER_GRAPH_H
#define DISTRIBUTED_TRAINING_TRANSFORMER_GRAPH_H

#include "parallel-plan.h"
#include "parallel/layer-tasks.h"

#include "ns3/task-graph.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

class LayerTimes;
class SamplePlans;

/**
 * @ingroup distributed-training-parallel
 *
 * The training of a transformer as tasks: forward and backward passes of layers by the pipeline
 * schedule, and the collectives of each kind of parallelism, with the bytes that NCCL would count:
 *
 * - tensor: an all-reduce of 2bsh/c bytes after attention and after the feed-forward network in
 *   each direction, after the input embedding, and of the gradient of the output layer's input
 *   (Shoeybi et al., 2019); with sequence parallelism an all-gather before and a reduce-scatter
 *   after each (Korthikanti et al., MLSys 2023);
 * - pipeline: activations and gradients between stages, 2bsh/c bytes, divided by the
 *   tensor-parallel ranks with sequence parallelism;
 * - data: gradients in buckets, in backward order, during the last backward pass of a stage; with
 *   ZeRO reduce-scatters, and all-gathers of parameters (Rajbhandari et al., SC 2020);
 * - context: keys and values in a ring, while scores of the previous part are computed (Liu et
 *   al., Ring Attention, 2023), of all its ranks or of those of a sample, see SampleSchedule;
 * - expert: tokens to their experts and back, all experts equally popular.
 *
 * Computations take the time of their operators, see LayerTimes. A backward pass computes as much
 * again for the gradients of the inputs and for those of the weights.
 */
class TransformerGraph : public TaskGraph
{
  public:
    /**
     * @param plan who has which part
     * @param rates of computations
     */
    TransformerGraph(std::shared_ptr<const ParallelPlan> plan, const TransformerRates& rates);

    uint32_t GetRanks() const override;
    const std::vector<TaskGroups>& GetGroups() const override;
    const std::vector<std::string>& GetNames() const override;
    std::unique_ptr<TaskSource> MakeSource(uint32_t rank, uint32_t iterations) const override;

  private:
    std::shared_ptr<const ParallelPlan> m_plan;
    std::shared_ptr<const LayerTimes> m_times;
    std::shared_ptr<const SamplePlans> m_samples; // null: all samples are alike
    double m_memory;                              // its bandwidth, byte/s
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TRANSFORMER_GRAPH_H
