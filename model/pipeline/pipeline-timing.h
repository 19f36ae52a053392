/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_PIPELINE_TIMING_H
#define DISTRIBUTED_TRAINING_PIPELINE_TIMING_H

#include "pipeline-schedule.h"

#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-pipeline
 * Times of an iteration without a network, in any unit.
 */
struct PipelineDurations
{
    double forward{1};        ///< of FORWARD, in one stage
    double inputGradient{1};  ///< of INPUT_GRADIENT
    double weightGradient{1}; ///< of WEIGHT_GRADIENT; BACKWARD takes the sum of both
    double message{0};        ///< from the end of work until a stage on another rank may use it

    /** @param work kind of work @return time of the work */
    double Get(PipelineWork work) const;
};

/**
 * @ingroup distributed-training-pipeline
 * When a schedule does what, if messages take a fixed time.
 */
struct PipelineTiming
{
    std::vector<std::vector<double>> start; ///< by rank and action
    double end{0};                          ///< of the last work
    double bubble{0};                       ///< `end` less the work of the rank that has most
    std::string deadlock; ///< the cycle of waits, one line; empty if the schedule ends
};

/**
 * @ingroup distributed-training-pipeline
 *
 * Runs a schedule: a rank does its work in order, as soon as the inputs are there. Messages are
 * sent in the background; a rank waits for those it needs.
 *
 * @param schedule the schedule
 * @param durations of work and messages
 * @return its times
 */
PipelineTiming TimePipeline(const PipelineSchedule& schedule, const PipelineDurations& durations);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_PIPELINE_TIMING_H
