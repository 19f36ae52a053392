/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_LAYER_ROWS_H
#define DISTRIBUTED_TRAINING_LAYER_ROWS_H

#include "task-graph.h"

#include "ns3/collective-operation.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-graph
 * Ranks that take part in the collectives of a pass, before the groups are known.
 */
enum class LayerScope : uint8_t
{
    NONE,  ///< nobody
    ALL,   ///< all ranks
    INNER, ///< ranks of one group: the first dimension, or those that share a model
    OUTER  ///< ranks with the same place in the groups
};

/**
 * @ingroup distributed-training-graph
 * @param ranks of the job
 * @param size ranks of a group
 * @param stride between the ranks of a group
 * @return the groups; size times stride divides the ranks
 */
TaskGroups MakeStridedGroups(uint32_t ranks, uint32_t size, uint32_t stride);

/** The passes of an iteration through a layer. */
enum class RowPass : uint8_t
{
    FORWARD,        ///< activations
    INPUT_GRADIENT, ///< gradients of the layer's inputs
    WEIGHT_GRADIENT ///< gradients of the layer's weights
};

/// Number of passes.
constexpr uint32_t ROW_PASSES = 3;

/** Work of a rank in a pass through a layer: a computation, and then a collective. */
struct RowWork
{
    Time compute;             ///< of the rank
    bool communicates{false}; ///< whether a collective follows
    CollectiveOperation operation{CollectiveOperation::ALL_REDUCE}; ///< the collective
    uint64_t bytes{0};  ///< of the whole vector at a rank
    int32_t groups{-1}; ///< index in LayerRows::groups; -1: no rank takes part
};

/** Work of a layer, as in a row of a layer file. */
struct LayerRow
{
    std::string name;                      ///< of the layer
    std::array<RowWork, ROW_PASSES> works; ///< by RowPass
    Time update; ///< from the end of each of its collectives until the result is applied
};

/**
 * @ingroup distributed-training-graph
 * Training layer by layer, the same at all ranks, as in the layer files of ASTRA-sim 1.0 (Rashidi
 * et al., ISPASS 2020) and SimAI.
 */
struct LayerRows
{
    /** The order of work in an iteration (ASTRA-sim 1.0, astra-sim/workload/Workload.cc). */
    enum class Order
    {
        DATA,        ///< gradients of the weights in the background, those of inputs after them
        MODEL,       ///< collectives of activations block; gradients of inputs first
        TRANSFORMER, ///< likewise; the collective of the gradients of inputs may block at once
        EMBEDDING,   ///< as DATA; the first layer is an embedding, whose exchange overlaps
        MICRO,       ///< the collective of the first layer's weights, nothing else
        FORWARD      ///< forward passes only
    };

    uint32_t ranks{1};                 ///< of the job
    Order order{Order::DATA};          ///< of the work
    std::vector<LayerRow> rows;        ///< in forward order
    std::vector<TaskGroups> groups;    ///< of the collectives
    uint32_t lastBottom{0};            ///< EMBEDDING: layer after which its outputs are needed
    bool awaitsFirst{false};           ///< an iteration ends with the weights of the first layer
    bool awaitsEmbedding{true};        ///< EMBEDDING: the backward pass waits for its exchange
    bool blocksInputs{true};           ///< TRANSFORMER: collectives of gradients of inputs block
    std::vector<uint32_t> checkpoints; ///< layers from which forward passes are repeated
    std::vector<uint32_t> initiates;   ///< layers at which they are repeated
};

/**
 * @ingroup distributed-training-graph
 * The tasks of layers.
 */
class LayerRowsGraph : public TaskGraph
{
  public:
    /** @param rows the layers */
    explicit LayerRowsGraph(LayerRows rows);

    uint32_t GetRanks() const override;
    const std::vector<TaskGroups>& GetGroups() const override;
    const std::vector<std::string>& GetNames() const override;
    std::unique_ptr<TaskSource> MakeSource(uint32_t rank, uint32_t iterations) const override;

  private:
    LayerRows m_rows;
    std::vector<std::string> m_names; // a name for each pass of each row, and three more
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_LAYER_ROWS_H
