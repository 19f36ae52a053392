/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_LOOP_GRAPH_H
#define DISTRIBUTED_TRAINING_LOOP_GRAPH_H

#include "training-task.h"

#include "ns3/task-graph.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-job
 *
 * A TrainingTask as a graph: every rank does the same steps in every iteration. The tag of a
 * collective is its index in the task.
 */
class LoopGraph : public TaskGraph
{
  public:
    /**
     * @param task steps of every rank
     * @param ranks number of ranks
     */
    LoopGraph(std::shared_ptr<const TrainingTask> task, uint32_t ranks);

    uint32_t GetRanks() const override;
    const std::vector<TaskGroups>& GetGroups() const override;
    const std::vector<std::string>& GetNames() const override;
    std::unique_ptr<TaskSource> MakeSource(uint32_t rank, uint32_t iterations) const override;

  private:
    std::shared_ptr<const TrainingTask> m_task;
    uint32_t m_ranks;
    std::vector<TaskGroups> m_groups;        // by communicator of the task
    std::vector<std::string> m_names;        // phases, then collectives
    std::vector<uint32_t> m_phases;          // by step, index of its name
    std::vector<uint32_t> m_collectiveNames; // by collective, index of its name
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_LOOP_GRAPH_H
