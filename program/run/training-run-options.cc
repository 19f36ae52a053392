/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "training-run-options.h"

#include "formats/workload-format.h"

#include "ns3/cluster-plan.h"
#include "ns3/collective-algorithm.h"
#include "ns3/gradient-source.h"
#include "ns3/in-network-system.h"
#include "ns3/iteration-record.h"
#include "ns3/nic-algorithm.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-jitter.h"
#include "ns3/training-processes.h"
#include "ns3/training-quantity.h"
#include "ns3/training-workload.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace ns3::training
{

namespace
{

/// Maximum factor of a slow rank's compute times.
constexpr double MAX_SLOWDOWN = 1000;

/** @throw ConfigurationError if a number is out of range */
void
CheckRange(const std::string& field, uint64_t value, uint64_t min, uint64_t max)
{
    if (value < min || value > max)
    {
        throw ConfigurationError(field,
                                 std::to_string(value),
                                 " (allowed: " + std::to_string(min) + " to " +
                                     std::to_string(max) + ")");
    }
}

} // namespace

void
TrainingRunOptions::AddWorkloadTo(ProgramOptions& options)
{
    options.AddKind(
        "workload",
        "workload",
        "training that is simulated",
        workload,
        &DescribeAlternatives<WorkloadEntry>,
        "the path of a file: CSV, short for file:PATH, or a trace of a format that doc/formats.rst "
        "lists, also as FORMAT:PATH,key=value; auto: the model of --gradients if these learn one, "
        "otherwise resnet50");
    options.AddBool("lenient",
                    "accept damaged traces: repair what can be repaired, and list the repairs",
                    lenient);
    options.AddUnsigned("batch", "samples per rank and iteration", batch, 1, MAX_BATCH);
    options.AddKind("gpu",
                    "gpu",
                    "GPU of each rank: compute times of built-in models, and of updates",
                    gpu,
                    &DescribeAlternatives<GpuEntry>);
    options.AddDouble("compute-scale", "factor of all compute times", computeScale, 0, 1e6);
    options.AddBytes("bucket", "gradients that are reduced together", bucket, 1);
    options.AddBool("overlap",
                    "whether a bucket is reduced while the backward pass goes on",
                    overlap);
    options.AddChoice("gradient-priority",
                      "layer: each layer of the next forward pass waits for its own gradients, and "
                      "those of the first layers go first; none: the update waits for all",
                      gradientPriority,
                      {"none", "layer"});
    options.AddKind(
        "compute-jitter",
        "jitter",
        "distribution of a factor of the compute times, drawn for each rank and iteration",
        computeJitter,
        &DescribeAlternatives<JitterEntry>);
    options.AddString("overlap-cost",
                      "what computations and NCCL's copies cost each other: "
                      "compute=FACTOR,copies=FACTOR or none; auto: as measured, with a host model "
                      "of NCCL and compute times that are not of a trace",
                      overlapCost);
    options.AddList("straggler",
                    "RANK:FACTOR: a rank whose compute times are longer by this factor, such as "
                    "3:1.5; may be repeated",
                    stragglers);
    options.AddUnsigned("iterations",
                        "iterations that are measured",
                        iterations,
                        1,
                        MAX_ITERATIONS);
    model.AddTo(options);
}

bool
IsTraceFile(const std::string& workload)
{
    const std::string name = workload.substr(0, workload.find(':'));
    return Registry<WorkloadFormatEntry>::All().count(name) > 0 ||
           (Registry<WorkloadEntry>::All().count(name) == 0 &&
            !FindWorkloadFormat(workload).empty());
}

std::string
TrainingRunOptions::GetAllToAll() const
{
    const std::string name = KeyValues::Split(cluster.algorithm).GetName();
    const auto& all = Registry<CollectiveAlgorithm>::All();
    const auto found = all.find(name);
    const auto able =
        found != all.end() ? found->second.operations : std::vector<CollectiveOperation>();
    const bool hasNone =
        !able.empty() &&
        std::find(able.begin(), able.end(), CollectiveOperation::ALL_TO_ALL) == able.end();
    const bool isRing = name == "ring" || name == "multi-ring" || IsInNetwork(name);
    return allToAll.empty() && (isRing || hasNone) && cluster.schedule.empty() ? "direct"
                                                                               : allToAll;
}

void
TrainingRunOptions::AddTo(ProgramOptions& options, ClusterCommandLine& clusterOptions)
{
    options.Group("Job");
    AddWorkloadTo(options);
    options.Group("Run");
    options.AddChoice("payload",
                      "virtual carries sizes, real carries gradients and checks every sum; auto: "
                      "real with other --gradients than hash",
                      payload,
                      {AUTOMATIC, "virtual", "real"});
    options.AddKind("gradients",
                    "source",
                    "numbers of a real payload",
                    gradients,
                    &DescribeAlternatives<GradientSourceEntry>);
    options.AddString(
        "all-to-all",
        "algorithm of the workload's all-to-alls; none: that of --collective, direct in "
        "place of a ring, or of one that has none",
        allToAll);
    options.AddChoice("repeat",
                      "simulate everything, or derive what repeats itself: the iterations after "
                      "one that did what an earlier one did and left the same state; and the "
                      "collectives of a group that shares no link with other traffic after two "
                      "that took the same time",
                      repeat,
                      {"simulate", "derive"});
    options.AddChoice("collectives",
                      "simulate all that --repeat=derive does not derive, or derive those of "
                      "groups in a server after two that took the same time, while the other "
                      "messages of the job leave their links alone",
                      collectives,
                      {"simulate", "derive"});
    options.AddChoice("replicas",
                      "simulate all, or derive those that are images of others under a shift of "
                      "ranks, hosts and links: what goes to another image arrives as from one",
                      replicas,
                      {"simulate", "derive"});
    options.AddChoice("micro-batches",
                      "simulate all, or derive those of the steady phase of a pipeline after two "
                      "periods in which all ranks and links did the same",
                      microBatches,
                      {"simulate", "derive"});
    options.AddTime("reconfiguration",
                    "time in which the optical circuits of a topology change between iterations",
                    reconfiguration);
    options.AddUnsigned("warmup",
                        "iterations before these, left out of means",
                        warmup,
                        0,
                        MAX_ITERATIONS);
    options.AddKind("energy",
                    "power-model",
                    "energy of the run by power of parts and bits that moved; empty: none",
                    energy.model,
                    &DescribeAlternatives<PowerEntry>);
    options.AddDouble("price-gpu-hour",
                      "price of a GPU for an hour, dollars",
                      energy.priceGpuHour,
                      0,
                      1e6);
    options.AddDouble("price-port-hour",
                      "price of a port of a switch for an hour, dollars",
                      energy.pricePortHour,
                      0,
                      1e6);
    life.AddTo(options);
    options.Group("Output");
    options.AddJson(json);
    RunFilesOptions::AddTo(options);
    clusterOptions.AddTo(options);
    options.AddToDescription("measured", DescribeFields(GetIterationQuantities()));
    options.Reserve("ns3::training::TrainingApplication::ComputeJitter", "compute-jitter");
    options.Reserve("ns3::training::TrainingApplication::Gradients", "gradients");
    options.Reserve("ns3::training::TrainingApplication::Iterations", "iterations");
    options.Reserve("ns3::training::TrainingApplication::OverlapCompute", "overlap-cost");
    options.Reserve("ns3::training::TrainingApplication::OverlapCopies", "overlap-cost");
    options.Reserve("ns3::training::TrainingApplication::RealPayload", "payload");
    options.Reserve("ns3::training::TrainingApplication::Seed", "RngRun");
    options.Reserve("ns3::training::TrainingApplication::Slowdown", "straggler");
}

JsonValue
TrainingRunOptions::ToJson() const
{
    TrainingRunOptions fields = *this; // options refer to them
    ProgramOptions options("training-job", "");
    ClusterCommandLine clusterOptions(fields.cluster);
    fields.AddTo(options, clusterOptions);
    options.TakeEnvironment();
    options.CheckOutputs();
    return options.ToJson();
}

void
TrainingRunOptions::Check() const
{
    CheckRange("batch", batch, 1, MAX_BATCH);
    CheckRange("bucket", bucket, 1, std::numeric_limits<int64_t>::max());
    CheckRange("iterations", iterations, 1, MAX_ITERATIONS);
    CheckRange("warmup", warmup, 0, MAX_ITERATIONS);
    if (payload != AUTOMATIC && payload != "virtual" && payload != "real")
    {
        throw ConfigurationError("payload", payload, " (allowed: auto, virtual, real)");
    }
    if (repeat != "simulate" && repeat != "derive")
    {
        throw ConfigurationError("repeat", repeat, " (allowed: simulate, derive)");
    }
    if (replicas != "simulate" && replicas != "derive")
    {
        throw ConfigurationError("replicas", replicas, " (allowed: simulate, derive)");
    }
    if (microBatches != "simulate" && (microBatches != "derive" || repeat == "derive"))
    {
        throw ConfigurationError("micro batches",
                                 microBatches,
                                 " (allowed: simulate; derive with repeat simulate)");
    }
    if (gradientPriority != "none" && gradientPriority != "layer")
    {
        throw ConfigurationError("gradient priority", gradientPriority, " (allowed: none, layer)");
    }
    if (repeat == "derive" && gradientPriority == "layer")
    {
        throw ConfigurationError("repeat",
                                 repeat,
                                 " with gradient priority layer (allowed: simulate, as rank 0 "
                                 "announces every collective)");
    }
    if (repeat == "derive" && IsReal())
    {
        throw ConfigurationError("repeat",
                                 repeat,
                                 " with payload real (allowed: simulate, as numbers differ)");
    }
    if (repeat == "derive" && !cluster.GetTransport().forgets)
    {
        throw ConfigurationError("repeat",
                                 repeat,
                                 " with transport " + cluster.transport +
                                     " (allowed: simulate, as a collective may change later "
                                     "ones, as the windows of TCP do)");
    }
    GetSlowdowns();
    GetOverlapCost();
    if (!energy.model.empty())
    {
        MakePowerFigures(energy.model);
    }
    life.Check();
    CheckLife();
}

void
TrainingRunOptions::CheckLife() const
{
    if (!life.HasCheckpoints() && !life.HasFailures())
    {
        return;
    }
    const bool fails = life.HasFailures();
    const std::string field = !fails ? "checkpoint" : life.failures.empty() ? "fail" : "failures";
    const std::string value = !fails                  ? life.checkpoint
                              : life.failures.empty() ? life.fail.front()
                                                      : life.failures;
    const auto refuse = [&](bool isWrong, const std::string& rest) {
        if (isWrong)
        {
            throw ConfigurationError(field, value, rest);
        }
    };
    refuse(Processes::GetCount() > 1,
           " with " + std::to_string(Processes::GetCount()) + " processes (allowed: one process)");
    refuse(
        repeat == "derive",
        " with repeat derive (allowed: simulate, as collectives share links with checkpoints and "
        "are cut off by failures)");
    refuse(fails && (IsInNetwork(cluster.algorithm) || IsInNic(cluster.algorithm)),
           " with collective " + cluster.algorithm +
               " (allowed: collectives on hosts, as state in switches and NICs would remain)");
    refuse(fails && cluster.nic != ClusterOptions().nic,
           " with nic " + cluster.nic + " (allowed: none, as codes would remain in NICs)");
    refuse(fails && cluster.codec != ClusterOptions().codec,
           " with codec " + cluster.codec +
               " (allowed: none, as the state of codecs is in no checkpoint)");
    refuse(fails && !energy.IsEmpty(),
           " with energy or prices (allowed: without, as they are of iterations that are kept)");
}

ParallelJobOptions
TrainingRunOptions::GetModel() const
{
    ParallelJobOptions job = model;
    job.parallel.bucket = bucket;
    job.parallel.byLayer = gradientPriority == "layer";
    return job;
}

bool
TrainingRunOptions::IsReal() const
{
    return payload == "real" ||
           (payload == AUTOMATIC && gradients != TrainingRunOptions().gradients);
}

bool
TrainingRunOptions::DerivesCollectives() const
{
    return repeat == "derive" && computeJitter == "none" && !GetOverlapCost().IsPaid();
}

OverlapCost
TrainingRunOptions::GetOverlapCost() const
{
    return OverlapCost::Read(overlapCost,
                             cluster.hostModel,
                             !GetModel().HasTransformer() && IsTraceFile(workload));
}

std::map<uint32_t, double>
TrainingRunOptions::GetSlowdowns() const
{
    std::map<uint32_t, double> slowdowns;
    for (const std::string& straggler : stragglers)
    {
        const auto colon = straggler.find(':');
        const auto rank = ParseUnsigned(straggler.substr(0, colon));
        const auto factor =
            colon == std::string::npos ? std::nullopt : ParseDouble(straggler.substr(colon + 1));
        if (!rank || *rank >= cluster.ranks || !factor ||
            !(*factor > 0 && *factor <= MAX_SLOWDOWN) ||
            !slowdowns.emplace(static_cast<uint32_t>(*rank), *factor).second)
        {
            throw ConfigurationError(
                "straggler",
                straggler,
                " (allowed: RANK:FACTOR with a rank below " + std::to_string(cluster.ranks) +
                    ", given once, and a factor above 0 up to " + FormatDouble(MAX_SLOWDOWN) + ")");
        }
    }
    return slowdowns;
}

} // namespace ns3::training
