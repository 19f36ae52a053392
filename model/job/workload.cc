/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "workload.h"

#include "workload-file.h"

#include "ns3/configuration-error.h"
#include "ns3/log.h"
#include "ns3/quantity.h"

#include <cmath>
#include <fstream>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingWorkload");

namespace
{

/** Longest compute time of an iteration, seconds: leaves ns-3's 64 bits of picoseconds room. */
constexpr double LONGEST_ITERATION = 1e6;

/**
 * @param seconds a time not above LONGEST_ITERATION
 * @return the same, rounded to whole picoseconds
 */
Time
FromSeconds(double seconds)
{
    return PicoSeconds(std::llround(seconds * 1e12));
}

/**
 * @param name the workload's name
 * @param shapes its layers
 * @param batch samples per iteration
 * @return the workload with the times of ComputeModel
 */
Workload
ApplyComputeModel(const std::string& name, const std::vector<LayerShape>& shapes, uint32_t batch)
{
    Workload workload;
    workload.name = name;
    for (const auto& shape : shapes)
    {
        const double forward =
            2.0 * static_cast<double>(shape.forwardMacs) * batch / ComputeModel::THROUGHPUT;
        workload.layers.push_back({shape.name,
                                   shape.parameters,
                                   FromSeconds(forward),
                                   FromSeconds(ComputeModel::BACKWARD_FACTOR * forward)});
    }
    return workload;
}

} // namespace

uint64_t
Workload::GetParameters() const
{
    uint64_t sum = 0;
    for (const auto& layer : layers)
    {
        sum += layer.parameters;
    }
    return sum;
}

uint64_t
Workload::GetGradientBytes() const
{
    return 4 * GetParameters();
}

Time
Workload::GetForwardTime() const
{
    Time sum{0};
    for (const auto& layer : layers)
    {
        sum += layer.forward;
    }
    return sum;
}

Time
Workload::GetBackwardTime() const
{
    Time sum{0};
    for (const auto& layer : layers)
    {
        sum += layer.backward;
    }
    return sum;
}

Time
Workload::GetComputeTime() const
{
    return GetForwardTime() + GetBackwardTime() + update;
}

Workload
LoadWorkload(const std::string& nameOrCsvPath, uint32_t batch, double computeScale)
{
    NS_LOG_FUNCTION(nameOrCsvPath << batch << computeScale);
    // Bounds that keep every product below within a double's and a Time's range.
    constexpr uint32_t LARGEST_BATCH = 1U << 24;
    if (batch == 0 || batch > LARGEST_BATCH)
    {
        throw ConfigurationError("batch " + std::to_string(batch) +
                                 " (allowed: whole numbers from 1 to " +
                                 std::to_string(LARGEST_BATCH) + ")");
    }
    if (!(computeScale >= 0 && std::isfinite(computeScale)))
    {
        throw ConfigurationError("compute scale " + std::to_string(computeScale) +
                                 " (allowed: finite numbers from 0)");
    }

    Workload workload;
    const auto& builtIn = Registry<WorkloadEntry>::All();
    const auto found = builtIn.find(nameOrCsvPath);
    if (found != builtIn.end())
    {
        workload = ApplyComputeModel(nameOrCsvPath, found->second.layers, batch);
    }
    else
    {
        if (nameOrCsvPath.empty() || !std::ifstream(nameOrCsvPath))
        {
            throw ConfigurationError("workload '" + nameOrCsvPath +
                                     "' (allowed: " + Registry<WorkloadEntry>::Names() +
                                     ", or a CSV file that can be read)");
        }
        workload = ReadWorkloadFile(nameOrCsvPath);
    }

    const double update = static_cast<double>(workload.GetParameters()) *
                          ComputeModel::UPDATE_BYTES / ComputeModel::MEMORY_BANDWIDTH;
    const Time unscaled = workload.GetForwardTime() + workload.GetBackwardTime();
    if ((unscaled.GetSeconds() + update) * computeScale > LONGEST_ITERATION)
    {
        throw ConfigurationError("workload '" + nameOrCsvPath + "' with batch " +
                                 std::to_string(batch) + " and compute scale " +
                                 FormatDouble(computeScale) +
                                 " computes longer than the 1000000 s allowed for an iteration");
    }
    workload.update = FromSeconds(update * computeScale);
    if (computeScale != 1)
    {
        for (auto& layer : workload.layers)
        {
            layer.forward = FromSeconds(layer.forward.GetSeconds() * computeScale);
            layer.backward = FromSeconds(layer.backward.GetSeconds() * computeScale);
        }
    }
    return workload;
}

} // namespace ns3::training
