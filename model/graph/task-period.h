/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TASK_PERIOD_H
#define DISTRIBUTED_TRAINING_TASK_PERIOD_H

#include "task-graph.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-graph
 * By how much the numbers of a task differ from those of the same work on a later micro-batch.
 */
struct TaskShift
{
    uint64_t tasks{0};        ///< of the rank: GraphTask::id
    uint32_t microBatches{0}; ///< GraphTask::microBatch, and tags between stages
    uint64_t collectives{0};  ///< of the iteration: tags of collectives

    /** @param count of shifts @return all of them */
    TaskShift Times(uint64_t count) const;

    /** @param task receives the numbers of the one so much earlier */
    void MoveBack(GraphTask& task) const;
};

/**
 * @ingroup distributed-training-graph
 *
 * Where the tasks of an iteration repeat themselves: each task from one number to another is the
 * same work as a task a period later, which waits for the same tasks a period later. In the steady
 * phase of a pipeline a period is one micro-batch, or as many as pass a stage in a row.
 */
struct TaskPeriod
{
    TaskShift shift;   ///< of a period
    uint64_t first{0}; ///< number of the first task that comes again
    uint64_t end{0};   ///< number behind the last task that comes again

    /**
     * @param tasks of an iteration of a rank, in order
     * @param microBatches of a period; 0: any number
     * @return of the periods that come three times, the one that goes on for longest; none: there
     *         is none
     */
    static std::optional<TaskPeriod> Find(const std::vector<GraphTask>& tasks,
                                          uint32_t microBatches = 0);

    /**
     * @param next number of a task
     * @return periods that may be left out before it: each is like the one before `next`
     */
    uint64_t Count(uint64_t next) const;

  private:
    static TaskPeriod Find(const std::vector<GraphTask>& tasks, const TaskShift& shift);
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TASK_PERIOD_H
