/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "life-plan.h"

#include "ns3/guarded-run.h"
#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <limits>

namespace ns3::training
{

namespace
{

/** @return bytes of a checkpoint; 0: there are none */
uint64_t
GetCheckpointBytes(const LifeOptions& options, const JobPlan& job)
{
    if (!options.HasCheckpoints() || options.bytes > 0)
    {
        return options.HasCheckpoints() ? options.bytes : 0;
    }
    if (job.parameters == 0)
    {
        throw ConfigurationError("checkpoint-bytes",
                                 "auto",
                                 " with workload " + job.name +
                                     " (allowed: a size, as its parameters are not known)");
    }
    return static_cast<uint64_t>(CHECKPOINT_PARAMETER_BYTES) * job.parameters;
}

/** @return the plan of the first start of a job, with checkpoints in equal shares */
CheckpointPlan
MakeCheckpoints(const LifeOptions& options, uint32_t ranks, uint64_t bytes)
{
    CheckpointPlan plan;
    plan.rendezvous = options.rendezvous;
    plan.reports = true;
    if (!options.HasCheckpoints())
    {
        plan.every = std::numeric_limits<uint32_t>::max();
        plan.shares.resize(ranks);
        return plan;
    }
    plan.every = static_cast<uint32_t>(options.every);
    for (uint64_t rank = 0; rank < ranks; rank++)
    {
        plan.shares.push_back(bytes / ranks + (rank < bytes % ranks ? 1 : 0));
    }
    plan.storageHosts = static_cast<uint32_t>(options.storageHosts);
    plan.storageRate = static_cast<double>(options.storageRate.GetBitRate()) / 8;
    plan.isAsynchronous = options.checkpoint == LifeOptions::ASYNCHRONOUS;
    plan.snapshotRate = static_cast<double>(options.snapshotRate.GetBitRate()) / 8;
    return plan;
}

} // namespace

LifePlan::LifePlan(const LifeOptions& options,
                   const JobPlan& job,
                   const Cluster& cluster,
                   uint64_t iterations)
    : failures(options, cluster.GetTopology(), cluster.GetRanks())
{
    bytes = GetCheckpointBytes(options, job);
    checkpoints = MakeCheckpoints(options, cluster.GetRanks(), bytes);
    graph = std::make_shared<CheckpointGraph>(job.graph, checkpoints);
    const uint64_t storages =
        checkpoints.storageHosts > 0 ? checkpoints.storageHosts : cluster.GetRanks();
    const uint64_t number = iterations / checkpoints.every;
    GuardedRun::CheckDuration(
        static_cast<double>(number) * static_cast<double>(bytes) /
            (static_cast<double>(storages) * std::max(checkpoints.storageRate, 1.0)),
        "--checkpoint-bytes=" + std::to_string(bytes));
}

} // namespace ns3::training
