/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "parallel/stage-messages.h"

#include <algorithm>
#include <utility>

namespace ns3::training
{

StageMessages::StageMessages(const ParallelPlan& plan, RankTasks& tasks, uint32_t rank)
    : m_plan(plan),
      m_tasks(tasks),
      m_rank(rank),
      m_place(plan.GetPipelineRank(rank)),
      m_actions(plan.GetSchedule().actions[m_place])
{
}

bool
StageMessages::IsHere(uint32_t stage) const
{
    return m_plan.GetSchedule().rankOfStage[stage] == m_place;
}

/** @param sender stage that sends the message */
uint64_t
StageMessages::GetTag(bool isForward, uint32_t sender, uint32_t microBatch) const
{
    // Of the stages of a rank, and of its micro-batches: schedules may reorder them.
    const auto& places = m_plan.GetSchedule().rankOfStage;
    const auto chunk =
        static_cast<uint64_t>(std::count(places.begin(), places.begin() + sender, places[sender]));
    const uint64_t number =
        (chunk * 2 + (isForward ? 1 : 0)) * m_plan.GetMicroBatches() + microBatch;
    return number % (MAX_MESSAGE_TAG + 1); // those of a tag are far apart, and match in order
}

/** Receives what the stage before or behind sends for an action. @return the task; 0: none */
uint64_t
StageMessages::ReceiveInput(const PipelineAction& action)
{
    const bool isForward = action.work == PipelineWork::FORWARD;
    const bool isOuter = isForward ? action.stage == 0 : action.stage + 1 == m_plan.GetStages();
    if (isOuter || action.work >= PipelineWork::WEIGHT_GRADIENT)
    {
        return 0;
    }
    const uint32_t sender = isForward ? action.stage - 1 : action.stage + 1;
    if (IsHere(sender))
    {
        return 0;
    }
    const uint32_t place = m_plan.GetSchedule().rankOfStage[sender];
    return m_tasks.Receive(isForward ? LayerTask::ACTIVATIONS : LayerTask::GRADIENTS,
                           Parallelism::PIPELINE,
                           m_plan.GetRankOfStage(m_rank, place),
                           GetTag(isForward, sender, action.microBatch),
                           m_plan.GetStageBytes(std::min(sender, action.stage)));
}

void
StageMessages::AwaitInput(const PipelineAction& action)
{
    const bool isForward = action.work == PipelineWork::FORWARD;
    // Of another stage of this rank; the first and the last one find nothing.
    const auto handed = m_handed.find(
        {isForward, {isForward ? action.stage - 1 : action.stage + 1, action.microBatch}});
    if (handed != m_handed.end())
    {
        for (uint64_t id : handed->second)
        {
            m_tasks.GetWriter().Await(id);
        }
        m_handed.erase(handed);
    }
    else if (!m_plan.BatchesMessages())
    {
        m_tasks.GetWriter().Await(ReceiveInput(action));
    }
}

void
StageMessages::PassOutput(const PipelineAction& action)
{
    const bool isForward = action.work == PipelineWork::FORWARD;
    const uint32_t receiver = isForward ? action.stage + 1 : action.stage - 1;
    if (IsHere(receiver))
    {
        m_handed[{isForward, {action.stage, action.microBatch}}] = m_tasks.GetWriter().GetAwaited();
    }
    else if (m_plan.BatchesMessages() && !action.endsBatch)
    {
        m_unsent.push_back(action);
    }
    else
    {
        SendOutput(action);
    }
}

void
StageMessages::SendOutput(const PipelineAction& action)
{
    const bool isForward = action.work == PipelineWork::FORWARD;
    const uint32_t receiver = isForward ? action.stage + 1 : action.stage - 1;
    const uint32_t place = m_plan.GetSchedule().rankOfStage[receiver];
    m_tasks.GetWriter().SetMicroBatch(static_cast<int32_t>(action.microBatch));
    const uint64_t id = m_tasks.Send(isForward ? LayerTask::ACTIVATIONS : LayerTask::GRADIENTS,
                                     Parallelism::PIPELINE,
                                     m_plan.GetRankOfStage(m_rank, place),
                                     GetTag(isForward, action.stage, action.microBatch),
                                     m_plan.GetStageBytes(std::min(receiver, action.stage)),
                                     m_plan.BatchesMessages());
    if (m_plan.BatchesMessages())
    {
        m_batch.push_back(id);
    }
}

void
StageMessages::Begin(std::size_t index)
{
    const bool isInBatch = index > 0 && !m_actions[index - 1].endsBatch;
    if (!m_plan.BatchesMessages() || isInBatch)
    {
        return;
    }
    for (const PipelineAction& action : std::exchange(m_unsent, {}))
    {
        SendOutput(action);
    }
    for (bool isOpen = true; isOpen && index < m_actions.size(); index++)
    {
        const PipelineAction& action = m_actions[index];
        m_tasks.GetWriter().SetMicroBatch(static_cast<int32_t>(action.microBatch));
        m_batch.push_back(ReceiveInput(action));
        isOpen = !action.endsBatch;
    }
    for (uint64_t id : std::exchange(m_batch, {}))
    {
        m_tasks.GetWriter().Await(id);
    }
}

} // namespace ns3::training
