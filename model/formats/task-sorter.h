/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TASK_SORTER_H
#define DISTRIBUTED_TRAINING_TASK_SORTER_H

#include "listed-graph.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-formats
 * Tasks of a rank in the order of a file, which may name a task before those it waits for.
 */
class TaskSorter
{
  public:
    /**
     * @param task without dependencies
     * @return its place, from 0
     */
    std::size_t Add(GraphTask task);

    /**
     * @param place of a task
     * @param earlier place of one that it waits for
     */
    void Require(std::size_t place, std::size_t earlier);

    /** @return a task */
    GraphTask& Get(std::size_t place)
    {
        return m_tasks[place];
    }

    /** @return number of tasks */
    std::size_t GetSize() const
    {
        return m_tasks.size();
    }

    /**
     * @return places of tasks each of which waits for the next one, and the last one for the
     *         first; empty if there is no cycle
     */
    std::vector<std::size_t> FindCycle() const;

    /**
     * Ends a wait.
     * @param place of a task
     * @param earlier place of one that it does not wait for any more
     */
    void Release(std::size_t place, std::size_t earlier);

    /**
     * Adds the tasks to a graph, each after those it waits for, otherwise in their order. There
     * must be no cycle.
     * @param graph the graph
     * @param rank that does them
     */
    void AddTo(ListedGraph& graph, uint32_t rank) const;

  private:
    std::vector<GraphTask> m_tasks;
    std::vector<std::vector<std::size_t>> m_earlier; // by place
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TASK_SORTER_H
