/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "job/dense-network.h"

#include "job/random-number.h"

#include "ns3/training-mix-bits.h"

#include <algorithm>
#include <cmath>

// Products are rounded before they are added. Otherwise compilers may add some of them unrounded,
// and choose by the addresses of the operands.
#if defined(__clang__)
#pragma clang fp contract(off)
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

namespace ns3::training
{

namespace
{

/** @return cross-entropy of a class, nat */
double
GetCrossEntropy(const std::vector<float>& scores, uint32_t label)
{
    const double largest = *std::max_element(scores.begin(), scores.end());
    double sum = 0;
    for (const float score : scores)
    {
        sum += std::exp(score - largest);
    }
    return std::log(sum) - (scores[label] - largest);
}

} // namespace

DenseNetwork::DenseNetwork(std::vector<uint32_t> widths, uint64_t seed)
    : m_widths(std::move(widths))
{
    for (const uint32_t width : m_widths)
    {
        m_values.emplace_back(width);
        m_deltas.emplace_back(width);
    }
    m_weights.resize(GetStart(0) + std::size_t{m_widths[0] + 1} * m_widths[1]);
    m_velocities.resize(m_weights.size());
    for (std::size_t layer = 0; layer + 1 < m_widths.size(); layer++)
    {
        const std::size_t start = GetStart(layer);
        const double sigma = std::sqrt(2.0 / m_widths[layer]);
        for (std::size_t i = 0; i < std::size_t{m_widths[layer]} * m_widths[layer + 1]; i++)
        {
            const uint64_t bits = MixBits(MixBits(seed) ^ (start + i));
            m_weights[start + i] = static_cast<float>(sigma * DrawNormal(bits, MixBits(~bits)));
        }
    }
}

std::size_t
DenseNetwork::GetStart(std::size_t layer) const
{
    std::size_t start = 0;
    for (std::size_t later = layer + 1; later + 1 < m_widths.size(); later++)
    {
        start += std::size_t{m_widths[later] + 1} * m_widths[later + 1];
    }
    return start;
}

std::vector<LayerShape>
DenseNetwork::GetLayers() const
{
    std::vector<LayerShape> layers;
    for (std::size_t layer = 0; layer + 1 < m_widths.size(); layer++)
    {
        const uint64_t inputs = m_widths[layer];
        const uint64_t outputs = m_widths[layer + 1];
        LayerShape shape;
        shape.name = "fc" + std::to_string(layer + 1);
        shape.parameters = (inputs + 1) * outputs;
        shape.forwardMacs = inputs * outputs;
        if (layer + 2 < m_widths.size()) // ReLU reads and writes; backward also its outputs
        {
            shape.forwardElements = 2 * outputs;
            shape.backwardElements = 3 * outputs;
        }
        layers.push_back(shape);
    }
    return layers;
}

const std::vector<float>&
DenseNetwork::GetScores(const float* features) const
{
    std::copy_n(features, m_widths[0], m_values[0].begin());
    for (std::size_t layer = 0; layer + 1 < m_widths.size(); layer++)
    {
        const uint32_t outputs = m_widths[layer + 1];
        const float* row = &m_weights[GetStart(layer)];
        float* sums = m_values[layer + 1].data();
        std::copy_n(row + std::size_t{m_widths[layer]} * outputs, outputs, sums); // biases
        for (const float input : m_values[layer])
        {
            for (uint32_t output = 0; output < outputs; output++)
            {
                sums[output] += input * row[output];
            }
            row += outputs;
        }
        if (layer + 2 < m_widths.size())
        {
            std::transform(sums, sums + outputs, sums, [](float sum) {
                return std::max(sum, 0.0F);
            });
        }
    }
    return m_values.back();
}

uint32_t
DenseNetwork::Classify(const float* features) const
{
    const auto& scores = GetScores(features);
    return static_cast<uint32_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

double
DenseNetwork::GetLoss(const float* features, uint32_t label) const
{
    return GetCrossEntropy(GetScores(features), label);
}

double
DenseNetwork::AddGradient(const float* features, uint32_t label, std::vector<float>& gradient) const
{
    const auto& scores = GetScores(features);
    const double loss = GetCrossEntropy(scores, label);
    const double normalizer = loss + scores[label]; // logarithm of the sum of exponentials
    for (std::size_t i = 0; i < scores.size(); i++)
    {
        m_deltas.back()[i] = static_cast<float>(std::exp(scores[i] - normalizer));
    }
    m_deltas.back()[label] -= 1;
    for (std::size_t layer = m_widths.size() - 1; layer-- > 0;)
    {
        const uint32_t outputs = m_widths[layer + 1];
        const float* deltas = m_deltas[layer + 1].data();
        const float* weights = &m_weights[GetStart(layer)];
        float* sums = &gradient[GetStart(layer)];
        for (uint32_t i = 0; i < m_widths[layer]; i++)
        {
            const float input = m_values[layer][i];
            float delta = 0;
            for (uint32_t output = 0; output < outputs; output++)
            {
                sums[output] += input * deltas[output];
                delta += weights[output] * deltas[output];
            }
            m_deltas[layer][i] = input > 0 ? delta : 0; // the input is the output of a ReLU
            sums += outputs;
            weights += outputs;
        }
        for (uint32_t output = 0; output < outputs; output++)
        {
            sums[output] += deltas[output];
        }
    }
    return loss;
}

void
DenseNetwork::Descend(std::size_t first,
                      const std::vector<float>& sum,
                      uint32_t addends,
                      float rate,
                      float momentum)
{
    float* velocities = &m_velocities[first];
    float* weights = &m_weights[first];
    for (std::size_t i = 0; i < sum.size(); i++)
    {
        velocities[i] = momentum * velocities[i] + sum[i] / static_cast<float>(addends);
        weights[i] -= rate * velocities[i];
    }
}

} // namespace ns3::training
