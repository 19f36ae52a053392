/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Simulates the training of a model on a cluster and reports the iteration time:
 *
 *   ./ns3w run "training-job --workload=resnet50 --ranks=16 --topology=fat-tree:k=4"
 */

#include "ns3/core-module.h"
#include "ns3/distributed-training-module.h"

#include <cstdio>
#include <iostream>

using namespace ns3;
using namespace ns3::training;

namespace
{

int
Train(int argc, char* argv[])
{
    TrainingRunOptions job;
    ProgramOptions options("training-job",
                           "Trains a model on a simulated cluster and measures its iterations.");
    ClusterCommandLine cluster(job.cluster);
    job.AddTo(options, cluster);
    options.Parse(argc, argv);
    if (cluster.ShowTopology())
    {
        return 0;
    }
    TrainingRun run(job);
    run.SetConfiguration(options);
    const TaskCollective largest = run.GetLargestCollective();
    if (cluster.ShowSchedule(run.GetCluster(), largest.operation, largest.bytes))
    {
        return 0;
    }
    const bool table = job.json != "-";
    if (table)
    {
        std::cout << run.Describe() << "\n" << FormatIterationHeadings() << std::endl;
    }
    ProgressLine progress(run.GetCluster().GetFabric(), [&] { return run.GetProgress(); });
    run.OnIteration([&](const IterationRecord& record) {
        if (table)
        {
            const std::string number = std::to_string(record.iteration);
            progress.Clear();
            std::cout << FormatIteration(number + (record.warmup ? " warm-up" : ""), record)
                      << std::endl;
        }
    });
    const TrainingRunResult result = run.Run();
    progress.Clear();
    if (!result.mismatch.empty())
    {
        std::cerr << "training-job: wrong sum: " << result.mismatch << std::endl;
        return 4;
    }
    if (table)
    {
        std::cout << FormatIteration("mean", result.mean) << "\n"
                  << result.fallback << FormatWarnings(result.warnings)
                  << (result.tcp ? result.tcp->Format() : "")
                  << FormatRunCost(result.cost) << std::endl;
    }
    return 0;
}

} // namespace

int
main(int argc, char* argv[])
{
    return RunProgram("training-job", [&] { return Train(argc, argv); });
}
