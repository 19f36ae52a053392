/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "parallel-memory.h"

#include "parallel/layer-operators.h"
#include "parallel/recomputation.h"
#include "parallel/sample-plans.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

/** @return activations of attention that a rank keeps for a token, bytes */
double
GetAttentionBytes(const ParallelPlan& plan, uint32_t layer, const Recomputation& again)
{
    const TransformerModel& model = plan.GetModel();
    const ParallelOptions& options = plan.GetOptions();
    const TransformerLayer sizes = model.GetLayer(layer);
    const auto parts = static_cast<double>(options.tensor);
    if (sizes.mixer > 0)
    {
        return 2 * static_cast<double>(sizes.mixer) / static_cast<double>(model.hidden) / parts;
    }
    const bool isLatent = model.keyValueRank > 0;
    const double heads = sizes.heads / parts;
    const double keyValueHeads = isLatent ? heads : std::max(1.0, sizes.keyValueHeads / parts);
    const auto value = static_cast<double>(model.GetValueSize());
    const auto key = static_cast<double>(model.GetHeadSize() + (isLatent ? model.rotarySize : 0));
    const double gates = !isLatent && model.Has(TransformerModel::QUERY_GATE) ? 2 : 1;
    double bytes = 2 * heads * value; // taken in by the projection
    if (!again.Has(RecomputedModule::MLA_UP_PROJECTION))
    {
        bytes += 2 * (gates * heads * key + keyValueHeads * (key + value));
    }
    if (isLatent)
    {
        // Before their norms, and after them.
        const auto compressed = static_cast<double>(2 * (model.queryRank + model.keyValueRank));
        bytes += 2 * (compressed + static_cast<double>(model.rotarySize)) /
                 (options.sequenceParallel ? parts : 1);
    }
    if (!again.Has(RecomputedModule::CORE_ATTENTION) && options.attention != "flash")
    {
        bytes += 5 * static_cast<double>(model.GetSpan(layer)) * heads;
    }
    return bytes;
}

/** @return activations of a feed-forward network, or of experts, for a token, bytes */
double
GetNetworkBytes(const ParallelPlan& plan, uint32_t layer, const Recomputation& again)
{
    const TransformerModel& model = plan.GetModel();
    const auto parts = static_cast<double>(plan.GetOptions().tensor);
    const bool hasExperts = model.HasExperts(layer);
    if (again.HasNetwork(hasExperts))
    {
        return 0;
    }
    // Results of the first matrices, and what the last one takes in.
    const double first = model.Has(TransformerModel::GATED) ? 2 : 1;
    if (!hasExperts)
    {
        return 2 * (first + 1) * static_cast<double>(model.GetLayer(layer).feedForward) / parts;
    }
    const double choices = model.expertsPerToken;
    const auto slices = static_cast<double>(plan.GetOptions().GetExpertTensor());
    const double last = again.Has(RecomputedModule::MOE_ACTIVATION) ? 0 : 1;
    const double routed = static_cast<double>(model.hidden) * slices +
                          (first + last) * static_cast<double>(model.expertFeedForward);
    const double shared = again.Has(RecomputedModule::SHARED_EXPERTS)
                              ? 0
                              : (first + 1) * static_cast<double>(GetSharedSize(model));
    return 2 * (choices * routed + shared) / parts;
}

/** @return activations of a layer that a rank keeps for a micro-batch, bytes */
double
GetLayerActivationBytes(const ParallelPlan& plan, uint32_t layer)
{
    const ParallelOptions& options = plan.GetOptions();
    // Korthikanti et al., equations 1, 2 and 4 and table 2; 2-byte activations.
    const auto tokens = static_cast<double>(plan.GetTokens());
    const double numbers = tokens * static_cast<double>(plan.GetModel().hidden) /
                           static_cast<double>(options.sequenceParallel ? options.tensor : 1);
    const Recomputation again(options.recompute);
    if (again.IsFull())
    {
        return 2 * numbers;
    }
    // Inputs of two norms, what they give, and two masks of dropout.
    return (4 + (again.Has(RecomputedModule::LAYERNORM) ? 0 : 4) + 2) * numbers +
           tokens * (GetAttentionBytes(plan, layer, again) + GetNetworkBytes(plan, layer, again));
}

} // namespace

uint64_t
GetMostMemoryBytes(const ParallelPlan& plan)
{
    uint64_t most = 0;
    if (!plan.GetOptions().sampleLengths.empty())
    {
        for (const auto& [kind, each] : MakeSamplePlans(plan))
        {
            most = std::max(most, GetMemoryBytes(*each, 0));
        }
        return most;
    }
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
