/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_LAYER_LOOP_H
#define DISTRIBUTED_TRAINING_LAYER_LOOP_H

#include "ns3/collective-operation.h"
#include "ns3/nstime.h"

#include <array>
#include <cstdint>
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

/** What a rank does in a pass through a layer: it computes, then a collective starts. */
struct LayerWork
{
    Time compute; ///< time it computes
    /// Collective of what it has computed.
    CollectiveOperation operation{CollectiveOperation::ALL_REDUCE};
    /// Size at a rank before the collective (all-gather: its own part), bytes; 0: there is none.
    uint64_t bytes{0};
};

/** A layer of a LayerLoop. */
struct LoopLayer
{
    std::string name;                          ///< its name in the model
    std::array<LayerWork, LAYER_PASSES> works; ///< by LayerPass
    Time update; ///< from the end of each of its collectives until what it brought is in place
};

/**
 * @ingroup distributed-training-job
 *
 * A model trained layer by layer in data, model or hybrid parallelism, as ASTRA-sim 1.0 does
 * (Rashidi et al., ISPASS 2020; astra-sim/workload/Workload.cc). Which ranks take part in the
 * collectives of a pass is not said here.
 */
struct LayerLoop
{
    /** The order of work in an iteration. */
    enum class Order
    {
        /// Data parallel. Forward; then from the last layer on the gradients of the weights, whose
        /// collective goes on in the background, and of the inputs. A layer's next forward pass
        /// waits for the collective of its weights.
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

    std::string name;              ///< of the model
    Order order{Order::DATA};      ///< of its work
    uint32_t lastBottom{0};        ///< EMBEDDING: the layer before the embedding's outputs are used
    std::vector<LoopLayer> layers; ///< in forward order
};

/** One thing a rank does in an iteration. */
struct LoopStep
{
    /** What it is. */
    enum class Kind : uint8_t
    {
        COMPUTE, ///< computes
        START,   ///< starts the collective of a layer's pass
        WAIT     ///< waits until what it last brought is in place
    };

    Kind kind;      ///< what it is
    LayerPass pass; ///< the pass
    uint32_t layer; ///< the layer
};

/**
 * @ingroup distributed-training-job
 * @param loop the model
 * @return what a rank does in an iteration, one after the other; collectives without bytes are not
 *         in it
 */
std::vector<LoopStep> MakeIteration(const LayerLoop& loop);

/**
 * @ingroup distributed-training-job
 * @param loop the model
 * @return time that a rank computes in an iteration
 */
Time GetComputeTime(const LayerLoop& loop);

/**
 * @ingroup distributed-training-job
 * @return networks of ASTRA-sim 1.0's layer files (inputs/workload; a cycle is 1 ns):
 *         DLRM_HybridParallel, MLP_ModelParallel, MLP_HybridParallel_Data_Model
 */
std::vector<LayerLoop> GetAstraSimLoops();

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_LAYER_LOOP_H
