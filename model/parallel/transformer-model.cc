/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transformer-model.h"

#include <algorithm>

namespace ns3::training
{

TransformerLayer
TransformerModel::GetLayer(uint32_t layer) const
{
    return listed.empty() ? TransformerLayer{heads,
                                             keyValueHeads,
                                             feedForward,
                                             experts > 0 && layer >= denseLayers,
                                             window,
                                             0}
                          : listed[layer];
}

void
TransformerModel::AddPredictions(uint32_t number)
{
    layers += number;
    predictionLayers = number;
    if (!listed.empty())
    {
        listed.resize(layers, TransformerLayer(listed.back()));
    }
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
TransformerModel::GetSpan(uint32_t layer) const
{
    const TransformerLayer sizes = GetLayer(layer);
    return sizes.mixer > 0 ? 0 : sizes.window > 0 ? std::min(sequence, sizes.window) : sequence;
}

uint64_t
TransformerModel::GetKeyValueSize(uint32_t layer) const
{
    const TransformerLayer sizes = GetLayer(layer);
    return sizes.mixer > 0    ? 0
           : keyValueRank > 0 ? keyValueRank + rotarySize
                              : 2 * sizes.keyValueHeads * GetHeadSize();
}

/** @return parameters of the norms beside a block */
uint64_t
TransformerModel::GetNorms(bool isAttention) const
{
    const uint64_t size = Has(EMPTY_NORMS) ? 0 : hidden * (Has(NORM_BIASES) ? 2 : 1);
    return Has(FOUR_NORMS) ? 2 * size : Has(ONE_NORM) && !isAttention ? 0 : size;
}

uint64_t
TransformerModel::GetKeyValueParameters(uint32_t layer) const
{
    return keyValueRank > 0 ? 0 : GetKeyValueSize(layer) * (hidden + (Has(INPUT_BIASES) ? 1 : 0));
}

uint64_t
TransformerModel::GetAttentionParameters(uint32_t layer) const
{
    const TransformerLayer sizes = GetLayer(layer);
    if (sizes.mixer > 0)
    {
        return GetNorms(true) + sizes.mixer;
    }
    const uint64_t output =
        sizes.heads * GetValueSize() * hidden + (Has(OUTPUT_BIASES) ? hidden : 0);
    if (keyValueRank > 0)
    {
        const uint64_t key = GetHeadSize() + rotarySize;
        const uint64_t query = queryRank > 0
                                   ? hidden * queryRank + queryRank + queryRank * sizes.heads * key
                                   : hidden * sizes.heads * key;
        const uint64_t keyValue = hidden * (keyValueRank + rotarySize) + keyValueRank +
                                  keyValueRank * sizes.heads * (GetHeadSize() + GetValueSize());
        const uint64_t index =
            queryRank * indexHeads * indexSize + hidden * (indexSize + indexHeads) + 2 * indexSize;
        return GetNorms(true) + query + keyValue + output + index;
    }
    const uint64_t queries = sizes.heads * GetHeadSize() * (Has(QUERY_GATE) ? 2 : 1);
    const uint64_t norms = Has(HEAD_NORMS) ? 2 * GetHeadSize()
                           : Has(WHOLE_NORMS)
                               ? (sizes.heads + uint64_t{sizes.keyValueHeads}) * GetHeadSize()
                               : 0;
    return GetNorms(true) + queries * (hidden + (Has(INPUT_BIASES) ? 1 : 0)) +
           GetKeyValueParameters(layer) + output + norms + (Has(SINKS) ? sizes.heads : 0);
}

uint64_t
TransformerModel::GetFeedForwardParameters(uint64_t inner) const
{
    const uint64_t first = Has(GATED) ? 2 : 1;
    return (first + 1) * hidden * inner + (Has(FORWARD_BIASES) ? first * inner + hidden : 0);
}

uint64_t
TransformerModel::GetSharedParameters() const
{
    const uint64_t inner = sharedFeedForward > 0 ? sharedFeedForward : expertFeedForward;
    return (sharedFeedForward > 0 ? 1 : sharedExperts) * GetFeedForwardParameters(inner) +
           (sharedExperts > 0 && Has(SHARED_GATE) ? hidden : 0);
}

uint64_t
TransformerModel::GetRouterParameters(uint32_t layer) const
{
    return GetNorms(false) +
           (HasExperts(layer) ? experts * (hidden + (Has(ROUTER_BIASES) ? 1 : 0)) : 0);
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
                               ? GetSharedParameters()
                               : GetFeedForwardParameters(GetLayer(layer).feedForward);
    constexpr uint64_t NORMS = 3; // of both inputs, and of the result
    const uint64_t prediction = IsPrediction(layer) ? hidden * (2 * hidden + NORMS) : 0;
    return GetAttentionParameters(layer) + GetRouterParameters(layer) + dense +
           GetExpertParameters(layer) + prediction;
}

uint64_t
TransformerModel::GetEmbeddingParameters() const
{
    const uint64_t learned = !Has(POSITIONS) ? 0 : positions > 0 ? positions : sequence;
    const uint64_t norm = Has(EMBEDDING_NORM) ? (Has(NORM_BIASES) ? 2 : 1) : 0;
    return (vocabulary + learned + tokenTypes + norm) * hidden;
}

uint64_t
TransformerModel::GetOutputParameters() const
{
    const uint64_t norm = Has(EMPTY_NORMS) ? 0 : Has(NORM_BIASES) ? 2 : 1;
    return hidden * (norm + (Has(MASKED_HEAD) ? hidden + 1 : 0)) +
           (Has(HEAD_BIASES) ? vocabulary : 0) + (tiesEmbeddings ? 0 : vocabulary * hidden);
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
        static_cast<double>(GetSpan(layer) * GetLayer(layer).heads * (key + GetValueSize()));
    return 2 * (static_cast<double>(GetAttentionParameters(layer)) + scores);
}

double
TransformerModel::GetFeedForwardOperations(uint32_t layer) const
{
    if (!HasExperts(layer))
    {
        return 2 * static_cast<double>(GetFeedForwardParameters(GetLayer(layer).feedForward));
    }
    return 2 * static_cast<double>(expertsPerToken * GetFeedForwardParameters(expertFeedForward) +
                                   GetSharedParameters() + hidden * experts);
}

double
TransformerModel::GetOutputOperations() const
{
    return 2 * static_cast<double>(vocabulary * hidden);
}

} // namespace ns3::training
