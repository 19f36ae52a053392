/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "optimizer-attributes.h"

#include "core/attribute-choice.h"

#include "ns3/double.h"
#include "ns3/object-base.h"
#include "ns3/string.h"

namespace ns3::training
{

TypeId
OptimizerAttributes::AddOptimizer(TypeId type)
{
    return type
        .AddAttribute("Optimizer",
                      "none (workers get the sum of gradients), sgd, momentum or adam (they "
                      "get the weights after a step)",
                      StringValue("none"),
                      MakeStringAccessor(&OptimizerAttributes::SetOptimizer,
                                         &OptimizerAttributes::GetOptimizerName),
                      MakeStringChecker())
        .AddAttribute("LearningRate",
                      "Factor of a step",
                      DoubleValue(0.01),
                      MakeDoubleAccessor(&OptimizerAttributes::m_learningRate),
                      MakeDoubleChecker<double>())
        .AddAttribute("Momentum",
                      "momentum: part of the velocity that is kept",
                      DoubleValue(0.9),
                      MakeDoubleAccessor(&OptimizerAttributes::m_momentum),
                      MakeDoubleChecker<double>())
        .AddAttribute("Beta1",
                      "adam: decay of the mean of gradients",
                      DoubleValue(0.9),
                      MakeDoubleAccessor(&OptimizerAttributes::m_beta1),
                      MakeDoubleChecker<double>(0, 1))
        .AddAttribute("Beta2",
                      "adam: decay of the mean of their squares",
                      DoubleValue(0.999),
                      MakeDoubleAccessor(&OptimizerAttributes::m_beta2),
                      MakeDoubleChecker<double>(0, 1))
        .AddAttribute("Epsilon",
                      "adam: added to the root",
                      DoubleValue(1e-8),
                      MakeDoubleAccessor(&OptimizerAttributes::m_epsilon),
                      MakeDoubleChecker<double>())
        .AddAttribute("WeightDecay",
                      "Weight decay: weights times this factor are added to the gradients",
                      DoubleValue(0),
                      MakeDoubleAccessor(&OptimizerAttributes::m_weightDecay),
                      MakeDoubleChecker<double>());
}

void
OptimizerAttributes::SetOptimizer(std::string name)
{
    const auto& known = Registry<SwitchOptimizer>::All();
    if (name != "none" && known.find(name) == known.end())
    {
        ThrowInvalidAttribute("SwitchPsProgram::Optimizer",
                              name,
                              "none, " + Registry<SwitchOptimizer>::Names());
    }
    m_name = name;
}

OptimizerSettings
OptimizerAttributes::GetOptimizer() const
{
    OptimizerSettings settings;
    settings.name = m_name;
    settings.learningRate = static_cast<float>(m_learningRate);
    settings.momentum = static_cast<float>(m_momentum);
    settings.beta1 = static_cast<float>(m_beta1);
    settings.beta2 = static_cast<float>(m_beta2);
    settings.epsilon = static_cast<float>(m_epsilon);
    settings.weightDecay = static_cast<float>(m_weightDecay);
    return settings;
}

} // namespace ns3::training
