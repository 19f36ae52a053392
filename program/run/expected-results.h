/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_EXPECTED_RESULTS_H
#define DISTRIBUTED_TRAINING_EXPECTED_RESULTS_H

#include "job-plan.h"

#include "ns3/graph-checker.h"
#include "ns3/scheduled-communicator.h"
#include "ns3/training-application.h"
#include "ns3/training-job.h"

#include <functional>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * What the collectives of a job with real payload must give, bit by bit. Sums of all ranks have
 * references, as a system in the network may make them; groups execute schedules of their own.
 */
struct ExpectedResults
{
    GraphChecker::Numbers numbers;         ///< of the tensors
    GraphChecker::Reference sums;          ///< of all ranks, whoever adds
    GraphChecker::Reference afterFallback; ///< of all ranks, by hosts in place of the network
    /// By rank, its communicator of all ranks on hosts.
    std::function<Ptr<ScheduledCommunicator>(uint32_t rank)> hosts;

    GraphChecker::Listener onExpected{}; ///< receives what is expected; or null

    /**
     * Lets a job compare all its results.
     * @param plan of the job
     * @param applications by rank; used only if other collectives than sums of all ranks run
     * @param job receives the checker
     */
    void CompareIn(const JobPlan& plan,
                   const std::vector<Ptr<TrainingApplication>>& applications,
                   TrainingJob& job) const;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_EXPECTED_RESULTS_H
