/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_JOB_VALIDATION_MODELS_H
#define DISTRIBUTED_TRAINING_JOB_VALIDATION_MODELS_H

#include "job-validation-comparison.h"

#include "ns3/parallel-command-line.h"
#include "ns3/pipeline-choice.h"
#include "ns3/pipeline-timing.h"
#include "ns3/training-quantity.h"
#include "ns3/transformer-graph.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>

/**
 * @file
 * Parts replicas, mlperf, torchtitan and operations of job-validation.
 */

namespace ns3::training
{

inline void
Comparison::CompareReplicas()
{
    constexpr const char* SOURCE = "Megatron-LM, tables.tex";
    m_table.PrintHeadings(
        "\n128 replicas on A100s, 8 NICs of 200 Gbit/s a node; gradients reduced "
        "after the backward pass;\nexpected: bytes at line rate; the difference of "
        "two published times is known to 1 ms\n");

    struct Row
    {
        const char* name;
        uint64_t hidden;
        uint32_t heads;
        uint32_t layers;
        uint64_t tensor;
        double alone; ///< published, ms
        double all;   ///< published with replicas, ms
    };

    constexpr double NIC = 200e9;
    constexpr uint64_t REPLICAS = 128;
    constexpr uint64_t GRADIENT = 2; // without --fp32-allreduce, which is off by default
    for (const Row& row : {Row{"1B, tensor 1", 1920, 15, 24, 1, 1076, 1153},
                           Row{"2B, tensor 2", 2304, 18, 30, 2, 1026, 1101},
                           Row{"4B, tensor 4", 3072, 24, 36, 4, 1162, 1242},
                           Row{"8B, tensor 8", 4096, 32, 42, 8, 1343, 1380}})
    {
        TransformerModel model = FindTransformer("megatron-1.7b");
        model.hidden = row.hidden;
        model.feedForward = 4 * row.hidden;
        model.heads = row.heads;
        model.keyValueHeads = row.heads;
        model.layers = row.layers;
        model.sequence = 1024;
        ParallelOptions options;
        options.tensor = row.tensor;
        const ParallelPlan plan(model, options);
        // Groups have NICs of their own: those of their GPUs.
        const uint64_t gpus = 8 / row.tensor;
        const ClusterOptions cluster =
            MakeCluster(REPLICAS,
                        "rail-optimized:gpus=" + std::to_string(gpus) +
                            ",servers=" + std::to_string(REPLICAS / gpus) + ",local-rate=2400Gbps",
                        NIC,
                        "multi-ring");
        Add(std::string(row.name) + ": iteration without replicas",
            "ms",
            Role::CALIBRATION,
            SOURCE,
            row.alone,
            NONE,
            row.alone);
        const uint64_t bytes = GRADIENT * plan.GetParameters(0);
        const double seconds = GetSeconds(cluster, CollectiveOperation::ALL_REDUCE, bytes);
        const double expected = 16.0 * static_cast<double>(bytes) * (REPLICAS - 1) / REPLICAS /
                                (NIC * static_cast<double>(gpus));
        Add(std::string(row.name) + ": replicas add",
            "ms",
            Role::PREDICTED,
            SOURCE,
            row.all - row.alone,
            1e3 * expected,
            1e3 * seconds);
        Add(std::string(row.name) + ": iteration with replicas",
            "ms",
            Role::PREDICTED,
            SOURCE,
            row.all,
            row.alone + 1e3 * expected,
            row.alone + 1e3 * seconds);
    }
}

/** @return time of a schedule in times of a micro-batch, whose backward pass is twice as long */
inline double
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

inline void
Comparison::CompareMlPerf()
{
    constexpr const char* MLPERF = "MLPerf Training v5.0";
    constexpr const char* BRIDGE = "Megatron Bridge, performance summary";
    constexpr uint32_t STAGES = 8;
    constexpr uint32_t CHUNKS = 8;
    m_table.PrintHeadings(
        "\nLlama 3.1 405B, FP8, tensor 8, pipeline 8 with 8 chunks, context 2: a time for each "
        "micro-batch of the schedule,\nand one that is not hidden, from the two rows of MLPerf; "
        "expected: (p - 1) / v micro-batches of bubble\n");

    struct Row
    {
        uint32_t gpus;
        uint32_t microBatches;
        double seconds;
    };

    const std::array<Row, 2> rows{Row{512, 288, 55.102}, Row{2560, 56, 11.185}};
    const auto getUnits = [](uint32_t microBatches) {
        return GetMicroBatches("interleaved:v=8", STAGES, microBatches);
    };
    const auto getExpectedUnits = [](uint32_t microBatches) {
        return microBatches + (STAGES - 1.0) / CHUNKS;
    };
    const double slope = (rows[0].seconds - rows[1].seconds) /
                         (getUnits(rows[0].microBatches) - getUnits(rows[1].microBatches));
    const double fixed = rows[0].seconds - slope * getUnits(rows[0].microBatches);
    for (const Row& row : rows)
    {
        Add(std::to_string(row.gpus) + " GPUs, " + std::to_string(row.microBatches) +
                " micro-batches",
            "s",
            Role::CALIBRATION,
            MLPERF,
            row.seconds,
            fixed + slope * getExpectedUnits(row.microBatches),
            fixed + slope * getUnits(row.microBatches));
    }
    Add("time of a micro-batch", "s", Role::CALIBRATION, MLPERF, NONE, NONE, slope);
    Add("time that is not hidden", "s", Role::CALIBRATION, MLPERF, NONE, NONE, fixed);
    constexpr uint32_t GPUS = 1024;
    constexpr uint32_t BATCH = 1536;
    constexpr uint32_t MICRO_BATCHES = BATCH / (GPUS / 128);
    for (const double tokens : {311.0, 328.0, 326.0})
    {
        Add("1024 GPUs, 192 micro-batches: " + FormatDouble(tokens) +
                " tokens/s of a GPU in one release",
            "s",
            Role::PREDICTED,
            BRIDGE,
            8192.0 * BATCH / (GPUS * tokens),
            fixed + slope * getExpectedUnits(MICRO_BATCHES),
            fixed + slope * getUnits(MICRO_BATCHES));
    }
    // Either row from the other. Their configuration overlaps gradients and parameters
    // (OVERLAP_GRAD_REDUCE, OVERLAP_PARAM_GATHER_WITH_OPTIM_STEP), so nothing of them is exposed.
    for (const std::size_t known : {0, 1})
    {
        const Row& from = rows[known];
        const Row& to = rows[1 - known];
        Add(std::to_string(to.gpus) + " GPUs from " + std::to_string(from.gpus) +
                ": exchanges of replicas hidden",
            "s",
            Role::PREDICTED,
            MLPERF,
            to.seconds,
            NONE,
            from.seconds * getUnits(to.microBatches) / getUnits(from.microBatches));
    }
}

inline void
Comparison::CompareFsdp()
{
    constexpr const char* SOURCE = "TorchTitan, benchmarks";
    constexpr double BATCH = 2;
    const TransformerModel published = FindTransformer("llama3-8b");
    const auto getPlaces = [](uint64_t ranks) {
        const std::string topology =
            "rail-optimized:gpus=8,servers=" + std::to_string(ranks / 8) + ",local-rate=2966.4Gbps";
        return std::map<PlanGroups, Place>{
            {PlanGroups::DATA, {MakeCluster(ranks, topology, 400e9, "multi-ring")}}};
    };
    const auto getTokens = [&](uint64_t ranks, double operations) {
        ParallelOptions options;
        options.data = ranks;
        options.microBatch = static_cast<uint64_t>(BATCH);
        options.globalBatch = ranks * options.microBatch;
        options.zero = 3;
        options.gradientBytes = 4;
        options.recompute = "selective";
        TransformerModel model = published;
        model.sequence = 8192;
        TransformerRates rates = ParallelJobOptions().GetRates("h100", 1);
        rates.operations = operations;
        const TransformerGraph graph(std::make_shared<const ParallelPlan>(model, options), rates);
        return BATCH * static_cast<double>(model.sequence) / GetSeconds(graph, getPlaces(ranks));
    };
    for (const auto& [name, few, many] : {std::tuple{"bf16", 5762.0, 5605.0},
                                          {"bf16, compiled", 6667.0, 6514.0},
                                          {"fp8, compiled", 8532.0, 8380.0}})
    {
        double operations = 400e12;
        for (uint32_t round = 0; round < ROUNDS; round++)
        {
            operations *= few / getTokens(8, operations);
        }
        const std::string label = std::string("8B, FSDP, ") + name;
        Add(label + ", 8 GPUs",
            "tokens/s/GPU",
            Role::CALIBRATION,
            SOURCE,
            few,
            NONE,
            getTokens(8, operations));
        Add(label + ", 128 GPUs",
            "tokens/s/GPU",
            Role::PREDICTED,
            SOURCE,
            many,
            NONE,
            getTokens(128, operations));
    }
}

inline void
Comparison::CompareTorchTitan()
{
    m_table.PrintHeadings("\nTorchTitan, H100, 8 NICs of 400 Gbit/s a node; FSDP with 2 samples of "
                          "8192 tokens, gradients of 4 bytes\n");
    CompareFsdp();
    Add("405B, 512 GPUs: interleaved over 1F1B, 8 micro-batches and 2 chunks assumed",
        "",
        Role::PREDICTED,
        "TorchTitan, benchmarks",
        128.0 / 100,
        (8 + 7.0) / (8 + 7.0 / 2),
        GetMicroBatches("1f1b", 8, 8) / GetMicroBatches("interleaved:v=2", 8, 8));
}

inline void
Comparison::CompareOperations()
{
    constexpr const char* SOURCE = "Megatron-LM, SC 2021, table 1";
    constexpr uint64_t VOCABULARY = 51200;
    m_table.PrintHeadings(
        "\nIterations of ten models: computations of the graph at the published rate, which "
        "contains bubbles and communication;\npublished: by the paper's formula\n");

    struct Row
    {
        const char* model;
        uint32_t gpus;
        uint64_t batch;
        double rate; ///< of a GPU, TFLOP/s
    };

    for (const Row& row : {Row{"megatron-1.7b", 32, 512, 137},
                           Row{"megatron-3.6b", 64, 512, 138},
                           Row{"megatron-7.5b", 128, 512, 142},
                           Row{"megatron-18.4b", 256, 1024, 135},
                           Row{"megatron-39.1b", 512, 1536, 138},
                           Row{"megatron-76.1b", 1024, 1792, 140},
                           Row{"megatron-145.6b", 1536, 2304, 148},
                           Row{"megatron-310.1b", 1920, 2160, 155},
                           Row{"megatron-529.6b", 2520, 2520, 163},
                           Row{"megatron-1008b", 3072, 3072, 163}})
    {
        TransformerModel model = FindTransformer(row.model);
        ParallelOptions options;
        options.recompute = "full";
        const auto plan = std::make_shared<const ParallelPlan>(model, options);
        // One rank computes a sample; no time for memory.
        TransformerRates rates;
        rates.operations = row.rate * 1e12;
        rates.memory = 1e30;
        const double sample = TimeGraph(TransformerGraph(plan, rates), 1).end.GetSeconds();
        const double share = static_cast<double>(row.batch) / row.gpus;
        const auto layers = static_cast<double>(model.layers);
        const auto hidden = static_cast<double>(model.hidden);
        const auto sequence = static_cast<double>(model.sequence);
        const double published = 96 * sequence * layers * hidden * hidden *
                                 (1 + sequence / (6 * hidden) +
                                  static_cast<double>(VOCABULARY) / (16 * layers * hidden)) /
                                 rates.operations;
        Add(std::string(row.model) + ", " + std::to_string(row.gpus) + " GPUs",
            "s",
            Role::PREDICTED,
            SOURCE,
            share * published,
            NONE,
            share * sample);
    }
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_JOB_VALIDATION_MODELS_H
