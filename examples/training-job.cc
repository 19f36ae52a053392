/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Data-parallel training of a model on a simulated cluster: how long is an iteration?
 *
 *   ./ns3w run "training-job --workload=resnet50 --ranks=16 --topology=fat-tree:k=4"
 */

#include "ns3/core-module.h"
#include "ns3/distributed-training-module.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>

using namespace ns3;
using namespace ns3::training;

namespace
{

/** What the program is asked for, beside the cluster. */
struct JobOptions
{
    std::string workload{"resnet50"};
    uint64_t batch{32};
    double computeScale{1};
    uint64_t bucket{DEFAULT_BUCKET_BYTES};
    bool overlap{true};
    std::string payload{"virtual"};
    uint64_t iterations{3};
    uint64_t warmup{1};
    std::string results;
    std::string json;
    std::string trace;
};

void
AddOptions(ProgramOptions& options, JobOptions& job)
{
    options.Group("Job");
    options.AddString("workload",
                      Registry<WorkloadEntry>::Names() +
                          ", or a CSV file: layer,parameters,forward_us,backward_us",
                      job.workload);
    options.AddUnsigned("batch", "samples per rank and iteration", job.batch, 1, 1 << 24);
    options.AddDouble("compute-scale", "factor of all compute times", job.computeScale, 0, 1e6);
    options.AddBytes("bucket", "gradients that are reduced together", job.bucket, 1);
    options.AddBool("overlap",
                    "whether a bucket is reduced while the backward pass goes on",
                    job.overlap);
    options.AddChoice("payload",
                      "virtual carries sizes, real carries gradients and checks every sum",
                      job.payload,
                      {"virtual", "real"});
    options.AddUnsigned("iterations", "iterations that are measured", job.iterations, 1, 1000000);
    options.AddUnsigned("warmup",
                        "iterations before these, left out of means",
                        job.warmup,
                        0,
                        1000000);
    options.Group("Output");
    options.AddString("results", "SQLite file to which the run is added", job.results);
    options.AddString("json", "file for the results as JSON, or - for standard output", job.json);
    options.AddString("trace", "file for a timeline, to be opened in ui.perfetto.dev", job.trace);
}

JsonValue
ToJson(const IterationResult& result)
{
    auto json = JsonValue::Object();
    json.Set("iteration_time_s", result.iterationTimeS)
        .Set("compute_time_s", result.computeTimeS)
        .Set("communication_time_s", result.communicationTimeS)
        .Set("exposed_communication_s", result.exposedCommunicationS)
        .Set("busbw_GBps", result.busbwGBps)
        .Set("lower_bound_s", result.lowerBoundS)
        .Set("scaling_efficiency", result.scalingEfficiency);
    return json;
}

void
PrintHead()
{
    std::printf("%-10s %12s %12s %14s %12s %12s %12s %11s\n",
                "iteration",
                "time (ms)",
                "compute (ms)",
                "communic. (ms)",
                "exposed (ms)",
                "bound (ms)",
                "busbw (GB/s)",
                "efficiency");
}

void
PrintRow(const std::string& name, const IterationResult& result)
{
    std::printf("%-10s %12.3f %12.3f %14.3f %12.3f %12.3f %12.3f %9.1f %%\n",
                name.c_str(),
                result.iterationTimeS * 1e3,
                result.computeTimeS * 1e3,
                result.communicationTimeS * 1e3,
                result.exposedCommunicationS * 1e3,
                result.lowerBoundS * 1e3,
                result.busbwGBps,
                result.scalingEfficiency * 100);
    std::fflush(stdout);
}

IterationRow
ToRow(const IterationResult& result)
{
    return {result.iteration,
            result.warmup,
            result.startS,
            result.endS,
            result.iterationTimeS,
            result.computeTimeS,
            result.communicationTimeS,
            result.exposedCommunicationS,
            result.busbwGBps,
            result.lowerBoundS,
            result.scalingEfficiency,
            result.verified};
}

int
Train(int argc, char* argv[])
{
    JobOptions job;
    ClusterOptions clusterOptions;
    ProgramOptions options("training-job",
                           "Trains a model on a simulated cluster and measures its iterations.");
    AddOptions(options, job);
    clusterOptions.AddTo(options, "collective");
    options.Reserve("ns3::training::TrainingApplication::Iterations", "iterations");
    options.Reserve("ns3::training::TrainingApplication::Overlap", "overlap");
    options.Reserve("ns3::training::TrainingApplication::RealPayload", "payload");
    options.Reserve("ns3::training::TrainingApplication::Seed", "RngRun");
    options.Parse(argc, argv);
    if (ShowTopology(clusterOptions))
    {
        return 0;
    }

    // Everything that can be refused is, before anything is created.
    const Workload workload =
        LoadWorkload(job.workload, static_cast<uint32_t>(job.batch), job.computeScale);
    const std::vector<GradientBucket> buckets = MakeGradientBuckets(workload.layers, job.bucket);
    const JsonOutput json(job.json);
    if (!job.results.empty())
    {
        ResultStore::Check(job.results);
    }
    if (!job.trace.empty())
    {
        CheckOutputFile(job.trace);
    }
    const Cluster cluster(clusterOptions);
    cluster.GetPlanner().Check(CollectiveOperation::ALL_REDUCE);
    std::map<uint64_t, std::string> choices; // of an algorithm, by the size of buckets
    uint64_t largest = 0;
    for (const GradientBucket& bucket : buckets)
    {
        largest = std::max(largest, bucket.bytes);
        if (clusterOptions.algorithm == AlgorithmChooser::NAME)
        {
            choices[bucket.bytes] =
                cluster.GetPlanner().Explain(CollectiveOperation::ALL_REDUCE, bucket.bytes, 0);
        }
    }
    if (ShowSchedule(clusterOptions, cluster, CollectiveOperation::ALL_REDUCE, largest))
    {
        return 0;
    }
    const bool table = job.json != "-";
    const bool real = job.payload == "real";
    const uint64_t seed = RngSeedManager::GetRun();

    std::unique_ptr<ResultStore> store;
    std::unique_ptr<TimelineTrace> timeline;
    // Of several processes, the first one writes.
    const bool writes = Processes::GetId() == 0;
    if (!job.results.empty() && writes)
    {
        store = std::make_unique<ResultStore>(
            job.results,
            RunRow{"training-job", GetVersion(), seed, GetConfiguration(options, cluster).Write()});
    }
    if (!job.trace.empty() && writes)
    {
        timeline = std::make_unique<TimelineTrace>(job.trace);
    }

    TrainingJobHelper helper;
    helper.SetAttribute("Iterations", UintegerValue(job.warmup + job.iterations));
    helper.SetAttribute("Overlap", BooleanValue(job.overlap));
    helper.SetAttribute("RealPayload", BooleanValue(real));
    helper.SetAttribute("Seed", UintegerValue(seed));
    const ApplicationContainer applications = helper.Install(cluster, workload, buckets);

    TrainingJob training(cluster.GetRanks(),
                         static_cast<uint32_t>(job.warmup + job.iterations),
                         static_cast<uint32_t>(job.warmup),
                         buckets);
    RunRecorder recorder(cluster,
                         static_cast<uint32_t>(std::max<std::size_t>(1, buckets.size())),
                         store.get(),
                         timeline.get(),
                         Processes::GetCount() > 1 && !(job.results.empty() && job.trace.empty()));
    std::vector<Ptr<TrainingApplication>> trainers;
    for (uint32_t i = 0; i < applications.GetN(); i++)
    {
        trainers.push_back(DynamicCast<TrainingApplication>(applications.Get(i)));
        training.Observe(trainers.back());
        recorder.Observe(trainers.back());
    }
    training.SetLowerBound([&](uint64_t bytes) {
        return cluster.GetLowerBound().GetSeconds(CollectiveOperation::ALL_REDUCE, bytes);
    });
    for (const auto& worker : cluster.GetInNetworkCommunicators())
    {
        worker->SetTensorsOfStep(static_cast<uint32_t>(buckets.size()));
    }
    if (real)
    {
        using Vector = std::vector<float>;
        training.SetReference(seed, [&](const std::vector<Vector>& inputs, const Vector& result) {
            return cluster.GetSums(inputs, result);
        });
        // After a failure of the network.
        training.SetAlternative([&](const std::vector<Vector>& inputs, const Vector&) {
            return cluster.HasFallenBack() ? cluster.GetSumsOfHosts(inputs)
                                           : std::vector<std::vector<float>>();
        });
    }

    if (table)
    {
        std::printf("%s (%.1f M parameters, %zu buckets), batch %llu, %u ranks, %s, %s, %s (%s), "
                    "%s\n",
                    workload.name.c_str(),
                    static_cast<double>(workload.GetParameters()) * 1e-6,
                    buckets.size(),
                    static_cast<unsigned long long>(job.batch),
                    cluster.GetRanks(),
                    clusterOptions.topology.c_str(),
                    FormatRate(clusterOptions.rate).c_str(),
                    clusterOptions.transport.c_str(),
                    cluster.GetCongestionControl().c_str(),
                    cluster.GetAlgorithm().c_str());
        for (const auto& [bytes, choice] : choices)
        {
            std::printf("# auto: %s\n", choice.c_str());
        }
        PrintHead();
    }
    GuardedRun run(cluster);
    ProgressLine progress(cluster.GetFabric(), [&] {
        return static_cast<double>(training.GetResults().size()) /
               static_cast<double>(job.warmup + job.iterations);
    });
    training.OnIterationComplete([&](const IterationResult& result) {
        if (store)
        {
            store->AddIteration(ToRow(result));
        }
        if (timeline)
        {
            timeline->Flush();
        }
        if (table)
        {
            progress.Clear();
            PrintRow(std::to_string(result.iteration) + (result.warmup ? " warm-up" : ""), result);
        }
        if (!training.Mismatch().empty())
        {
            run.Stop();
        }
    });
    training.OnRanksFinished([&] { run.End(); });
    run.SetComputing([&] {
        return std::any_of(trainers.begin(), trainers.end(), [](const auto& trainer) {
            return trainer->IsComputing();
        });
    });
    const auto report = [&] {
        recorder.WriteKept(); // before the iterations, with each of which the file is made safe
        const auto results = Processes::Gather(training.Pack());
        for (uint32_t process = 0; process < results.size(); process++)
        {
            if (process != Processes::GetId())
            {
                training.Merge(results[process]);
            }
        }
    };
    if (Processes::GetCount() > 1)
    {
        run.SetReport(report);
    }
    const auto finish = [&] {
        report();
        GatherCounters(cluster.GetFabric());
        recorder.Finish();
    };
    try
    {
        run.Run();
    }
    catch (const SimulationStuck& stuck)
    {
        finish();
        if (store)
        {
            store->Fail(stuck.what());
        }
        throw;
    }
    progress.Clear();
    finish();

    const std::string mismatch = training.Mismatch();
    if (store)
    {
        mismatch.empty() ? store->Finish() : store->Fail("wrong sum: " + mismatch);
    }
    if (timeline)
    {
        timeline->Close();
    }
    if (!mismatch.empty())
    {
        std::cerr << "training-job: wrong sum: " << mismatch << std::endl;
        return 4;
    }

    const RunCost cost = GetRunCost(cluster.GetFabric());
    auto document = ToJson(training.GetMean());
    AddInNetwork(document, cluster);
    AddRunCost(document, cost);
    auto iterations = JsonValue::Array();
    for (const IterationResult& result : training.GetResults())
    {
        iterations.Append(ToJson(result)
                              .Set("iteration", result.iteration)
                              .Set("warmup", result.warmup)
                              .Set("verified", result.verified));
    }
    auto reasons = JsonValue::Object();
    for (const auto& [bytes, choice] : choices)
    {
        reasons.Set(std::to_string(bytes), choice);
    }
    document.Set("iterations", iterations)
        .Set("choices", reasons)
        .Set("configuration", GetConfiguration(options, cluster))
        .Set("version", GetVersion());
    json.Write(document);
    if (table)
    {
        PrintRow("mean", training.GetMean());
        std::printf("%s%s\n", FormatFallback(cluster).c_str(), FormatRunCost(cost).c_str());
    }
    Simulator::Destroy();
    return 0;
}

} // namespace

int
main(int argc, char* argv[])
{
    return RunProgram("training-job", [&] { return Train(argc, argv); });
}
