/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SHARED_JOB_SUMS_H
#define DISTRIBUTED_TRAINING_SHARED_JOB_SUMS_H

#include "ns3/in-network-communicator.h"
#include "ns3/job-plan.h"
#include "ns3/scheduled-communicator.h"
#include "ns3/training-application.h"
#include "ns3/training-job.h"

#include <string>
#include <vector>

namespace ns3::training
{

/** A job whose results are compared bit by bit. @ingroup distributed-training-helper */
struct CheckedJob
{
    const JobPlan& plan;                                       ///< what its ranks do
    const std::vector<Ptr<TrainingApplication>>& applications; ///< by rank, with real payload
    const std::vector<Ptr<ScheduledCommunicator>>& hosts;      ///< of all ranks, by rank
    const std::vector<Ptr<InNetworkCommunicator>>& workers;    ///< by rank; empty: hosts sum
    const std::string& gradients;                              ///< their source
};

/**
 * @ingroup distributed-training-helper
 *
 * Refuses a job whose results cannot be compared.
 * @param plan of the job
 * @param options of the job, with the source of its numbers
 * @param isInNetwork whether switches sum for it
 * @throw ConfigurationError if there is no reference for its collectives, or the source does not
 * fit
 */
void CheckComparable(const JobPlan& plan, const TrainingRunOptions& options, bool isInNetwork);

/**
 * @ingroup distributed-training-helper
 *
 * Lets a job compare the results of all its collectives and messages, bit by bit.
 * @param job whose communicators and applications must outlive the run
 * @param measured receives the references
 */
void CompareResults(const CheckedJob& job, TrainingJob& measured);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SHARED_JOB_SUMS_H
