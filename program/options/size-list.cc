/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "options/size-list.h"

#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"

#include <sstream>

namespace ns3::training
{

namespace
{

/// More sizes are considered a typing error.
constexpr std::size_t MAX_SIZES = 10000;

} // namespace

std::vector<uint64_t>
ParseSizes(const std::string& option, const std::string& text)
{
    const auto refuse = [&](const std::string& part) {
        return ConfigurationError(option + "=" + text + ": '" + part +
                                  "' is not allowed (allowed: begin:end:xFACTOR with a factor of 2 "
                                  "or more, begin:end:STEP, or a list a,b,c; up to " +
                                  std::to_string(MAX_SIZES) + " sizes; units " + BYTE_UNITS + ")");
    };
    const auto size = [&](const std::string& part) {
        const auto bytes = ParseBytes(part);
        if (!bytes)
        {
            throw refuse(part);
        }
        return *bytes;
    };
    const bool range = text.find(':') != std::string::npos;
    std::vector<std::string> parts;
    std::istringstream stream(text + (range ? ":" : ","));
    for (std::string part; std::getline(stream, part, range ? ':' : ',');)
    {
        parts.push_back(part);
    }
    std::vector<uint64_t> sizes;
    if (!range)
    {
        for (const std::string& part : parts)
        {
            sizes.push_back(size(part));
        }
        return sizes;
    }
    if (parts.size() != 3 || parts[2].empty())
    {
        throw refuse(text);
    }
    const bool geometric = parts[2][0] == 'x';
    const uint64_t step =
        geometric ? ParseUnsigned(parts[2].substr(1)).value_or(0) : size(parts[2]);
    const uint64_t begin = size(parts[0]);
    const uint64_t end = size(parts[1]);
    if (step < (geometric ? 2 : 1) || (geometric && begin == 0))
    {
        throw refuse(parts[2]);
    }
    if (end < begin)
    {
        throw refuse(parts[1]);
    }
    for (uint64_t bytes = begin;;)
    {
        sizes.push_back(bytes);
        if (sizes.size() > MAX_SIZES)
        {
            throw refuse(parts[2]);
        }
        if (geometric ? bytes > end / step : end - bytes < step)
        {
            return sizes;
        }
        bytes = geometric ? bytes * step : bytes + step;
    }
}

} // namespace ns3::training
