/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SHARED_RUN_H
#define DISTRIBUTED_TRAINING_SHARED_RUN_H

#include "background-figures.h"
#include "job-file.h"
#include "run-cost.h"
#include "shared-job-result.h"

#include "ns3/training-cluster.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

class SharedResults;

/** @ingroup distributed-training-helper Jobs, and the cluster that they share. */
struct SharedRunOptions
{
    ClusterOptions cluster;      ///< its ranks are the hosts for jobs
    std::vector<SharedJob> jobs; ///< by rising arrival, or not
    bool backfill{false};        ///< whether a job that finds hosts may overtake others that do not
    SharedResults* results{nullptr}; ///< results file; null: none
};

/** @ingroup distributed-training-helper Results of a run of jobs. */
struct SharedRunResult
{
    std::vector<SharedJobResult> jobs;           ///< in the order of the options
    std::optional<BackgroundFigures> background; ///< of the traffic beside the jobs, if any
    std::vector<std::string> notes;              ///< of the cluster and the jobs
    RunCost cost;                                ///< of the simulation
};

/**
 * @ingroup distributed-training-helper
 *
 * Simulates jobs that share a cluster. A job asks for hosts when it arrives. If they are not free,
 * it waits, and later ones behind it, unless they may overtake it (backfill). When a job ends, its
 * hosts are free again.
 *
 * @param options jobs and cluster
 * @return the results
 * @throw ConfigurationError if the options are wrong or inconsistent
 * @throw SimulationStuck if the simulation cannot make progress
 */
SharedRunResult RunShared(const SharedRunOptions& options);

/**
 * @ingroup distributed-training-helper
 *
 * Simulates a job of a run alone, on the same hosts, without traffic beside it.
 * @param options of the run
 * @param job its index
 * @param hosts that it had in the run
 * @return its results
 */
SharedRunResult RunAlone(const SharedRunOptions& options,
                         std::size_t job,
                         const std::vector<uint32_t>& hosts);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SHARED_RUN_H
