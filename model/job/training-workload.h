/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_WORKLOAD_H
#define DISTRIBUTED_TRAINING_WORKLOAD_H

#include "gradient-buckets.h"
#include "layered-model.h"
#include "training-gpu.h"
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
 * Workloads, and the order of computation and communication at a rank.
 */

namespace ns3::training
{

/// Maximum number of samples per rank and iteration. @ingroup distributed-training-job
constexpr uint64_t MAX_BATCH = 1ULL << 24;

/**
 * @ingroup distributed-training-job
 *
 * Inputs of a workload's task.
 */
struct WorkloadRequest
{
    uint64_t batch{32};                    ///< samples per rank and iteration
    std::string gpu{DEFAULT_GPU};          ///< GPU of each rank, a GpuEntry
    double computeScale{1};                ///< factor of all compute times
    uint64_t bucket{DEFAULT_BUCKET_BYTES}; ///< data parallel: cap of a gradient bucket, bytes
    bool overlap{true};                    ///< data parallel: reduce during the backward pass
    bool byLayer{false};                   ///< data parallel: layers wait for their own bucket
    uint32_t gradientBytes{DEFAULT_GRADIENT_BYTES}; ///< data parallel: size of a gradient, bytes
    uint32_t ranks{1};                              ///< number of ranks
    uint32_t serverRanks{1};                        ///< ranks per server or package of the topology
    KeyValues values; ///< keys of the workload; set by MakeTrainingTask()
};

/**
 * @ingroup distributed-training-job
 *
 * A workload, registered next to its layer table, one file per model. It provides either a model to
 * train data parallel, or its own task.
 */
struct WorkloadEntry
{
    static constexpr const char* KIND = "workload"; ///< for messages
    std::string help;                               ///< description, one line
    std::vector<Key> keys;                          ///< its keys
    std::optional<FirstValue> first;                ///< positional value without a key, or none
    std::vector<LayerShape> layers;                 ///< of a built-in model, in forward order
    /// Layers with compute times, unscaled and without update; empty if there is a task.
    std::function<LayeredModel(const WorkloadRequest& request)> model;
    /// Creates the steps of a rank; empty if there is a model.
    std::function<TrainingTask(const WorkloadRequest& request)> task;
};

/**
 * @ingroup distributed-training-job
 * @param entry a workload
 * @return description of its positional value, or none
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
 * @return a workload with the times of ApplyComputeModel()
 */
WorkloadEntry MakeModelWorkload(const std::string& help, const std::vector<LayerShape>& layers);

/**
 * @ingroup distributed-training-job
 *
 * Data-parallel training as in PyTorch. An iteration is the forward pass; the backward pass, layer
 * by layer in reverse order; the all-reduce of each gradient bucket; and the update when all
 * buckets are reduced. With overlap, a bucket is reduced as soon as its last gradient is ready
 * (wait-free back-propagation with tensor fusion). Otherwise all buckets are reduced after the
 * backward pass, in the same order.
 *
 * @param model layers and compute times
 * @param bucket cap of a gradient bucket, bytes; see MakeGradientBuckets()
 * @param overlap whether buckets are reduced during the backward pass
 * @param byLayer whether the next forward pass waits at each layer for the bucket of its gradients
 *        only, updates its parameters, and goes on. Of waiting buckets the one that is needed first
 *        is reduced next; one in progress is not interrupted (ByteScheduler, Peng et al., SOSP
 *        2019)
 * @param gradientBytes size of a gradient on the network, bytes
 * @return the steps of a rank
 */
TrainingTask MakeDataParallelTask(const LayeredModel& model,
                                  uint64_t bucket,
                                  bool overlap,
                                  bool byLayer = false,
                                  uint32_t gradientBytes = DEFAULT_GRADIENT_BYTES);

/**
 * @ingroup distributed-training-job
 * @param workload `NAME`, `NAME:key=value,...`, or the path of a CSV file, short for `file:PATH`
 * @param request inputs of the task
 * @return the steps of a rank
 * @throw ConfigurationError if the workload is unknown, its file is malformed, or a value is out
 *        of range
 */
TrainingTask MakeTrainingTask(const std::string& workload, WorkloadRequest request);

/**
 * @ingroup distributed-training-job
 * @param name of a model
 * @param layers its layers, in forward order
 * @param request inputs of the task
 * @return the steps of a rank that trains it data parallel
 * @throw ConfigurationError if a value is out of range
 */
TrainingTask MakeTrainingTask(const std::string& name,
                              const std::vector<LayerShape>& layers,
                              const WorkloadRequest& request);

/**
 * @ingroup distributed-training-job
 * @param workload as for MakeTrainingTask(); must have a model
 * @param batch samples per rank and iteration; ignored for a CSV file, which has times per
 *        iteration
 * @param computeScale factor of all compute times: 0.5 is a rank twice as fast
 * @param gpu name of a GpuEntry
 * @return the layers with compute times
 * @throw ConfigurationError as MakeTrainingTask(), or if the workload has no model
 */
LayeredModel LoadModel(const std::string& workload,
                       uint64_t batch,
                       double computeScale,
                       const std::string& gpu = DEFAULT_GPU);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_WORKLOAD_H
