/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SWITCH_PS_OPTIMIZER_H
#define DISTRIBUTED_TRAINING_SWITCH_PS_OPTIMIZER_H

#include "ns3/training-registry.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::training
{

/** An optimizer and its constants. */
struct OptimizerSettings
{
    std::string name{"none"};  ///< none: there is none, or that of a SwitchOptimizer
    float learningRate{0.01F}; ///< step size
    float momentum{0.9F};      ///< momentum: part of the last step that is kept
    float beta1{0.9F};         ///< adam: decay of the mean of gradients
    float beta2{0.999F};       ///< adam: decay of the mean of their squares
    float epsilon{1e-8F};      ///< adam: added to the root
    float weightDecay{0};      ///< factor of the weights in what is added to their gradients

    /** @return whether weights are kept */
    bool KeepsWeights() const
    {
        return name != "none";
    }
};

/** Powers of Adam's decays, as many as there have been steps. */
struct OptimizerPowers
{
    float beta1{1}; ///< of the first one
    float beta2{1}; ///< of the second one
};

/**
 * @ingroup distributed-training-innetwork
 *
 * An optimizer that a parameter server in a switch can have. All arithmetic is float32, each
 * operation rounded, in the order of the source: a product and a sum are never fused.
 */
struct SwitchOptimizer
{
    static constexpr const char* KIND = "optimizer"; ///< for messages
    std::string help;                                ///< one line
    uint32_t arrays;                                 ///< numbers kept of a weight, itself included
    uint32_t adders;                                 ///< float adders beside that of the sum
    /**
     * Makes a step with the weights of a key range.
     * @param settings the constants
     * @param gradient of the range
     * @param values the weights of the range, and then as many of each further array
     * @param count weights in the range
     * @param powers of the range
     */
    void (*step)(const OptimizerSettings& settings,
                 const float* gradient,
                 float* values,
                 uint32_t count,
                 OptimizerPowers& powers);
};

/**
 * @ingroup distributed-training-innetwork
 *
 * Weights, with what their optimizer keeps of them, by key range; they begin at 0.
 */
class OptimizerMemory
{
  public:
    /**
     * @param settings with an optimizer that exists
     * @param elements weights in a key range
     */
    void Configure(const OptimizerSettings& settings, uint32_t elements);

    /**
     * Makes a step.
     * @param range number of the key range
     * @param gradient its numbers
     * @return its weights afterwards
     */
    const float* Step(uint32_t range, const float* gradient);

    /**
     * @param range number of a key range
     * @return its weights
     */
    const float* Get(uint32_t range);

  private:
    float* Reach(uint32_t range);

    OptimizerSettings m_settings;
    const SwitchOptimizer* m_optimizer{nullptr};
    uint32_t m_elements{0};
    std::vector<float> m_values; // by range, array, key
    std::vector<OptimizerPowers> m_powers;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SWITCH_PS_OPTIMIZER_H
