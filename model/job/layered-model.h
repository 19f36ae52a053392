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
 * One layer of a model as a training job sees it: how long it computes, how many gradients result.
 */
struct Layer
{
    std::string name;       ///< its name in the model
    uint64_t parameters{0}; ///< trained numbers, and so gradients
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
 * A model of layers with its compute times at one rank. The times are inputs of the simulation.
 */
struct LayeredModel
{
    std::string name;          ///< built-in name, or the file it was read from
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
 * One layer of a built-in model: pure numbers of the architecture.
 */
struct LayerShape
{
    std::string name;        ///< its name in the model
    uint64_t parameters{0};  ///< trained numbers
    uint64_t forwardMacs{0}; ///< multiply-accumulates of the forward pass, per sample
};

/**
 * @ingroup distributed-training-job
 *
 * The stated model of compute time of built-in workloads (an input, not a measurement): a layer's
 * forward pass takes 2 * MACs * batch / THROUGHPUT seconds, its backward pass twice that (gradients
 * of its inputs and of its weights), a layer without multiply-accumulates no time; the update takes
 * parameters * UPDATE_BYTES / MEMORY_BANDWIDTH seconds.
 */
struct ComputeModel
{
    /**
     * Sustained floating point operations per second of one rank. 60e12 is about an A100 in mixed
     * precision: it gives ResNet-50 2450 images/s.
     */
    static constexpr double THROUGHPUT = 60e12;
    /** Backward time divided by forward time. */
    static constexpr double BACKWARD_FACTOR = 2;
    /** Memory bandwidth of one rank, byte/s (A100: 1.5e12). */
    static constexpr double MEMORY_BANDWIDTH = 1.5e12;
    /** Bytes moved per parameter by stochastic gradient descent: read weight, gradient; write. */
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
 * @param model gets the update time of ComputeModel, then all its times are multiplied
 * @param scale factor, not negative: 0.5 is a rank twice as fast
 * @throw ConfigurationError if the factor is not allowed, or an iteration is too long to simulate
 */
void ScaleModel(LayeredModel& model, double scale);

/**
 * @ingroup distributed-training-job
 * @param name of the workload, for messages
 * @param compute time of an iteration before scaling
 * @param scale factor of compute times
 * @throw ConfigurationError if the factor is not allowed, or an iteration is too long to simulate
 */
void CheckComputeTime(const std::string& name, double compute, double scale);

/**
 * @ingroup distributed-training-job
 * @param seconds a time, not above the longest iteration
 * @return the same, rounded to whole picoseconds
 */
Time RoundToPicoseconds(double seconds);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_LAYERED_MODEL_H
