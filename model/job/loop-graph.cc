/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "loop-graph.h"

#include "ns3/task-writer.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

namespace
{

/// Name of computations inside a phase, and of the ends of iterations.
constexpr uint32_t NO_NAME = 0;

/** Writes the steps of a TrainingTask, iteration after iteration. */
class LoopSource : public QueuedSource
{
  public:
    /**
     * @param task the steps
     * @param phases by step, index of its name
     * @param collectives by collective, index of its name
     * @param iterations to write
     */
    LoopSource(std::shared_ptr<const TrainingTask> task,
               const std::vector<uint32_t>& phases,
               const std::vector<uint32_t>& collectives,
               uint32_t iterations)
        : m_task(std::move(task)),
          m_phases(phases),
          m_collectives(collectives),
          m_iterations(iterations),
          m_results(m_task->collectives.size())
    {
    }

  private:
    std::deque<GraphTask>& GetQueue() override
    {
        return m_writer.GetTasks();
    }

    bool Write() override
    {
        if (m_iterations == 0)
        {
            return false;
        }
        WriteStep();
        return true;
    }

    void WriteStep()
    {
        if (m_step == m_task->steps.size())
        {
            m_writer.Mark(NO_NAME);
            m_step = 0;
            m_iterations--;
            return;
        }
        const TaskStep& step = m_task->steps[m_step];
        switch (step.kind)
        {
        case TaskStep::Kind::COMPUTE:
            m_writer.Compute(m_phases[m_step], step.length);
            break;
        case TaskStep::Kind::START:
            Start(step.collective);
            break;
        case TaskStep::Kind::WAIT:
            m_writer.Await(m_results[step.collective]); // of an earlier iteration, or of none
            break;
        case TaskStep::Kind::APPLY:
            if (m_results[step.collective] > 0)
            {
                m_writer.Await(m_results[step.collective]);
                m_writer.Compute(m_phases[m_step], step.length);
            }
            break;
        }
        m_step++;
    }

    void Start(uint32_t index)
    {
        const TaskCollective& collective = m_task->collectives[index];
        GraphTask task;
        task.kind = TaskKind::COLLECTIVE;
        task.parallelism = collective.parallelism;
        task.stream = NO_STREAM;
        task.operation = collective.operation;
        task.groups = collective.communicator;
        task.priority = collective.priority;
        task.name = m_collectives[index];
        task.tag = index;
        task.bytes = collective.bytes;
        m_results[index] = m_writer.Start(std::move(task));
        if (!collective.update.IsZero())
        {
            GraphTask update;
            update.stream = NO_STREAM;
            update.length = collective.update;
            update.after.push_back(m_results[index]);
            m_results[index] = m_writer.Post(std::move(update));
        }
    }

    std::shared_ptr<const TrainingTask> m_task;
    const std::vector<uint32_t>& m_phases;
    const std::vector<uint32_t>& m_collectives;
    uint32_t m_iterations; // still to write
    std::size_t m_step{0}; // to write next
    TaskWriter m_writer;
    std::vector<uint64_t> m_results; // by collective, the task by which its last result is applied
};

} // namespace

LoopGraph::LoopGraph(std::shared_ptr<const TrainingTask> task, uint32_t ranks)
    : m_task(std::move(task)),
      m_ranks(ranks),
      m_names{""}
{
    for (const TaskCommunicator& communicator : m_task->communicators)
    {
        TaskGroups groups;
        groups.groups = communicator.groups;
        groups.exchanges = communicator.exchanges;
        groups.byPriority = communicator.byPriority;
        m_groups.push_back(groups);
    }
    const auto getIndex = [this](const std::string& name) {
        const auto found = std::find(m_names.begin(), m_names.end(), name);
        const auto index = static_cast<uint32_t>(found - m_names.begin());
        if (found == m_names.end())
        {
            m_names.push_back(name);
        }
        return index;
    };
    for (const TaskStep& step : m_task->steps)
    {
        m_phases.push_back(getIndex(step.phase));
    }
    for (std::size_t i = 0; i < m_task->collectives.size(); i++)
    {
        const TaskCollective& collective = m_task->collectives[i];
        m_collectiveNames.push_back(
            getIndex(std::string(GetName(collective.operation)) + " " + std::to_string(i)));
        m_groups[collective.communicator].parallelism = collective.parallelism;
    }
}

uint32_t
LoopGraph::GetRanks() const
{
    return m_ranks;
}

const std::vector<TaskGroups>&
LoopGraph::GetGroups() const
{
    return m_groups;
}

const std::vector<std::string>&
LoopGraph::GetNames() const
{
    return m_names;
}

std::unique_ptr<TaskSource>
LoopGraph::MakeSource(uint32_t, uint32_t iterations) const
{
    return std::make_unique<LoopSource>(m_task, m_phases, m_collectiveNames, iterations);
}

} // namespace ns3::training
