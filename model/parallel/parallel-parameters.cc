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
           GetKeyValueCopies(layer) + GetEmbeddingCopy(layer);
}

uint64_t
ParallelPlan::GetEmbeddingCopy(uint32_t layer) const
{
    if (layer + m_model.predictionLayers != m_model.layers || m_model.predictionLayers == 0)
    {
        return 0; // the first prediction has it for all
    }
    const auto stage = std::upper_bound(m_firstLayers.begin(), m_firstLayers.end(), layer);
    const uint32_t place = m_schedule.rankOfStage[stage - m_firstLayers.begin() - 1];
    const bool isKnown =
        HasStage(place, 0) || (m_model.tiesEmbeddings && HasStage(place, GetStages() - 1));
    return isKnown ? 0 : m_model.vocabulary * m_model.hidden / m_options.tensor;
}

uint64_t
ParallelPlan::GetExpertParameters(uint32_t layer) const
{
    return m_model.GetExpertParameters(layer) / m_options.GetExpertTensor() / m_options.expert;
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
ParallelPlan::GetParameterBytes(uint64_t parameters) const
{
    return m_options.paramGather == "fp8"   ? parameters
           : m_options.paramGather == "fp4" ? (9 * parameters + 15) / 16
                                            : PARAMETER_BYTES * parameters;
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
ParallelPlan::GetStageBytes(uint32_t stage) const
{
    // Behind predictions, the activations for each predicted token go on.
    const uint32_t ahead = GetFirstLayer(stage + 1) + m_model.predictionLayers;
    const uint64_t bytes =
        GetActivationBytes() * (1 + std::max(ahead, m_model.layers) - m_model.layers);
    return m_options.sequenceParallel ? bytes / m_options.tensor : bytes;
}

} // namespace ns3::training
