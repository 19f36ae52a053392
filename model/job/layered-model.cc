/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "layered-model.h"

#include "training-gpu.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"

#include <cmath>

namespace ns3::training
{

namespace
{

/** Maximum compute time of an iteration, s: leaves room in ns-3's 64 bits of picoseconds. */
constexpr double MAX_ITERATION = 1e6;
/** Size of a number that a layer reads or writes: FP16 or BF16. */
constexpr double ELEMENT_BYTES = 2;
/** Bytes moved per parameter by SGD: reads of weight and gradient, write of the weight. */
constexpr double UPDATE_BYTES = 12;

} // namespace

uint64_t
LayeredModel::GetParameters() const
{
    uint64_t sum = 0;
    for (const auto& layer : layers)
    {
        sum += layer.parameters;
    }
    return sum;
}

uint64_t
LayeredModel::GetGradientBytes() const
{
    return 4 * GetParameters();
}

Time
LayeredModel::GetForwardTime() const
{
    Time sum{0};
    for (const auto& layer : layers)
    {
        sum += layer.forward;
    }
    return sum;
}

Time
LayeredModel::GetBackwardTime() const
{
    Time sum{0};
    for (const auto& layer : layers)
    {
        sum += layer.backward;
    }
    return sum;
}

Time
LayeredModel::GetComputeTime() const
{
    return GetForwardTime() + GetBackwardTime() + update;
}

Time
RoundToPicoseconds(double seconds)
{
    return PicoSeconds(std::llround(seconds * 1e12));
}

LayeredModel
ApplyComputeModel(const std::string& name,
                  const std::vector<LayerShape>& shapes,
                  uint64_t batch,
                  const std::string& gpu)
{
    const GpuEntry& entry = Registry<GpuEntry>::Find(gpu);
    const double secondsPerElement = ELEMENT_BYTES / entry.memoryBandwidth;
    // Of forward and backward pass of one sample.
    double operations = 0;
    double memorySeconds = 0;
    for (const LayerShape& shape : shapes)
    {
        const int passes = &shape == &shapes.front() ? 2 : 3;
        operations += 2.0 * passes * static_cast<double>(shape.forwardMacs);
        memorySeconds +=
            static_cast<double>(shape.forwardElements + shape.backwardElements) * secondsPerElement;
    }
    const MeasuredThroughput* measured = entry.Find(name);
    if (measured && memorySeconds * measured->samplesPerSecond >= 1)
    {
        throw ConfigurationError("GPU " + gpu + ": " + FormatDouble(measured->samplesPerSecond) +
                                 " samples/s of " + name +
                                 " (allowed: less than its memory bandwidth permits, " +
                                 FormatDouble(1 / memorySeconds) + ")");
    }
    const double rate = measured ? operations / (1 / measured->samplesPerSecond - memorySeconds)
                                 : entry.peak * entry.efficiency;
    LayeredModel model;
    model.name = name;
    model.times = gpu + (measured ? ", " + FormatDouble(std::round(measured->samplesPerSecond)) +
                                        " samples/s (" + measured->source + ")"
                                  : ", an estimate: no measurement of " + name);
    const auto samples = static_cast<double>(batch);
    for (const LayerShape& shape : shapes)
    {
        const double product = 2.0 * static_cast<double>(shape.forwardMacs) / rate;
        const int products = &shape == &shapes.front() ? 1 : 2;
        const auto memory = [&](uint64_t elements) {
            return static_cast<double>(elements) * secondsPerElement;
        };
        model.layers.push_back(
            {shape.name,
             shape.parameters,
             RoundToPicoseconds(samples * (product + memory(shape.forwardElements))),
             RoundToPicoseconds(samples * (products * product + memory(shape.backwardElements)))});
    }
    return model;
}

void
CheckComputeTime(const std::string& name, double compute, double scale)
{
    if (!(scale >= 0 && std::isfinite(scale)))
    {
        throw ConfigurationError("compute scale",
                                 FormatDouble(scale),
                                 " (allowed: finite numbers from 0)");
    }
    if (compute * scale > MAX_ITERATION)
    {
        throw ConfigurationError("workload",
                                 name,
                                 " with compute scale " + FormatDouble(scale) + " computes for " +
                                     FormatDouble(compute * scale) +
                                     " s in an iteration (allowed: up to 1000000 s)");
    }
}

void
ScaleModel(LayeredModel& model, double scale, const std::string& gpu)
{
    const double update = static_cast<double>(model.GetParameters()) * UPDATE_BYTES /
                          Registry<GpuEntry>::Find(gpu).memoryBandwidth;
    const Time unscaled = model.GetForwardTime() + model.GetBackwardTime();
    CheckComputeTime(model.name, unscaled.GetSeconds() + update, scale);
    model.update = RoundToPicoseconds(update * scale);
    if (scale != 1)
    {
        for (Layer& layer : model.layers)
        {
            layer.forward = RoundToPicoseconds(layer.forward.GetSeconds() * scale);
            layer.backward = RoundToPicoseconds(layer.backward.GetSeconds() * scale);
        }
    }
}

} // namespace ns3::training
