/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCH_PS_TEST_COMMON_H
#define DISTRIBUTED_TRAINING_SWITCH_PS_TEST_COMMON_H

#include <cmath>
#include <string>
#include <vector>

namespace ns3::training::tests
{

// Disables fused operations: float32 operations are rounded one by one.

inline float
Add(float a, float b)
{
    volatile float result = a + b;
    return result;
}

inline float
Multiply(float a, float b)
{
    volatile float result = a * b;
    return result;
}

inline float
Divide(float a, float b)
{
    volatile float result = a / b;
    return result;
}

/** @return the sum of vectors, added in order */
inline std::vector<float>
AddInOrder(const std::vector<std::vector<float>>& parts)
{
    std::vector<float> sum = parts[0];
    for (std::size_t part = 1; part < parts.size(); part++)
    {
        for (std::size_t i = 0; i < sum.size(); i++)
        {
            sum[i] = Add(sum[i], parts[part][i]);
        }
    }
    return sum;
}

/** An optimizer on a host, with weights that start at 0. */
class HostOptimizer
{
  public:
    HostOptimizer(const std::string& name, float learningRate, float weightDecay)
        : m_name(name),
          m_rate(learningRate),
          m_decay(weightDecay)
    {
    }

    /** @param gradients of a step @return the updated weights */
    const std::vector<float>& Step(const std::vector<float>& gradients)
    {
        m_weights.resize(gradients.size(), 0);
        m_first.resize(gradients.size(), 0);
        m_second.resize(gradients.size(), 0);
        m_power1 = Multiply(m_power1, 0.9F);
        m_power2 = Multiply(m_power2, 0.999F);
        for (std::size_t i = 0; i < gradients.size(); i++)
        {
            const float g = Add(gradients[i], Multiply(m_decay, m_weights[i]));
            float step = Multiply(m_rate, g);
            if (m_name == "momentum")
            {
                m_first[i] = Add(Multiply(0.9F, m_first[i]), g);
                step = Multiply(m_rate, m_first[i]);
            }
            else if (m_name == "adam")
            {
                m_first[i] = Add(Multiply(0.9F, m_first[i]), Multiply(Add(1, -0.9F), g));
                m_second[i] =
                    Add(Multiply(0.999F, m_second[i]), Multiply(Add(1, -0.999F), Multiply(g, g)));
                const float mean = Divide(m_first[i], Add(1, -m_power1));
                volatile float root = std::sqrt(Divide(m_second[i], Add(1, -m_power2)));
                step = Divide(Multiply(m_rate, mean), Add(root, 1e-8F));
            }
            m_weights[i] = Add(m_weights[i], -step);
        }
        return m_weights;
    }

  private:
    std::string m_name;
    float m_rate;
    float m_decay;
    std::vector<float> m_weights;
    std::vector<float> m_first;  // velocity, or mean
    std::vector<float> m_second; // mean of squares
    float m_power1{1};
    float m_power2{1};
};

} // namespace ns3::training::tests

#endif // DISTRIBUTED_TRAINING_SWITCH_PS_TEST_COMMON_H
