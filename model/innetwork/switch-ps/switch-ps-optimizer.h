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

/** An optimizer and its hyperparameters. */
struct OptimizerSettings
{
    std::string name{"none"};  ///< name of a SwitchOptimizer; none: no optimizer
    float learningRate{0.01F}; ///< step size
    float momentum{0.9F};      ///< momentum: fraction of the last step that is kept
    float beta1{0.9F};         ///< adam: decay of the mean of the gradients
    float beta2{0.999F};       ///< adam: decay of the mean of the squared gradients
    float epsilon{1e-8F};      ///< adam: added to the square root
    float weightDecay{0};      ///< weights times this factor are added to the gradients

    /** @return whether the switch keeps weights */
    bool KeepsWeights() const
    {
        return name != "none";
    }
};

/** Powers of Adam's decay rates; the exponent is the number of steps. */
struct OptimizerPowers
{
    float beta1{1}; ///< power of beta1
    float beta2{1}; ///< power of beta2
};

/**
 * @ingroup distributed-training-innetwork
 *
 * An optimizer of a switch parameter server. All arithmetic is float32. Each operation is rounded,
 * in source order: a product and a sum are never fused.
 */
struct SwitchOptimizer
{
    static constexpr const char* KIND = "optimizer"; ///< for messages
    std::string help;                                ///< one line
    uint32_t arrays;                                 ///< numbers kept per weight, itself included
    uint32_t adders;                                 ///< float adders besides that of the sum
    /**
     * Updates the weights of a key range by one step.
     * @param settings hyperparameters
     * @param gradient of the range
     * @param values the weights of the range, followed by the optimizer's arrays of the same size
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
 * Weights and optimizer state by key range; both start at 0.
 */
class OptimizerMemory
{
  public:
    /**
     * @param settings with a registered optimizer
     * @param elements weights per key range
     */
    void Configure(const OptimizerSettings& settings, uint32_t elements);

    /**
     * Updates a key range by one step.
     * @param range number of the key range
     * @param gradient gradient of the range
     * @return the updated weights
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
