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
    FORWARD,        ///< its outputs
    INPUT_GRADIENT, ///< gradients of its inputs, for the layer before
    WEIGHT_GRADIENT ///< gradients of its weights
};

/// Number of passes.
constexpr uint32_t LAYER_PASSES = 3;

/** Work of a rank in a pass through a layer: it computes, then a collective starts. */
struct LayerWork
{
    Time compute; ///< time it computes
    /// Collective of the result.
    CollectiveOperation operation{CollectiveOperation::ALL_REDUCE};
    /// Size at a rank before the collective (all-gather: its own part), bytes; 0: there is none.
    uint64_t bytes{0};
};

/** A layer of a LayerLoop. */
struct LoopLayer
{
    std::string name;                          ///< its name in the model
    std::array<LayerWork, LAYER_PASSES> works; ///< by LayerPass
    Time update; ///< from the end of each of its collectives until the result is in place
};

/**
 * @ingroup distributed-training-job
 *
 * A model trained layer by layer in data, model or hybrid parallelism, as ASTRA-sim 1.0 does
 * (Rashidi et al., ISPASS 2020; astra-sim/workload/Workload.cc).
 */
struct LayerLoop
{
    /** The order of work in an iteration. */
    enum class Order
    {
        /// Data parallel. Forward; then from the last layer on the gradients of the weights, whose
        /// collective goes on in the background, and of the inputs. The next forward pass of a
        /// layer waits for the collective of its weights.
        DATA,
        /// Model parallel, alone or within groups that are data parallel among each other. Each
        /// forward collective is waited for. From the last layer on the gradients of the inputs,
        /// whose collective (but that of the first layer) goes on while those of the weights are
        /// computed, and is waited for; that of the weights goes on in the background.
        MODEL,
        /// As DATA, but the first layer is an embedding whose forward collective is waited for
        /// behind layer `lastBottom`, and whose backward collective begins when the backward pass
        /// gets there, and is waited for at its end.
        EMBEDDING
    };

    /** The ranks that take part in the collectives of a pass. */
    enum class Scope : uint8_t
    {
        ALL,      ///< all ranks
        EXCHANGE, ///< all ranks, beside the other collectives
        WITHIN,   ///< the ranks of a group that shares a model
        BETWEEN   ///< the ranks that have the same part of the model, one of each group
    };

    std::string name;         ///< of the model
    Order order{Order::DATA}; ///< of its work
    uint32_t lastBottom{0};   ///< EMBEDDING: the layer before the embedding's outputs are used
    std::array<Scope, LAYER_PASSES> scopes{}; ///< by LayerPass
    std::vector<LoopLayer> layers;            ///< in forward order
};

/**
 * @ingroup distributed-training-job
 * @param loop the model
 * @param ranks number of ranks
 * @param groupRanks WITHIN, BETWEEN: number of consecutive ranks that share a model
 * @return the steps of a rank; collectives without bytes are not in it
 */
TrainingTask MakeLayerLoopTask(const LayerLoop& loop, uint32_t ranks, uint32_t groupRanks = 1);

/**
 * @ingroup distributed-training-job
 *
 * Makes a workload of a layer loop. It takes the key `group` if passes have the scopes WITHIN and
 * BETWEEN, and refuses a batch, buckets or overlap, which are not its own.
 *
 * @param help one line
 * @param make gives the model; called when a task is made, with the time resolution of then
 * @return the workload
 */
WorkloadEntry MakeLayerLoopWorkload(const std::string& help,
                                    const std::function<LayerLoop()>& make);

/**
 * @ingroup distributed-training-job
 * @param name of the layer
 * @param nanoseconds compute times, by LayerPass, ns
 * @param operations collectives, by LayerPass; BARRIER: there is none
 * @param bytes size of each collective at a rank, bytes
 * @param update time from the end of each collective until its result is in place, ns
 * @return a layer as in the layer files of ASTRA-sim, where a cycle is 1 ns
 */
LoopLayer MakeLoopLayer(const std::string& name,
                        const std::array<int64_t, LAYER_PASSES>& nanoseconds,
                        const std::array<CollectiveOperation, LAYER_PASSES>& operations,
                        uint64_t bytes,
                        int64_t update);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_LAYER_LOOP_H
