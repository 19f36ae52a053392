/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_LAYER_WORKLOAD_H
#define DISTRIBUTED_TRAINING_LAYER_WORKLOAD_H

#include "graph/layer-rows.h"
#include "training-workload.h"

#include "ns3/collective-operation.h"

#include <array>
#include <cstdint>
#include <functional>
#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-job
 *
 * A model trained layer by layer with data, model or hybrid parallelism, for any number of ranks.
 */
struct LayerWorkload
{
    /// Layers whose collectives have sizes at a rank before them (all-gather: its own part), and no
    /// groups yet.
    LayerRows rows;
    /// Ranks of the collectives of each pass. Those of activations of an embedding exchange apart.
    std::array<LayerScope, ROW_PASSES> scopes{LayerScope::ALL, LayerScope::ALL, LayerScope::ALL};
};

/**
 * @ingroup distributed-training-job
 * @param workload the model
 * @param ranks number of ranks
 * @param groupRanks INNER, OUTER: number of consecutive ranks that share a model
 * @return the layers with their groups; the first groups have all ranks. An iteration ends with the
 *         weights of the first layer
 */
LayerRows DivideLayers(const LayerWorkload& workload, uint32_t ranks, uint32_t groupRanks = 1);

/**
 * @ingroup distributed-training-job
 *
 * Creates a workload of layers. It takes the key `group` if passes have the scopes INNER and OUTER,
 * and `exchange` if the first layer is an embedding. It refuses batch, bucket and overlap options,
 * which do not apply.
 *
 * @param help one line
 * @param make returns the model; called when a job is created, with the time resolution in effect
 * @return the workload
 */
WorkloadEntry MakeLayerWorkload(const std::string& help,
                                const std::function<LayerWorkload()>& make);

/**
 * @ingroup distributed-training-job
 * @param name of the layer
 * @param nanoseconds compute times, by RowPass, ns
 * @param operations collectives, by RowPass; BARRIER: none
 * @param bytes size of each collective at a rank, bytes; 0: there are none
 * @param update time from the end of each collective until its result is applied, ns
 * @return a layer as in the layer files of ASTRA-sim, where a cycle is 1 ns
 */
LayerRow MakeLayerRow(const std::string& name,
                      const std::array<int64_t, ROW_PASSES>& nanoseconds,
                      const std::array<CollectiveOperation, ROW_PASSES>& operations,
                      uint64_t bytes,
                      int64_t update);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_LAYER_WORKLOAD_H
