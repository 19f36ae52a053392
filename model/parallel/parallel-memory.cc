/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "parallel-plan.h"

#include <algorithm>
#include <cstdint>

namespace ns3::training
{

uint64_t
ParallelPlan::GetKeyValueCopies(uint32_t layer) const
{
    const uint64_t heads = m_model.GetLayer(layer).keyValueHeads;
    const uint64_t parameters = m_model.GetKeyValueParameters(layer);
    return m_options.tensor > heads ? parameters / heads - parameters / m_options.tensor : 0;
}

uint64_t
ParallelPlan::GetDenseParameters(uint32_t layer) const
{
    return (m_model.GetLayerParameters(layer) - m_model.GetExpertParameters(layer)) /
               m_options.tensor +
           GetKeyValueCopies(layer);
}

uint64_t
ParallelPlan::GetExpertParameters(uint32_t layer) const
{
    return m_model.GetExpertParameters(layer) / m_options.tensor / m_options.expert;
}

bool
ParallelPlan::HasStage(uint32_t place, uint32_t stage) const
{
    return m_schedule.rankOfStage[stage] == place;
}

uint64_t
ParallelPlan::GetEmbeddingParameters(uint32_t stage) const
{
    return stage == 0 ? m_model.GetEmbeddingParameters() / m_options.tensor : 0;
}

uint64_t
ParallelPlan::GetOutputParameters(uint32_t stage) const
{
    if (stage + 1 < GetStages())
    {
        return 0;
    }
    // On its own rank the output layer has a copy of the embedding.
    const bool isCopy = m_model.tiesEmbeddings && !HasStage(m_schedule.rankOfStage[0], stage);
    return (m_model.GetOutputParameters() + (isCopy ? m_model.vocabulary * m_model.hidden : 0)) /
           m_options.tensor;
}

uint64_t
ParallelPlan::GetDenseParametersOfRank(uint32_t rank) const
{
    const uint32_t place = GetPipelineRank(rank);
    uint64_t sum = 0;
    for (uint32_t stage = 0; stage < GetStages(); stage++)
    {
        if (!HasStage(place, stage))
        {
            continue;
        }
        sum += GetEmbeddingParameters(stage) + GetOutputParameters(stage);
        for (uint32_t layer = GetFirstLayer(stage); layer < GetFirstLayer(stage + 1); layer++)
        {
            sum += GetDenseParameters(layer);
        }
    }
    return sum;
}

uint64_t
ParallelPlan::GetExpertParametersOfRank(uint32_t rank) const
{
    const uint32_t place = GetPipelineRank(rank);
    uint64_t sum = 0;
    for (uint32_t stage = 0; stage < GetStages(); stage++)
    {
        for (uint32_t layer = GetFirstLayer(stage);
             HasStage(place, stage) && layer < GetFirstLayer(stage + 1);
             layer++)
        {
            sum += GetExpertParameters(layer);
        }
    }
    return sum;
}

uint64_t
ParallelPlan::GetParameters(uint32_t rank) const
{
    return GetDenseParametersOfRank(rank) + GetExpertParametersOfRank(rank);
}

uint64_t
ParallelPlan::GetGradientBytes() const
{
    constexpr uint64_t AS_PARAMETERS = PARAMETER_BYTES;
    constexpr uint64_t FLOAT32 = 4;
    return m_options.gradientBytes > 0 ? m_options.gradientBytes
           : m_options.zero == 3       ? AS_PARAMETERS
                                       : FLOAT32;
}

uint64_t
ParallelPlan::GetActivationBytes() const
{
    return PARAMETER_BYTES * GetTokens() * m_model.hidden;
}

uint64_t
ParallelPlan::GetKeyValueBytes(uint32_t layer) const
{
    const uint64_t heads = m_model.GetLayer(layer).keyValueHeads;
    const uint64_t parts =
        m_model.keyValueRank > 0 ? m_options.tensor : std::min(m_options.tensor, heads);
    return PARAMETER_BYTES * GetTokens() * m_model.GetKeyValueSize(layer) / parts;
}

uint64_t
ParallelPlan::GetStageBytes() const
{
    return m_options.sequenceParallel ? GetActivationBytes() / m_options.tensor
                                      : GetActivationBytes();
}

double
ParallelPlan::GetLayerActivationBytes(uint32_t layer) const
{
    // Korthikanti et al., equations 1, 2 and 4 and table 2; 2-byte activations.
    const auto tokens = static_cast<double>(GetTokens());
    const double numbers = tokens * static_cast<double>(m_model.hidden);
    const auto parts = static_cast<double>(m_options.tensor);
    if (m_options.recompute == "full")
    {
        return 2 * numbers / (m_options.sequenceParallel ? parts : 1);
    }
    const double divided = 24 * numbers / parts;
    const double whole = 10 * numbers / (m_options.sequenceParallel ? parts : 1);
    const double scores = m_options.recompute == "selective"
                              ? 0
                              : 5 * tokens * static_cast<double>(m_model.GetSpan(layer)) *
                                    m_model.GetLayer(layer).heads / parts;
    return divided + whole + scores;
}

uint64_t
ParallelPlan::GetMostMemoryBytes() const
{
    uint64_t most = 0;
    for (uint32_t place = 0; place < m_options.pipeline; place++) // all pipelines are alike
    {
        most = std::max(most, GetMemoryBytes(GetRankOfStage(0, place)));
    }
    return most;
}

uint64_t
ParallelPlan::GetMemoryBytes(uint32_t rank) const
{
    const uint32_t place = GetPipelineRank(rank);
    double activations = 0;
    uint32_t stages = 0;
    for (uint32_t stage = 0; stage < GetStages(); stage++)
    {
        if (HasStage(place, stage))
        {
            stages++;
            for (uint32_t layer = GetFirstLayer(stage); layer < GetFirstLayer(stage + 1); layer++)
            {
                activations += GetLayerActivationBytes(layer);
            }
        }
    }
    // Adam keeps a copy, a mean and a variance of 4 bytes each.
    constexpr double ADAM = 12;
    const auto gradient = static_cast<double>(GetGradientBytes());
    const auto getState = [this, gradient](uint64_t parameters, PlanGroups groups) {
        const double parts = GetSize(groups);
        return static_cast<double>(parameters) *
               (PARAMETER_BYTES / (m_options.zero >= 3 ? parts : 1) +
                gradient / (m_options.zero >= 2 ? parts : 1) +
                ADAM / (m_options.zero >= 1 ? parts : 1));
    };
    const uint64_t dense = GetDenseParametersOfRank(rank);
    const double copy = m_options.hpzPartition > 0 ? static_cast<double>(PARAMETER_BYTES * dense) /
                                                         static_cast<double>(m_options.hpzPartition)
                                                   : 0;
    const double kept = m_schedule.GetMostActivations(place) * activations / std::max(1U, stages);
    return static_cast<uint64_t>(getState(dense, GetShards()) + copy +
                                 getState(GetExpertParametersOfRank(rank), GetExpertShards()) +
                                 kept);
}

} // namespace ns3::training
