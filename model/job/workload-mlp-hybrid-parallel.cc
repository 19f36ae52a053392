/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "layer-loop.h"

namespace ns3::training
{

namespace
{

using Operation = CollectiveOperation;
using Scope = LayerLoop::Scope;

/** @return a layer: compute time of each pass in ns, bytes of each collective, update in ns */
LoopLayer
MakeMlp(const char* name, int64_t pass, uint64_t bytes, int64_t update)
{
    return MakeLoopLayer(name,
                         {pass, pass, pass},
                         {Operation::ALL_GATHER, Operation::ALL_REDUCE, Operation::ALL_REDUCE},
                         bytes,
                         update);
}

/** @return the layer file MLP_HybridParallel_Data_Model of ASTRA-sim 1.0 (inputs/workload) */
LayerLoop
MakeLoop()
{
    LayerLoop loop;
    loop.order = LayerLoop::Order::MODEL;
    loop.scopes = {Scope::WITHIN, Scope::WITHIN, Scope::BETWEEN};
    loop.layers = {MakeMlp("mlp0", 32291, 37632, 3229),
                   MakeMlp("mlp1", 7488, 65536, 749),
                   MakeMlp("mlp2", 7488, 65536, 749),
                   MakeMlp("mlp3", 14144, 147456, 1414),
                   MakeMlp("mlp4", 7488, 65536, 749),
                   MakeMlp("mlp5", 9984, 65536, 998)};
    return loop;
}

const Registry<WorkloadEntry>::Entry g_mlp(
    "mlp-hybrid-parallel",
    MakeLayerLoopWorkload("MLP of ASTRA-sim 1.0: model parallel in groups, data parallel between",
                          &MakeLoop));

} // namespace

} // namespace ns3::training
