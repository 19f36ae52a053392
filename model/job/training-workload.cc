/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-workload.h"

#include "ns3/training-configuration-error.h"

#include <array>
#include <cstdio>
#include <unistd.h>

namespace ns3::training
{

namespace
{

/** @return the chosen workload; a path is short for file:PATH */
Choice<WorkloadEntry>
ChooseWorkload(const std::string& text)
{
    const std::string name = KeyValues::Split(text).GetName();
    if (Registry<WorkloadEntry>::All().count(name) > 0)
    {
        return Choose<WorkloadEntry>(text);
    }
    if (!text.empty() && access(text.c_str(), R_OK) == 0)
    {
        return Choose<WorkloadEntry>("file:" + text);
    }
    throw ConfigurationError("workload",
                             text,
                             " (allowed: " + Registry<WorkloadEntry>::Names() +
                                 ", or a CSV file that can be read)");
}

/** @return layers and compute times of a workload with a model */
LayeredModel
MakeModel(const WorkloadEntry& entry, const WorkloadRequest& request)
{
    LayeredModel model = entry.model(request);
    ScaleModel(model, request.computeScale, request.gpu);
    return model;
}

/** @return job of a model; `on` names the GPU of its compute times */
Workload
MakeModelJob(const LayeredModel& model, const WorkloadRequest& request, const std::string& on)
{
    Workload job;
    job.name = model.name;
    job.times = model.times;
    job.parameters = model.GetParameters();
    job.buckets = std::make_shared<const BucketGraph>(model, request.buckets, request.ranks);
    job.graph = job.buckets;
    const bool isSmall = job.parameters < 100000;
    std::array<char, 80> text{};
    std::snprintf(text.data(),
                  text.size(),
                  " (%.1f %s parameters, %zu buckets), batch %llu",
                  static_cast<double>(job.parameters) * (isSmall ? 1e-3 : 1e-6),
                  isSmall ? "k" : "M",
                  job.buckets->GetBuckets().size(),
                  static_cast<unsigned long long>(request.batch));
    job.description = job.name + text.data() + on;
    return job;
}

void
CheckBatch(uint64_t batch)
{
    if (batch == 0 || batch > MAX_BATCH)
    {
        throw ConfigurationError("batch",
                                 std::to_string(batch),
                                 " (allowed: 1 to " + std::to_string(MAX_BATCH) + ")");
    }
}

} // namespace

WorkloadEntry
MakeModelWorkload(const std::string& help, const std::vector<LayerShape>& layers)
{
    WorkloadEntry entry;
    entry.help = help;
    entry.layers = layers;
    entry.model = [layers](const WorkloadRequest& request) {
        return ApplyComputeModel(request.values.GetName(), layers, request.batch, request.gpu);
    };
    return entry;
}

Workload
MakeWorkload(const std::string& workload, WorkloadRequest request)
{
    const Choice<WorkloadEntry> choice = ChooseWorkload(workload);
    request.values = choice.values;
    CheckBatch(request.batch);
    if (choice.entry->job)
    {
        if (request.buckets.byLayer)
        {
            throw ConfigurationError("gradient priority",
                                     "layer",
                                     " with workload " + workload +
                                         " (allowed: with workloads whose layers are trained data "
                                         "parallel)");
        }
        if (request.buckets.gradientBytes != DEFAULT_GRADIENT_BYTES)
        {
            throw ConfigurationError("gradient bytes",
                                     std::to_string(request.buckets.gradientBytes),
                                     " with workload " + workload +
                                         " (allowed: 4, or workloads whose layers are trained data "
                                         "parallel)");
        }
        return choice.entry->job(request);
    }
    return MakeModelJob(MakeModel(*choice.entry, request),
                        request,
                        choice.entry->layers.empty() ? "" : " on " + request.gpu);
}

Workload
MakeWorkload(const std::string& name,
             const std::vector<LayerShape>& layers,
             const WorkloadRequest& request)
{
    CheckBatch(request.batch);
    LayeredModel model = ApplyComputeModel(name, layers, request.batch, request.gpu);
    ScaleModel(model, request.computeScale, request.gpu);
    return MakeModelJob(model, request, " on " + request.gpu);
}

LayeredModel
LoadModel(const std::string& workload, uint64_t batch, double computeScale, const std::string& gpu)
{
    const Choice<WorkloadEntry> choice = ChooseWorkload(workload);
    if (!choice.entry->model)
    {
        std::string able;
        for (const auto& [name, entry] : Registry<WorkloadEntry>::All())
        {
            able += !entry.model ? "" : (able.empty() ? "" : ", ") + name;
        }
        throw ConfigurationError("workload",
                                 workload,
                                 " is no model of layers (allowed: " + able + ")");
    }
    CheckBatch(batch);
    WorkloadRequest request;
    request.values = choice.values;
    request.batch = batch;
    request.computeScale = computeScale;
    request.gpu = gpu;
    return MakeModel(*choice.entry, request);
}

} // namespace ns3::training
