/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "job/layer-workload.h"

namespace ns3::training
{

namespace
{

using Operation = CollectiveOperation;

/** @return a layer: compute times in ns, bytes of its activations, update in ns */
LayerRow
MakeModelParallelLayer(const char* name,
                       int64_t pass,
                       int64_t weights,
                       uint64_t bytes,
                       int64_t update)
{
    return MakeLayerRow(name,
                        {pass, pass, weights},
                        {Operation::ALL_GATHER, Operation::ALL_REDUCE, Operation::BARRIER},
                        bytes,
                        update);
}

/** @return the layer file MLP_ModelParallel of ASTRA-sim 1.0 (inputs/workload) */
LayerWorkload
MakeModelParallelLoop()
{
    LayerWorkload workload;
    workload.rows.order = LayerRows::Order::MODEL;
    workload.rows.rows = {MakeModelParallelLayer("mlp0", 32291, 12864, 37632, 3229),
                          MakeModelParallelLayer("mlp1", 7488, 3648, 65536, 749),
                          MakeModelParallelLayer("mlp2", 7488, 3456, 65536, 749),
                          MakeModelParallelLayer("mlp3", 14144, 10368, 147456, 1414),
                          MakeModelParallelLayer("mlp4", 7488, 3648, 65536, 749),
                          MakeModelParallelLayer("mlp5", 9984, 3456, 65536, 998)};
    return workload;
}

const Registry<WorkloadEntry>::Entry g_mlpModelParallel(
    "mlp-model-parallel",
    MakeLayerWorkload("MLP of ASTRA-sim 1.0: each layer is divided among all ranks",
                      &MakeModelParallelLoop));

} // namespace

} // namespace ns3::training
