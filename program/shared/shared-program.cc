/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "shared-program.h"

#include "guard/run-warnings.h"
#include "options/run-title.h"
#include "record/binding-figures.h"
#include "run/algorithm-advice.h"
#include "shared-run.h"
#include "shared/shared-results.h"

#include "ns3/json-output.h"
#include "ns3/run-cost.h"
#include "ns3/training-quantity.h"
#include "ns3/training-version.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

namespace
{

/** A job in the table. */
struct SharedRow
{
    const SharedJob& job;
    const SharedJobResult& result;
    double aloneS; ///< time of an iteration alone; 0: not simulated

    /** @return whether it has ended */
    bool HasEnded() const
    {
        return result.endS > 0;
    }
};

/** Prints what switches have done for the jobs, if they have. */
void
PrintSwitches(const std::vector<SharedRow>& rows)
{
    if (!rows.front().result.inNetwork)
    {
        return;
    }
    std::printf("job                slots         sent   sent again   at switches        added  "
                "duplicates   collisions       passed     evicted\n");
    for (const SharedRow& row : rows)
    {
        const InNetworkFigures& workers = row.result.inNetwork->workers;
        const InNetworkShare& share = row.result.inNetwork->switches;
        std::printf("%-14s %9llu %12llu %12llu %13llu %12llu %11llu %12llu %12llu %11llu%s\n",
                    row.job.name.c_str(),
                    static_cast<unsigned long long>(share.slots),
                    static_cast<unsigned long long>(workers.sent),
                    static_cast<unsigned long long>(workers.resent),
                    static_cast<unsigned long long>(share.packets),
                    static_cast<unsigned long long>(share.added),
                    static_cast<unsigned long long>(share.repeated),
                    static_cast<unsigned long long>(share.collisions),
                    static_cast<unsigned long long>(share.passed),
                    static_cast<unsigned long long>(share.evicted),
                    workers.fallenBack ? "  (hosts took over)" : "");
    }
}

void
Print(const std::vector<SharedRow>& rows, double makespan)
{
    std::printf("job            arrival (ms)  waits (ms)   ends (ms) iteration (ms) alone (ms) "
                "slowdown  hosts\n");
    for (const SharedRow& row : rows)
    {
        std::string alone = "         -        -";
        if (row.aloneS > 0)
        {
            char text[40];
            std::snprintf(text,
                          sizeof(text),
                          "%10.3f %8.3f",
                          row.aloneS * 1e3,
                          row.result.GetSlowdown(row.aloneS));
            alone = text;
        }
        std::printf("%-14s %12.3f %11.3f %11.3f %14.3f %s  %s\n",
                    row.job.name.c_str(),
                    row.job.arrival.GetSeconds() * 1e3,
                    row.result.GetWait(row.job) * 1e3,
                    row.result.endS * 1e3,
                    row.result.GetIterationTime() * 1e3,
                    alone.c_str(),
                    FormatHosts(row.result.hosts).c_str());
    }
    std::printf("makespan: %.3f ms\n", makespan * 1e3);
    PrintSwitches(rows);
}

JsonValue
ToJson(const SharedRow& row)
{
    auto hosts = JsonValue::Array();
    for (uint32_t host : row.result.hosts)
    {
        hosts.Append(JsonValue(uint64_t{host}));
    }
    auto times = JsonValue::Array();
    auto iterations = JsonValue::Array();
    for (const IterationRecord& iteration : row.result.iterations)
    {
        times.Append(JsonValue(iteration.iterationTimeS));
        iterations.Append(IterationToJson(iteration));
    }
    const bool hasStarted = row.result.HasStarted();
    auto json = JsonValue::Object();
    json.Set("name", row.job.name)
        .Set("workload", row.result.workload)
        .Set("ranks", uint64_t{row.result.hosts.size()})
        .Set("placement", row.job.placement)
        .Set("hosts", hosts)
        .Set("arrival_s", row.job.arrival.GetSeconds())
        .Set("wait_s", hasStarted ? JsonValue(row.result.GetWait(row.job)) : JsonValue())
        .Set("start_s", hasStarted ? JsonValue(row.result.startS) : JsonValue())
        .Set("end_s", row.HasEnded() ? JsonValue(row.result.endS) : JsonValue())
        .Set("iteration_times_s", times);
    SetMembers(json, GetIterationQuantities(), GetMean(row.result.iterations));
    json.Set("alone_iteration_time_s", row.aloneS > 0 ? JsonValue(row.aloneS) : JsonValue())
        .Set("slowdown",
             row.aloneS > 0 ? JsonValue(row.result.GetSlowdown(row.aloneS)) : JsonValue())
        .Set("iterations", iterations);
    if (row.HasEnded())
    {
        json.Set("binding", ToJson(row.result.binding));
    }
    if (row.result.inNetwork)
    {
        json.Set("in_network", row.result.inNetwork->ToJson());
    }
    return json;
}

/**
 * Runs the jobs alone, until one is stuck or wrong.
 * @return mean times of their iterations, s
 */
std::vector<double>
RunAllAlone(const SharedRunOptions& run, SharedRunResult& shared)
{
    std::vector<double> times;
    for (std::size_t i = 0; i < run.jobs.size(); i++)
    {
        const SharedRunResult alone = RunAlone(run, i, shared.jobs[i].hosts);
        if (!alone.mismatch.empty() || alone.stuck)
        {
            shared.mismatch = alone.mismatch.empty() ? "" : "alone, " + alone.mismatch;
            shared.failure = alone.stuck ? "alone: " + alone.failure : shared.mismatch;
            shared.stuck = alone.stuck;
            break;
        }
        times.push_back(alone.jobs[0].GetIterationTime());
    }
    return times;
}

} // namespace

int
RunSharedCluster(const std::vector<std::string>& arguments)
{
    SharedRunOptions run;
    std::string jobs;
    std::vector<std::string> single;
    std::string queue = "fifo";
    RunFilesOptions files;
    std::string jsonTarget;
    bool alone = true;
    ProgramOptions options("shared-cluster", "Jobs that share a simulated cluster.");
    options.Group("Jobs");
    options.AddString("jobs", "TOML file with a table [[job]] for each job", jobs);
    options.AddList("job", "TOML file with the keys of one job; may be repeated", single);
    options.AddToDescription("job", DescribeJobs().ToJson());
    options.AddChoice("queue",
                      "order of jobs that wait for hosts: fifo, or backfill, by which a job that "
                      "finds hosts overtakes others that do not",
                      queue,
                      {"fifo", "backfill"});
    std::string payload = "virtual";
    options.AddChoice("payload",
                      "virtual carries sizes, real carries gradients and checks every result",
                      payload,
                      {"virtual", "real"});
    options.AddKind("gradients",
                    "source",
                    "numbers of a real payload",
                    run.gradients,
                    &DescribeAlternatives<GradientSourceEntry>);
    options.AddBool("alone", "simulate each job alone on its hosts, too, and compare", alone);
    options.AddJson(jsonTarget);
    files.AddTo(options);
    ClusterCommandLine commandLine(run.cluster);
    commandLine.AddTo(options);
    options.Parse(arguments);
    commandLine.FollowTopology(options);
    if (commandLine.ShowTopology())
    {
        return 0;
    }
    if (jobs.empty() && single.empty())
    {
        throw ConfigurationError("--jobs= (allowed: a TOML file, or --job=FILE)");
    }
    if (commandLine.IsScheduleRequested())
    {
        throw ConfigurationError("--print-schedule or --export-schedule with jobs that share a "
                                 "cluster (allowed: with collective-benchmark)");
    }
    run.jobs = ReadJobs(jobs, single);
    run.backfill = queue == "backfill";
    run.isReal = payload == "real";
    const JsonOutput json(jsonTarget);
    std::optional<SharedResults> results;
    files.Check(run.cluster.ranks);
    if (files.IsGiven())
    {
        run.results = &results.emplace(files, options);
    }
    const bool prints = jsonTarget != "-";
    SharedRunResult shared = RunShared(run);
    if (prints)
    {
        std::cout << run.jobs.size() << " jobs on " << run.cluster.ranks << " hosts, "
                  << run.cluster.topology << ", " << FormatRate(run.cluster.rate) << ", "
                  << run.cluster.transport << ", " << run.cluster.algorithm
                  << DescribeDeviations(run.cluster) << "\n"
                  << FormatNotes(shared.notes) << std::flush;
    }
    std::vector<double> times;
    if (alone && shared.failure.empty() && shared.mismatch.empty())
    {
        times = RunAllAlone(run, shared);
        if (results && !shared.failure.empty())
        {
            results->Fail(run.jobs, shared.jobs, times, shared.failure);
        }
    }
    std::vector<SharedRow> rows;
    double first = run.jobs.front().arrival.GetSeconds();
    double last = 0;
    bool haveEnded = true;
    for (std::size_t i = 0; i < run.jobs.size(); i++)
    {
        rows.push_back({run.jobs[i], shared.jobs[i], i < times.size() ? times[i] : 0});
        first = std::min(first, run.jobs[i].arrival.GetSeconds());
        last = std::max(last, shared.jobs[i].endS);
        haveEnded &= rows.back().HasEnded();
    }
    if (!shared.mismatch.empty())
    {
        std::cerr << "shared-cluster: wrong result: " << shared.mismatch << std::endl;
        return 4;
    }
    const bool isComplete = shared.failure.empty();
    if (results && isComplete)
    {
        results->Finish(run.jobs, shared.jobs, times);
    }
    if (prints && isComplete)
    {
        Print(rows, last - first);
        std::cout << shared.figures.Format() << FormatWarnings(shared.warnings)
                  << FormatRunCost(shared.cost) << "\n"
                  << FormatInputs(run.cluster.DescribeHosts()) << std::flush;
    }
    auto table = JsonValue::Array();
    for (const SharedRow& row : rows)
    {
        table.Append(ToJson(row));
    }
    auto document = JsonValue::Object();
    document.Set("jobs", table)
        .Set("makespan_s", haveEnded ? JsonValue(last - first) : JsonValue())
        .Set("candidates", ListCandidates(shared.choices));
    shared.figures.AddTo(document);
    AddWarnings(document, shared.warnings);
    AddRunCost(document, shared.cost);
    document.Set("inputs", run.cluster.DescribeHosts());
    AddFailure(document, shared.failure);
    document.Set("configuration", options.ToJson()).Set("version", GetVersion());
    json.Write(document);
    if (shared.stuck)
    {
        std::rethrow_exception(shared.stuck);
    }
    return 0;
}

} // namespace ns3::training
