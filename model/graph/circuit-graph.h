/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CIRCUIT_GRAPH_H
#define DISTRIBUTED_TRAINING_CIRCUIT_GRAPH_H

#include "task-graph.h"

#include "ns3/nstime.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-graph
 *
 * A job between whose iterations optical circuit switches change the network. At the end of each
 * iteration but the last one, all ranks meet in a barrier behind all of its messages, and wait
 * until the circuits have changed: nothing overlaps with the next iteration (TopoOpt: Wang et al.,
 * NSDI 2023, section 4).
 */
class CircuitGraph : public TaskGraph
{
  public:
    /**
     * @param job what the ranks do
     * @param change time in which circuits change, not negative
     */
    CircuitGraph(std::shared_ptr<const TaskGraph> job, Time change);

    /**
     * @param task of a rank, which has ended
     * @return whether the rank knows that all have reached the end of the iteration
     */
    bool IsBarrier(const GraphTask& task) const;

    /**
     * @param task of a rank, which has ended
     * @return whether the rank has waited for the change, and goes on
     */
    bool IsChange(const GraphTask& task) const;

    uint32_t GetRanks() const override
    {
        return m_job->GetRanks();
    }

    const std::vector<TaskGroups>& GetGroups() const override
    {
        return m_groups;
    }

    const std::vector<std::string>& GetNames() const override
    {
        return m_names;
    }

    std::unique_ptr<TaskSource> MakeSource(uint32_t rank, uint32_t iterations) const override;
    std::size_t GetWindow() const override;

    std::optional<uint64_t> GetFirstGradient(const GraphTask& task) const override
    {
        return task.groups + 1 == m_groups.size() ? std::nullopt : m_job->GetFirstGradient(task);
    }

  private:
    std::shared_ptr<const TaskGraph> m_job;
    Time m_change;
    std::vector<TaskGroups> m_groups; // of the job, and all ranks
    std::vector<std::string> m_names;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CIRCUIT_GRAPH_H
