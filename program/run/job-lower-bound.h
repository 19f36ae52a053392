/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_JOB_LOWER_BOUND_H
#define DISTRIBUTED_TRAINING_JOB_LOWER_BOUND_H

#include "job-plan.h"

#include "ns3/training-cluster.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * @param plan of a job
 * @param cluster on which it runs
 * @param places ranks of the cluster, by rank of the job; empty: all of them
 * @return lower bound of the communication time of an iteration, s: that of the communicator with
 *         the largest one, since communicators run in parallel and their collectives one after the
 *         other
 */
double GetLowerBound(const JobPlan& plan,
                     const Cluster& cluster,
                     const std::vector<uint32_t>& places = {});

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_JOB_LOWER_BOUND_H
