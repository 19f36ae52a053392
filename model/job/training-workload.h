/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_WORKLOAD_H
#define DISTRIBUTED_TRAINING_WORKLOAD_H

#include "bucket-graph.h"
#include "layered-model.h"
#include "training-gpu.h"

#include "ns3/training-key-values.h"
#include "ns3/training-registry.h"

#include <cstdint>
#include <functional>
#include <memory>
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
 * Inputs of a workload.
 */
struct WorkloadRequest
{
    uint64_t batch{32};           ///< samples per rank and iteration
    std::string gpu{DEFAULT_GPU}; ///< GPU of each rank, a GpuEntry
    double computeScale{1};       ///< factor of all compute times
    BucketOptions buckets;        ///< data parallel: how gradients are summed
    uint32_t ranks{1};            ///< number of ranks
    uint32_t serverRanks{1};      ///< ranks per server or package of the topology
    KeyValues values;             ///< keys of the workload; set by MakeWorkload()
};

/**
 * @ingroup distributed-training-job
 *
 * The job of a workload.
 */
struct Workload
{
    std::string name;                           ///< of the workload
    std::string description;                    ///< one line
    std::string times;                          ///< source of its compute times
    uint64_t parameters{0};                     ///< trainable parameters; 0: unknown
    std::shared_ptr<const TaskGraph> graph;     ///< what its ranks do
    std::shared_ptr<const BucketGraph> buckets; ///< the graph, if it is data parallel; or null
};

/**
 * @ingroup distributed-training-job
 *
 * A workload, registered next to its layer table, one file per model. It provides either a model to
 * train data parallel, or a job of its own.
 */
struct WorkloadEntry
{
    static constexpr const char* KIND = "workload"; ///< for messages
    std::string help;                               ///< description, one line
    std::vector<Key> keys;                          ///< its keys
    std::optional<FirstValue> first;                ///< positional value without a key, or none
    std::vector<LayerShape> layers;                 ///< of a built-in model, in forward order
    /// Layers with compute times, unscaled and without update; empty if there is a job.
    std::function<LayeredModel(const WorkloadRequest& request)> model;
    /// Creates the job; empty if there is a model.
    std::function<Workload(const WorkloadRequest& request)> job;
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
 * @param workload `NAME`, `NAME:key=value,...`, or the path of a CSV file, short for `file:PATH`
 * @param request its inputs
 * @return its job
 * @throw ConfigurationError if the workload is unknown, its file is malformed, or a value is out
 *        of range
 */
Workload MakeWorkload(const std::string& workload, WorkloadRequest request);

/**
 * @ingroup distributed-training-job
 * @param name of a model
 * @param layers its layers, in forward order
 * @param request inputs of the workload
 * @return a job that trains it data parallel
 * @throw ConfigurationError if a value is out of range
 */
Workload MakeWorkload(const std::string& name,
                      const std::vector<LayerShape>& layers,
                      const WorkloadRequest& request);

/**
 * @ingroup distributed-training-job
 * @param workload as for MakeWorkload(); must have a model
 * @param batch samples per rank and iteration; ignored for a CSV file, which has times per
 *        iteration
 * @param computeScale factor of all compute times: 0.5 is a rank twice as fast
 * @param gpu name of a GpuEntry
 * @return the layers with compute times
 * @throw ConfigurationError as MakeWorkload(), or if the workload has no model
 */
LayeredModel LoadModel(const std::string& workload,
                       uint64_t batch,
                       double computeScale,
                       const std::string& gpu = DEFAULT_GPU);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_WORKLOAD_H
