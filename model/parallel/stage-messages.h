/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_STAGE_MESSAGES_H
#define DISTRIBUTED_TRAINING_STAGE_MESSAGES_H

#include "rank-tasks.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-parallel
 *
 * Writes the messages of a rank to and from the stages before and behind its own. They travel in
 * the background, and an action waits for its input; or the rank exchanges them in batches, and
 * waits for all of a batch (ParallelPlan::BatchesMessages()).
 */
class StageMessages
{
  public:
    /**
     * @param plan who has which stage; outlives this object
     * @param tasks where messages are written; outlives this object
     * @param rank this one
     */
    StageMessages(const ParallelPlan& plan, RankTasks& tasks, uint32_t rank);

    /**
     * Awaits a batch between two actions, if there is one: results so far, and the inputs of the
     * actions until the next batch.
     * @param index of the next action in the schedule of the rank; their number: there is none
     */
    void Begin(std::size_t index);

    /** Awaits the activations or gradients of an action. @param action begins with them */
    void AwaitInput(const PipelineAction& action);

    /** Passes a result to the stage behind or before. @param action has the result */
    void PassOutput(const PipelineAction& action);

  private:
    bool IsHere(uint32_t stage) const;
    uint64_t GetTag(bool isForward, uint32_t sender, uint32_t microBatch) const;
    uint64_t ReceiveInput(const PipelineAction& action);
    void SendOutput(const PipelineAction& action);

    const ParallelPlan& m_plan;
    RankTasks& m_tasks;
    uint32_t m_rank;
    uint32_t m_place; // in the pipeline
    const std::vector<PipelineAction>& m_actions;
    std::map<std::pair<bool, std::pair<uint32_t, uint32_t>>, std::vector<uint64_t>>
        m_handed; // forward, stage and micro-batch: what the next stage of this rank waits for
    std::vector<PipelineAction> m_unsent; // whose results go with the next batch
    std::vector<uint64_t> m_batch;        // messages of the next batch that are written
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_STAGE_MESSAGES_H
