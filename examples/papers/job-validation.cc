/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Published times of whole training jobs next to ours. Rows of role calibration give what is not
 * known of the machine; the others follow from it.
 *
 *   ./ns3w run job-validation
 */

#include "../hidden-global-values.h"
#include "job-validation-experts.h"
#include "job-validation-times.h"
#include "job-validation-zero.h"
#include "nccl-published.h"
#include "pipeline/pipeline-choice.h"
#include "pipeline/pipeline-timing.h"

#include "ns3/training-program.h"
#include "ns3/training-quantity.h"

#include <array>

using namespace ns3;
using namespace ns3::training;

namespace
{

/** Megatron-LM: what replicas add to an iteration. */
void
AddReplicas(Reproduction& paper, JobTimes& times)
{
    constexpr double NIC = 200e9;
    constexpr uint64_t REPLICAS = 128;
    constexpr uint64_t GRADIENT = 2; // without --fp32-allreduce, which is off by default
    for (const PublishedCase& each : paper.GetCases())
    {
        TransformerModel model = FindTransformer("megatron-1.7b");
        model.hidden = each.GetCount("hidden");
        model.feedForward = 4 * model.hidden;
        model.heads = static_cast<uint32_t>(each.GetCount("heads"));
        model.keyValueHeads = model.heads;
        model.layers = static_cast<uint32_t>(each.GetCount("layers"));
        model.sequence = 1024;
        ParallelOptions options;
        options.tensor = each.GetCount("tensor");
        const uint64_t bytes = GRADIENT * ParallelPlan(model, options).GetParameters(0);
        // Groups have NICs of their own: those of their GPUs.
        const uint64_t gpus = 8 / options.tensor;
        const double added =
            1e3 *
            times.GetSeconds(
                MakeCluster(REPLICAS, MakeServers(REPLICAS, gpus, "2400Gbps"), NIC, "multi-ring"),
                CollectiveOperation::ALL_REDUCE,
                bytes);
        const double expected = 16e3 * static_cast<double>(bytes) * (REPLICAS - 1) / REPLICAS /
                                (NIC * static_cast<double>(gpus));
        const double alone = each.Get("alone");
        paper.Add("alone", NONE, alone, each);
        paper.Add("added", expected, added, each);
        paper.Add("all", alone + expected, alone + added, each);
    }
}

/** @return time of a schedule in times of a micro-batch, whose backward pass is twice as long */
double
GetMicroBatches(const std::string& schedule, uint32_t ranks, uint32_t microBatches)
{
    const PipelineSchedule made = MakePipelineSchedule(schedule, ranks, microBatches);
    const double part = static_cast<double>(ranks) / made.GetStages() / 3;
    PipelineDurations durations;
    durations.forward = part;
    durations.inputGradient = part;
    durations.weightGradient = part;
    return TimePipeline(made, durations).end;
}

/** MLPerf and Megatron Bridge: Llama 3.1 405B. */
void
AddMlPerf(Reproduction& paper)
{
    constexpr uint32_t STAGES = 8;
    constexpr uint32_t CHUNKS = 8;
    constexpr uint32_t GPUS = 1024;
    constexpr uint32_t BATCH = 1536;
    const auto getUnits = [](double microBatches) {
        return GetMicroBatches("interleaved:v=8", STAGES, static_cast<uint32_t>(microBatches));
    };
    const auto rows = paper.GetCases();
    std::array<double, 2> units{};
    std::array<double, 2> seconds{};
    for (const std::size_t i : {0, 1})
    {
        units[i] = getUnits(rows[i].Get("micro_batches"));
        seconds[i] = rows[i].Get("seconds");
    }
    const double slope = (seconds[0] - seconds[1]) / (units[0] - units[1]);
    const double fixed = seconds[0] - slope * units[0];
    const auto add = [&](const char* row, double microBatches, const PublishedCase& values) {
        paper.Add(row,
                  fixed + slope * (microBatches + (STAGES - 1.0) / CHUNKS),
                  fixed + slope * getUnits(microBatches),
                  values);
    };
    for (const PublishedCase& row : rows)
    {
        add("known", row.Get("micro_batches"), row);
    }
    paper.Add("slope", NONE, slope);
    paper.Add("fixed", NONE, fixed);
    for (PublishedCase& release : paper.GetCases("releases"))
    {
        release.Set("seconds", 8192.0 * BATCH / (GPUS * release.Get("tokens")));
        add("release", BATCH / (GPUS / 128), release);
    }
    // Either row from the other. Their configuration overlaps gradients and parameters
    // (OVERLAP_GRAD_REDUCE, OVERLAP_PARAM_GATHER_WITH_OPTIM_STEP), so nothing of them is exposed.
    for (const std::size_t to : {1, 0})
    {
        paper.Add("other", NONE, seconds[1 - to] * units[to] / units[1 - to], rows[to]);
    }
}

/** @return rate of a GPU of TorchTitan's that does so many operations, tokens/s */
double
GetFsdpTokens(JobTimes& times, uint64_t ranks, double operations)
{
    ParallelOptions options;
    options.data = ranks;
    options.microBatch = 2;
    options.globalBatch = ranks * options.microBatch;
    options.zero = 3;
    options.gradientBytes = 4;
    options.recompute = "selective";
    TransformerModel model = FindTransformer("llama3-8b");
    model.sequence = 8192;
    TransformerRates rates = ParallelJobOptions().GetRates("h100", 1);
    rates.operations = operations;
    rates.operators = nullptr; // the rate that follows from 8 GPUs
    const TransformerGraph graph(std::make_shared<const ParallelPlan>(model, options), rates);
    const ClusterOptions cluster =
        MakeCluster(ranks, MakeServers(ranks, 8, RING_RATE), 400e9, "multi-ring");
    return static_cast<double>(options.microBatch * model.sequence) /
           times.GetSeconds(graph, {{PlanGroups::DATA, {cluster}}});
}

/** TorchTitan: FSDP on 8 and 128 GPUs, and two schedules. */
void
AddTorchTitan(Reproduction& paper, JobTimes& times)
{
    for (const PublishedCase& each : paper.GetCases())
    {
        double operations = 400e12;
        for (uint32_t round = 0; round < ROUNDS; round++)
        {
            operations *= each.Get("few") / GetFsdpTokens(times, 8, operations);
        }
        paper.Add("few", NONE, GetFsdpTokens(times, 8, operations), each);
        paper.Add("many", NONE, GetFsdpTokens(times, 128, operations), each);
    }
    paper.Add("schedule",
              (8 + 7.0) / (8 + 7.0 / 2),
              GetMicroBatches("1f1b", 8, 8) / GetMicroBatches("interleaved:v=2", 8, 8));
}

/** Megatron-LM: operations of ten models. */
void
AddOperations(Reproduction& paper)
{
    constexpr double VOCABULARY = 51200;
    for (PublishedCase& each : paper.GetCases())
    {
        const TransformerModel model = FindTransformer(each.GetText("model"));
        ParallelOptions options;
        options.recompute = "full";
        const auto plan = std::make_shared<const ParallelPlan>(model, options);
        // One rank computes a sample; no time for memory.
        TransformerRates rates;
        rates.operations = each.Get("rate") * 1e12;
        rates.memory = 1e30;
        const double sample = TimeGraph(TransformerGraph(plan, rates), 1).end.GetSeconds();
        const double share = each.Get("batch") / each.Get("gpus");
        const auto layers = static_cast<double>(model.layers);
        const auto hidden = static_cast<double>(model.hidden);
        const auto sequence = static_cast<double>(model.sequence);
        each.Set("seconds",
                 share * 96 * sequence * layers * hidden * hidden *
                     (1 + sequence / (6 * hidden) + VOCABULARY / (16 * layers * hidden)) /
                     rates.operations);
        paper.Add("iteration", NONE, share * sample, each);
    }
}

/** NCCL: collectives over kernel TCP. */
void
AddSockets(Reproduction& paper, JobTimes& times)
{
    for (const PublishedCase& point : GetNcclPoints())
    {
        if (IsTcp(point))
        {
            const double seconds =
                times.GetSeconds(MakeNcclCluster(point, point.GetText("host_model")),
                                 FindCollectiveOperation(point.GetText("operation")),
                                 ParseBytes(point.GetText("bytes")).value());
            paper.Add("time", NONE, 1e6 * seconds, point);
        }
    }
}

int
Compare(int argc, char* argv[])
{
    Reproduction paper("job-validation");
    JobTimes times(paper);
    paper.GetOptions().AddBool(
        "full",
        "simulate all bytes of a collective; otherwise vectors above 64 MiB take the time on the "
        "line through this size and half of it",
        times.isFull);
    paper.AddPart("zero", [&] { AddZero(paper, times); });
    paper.AddPart("replicas", [&] { AddReplicas(paper, times); });
    paper.AddPart("mlperf", [&] { AddMlPerf(paper); });
    paper.AddPart("torchtitan", [&] { AddTorchTitan(paper, times); });
    paper.AddPart("experts", [&] { AddExperts(paper, times); });
    paper.AddPart("operations", [&] { AddOperations(paper); });
    paper.AddPart("sockets", [&] { AddSockets(paper, times); });
    return paper.Run(argc, argv, {}, "over kernel TCP host model nccl-socket");
}

} // namespace

int
main(int argc, char* argv[])
{
    return RunProgram("job-validation", [&] { return Compare(argc, argv); });
}
