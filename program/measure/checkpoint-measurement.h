/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CHECKPOINT_MEASUREMENT_H
#define DISTRIBUTED_TRAINING_CHECKPOINT_MEASUREMENT_H

#include "ns3/checkpoint-graph.h"
#include "ns3/cluster-options.h"
#include "ns3/collective-planner.h"
#include "ns3/job-plan.h"
#include "ns3/run-cost.h"

#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-helper
 * A job whose checkpoint is measured.
 */
struct CheckpointRun
{
    /// Iterations before the checkpoint, without the first, and after it.
    static constexpr uint32_t ITERATIONS = 4;

    ClusterOptions cluster; ///< ranks: those of the job, on the first hosts
    JobPlan job;            ///< what they do
    uint64_t bytes{0};      ///< of a checkpoint, in equal shares
    CheckpointPlan plan;    ///< its shares and `every` are set by MeasureCheckpoint()
};

/**
 * @ingroup distributed-training-helper
 * Spans of a job, packet by packet.
 */
struct CheckpointSpans
{
    double iterationS{0};  ///< an iteration without checkpoint, mean, s
    double checkpointS{0}; ///< what a checkpoint adds to the iterations during and after it, s
    double drainS{0};      ///< from the end of its iteration to the last answer; 0: blocking, s
    double loadS{0};       ///< what a restart adds to the first iteration, s
    bool isDrained{true};  ///< whether the drain has ended before the last iteration
    RunCost cost;          ///< of the simulation
    std::vector<PlannedChoice> choices; ///< algorithm auto: its choices
};

/**
 * @ingroup distributed-training-helper
 *
 * Simulates a restart, iterations, a checkpoint, and iterations. Needs a single process.
 *
 * @param run the job; rendezvous is not simulated
 * @return its spans
 * @throw ConfigurationError if the options are wrong, or the topology has too few hosts
 * @throw SimulationStuck if the simulation cannot make progress
 */
CheckpointSpans MeasureCheckpoint(const CheckpointRun& run);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CHECKPOINT_MEASUREMENT_H
