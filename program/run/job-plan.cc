/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "job-plan.h"

#include "core/input-file.h"
#include "formats/workload-format.h"
#include "parallel/transformer-graph.h"
#include "run/astra-system.h"
#include "run/checked-operators.h"

#include "ns3/collective-operation.h"
#include "ns3/in-network-system.h"
#include "ns3/nic-algorithm.h"
#include "ns3/parallel-memory.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/topology-builder.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-packed-file.h"
#include "ns3/training-quantity.h"
#include "ns3/training-workload.h"

#include <algorithm>
#include <boost/algorithm/string/predicate.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <cmath>
#include <map>
#include <sstream>
#include <utility>

namespace ns3::training
{

namespace
{

/// Ranks of a job whose collectives are looked at before it runs.
constexpr uint32_t MAX_LOOKED_AT = 64;

/** @return bytes of a gradient of a workload on the network */
uint32_t
GetGradientBytes(const TrainingRunOptions& options)
{
    const uint64_t bytes = options.model.parallel.gradientBytes;
    if (bytes == 0 || bytes == DEFAULT_GRADIENT_BYTES)
    {
        return DEFAULT_GRADIENT_BYTES;
    }
    const auto refuse = [bytes](bool isWrong, const std::string& rest) {
        if (isWrong)
        {
            throw ConfigurationError("gradient bytes", std::to_string(bytes), rest);
        }
    };
    const ClusterOptions& cluster = options.cluster;
    refuse(bytes != 2, " (allowed: 2, 4)");
    refuse(options.IsReal(), " with payload real (allowed: 4, or codec fp16)");
    refuse(cluster.codec != ClusterOptions().codec || cluster.nic != ClusterOptions().nic,
           " with a codec (allowed: 4, as codecs code float32)");
    refuse(
        IsInNetwork(cluster.algorithm) || IsInNic(cluster.algorithm),
        " with collective " + cluster.algorithm +
            " (allowed: 4, or collectives on hosts, as others have number formats of their own)");
    return static_cast<uint32_t>(bytes);
}

/** Makes a job of a workload that is known by name, or of a training inside the job. */
JobPlan
MakeLoop(const TrainingRunOptions& options)
{
    const ClusterOptions& cluster = options.cluster;
    WorkloadRequest request;
    request.batch = options.batch;
    request.computeScale = options.computeScale;
    request.gpu = options.gpu;
    request.buckets.bucket = options.bucket;
    request.buckets.overlap = options.overlap;
    request.buckets.byLayer = options.gradientPriority == "layer";
    request.buckets.gradientBytes = GetGradientBytes(options);
    request.ranks = static_cast<uint32_t>(cluster.ranks);
    request.serverRanks = cluster.GetTopology(request.ranks)->shape.groupSize;
    JobPlan plan;
    plan.gradientBytes = request.buckets.gradientBytes;
    plan.training = MakeGradientTraining(options.gradients,
                                         {request.ranks, request.batch, RngSeedManager::GetRun()});
    const auto layers = plan.training ? plan.training->GetLayers() : std::vector<LayerShape>();
    const bool isAutomatic = options.workload == TrainingRunOptions::AUTOMATIC;
    if (!layers.empty() && !isAutomatic)
    {
        throw ConfigurationError("workload",
                                 options.workload,
                                 " with gradients " + options.gradients +
                                     " (allowed: auto, as these learn a model of their own)");
    }
    const std::string name = KeyValues::Split(options.gradients).GetName();
    if (plan.training && request.buckets.byLayer)
    {
        throw ConfigurationError("gradient priority",
                                 "layer",
                                 " with gradients " + name +
                                     " (allowed: none, as all layers learn at once)");
    }
    Workload workload = layers.empty()
                            ? MakeWorkload(isAutomatic ? "resnet50" : options.workload, request)
                            : MakeWorkload(name, layers, request);
    plan.graph = std::move(workload.graph);
    plan.buckets = std::move(workload.buckets);
    plan.name = std::move(workload.name);
    plan.description = std::move(workload.description);
    plan.times = std::move(workload.times);
    plan.parameters = workload.parameters;
    plan.isUniform = true;
    plan.format =
        Registry<WorkloadEntry>::All().count(KeyValues::Split(options.workload).GetName()) == 0 ||
                KeyValues::Split(options.workload).GetName() == "file"
            ? "csv"
            : "workload";
    return plan;
}

/** Refuses a file that is of no format, the module's CSV included. */
void
CheckFormat(const std::string& workload)
{
    if (Registry<WorkloadEntry>::All().count(KeyValues::Split(workload).GetName()) > 0)
    {
        return;
    }
    std::istringstream begin(ReadPackedBegin(workload, MAX_FORMAT_PROBE));
    std::size_t number = 0;
    for (std::string line; std::getline(begin, line);)
    {
        number++;
        boost::trim(line);
        if (line.empty() || line[0] == '#')
        {
            continue;
        }
        if (!boost::contains(line, "layer")) // what is wrong with a header, the CSV reader tells
        {
            throw ConfigurationError(
                workload + ":" + std::to_string(number) + ": '" +
                MakePrintableName(line.substr(0, 80)) +
                "' begins no known format (allowed: " + Registry<WorkloadFormatEntry>::Names() +
                ", or a CSV file with the header line 'layer,parameters,forward_us,backward_us')");
        }
        return;
    }
}

/** @return whether the number of ranks is that of the job */
bool
IsOpen(const ClusterOptions& cluster)
{
    return cluster.ranks == 0 || (!cluster.hasRanks && cluster.ranks == ClusterOptions().ranks);
}

/** Takes the number of ranks from a job, if the options leave it open. */
void
SetRanks(TrainingRunOptions& options, uint32_t ranks)
{
    if (IsOpen(options.cluster))
    {
        options.cluster.ranks = ranks;
    }
    if (options.cluster.ranks != ranks)
    {
        throw ConfigurationError("ranks",
                                 std::to_string(options.cluster.ranks),
                                 " (allowed: " + std::to_string(ranks) + ", those of the job)");
    }
}

/** Makes a job of a file. */
JobPlan
MakeFromFile(TrainingRunOptions& options)
{
    if (options.gradientPriority == "layer")
    {
        throw ConfigurationError("gradient priority",
                                 "layer",
                                 " with a trace (allowed: none, as a trace has its own order)");
    }
    if (options.model.parallel.gradientBytes != 0)
    {
        throw ConfigurationError("gradient bytes",
                                 std::to_string(options.model.parallel.gradientBytes),
                                 " with a trace (allowed: none, as a trace has its own sizes)");
    }
    const uint64_t ranks = IsOpen(options.cluster) ? 0 : options.cluster.ranks;
    FormatResult file = ReadWorkloadFormat(options.workload,
                                           static_cast<uint32_t>(ranks),
                                           options.lenient,
                                           GetAstraSizes(options.cluster.topology));
    JobPlan plan;
    plan.format = file.format;
    plan.isUniform = file.isUniform;
    plan.gathersParts = file.gathersParts;
    plan.graph = std::move(file.graph);
    plan.notes = std::move(file.problems);
    plan.name = options.workload;
    plan.description = options.workload + " (" + std::to_string(plan.graph->GetRanks()) + " ranks)";
    plan.times = "the file";
    SetRanks(options, plan.graph->GetRanks());
    return plan;
}

/** Makes a job of a transformer that is divided among ranks. */
JobPlan
MakeFromModel(const TrainingRunOptions& options)
{
    const ParallelJobOptions job = options.GetModel();
    const auto parts = job.MakePlan(options.cluster.ranks);
    const TransformerRates rates = job.GetRates(options.gpu, options.computeScale);
    const auto format = [](double number, double unit) {
        return FormatDouble(std::round(number / unit * 100) / 100);
    };
    JobPlan plan;
    plan.graph = std::make_shared<const TransformerGraph>(parts, rates);
    plan.name = job.model;
    plan.parameters = parts->GetModel().GetParameters();
    plan.expectedParameters = job.GetExpectedParameters();
    plan.memoryBytes = GetMostMemoryBytes(*parts);
    plan.description = job.Describe(*parts, options.gpu);
    const std::string measured = DescribeMeasured(*parts, rates);
    plan.times = options.gpu + ", at most " +
                 format(rates.operations * options.computeScale, 1e12) + " TFLOP/s and " +
                 format(rates.memory * options.computeScale, 1e12) +
                 " TB/s (roofline of each operator)" +
                 (measured.empty() ? "" : "; " + job.kernels + ": " + measured);
    return plan;
}

} // namespace

void
JobPlan::Summarize()
{
    operations.assign(graph->GetGroups().size(), {});
    sums.assign(graph->GetGroups().size(), {});
    const uint32_t ranks = graph->GetRanks();
    const uint32_t step = isUniform ? ranks : std::max(1U, ranks / MAX_LOOKED_AT);
    for (uint32_t rank = 0; rank < ranks; rank += step)
    {
        const GraphSummary some = SummarizeGraph(*graph, rank, 1);
        for (const auto& [collective, count] : some.collectives)
        {
            const auto& [groups, operation, bytes] = collective;
            operations[groups].insert(operation);
            if (operation == CollectiveOperation::ALL_REDUCE)
            {
                sums[groups].insert(bytes);
            }
        }
        hasMessages = hasMessages || some.tasks[static_cast<uint32_t>(TaskKind::SEND)] > 0;
        if (rank == 0)
        {
            summary = some;
        }
    }
    compute = buckets ? buckets->GetComputeTime() : summary.compute;
}

void
JobPlan::RemoveUpdate()
{
    if (buckets)
    {
        buckets = buckets->WithoutUpdate();
        graph = buckets;
        Summarize();
    }
    else if (format != "workload") // layers of built-in workloads have none
    {
        throw ConfigurationError("workload",
                                 name,
                                 " with a collective that makes the optimizer's step (allowed: "
                                 "built-in workloads, or a CSV file)");
    }
}

std::function<std::string(uint32_t rank, uint32_t bucket)>
JobPlan::MakeLayerNames() const
{
    if (buckets)
    {
        return [all = buckets](uint32_t, uint32_t bucket) {
            const auto& known = all->GetBuckets();
            return bucket < known.size() ? known[bucket].layers : ""; // a barrier has none
        };
    }
    std::map<uint32_t, std::map<uint32_t, int32_t>> known; // by rank and collective
    return [tasks = graph, known](uint32_t rank, uint32_t bucket) mutable {
        const auto [layers, isNew] = known.try_emplace(rank);
        const auto source = isNew ? tasks->MakeSource(rank, 1) : nullptr;
        for (GraphTask next; source && source->Next(next); next = GraphTask())
        {
            if (next.kind == TaskKind::COLLECTIVE && next.layer >= 0)
            {
                layers->second[static_cast<uint32_t>(next.tag)] = next.layer;
            }
        }
        const auto layer = layers->second.find(bucket);
        return layer == layers->second.end() ? "" : "layer " + std::to_string(layer->second);
    };
}

bool
JobPlan::Sums(bool ofAll) const
{
    for (std::size_t i = 0; i < sums.size(); i++)
    {
        if (!sums[i].empty() && graph->GetGroups()[i].AreAll(graph->GetRanks()) == ofAll)
        {
            return true;
        }
    }
    return false;
}

bool
JobPlan::IsAllReduceOnly() const
{
    for (std::size_t i = 0; i < operations.size(); i++)
    {
        const bool isApart =
            i > 0 || std::any_of(operations[i].begin(), operations[i].end(), [](auto operation) {
                return operation != CollectiveOperation::ALL_REDUCE;
            });
        if (!operations[i].empty() && (isApart || !graph->GetGroups()[i].AreAll(graph->GetRanks())))
        {
            return false;
        }
    }
    return !hasMessages;
}

double
JobPlan::GetBusBytes() const
{
    std::map<std::pair<CollectiveOperation, uint32_t>, uint64_t> bytes;
    for (const auto& [collective, count] : summary.collectives)
    {
        const auto& [groups, operation, size] = collective;
        bytes[{operation, groups}] += size * count;
    }
    double sum = 0;
    for (const auto& [kind, size] : bytes)
    {
        const auto ranks = static_cast<uint32_t>(graph->GetGroup(kind.second, 0).size());
        sum += static_cast<double>(size) * GetBusFactor(kind.first, std::max(1U, ranks));
    }
    return sum;
}

uint64_t
JobPlan::GetBytes() const
{
    uint64_t bytes = 0;
    for (const auto& [collective, count] : summary.collectives)
    {
        bytes += std::get<2>(collective) * count;
    }
    for (const TaskTraffic& sent : summary.sent)
    {
        bytes += sent.bytes;
    }
    return bytes;
}

std::pair<CollectiveOperation, uint64_t>
JobPlan::GetLargestCollective() const
{
    std::pair<CollectiveOperation, uint64_t> largest{CollectiveOperation::ALL_REDUCE, 0};
    for (const auto& [collective, count] : summary.collectives)
    {
        const auto& [groups, operation, bytes] = collective;
        const TaskGroups& taskGroups = graph->GetGroups()[groups];
        if (!taskGroups.exchanges && taskGroups.AreAll(graph->GetRanks()) && bytes > largest.second)
        {
            largest = {operation, bytes};
        }
    }
    return largest;
}

JobPlan
MakeJobPlan(TrainingRunOptions& options)
{
    const std::string& model = options.model.model;
    const bool isWorkload =
        Registry<WorkloadEntry>::All().count(KeyValues::Split(model).GetName()) > 0;
    options.workload = isWorkload ? model : options.workload;
    const bool isModel = model != ParallelJobOptions::NONE && !isWorkload;
    const bool isTrace = !isModel && IsTraceFile(options.workload);
    if (!isModel && !isTrace)
    {
        CheckFormat(options.workload);
    }
    JobPlan plan = isModel   ? MakeFromModel(options)
                   : isTrace ? MakeFromFile(options)
                             : MakeLoop(options);
    plan.notes.insert(plan.notes.begin(), options.notes.begin(), options.notes.end());
    plan.Summarize();
    return plan;
}

} // namespace ns3::training
