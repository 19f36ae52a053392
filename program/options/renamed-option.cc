/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "renamed-option.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-key-values.h"

namespace ns3::training
{

void
RenamedOption::Check(const std::string& option, const std::string& value) const
{
    if (name != option && name != option + "=" + KeyValues::Split(value).GetName())
    {
        return;
    }
    std::string now = spelling;
    const std::string placeholder = "VALUE";
    const auto position = now.find(placeholder);
    if (position != std::string::npos)
    {
        now.replace(position, placeholder.size(), value.empty() ? "..." : value);
    }
    throw ConfigurationError("--" + option + (value.empty() ? "" : "=" + value) + ": written as " +
                             now + " (allowed: see --help=" + help + ")");
}

} // namespace ns3::training
