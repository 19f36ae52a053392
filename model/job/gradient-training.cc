/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "gradient-training.h"

namespace ns3::training
{

std::shared_ptr<const GradientTraining>
MakeGradientTraining(const std::string& text, const TrainingPlan& plan)
{
    const auto choice = Choose<GradientSourceEntry>(text);
    return choice.entry->learn ? choice.entry->learn(choice.values, plan) : nullptr;
}

} // namespace ns3::training
