/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TASK_WRITER_H
#define DISTRIBUTED_TRAINING_TASK_WRITER_H

#include "task-graph.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-graph
 *
 * Writes the tasks of a rank in the order in which its program issues them, as a framework does: a
 * computation runs after the ones before it, communication starts when the computations before it
 * have ended, and Await() lets the next computation wait for communication.
 */
class TaskWriter
{
  public:
    /** @return the tasks written and not yet taken */
    std::deque<GraphTask>& GetTasks()
    {
        return m_tasks;
    }

    /** @param layer of the tasks to come, or -1 */
    void SetLayer(int32_t layer)
    {
        m_layer = layer;
    }

    /** @param microBatch of the tasks to come, or -1 */
    void SetMicroBatch(int32_t microBatch)
    {
        m_microBatch = microBatch;
    }

    /** @param id a task that the next computation waits for; 0: none */
    void Await(uint64_t id);

    /** @return the last computation, and all that the next one waits for */
    std::vector<uint64_t> GetAwaited() const;

    /**
     * @param name index of its name
     * @param length of the computation
     * @param isPart whether the next computation belongs to the same phase
     * @return the task
     */
    uint64_t Compute(uint32_t name, Time length, bool isPart = false);

    /**
     * Writes a task that starts when all computations so far have ended: a collective, a message,
     * or a delay.
     * @param task without number, layer and micro-batch; it may wait for other tasks, too
     * @return the task
     */
    uint64_t Start(GraphTask task);

    /**
     * Writes a receive, which is posted at once.
     * @param task without number, layer and micro-batch
     * @return the task
     */
    uint64_t Post(GraphTask task);

    /**
     * Writes a delay from the end of a task.
     * @param name index of its name
     * @param length of the delay
     * @param id the task
     * @return the delay; the task itself if there is none
     */
    uint64_t Delay(uint32_t name, Time length, uint64_t id);

    /**
     * Ends an iteration, when all computations and all that is awaited have ended.
     * @param name index of its name
     */
    void Mark(uint32_t name);

  private:
    uint64_t Add(GraphTask task);

    std::deque<GraphTask> m_tasks;
    uint64_t m_next{1};
    uint64_t m_last{0};              // last task of the compute stream
    std::vector<uint64_t> m_awaited; // by the next computation
    int32_t m_layer{-1};
    int32_t m_microBatch{-1};
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TASK_WRITER_H
