/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_JOB_RULES_H
#define DISTRIBUTED_TRAINING_JOB_RULES_H

#include "job-plan.h"
#include "training-run-options.h"

#include "ns3/training-cluster.h"

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * @param plan of a job with real payload, not only of all-reduces of all ranks
 * @throw ConfigurationError if a tensor is no whole number of floats
 */
void CheckWholeNumbers(const JobPlan& plan);

/**
 * @ingroup distributed-training-helper
 * @param options of a run
 * @param plan of its job
 * @throw ConfigurationError if they do not go together
 */
void CheckJobRules(const TrainingRunOptions& options, const JobPlan& plan);

/**
 * @ingroup distributed-training-helper
 * @param options of a run
 * @param plan of its job
 * @param cluster of the job
 * @throw ConfigurationError if the job cannot run on the cluster
 */
void CheckClusterRules(const TrainingRunOptions& options,
                       const JobPlan& plan,
                       const Cluster& cluster);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_JOB_RULES_H
