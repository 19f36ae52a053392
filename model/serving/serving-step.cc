/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "serving-step.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace ns3::training
{

/// Tokens of a step, in the quantities that its time depends on.
struct ServingSteps::Tokens
{
    double count{0};           ///< computed by the step
    double sampled{0};         ///< of these, those that the output layer turns into next tokens
    double scores{0};          ///< pairs of a token and one that it attends to
    double read{0};            ///< tokens whose keys and values are read
    double scoreOperations{0}; ///< floating-point operations of a pair in a layer, all heads
};

ServingSteps::ServingSteps(const TransformerModel& model,
                           const TransformerRates& rates,
                           uint32_t tensor,
                           uint32_t numberBytes,
                           const std::string& kind)
    : m_model(model),
      m_rates(rates),
      m_tensor(tensor),
      m_bytes(numberBytes)
{
    const auto refuse = [&](const std::string& allowed) {
        throw ConfigurationError(kind + " tensor",
                                 std::to_string(tensor),
                                 " (allowed: " + allowed + ")");
    };
    const auto check = [&](uint64_t number, const std::string& what) {
        if (number % tensor != 0)
        {
            refuse("divisors of " + std::to_string(number) + ", the " + what);
        }
    };
    if (!model.listed.empty())
    {
        throw ConfigurationError(kind + " model",
                                 model.help,
                                 " with a list of layers (allowed: models whose layers have the "
                                 "same sizes)");
    }
    check(model.heads, "heads of attention");
    check(model.vocabulary, "tokens of the vocabulary");
    if (model.experts == 0 || model.denseLayers > 0)
    {
        check(model.feedForward, "inner size of feed-forward networks");
    }
    if (model.experts > 0)
    {
        check(model.expertFeedForward, "inner size of experts");
    }
    const uint32_t parts = GetKeyValueParts(model);
    if (tensor <= parts)
    {
        check(parts, "heads of keys and values");
    }
    else if (tensor % parts != 0)
    {
        refuse("multiples of " + std::to_string(parts) + ", the heads of keys and values");
    }
    m_keyValueBytes = static_cast<double>(std::max<uint64_t>(1, parts / tensor) *
                                          GetKeyValuePartBytes(model, numberBytes));
}

uint64_t
ServingSteps::GetWeightBytes() const
{
    return static_cast<uint64_t>(
        std::ceil(static_cast<double>(m_model.GetParameters()) * m_bytes / m_tensor));
}

uint64_t
ServingSteps::GetTokenBytes() const
{
    return static_cast<uint64_t>(m_keyValueBytes) * m_model.layers;
}

double
ServingSteps::GetSeconds(double operations, double bytes) const
{
    return std::max(operations / m_rates.operations, bytes / m_rates.memory);
}

double
ServingSteps::GetProjectionSeconds(double tokens) const
{
    const double weights = static_cast<double>(m_model.GetAttentionParameters(0)) / m_tensor;
    return GetSeconds(2 * weights * tokens, weights * m_bytes);
}

double
ServingSteps::GetNetworkSeconds(uint32_t layer, double tokens) const
{
    double weights =
        static_cast<double>(m_model.GetLayerParameters(layer) - m_model.GetAttentionParameters(0));
    if (m_model.HasExperts(layer))
    {
        const double experts = m_model.experts;
        const double chosen =
            experts * (1 - std::pow(1 - m_model.expertsPerToken / experts, tokens));
        weights -= (experts - chosen) *
                   static_cast<double>(m_model.GetFeedForwardParameters(m_model.expertFeedForward));
    }
    return GetSeconds(m_model.GetFeedForwardOperations(layer) * tokens / m_tensor,
                      weights * m_bytes / m_tensor);
}

ServingStep
ServingSteps::Make(const Tokens& tokens, bool endsLayers) const
{
    const auto reduced =
        m_tensor > 1 ? static_cast<uint64_t>(tokens.count * m_bytes) * m_model.hidden : 0;
    ServingStep step;
    const auto add = [&step](double seconds, uint64_t bytes) {
        if (step.empty() || step.back().reduced > 0 || step.back().endsLayer)
        {
            step.emplace_back();
        }
        step.back().compute += PicoSeconds(std::llround(seconds * 1e12));
        step.back().reduced = bytes;
    };
    add(0, reduced); // the embedding, whose rows are divided
    const double scores = GetSeconds(tokens.scores * tokens.scoreOperations / m_tensor,
                                     tokens.read * m_keyValueBytes);
    const double attention = GetProjectionSeconds(tokens.count) + scores;
    for (uint32_t layer = 0; layer < m_model.layers; layer++)
    {
        add(attention, reduced);
        add(GetNetworkSeconds(layer, tokens.count), reduced);
        step.back().endsLayer = endsLayers;
    }
    const double output = static_cast<double>(m_model.vocabulary * m_model.hidden) / m_tensor;
    add(GetSeconds(2 * output * tokens.sampled, output * m_bytes), 0);
    return step;
}

ServingStep
ServingSteps::MakePrefill(const std::vector<uint64_t>& prompts) const
{
    Tokens tokens;
    for (uint64_t prompt : prompts)
    {
        const auto count = static_cast<double>(prompt);
        tokens.count += count;
        tokens.scores += count * (count + 1) / 2;
        tokens.sampled += 1;
        tokens.read += count;
    }
    const bool isLatent = m_model.keyValueRank > 0;
    const uint64_t key = m_model.GetHeadSize() + (isLatent ? m_model.rotarySize : 0);
    tokens.scoreOperations =
        2 * static_cast<double>(m_model.heads * (key + m_model.GetValueSize()));
    return Make(tokens, true);
}

ServingStep
ServingSteps::MakeDecode(const std::vector<uint64_t>& contexts) const
{
    Tokens tokens;
    for (uint64_t context : contexts)
    {
        tokens.count += 1;
        tokens.scores += static_cast<double>(context);
    }
    tokens.sampled = tokens.count;
    tokens.read = tokens.scores;
    const uint64_t pair = m_model.keyValueRank > 0 ? 2 * m_model.keyValueRank + m_model.rotarySize
                                                   : m_model.GetHeadSize() + m_model.GetValueSize();
    tokens.scoreOperations = 2 * static_cast<double>(m_model.heads * pair);
    return Make(tokens, false);
}

uint32_t
GetKeyValueParts(const TransformerModel& model)
{
    return model.keyValueRank > 0 ? 1 : model.keyValueHeads;
}

uint64_t
GetKeyValuePartBytes(const TransformerModel& model, uint32_t numberBytes)
{
    return model.GetKeyValueSize(0) / GetKeyValueParts(model) * numberBytes;
}

} // namespace ns3::training
