/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "circuit-graph.h"

#include <deque>
#include <utility>

namespace ns3::training
{

namespace
{

/// Numbers of tasks of the job are multiplied by this, to make room for those before a mark.
constexpr uint64_t CIRCUIT_STRIDE = 4;

/** Tasks of a rank, and those between its iterations. */
class CircuitSource : public QueuedSource
{
  public:
    /**
     * @param source tasks of the job
     * @param iterations of the job
     * @param group index of all ranks
     * @param name index of the first name
     * @param change time in which circuits change
     */
    CircuitSource(std::unique_ptr<TaskSource> source,
                  uint32_t iterations,
                  uint32_t group,
                  uint32_t name,
                  Time change)
        : m_source(std::move(source)),
          m_iterations(iterations),
          m_group(group),
          m_name(name),
          m_change(change)
    {
    }

  private:
    bool Write() override;
    void Change(GraphTask& mark);

    std::deque<GraphTask>& GetQueue() override
    {
        return m_ready;
    }

    std::unique_ptr<TaskSource> m_source;
    uint32_t m_iterations;
    uint32_t m_group;
    uint32_t m_name;
    Time m_change;
    std::deque<GraphTask> m_ready;
    uint32_t m_marks{0};
    uint64_t m_changed{0};            // the last change; 0: none
    uint64_t m_collectives{0};        // of the iteration
    std::vector<uint64_t> m_messages; // and collectives of the iteration
};

void
CircuitSource::Change(GraphTask& mark)
{
    GraphTask barrier;
    barrier.id = mark.id - 2;
    barrier.kind = TaskKind::COLLECTIVE;
    barrier.operation = CollectiveOperation::BARRIER;
    barrier.groups = m_group;
    barrier.name = m_name;
    barrier.tag = m_collectives;
    barrier.after = mark.after;
    barrier.after.insert(barrier.after.end(), m_messages.begin(), m_messages.end());
    GraphTask change;
    change.id = mark.id - 1;
    change.kind = TaskKind::MEMORY;
    change.name = m_name + 1;
    change.length = m_change;
    change.after = {barrier.id};
    mark.after.push_back(change.id);
    m_changed = change.id;
    m_ready.push_back(std::move(barrier));
    m_ready.push_back(std::move(change));
}

bool
CircuitSource::Write()
{
    GraphTask task;
    if (!m_source->Next(task))
    {
        return false;
    }
    SpreadIds(task, CIRCUIT_STRIDE);
    if (m_changed > 0)
    {
        task.after.push_back(m_changed);
    }
    const bool isCollective = task.kind == TaskKind::COLLECTIVE;
    if (isCollective || task.kind == TaskKind::SEND || task.kind == TaskKind::RECEIVE)
    {
        m_messages.push_back(task.id);
    }
    m_collectives += isCollective;
    if (task.kind == TaskKind::MARK)
    {
        if (++m_marks < m_iterations)
        {
            Change(task);
        }
        m_collectives = 0;
        m_messages.clear();
    }
    m_ready.push_back(std::move(task));
    return true;
}

} // namespace

CircuitGraph::CircuitGraph(std::shared_ptr<const TaskGraph> job, Time change)
    : m_job(std::move(job)),
      m_change(change),
      m_groups(m_job->GetGroups()),
      m_names(m_job->GetNames())
{
    m_groups.emplace_back();
    m_groups.back().algorithm = "dissemination";
    m_names.emplace_back("barrier before circuits change");
    m_names.emplace_back("circuits change");
}

bool
CircuitGraph::IsBarrier(const GraphTask& task) const
{
    return task.name + 2 == m_names.size();
}

bool
CircuitGraph::IsChange(const GraphTask& task) const
{
    return task.name + 1 == m_names.size();
}

std::size_t
CircuitGraph::GetWindow() const
{
    return m_job->GetWindow() + CIRCUIT_STRIDE;
}

std::unique_ptr<TaskSource>
CircuitGraph::MakeSource(uint32_t rank, uint32_t iterations) const
{
    return std::make_unique<CircuitSource>(m_job->MakeSource(rank, iterations),
                                           iterations,
                                           static_cast<uint32_t>(m_groups.size() - 1),
                                           static_cast<uint32_t>(m_names.size() - 2),
                                           m_change);
}

} // namespace ns3::training
