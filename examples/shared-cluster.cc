/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Jobs that share a cluster, each compared with itself alone on the same hosts:
 *
 *   ./ns3w run "shared-cluster --jobs=jobs.toml --ranks=16 --topology=fat-tree:k=4"
 */

#include "hidden-global-values.h"

#include "ns3/core-module.h"
#include "ns3/distributed-training-module.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::training;

namespace
{

/** A job in the table. */
struct Row
{
    const SharedJob& job;
    const SharedJobResult& result;
    double aloneS; ///< time of an iteration alone; 0: not simulated
};

void
Print(const std::vector<Row>& rows, double makespan)
{
    std::printf("job            arrival (ms)  waits (ms)   ends (ms) iteration (ms) alone (ms) "
                "slowdown  hosts\n");
    for (const Row& row : rows)
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
}

JsonValue
ToJson(const Row& row)
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
    auto json = JsonValue::Object();
    json.Set("name", row.job.name)
        .Set("workload", row.result.workload)
        .Set("ranks", uint64_t{row.result.hosts.size()})
        .Set("placement", row.job.placement)
        .Set("hosts", hosts)
        .Set("arrival_s", row.job.arrival.GetSeconds())
        .Set("wait_s", row.result.GetWait(row.job))
        .Set("start_s", row.result.startS)
        .Set("end_s", row.result.endS)
        .Set("iteration_times_s", times);
    SetMembers(json, GetIterationQuantities(), GetMean(row.result.iterations));
    json.Set("alone_iteration_time_s", row.aloneS > 0 ? JsonValue(row.aloneS) : JsonValue())
        .Set("slowdown",
             row.aloneS > 0 ? JsonValue(row.result.GetSlowdown(row.aloneS)) : JsonValue())
        .Set("iterations", iterations);
    return json;
}

int
Simulate(int argc, char* argv[])
{
    SharedRunOptions run;
    std::string jobs;
    std::vector<std::string> single;
    std::string queue = "fifo";
    std::string resultsFile;
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
    options.AddBool("alone", "simulate each job alone on its hosts, too, and compare", alone);
    options.AddOutput("results",
                      "SQLite file to which the run and its jobs are added",
                      resultsFile,
                      OutputKind::ANY);
    options.AddJson(jsonTarget);
    ClusterCommandLine commandLine(run.cluster);
    commandLine.AddTo(options, "collective");
    options.Parse(argc, argv);
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
    const JsonOutput json(jsonTarget);
    std::optional<SharedResults> results;
    if (!resultsFile.empty())
    {
        run.results = &results.emplace(resultsFile, "shared-cluster", options);
    }
    const bool prints = jsonTarget != "-";
    const SharedRunResult shared = RunShared(run);
    if (prints)
    {
        std::cout << run.jobs.size() << " jobs on " << run.cluster.ranks << " hosts, "
                  << run.cluster.topology << ", " << FormatRate(run.cluster.rate) << ", "
                  << run.cluster.transport << ", " << run.cluster.algorithm << "\n"
                  << FormatNotes(shared.notes) << std::flush;
    }
    std::vector<Row> rows;
    double first = run.jobs.front().arrival.GetSeconds();
    double last = 0;
    for (std::size_t i = 0; i < run.jobs.size(); i++)
    {
        const SharedJobResult& result = shared.jobs[i];
        rows.push_back({run.jobs[i],
                        result,
                        alone ? RunAlone(run, i, result.hosts).jobs[0].GetIterationTime() : 0});
        first = std::min(first, run.jobs[i].arrival.GetSeconds());
        last = std::max(last, result.endS);
    }
    if (results)
    {
        std::vector<double> times;
        for (const Row& row : rows)
        {
            times.push_back(row.aloneS);
        }
        results->Finish(run.jobs, shared.jobs, times);
    }
    if (prints)
    {
        Print(rows, last - first);
        std::cout << (shared.background ? shared.background->Format() : "")
                  << FormatRunCost(shared.cost) << "\n"
                  << FormatInputs(run.cluster.DescribeHosts()) << std::flush;
    }
    auto table = JsonValue::Array();
    for (const Row& row : rows)
    {
        table.Append(ToJson(row));
    }
    auto document = JsonValue::Object();
    document.Set("jobs", table).Set("makespan_s", last - first);
    if (shared.background)
    {
        document.Set("background", shared.background->ToJson());
    }
    AddRunCost(document, shared.cost);
    document.Set("inputs", run.cluster.DescribeHosts());
    document.Set("configuration", options.ToJson()).Set("version", GetVersion());
    json.Write(document);
    return 0;
}

} // namespace

int
main(int argc, char* argv[])
{
    return RunProgram("shared-cluster", [&] { return Simulate(argc, argv); });
}
