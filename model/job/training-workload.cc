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

/** @return task of a model, with its description; `on` names the GPU of its compute times */
TrainingTask
MakeModelTask(const LayeredModel& model, const WorkloadRequest& request, const std::string& on)
{
    TrainingTask task = MakeDataParallelTask(model,
                                             request.bucket,
                                             request.overlap,
                                             request.byLayer,
                                             request.gradientBytes);
    const bool isSmall = task.parameters < 100000;
    std::array<char, 80> text{};
    std::snprintf(text.data(),
                  text.size(),
                  " (%.1f %s parameters, %zu buckets), batch %llu",
                  static_cast<double>(task.parameters) * (isSmall ? 1e-3 : 1e-6),
                  isSmall ? "k" : "M",
                  task.collectives.size(),
                  static_cast<unsigned long long>(request.batch));
    task.description = task.name + text.data() + on;
    return task;
}

/** @return the first and last layer with gradients in a bucket, in forward order */
std::string
NameLayers(const LayeredModel& model, const GradientBucket& bucket)
{
    std::vector<std::string> names; // in backward order
    for (uint32_t layer : bucket.layers)
    {
        if (model.layers[layer].parameters > 0)
        {
            names.push_back(model.layers[layer].name);
        }
    }
    return names.size() == 1 ? names[0] : names.back() + " to " + names[0];
}

/** The forward pass, whose layers wait for the gradients of the iteration before. */
void
AddForwardByLayer(TrainingTask& task,
                  const LayeredModel& model,
                  const std::vector<GradientBucket>& buckets)
{
    uint64_t bytes = 0;
    for (const GradientBucket& bucket : buckets)
    {
        bytes += bucket.bytes;
    }
    // The last bucket has the first layers. No layer of a bucket comes before readyLayer, unless it
    // has no parameters.
    auto next = static_cast<uint32_t>(buckets.size());
    uint64_t applied = 0;
    const auto getUpdate = [&](uint64_t part) {
        return RoundToPicoseconds(model.update.GetSeconds() * static_cast<double>(part) /
                                  static_cast<double>(bytes));
    };
    Time forward;
    for (uint32_t layer = 0; layer < model.layers.size(); layer++)
    {
        if (next > 0 && buckets[next - 1].readyLayer == layer)
        {
            next--;
            if (forward > Time())
            {
                task.Compute(forward);
                forward = Time();
            }
            const uint64_t sum = applied + buckets[next].bytes;
            task.Apply(next, getUpdate(sum) - getUpdate(applied));
            applied = sum;
        }
        forward += model.layers[layer].forward;
    }
    task.Compute(forward, "forward");
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

TrainingTask
MakeDataParallelTask(const LayeredModel& model,
                     uint64_t bucket,
                     bool overlap,
                     bool byLayer,
                     uint32_t gradientBytes)
{
    TrainingTask task;
    task.name = model.name;
    task.parameters = model.GetParameters();
    task.times = model.times;
    const Time backward = model.GetBackwardTime();
    // Time from the start of the backward pass to the end of each layer's backward pass.
    std::vector<Time> readyAt(model.layers.size());
    Time passed;
    for (std::size_t layer = model.layers.size(); layer-- > 0;)
    {
        passed += model.layers[layer].backward;
        readyAt[layer] = passed;
    }
    const auto buckets = MakeGradientBuckets(model.layers, bucket, gradientBytes);
    if (byLayer)
    {
        task.communicators[0].byPriority = true;
        AddForwardByLayer(task, model, buckets);
    }
    else
    {
        task.Compute(model.GetForwardTime(), "forward");
    }
    passed = Time();
    const auto advance = [&](Time to) {
        if (to > passed)
        {
            task.Compute(to - passed, to == backward ? "backward" : "");
            passed = to;
        }
    };
    for (const GradientBucket& gradients : buckets)
    {
        advance(overlap ? readyAt.at(gradients.readyLayer) : backward);
        TaskCollective sum;
        sum.bytes = gradients.bytes;
        sum.layers = NameLayers(model, gradients);
        // The last bucket is needed first, in the next forward pass.
        sum.priority = static_cast<int32_t>(task.collectives.size());
        task.Start(sum);
    }
    advance(backward);
    if (byLayer)
    {
        return task;
    }
    for (uint32_t sum = 0; sum < task.collectives.size(); sum++)
    {
        task.Wait(sum);
    }
    task.Compute(model.update, "update");
    return task;
}

TrainingTask
MakeTrainingTask(const std::string& workload, WorkloadRequest request)
{
    const Choice<WorkloadEntry> choice = ChooseWorkload(workload);
    request.values = choice.values;
    CheckBatch(request.batch);
    if (choice.entry->task)
    {
        if (request.byLayer)
        {
            throw ConfigurationError("gradient priority",
                                     "layer",
                                     " with workload " + workload +
                                         " (allowed: with workloads whose layers are trained data "
                                         "parallel)");
        }
        if (request.gradientBytes != DEFAULT_GRADIENT_BYTES)
        {
            throw ConfigurationError("gradient bytes",
                                     std::to_string(request.gradientBytes),
                                     " with workload " + workload +
                                         " (allowed: 4, or workloads whose layers are trained data "
                                         "parallel)");
        }
        return choice.entry->task(request);
    }
    return MakeModelTask(MakeModel(*choice.entry, request),
                         request,
                         choice.entry->layers.empty() ? "" : " on " + request.gpu);
}

TrainingTask
MakeTrainingTask(const std::string& name,
                 const std::vector<LayerShape>& layers,
                 const WorkloadRequest& request)
{
    CheckBatch(request.batch);
    LayeredModel model = ApplyComputeModel(name, layers, request.batch, request.gpu);
    ScaleModel(model, request.computeScale, request.gpu);
    return MakeModelTask(model, request, " on " + request.gpu);
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
