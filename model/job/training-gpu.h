/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_GPU_H
#define DISTRIBUTED_TRAINING_GPU_H

#include "ns3/training-registry.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ns3::training
{

/// GPU of a rank, unless another one is chosen. @ingroup distributed-training-job
constexpr const char* DEFAULT_GPU = "a100";

/**
 * @ingroup distributed-training-job
 *
 * Published throughput of training one model on one GPU, in mixed precision.
 */
struct MeasuredThroughput
{
    std::string model;          ///< name of the workload
    double samplesPerSecond{0}; ///< images or sequences per second
    uint64_t batch{0};          ///< samples per step of the measurement
    std::string source;         ///< who measured it, with what
};

/**
 * @ingroup distributed-training-job
 *
 * Matrix products of a GPU in a number format.
 */
struct ProductRate
{
    double peak{0};      ///< dense products, floating-point operations/s
    double part{0};      ///< part of it that large transformers reach, see GpuEntry::transformers
    double reached{0.8}; ///< part of it that the best shapes of products reach
    double trained{0.8}; ///< part of their rooflines that large transformers reach
};

/**
 * @ingroup distributed-training-job
 *
 * A GPU, from which compute times of built-in models are derived, see ApplyComputeModel(). It
 * registers itself by Registry<GpuEntry>; those of the module are in one table, gpu-table.cc.
 */
struct GpuEntry
{
    static constexpr const char* KIND = "GPU"; ///< for messages
    std::string help;                          ///< one line
    double peak{0};            ///< dense FP16 products on tensor cores, floating-point operations/s
    double memoryBandwidth{0}; ///< byte/s
    /// Part of the peak that matrix products of models without a measurement reach, 0 to 1.
    double efficiency{0};
    std::vector<MeasuredThroughput> measured;     ///< published throughputs
    std::map<std::string, ProductRate> formats{}; ///< other formats: fp8, fp4
    /// Part of the peak that large transformers reach, without bubbles and communication, as one
    /// factor for all their operators; 0: `efficiency`.
    double transformers{0};
    uint64_t memoryBytes{0};        ///< capacity of its memory; 0: not known
    uint32_t multiprocessors{0};    ///< that share the tiles of a product; 0: not known
    double reached{0.8};            ///< part of `peak` that the best shapes of products reach
    double attention{0.65};         ///< part of `peak` that FlashAttention reaches, heads of 128
    double attentionBackward{0.57}; ///< likewise in its backward pass
    /// Part of the rooflines of their operators that large transformers reach, without bubbles and
    /// communication, see OperatorTimes.
    double trained{0.8};

    /**
     * @param model name of a workload
     * @return its measurement, or null
     */
    const MeasuredThroughput* Find(const std::string& model) const;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_GPU_H
