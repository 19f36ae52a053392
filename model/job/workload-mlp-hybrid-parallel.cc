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

/** @return a layer: compute time of each pass in ns, bytes of each collective, update in ns */
LayerRow
MakeHybridParallelLayer(const char* name, int64_t pass, uint64_t bytes, int64_t update)
{
    return MakeLayerRow(name,
                        {pass, pass, pass},
                        {Operation::ALL_GATHER, Operation::ALL_REDUCE, Operation::ALL_REDUCE},
                        bytes,
                        update);
}

/** @return the layer file MLP_HybridParallel_Data_Model of ASTRA-sim 1.0 (inputs/workload) */
LayerWorkload
MakeHybridParallelLoop()
{
    LayerWorkload workload;
    workload.rows.order = LayerRows::Order::MODEL;
    workload.scopes = {LayerScope::INNER, LayerScope::INNER, LayerScope::OUTER};
    workload.rows.rows = {MakeHybridParallelLayer("mlp0", 32291, 37632, 3229),
                          MakeHybridParallelLayer("mlp1", 7488, 65536, 749),
                          MakeHybridParallelLayer("mlp2", 7488, 65536, 749),
                          MakeHybridParallelLayer("mlp3", 14144, 147456, 1414),
                          MakeHybridParallelLayer("mlp4", 7488, 65536, 749),
                          MakeHybridParallelLayer("mlp5", 9984, 65536, 998)};
    return workload;
}

const Registry<WorkloadEntry>::Entry g_mlpHybridParallel(
    "mlp-hybrid-parallel",
    MakeLayerWorkload("MLP of ASTRA-sim 1.0: model parallel in groups, data parallel between",
                      &MakeHybridParallelLoop));

} // namespace

} // namespace ns3::training
