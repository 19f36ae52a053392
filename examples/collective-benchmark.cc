/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Measures collectives over sizes, as nccl-tests does on real clusters:
 *
 *   ./ns3w run "collective-benchmark --operation=all-reduce --ranks=16 --bytes=8:64M:x4"
 */

#include "ns3/core-module.h"
#include "ns3/distributed-training-module.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <utility>

using namespace ns3;
using namespace ns3::training;

namespace
{

/** Options of the program besides those of the cluster. */
struct BenchmarkOptions
{
    std::string operation{"all-reduce"};
    std::string bytes{"8:64M:x8"};
    std::string payload{"virtual"};
    uint64_t warmup{1};
    bool printTrees{false};
    std::string sweep;
    std::string json;
};

/** Prints the trees of MULTITREE on one line; without --ranks for one rank per host. */
void
PrintTrees(const ProgramOptions& options, const ClusterOptions& cluster)
{
    if (KeyValues::Split(cluster.algorithm).GetName() != "multitree")
    {
        throw ConfigurationError("--print-trees with --algorithm=" + cluster.algorithm +
                                 " (allowed: multitree)");
    }
    const auto ranks = static_cast<uint32_t>(options.IsGiven("ranks") ? cluster.ranks : 1);
    const auto topology = BuildTopology(cluster.topology, ranks, cluster.rate, cluster.delay);
    CollectiveRequest request;
    request.ranks = options.IsGiven("ranks") ? ranks : topology.hosts;
    request.topology = &topology;
    CheckRequest(cluster.algorithm, request);
    std::cout << PlanSpanningTrees(request).Serialize() << std::endl;
}

JsonValue
ToJson(const CollectiveMeasurement& row, const std::string& choice)
{
    auto json = JsonValue::Object();
    json.Set("algorithm", row.algorithm)
        .Set("choice", choice)
        .Set("operation", GetName(row.operation))
        .Set("bytes", row.bytes)
        .Set("time_us", row.seconds * 1e6)
        .Set("algbw_GBps", row.algorithmBandwidth)
        .Set("busbw_GBps", row.busBandwidth)
        .Set("lower_bound_us", row.lowerBound * 1e6)
        .Set("efficiency", row.efficiency)
        .Set("verified", row.verified);
    return json;
}

void
PrintHead(const std::string& what,
          const ClusterOptions& options,
          const std::string& first,
          const std::vector<std::string>& notes)
{
    std::printf("# %s, %llu ranks, %s, %s, %s\n",
                what.c_str(),
                static_cast<unsigned long long>(options.ranks),
                options.topology.c_str(),
                FormatRate(options.rate).c_str(),
                options.transport.c_str());
    for (const std::string& note : notes)
    {
        std::printf("# %s\n", note.c_str());
    }
    std::printf("%s%14s %14s %12s %12s %16s %11s %9s\n",
                first.c_str(),
                "bytes",
                "time (us)",
                "algbw (GB/s)",
                "busbw (GB/s)",
                "lower bound (us)",
                "efficiency",
                "verified");
}

void
PrintRow(const CollectiveMeasurement& row, bool real)
{
    std::printf("%14llu %14.3f %12.3f %12.3f %16.3f %11.3f %9s\n",
                static_cast<unsigned long long>(row.bytes),
                row.seconds * 1e6,
                row.algorithmBandwidth,
                row.busBandwidth,
                row.lowerBound * 1e6,
                row.efficiency,
                row.verified ? "yes" : (real ? "WRONG" : "no"));
    std::fflush(stdout);
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
      const ClusterOptions& cluster,
      const SweepRequest& request,
      const JsonOutput& json,
      bool table)
{
    auto rows = JsonValue::Array();
    std::string mismatch;
    bool isFirst = true;
    const auto onRow = [&](const CollectiveMeasurement& row) {
        if (table && std::exchange(isFirst, false)) // all configuration errors are found by now
        {
            PrintHead(GetName(request.operation) + ", every algorithm",
                      cluster,
                      "algorithm               ",
                      {});
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
        fastest.Append(JsonValue::Object()
                           .Set("bytes", bytes)
                           .Set("algorithm", best->algorithm)
                           .Set("time_us", best->seconds * 1e6)
                           .Set("auto", choice)
                           .Set("auto_time_us", chosen->seconds * 1e6));
        if (table)
        {
            std::printf("# %llu bytes: fastest %s, %.3f us; auto takes %s, %.3f us\n",
                        static_cast<unsigned long long>(bytes),
                        best->algorithm.c_str(),
                        best->seconds * 1e6,
                        choice.c_str(),
                        chosen->seconds * 1e6);
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
    AddRunCost(document, sweep.cost);
    document.Set("configuration", options.ToJson());
    document.Set("version", GetVersion());
    json.Write(document);
    if (table)
    {
        std::printf("%s\n", FormatRunCost(sweep.cost).c_str());
    }
    return Report(mismatch);
}

int
Benchmark(int argc, char* argv[])
{
    BenchmarkOptions benchmark;
    ClusterOptions clusterOptions;
    ProgramOptions options("collective-benchmark",
                           "Measures a collective over sizes on a simulated cluster.");
    options.Group("Benchmark");
    std::vector<std::string> operations;
    for (CollectiveOperation operation : GetCollectiveOperations())
    {
        operations.push_back(GetName(operation));
    }
    options.AddChoice("operation", "collective", benchmark.operation, operations);
    options.AddString("bytes",
                      "sizes of the whole vector: begin:end:xFACTOR, begin:end:STEP, or a list "
                      "a,b,c; with units such as 64K, 1MiB",
                      benchmark.bytes);
    options.AddChoice("payload",
                      "virtual carries sizes, real carries numbers and compares the results",
                      benchmark.payload,
                      {"virtual", "real"});
    options.AddUnsigned("warmup",
                        "runs of each size that are not measured",
                        benchmark.warmup,
                        0,
                        1000);
    options.AddBool("print-trees",
                    "only print the trees of multitree: root:child<parent@step,...;...; without "
                    "--ranks with a rank on every host",
                    benchmark.printTrees);
    options.AddChoice("sweep",
                      "algorithms: measure every algorithm that fits, in place of --algorithm",
                      benchmark.sweep,
                      {"algorithms"});
    options.AddString("json",
                      "file for the results as JSON, or - for standard output",
                      benchmark.json);
    ClusterCommandLine commandLine(clusterOptions);
    commandLine.AddTo(options, "algorithm");
    for (const std::string key : {"order", "stop"})
    {
        options.AddRenamed(key, "--algorithm=multitree:" + key + "=VALUE", "multitree");
    }
    options.Parse(argc, argv);
    const CollectiveOperation operation = FindCollectiveOperation(benchmark.operation);
    const std::vector<uint64_t> sizes = ParseSizes("--bytes", benchmark.bytes);
    const bool real = benchmark.payload == "real";
    if (commandLine.ShowTopology())
    {
        return 0;
    }
    if (benchmark.printTrees)
    {
        PrintTrees(options, clusterOptions);
        return 0;
    }
    for (uint64_t bytes : sizes)
    {
        if (real && bytes % sizeof(float) != 0)
        {
            throw ConfigurationError("--bytes=" + std::to_string(bytes) +
                                     " with --payload=real (allowed: multiples of 4)");
        }
    }
    const JsonOutput json(benchmark.json);
    const bool table = benchmark.json != "-";
    if (!benchmark.sweep.empty())
    {
        if (commandLine.IsScheduleRequested())
        {
            throw ConfigurationError("--sweep with --print-schedule or --export-schedule (allowed: "
                                     "without)");
        }
        return Sweep(options,
                     clusterOptions,
                     {operation, sizes, real, benchmark.warmup, RngSeedManager::GetRun()},
                     json,
                     table);
    }
    Cluster cluster(clusterOptions);
    cluster.GetPlanner().Check(operation);
    const uint64_t largest = *std::max_element(sizes.begin(), sizes.end());
    if (commandLine.ShowSchedule(cluster, operation, largest))
    {
        return 0;
    }
    GuardedRun run(cluster);
    uint64_t runs = 0;
    ProgressLine progress(cluster.GetFabric(), [&] {
        return static_cast<double>(runs) /
               static_cast<double>(sizes.size() * (benchmark.warmup + 1));
    });

    if (table)
    {
        PrintHead(benchmark.operation + ", " + cluster.GetAlgorithm(),
                  clusterOptions,
                  "",
                  cluster.GetNotes());
    }
    auto rows = JsonValue::Array();
    std::string mismatch;
    double largestError = real ? 0 : -1;
    for (uint64_t bytes : sizes)
    {
        CollectiveMeasurement row;
        for (uint64_t i = 0; i <= benchmark.warmup && mismatch.empty(); i++)
        {
            row = MeasureCollective(cluster, run, operation, bytes, real, RngSeedManager::GetRun());
            mismatch = row.mismatch;
            largestError = std::max(largestError, row.largestError);
            runs++;
        }
        const std::string choice = cluster.GetPlanner().Explain(operation, bytes, 0);
        row.algorithm = choice.empty() ? cluster.GetAlgorithm() : row.algorithm;
        rows.Append(ToJson(row, choice));
        if (table)
        {
            progress.Clear();
            if (!choice.empty())
            {
                std::printf("# auto: %s\n", choice.c_str());
            }
            PrintRow(row, real);
        }
        if (!mismatch.empty())
        {
            break;
        }
    }
    GatherCounters(cluster.GetFabric());
    const RunCost cost = GetRunCost(cluster.GetFabric());
    const auto warnings = GetWarnings(cluster);
    auto document = JsonValue::Object();
    document.Set("rows", rows);
    if (auto figures = GetInNetworkFigures(cluster))
    {
        figures->maxError = largestError;
        document.Set("in_network", figures->ToJson());
    }
    AddWarnings(document, warnings);
    const auto tcp = GetTcpFigures(cluster);
    if (tcp)
    {
        document.Set("tcp", tcp->ToJson());
    }
    AddRunCost(document, cost);
    document.Set("configuration", GetConfiguration(options, cluster));
    document.Set("version", GetVersion());
    json.Write(document);
    if (table)
    {
        std::printf("%s%s%s%s\n",
                    FormatFallback(cluster).c_str(),
                    FormatWarnings(warnings).c_str(),
                    tcp ? tcp->Format().c_str() : "",
                    FormatRunCost(cost).c_str());
    }
    Simulator::Destroy();
    return Report(mismatch);
}

} // namespace

int
main(int argc, char* argv[])
{
    return RunProgram("collective-benchmark", [&] { return Benchmark(argc, argv); });
}
