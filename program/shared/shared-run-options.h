/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SHARED_RUN_OPTIONS_H
#define DISTRIBUTED_TRAINING_SHARED_RUN_OPTIONS_H

#include "job-file.h"
#include "shared-job-result.h"

#include "ns3/run-cost.h"
#include "ns3/run-figures.h"
#include "ns3/training-cluster.h"

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

class SharedResults;

/** Jobs, and the cluster that they share. @ingroup distributed-training-helper */
struct SharedRunOptions
{
    ClusterOptions cluster;      ///< its ranks are the hosts for jobs
    std::vector<SharedJob> jobs; ///< by rising arrival, or not
    bool backfill{false};        ///< whether a job that finds hosts may overtake others that do not
    bool isReal{false};          ///< whether ranks have real numbers, and results are compared
    std::string gradients{TrainingRunOptions().gradients}; ///< source of the numbers
    SharedResults* results{nullptr};                       ///< results file; null: none
    uint32_t firstNumber{0}; ///< of the first job, in packets to switches
};

/** Results of a run of jobs. @ingroup distributed-training-helper */
struct SharedRunResult
{
    std::vector<SharedJobResult> jobs;  ///< in the order of the options
    RunFigures figures;                 ///< of the cluster, see FiguresEntry
    std::vector<std::string> notes;     ///< of the cluster and the jobs
    std::vector<std::string> warnings;  ///< likewise, and better algorithms
    std::vector<PlannedChoice> choices; ///< algorithm auto: its choices, of all jobs
    RunCost cost;                       ///< of the simulation
    std::string mismatch;               ///< first wrong result, with its job; empty: none
    std::string failure;      ///< why the simulation has ended early, one line; empty: it has not
    std::exception_ptr stuck; ///< its SimulationStuck, or null
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SHARED_RUN_OPTIONS_H
