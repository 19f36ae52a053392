/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ITERATION_TEST_COMMON_H
#define DISTRIBUTED_TRAINING_ITERATION_TEST_COMMON_H

#include "ns3/guarded-run.h"
#include "ns3/iteration-record.h"
#include "ns3/simulator.h"
#include "ns3/training-job-helper.h"
#include "ns3/training-job.h"
#include "ns3/training-json-writer.h"
#include "ns3/training-record-field.h"
#include "ns3/training-workload.h"
#include "ns3/uinteger.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training::tests
{

/** @return all stored fields of all iterations */
inline std::string
ToText(const std::vector<IterationRecord>& records)
{
    auto rows = JsonValue::Array();
    for (const IterationRecord& record : records)
    {
        auto row = JsonValue::Object();
        SetMembers(row, GetIterationColumns(), record);
        rows.Append(row);
    }
    return rows.Write();
}

/** @return times of iterations, s */
inline std::vector<double>
GetTimes(const std::vector<IterationRecord>& records)
{
    std::vector<double> times;
    for (const IterationRecord& record : records)
    {
        times.push_back(record.iterationTimeS);
    }
    return times;
}

/** @return three iterations of a data-parallel job whose parts are combined by hand */
inline std::vector<IterationRecord>
RunParts(const ClusterOptions& options, const LayeredModel& model, uint64_t bucket, bool overlap)
{
    std::vector<IterationRecord> records;
    {
        const Cluster cluster(options);
        const uint32_t ranks = cluster.GetRanks();
        const auto task =
            std::make_shared<TrainingTask>(MakeDataParallelTask(model, bucket, overlap));
        TrainingJobHelper helper;
        helper.SetAttribute("Iterations", UintegerValue(3));
        const auto applications = helper.Install(cluster, task);
        TrainingJob job(ranks, 3, 1, task->GetBusBytes(ranks));
        double bound = 0;
        for (const TaskCollective& sum : task->collectives)
        {
            bound += cluster.GetLowerBound(sum.operation, sum.bytes);
        }
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

#endif // DISTRIBUTED_TRAINING_ITERATION_TEST_COMMON_H
