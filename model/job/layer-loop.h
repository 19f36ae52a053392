/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_LAYER_LOOP_H
#define DISTRIBUTED_TRAINING_LAYER_LOOP_H

#include "training-workload.h"

#include "ns3/collective-operation.h"
#include "ns3/nstime.h"

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ns3::training
{

/** The three passes of an iteration through a layer. */
enum class LayerPass : uint8_t
{
    FORWARD,        ///< activations
    INPUT_GRADIENT, ///< gradients of the layer's inputs, for the previous layer
    WEIGHT_GRADIENT ///< gradients of the layer's weights
};

/// Number of passes.
constexpr uint32_t LAYER_PASSES = 3;

/** Work of a rank in a pass through a layer: a computation, followed by a collective. */
struct LayerWork
{
    Time compute; ///< compute time
    /// Collective of the result.
    CollectiveOperation operation{CollectiveOperation::ALL_REDUCE};
    /// Size at a rank before the collective (all-gather: its own part), bytes; 0: no collective.
    uint64_t bytes{0};
};

/** A layer of a LayerLoop. */
struct LoopLayer
{
    std::string name;                          ///< its name in the model
    std::array<LayerWork, LAYER_PASSES> works; ///< by LayerPass
    Time update; ///< from the end of each of its collectives until the result is applied
};

/**
 * @ingroup distributed-training-job
 *
 * A model trained layer by layer with data, model or hybrid parallelism, as in ASTRA-sim 1.0
 * (Rashidi et al., ISPASS 2020; astra-sim/workload/Workload.cc). It makes the steps of a
 * TrainingTask for any number of ranks, for built-in workloads. The room formats, which knows no
 * TrainingTask, has LayerRows for files, whose headers fix ranks and groups.
 */
struct LayerLoop
{
    /** The order of work in an iteration. */
    enum class Order
    {
        /// Data parallel. The forward pass, then per layer in backward order the gradients of the
        /// weights, whose collective runs in the background, and of the inputs. The next forward
        /// pass of a layer waits for the collective of its weights.
        DATA,
        /// Model parallel, optionally in groups that are data parallel among each other. Each
        /// forward collective blocks. Per layer in backward order, the gradients of the inputs are
        /// computed; their collective (except that of the first layer) overlaps with the
        /// computation of the weight gradients and then blocks. The collective of the weight
        /// gradients runs in the background.
        MODEL,
        /// Like DATA, but the first layer is an embedding. The forward pass waits for its
        /// collective after layer `lastBottom`. Its backward collective starts when the backward
        /// pass reaches the embedding, and blocks at the end of the backward pass.
        EMBEDDING
    };

    /** The ranks that take part in the collectives of a pass. */
    enum class Scope : uint8_t
    {
        ALL,      ///< all ranks
        EXCHANGE, ///< all ranks, in parallel to the other collectives
        WITHIN,   ///< the ranks of one group that shares a model
        BETWEEN   ///< the ranks with the same part of the model, one of each group
    };

    std::string name;         ///< of the model
    Order order{Order::DATA}; ///< of its work
    uint32_t lastBottom{0};   ///< EMBEDDING: the last layer before the embedding's outputs are used
    std::array<Scope, LAYER_PASSES> scopes{}; ///< by LayerPass
    std::vector<LoopLayer> layers;            ///< in forward order
};

/**
 * @ingroup distributed-training-job
 * @param loop the model
 * @param ranks number of ranks
 * @param groupRanks WITHIN, BETWEEN: number of consecutive ranks that share a model
 * @return the steps of a rank; collectives of 0 bytes are omitted
 */
TrainingTask MakeLayerLoopTask(const LayerLoop& loop, uint32_t ranks, uint32_t groupRanks = 1);

/**
 * @ingroup distributed-training-job
 *
 * Creates a workload of a layer loop. It takes the key `group` if passes have the scopes WITHIN and
 * BETWEEN, and `exchange` if the first layer is an embedding. It refuses batch, bucket and overlap
 * options, which do not apply.
 *
 * @param help one line
 * @param make returns the model; called when a task is created, with the time resolution in effect
 * @return the workload
 */
WorkloadEntry MakeLayerLoopWorkload(const std::string& help,
                                    const std::function<LayerLoop()>& make);

/**
 * @ingroup distributed-training-job
 * @param name of the layer
 * @param nanoseconds compute times, by LayerPass, ns
 * @param operations collectives, by LayerPass; BARRIER: none
 * @param bytes size of each collective at a rank, bytes
 * @param update time from the end of each collective until its result is applied, ns
 * @return a layer as in the layer files of ASTRA-sim, where a cycle is 1 ns
 */
LoopLayer MakeLoopLayer(const std::string& name,
                        const std::array<int64_t, LAYER_PASSES>& nanoseconds,
                        const std::array<CollectiveOperation, LAYER_PASSES>& operations,
                        uint64_t bytes,
                        int64_t update);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_LAYER_LOOP_H
