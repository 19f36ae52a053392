/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_DENSE_NETWORK_H
#define DISTRIBUTED_TRAINING_DENSE_NETWORK_H

#include "layered-model.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-job
 *
 * A classifier of dense layers: ReLU between them, softmax and cross-entropy behind the last one.
 * Without a hidden layer it is multinomial logistic regression. Arithmetic is float32 in a fixed
 * order without fused multiply-adds, and that of the loss double: in one build, equal inputs have
 * equal results bit for bit.
 *
 * The weights of all layers are one vector, the last layer first, because backpropagation
 * completes their gradients in this order. A layer of i inputs and o outputs has i rows of o
 * weights, then o biases.
 */
class DenseNetwork
{
  public:
    /**
     * @param widths inputs, outputs of each hidden layer, classes; at least 2 numbers
     * @param seed of the initial weights: normal with variance 2 / inputs (He et al., ICCV 2015);
     *        biases are 0
     */
    DenseNetwork(std::vector<uint32_t> widths, uint64_t seed);

    /** @return its layers, in forward order */
    std::vector<LayerShape> GetLayers() const;

    /** @return the weights */
    const std::vector<float>& GetWeights() const
    {
        return m_weights;
    }

    /** @return the weights, to be changed */
    std::vector<float>& GetWeights()
    {
        return m_weights;
    }

    /**
     * @param features as many as there are inputs
     * @return a score per class, of which the largest is that of the most likely class; valid until
     *         the next call
     */
    const std::vector<float>& GetScores(const float* features) const;

    /**
     * @param features as many as there are inputs
     * @return the most likely class
     */
    uint32_t Classify(const float* features) const;

    /**
     * @param features as many as there are inputs
     * @param label class of the sample
     * @return its cross-entropy, nat
     */
    double GetLoss(const float* features, uint32_t label) const;

    /**
     * @param features as many as there are inputs
     * @param label class of the sample
     * @param gradient as many numbers as weights, to which the gradient of the loss is added
     * @return loss of the sample
     */
    double AddGradient(const float* features, uint32_t label, std::vector<float>& gradient) const;

    /**
     * A step of stochastic gradient descent with momentum: velocity = momentum * velocity + mean
     * gradient, weight = weight - rate * velocity.
     * @param first index of the first weight to change
     * @param sum of gradients, one number for each of these weights
     * @param addends number of gradients in the sum
     * @param rate learning rate
     * @param momentum share of the velocity that is kept
     */
    void Descend(std::size_t first,
                 const std::vector<float>& sum,
                 uint32_t addends,
                 float rate,
                 float momentum);

  private:
    /** @return index of the first weight of a layer */
    std::size_t GetStart(std::size_t layer) const;

    std::vector<uint32_t> m_widths;
    std::vector<float> m_weights;
    std::vector<float> m_velocities;
    mutable std::vector<std::vector<float>> m_values; // inputs of each layer, then the scores
    mutable std::vector<std::vector<float>> m_deltas; // derivatives of the loss by these
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_DENSE_NETWORK_H
