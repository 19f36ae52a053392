/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "pipeline-schedule.h"

#include <algorithm>

namespace ns3::training
{

const char*
GetName(PipelineWork work)
{
    constexpr const char* NAMES[] = {"F", "B", "I", "W", "UNSHARD", "RESHARD", "REDUCE_GRAD"};
    return NAMES[static_cast<uint32_t>(work)];
}

std::string
PipelineAction::ToString() const
{
    return std::to_string(stage) + GetName(work) +
           (IsCompute(work) ? std::to_string(microBatch) : "");
}

uint32_t
PipelineSchedule::GetMostActivations(uint32_t rank) const
{
    uint32_t kept = 0;
    uint32_t most = 0;
    for (const PipelineAction& action : actions.at(rank))
    {
        if (action.work == PipelineWork::FORWARD)
        {
            most = std::max(most, ++kept);
        }
        else if (action.work == PipelineWork::BACKWARD ||
                 action.work == PipelineWork::INPUT_GRADIENT)
        {
            kept--;
        }
    }
    return most;
}

void
PipelineSchedule::SeparateActions()
{
    for (auto& all : actions)
    {
        for (PipelineAction& action : all)
        {
            action.joinsNext = false;
        }
    }
}

std::string
PipelineSchedule::FindGap() const
{
    // By stage and micro-batch, what has been done: a bit for each kind of gradient and F.
    constexpr uint32_t DONE[] = {1, 6, 2, 4};
    constexpr uint32_t NEEDED[] = {0, 1, 1, 2};
    std::vector<uint8_t> done(std::size_t{GetStages()} * microBatches);
    for (uint32_t rank = 0; rank < GetRanks(); rank++)
    {
        for (const PipelineAction& action : actions[rank])
        {
            const std::string what = "rank " + std::to_string(rank) + ": " + action.ToString();
            if (action.stage >= GetStages() || action.microBatch >= microBatches)
            {
                return what + " (allowed: stages below " + std::to_string(GetStages()) +
                       ", micro-batches below " + std::to_string(microBatches) + ")";
            }
            if (rankOfStage[action.stage] != rank)
            {
                return what + " on a rank that does not have the stage (allowed: rank " +
                       std::to_string(rankOfStage[action.stage]) + ")";
            }
            if (!IsCompute(action.work))
            {
                continue;
            }
            uint8_t& state = done[std::size_t{action.stage} * microBatches + action.microBatch];
            const auto work = static_cast<uint32_t>(action.work);
            if ((state & DONE[work]) != 0)
            {
                return what + " is done twice";
            }
            if ((state & NEEDED[work]) != NEEDED[work])
            {
                return what + " comes before the " +
                       (work == 3 ? "gradients of the inputs" : "forward pass");
            }
            state |= DONE[work];
        }
    }
    for (uint32_t stage = 0; stage < GetStages(); stage++)
    {
        for (uint32_t microBatch = 0; microBatch < microBatches; microBatch++)
        {
            const uint8_t state = done[std::size_t{stage} * microBatches + microBatch];
            if (state != 7)
            {
                const PipelineWork work = (state & 1) == 0   ? PipelineWork::FORWARD
                                          : (state & 2) == 0 ? PipelineWork::BACKWARD
                                                             : PipelineWork::WEIGHT_GRADIENT;
                return "rank " + std::to_string(rankOfStage[stage]) + " never does " +
                       PipelineAction{work, stage, microBatch}.ToString();
            }
        }
    }
    return "";
}

} // namespace ns3::training
