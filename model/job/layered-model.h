/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_LAYERED_MODEL_H
#define DISTRIBUTED_TRAINING_LAYERED_MODEL_H

#include "ns3/nstime.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-job
 *
 * One layer of a model in a training job: its compute times and its number of gradients.
 */
struct Layer
{
    std::string name;       ///< its name in the model
    uint64_t parameters{0}; ///< trainable parameters, equal to its gradients
    Time forward;           ///< time of the forward pass through it, one iteration, one rank
    Time backward;          ///< time of the backward pass through it, one iteration, one rank

    /** @return size of its gradients in float32, bytes */
    uint64_t GetGradientBytes() const
    {
        return 4 * parameters;
    }
};

/**
 * @ingroup distributed-training-job
 *
 * A layered model with its compute times at one rank. The times are inputs of the simulation.
 */
struct LayeredModel
{
    std::string name;          ///< built-in name, or path of its file
    std::vector<Layer> layers; ///< in forward order
    Time update;               ///< time to apply the summed gradients to all parameters

    /** @return number of parameters of all layers */
    uint64_t GetParameters() const;
    /** @return size of the gradients of all layers in float32, bytes */
    uint64_t GetGradientBytes() const;
    /** @return time of the forward pass through all layers */
    Time GetForwardTime() const;
    /** @return time of the backward pass through all layers */
    Time GetBackwardTime() const;
    /** @return compute time of an iteration: forward, backward and update */
    Time GetComputeTime() const;
};

/**
 * @ingroup distributed-training-job
 *
 * One layer of a built-in model: properties of the architecture only.
 */
struct LayerShape
{
    std::string name;        ///< its name in the model
    uint64_t parameters{0};  ///< trainable parameters
    uint64_t forwardMacs{0}; ///< multiply-accumulates of the forward pass, per sample
};

/**
 * @ingroup distributed-training-job
 *
 * Assumptions on compute time of built-in workloads (an input, not a measurement). The forward pass
 * of a layer takes 2 * MACs * batch / THROUGHPUT seconds, its backward pass twice that (gradients
 * of inputs and of weights). A layer without multiply-accumulates takes no time. The update takes
 * parameters * UPDATE_BYTES / MEMORY_BANDWIDTH seconds.
 */
struct ComputeModel
{
    /**
     * Sustained floating-point operations per second of one rank. 60e12 is about an A100 in mixed
     * precision: 2450 images/s for ResNet-50.
     */
    static constexpr double THROUGHPUT = 60e12;
    /** Backward time divided by forward time. */
    static constexpr double BACKWARD_FACTOR = 2;
    /** Memory bandwidth of one rank, byte/s (A100: 1.5e12). */
    static constexpr double MEMORY_BANDWIDTH = 1.5e12;
    /** Bytes moved per parameter by SGD: reads of weight and gradient, write of the weight. */
    static constexpr double UPDATE_BYTES = 12;
};

/**
 * @ingroup distributed-training-job
 * @param name of the model
 * @param shapes its layers
 * @param batch samples per rank and iteration
 * @return the model with the times of ComputeModel, without update
 */
LayeredModel ApplyComputeModel(const std::string& name,
                               const std::vector<LayerShape>& shapes,
                               uint64_t batch);

/**
 * @ingroup distributed-training-job
 * @param model receives the update time of ComputeModel; then all its times are multiplied
 * @param scale factor, not negative: 0.5 is a rank twice as fast
 * @throw ConfigurationError if the factor is invalid, or an iteration is too long to simulate
 */
void ScaleModel(LayeredModel& model, double scale);

/**
 * @ingroup distributed-training-job
 * @param name of the workload, for messages
 * @param compute time of an iteration before scaling
 * @param scale factor of compute times
 * @throw ConfigurationError if the factor is invalid, or an iteration is too long to simulate
 */
void CheckComputeTime(const std::string& name, double compute, double scale);

/**
 * @ingroup distributed-training-job
 * @param seconds a time, at most the maximum iteration
 * @return the same, rounded to whole picoseconds
 */
Time RoundToPicoseconds(double seconds);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_LAYERED_MODEL_H
