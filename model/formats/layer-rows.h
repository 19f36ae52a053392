/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_LAYER_ROWS_H
#define DISTRIBUTED_TRAINING_LAYER_ROWS_H

#include "ns3/collective-operation.h"
#include "ns3/task-graph.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

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

/** A row of a layer file. */
struct LayerRow
{
    std::string name;                      ///< of the layer
    std::array<RowWork, ROW_PASSES> works; ///< by RowPass
    Time update; ///< from the end of each of its collectives until the result is applied
};

/**
 * @ingroup distributed-training-formats
 * A layer file of ASTRA-sim 1.0 or SimAI: all ranks do the same, layer by layer. Its ranks and
 * groups are those of its header. The room job, which may not include this one, has LayerLoop for
 * built-in workloads of any number of ranks.
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
    bool awaitsEmbedding{true};        ///< EMBEDDING: the backward pass waits for its exchange
    bool blocksInputs{true};           ///< TRANSFORMER: collectives of gradients of inputs block
    std::vector<uint32_t> checkpoints; ///< layers from which forward passes are repeated
    std::vector<uint32_t> initiates;   ///< layers at which they are repeated
};

/**
 * @ingroup distributed-training-formats
 * The tasks of a layer file.
 */
class LayerRowsGraph : public TaskGraph
{
  public:
    /** @param rows the file */
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
