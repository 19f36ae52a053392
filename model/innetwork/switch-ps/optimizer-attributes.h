/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_OPTIMIZER_ATTRIBUTES_H
#define DISTRIBUTED_TRAINING_OPTIMIZER_ATTRIBUTES_H

#include "switch-ps-optimizer.h"

#include "ns3/type-id.h"

#include <string>

namespace ns3::training
{

/**
 * @ingroup distributed-training-innetwork
 *
 * The attributes of an object that select the optimizer of a switch parameter server.
 */
class OptimizerAttributes
{
  public:
    virtual ~OptimizerAttributes() = default;

    /** @return the optimizer and its hyperparameters */
    OptimizerSettings GetOptimizer() const;

  protected:
    /**
     * @param type of the object
     * @return the type, with the attributes
     */
    static TypeId AddOptimizer(TypeId type);

  private:
    void SetOptimizer(std::string name);

    std::string GetOptimizerName() const
    {
        return m_name;
    }

    std::string m_name{"none"};
    double m_learningRate;
    double m_momentum;
    double m_beta1;
    double m_beta2;
    double m_epsilon;
    double m_weightDecay;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_OPTIMIZER_ATTRIBUTES_H
