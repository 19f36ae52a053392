/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transformer-model.h"

namespace ns3::training
{

TransformerLayer
TransformerModel::GetLayer(uint32_t layer) const
{
    return listed.empty() ? TransformerLayer{heads,
                                             keyValueHeads,
                                             feedForward,
                                             experts > 0 && layer >= denseLayers}
                          : listed[layer];
}

uint64_t
TransformerModel::GetHeadSize() const
{
    return headSize > 0 ? headSize : hidden / heads;
}

uint64_t
TransformerModel::GetValueSize() const
{
    return valueSize > 0 ? valueSize : GetHeadSize();
}

uint64_t
TransformerModel::GetKeyValueSize(uint32_t layer) const
{
    return keyValueRank > 0 ? keyValueRank + rotarySize
                            : 2 * GetLayer(layer).keyValueHeads * GetHeadSize();
}

uint64_t
TransformerModel::GetAttentionParameters(uint32_t layer) const
{
    const uint64_t norm = hidden * (hasBiases ? 2 : 1);
    const TransformerLayer sizes = GetLayer(layer);
    const uint64_t output = sizes.heads * GetValueSize() * hidden;
    if (keyValueRank > 0)
    {
        const uint64_t key = GetHeadSize() + rotarySize;
        const uint64_t query = queryRank > 0
                                   ? hidden * queryRank + queryRank + queryRank * sizes.heads * key
                                   : hidden * sizes.heads * key;
        const uint64_t keyValue = hidden * (keyValueRank + rotarySize) + keyValueRank +
                                  keyValueRank * sizes.heads * (GetHeadSize() + GetValueSize());
        return norm + query + keyValue + output;
    }
    const uint64_t inputs = (sizes.heads + 2 * uint64_t{sizes.keyValueHeads}) * GetHeadSize();
    return norm + hidden * inputs + output + (hasBiases ? inputs + hidden : 0);
}

uint64_t
TransformerModel::GetFeedForwardParameters(uint64_t inner) const
{
    return (isGated ? 3 : 2) * hidden * inner + (hasBiases ? inner + hidden : 0);
}

uint64_t
TransformerModel::GetRouterParameters(uint32_t layer) const
{
    const uint64_t norm = hidden * (hasBiases ? 2 : 1);
    // Balancing without a loss adds a bias for each expert (DeepSeek-V3, section 2.1.2).
    const uint64_t balance = keyValueRank > 0 ? experts : 0;
    return norm + (HasExperts(layer) ? hidden * experts + balance : 0);
}

uint64_t
TransformerModel::GetExpertParameters(uint32_t layer) const
{
    return HasExperts(layer) ? experts * GetFeedForwardParameters(expertFeedForward) : 0;
}

uint64_t
TransformerModel::GetLayerParameters(uint32_t layer) const
{
    const uint64_t dense = HasExperts(layer)
                               ? sharedExperts * GetFeedForwardParameters(expertFeedForward)
                               : GetFeedForwardParameters(GetLayer(layer).feedForward);
    return GetAttentionParameters(layer) + GetRouterParameters(layer) + dense +
           GetExpertParameters(layer);
}

uint64_t
TransformerModel::GetEmbeddingParameters() const
{
    return (vocabulary + (hasPositions ? sequence : 0)) * hidden;
}

uint64_t
TransformerModel::GetOutputParameters() const
{
    return hidden * (hasBiases ? 2 : 1) + (tiesEmbeddings ? 0 : vocabulary * hidden);
}

uint64_t
TransformerModel::GetParameters() const
{
    uint64_t sum = GetEmbeddingParameters() + GetOutputParameters();
    for (uint32_t layer = 0; layer < layers; layer++)
    {
        sum += GetLayerParameters(layer);
    }
    return sum;
}

double
TransformerModel::GetAttentionOperations(uint32_t layer) const
{
    const uint64_t key = GetHeadSize() + (keyValueRank > 0 ? rotarySize : 0);
    const auto scores =
        static_cast<double>(sequence * GetLayer(layer).heads * (key + GetValueSize()));
    return 2 * (static_cast<double>(GetAttentionParameters(layer)) + scores);
}

double
TransformerModel::GetFeedForwardOperations(uint32_t layer) const
{
    if (!HasExperts(layer))
    {
        return 2 * static_cast<double>(GetFeedForwardParameters(GetLayer(layer).feedForward));
    }
    const uint64_t passed = expertsPerToken + sharedExperts;
    return 2 * static_cast<double>(passed * GetFeedForwardParameters(expertFeedForward) +
                                   hidden * experts);
}

double
TransformerModel::GetOutputOperations() const
{
    return 2 * static_cast<double>(vocabulary * hidden);
}

} // namespace ns3::training
