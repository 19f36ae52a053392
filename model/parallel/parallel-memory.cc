/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "parallel-memory.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

/** @return activations of a layer that a rank keeps for a micro-batch, bytes */
double
GetLayerActivationBytes(const ParallelPlan& plan, uint32_t layer)
{
    const TransformerModel& model = plan.GetModel();
    const ParallelOptions& options = plan.GetOptions();
    // Korthikanti et al., equations 1, 2 and 4 and table 2; 2-byte activations.
    const auto tokens = static_cast<double>(plan.GetTokens());
    const double numbers = tokens * static_cast<double>(model.hidden);
    const auto parts = static_cast<double>(options.tensor);
    if (options.recompute == "full")
    {
        return 2 * numbers / (options.sequenceParallel ? parts : 1);
    }
    const double divided = 24 * numbers / parts;
    const double whole = 10 * numbers / (options.sequenceParallel ? parts : 1);
    const double scores = options.recompute == "selective" || options.attention == "flash"
                              ? 0
                              : 5 * tokens * static_cast<double>(model.GetSpan(layer)) *
                                    model.GetLayer(layer).heads / parts;
    return divided + whole + scores;
}

} // namespace

uint64_t
GetMostMemoryBytes(const ParallelPlan& plan)
{
    uint64_t most = 0;
    for (uint32_t place = 0; place < plan.GetOptions().pipeline; place++) // all pipelines are alike
    {
        most = std::max(most, GetMemoryBytes(plan, plan.GetRankOfStage(0, place)));
    }
    return most;
}

uint64_t
GetMemoryBytes(const ParallelPlan& plan, uint32_t rank)
{
    const ParallelOptions& options = plan.GetOptions();
    const uint32_t place = plan.GetPipelineRank(rank);
    double activations = 0;
    uint32_t stages = 0;
    for (uint32_t stage = 0; stage < plan.GetStages(); stage++)
    {
        if (plan.HasStage(place, stage))
        {
            stages++;
            for (uint32_t layer = plan.GetFirstLayer(stage); layer < plan.GetFirstLayer(stage + 1);
                 layer++)
            {
                activations += GetLayerActivationBytes(plan, layer);
            }
        }
    }
    // Adam keeps a copy, a mean and a variance of 4 bytes each.
    constexpr double ADAM = 12;
    const auto gradient = static_cast<double>(plan.GetGradientBytes());
    const double parameter = static_cast<double>(plan.GetParameterBytes(16)) / 16;
    const auto getState = [&](uint64_t parameters, PlanGroups groups) {
        const double parts = plan.GetSize(groups);
        return static_cast<double>(parameters) * (parameter / (options.zero >= 3 ? parts : 1) +
                                                  gradient / (options.zero >= 2 ? parts : 1) +
                                                  ADAM / (options.zero >= 1 ? parts : 1));
    };
    const uint64_t dense = plan.GetDenseParametersOfRank(rank);
    const double copy = options.hpzPartition > 0 ? parameter * static_cast<double>(dense) /
                                                       static_cast<double>(options.hpzPartition)
                                                 : 0;
    const double kept =
        plan.GetSchedule().GetMostActivations(place) * activations / std::max(1U, stages);
    return static_cast<uint64_t>(
        getState(dense, plan.GetShards()) + copy +
        getState(plan.GetExpertParametersOfRank(rank), plan.GetExpertShards()) + kept);
}

} // namespace ns3::training
