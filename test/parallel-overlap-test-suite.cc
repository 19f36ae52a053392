/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graph/graph-timing.h"
#include "parallel/transformer-graph.h"
#include "pipeline/pipeline-choice.h"
#include "pipeline/pipeline-timing.h"
#include "test-case.h"

#include "ns3/nstime.h"
#include "ns3/parallel-memory.h"
#include "ns3/parallel-plan.h"
#include "ns3/rank-tasks.h"
#include "ns3/transformer-model.h"

#include <algorithm>
#include <map>
#include <memory>

namespace ns3::training::tests::parallel_overlap_test
{

/// Memory takes no time.
const TransformerRates RATES{1e12, 1e30};

/**
 * @param layers of the model
 * @param experts of each layer; 0: none
 * @return a model whose embedding and output layer take next to no time
 */
TransformerModel
MakeModel(uint32_t layers, uint32_t experts = 0)
{
    TransformerModel model;
    model.layers = layers;
    model.hidden = 1024;
    model.heads = 8;
    model.keyValueHeads = 8;
    model.feedForward = 4096;
    model.vocabulary = 1;
    model.sequence = 512;
    model.experts = experts;
    model.expertsPerToken = experts > 0 ? 2 : 0;
    model.expertFeedForward = experts > 0 ? 2048 : 0;
    model.sharedExperts = experts > 0 ? 1 : 0;
    return model;
}

/** @return the job */
TransformerGraph
MakeGraph(const TransformerModel& model, const ParallelOptions& options)
{
    return TransformerGraph(std::make_shared<ParallelPlan>(model, options), RATES);
}

/** @param length by a task, s @return times of collectives */
CommunicationTimes
MakeTimes(const std::function<double(const GraphTask&)>& length)
{
    CommunicationTimes times;
    times.collective = [length](const GraphTask& task, uint32_t) { return Seconds(length(task)); };
    return times;
}

/** @return end of the job, s */
double
GetEnd(const TransformerModel& model,
       const ParallelOptions& options,
       const CommunicationTimes& times = {},
       uint32_t iterations = 1)
{
    const GraphTiming timing = TimeGraph(MakeGraph(model, options), iterations, times);
    return timing.stuck.empty() ? timing.end.GetSeconds() : -1;
}

/// Bytes of collectives by groups and operation.
using Volumes = std::map<std::pair<PlanGroups, CollectiveOperation>, uint64_t>;

/** @return volumes of a rank in an iteration */
Volumes
GetVolumes(const TransformerModel& model, const ParallelOptions& options, uint32_t rank = 0)
{
    Volumes volumes;
    const auto source = MakeGraph(model, options).MakeSource(rank, 1);
    GraphTask task;
    while (source->Next(task))
    {
        if (task.kind == TaskKind::COLLECTIVE)
        {
            volumes[{static_cast<PlanGroups>(task.groups), task.operation}] += task.bytes;
        }
        task = {};
    }
    return volumes;
}

using Operation = CollectiveOperation;

/** @return parameters of embedding, layers and output layer of a model in one stage */
std::vector<uint64_t>
GetUnits(const TransformerModel& model, const ParallelOptions& options)
{
    const ParallelPlan plan(model, options);
    std::vector<uint64_t> units{plan.GetEmbeddingParameters(0), plan.GetOutputParameters(0)};
    for (uint32_t layer = 0; layer < model.layers; layer++)
    {
        units.push_back(plan.GetDenseParameters(layer));
    }
    return units;
}

void
CheckTensor()
{
    // A gather or reduction of 10 us, computations of ms: of each one that a product hides, a
    // part is left. Backward, the gradients of weights hide reductions anyhow.
    constexpr double EACH = 10e-6;
    const TransformerModel model = MakeModel(3);
    ParallelOptions options;
    options.tensor = 2;
    options.sequenceParallel = true;
    options.globalBatch = 2;
    const double whole = 2.0 * 512 * 1024;
    const CommunicationTimes times = MakeTimes(
        [&](const GraphTask& task) { return EACH * static_cast<double>(task.bytes) / whole; });
    const double before = GetEnd(model, options, times);
    const Volumes volumes = GetVolumes(model, options);
    for (uint64_t parts : {2, 4, 8})
    {
        options.tpCommOverlap = parts;
        const double hidden = 1 - 1.0 / static_cast<double>(parts);
        NS_TEST_EXPECT_MSG_EQ_TOL(before - GetEnd(model, options, times),
                                  3 * 2 * (2 + 2 + 2) * EACH * hidden,
                                  1e-9,
                                  parts << " parts");
        NS_TEST_EXPECT_MSG_EQ(GetVolumes(model, options), volumes, "same bytes");
    }
}

void
CheckWeightGradients()
{
    const TransformerModel model = MakeModel(4);
    ParallelOptions options;
    options.pipeline = 4;
    options.globalBatch = 8;
    const double matrices = 2.0 * (4 * 1024 * 1024 + 1024 + 3 * 1024 * 4096) * 512 / 1e12;
    const double scores = 2.0 * 512 * 2 * 1024 * 512 / 1e12;
    const PipelineDurations durations{matrices + scores, matrices + 2 * scores, matrices};
    PipelineSchedule schedule = MakePipelineSchedule("1f1b", 4, 8);
    NS_TEST_EXPECT_MSG_EQ_TOL(GetEnd(model, options),
                              TimePipeline(schedule, durations).end,
                              1e-4,
                              "together");
    for (auto& actions : schedule.actions)
    {
        std::vector<PipelineAction> split;
        for (PipelineAction action : actions)
        {
            const bool isBackward = action.work == PipelineWork::BACKWARD;
            action.work = isBackward ? PipelineWork::INPUT_GRADIENT : action.work;
            split.push_back(action);
            if (isBackward)
            {
                action.work = PipelineWork::WEIGHT_GRADIENT;
                split.push_back(action);
            }
        }
        actions = split;
    }
    const double together = GetEnd(model, options);
    options.delayWgrad = true;
    const double apart = GetEnd(model, options);
    NS_TEST_EXPECT_MSG_EQ_TOL(apart, TimePipeline(schedule, durations).end, 1e-4, "delayed");
    NS_TEST_EXPECT_MSG_EQ_TOL(together - apart, 3 * matrices, 1e-4, "saved");
}

void
CheckMessages()
{
    // Megatron-LM's forward_backward_pipelining_without_interleaving(): a rank sends and
    // receives, waits for both, and computes. In units of a forward pass of a rank's layers,
    // a backward pass takes 2.
    const double layer = GetEnd(MakeModel(1), {}) / 3;
    const auto getEnd = [&](uint32_t p,
                            uint32_t m,
                            uint32_t v,
                            const std::string& schedule,
                            const std::string& overlap,
                            double message) {
        ParallelOptions options;
        options.pipeline = p;
        options.globalBatch = m;
        options.schedule = schedule;
        options.overlapP2p = overlap;
        CommunicationTimes times;
        times.message = [=](const GraphTask&) { return Seconds(message * v * layer); };
        times.sent = times.message;
        return GetEnd(MakeModel(p * v), options, times) / (v * layer);
    };
    constexpr double EACH = 0.25;
    constexpr double PART = 1e-4; // embedding and output layer
    for (uint32_t p : {1, 2, 3, 4, 8})
    {
        for (uint32_t m : {1, 2, 3, 4, 8, 32})
        {
            const double ideal = 3.0 * (m + p - 1);
            // Of two ranks each sends and receives at once; in longer pipelines inner ranks
            // wait for both neighbours, one after the other.
            const double messages = p == 1   ? 0
                                    : p == 2 ? m + 1.0
                                    : m == 1 ? 2.0 * (p - 1)
                                             : 2.0 * (m + p) - 5;
            for (const char* overlap : {"auto", "false"})
            {
                NS_TEST_EXPECT_MSG_EQ_TOL(getEnd(p, m, 1, "1f1b", overlap, EACH),
                                          ideal + messages * EACH,
                                          PART * ideal,
                                          p << " ranks, " << m << " micro-batches");
            }
            NS_TEST_EXPECT_MSG_EQ(getEnd(p, m, 1, "1f1b:messages=batched", "auto", EACH),
                                  getEnd(p, m, 1, "1f1b", "auto", EACH),
                                  "the default");
            const PipelineDurations durations{1, 1, 1, EACH};
            const double apart = TimePipeline(MakePipelineSchedule("1f1b", p, m), durations).end;
            for (const char* overlap : {"auto", "true"})
            {
                NS_TEST_EXPECT_MSG_EQ_TOL(
                    getEnd(p, m, 1, "1f1b:messages=asynchronous", overlap, EACH),
                    apart,
                    PART * ideal,
                    p << " ranks, " << m << " micro-batches, without batches");
            }
        }
    }
    NS_TEST_EXPECT_MSG_EQ_TOL(getEnd(4, 8, 1, "1f1b:messages=asynchronous", "auto", EACH),
                              37,
                              37 * PART,
                              "asynchronous sends, blocking receives");
    // Interleaved: with overlap a rank waits for what it needs; otherwise it exchanges all
    // messages of a forward and a backward pass at once. Ends by a program that follows
    // forward_backward_pipelining_with_interleaving() line by line.
    const auto expect = [&](uint32_t p, uint32_t m, uint32_t v, double with, double without) {
        const std::string name = "interleaved:v=" + std::to_string(v);
        const std::string what = name + ", " + std::to_string(p) + " ranks";
        NS_TEST_EXPECT_MSG_EQ_TOL(getEnd(p, m, v, name, "auto", EACH), with, PART * with, what);
        NS_TEST_EXPECT_MSG_EQ_TOL(getEnd(p, m, v, name, "true", EACH), with, PART * with, what);
        NS_TEST_EXPECT_MSG_EQ_TOL(getEnd(p, m, v, name, "false", EACH), without, PART * with, what);
        NS_TEST_EXPECT_MSG_EQ_TOL(getEnd(p, m, v, name, "false", 0),
                                  3.0 * m + 3.0 * (p - 1) / v,
                                  PART * with,
                                  what);
    };
    expect(4, 8, 2, 32, 34.75);
    expect(4, 8, 4, 33.75, 38.5);
    for (uint32_t m : {3, 6})
    {
        const PipelineDurations durations{0.5, 0.5, 0.5, EACH};
        const auto schedule = MakePipelineSchedule("interleaved:v=2", 3, m);
        // One round: all forward passes of the first rank come before its backward passes.
        expect(3, m, 2, TimePipeline(schedule, durations).end, m == 3 ? 15 : 25.5);
    }
}

void
CheckSharedExperts()
{
    // The shared expert takes longer than an exchange, of which there is one to hide in each
    // direction.
    constexpr double EACH = 10e-6;
    const TransformerModel model = MakeModel(3, 4);
    ParallelOptions options;
    options.data = 2;
    options.expert = 2;
    options.globalBatch = 4;
    const CommunicationTimes times = MakeTimes(
        [](const GraphTask& task) { return task.operation == Operation::ALL_TO_ALL ? EACH : 0; });
    const double before = GetEnd(model, options, times);
    options.sharedExpertOverlap = true;
    NS_TEST_EXPECT_MSG_EQ_TOL(before - GetEnd(model, options, times),
                              3 * 2 * 2 * EACH,
                              1e-9,
                              "shared experts");
}

void
CheckParameters()
{
    constexpr double EACH = 10e-6;
    const TransformerModel model = MakeModel(4);
    ParallelOptions options;
    options.data = 2;
    options.zero = 3;
    options.globalBatch = 2;
    const CommunicationTimes times = MakeTimes(
        [](const GraphTask& task) { return task.operation == Operation::ALL_GATHER ? EACH : 0; });
    const double ideal = GetEnd(model, options);
    const auto getExposed = [&] { return GetEnd(model, options, times) - ideal; };
    // Six units in each direction; embedding and output layer hide nothing.
    options.prefetch = 0;
    NS_TEST_EXPECT_MSG_EQ_TOL(getExposed(), 12 * EACH, 4e-6, "no prefetch");
    options.prefetch = 1;
    NS_TEST_EXPECT_MSG_EQ_TOL(getExposed(), 4 * EACH, 4e-6, "prefetch");
    options.reshard = false;
    NS_TEST_EXPECT_MSG_EQ_TOL(getExposed(), 2 * EACH, 4e-6, "gathered once");
    // ZeRO 1: parameters of six units after the update, or during the next forward pass.
    options = {};
    options.data = 2;
    options.globalBatch = 2;
    options.zero = 1;
    options.overlapParamGather = false;
    const double none = GetEnd(model, options, {}, 2);
    const double before = GetEnd(model, options, times, 2);
    NS_TEST_EXPECT_MSG_EQ_TOL(before - none, 2 * 6 * EACH, 1e-9, "all of them");
    options.overlapParamGather = true;
    // Embedding and first layer; those after the last iteration end it.
    NS_TEST_EXPECT_MSG_LT(GetEnd(model, options, times, 2), before - 3 * EACH, "hidden");
}

void
CheckGradients()
{
    // A bucket for each layer, of 10 us, of which all but that of the first layer are hidden.
    constexpr double EACH = 10e-6;
    const TransformerModel model = MakeModel(4);
    ParallelOptions options;
    options.data = 2;
    options.globalBatch = 2;
    options.bucket = 1 << 20;
    const CommunicationTimes times = MakeTimes(
        [](const GraphTask& task) { return static_cast<double>(task.bytes) > 1e6 ? EACH : 0; });
    const double ideal = GetEnd(model, options);
    NS_TEST_EXPECT_MSG_EQ_TOL(GetEnd(model, options, times) - ideal, EACH, 1e-6, "overlap");
    options.overlapGradReduce = false;
    NS_TEST_EXPECT_MSG_EQ_TOL(GetEnd(model, options, times) - ideal, EACH, 1e-9, "one");
    const CommunicationTimes bytes =
        MakeTimes([](const GraphTask& task) { return 1e-12 * static_cast<double>(task.bytes); });
    const auto parameters = static_cast<double>(model.GetParameters());
    NS_TEST_EXPECT_MSG_EQ_TOL(GetEnd(model, options, bytes) - ideal,
                              4e-12 * parameters,
                              1e-9,
                              "all gradients after the backward pass");
}

void
CheckByLayer()
{
    // The gradients of one of four layers take time. Usually the iteration ends with them; by
    // layer they are hidden until the next forward pass of this layer.
    const TransformerModel model = MakeModel(4);
    ParallelOptions options;
    options.data = 2;
    options.globalBatch = 2;
    options.bucket = 1; // one for each unit
    const double ideal = GetEnd(model, options);
    const auto getEnd = [&](bool byLayer, int32_t layer, double seconds, uint32_t iterations) {
        options.byLayer = byLayer;
        const auto parameters = ParallelPlan(model, options).GetDenseParameters(0);
        int32_t first = 0;
        const CommunicationTimes times = MakeTimes([=, &first](const GraphTask& task) {
            // Of the layers, the last one is reduced first.
            const bool isLayer = task.bytes == 4 * parameters;
            first += isLayer ? 1 : 0;
            return isLayer && (first - 1) % 4 == 3 - layer ? seconds : 0;
        });
        return GetEnd(model, options, times, iterations);
    };
    const double each = ideal / 12; // forward pass of a layer; a backward pass takes twice
    for (int32_t layer = 0; layer < 4; layer++)
    {
        // The layers before this one compute for 2 * layer such times until the end of the
        // iteration, and for 3 * layer until this one's next forward pass.
        const double seconds = 10 * ideal;
        const double all = getEnd(false, layer, seconds, 3);
        const double byLayer = getEnd(true, layer, seconds, 3);
        NS_TEST_EXPECT_MSG_EQ_TOL(all,
                                  3 * (ideal + seconds - 2 * layer * each),
                                  1e-3 * ideal,
                                  "all, layer " << layer);
        NS_TEST_EXPECT_MSG_EQ_TOL(byLayer,
                                  3 * (ideal + seconds) - 2 * 3 * layer * each - 2 * layer * each,
                                  1e-3 * ideal,
                                  "by layer, layer " << layer);
        NS_TEST_EXPECT_MSG_EQ_TOL(getEnd(true, layer, 2.9 * layer * each, 3),
                                  3 * ideal + std::max(0.0, 0.9 * layer * each),
                                  1e-3 * ideal,
                                  "hidden, layer " << layer);
    }
}

/** Each switch saves the time that it must save. */
void
TestOverlapTimes()
{
    CheckByLayer();
    CheckTensor();
    CheckWeightGradients();
    CheckMessages();
    CheckSharedExperts();
    CheckParameters();
    CheckGradients();
}

/// Bytes in memory by kind and name.
using KernelBytes = std::map<std::pair<TaskKind, LayerTask>, double>;

KernelBytes
GetKernelBytes(const TransformerModel& model, const ParallelOptions& options)
{
    constexpr double MEMORY = 1e9;
    const TransformerGraph graph(std::make_shared<ParallelPlan>(model, options), {1e30, MEMORY});
    KernelBytes bytes;
    const auto source = graph.MakeSource(0, 1);
    uint64_t before = 0; // last kernel beside the computations
    for (GraphTask task; source->Next(task); task = {})
    {
        const auto name = static_cast<LayerTask>(task.name);
        if (name == LayerTask::QUANTIZATION || name == LayerTask::DEQUANTIZATION)
        {
            bytes[{task.kind, name}] += MEMORY * task.length.GetSeconds();
            before = task.kind == TaskKind::MEMORY ? task.id : before;
        }
        if (task.kind == TaskKind::COLLECTIVE &&
            task.groups == static_cast<uint32_t>(PlanGroups::REPLICA))
        {
            const auto& after = task.after;
            NS_TEST_EXPECT_MSG_EQ(std::count(after.begin(), after.end(), before),
                                  1,
                                  "the exchange across waits for the sums of a node");
        }
    }
    return bytes;
}

/** Kernels of ZeRO++ read and write what their definition says, in the order of the exchanges. */
void
TestQuantizationKernels()
{
    using K = TaskKind;
    using T = LayerTask;
    const TransformerModel model = MakeModel(3);
    ParallelOptions options;
    options.data = 8;
    options.zero = 3;
    options.globalBatch = 8;
    options.hpzPartition = 4;
    NS_TEST_EXPECT_MSG_EQ(GetKernelBytes(model, options).size(), 0, "hpZ alone");
    double all = 0;
    for (uint64_t parameters : GetUnits(model, options))
    {
        all += static_cast<double>(parameters);
    }
    // Parameters: 2 bytes become 1 at their owner, of 8 ranks and of 4 near ones, and 2 again.
    options.quantizedWeights = true;
    KernelBytes found = GetKernelBytes(model, options);
    NS_TEST_EXPECT_MSG_EQ_TOL((found[{K::COMPUTE, T::QUANTIZATION}]),
                              3 * all * (1.0 / 8 + 1.0 / 4),
                              1,
                              "qwZ");
    NS_TEST_EXPECT_MSG_EQ_TOL((found[{K::COMPUTE, T::DEQUANTIZATION}]), 2 * 3 * all, 1, "qwZ");
    NS_TEST_EXPECT_MSG_EQ(found.size(), 2, "qwZ");
    // Gradients: 2 bytes become 1/2; those of 4 ranks a quarter of that; and 2 again.
    options.quantizedWeights = false;
    options.quantizedGradients = true;
    found = GetKernelBytes(model, options);
    NS_TEST_EXPECT_MSG_EQ_TOL((found[{K::COMPUTE, T::QUANTIZATION}]), 2.5 * all, 1, "qgZ");
    NS_TEST_EXPECT_MSG_EQ_TOL((found[{K::MEMORY, T::QUANTIZATION}]),
                              (0.5 + 0.5 / 4) * all,
                              1,
                              "qgZ");
    NS_TEST_EXPECT_MSG_EQ_TOL((found[{K::MEMORY, T::DEQUANTIZATION}]), 2.5 / 4 * all, 1, "qgZ");
    NS_TEST_EXPECT_MSG_EQ(found.size(), 3, "qgZ");
    // One rank has all parameters and all gradients.
    options.data = 1;
    options.globalBatch = 1;
    options.hpzPartition = 0;
    options.quantizedWeights = true;
    NS_TEST_EXPECT_MSG_EQ(GetKernelBytes(model, options).size(), 0, "one rank");
}

/** Parameters in fp8 and fp4 take a byte, or 9/16 of one, in gathers and in memory. */
void
CheckParameterFormats()
{
    const TransformerModel model = MakeModel(3);
    ParallelOptions options;
    options.data = 8;
    options.globalBatch = 8;
    for (uint64_t zero : {1, 3})
    {
        options.zero = zero;
        options.paramGather = "bf16";
        const auto get = [&](PlanGroups groups) {
            return GetVolumes(model, options, 0)[{groups, Operation::ALL_GATHER}];
        };
        const uint64_t whole = get(PlanGroups::DATA);
        const uint64_t memory = GetMemoryBytes(ParallelPlan(model, options), 0);
        NS_TEST_ASSERT_MSG_GT(whole, 0, "gathers");
        const double kept = 2.0 * static_cast<double>(model.GetParameters()) / (zero == 3 ? 8 : 1);
        for (const auto& [format, part] : {std::pair("fp8", 0.5), std::pair("fp4", 9.0 / 32)})
        {
            options.paramGather = format;
            NS_TEST_EXPECT_MSG_EQ_TOL(get(PlanGroups::DATA),
                                      part * static_cast<double>(whole),
                                      100, // of many roundings
                                      format);
            NS_TEST_EXPECT_MSG_EQ_TOL(memory - GetMemoryBytes(ParallelPlan(model, options), 0),
                                      (1 - part) * kept,
                                      1e-6 * kept + 1,
                                      format << " in memory");
        }
    }
}

void
CheckExpertShards()
{
    // 16 replicas, experts among 2, HSDP among 8: 4 of the 8 ranks of an expert share it.
    using G = PlanGroups;
    const TransformerModel model = MakeModel(4, 4);
    ParallelOptions options;
    options.data = 16;
    options.expert = 2;
    options.zero = 3;
    options.globalBatch = 16;
    const uint64_t experts = 2 * 4 * model.GetExpertParameters(0) / 2; // bytes at a rank
    Volumes found = GetVolumes(model, options, 5);
    NS_TEST_EXPECT_MSG_EQ((found[{G::EXPERT_DATA, Operation::ALL_GATHER}]), 2 * experts, "all");
    const uint64_t memory = GetMemoryBytes(ParallelPlan(model, options), 5);
    options.shard = 8;
    found = GetVolumes(model, options, 5);
    NS_TEST_EXPECT_MSG_EQ((found[{G::EXPERT_SHARD, Operation::ALL_GATHER}]),
                          2 * experts,
                          "gathered twice");
    NS_TEST_EXPECT_MSG_EQ((found[{G::EXPERT_SHARD, Operation::REDUCE_SCATTER}]),
                          experts,
                          "reduced");
    NS_TEST_EXPECT_MSG_EQ((found[{G::EXPERT_REPLICA, Operation::ALL_REDUCE}]),
                          experts / 4,
                          "added up across");
    NS_TEST_EXPECT_MSG_EQ((found.count({G::EXPERT_DATA, Operation::ALL_GATHER})), 0, "none");
    const ParallelPlan plan(model, options);
    const uint64_t dense = plan.GetDenseParametersOfRank(5);
    // 16 bytes a parameter: 1/16 of dense layers and 1/8 of experts become twice as much.
    NS_TEST_EXPECT_MSG_EQ_TOL(GetMemoryBytes(plan, 5) - memory,
                              16 * (dense / 16 + experts / 2 / 8),
                              64,
                              "memory");
    const auto getGroup = [&](G groups, uint32_t rank) {
        const auto place = static_cast<uint32_t>(groups);
        return TransformerGraph(std::make_shared<ParallelPlan>(plan), RATES).GetGroup(place, rank);
    };
    using Ranks = std::vector<uint32_t>;
    NS_TEST_EXPECT_MSG_EQ(getGroup(G::EXPERT_SHARD, 5), (Ranks{1, 3, 5, 7}), "near");
    NS_TEST_EXPECT_MSG_EQ(getGroup(G::EXPERT_SHARD, 8), (Ranks{8, 10, 12, 14}), "near");
    NS_TEST_EXPECT_MSG_EQ(getGroup(G::EXPERT_REPLICA, 5), (Ranks{5, 13}), "far");
    // As many ranks share experts as HSDP divides among: whole experts are added up across.
    options.expert = 4;
    options.shard = 4;
    found = GetVolumes(model, options, 5);
    NS_TEST_EXPECT_MSG_EQ((found.count({G::EXPERT_SHARD, Operation::ALL_GATHER})), 0, "own");
    NS_TEST_EXPECT_MSG_EQ((found[{G::EXPERT_REPLICA, Operation::ALL_REDUCE}]),
                          experts / 2,
                          "all of it");
    NS_TEST_EXPECT_MSG_GT(GetEnd(model, options), 0, "ends");
}

void
CheckShards()
{
    const TransformerModel model = MakeModel(4);
    const uint64_t bytes = 2 * model.GetParameters(); // M
    ParallelOptions options;
    options.data = 8;
    options.zero = 3;
    options.globalBatch = 8;
    using G = PlanGroups;
    const Volumes flat{{{G::DATA, Operation::ALL_GATHER}, 2 * bytes},
                       {{G::DATA, Operation::REDUCE_SCATTER}, bytes}};
    NS_TEST_EXPECT_MSG_EQ(GetVolumes(model, options), flat, "FSDP");
    options.shard = 4;
    Volumes found = GetVolumes(model, options);
    NS_TEST_EXPECT_MSG_EQ((found[{G::SHARD, Operation::ALL_GATHER}]), 2 * bytes, "HSDP");
    NS_TEST_EXPECT_MSG_EQ((found[{G::SHARD, Operation::REDUCE_SCATTER}]), bytes, "HSDP");
    NS_TEST_EXPECT_MSG_EQ_TOL((found[{G::REPLICA, Operation::ALL_REDUCE}]), bytes / 4, 6, "HSDP");
    NS_TEST_EXPECT_MSG_EQ(found.size(), 3, "HSDP");
    // The reduction across starts behind that inside.
    const CommunicationTimes times = MakeTimes(
        [](const GraphTask& task) { return task.operation == Operation::ALL_GATHER ? 0 : 1e-3; });
    const double both = GetEnd(model, options, times);
    options.shard = 8;
    const double one = GetEnd(model, options, times);
    NS_TEST_EXPECT_MSG_EQ_TOL(both - one, 1e-3, 1e-4, "one after the other");

    CheckParameterFormats();
    CheckExpertShards();

    options.shard = 0;
    options.hpzPartition = 4;
    options.quantizedWeights = true;
    options.quantizedGradients = true;
    found = GetVolumes(model, options);
    // Across nodes 0.5 M, 0 and 0.25 M, the latter divided by the ranks of a node. Each part
    // has scales of 4 bytes for 8000 parameters, or for the gradients of a row of 1024.
    uint64_t gathered = 0;
    uint64_t nearby = 0;
    uint64_t inside = 0;
    uint64_t across = 0;
    for (uint64_t parameters : GetUnits(model, options))
    {
        const uint64_t part = (parameters + 7) / 8; // of each of 8 ranks
        const uint64_t quarter = (parameters + 3) / 4;
        gathered += 8 * 4 * ((part + 3) / 4 + (part + 7999) / 8000);
        nearby += 4 * 4 * ((quarter + 3) / 4 + (quarter + 7999) / 8000);
        inside += 4 * 4 * ((2 * part + 7) / 8 + (2 * part + 1023) / 1024);
        across += 2 * 4 * ((part + 7) / 8 + (part + 1023) / 1024);
    }
    NS_TEST_EXPECT_MSG_EQ((found[{G::DATA, Operation::ALL_GATHER}]), gathered, "qwZ");
    NS_TEST_EXPECT_MSG_EQ((found[{G::SHARD, Operation::ALL_GATHER}]), nearby, "hpZ");
    NS_TEST_EXPECT_MSG_EQ((found[{G::SHARD, Operation::ALL_TO_ALL}]), inside, "qgZ");
    NS_TEST_EXPECT_MSG_EQ((found[{G::REPLICA, Operation::ALL_TO_ALL}]), across, "qgZ");
    NS_TEST_EXPECT_MSG_EQ(found.size(), 4, "ZeRO++");
    // Real numbers have 4 bytes, whatever the sizes of the parts.
    TransformerModel odd = model;
    odd.hidden = 1032;
    odd.vocabulary = 101;
    const auto source = MakeGraph(odd, options).MakeSource(0, 1);
    for (GraphTask task; source->Next(task); task = {})
    {
        NS_TEST_EXPECT_MSG_EQ(task.bytes % 4, 0, "whole words");
    }
}

void
CheckExperts()
{
    using G = PlanGroups;
    const TransformerModel model = MakeModel(2, 8);
    ParallelOptions options;
    options.data = 8;
    options.expert = 8;
    options.globalBatch = 8;
    const uint64_t numbers = 512 * 2 * 1024; // of an exchange; two layers, four exchanges
    const std::pair all{G::EXPERT, Operation::ALL_TO_ALL};
    NS_TEST_EXPECT_MSG_EQ(GetVolumes(model, options)[all], 2 * 4 * 2 * numbers, "16 bits");
    options.fp8Dispatch = true;
    NS_TEST_EXPECT_MSG_EQ(GetVolumes(model, options)[all],
                          2 * 2 * (2 * numbers + numbers + numbers / 32),
                          "8 bits to experts");
    options.fp8Dispatch = false;
    options.expertNode = 2;
    options.nodesPerToken = 1;
    Volumes found = GetVolumes(model, options);
    NS_TEST_EXPECT_MSG_EQ((found[{G::EXPERT_NODE, Operation::ALL_TO_ALL}]),
                          2 * 4 * 2 * numbers,
                          "in a node");
    NS_TEST_EXPECT_MSG_EQ((found[{G::EXPERT_ACROSS, Operation::ALL_TO_ALL}]),
                          2 * 4 * numbers,
                          "half of it across");
    NS_TEST_EXPECT_MSG_EQ(found.count(all), 0, "no other");
    // Popularity 1, 1/2, 1/3...: bytes and work follow it, and their sums stay.
    options.expertNode = 0;
    options.nodesPerToken = 0;
    Time even;
    Time uneven;
    Time most;
    for (const RankTiming& rank : TimeGraph(MakeGraph(model, options), 1).ranks)
    {
        even += rank.compute;
    }
    options.expertSkew = 1;
    for (const RankTiming& rank : TimeGraph(MakeGraph(model, options), 1).ranks)
    {
        uneven += rank.compute;
        most = std::max(most, rank.compute);
    }
    NS_TEST_EXPECT_MSG_EQ_TOL(even.GetSeconds(), uneven.GetSeconds(), 1e-9, "same work");
    NS_TEST_EXPECT_MSG_GT(most.GetSeconds(), 1.2 * even.GetSeconds() / 8, "not for each");
    double harmonic = 0;
    for (uint32_t number = 1; number <= 8; number++)
    {
        harmonic += 1.0 / number;
    }
    const auto source = MakeGraph(model, options).MakeSource(0, 1);
    GraphTask task;
    uint32_t exchanges = 0;
    while (source->Next(task))
    {
        if (task.kind == TaskKind::COLLECTIVE && task.operation == Operation::ALL_TO_ALL_V)
        {
            // Forward dispatch, combine, and backward the same.
            const bool toExperts = exchanges++ % 2 == 0;
            for (uint32_t from = 0; from < 8; from++)
            {
                for (uint32_t to = 0; to < 8; to++)
                {
                    const double share = 1 / (1.0 + (toExperts ? to : from)) / harmonic;
                    NS_TEST_EXPECT_MSG_EQ_TOL((*task.matrix)[from * 8 + to],
                                              share * 2 * numbers,
                                              2,
                                              "from " << from << " to " << to);
                }
            }
        }
        task = {};
    }
    NS_TEST_EXPECT_MSG_EQ(exchanges, 2 * 4, "exchanges");
}

void
CheckPlaces()
{
    const TransformerModel model = MakeModel(4);
    ParallelOptions options;
    options.tensor = 2;
    options.pipeline = 2;
    options.data = 2;
    options.globalBatch = 2;
    using Groups = std::vector<std::vector<uint32_t>>;
    const auto getGroups = [&](PlanGroups groups) {
        return ParallelPlan(model, options).GetGroups()[static_cast<uint32_t>(groups)].groups;
    };
    NS_TEST_EXPECT_MSG_EQ(getGroups(PlanGroups::TENSOR),
                          (Groups{{0, 1}, {4, 5}, {2, 3}, {6, 7}}),
                          "neighbours");
    NS_TEST_EXPECT_MSG_EQ(getGroups(PlanGroups::DATA),
                          (Groups{{0, 2}, {4, 6}, {1, 3}, {5, 7}}),
                          "next");
    options.order = "pp-dp-cp-tp";
    NS_TEST_EXPECT_MSG_EQ(getGroups(PlanGroups::TENSOR),
                          (Groups{{0, 4}, {1, 5}, {2, 6}, {3, 7}}),
                          "far");
    NS_TEST_EXPECT_MSG_EQ(ParallelPlan(model, options).GetRankOfStage(4, 1), 5, "pipeline");
    options.pipeline = 3;
    options.firstLayers = 2;
    const ParallelPlan plan(model, options);
    NS_TEST_EXPECT_MSG_EQ(plan.GetFirstLayer(1), 2, "two layers");
    NS_TEST_EXPECT_MSG_EQ(plan.GetFirstLayer(2), 3, "one");
    NS_TEST_EXPECT_MSG_EQ(plan.GetFirstLayer(3), 4, "one");
}

/** Volumes of HSDP, ZeRO++ and kinds of expert traffic. */
void
TestVolumes()
{
    CheckShards();
    CheckExperts();
    CheckPlaces();
}

const Suite g_suite("parallel-overlap",
                    Duration::QUICK,
                    {{"switches of overlap save the times of closed forms", TestOverlapTimes},
                     {"kernels of ZeRO++ take the time of their bytes in memory",
                      TestQuantizationKernels},
                     {"volumes of HSDP, ZeRO++ and experts equal closed forms", TestVolumes}});

} // namespace ns3::training::tests::parallel_overlap_test
