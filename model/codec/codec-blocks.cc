/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "codec-blocks.h"

#include "ns3/training-quantity.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ns3::training
{

Key
MakeBlockKey(const std::string& help, uint32_t initial, uint32_t min)
{
    return Key::Count("block", initial, min, 1U << 24, help + (min == 0 ? "; 0: all" : ""));
}

void
CheckFinite(const float* values, uint64_t count)
{
    bool isFinite = true;
    for (uint64_t i = 0; i < count; i++)
    {
        isFinite &= std::abs(values[i]) <= std::numeric_limits<float>::max();
    }
    if (!isFinite)
    {
        const float* bad =
            std::find_if(values, values + count, [](float value) { return !std::isfinite(value); });
        throw CodecError("number " + std::to_string(bad - values) + " is " +
                         (std::isnan(*bad) ? "not a number" : "infinite") +
                         " (allowed: finite ones)");
    }
}

float
GetLargestMagnitude(const float* values, uint64_t count)
{
    float largest = 0;
    for (uint64_t i = 0; i < count; i++)
    {
        largest = std::max(largest, std::abs(values[i]));
    }
    return largest;
}

void
CheckCodeSize(const char* codec, uint64_t bytes, uint64_t expected, uint64_t count)
{
    if (bytes != expected)
    {
        throw CodecError(std::string(codec) + ": a code of " + std::to_string(bytes) +
                         " bytes for " + std::to_string(count) +
                         " numbers (allowed: " + std::to_string(expected) + " bytes)");
    }
}

double
GetRelativeSumError(double largest, uint32_t codings, uint32_t addends, double share)
{
    const double n = addends;
    const double additions = std::max(n - 1, 0.0);
    return n * largest * std::expm1(codings * std::log1p(share) + additions * std::log1p(0x1p-24));
}

} // namespace ns3::training
