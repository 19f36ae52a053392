/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TASK_SORTER_H
#define DISTRIBUTED_TRAINING_TASK_SORTER_H

#include "formats/listed-graph.h"

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

    /** @param place index of the task @return a task */
    GraphTask& Get(std::size_t place)
    {
        return m_tasks[place];
    }

    /**
     * @param place of a task
     * @return places of those that it waits for
     */
    const std::vector<std::size_t>& GetEarlier(std::size_t place) const
    {
        return m_earlier[place];
    }

    /** @return number of tasks */
    std::size_t GetSize() const
    {
        return m_tasks.size();
    }

    /** Forgets all waits. */
    void ClearWaits()
    {
        m_earlier.assign(m_tasks.size(), {});
    }

    /// Places of tasks each of which waits for the next one, and the last one for the first.
    using Cycle = std::vector<std::size_t>;

    /** @return a cycle of waits; empty if there is none */
    Cycle FindCycle();

    /**
     * Breaks all cycles: in each, the youngest task, which is the last one of the file, does not
     * wait for the next one any more.
     * @param tell is called with each cycle before it is broken
     */
    void BreakCycles(const std::function<void(const Cycle&)>& tell);

    /**
     * Moves the tasks to a graph, each after those it waits for, otherwise in their order. There
     * must be no cycle.
     * @param graph the graph
     * @param rank that does them
     */
    void MoveTo(ListedGraph& graph, uint32_t rank);

  private:
    void Walk(const std::function<bool(const Cycle&)>& tell);

    std::vector<GraphTask> m_tasks;
    std::vector<std::vector<std::size_t>> m_earlier; // by place
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TASK_SORTER_H
