/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_LIFE_PLAN_H
#define DISTRIBUTED_TRAINING_LIFE_PLAN_H

#include "failure-plan.h"
#include "job-plan.h"

#include "ns3/checkpoint-graph.h"
#include "ns3/life-options.h"
#include "ns3/training-cluster.h"

#include <cstdint>
#include <memory>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * What a job saves and when, and what fails: the plan of a LivingJob.
 */
struct LifePlan
{
    /**
     * @param options of the job, with checkpoints or failures
     * @param job what the ranks do
     * @param cluster of the job
     * @param iterations of the job
     * @throw ConfigurationError if they do not go together, or last too long
     */
    LifePlan(const LifeOptions& options,
             const JobPlan& job,
             const Cluster& cluster,
             uint64_t iterations);

    uint64_t bytes{0};                            ///< of a checkpoint
    CheckpointPlan checkpoints;                   ///< of the first start
    std::shared_ptr<const CheckpointGraph> graph; ///< the job with checkpoints and restarts
    FailurePlan failures;                         ///< of the job
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_LIFE_PLAN_H
