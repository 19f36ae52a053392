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

#include "hidden-global-values.h"

#include "ns3/algorithm-advice.h"
#include "ns3/algorithm-sweep.h"
#include "ns3/fabric-border.h"
#include "ns3/json-output.h"
#include "ns3/multitree-collective.h"
#include "ns3/progress-line.h"
#include "ns3/recorded-collectives.h"
#include "ns3/repeated-runs.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/run-cost.h"
#include "ns3/run-figures.h"
#include "ns3/run-statistics.h"
#include "ns3/run-warnings.h"
#include "ns3/size-list.h"
#include "ns3/topology-builder.h"
#include "ns3/training-program.h"
#include "ns3/training-quantity.h"
#include "ns3/training-version.h"
#include "ns3/work-estimate.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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
    std::string gradients{"hash"};
    uint64_t warmup{1};
    bool printTrees{false};
    bool setup{false};
    std::string sweep;
    std::string json;
    RunFilesOptions files;
};

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
    const auto topology = BuildTopology(cluster.topology, ranks, cluster.rate, cluster.delay);
    CollectiveRequest request;
    request.ranks = options.IsGiven("ranks") ? ranks : topology.hosts;
    request.topology = &topology;
    CheckRequest(cluster.algorithm, request);
    std::cout << PlanSpanningTrees(request).Serialize() << std::endl;
}

/** Prints what the set-up of a collective takes: the schedule, without its paths. */
void
PrintSetUp(const BenchmarkOptions& benchmark, const ClusterOptions& cluster, uint64_t bytes)
{
    const auto ranks = static_cast<uint32_t>(cluster.ranks);
    const auto topology = BuildTopology(cluster.topology, ranks, cluster.rate, cluster.delay);
    CollectiveRequest request;
    request.operation = FindCollectiveOperation(benchmark.operation);
    request.ranks = ranks;
    request.bytes = bytes;
    request.topology = &topology;
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

JsonValue
ToJson(const CollectiveMeasurement& row, const std::string& choice)
{
    auto json = JsonValue::Object();
    json.Set("algorithm", row.algorithm)
        .Set("choice", choice)
        .Set("operation", GetName(row.operation))
        .Set("bytes", row.bytes);
    if (!row.failure.empty())
    {
        return json.Set("failure", row.failure);
    }
    json.Set("time_us", row.seconds * 1e6)
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
    std::printf("%s%s%14s %14s %12s %12s %16s %11s %9s\n",
                FormatNotes(notes).c_str(),
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
    if (!row.failure.empty())
    {
        std::printf("%14llu stuck: %s\n",
                    static_cast<unsigned long long>(row.bytes),
                    row.failure.c_str());
        std::fflush(stdout);
        return;
    }
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

/** Measurements of all sizes in one simulation. */
struct SizeMeasurements
{
    std::vector<CollectiveMeasurement> rows;
    std::vector<std::string> choices;         // of algorithm auto, by row; otherwise empty
    std::vector<PlannedChoice> planned;       // of algorithm auto, with all candidates
    std::string mismatch;                     // the first wrong result, or empty
    double largestError{-1};                  // with a real payload
    std::optional<CodingErrors> codingErrors; // of codecs, with a real payload
    std::exception_ptr stuck; // SimulationStuck, which ended the measurements, or null
    std::string failure;      // its text, or empty
    RunCost cost;
};

/**
 * Measures all sizes, up to the first wrong result, or until the simulation is stuck.
 * @param cluster the cluster
 * @param options of the program
 * @param operation the collective
 * @param sizes of the vector
 * @param benchmark the options
 * @param onRow called after each size
 */
SizeMeasurements
MeasureSizes(const Cluster& cluster,
             const ProgramOptions& options,
             CollectiveOperation operation,
             const std::vector<uint64_t>& sizes,
             const BenchmarkOptions& benchmark,
             const std::function<void(const CollectiveMeasurement&, const std::string&)>& onRow)
{
    const bool real = benchmark.payload == "real";
    GuardedRun run(cluster);
    RunFiles files(benchmark.files,
                   cluster,
                   "collective-benchmark",
                   GetConfiguration(options.ToJson(), cluster).Write());
    uint64_t done = 0;
    double doneBytes = 0;
    const auto addSize = [&cluster](double sum, uint64_t bytes) {
        return sum + static_cast<double>(bytes + cluster.GetMtu()); // nothing takes a packet, too
    };
    const double allBytes = std::accumulate(sizes.begin(), sizes.end(), 0.0, addSize);
    const WorkVolume volume =
        WorkEstimate::IsWanted() ? EstimateCollectives(cluster, operation, sizes) : WorkVolume();
    double nextBytes = 0;
    WorkEstimate estimate(allBytes * static_cast<double>(benchmark.warmup + 1),
                          volume.Divide(allBytes),
                          cluster.GetOptions(),
                          std::to_string(sizes.size()) + " sizes, " +
                              std::to_string(benchmark.warmup + 1) + " times each");
    estimate.Show();
    ProgressLine progress(cluster.GetFabric(), [&] {
        return estimate.GetFraction(doneBytes, nextBytes, GetRankProgress(cluster).bytes);
    });
    SizeMeasurements all;
    all.largestError = real ? 0 : -1;
    for (uint64_t bytes : sizes)
    {
        CollectiveMeasurement row;
        nextBytes = addSize(0, bytes);
        try
        {
            for (uint64_t i = 0; i <= benchmark.warmup && all.mismatch.empty(); i++)
            {
                files.GetRecorder().BeginIteration(static_cast<uint32_t>(done));
                row = MeasureCollective(cluster,
                                        run,
                                        operation,
                                        bytes,
                                        real,
                                        RngSeedManager::GetRun(),
                                        benchmark.gradients);
                files.AddIteration(MakeIterationRecord(row, done, i < benchmark.warmup));
                all.mismatch = row.mismatch;
                all.largestError = std::max(all.largestError, row.largestError);
                if (row.codingErrors)
                {
                    all.codingErrors = all.codingErrors.value_or(CodingErrors());
                    all.codingErrors->Add(*row.codingErrors);
                }
                done++;
                doneBytes = addSize(doneBytes, bytes);
            }
        }
        catch (const SimulationStuck& error) // the results so far are kept
        {
            all.failure = error.what();
            all.stuck = std::current_exception();
            break;
        }
        const std::string choice = cluster.GetPlanner().Explain(operation, bytes, 0);
        row.algorithm = choice.empty() ? cluster.GetAlgorithm() : row.algorithm;
        all.rows.push_back(row);
        all.choices.push_back(choice);
        progress.Clear();
        onRow(row, choice);
        if (!all.mismatch.empty())
        {
            break;
        }
    }
    GatherCounters(cluster.GetFabric());
    files.Finish();
    files.Close(all.stuck              ? all.failure
                : all.mismatch.empty() ? ""
                                       : "wrong result: " + all.mismatch);
    all.planned = cluster.GetChoices();
    all.cost = GetRunCost(cluster.GetFabric());
    return all;
}

/** @return the warnings of a cluster, and a better algorithm for the largest size, if there is one
 */
std::vector<std::string>
GetAllWarnings(const Cluster& cluster, const SizeMeasurements& all)
{
    auto warnings = GetWarnings(cluster);
    const auto largest =
        std::max_element(all.rows.begin(), all.rows.end(), [](const auto& one, const auto& other) {
            return one.bytes < other.bytes;
        });
    if (largest != all.rows.end())
    {
        const std::string advice = AdviseAlgorithm(
            cluster,
            {largest->operation, largest->bytes, largest->seconds, largest->lowerBound});
        MergeWarnings(warnings, advice.empty() ? std::vector<std::string>() : std::vector{advice});
    }
    return warnings;
}

/** @return what the parts of the cluster have counted */
RunFigures
GetFigures(const Cluster& cluster, const BenchmarkOptions& benchmark, const SizeMeasurements& all)
{
    RunFigures figures;
    figures.AddAll({cluster, benchmark.payload == "real", all.codingErrors, all.largestError});
    return figures;
}

/** @return the rows as JSON */
JsonValue
ToJson(const SizeMeasurements& all)
{
    auto rows = JsonValue::Array();
    for (std::size_t i = 0; i < all.rows.size(); i++)
    {
        rows.Append(ToJson(all.rows[i], all.choices[i]));
    }
    return rows;
}

/**
 * Merges the measurements of one size.
 * @param runs measurements of several runs
 * @param index of the size
 * @param part of the estimates
 * @return the first run's row with the part of each quantity
 */
CollectiveMeasurement
Estimate(const std::vector<SizeMeasurements>& runs, std::size_t index, double MeanEstimate::*part)
{
    CollectiveMeasurement estimate = runs[0].rows[index];
    for (double CollectiveMeasurement::*member : {&CollectiveMeasurement::seconds,
                                                  &CollectiveMeasurement::algorithmBandwidth,
                                                  &CollectiveMeasurement::busBandwidth,
                                                  &CollectiveMeasurement::efficiency})
    {
        std::vector<double> values;
        for (const SizeMeasurements& run : runs)
        {
            values.push_back(run.rows[index].*member);
        }
        estimate.*member = EstimateMean(values).*part;
    }
    for (const SizeMeasurements& run : runs)
    {
        estimate.verified &= run.rows[index].verified;
    }
    return estimate;
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
    std::vector<SizeMeasurements> runs;
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
            const SizeMeasurements all =
                MeasureSizes(cluster, options, operation, sizes, benchmark, [](auto&&...) {});
            configuration = GetConfiguration(options.ToJson(), cluster);
            MergeWarnings(warnings, GetWarnings(cluster));
            if (all.stuck) // the complete runs are kept
            {
                stuck = all.stuck;
                failure = "run " + std::to_string(number) + ": " + all.failure;
                return false;
            }
            runs.push_back(all);
            algorithm = cluster.GetAlgorithm();
            fallback = FormatFallback(cluster);
            notes = cluster.GetNotes();
            auto one = JsonValue::Object();
            one.Set("run", number).Set("rows", ToJson(runs.back()));
            GetFigures(cluster, benchmark, runs.back()).AddTo(one);
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
            PrintRow(mean, benchmark.payload == "real");
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
    options.AddKind("gradients",
                    "source",
                    "numbers of a real payload",
                    benchmark.gradients,
                    &DescribeAlternatives<GradientSourceEntry>);
    options.AddUnsigned("warmup",
                        "runs of each size that are not measured",
                        benchmark.warmup,
                        0,
                        1000);
    options.AddBool("print-trees",
                    "only print the trees of multitree: root:child<parent@step,...;...; without "
                    "--ranks with a rank on every host",
                    benchmark.printTrees);
    options.AddBool("set-up",
                    "only build the schedule for the first size, and print its actions, and the "
                    "processor time and the memory that this takes",
                    benchmark.setup);
    options.AddChoice("sweep",
                      "algorithms: measure every algorithm that fits, in place of --collective",
                      benchmark.sweep,
                      {"algorithms"});
    options.AddJson(benchmark.json);
    benchmark.files.AddTo(options);
    ClusterCommandLine commandLine(clusterOptions);
    commandLine.AddTo(options);
    for (const std::string key : {"order", "stop"})
    {
        options.AddRenamed(key, "--collective=multitree:" + key + "=VALUE", "multitree");
    }
    options.Group("Repetition");
    RepeatedRuns repeated;
    repeated.AddTo(options);
    options.Parse(argc, argv);
    commandLine.FollowTopology(options);
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
    for (uint64_t bytes : sizes)
    {
        if (real && bytes % sizeof(float) != 0)
        {
            throw ConfigurationError("--bytes=" + std::to_string(bytes) +
                                     " with --payload=real (allowed: multiples of 4)");
        }
    }
    if (options.IsGiven("gradients") && !real)
    {
        throw ConfigurationError("--gradients=" + benchmark.gradients +
                                 " with --payload=virtual (allowed: with --payload=real)");
    }
    if (real && operation != CollectiveOperation::BARRIER)
    {
        MakeGradientSource(benchmark.gradients)
            ->Check(static_cast<uint32_t>(clusterOptions.ranks),
                    1,
                    {*std::max_element(sizes.begin(), sizes.end()) / sizeof(float)});
    }
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
        PrintHead(benchmark.operation + ", " + cluster.GetAlgorithm(),
                  clusterOptions,
                  "",
                  cluster.GetNotes());
    }
    const auto onRow = [&](const CollectiveMeasurement& row, const std::string& choice) {
        if (table)
        {
            if (!choice.empty())
            {
                std::printf("# auto: %s\n", choice.c_str());
            }
            PrintRow(row, real);
        }
    };
    const SizeMeasurements all = MeasureSizes(cluster, options, operation, sizes, benchmark, onRow);
    const auto warnings = GetAllWarnings(cluster, all);
    auto document = JsonValue::Object();
    document.Set("rows", ToJson(all)).Set("candidates", ListCandidates(all.planned));
    const RunFigures figures = GetFigures(cluster, benchmark, all);
    figures.AddTo(document);
    AddWarnings(document, warnings);
    AddRunCost(document, all.cost);
    document.Set("inputs", clusterOptions.DescribeHosts());
    AddFailure(document, all.failure);
    document.Set("configuration", GetConfiguration(options.ToJson(), cluster));
    document.Set("version", GetVersion());
    json.Write(document);
    if (table && !all.stuck)
    {
        std::printf("%s%s%s%s\n%s",
                    FormatFallback(cluster).c_str(),
                    FormatWarnings(warnings).c_str(),
                    figures.Format().c_str(),
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

} // namespace

int
main(int argc, char* argv[])
{
    return RunProgram("collective-benchmark", [&] { return Benchmark(argc, argv); });
}
