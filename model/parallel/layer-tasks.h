/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_LAYER_TASKS_H
#define DISTRIBUTED_TRAINING_LAYER_TASKS_H

#include "parallel/expert-exchange.h"
#include "parallel/operator-times.h"
#include "parallel/recomputation.h"
#include "rank-tasks.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-parallel
 *
 * Writes the computations of a rank for the layers of a transformer, and the collectives inside
 * and between them.
 */
class LayerTasks
{
  public:
    /**
     * @param plan who has which part; outlives this object
     * @param times of computations; outlives this object
     * @param tasks where tasks are written; outlives this object
     * @param rank this one
     */
    LayerTasks(const ParallelPlan& plan, const LayerTimes& times, RankTasks& tasks, uint32_t rank);

    /** The forward pass of a layer. @param layer its number */
    void Forward(uint32_t layer);

    /**
     * The gradients of the inputs of a layer, and of its weights if they are not computed apart.
     * @param layer its number
     * @param withWeights whether they are not
     */
    void Backward(uint32_t layer, bool withWeights);

    /** The gradients of the weights of a layer. @param layer its number */
    void WeightGradients(uint32_t layer);

    /** The forward pass of the embedding. */
    void ForwardEmbedding();

    /** Output layer and loss, forward, for each token that is predicted. */
    void ForwardOutput();

    /** The gradients of inputs and weights of the output layer. */
    void BackwardOutput();

  private:
    /// A block of a layer: attention, or the feed-forward network.
    enum class Block : uint8_t
    {
        ATTENTION,
        FEED_FORWARD
    };

    /** Activations of tensor-parallel ranks: input of products whose weights they share. */
    struct Activations
    {
        PlanGroups groups; ///< those ranks
        uint64_t bytes;    ///< of all of them
        bool isDivided;    ///< whether each has a part of them between products
    };

    Activations GetActivations() const;
    Activations GetActivations(uint32_t layer, Block block) const;
    uint64_t Gather(const Activations& activations, uint64_t bytes);
    uint64_t Gather(uint64_t inputs = 1);
    uint64_t Reduce(const Activations& activations, uint64_t bytes);
    uint64_t GatherInputs(uint32_t layer, Block block);
    uint64_t Reduce(uint64_t inputs = 1);
    std::vector<uint64_t> GatherParts(const Activations& activations);
    uint64_t GetPartBytes(uint64_t bytes, uint64_t part) const;
    std::vector<uint64_t> Multiply(LayerTask name,
                                   Time length,
                                   const std::vector<uint64_t>& inputs,
                                   const Activations* reduced);
    void Compute(LayerTask name, LayerPart part, LayerPass pass, uint32_t layer);
    Time GetNetworkTime(uint32_t layer, LayerPass pass, uint64_t pieces = 1) const;
    Time GetBackwardTime(LayerPart part,
                         uint32_t layer,
                         double load = 1,
                         uint64_t pieces = 1) const;
    void Await(const std::vector<uint64_t>& ids);
    void ForwardBlock(uint32_t layer, Block block, LayerPass pass = LayerPass::FORWARD);
    void ForwardPrediction(uint32_t layer);
    void BackwardPrediction(uint32_t layer, bool withWeights);
    void PredictionWeights(uint32_t layer, uint64_t inputs);
    void WeightGradients(uint32_t layer, Block block, uint64_t inputs);
    std::vector<uint64_t> BackwardBlock(uint32_t layer, Block block, bool withWeights);
    void Attend(uint32_t layer, bool isForward);
    void AttendInRing(Time length, uint64_t bytes, LayerTask name);
    void ExchangeHeads(uint64_t first, uint64_t second, uint64_t third = 0);
    const ParallelPlan& m_plan;
    const LayerTimes& m_times;
    RankTasks& m_tasks;
    TaskWriter& m_writer; // of the tasks
    ExpertExchange m_experts;
    Recomputation m_again;
    uint32_t m_rank;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_LAYER_TASKS_H
