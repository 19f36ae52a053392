/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "port-scheduling.h"

#include "core/attribute-choice.h"

#include <sstream>

namespace ns3::training
{

void
PortScheduling::ReadWeights(const std::string& attribute, const std::string& text)
{
    std::istringstream stream(text);
    const std::string allowed = "eight numbers from 1 to 1000";
    std::array<uint16_t, PRIORITIES> read{};
    for (uint16_t& weight : read)
    {
        int number = 0;
        if (!(stream >> number) || number < 1 || number > 1000)
        {
            ThrowInvalidAttribute(attribute, text, allowed);
        }
        weight = static_cast<uint16_t>(number);
    }
    if (!(stream >> std::ws).eof())
    {
        ThrowInvalidAttribute(attribute, text, allowed);
    }
    weights = read;
}

std::string
PortScheduling::WriteWeights() const
{
    std::string text;
    for (uint16_t weight : weights)
    {
        text += (text.empty() ? "" : " ") + std::to_string(weight);
    }
    return text;
}

} // namespace ns3::training
