/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "measure/benchmark-run.h"

#include "engine/fabric-border.h"
#include "guard/progress-line.h"
#include "guard/run-warnings.h"
#include "measure/recorded-collectives.h"
#include "options/run-title.h"
#include "run/algorithm-advice.h"
#include "run/work-estimate.h"

#include "ns3/guarded-run.h"
#include "ns3/json-output.h"
#include "ns3/rank-progress.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/run-files.h"
#include "ns3/training-quantity.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace ns3::training
{

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
    std::printf("# %s, %llu ranks, %s, %s, %s%s\n",
                what.c_str(),
                static_cast<unsigned long long>(options.ranks),
                options.topology.c_str(),
                FormatRate(options.rate).c_str(),
                options.transport.c_str(),
                DescribeDeviations(options).c_str());
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

BenchmarkRun::BenchmarkRun(const Cluster& cluster,
                           const JsonValue& configuration,
                           const BenchmarkOptions& benchmark,
                           const std::vector<uint64_t>& sizes,
                           const Listener& onRow)
    : m_cluster(cluster)
{
    Measure(configuration, benchmark, sizes, onRow);
}

void
BenchmarkRun::Measure(const JsonValue& configuration,
                      const BenchmarkOptions& benchmark,
                      const std::vector<uint64_t>& sizes,
                      const Listener& onRow)
{
    const bool real = benchmark.IsReal();
    const CollectiveOperation operation = FindCollectiveOperation(benchmark.operation);
    const Cluster& cluster = m_cluster;
    GuardedRun run(cluster);
    RunFiles files(benchmark.files, cluster, "collective-benchmark", configuration.Write());
    uint64_t done = 0;
    double doneBytes = 0;
    const auto addSize = [&cluster](double sum, uint64_t bytes) {
        return sum + static_cast<double>(
                         bytes + cluster.GetOptions().GetMtu()); // nothing takes a packet, too
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
    m_largestError = real ? 0 : -1;
    for (uint64_t bytes : sizes)
    {
        CollectiveMeasurement row;
        nextBytes = addSize(0, bytes);
        try
        {
            for (uint64_t i = 0; i <= benchmark.warmup && mismatch.empty(); i++)
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
                mismatch = row.mismatch;
                m_largestError = std::max(m_largestError, row.largestError);
                if (row.codingErrors)
                {
                    m_codingErrors = m_codingErrors.value_or(CodingErrors());
                    m_codingErrors->Add(*row.codingErrors);
                }
                done++;
                doneBytes = addSize(doneBytes, bytes);
            }
        }
        catch (const SimulationStuck& error) // the results so far are kept
        {
            failure = error.what();
            stuck = std::current_exception();
            break;
        }
        const std::string choice = cluster.ExplainChoice(operation, bytes);
        const std::string system = cluster.GetCommunicators().FindChosenSystem(operation, bytes);
        row.algorithm = choice.empty()   ? cluster.GetPlan().GetAlgorithm()
                        : system.empty() ? row.algorithm
                                         : system;
        rows.push_back(row);
        choices.push_back(choice);
        progress.Clear();
        onRow(row, choice);
        if (!mismatch.empty())
        {
            break;
        }
    }
    GatherCounters(cluster.GetFabric());
    figures.AddAll({cluster, real, m_codingErrors, m_largestError});
    files.Finish({}, &figures);
    files.Close(stuck ? failure : mismatch.empty() ? "" : "wrong result: " + mismatch);
    planned = cluster.GetPlan().GetChoices();
    cost = GetRunCost(cluster.GetFabric());
}

std::vector<std::string>
BenchmarkRun::GetWarnings() const
{
    auto warnings = training::GetWarnings(m_cluster);
    const auto largest =
        std::max_element(rows.begin(), rows.end(), [](const auto& one, const auto& other) {
            return one.bytes < other.bytes;
        });
    if (largest != rows.end())
    {
        const std::string advice = AdviseAlgorithm(
            m_cluster,
            {largest->operation, largest->bytes, largest->seconds, largest->lowerBound});
        MergeWarnings(warnings, advice.empty() ? std::vector<std::string>() : std::vector{advice});
    }
    return warnings;
}

JsonValue
BenchmarkRun::ToJson() const
{
    auto list = JsonValue::Array();
    for (std::size_t i = 0; i < rows.size(); i++)
    {
        list.Append(training::ToJson(rows[i], choices[i]));
    }
    return list;
}

CollectiveMeasurement
Estimate(const std::vector<BenchmarkRun>& runs, std::size_t index, double MeanEstimate::*part)
{
    CollectiveMeasurement estimate = runs[0].rows[index];
    for (double CollectiveMeasurement::*member : {&CollectiveMeasurement::seconds,
                                                  &CollectiveMeasurement::algorithmBandwidth,
                                                  &CollectiveMeasurement::busBandwidth,
                                                  &CollectiveMeasurement::efficiency})
    {
        std::vector<double> values;
        for (const BenchmarkRun& run : runs)
        {
            values.push_back(run.rows[index].*member);
        }
        estimate.*member = EstimateMean(values).*part;
    }
    for (const BenchmarkRun& run : runs)
    {
        estimate.verified &= run.rows[index].verified;
    }
    return estimate;
}

} // namespace ns3::training
