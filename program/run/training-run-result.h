/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_RUN_RESULT_H
#define DISTRIBUTED_TRAINING_RUN_RESULT_H

#include "ns3/background-figures.h"
#include "ns3/codec-figures.h"
#include "ns3/collective-planner.h"
#include "ns3/energy-figures.h"
#include "ns3/in-network-figures.h"
#include "ns3/iteration-record.h"
#include "ns3/life-figures.h"
#include "ns3/nic-figures.h"
#include "ns3/path-figures.h"
#include "ns3/repetition-figures.h"
#include "ns3/result-store.h"
#include "ns3/run-cost.h"
#include "ns3/tcp-figures.h"
#include "ns3/training-json-writer.h"
#include "ns3/uec-figures.h"

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
    std::optional<InNetworkFigures> inNetwork;   ///< if all-reduces are offloaded to the network
    std::optional<LifeFigures> life;             ///< with checkpoints or failures
    std::string inputs;                          ///< what was given rather than simulated, one line
    std::string fallback;                        ///< reason of a fallback, one line, or empty
    std::vector<std::string> warnings;           ///< see GetWarnings()
    std::optional<NicFigures> nic;               ///< if engines in NICs code gradients
    std::optional<CodecFigures> codec;           ///< if hosts code gradients
    std::optional<TcpFigures> tcp;               ///< if messages travel over TCP
    std::optional<UecFigures> uec;               ///< if messages travel over Ultra Ethernet
    std::optional<BackgroundFigures> background; ///< if there is traffic beside that of the ranks
    std::optional<EnergyFigures> energy;         ///< if a power model or a price is given
    std::vector<LearningRow> learning;           ///< by iteration, if the job contains a training
    std::string training;                        ///< its end, one line, or empty
    std::string mismatch;                        ///< the first wrong sum, or empty
    std::string failure;                         ///< why the run ended early, or empty
    RunCost cost;                                ///< cost of the simulation
    JsonValue configuration;                     ///< value of every option; "resolved" for "auto"
    std::optional<PathFigures> path; ///< critical path of the last iteration, with one process
    std::optional<RepetitionFigures> repetition; ///< with --repeat=derive

    /** @return the JSON document that `training-job --json` writes, see doc/results.rst */
    JsonValue ToJson() const;
};

/**
 * @ingroup distributed-training-helper
 * @param row a state of a training
 * @return its JSON object
 */
JsonValue LearningToJson(const LearningRow& row);

/**
 * @ingroup distributed-training-helper
 * @param row energy of a run
 * @return its JSON object
 */
JsonValue EnergyToJson(const EnergyRow& row);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_RUN_RESULT_H
