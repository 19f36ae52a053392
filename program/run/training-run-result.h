/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RUN_RESULT_H
#define DISTRIBUTED_TRAINING_RUN_RESULT_H

#include "ns3/collective-planner.h"
#include "ns3/iteration-record.h"
#include "ns3/repetition-figures.h"
#include "ns3/result-store.h"
#include "ns3/run-cost.h"
#include "ns3/run-figures.h"
#include "ns3/training-json-writer.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 *
 * Results of a TrainingRun.
 */
struct TrainingRunResult
{
    IterationRecord mean;                    ///< mean of the iterations after the warm-up
    std::vector<IterationRecord> iterations; ///< all iterations, warm-up included
    double endS{0}; ///< simulated time at which all results are in place, s
    /// Algorithm auto: its choices and their reasons, by size of the collectives of all ranks in
    /// bytes; those of other operations than all-reduce by operation and size.
    std::vector<std::pair<std::string, std::string>> choices;
    std::vector<PlannedChoice> planned; ///< algorithm auto: choices of all groups, with candidates
    /// Checkpoints and failures, the critical path of the last iteration (with one process),
    /// energy; then those of the cluster, see FiguresEntry.
    RunFigures figures;
    std::string inputs;                          ///< what was given rather than simulated, one line
    std::string fallback;                        ///< reason of a fallback, one line, or empty
    std::vector<std::string> warnings;           ///< see GetWarnings()
    std::vector<LearningRow> learning;           ///< by iteration, if the job contains a training
    std::string training;                        ///< its end, one line, or empty
    std::string mismatch;                        ///< the first wrong sum, or empty
    std::string failure;                         ///< why the run ended early, or empty
    RunCost cost;                                ///< cost of the simulation
    JsonValue configuration;                     ///< value of every option; "resolved" for "auto"
    std::optional<RepetitionFigures> repetition; ///< with --repeat=derive

    /** @return the JSON document that `training-job --json` writes, see doc/json.rst */
    JsonValue ToJson() const;
};

/**
 * @ingroup distributed-training-helper
 * @param row a state of a training
 * @return its JSON object
 */
JsonValue LearningToJson(const LearningRow& row);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RUN_RESULT_H
