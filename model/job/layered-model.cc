/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "layered-model.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"

#include <cmath>

namespace ns3::training
{

namespace
{

/** Maximum compute time of an iteration, s: leaves room in ns-3's 64 bits of picoseconds. */
constexpr double MAX_ITERATION = 1e6;

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
ApplyComputeModel(const std::string& name, const std::vector<LayerShape>& shapes, uint64_t batch)
{
    LayeredModel model;
    model.name = name;
    for (const LayerShape& shape : shapes)
    {
        const double forward = 2.0 * static_cast<double>(shape.forwardMacs) *
                               static_cast<double>(batch) / ComputeModel::THROUGHPUT;
        model.layers.push_back({shape.name,
                                shape.parameters,
                                RoundToPicoseconds(forward),
                                RoundToPicoseconds(ComputeModel::BACKWARD_FACTOR * forward)});
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
ScaleModel(LayeredModel& model, double scale)
{
    const double update = static_cast<double>(model.GetParameters()) * ComputeModel::UPDATE_BYTES /
                          ComputeModel::MEMORY_BANDWIDTH;
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
