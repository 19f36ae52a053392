/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "trim-rule.h"

#include "ns3/training-configuration-error.h"

#include <string>

namespace ns3::training
{

void
TrimRule::Check(uint8_t losslessClasses) const
{
    const std::string name = "ns3::training::SwitchDevice::";
    if (classes & losslessClasses)
    {
        throw ConfigurationError(
            name + "TrimClasses=" + std::to_string(classes) +
            " (allowed: classes outside LosslessClasses=" + std::to_string(losslessClasses) + ")");
    }
    if (classes >> priority & 1)
    {
        throw ConfigurationError(
            name + "TrimmedPriority=" + std::to_string(priority) +
            " (allowed: a class outside TrimClasses=" + std::to_string(classes) + ")");
    }
}

} // namespace ns3::training
