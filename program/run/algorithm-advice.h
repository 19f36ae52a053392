/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_ALGORITHM_ADVICE_H
#define DISTRIBUTED_TRAINING_ALGORITHM_ADVICE_H

#include "job-plan.h"

#include "ns3/collective-operation.h"
#include "ns3/iteration-record.h"
#include "ns3/training-cluster.h"
#include "ns3/training-json-writer.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/** A collective of all ranks that has been simulated. @ingroup distributed-training-helper */
struct FinishedCollective
{
    CollectiveOperation operation; ///< what it did
    uint64_t bytes;                ///< size of the whole vector
    double seconds;                ///< simulated time
    double lowerBound;             ///< lower bound of that time, s
};

/**
 * @ingroup distributed-training-helper
 *
 * Names a better algorithm for a collective that took much longer than its lower bound. Both the
 * algorithm in use and those that AlgorithmChooser compares are judged by CollectiveCost, so that
 * what slows down all of them, such as a host model, is no reason for an advice. There is none for
 * `auto`, schedule files, sums in the network or in NICs, codecs, faults, background traffic, and
 * more than MAX_ADVISED_RANKS ranks, whose schedules take long to build.
 * @param cluster that has run it
 * @param collective the collective
 * @return one line; empty: none
 */
std::string AdviseAlgorithm(const Cluster& cluster, const FinishedCollective& collective);

/**
 * @ingroup distributed-training-helper
 * The same for a job, whose communication is judged as a whole: names a better algorithm for the
 * collectives of all ranks that move most bytes.
 * @param cluster that has run it
 * @param plan of the job
 * @param mean of its iterations
 * @param hosts of its ranks; empty: rank r is on host r, and there is no other job
 * @return one line; empty: none
 */
std::string AdviseAlgorithm(const Cluster& cluster,
                            const JobPlan& plan,
                            const IterationRecord& mean,
                            const std::vector<uint32_t>& hosts = {});

/**
 * @ingroup distributed-training-helper
 * @param choices of `auto`
 * @return a JSON array with an object for each algorithm that was looked at for each collective:
 *         ranks, operation, bytes, algorithm, is_chosen, unfit (why it cannot be chosen, or empty),
 *         and, unless it is unfit, expected_us, latency_us and steps, otherwise null
 */
JsonValue ListCandidates(const std::vector<PlannedChoice>& choices);

/// Largest number of ranks for which AdviseAlgorithm() compares algorithms.
constexpr uint32_t MAX_ADVISED_RANKS = 256;

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_ALGORITHM_ADVICE_H
