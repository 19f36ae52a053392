/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "checkpoint-program.h"

#include "checkpoint-measurement.h"
#include "experiment.h"
#include "published-table.h"
#include "run/algorithm-advice.h"

#include "ns3/json-output.h"
#include "ns3/run-cost.h"
#include "ns3/training-processes.h"
#include "ns3/training-quantity.h"
#include "ns3/training-version.h"
#include "ns3/training-workload.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <string>

namespace ns3::training
{

namespace
{

/** Parameters of the program. */
struct CheckpointArguments
{
    std::string workload{"resnet50"};
    uint64_t batch{32};
    std::string gpu{DEFAULT_GPU};
    uint64_t storageHosts{1};
    DataRate storageRate{20000000000};
    bool asynchronous{false};
    DataRate snapshotRate{100000000000};
    uint64_t bytes{0};
    ClusterOptions cluster;
    std::string json;
    RunFilesOptions files;
};

/** @return a time as an option of job-life, rounded to nanoseconds */
std::string
ToOption(double seconds)
{
    return FormatTime(NanoSeconds(std::llround(seconds * 1e9)));
}

/** @return the job, with its checkpoint */
CheckpointRun
MakeRun(const CheckpointArguments& setting)
{
    TrainingRunOptions options;
    options.workload = setting.workload;
    options.batch = setting.batch;
    options.gpu = setting.gpu;
    options.cluster = setting.cluster;
    CheckpointRun run;
    run.job = MakeJobPlan(options);
    run.cluster = options.cluster; // a job may have its own number of ranks
    run.bytes = setting.bytes;
    if (run.bytes == 0)
    {
        const uint64_t parameters = LoadModel(setting.workload, setting.batch, 1).GetParameters();
        run.bytes = static_cast<uint64_t>(CHECKPOINT_PARAMETER_BYTES) * parameters;
    }
    run.plan.storageHosts = static_cast<uint32_t>(setting.storageHosts);
    run.plan.storageRate = static_cast<double>(setting.storageRate.GetBitRate()) / 8;
    run.plan.isAsynchronous = setting.asynchronous;
    run.plan.snapshotRate = static_cast<double>(setting.snapshotRate.GetBitRate()) / 8;
    return run;
}

/** @return least time for the bytes of all ranks to come to the hosts, and to be stored, s */
double
GetBound(const CheckpointRun& run)
{
    const auto ranks = static_cast<double>(run.cluster.ranks);
    const double share = static_cast<double>(run.bytes) / ranks;
    const double clients = std::ceil(ranks / run.plan.storageHosts);
    const double lines = 8 * clients * share / static_cast<double>(run.cluster.rate.GetBitRate());
    return std::max(lines, clients * share / run.plan.storageRate);
}

} // namespace

int
RunCheckpointTimes(const std::vector<std::string>& arguments)
{
    CheckpointArguments setting;
    ProgramOptions options("checkpoint-times",
                           "Simulates checkpoints and a restart of a job packet by packet.");
    options.Group("Job");
    options.AddKind("workload",
                    "workload",
                    "training that is simulated",
                    setting.workload,
                    &DescribeAlternatives<WorkloadEntry>,
                    "the path of a file of a known format");
    options.AddUnsigned("batch", "samples per rank and iteration", setting.batch, 1, MAX_BATCH);
    options.AddKind("gpu",
                    "gpu",
                    "GPU of each rank: compute times of built-in models",
                    setting.gpu,
                    &DescribeAlternatives<GpuEntry>);
    options.Group("Checkpoint");
    options.AddAutomatic({"bytes",
                          Key::Type::BYTES,
                          "of a checkpoint, in equal shares; auto: 14 for each parameter",
                          "",
                          1,
                          1e18},
                         setting.bytes);
    options.AddUnsigned("storage-hosts",
                        "hosts that store, behind those of the ranks",
                        setting.storageHosts,
                        1,
                        1 << 20);
    options.AddRate("storage-rate", "rate of the storage of such a host", setting.storageRate);
    options.AddBool("asynchronous",
                    "whether ranks copy their share, and send it while they train",
                    setting.asynchronous);
    options.AddRate("snapshot-rate", "rate of that copy", setting.snapshotRate);
    options.Group("Output");
    options.AddJson(setting.json);
    setting.files.AddTo(options);
    ClusterCommandLine cluster(setting.cluster);
    cluster.AddTo(options);
    options.Parse(arguments);
    if (cluster.ShowTopology())
    {
        return 0;
    }
    if (Processes::GetCount() > 1)
    {
        throw ConfigurationError("--mpi=" + std::to_string(Processes::GetCount()) +
                                 " (allowed: 1)");
    }
    const JsonOutput json(setting.json);
    const CheckpointRun run = MakeRun(setting);
    CheckpointSpans spans;
    RecordAll(options, setting.files, [&] { spans = MeasureCheckpoint(run); });
    const bool prints = setting.json != "-";
    PublishedTable table({{"span", "", -44},
                          {"bound_s", "bound (s)", 12, "%.6f"},
                          {"seconds", "ours (s)", 12, "%.6f"}},
                         prints ? PublishedTable::Printing::AT_ONCE
                                : PublishedTable::Printing::NEVER);
    table.PrintHeadings(run.job.description + ", " + std::to_string(run.cluster.ranks) +
                        " ranks, " + std::to_string(setting.storageHosts) +
                        " storage hosts, checkpoint of " + std::to_string(run.bytes) + " bytes\n");
    constexpr double NONE = PublishedTable::UNKNOWN;
    table.AddRow({"iteration", run.job.compute.GetSeconds(), spans.iterationS});
    table.AddRow({setting.asynchronous ? "checkpoint: what it adds to iterations"
                                       : "checkpoint: iterations stand still",
                  setting.asynchronous ? NONE : GetBound(run),
                  spans.checkpointS});
    table.AddRow({"drain, beside the training",
                  setting.asynchronous ? GetBound(run) : NONE,
                  setting.asynchronous ? spans.drainS : NONE});
    table.AddRow({"load, in a restart", GetBound(run), spans.loadS});
    std::string life = "job-life --gpus=" + std::to_string(run.cluster.ranks) +
                       " --iteration=" + ToOption(spans.iterationS) +
                       " --checkpoint=" + ToOption(std::max(0.0, spans.checkpointS)) +
                       " --load-time=" + ToOption(spans.loadS);
    life += setting.asynchronous ? " --drain=" + ToOption(spans.drainS) : "";
    if (prints)
    {
        std::cout << (spans.isDrained ? ""
                                      : "warning: the drain outlasts the simulated iterations, so "
                                        "that it adds more to others\n")
                  << FormatRunCost(spans.cost) << "\n"
                  << FormatInputs("compute times of " + run.job.times + "; " +
                                  setting.cluster.DescribeHosts())
                  << life << std::endl;
    }
    auto document = JsonValue::Object();
    document.Set("checkpoint_bytes", run.bytes)
        .Set("iteration_s", spans.iterationS)
        .Set("checkpoint_s", spans.checkpointS)
        .Set("drain_s", setting.asynchronous ? JsonValue(spans.drainS) : JsonValue())
        .Set("is_drained", spans.isDrained)
        .Set("load_s", spans.loadS)
        .Set("bound_s", GetBound(run))
        .Set("job_life", life)
        .Set("candidates", ListCandidates(spans.choices));
    AddRunCost(document, spans.cost);
    document.Set("configuration", options.ToJson()).Set("version", GetVersion());
    json.Write(document);
    return 0;
}

} // namespace ns3::training
