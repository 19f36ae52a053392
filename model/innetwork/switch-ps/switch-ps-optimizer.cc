/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "switch-ps-optimizer.h"

#include <cmath>

// Disables fused operations: results must not depend on the processor of the simulation.
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

namespace ns3::training
{

namespace
{

void
StepSgd(const OptimizerSettings& settings,
        const float* gradient,
        float* values,
        uint32_t count,
        OptimizerPowers&)
{
    for (uint32_t i = 0; i < count; i++)
    {
        const float g = gradient[i] + settings.weightDecay * values[i];
        values[i] = values[i] - settings.learningRate * g;
    }
}

void
StepMomentum(const OptimizerSettings& settings,
             const float* gradient,
             float* values,
             uint32_t count,
             OptimizerPowers&)
{
    float* const velocity = values + count;
    for (uint32_t i = 0; i < count; i++)
    {
        const float g = gradient[i] + settings.weightDecay * values[i];
        velocity[i] = settings.momentum * velocity[i] + g;
        values[i] = values[i] - settings.learningRate * velocity[i];
    }
}

/** Kingma and Ba, Adam: A Method for Stochastic Optimization, ICLR 2015, algorithm 1. */
void
StepAdam(const OptimizerSettings& settings,
         const float* gradient,
         float* values,
         uint32_t count,
         OptimizerPowers& powers)
{
    powers.beta1 = powers.beta1 * settings.beta1;
    powers.beta2 = powers.beta2 * settings.beta2;
    const float correction1 = 1 - powers.beta1;
    const float correction2 = 1 - powers.beta2;
    const float rest1 = 1 - settings.beta1;
    const float rest2 = 1 - settings.beta2;
    float* const mean = values + count;
    float* const square = mean + count;
    for (uint32_t i = 0; i < count; i++)
    {
        const float g = gradient[i] + settings.weightDecay * values[i];
        mean[i] = settings.beta1 * mean[i] + rest1 * g;
        square[i] = settings.beta2 * square[i] + rest2 * (g * g);
        const float root = std::sqrt(square[i] / correction2);
        values[i] =
            values[i] - settings.learningRate * (mean[i] / correction1) / (root + settings.epsilon);
    }
}

// Adders: weight decay and step; velocity; two means and the root.
const Registry<SwitchOptimizer>::Entry g_sgd("sgd",
                                             {"stochastic gradient descent", 1, 2, &StepSgd});
const Registry<SwitchOptimizer>::Entry g_momentum("momentum",
                                                  {"with momentum", 2, 3, &StepMomentum});
const Registry<SwitchOptimizer>::Entry g_adam("adam", {"Adam (ICLR 2015)", 3, 5, &StepAdam});

} // namespace

void
OptimizerMemory::Configure(const OptimizerSettings& settings, uint32_t elements)
{
    m_settings = settings;
    m_optimizer = &Registry<SwitchOptimizer>::Find(settings.name);
    m_elements = elements;
    m_values.clear();
    m_powers.clear();
}

float*
OptimizerMemory::Reach(uint32_t range)
{
    const uint64_t size = uint64_t{m_elements} * m_optimizer->arrays;
    if (range >= m_powers.size())
    {
        m_powers.resize(range + 1);
        m_values.resize(m_powers.size() * size);
    }
    return m_values.data() + range * size;
}

const float*
OptimizerMemory::Step(uint32_t range, const float* gradient)
{
    float* const values = Reach(range);
    m_optimizer->step(m_settings, gradient, values, m_elements, m_powers[range]);
    return values;
}

const float*
OptimizerMemory::Get(uint32_t range)
{
    return Reach(range);
}

} // namespace ns3::training
