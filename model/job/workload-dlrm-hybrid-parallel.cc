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

/** @return a layer of the MLPs: compute times in ns, bytes of its gradients, update in ns */
LayerRow
MakeMlp(const char* name,
        const std::array<int64_t, ROW_PASSES>& nanoseconds,
        uint64_t bytes,
        int64_t update)
{
    return MakeLayerRow(name,
                        nanoseconds,
                        {Operation::BARRIER, Operation::BARRIER, Operation::ALL_REDUCE},
                        bytes,
                        update);
}

/** @return the layer file DLRM_HybridParallel of ASTRA-sim 1.0 (inputs/workload) */
LayerWorkload
MakeDlrm()
{
    LayerWorkload workload;
    workload.rows.order = LayerRows::Order::EMBEDDING;
    workload.rows.lastBottom = 4;
    workload.rows.rows = {
        MakeLayerRow("Embedding",
                     {300, 300, 300},
                     {Operation::ALL_TO_ALL, Operation::ALL_TO_ALL, Operation::BARRIER},
                     98304,
                     98),
        MakeMlp("MLP_Bottom_0", {1280, 794, 896}, 13312, 13),
        MakeMlp("MLP_Bottom_1", {2560, 2560, 1792}, 524288, 524),
        MakeMlp("MLP_Bottom_2", {2560, 2560, 1792}, 524288, 524),
        MakeMlp("MLP_Bottom_3", {800, 1280, 800}, 16384, 16),
        MakeMlp("MLP_Top_0", {6400, 6400, 4480}, 1064960, 1065),
        MakeMlp("MLP_Top_1", {2560, 2560, 1792}, 524288, 524),
        MakeMlp("MLP_Top_2", {2560, 2560, 1792}, 524288, 524),
    };
    return workload;
}

const Registry<WorkloadEntry>::Entry g_dlrm(
    "dlrm-hybrid-parallel",
    MakeLayerWorkload("DLRM of ASTRA-sim 1.0: data-parallel MLPs, all-to-alls of embeddings",
                      &MakeDlrm));

const Registry<WorkloadEntry>::Entry g_short("dlrm",
                                             MakeLayerWorkload("short for dlrm-hybrid-parallel",
                                                               &MakeDlrm));

} // namespace

} // namespace ns3::training
