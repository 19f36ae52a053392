/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RUN_TEST_COMMON_H
#define DISTRIBUTED_TRAINING_RUN_TEST_COMMON_H

#include "ns3/guarded-run.h"
#include "ns3/iteration-record.h"
#include "ns3/simulator.h"
#include "ns3/training-job-helper.h"
#include "ns3/training-job.h"
#include "ns3/training-workload.h"
#include "ns3/uinteger.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training::tests
{

/** @return why a simulation is stuck; empty if it is not */
inline std::string
GetStuck(const std::function<void()>& action)
{
    try
    {
        action();
    }
    catch (const SimulationStuck& stuck)
    {
        return stuck.what();
    }
    return "";
}

/** @return three iterations of a data-parallel job whose parts are combined by hand */
inline std::vector<IterationRecord>
RunParts(const ClusterOptions& options, const LayeredModel& model, uint64_t bucket, bool overlap)
{
    std::vector<IterationRecord> records;
    {
        const Cluster cluster(options);
        const uint32_t ranks = cluster.GetRanks();
        const auto graph =
            std::make_shared<BucketGraph>(model, BucketOptions{bucket, overlap}, ranks);
        TrainingJobHelper helper;
        helper.SetAttribute("Iterations", UintegerValue(3));
        const auto applications =
            helper.Install(cluster, graph, {{CollectiveOperation::ALL_REDUCE}});
        double bytes = 0;
        double bound = 0;
        for (const BucketGraph::Bucket& bucket : graph->GetBuckets())
        {
            bytes += static_cast<double>(bucket.bytes);
            bound += cluster.GetBounds().Get(CollectiveOperation::ALL_REDUCE, bucket.bytes);
        }
        TrainingJob job(ranks, 3, 1, bytes * GetBusFactor(CollectiveOperation::ALL_REDUCE, ranks));
        job.SetLowerBound(bound);
        for (uint32_t rank = 0; rank < ranks; rank++)
        {
            job.Observe(DynamicCast<TrainingApplication>(applications.Get(rank)));
        }
        GuardedRun run(cluster);
        job.OnRanksFinished([&] { run.End(); });
        run.Run();
        records = job.GetResults();
    }
    Simulator::Destroy();
    return records;
}

} // namespace ns3::training::tests

#endif // DISTRIBUTED_TRAINING_RUN_TEST_COMMON_H
