/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_GRAPH_TEST_COMMON_H
#define DISTRIBUTED_TRAINING_GRAPH_TEST_COMMON_H

#include "ns3/task-graph.h"
#include "ns3/task-writer.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3::training
{

/** Tasks from a list. */
class ListSource : public TaskSource
{
  public:
    explicit ListSource(std::vector<GraphTask> tasks)
        : m_tasks(std::move(tasks))
    {
    }

    bool Next(GraphTask& task) override
    {
        if (m_next == m_tasks.size())
        {
            return false;
        }
        task = m_tasks[m_next++];
        return true;
    }

  private:
    std::vector<GraphTask> m_tasks;
    std::size_t m_next{0};
};

/** A job whose tasks are written by a function. */
class WrittenGraph : public TaskGraph
{
  public:
    /// Writes an iteration of a rank.
    using Writer = std::function<void(TaskWriter& writer, uint32_t rank)>;

    WrittenGraph(uint32_t ranks, std::vector<TaskGroups> groups, Writer write)
        : m_ranks(ranks),
          m_groups(std::move(groups)),
          m_write(std::move(write))
    {
    }

    uint32_t GetRanks() const override
    {
        return m_ranks;
    }

    const std::vector<TaskGroups>& GetGroups() const override
    {
        return m_groups;
    }

    const std::vector<std::string>& GetNames() const override
    {
        return m_names;
    }

    std::unique_ptr<TaskSource> MakeSource(uint32_t rank, uint32_t iterations) const override
    {
        TaskWriter writer;
        for (uint32_t i = 0; i < iterations; i++)
        {
            m_write(writer, rank);
            writer.Mark(0);
        }
        return std::make_unique<ListSource>(
            std::vector<GraphTask>(writer.GetTasks().begin(), writer.GetTasks().end()));
    }

  private:
    uint32_t m_ranks;
    std::vector<TaskGroups> m_groups;
    std::vector<std::string> m_names{"end", "a", "b"};
    Writer m_write;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_GRAPH_TEST_COMMON_H
