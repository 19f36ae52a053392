/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_WORKLOAD_H
#define DISTRIBUTED_TRAINING_WORKLOAD_H

#include "gradient-buckets.h"
#include "layered-model.h"
#include "training-task.h"

#include "ns3/training-key-values.h"
#include "ns3/training-registry.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

/**
 * @ingroup distributed-training
 * @defgroup distributed-training-job Training job
 *
 * Workloads, and the order in which a rank computes and communicates.
 */

namespace ns3::training
{

/// @ingroup distributed-training-job Largest number of samples per rank and iteration.
constexpr uint64_t MAX_BATCH = 1ULL << 24;

/**
 * @ingroup distributed-training-job
 *
 * Everything that the task of a workload depends on.
 */
struct WorkloadRequest
{
    uint64_t batch{32};                    ///< samples per rank and iteration
    double computeScale{1};                ///< factor of all compute times
    uint64_t bucket{DEFAULT_BUCKET_BYTES}; ///< data parallel: gradients reduced together, bytes
    bool overlap{true};                    ///< data parallel: reduced during the backward pass
    uint32_t ranks{1};                     ///< number of ranks
    uint32_t serverRanks{1};               ///< ranks of a server or package of the topology
    KeyValues values;                      ///< keys of the workload; set by MakeTrainingTask()
};

/**
 * @ingroup distributed-training-job
 *
 * A workload; registered beside its table, in one file a model. It gives either a model, to be
 * trained data parallel, or a task of its own.
 */
struct WorkloadEntry
{
    static constexpr const char* KIND = "workload"; ///< word for messages
    std::string help;                               ///< what it is, one line
    std::vector<Key> keys;                          ///< its keys
    std::optional<FirstValue> first;                ///< value that needs no key, or none
    /// Layers with compute times, neither scaled nor with update; empty if there is a task.
    std::function<LayeredModel(const WorkloadRequest& request)> model;
    /// Steps of a rank; empty if there is a model.
    std::function<TrainingTask(const WorkloadRequest& request)> task;
};

/**
 * @ingroup distributed-training-job
 * @param entry a workload
 * @return description of the value that needs no key
 */
inline std::optional<FirstValue>
GetFirstValue(const WorkloadEntry& entry)
{
    return entry.first;
}

/**
 * @ingroup distributed-training-job
 * @param help one line
 * @param layers shapes of the layers, in forward order
 * @return a workload with the times of ComputeModel
 */
WorkloadEntry MakeModelWorkload(const std::string& help, const std::vector<LayerShape>& layers);

/**
 * @ingroup distributed-training-job
 *
 * Data-parallel training as PyTorch does it. An iteration is: forward pass; backward pass, layer by
 * layer in reverse order; the all-reduce of each gradient bucket; when all buckets are summed, the
 * update. With overlap, a bucket is reduced as soon as its last gradient is ready (wait-free
 * back-propagation with tensor fusion); otherwise all are, in the same order, after the backward
 * pass.
 *
 * @param model layers and compute times
 * @param bucket gradients reduced together, bytes; see MakeGradientBuckets()
 * @param overlap whether buckets are reduced during the backward pass
 * @return the steps of a rank
 */
TrainingTask MakeDataParallelTask(const LayeredModel& model, uint64_t bucket, bool overlap);

/**
 * @ingroup distributed-training-job
 * @param workload `NAME`, `NAME:key=value,...`, or the path of a CSV file, short for `file:PATH`
 * @param request what the task depends on
 * @return the steps of a rank
 * @throw ConfigurationError if there is no such workload, its file is malformed, or a value is out
 *        of range
 */
TrainingTask MakeTrainingTask(const std::string& workload, WorkloadRequest request);

/**
 * @ingroup distributed-training-job
 * @param workload as for MakeTrainingTask(), of those that have a model
 * @param batch samples per rank and iteration; a CSV file has the times of an iteration
 * @param computeScale factor of all compute times: 0.5 is a rank twice as fast
 * @return the layers with compute times
 * @throw ConfigurationError as MakeTrainingTask(), or if the workload has no model
 */
LayeredModel LoadModel(const std::string& workload, uint64_t batch, double computeScale);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_WORKLOAD_H
