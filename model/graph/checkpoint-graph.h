/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CHECKPOINT_GRAPH_H
#define DISTRIBUTED_TRAINING_CHECKPOINT_GRAPH_H

#include "task-graph.h"

#include "ns3/nstime.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

/// Bytes of a parameter in a checkpoint, as DeepSpeed writes: a copy of 2 and three states of 4.
/// @ingroup distributed-training-graph
constexpr double CHECKPOINT_PARAMETER_BYTES = 14;

/// Size of the message that a part of a checkpoint is written. @ingroup distributed-training-graph
constexpr uint64_t CHECKPOINT_ANSWER_BYTES = 64;

/**
 * @ingroup distributed-training-graph
 * When and where a job saves its state.
 */
struct CheckpointPlan
{
    uint32_t every{1};            ///< iterations from checkpoint to checkpoint, at least 1
    std::vector<uint64_t> shares; ///< bytes that each rank saves; 0: it saves nothing
    uint32_t storageHosts{0};     ///< hosts that only store, as last ranks; 0: each rank has a disk
    double storageRate{0};        ///< of a disk, or of all of a storage host, byte/s; 0: infinite
    bool isAsynchronous{false};   ///< ranks copy their share, and save it beside the training
    double snapshotRate{0};       ///< of that copy, byte/s; 0: infinite
    bool isRestart{false};        ///< the first iteration begins with a restart
    Time rendezvous;              ///< of a restart: until ranks ask for their shares
    bool loads{true};             ///< of a restart: there are shares to load
    bool reports{false};          ///< a task without length ends when CheckpointStep::REACHED
};

/**
 * @ingroup distributed-training-graph
 * What the end of a task means for the checkpoints of its rank.
 */
enum class CheckpointStep
{
    NONE,     ///< nothing
    REACHED,  ///< the work of an iteration is done, and its checkpoint begins
    STORED,   ///< the share is stored
    RESTARTED ///< the restart is over
};

/**
 * @ingroup distributed-training-graph
 *
 * A job that saves its state at the end of every few iterations, and may begin with a restart.
 *
 * Saved state travels to storage hosts in one message of each rank, to host `rank modulo hosts`,
 * which writes them in the order of ranks and answers. A blocking checkpoint ends before its
 * iteration does. An asynchronous checkpoint stops training only while state is copied to the
 * memory of the host. The next checkpoint waits until storage has the copy. In a restart each rank
 * waits for the rendezvous, asks for its share, and receives it.
 */
class CheckpointGraph : public TaskGraph
{
  public:
    /**
     * @param job what is saved; it runs on the first ranks
     * @param plan with a share for each rank of the job
     */
    CheckpointGraph(std::shared_ptr<const TaskGraph> job, CheckpointPlan plan);

    /** @return number of ranks of the job, without storage hosts */
    uint32_t GetJobRanks() const
    {
        return m_job->GetRanks();
    }

    /** @return the plan */
    const CheckpointPlan& GetPlan() const
    {
        return m_plan;
    }

    /**
     * @param task of a rank of the job
     * @return whether it receives the answer that its share of a checkpoint is written
     */
    bool IsAnswer(const GraphTask& task) const;

    /**
     * @param task of a rank of the job, which has ended
     * @return what that means
     */
    CheckpointStep GetStep(const GraphTask& task) const;

    uint32_t GetRanks() const override
    {
        return m_job->GetRanks() + m_plan.storageHosts;
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
        return m_job->GetFirstGradient(task);
    }

  private:
    std::shared_ptr<const TaskGraph> m_job;
    CheckpointPlan m_plan;
    std::vector<TaskGroups> m_groups;
    std::vector<std::string> m_names;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_CHECKPOINT_GRAPH_H
