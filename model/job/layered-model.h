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
    std::string times;         ///< source of the compute times, one line

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
 * One layer of a built-in model: properties of the architecture only. Layers without
 * multiply-accumulates, such as batch norms, and operations on single elements, such as ReLU, take
 * the time in which memory delivers and accepts their numbers.
 */
struct LayerShape
{
    std::string name;             ///< its name in the model
    uint64_t parameters{0};       ///< trainable parameters
    uint64_t forwardMacs{0};      ///< multiply-accumulates of the forward pass, per sample
    uint64_t forwardElements{0};  ///< numbers read and written by the rest of it, per sample
    uint64_t backwardElements{0}; ///< the same of the backward pass
};

/**
 * @ingroup distributed-training-job
 *
 * Derives compute times (an input, not a measurement) from a GPU. Numbers that are read and written
 * have 2 bytes, at the GPU's memory bandwidth. Matrix products take twice their
 * multiply-accumulates, divided by a rate; the backward pass takes the same for the gradients of
 * weights, and again for those of inputs, which the first layer does not need. If the model was
 * measured on the GPU, the rate is that with which forward and backward pass take the measured time
 * per sample. Otherwise it is the GPU's peak times its efficiency.
 *
 * @param name of the model
 * @param shapes its layers
 * @param batch samples per rank and iteration
 * @param gpu name of a GpuEntry
 * @return the model, without update
 * @throw ConfigurationError if the GPU is unknown
 */
LayeredModel ApplyComputeModel(const std::string& name,
                               const std::vector<LayerShape>& shapes,
                               uint64_t batch,
                               const std::string& gpu);

/**
 * @ingroup distributed-training-job
 *
 * Adds the time of the update: SGD reads weight and gradient and writes the weight, 12 bytes per
 * parameter at the GPU's memory bandwidth. Then multiplies all times.
 *
 * @param model to change
 * @param scale factor, not negative: 0.5 is a rank twice as fast
 * @param gpu name of a GpuEntry
 * @throw ConfigurationError if a value is invalid, or an iteration is too long to simulate
 */
void ScaleModel(LayeredModel& model, double scale, const std::string& gpu);

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
