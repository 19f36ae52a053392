/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "job-program.h"

#include "formats/goal-writer.h"
#include "guard/progress-line.h"
#include "guard/run-warnings.h"
#include "options/repeated-runs.h"
#include "run/astra-system.h"
#include "run/job-advice.h"
#include "run/training-runs.h"
#include "run/work-estimate.h"
#include "run/workload-summary.h"

#include "ns3/guarded-run.h"
#include "ns3/json-output.h"
#include "ns3/run-cost.h"
#include "ns3/training-processes.h"
#include "ns3/training-version.h"

#include <boost/format.hpp>
#include <cstdio>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

namespace
{

/** @return a line about the time of stragglers, if there is any */
std::string
FormatLostTimes(const IterationRecord& mean)
{
    std::string text;
    if (mean.stragglerTimeS > 0)
    {
        text = (boost::format("straggler time: %.3f ms an iteration, over all ranks\n") %
                (mean.stragglerTimeS * 1e3))
                   .str();
    }
    if (mean.overlapCostS > 0)
    {
        text += (boost::format("overlap: collectives make the computations of a rank %.3f ms "
                               "longer, %.1f %% of an iteration\n") %
                 (mean.overlapCostS * 1e3) % (100 * mean.overlapCostS / mean.iterationTimeS))
                    .str();
    }
    return text;
}

/** @return whether the result is right; otherwise it is reported */
bool
Check(const TrainingRunResult& result)
{
    if (!result.mismatch.empty())
    {
        std::cerr << "training-job: wrong sum: " << result.mismatch << std::endl;
    }
    return result.mismatch.empty();
}

/** Runs a job once, and prints its iterations. */
bool
TrainOnce(TrainingRun& run, const TrainingRunOptions& job)
{
    const bool table = job.json != "-";
    WorkEstimate estimate(job, run.GetCluster());
    estimate.Show();
    if (table)
    {
        std::cout << run.Describe() << "\n"
                  << FormatIterationHeadings() << (run.IsTraining() ? FormatLearningHeadings() : "")
                  << std::endl;
    }
    ProgressLine progress(run.GetCluster().GetFabric(), [&] { return estimate.GetFraction(run); });
    run.OnIteration([&](const IterationRecord& record) {
        const JobTraining* training = run.GetTraining();
        if (table && !(training && training->HasDiverged()))
        {
            const std::string number = std::to_string(record.iteration);
            progress.Clear();
            std::cout << FormatIteration(number + (record.warmup ? " warm-up" : ""), record)
                      << (training ? FormatLearning(training->GetRows().back()) : "") << std::endl;
        }
    });
    const TrainingRunResult result = run.Run();
    progress.Clear();
    if (Check(result) && table)
    {
        std::cout << FormatIteration("mean", result.mean) << "\n"
                  << result.fallback << result.figures.Format()
                  << (result.repetition ? result.repetition->Format() : "")
                  << FormatWarnings(result.warnings) << result.training
                  << FormatRunCost(result.cost) << "\n"
                  << FormatLostTimes(result.mean) << FormatInputs(result.inputs) << std::flush;
    }
    return result.mismatch.empty();
}

/** Runs a job with several run numbers, and prints their means. */
bool
TrainRepeatedly(TrainingRunOptions job, const ProgramOptions& options, const RepeatedRuns& repeated)
{
    const bool table = job.json != "-";
    const JsonOutput json(std::exchange(job.json, ""));
    TrainingRuns runs;
    bool isRight = true;
    std::string inputs;
    repeated.ForEach([&](uint64_t number) {
        TrainingRun run(job);
        run.SetConfiguration(options.ToJson());
        if (table && inputs.empty())
        {
            std::cout << run.Describe() << "\n" << FormatIterationHeadings() << std::endl;
        }
        inputs = run.DescribeInputs();
        WorkEstimate estimate(job, run.GetCluster());
        ProgressLine progress(run.GetCluster().GetFabric(),
                              [&] { return estimate.GetFraction(run); });
        TrainingRunResult result;
        try
        {
            result = run.Run();
        }
        catch (const SimulationStuck& error) // the complete runs are kept
        {
            runs.Fail("run " + std::to_string(number) + ": " + error.what(),
                      run.GetConfiguration());
            json.Write(runs.ToJson());
            throw;
        }
        progress.Clear();
        isRight = Check(result);
        if (isRight)
        {
            runs.Add(number, result);
            if (table)
            {
                std::cout << FormatIteration("run " + std::to_string(number), result.mean) << "\n"
                          << result.fallback
                          << (result.repetition ? result.repetition->Format() : "") << std::flush;
            }
        }
        return isRight;
    });
    if (isRight)
    {
        json.Write(runs.ToJson());
    }
    if (isRight && table)
    {
        std::cout << FormatIteration("mean", runs.GetMean()) << "\n"
                  << FormatIteration("+- (95 %)", runs.GetHalfWidth()) << "\n"
                  << FormatWarnings(runs.GetWarnings()) << FormatRunCost(runs.GetCost()) << "\n"
                  << FormatLostTimes(runs.GetMean()) << FormatInputs(inputs) << std::flush;
    }
    return isRight;
}

/** Prints what is known of a job that is not simulated, and what was made of its files. */
void
Show(const TrainingRunOptions& job, JsonValue document, const std::string& text)
{
    document.Set("version", GetVersion()).Set("inputs", InputManifest::ToJson());
    JsonOutput(job.json).Write(document);
    if (job.json != "-" && Processes::GetId() == 0)
    {
        std::cout << text;
        for (const std::string& line : InputManifest::GetLines())
        {
            std::cout << "input: " << line << "\n";
        }
        std::cout << std::flush;
    }
}

/** Prints groups, collectives, memory and bounds of a job, without a simulation. */
void
ShowCheck(const TrainingRunOptions& job, bool isStrict)
{
    const JobCheck check = CheckJob(job);
    const auto advice = AdviseModel(job.GetModel().HasTransformer() ? check.memory : 0,
                                    check.parameters,
                                    check.expectedParameters,
                                    job.gpu);
    if (isStrict && !advice.empty())
    {
        throw ConfigurationError(advice.front());
    }
    Show(job, check.ToJson(), check.ToText() + FormatWarnings(advice));
}

/** Prints what a job contains, without a simulation. */
void
ShowSummary(TrainingRunOptions& job)
{
    const JobPlan plan = MakeJobPlan(job);
    WorkloadSummary summary = SummarizeWorkload(*plan.graph, plan.isUniform, plan.gathersParts);
    summary.format = plan.format;
    summary.problems = plan.notes;
    Show(job, summary.ToJson(), summary.Format());
}

/** Writes a job as GOAL; collectives become messages of the algorithm, or of a ring. */
void
ExportGoal(TrainingRunOptions& job, const std::string& path)
{
    const JobPlan plan = MakeJobPlan(job);
    const std::string& algorithm = job.cluster.algorithm;
    const bool isKnown =
        Registry<CollectiveAlgorithm>::All().count(KeyValues::Split(algorithm).GetName()) > 0;
    if (Processes::GetId() == 0)
    {
        WriteGoal(path, *plan.graph, 1, isKnown ? algorithm : "ring");
    }
}

} // namespace

int
RunTrainingJob(const std::vector<std::string>& arguments)
{
    TrainingRunOptions job;
    ProgramOptions options("training-job",
                           "Trains a model on a simulated cluster and measures its iterations.");
    ClusterCommandLine cluster(job.cluster);
    job.AddTo(options, cluster);
    std::string check = "false";
    options.AddChoice(
        "check",
        "print collectives, memory, lower bound and cost of the job, and end; strict: "
        "refuse a model that needs more memory than the GPU has, or has other "
        "parameters than expected",
        check,
        {"false", "true", "strict"});
    options.AddEnding("check", {"json"});
    bool summary = false;
    options.AddBool("summary",
                    "print ranks, tasks, computations, collectives and damage of a job, and end",
                    summary);
    options.AddEnding("summary", {"json"});
    std::string goal;
    options.AddOutput("export-goal",
                      "file for an iteration of the job as GOAL, text, or binary if its name ends "
                      "with .bin; collectives become messages; and end",
                      goal,
                      OutputKind::GOAL);
    options.AddEnding("export-goal", {});
    std::string system;
    options.AddString("system",
                      "system file of ASTRA-sim 2 (JSON): algorithms of collectives by dimension, "
                      "their order, and times of hosts, where these options are not given",
                      system);
    options.Group("Repetition");
    RepeatedRuns repeated;
    repeated.AddTo(options);
    options.Parse(arguments);
    job.model.CheckGiven(options);
    job.model.TakeSchedule(job.cluster.schedule);
    if (!system.empty())
    {
        ReadAstraSystem(system, job.lenient).ApplyTo(options, job);
    }
    job.cluster.storageHosts = job.life.GetStorageHosts();
    job.cluster.hasRanks = options.IsGiven("ranks");
    if (job.model.HasTransformer() && !options.IsGiven("ranks"))
    {
        job.cluster.ranks = job.model.MakePlan(0)->GetRanks();
    }
    else if (!IsTraceFile(job.workload)) // a trace has its ranks
    {
        cluster.FollowTopology(options);
    }
    if (cluster.ShowTopology())
    {
        return 0;
    }
    job.life.Check();
    if (check != "false")
    {
        ShowCheck(job, check == "strict");
        return 0;
    }
    if (summary)
    {
        ShowSummary(job);
        return 0;
    }
    if (!goal.empty())
    {
        ExportGoal(job, goal);
        return 0;
    }
    if (repeated.GetCount() > 1)
    {
        repeated.Check(options, {"trace", "report", "pcap", "export-schedule", "print-schedule"});
        return TrainRepeatedly(job, options, repeated) ? 0 : 4;
    }
    TrainingRun run(job);
    job.cluster.ranks = run.GetPlan().graph->GetRanks(); // those of a file
    run.SetConfiguration(options.ToJson());
    const auto [operation, bytes] = run.GetPlan().GetLargestCollective();
    if (cluster.ShowSchedule(run.GetCluster(), operation, bytes))
    {
        return 0;
    }
    return TrainOnce(run, job) ? 0 : 4;
}

} // namespace ns3::training
