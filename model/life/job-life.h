/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_JOB_LIFE_H
#define DISTRIBUTED_TRAINING_JOB_LIFE_H

#include "failure-sequence.h"

#include <cstdint>
#include <functional>
#include <map>

namespace ns3::training
{

/**
 * @ingroup distributed-training-life
 * Spans of a job's life. Those of an iteration, a checkpoint and a restart may come from a
 * simulation by packets.
 */
struct LifeSpans
{
    LifeTime interval{0};   ///< work between two checkpoints, more than 0
    LifeTime checkpoint{0}; ///< training stands still for a checkpoint
    LifeTime drain{0};      ///< after that, until the checkpoint can be loaded; training goes on
    LifeTime restart{0};    ///< from a failure, or from the arrival of a spare, to the next work
    LifeTime repair{0};     ///< from a failure until the node is a spare
    uint32_t spares{0};     ///< nodes in addition to those of the job
    LifeTime duration{0};   ///< of the life
};

/**
 * @ingroup distributed-training-life
 *
 * Where the time of a life has gone. Exact: productive + checkpoint + lost + restart + waiting =
 * elapsed.
 */
struct LifeAccount
{
    LifeTime elapsed{0};                    ///< all
    LifeTime productive{0};                 ///< work that was not lost
    LifeTime checkpoint{0};                 ///< standing still for checkpoints that were not lost
    LifeTime lost{0};                       ///< work and checkpoints that a failure undid
    LifeTime restart{0};                    ///< restarts, also those that failed
    LifeTime waiting{0};                    ///< waiting for a spare
    uint64_t failures{0};                   ///< of nodes
    uint64_t checkpoints{0};                ///< that could be loaded
    std::map<uint32_t, uint64_t> byCause{}; ///< failures by FailureModel::causes

    /** @return productive part of the time: effective training time ratio, goodput; 0 to 1 */
    double GetEffectiveRatio() const;
};

/**
 * @ingroup distributed-training-life
 *
 * Lives a job: work, checkpoints, and at each failure of a node the way back to the last checkpoint
 * that can be loaded, on a spare or after a repair. A failure during a restart begins it again.
 * What ends at the time of a failure has ended before it.
 *
 * @param spans of the job
 * @param next returns the next failure, in order of time
 * @return its account
 */
LifeAccount LiveJob(const LifeSpans& spans, const std::function<Failure()>& next);

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_JOB_LIFE_H
