/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective-program.h"

#include "collective/algorithms/multitree-collective.h"
#include "guard/run-warnings.h"
#include "measure/algorithm-sweep.h"
#include "measure/benchmark-options.h"
#include "measure/benchmark-run.h"
#include "options/repeated-runs.h"
#include "options/size-list.h"
#include "record/run-statistics.h"
#include "run/algorithm-advice.h"

#include "ns3/cluster-command-line.h"
#include "ns3/guarded-run.h"
#include "ns3/in-network-figures.h"
#include "ns3/json-output.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/run-cost.h"
#include "ns3/topology-builder.h"
#include "ns3/training-quantity.h"
#include "ns3/training-version.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

namespace
{

/** Prints the trees of MULTITREE on one line; without --ranks for one rank per host. */
void
PrintTrees(const ProgramOptions& options, const ClusterOptions& cluster)
{
    if (KeyValues::Split(cluster.algorithm).GetName() != "multitree")
    {
        throw ConfigurationError("--print-trees with --collective=" + cluster.algorithm +
                                 " (allowed: multitree)");
    }
    const auto ranks = static_cast<uint32_t>(options.IsGiven("ranks") ? cluster.ranks : 1);
    const auto topology = cluster.GetTopology(ranks);
    CollectiveRequest request;
    request.ranks = options.IsGiven("ranks") ? ranks : topology->hosts;
    request.topology = topology.get();
    CheckRequest(cluster.algorithm, request);
    std::cout << PlanSpanningTrees(request).Serialize() << std::endl;
}

/** Prints what the set-up of a collective takes: the schedule, without its paths. */
void
PrintSetUp(const BenchmarkOptions& benchmark, const ClusterOptions& cluster, uint64_t bytes)
{
    const auto ranks = static_cast<uint32_t>(cluster.ranks);
    const auto topology = cluster.GetTopology(ranks);
    CollectiveRequest request;
    request.operation = FindCollectiveOperation(benchmark.operation);
    request.ranks = ranks;
    request.bytes = bytes;
    request.topology = topology.get();
    const RunCost before = GetRunCost(Fabric());
    const CollectiveSchedule schedule = BuildSchedule(cluster.algorithm, request);
    const RunCost after = GetRunCost(Fabric());
    uint64_t actions = 0;
    for (uint32_t rank = 0; rank < schedule.GetSize(); rank++)
    {
        actions += schedule.GetActions(rank);
    }
    std::printf("# set-up of %s, %s, %s\n%8s %13s %9s %11s %10s\n%8u %13llu %9.3f %11.3f %10.3f\n",
                benchmark.operation.c_str(),
                cluster.algorithm.c_str(),
                cluster.topology.c_str(),
                "ranks",
                "actions",
                "CPU (s)",
                "kept (MB)",
                "peak (MiB)",
                ranks,
                static_cast<unsigned long long>(actions),
                after.cpuSeconds - before.cpuSeconds,
                static_cast<double>(schedule.GetMemory()) / 1e6,
                after.peakMemoryMebibytes - before.peakMemoryMebibytes);
}

/** @return the exit status, given a description of the first wrong result or empty */
int
Report(const std::string& mismatch)
{
    if (!mismatch.empty())
    {
        std::cerr << "collective-benchmark: wrong result: " << mismatch << std::endl;
        return 4;
    }
    return 0;
}

/** Measures every algorithm that supports the collective. */
int
Sweep(const ProgramOptions& options,
      const ClusterCommandLine& commandLine,
      const ClusterOptions& cluster,
      const SweepRequest& request,
      const JsonOutput& json,
      bool table)
{
    auto rows = JsonValue::Array();
    std::string mismatch;
    std::string failure;
    bool isFirst = true;
    const auto onRow = [&](const Cluster& run, const CollectiveMeasurement& row) {
        if (std::exchange(isFirst, false)) // all configuration errors are found by now
        {
            commandLine.ExportTopology();
            if (table)
            {
                PrintHead(GetName(request.operation) + ", every algorithm",
                          cluster,
                          "algorithm               ",
                          run.GetNotes());
            }
        }
        if (failure.empty() && !row.failure.empty())
        {
            failure = row.algorithm + ": " + row.failure;
        }
        rows.Append(ToJson(row, ""));
        if (mismatch.empty() && !row.mismatch.empty())
        {
            mismatch = row.algorithm + ": " + row.mismatch;
        }
        if (table)
        {
            std::printf("%-24s", row.algorithm.c_str());
            PrintRow(row, request.real);
        }
    };
    const AlgorithmSweep sweep = SweepAlgorithms(cluster, request, onRow);
    auto fastest = JsonValue::Array();
    auto unfit = JsonValue::Array();
    for (uint64_t bytes : request.sizes)
    {
        const CollectiveMeasurement* best = sweep.FindFastest(bytes);
        const std::string& choice = sweep.choices.at(bytes);
        const CollectiveMeasurement* chosen = sweep.Find(bytes, choice);
        if (!best)
        {
            continue; // every algorithm is stuck
        }
        fastest.Append(
            JsonValue::Object()
                .Set("bytes", bytes)
                .Set("algorithm", best->algorithm)
                .Set("time_us", best->seconds * 1e6)
                .Set("auto", choice)
                .Set("auto_time_us", chosen ? JsonValue(chosen->seconds * 1e6) : JsonValue()));
        if (table)
        {
            std::printf("# %llu bytes: fastest %s, %.3f us; auto takes %s, ",
                        static_cast<unsigned long long>(bytes),
                        best->algorithm.c_str(),
                        best->seconds * 1e6,
                        choice.c_str());
            chosen ? std::printf("%.3f us\n", chosen->seconds * 1e6) : std::printf("stuck\n");
        }
    }
    for (const auto& [name, reason] : sweep.unfit)
    {
        unfit.Append(JsonValue::Object().Set("algorithm", name).Set("reason", reason));
        if (table)
        {
            std::printf("# does not fit: %s\n", reason.c_str());
        }
    }
    auto document = JsonValue::Object();
    document.Set("rows", rows).Set("fastest", fastest).Set("unfit", unfit);
    AddWarnings(document, sweep.warnings);
    AddRunCost(document, sweep.cost);
    document.Set("inputs", cluster.DescribeHosts());
    AddFailure(document, sweep.interruption ? "interrupted" : failure);
    document.Set("configuration", options.ToJson());
    document.Set("version", GetVersion());
    json.Write(document);
    if (table)
    {
        std::printf("%s%s\n%s",
                    FormatWarnings(sweep.warnings).c_str(),
                    FormatRunCost(sweep.cost).c_str(),
                    FormatInputs(cluster.DescribeHosts()).c_str());
    }
    if (sweep.interruption)
    {
        std::rethrow_exception(sweep.interruption);
    }
    if (mismatch.empty() && !failure.empty())
    {
        throw SimulationStuck(failure);
    }
    return Report(mismatch);
}

/** Measures with several run numbers, and prints means with their confidence. */
int
Repeat(const ProgramOptions& options,
       const ClusterOptions& clusterOptions,
       const BenchmarkOptions& benchmark,
       const std::vector<uint64_t>& sizes,
       const RepeatedRuns& repeated)
{
    const CollectiveOperation operation = FindCollectiveOperation(benchmark.operation);
    const JsonOutput json(benchmark.json);
    std::vector<BenchmarkRun> runs;
    RunCost cost;
    auto list = JsonValue::Array();
    auto configuration = JsonValue::Object();
    std::string algorithm;
    std::string fallback;
    std::string failure;
    std::exception_ptr stuck;
    std::vector<std::string> notes;
    std::vector<std::string> warnings;
    repeated.ForEach([&](uint64_t number) {
        {
            const Cluster cluster(clusterOptions);
            cluster.GetPlanner().Check(operation);
            configuration = GetConfiguration(options.ToJson(), cluster);
            BenchmarkRun all(cluster, configuration, benchmark, sizes, [](auto&&...) {});
            MergeWarnings(warnings, training::GetWarnings(cluster));
            if (all.stuck) // the complete runs are kept
            {
                stuck = all.stuck;
                failure = "run " + std::to_string(number) + ": " + all.failure;
                return false;
            }
            runs.push_back(all);
            algorithm = cluster.GetPlan().GetAlgorithm();
            fallback = FormatFallback(cluster);
            notes = cluster.GetNotes();
            auto one = JsonValue::Object();
            one.Set("run", number).Set("rows", runs.back().ToJson());
            runs.back().figures.AddTo(one);
            list.Append(one);
        }
        Simulator::Destroy();
        cost.Add(runs.back().cost);
        return runs.back().mismatch.empty();
    });
    if (!runs.empty() && !runs.back().mismatch.empty())
    {
        return Report(runs.back().mismatch);
    }
    const bool table = benchmark.json != "-" && !stuck;
    if (table)
    {
        PrintHead(benchmark.operation + ", " + algorithm + ", mean and 95 % confidence of " +
                      std::to_string(runs.size()) + " runs",
                  clusterOptions,
                  "",
                  notes);
    }
    auto rows = JsonValue::Array();
    for (std::size_t i = 0; i < sizes.size() && !runs.empty(); i++)
    {
        const CollectiveMeasurement mean = Estimate(runs, i, &MeanEstimate::mean);
        const CollectiveMeasurement half = Estimate(runs, i, &MeanEstimate::halfWidth);
        auto row = ToJson(mean, runs[0].choices[i]);
        row.Set("time_us_95", half.seconds * 1e6)
            .Set("algbw_GBps_95", half.algorithmBandwidth)
            .Set("busbw_GBps_95", half.busBandwidth)
            .Set("efficiency_95", half.efficiency);
        rows.Append(row);
        if (table)
        {
            PrintRow(mean, benchmark.IsReal());
            std::printf("%14s %14.3f %12.3f %12.3f %16s %11.3f\n",
                        "+-",
                        half.seconds * 1e6,
                        half.algorithmBandwidth,
                        half.busBandwidth,
                        "",
                        half.efficiency);
        }
    }
    auto document = JsonValue::Object();
    document.Set("rows", rows)
        .Set("candidates",
             ListCandidates(runs.empty() ? std::vector<PlannedChoice>() : runs[0].planned))
        .Set("runs", list);
    AddWarnings(document, warnings);
    AddRunCost(document, cost);
    document.Set("inputs", clusterOptions.DescribeHosts());
    AddFailure(document, failure);
    document.Set("configuration", configuration).Set("version", GetVersion());
    json.Write(document);
    if (table)
    {
        std::printf("%s%s%s\n%s",
                    fallback.c_str(),
                    FormatWarnings(warnings).c_str(),
                    FormatRunCost(cost).c_str(),
                    FormatInputs(clusterOptions.DescribeHosts()).c_str());
    }
    if (stuck)
    {
        std::rethrow_exception(stuck);
    }
    return 0;
}

} // namespace

int
RunCollectiveBenchmark(const std::vector<std::string>& arguments)
{
    BenchmarkOptions benchmark;
    ClusterOptions clusterOptions;
    ProgramOptions options("collective-benchmark",
                           "Measures a collective over sizes on a simulated cluster.");
    benchmark.AddTo(options);
    ClusterCommandLine commandLine(clusterOptions);
    commandLine.AddTo(options);
    for (const std::string key : {"order", "stop"})
    {
        options.AddRenamed(key, "--collective=multitree:" + key + "=VALUE", "multitree");
    }
    options.Group("Repetition");
    RepeatedRuns repeated;
    repeated.AddTo(options);
    options.Parse(arguments);
    commandLine.FollowTopology(options);
    const CollectiveOperation operation = FindCollectiveOperation(benchmark.operation);
    const std::vector<uint64_t> sizes = ParseSizes("--bytes", benchmark.bytes);
    const bool real = benchmark.IsReal();
    if (commandLine.ShowTopology())
    {
        return 0;
    }
    if (benchmark.printTrees)
    {
        PrintTrees(options, clusterOptions);
        return 0;
    }
    if (benchmark.setup)
    {
        for (const std::string other : {"json", "results", "trace", "report", "sweep", "runs"})
        {
            if (options.IsGiven(other))
            {
                throw ConfigurationError("--set-up with --" + other + " (allowed: without)");
            }
        }
        PrintSetUp(benchmark, clusterOptions, sizes.front());
        return 0;
    }
    benchmark.Check(options, clusterOptions, sizes);
    if (repeated.GetCount() > 1)
    {
        repeated.Check(options,
                       {"sweep", "trace", "report", "pcap", "export-schedule", "print-schedule"});
        return Repeat(options, clusterOptions, benchmark, sizes, repeated);
    }
    const JsonOutput json(benchmark.json);
    const bool table = benchmark.json != "-";
    if (!benchmark.sweep.empty())
    {
        for (const std::string file : {"results", "trace", "report"})
        {
            if (options.IsGiven(file))
            {
                throw ConfigurationError("--sweep with --" + file + " (allowed: without)");
            }
        }
        if (commandLine.IsScheduleRequested())
        {
            throw ConfigurationError("--sweep with --print-schedule or --export-schedule (allowed: "
                                     "without)");
        }
        return Sweep(options,
                     commandLine,
                     clusterOptions,
                     {operation,
                      sizes,
                      real,
                      benchmark.warmup,
                      RngSeedManager::GetRun(),
                      benchmark.gradients},
                     json,
                     table);
    }
    Cluster cluster(clusterOptions);
    cluster.GetPlanner().Check(operation);
    const uint64_t largest = *std::max_element(sizes.begin(), sizes.end());
    CheckSize(cluster, operation, largest, benchmark.warmup + 1, real);
    if (commandLine.ShowSchedule(cluster, operation, largest))
    {
        return 0;
    }
    if (table)
    {
        PrintHead(benchmark.operation + ", " + cluster.GetPlan().GetAlgorithm(),
                  clusterOptions,
                  "",
                  cluster.GetNotes());
    }
    const auto onRow = [&](const CollectiveMeasurement& row, const std::string& choice) {
        if (table)
        {
            if (!choice.empty())
            {
                std::printf("# %s: %s\n", clusterOptions.algorithm.c_str(), choice.c_str());
            }
            PrintRow(row, real);
        }
    };
    const JsonValue configuration = GetConfiguration(options.ToJson(), cluster);
    const BenchmarkRun all(cluster, configuration, benchmark, sizes, onRow);
    const auto warnings = all.GetWarnings();
    auto document = JsonValue::Object();
    document.Set("rows", all.ToJson()).Set("candidates", ListCandidates(all.planned));
    all.figures.AddTo(document);
    AddWarnings(document, warnings);
    AddRunCost(document, all.cost);
    document.Set("inputs", clusterOptions.DescribeHosts());
    AddFailure(document, all.failure);
    document.Set("configuration", configuration);
    document.Set("version", GetVersion());
    json.Write(document);
    if (table && !all.stuck)
    {
        std::printf("%s%s%s%s\n%s",
                    FormatFallback(cluster).c_str(),
                    FormatWarnings(warnings).c_str(),
                    all.figures.Format().c_str(),
                    FormatRunCost(all.cost).c_str(),
                    FormatInputs(clusterOptions.DescribeHosts()).c_str());
    }
    Simulator::Destroy();
    if (all.stuck)
    {
        std::rethrow_exception(all.stuck);
    }
    return Report(all.mismatch);
}

} // namespace ns3::training
