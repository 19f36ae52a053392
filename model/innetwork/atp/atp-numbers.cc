/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "atp-numbers.h"

#include "ns3/block-quantizer.h"
#include "ns3/number-format.h"
#include "ns3/wire-bytes.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ns3::training
{

namespace
{

constexpr int64_t MAX_INTEGER = std::numeric_limits<int32_t>::max();

} // namespace

void
AtpNumbers::Configure(bool isInteger, double factor, double largest)
{
    m_isInteger = isInteger;
    m_scale = isInteger ? 1 : factor;
    // A value rounded to the end of the range would count as saturated.
    m_largest = std::min(largest, (MAX_INTEGER - 1) / factor);
}

bool
AtpNumbers::NeedFloats(const float* values, uint64_t count) const
{
    return !m_isInteger && !std::all_of(values, values + count, [this](float value) {
        return std::abs(value) <= m_largest;
    });
}

void
AtpNumbers::Write(const float* values, uint64_t count, bool asFloats, uint8_t* to) const
{
    for (uint64_t i = 0; i < count; i++, to += sizeof(int32_t))
    {
        SetWord(to,
                asFloats ? ToBits(values[i]) : static_cast<uint32_t>(Quantize(values[i], m_scale)));
    }
}

double
AtpNumbers::Read(const uint8_t* from, uint64_t count, bool areFloats, uint32_t workers, float* sums)
    const
{
    double largest = 0;
    for (uint64_t i = 0; i < count; i++, from += sizeof(int32_t))
    {
        const uint32_t bits = GetWord(from);
        sums[i] = areFloats ? ToFloat(bits) : Dequantize(static_cast<int32_t>(bits), m_scale);
        largest = std::max<double>(largest, std::abs(sums[i]));
    }
    // Half a quantization step per worker, and the rounding to float32.
    return m_isInteger || areFloats ? 0 : workers * 0.5 / m_scale + std::ldexp(largest, -24);
}

void
AtpNumbers::Add(const std::vector<std::vector<float>>& inputs,
                uint64_t begin,
                uint64_t end,
                const std::vector<float>& result,
                std::vector<float>& sums) const
{
    bool hasFloats = std::any_of(inputs.begin(), inputs.end(), [&](const auto& input) {
        return NeedFloats(input.data() + begin, end - begin);
    });
    bool mayHaveFloats = false;
    for (uint64_t i = begin; i < end && !hasFloats; i++)
    {
        int64_t above = 0; // largest and smallest sum of any subset of the ranks
        int64_t below = 0;
        for (const auto& input : inputs)
        {
            const int64_t part = Quantize(input[i], m_scale);
            (part > 0 ? above : below) += part;
        }
        const auto isSaturated = [](int64_t part) {
            return part >= MAX_INTEGER || part <= -MAX_INTEGER - 1;
        };
        hasFloats = isSaturated(above + below);
        mayHaveFloats |= isSaturated(above) || isSaturated(below);
        sums[i] = Dequantize(static_cast<int32_t>(above + below), m_scale);
    }
    // The result depends on which parts a switch or server adds first.
    hasFloats |= mayHaveFloats && !result.empty() &&
                 !std::equal(sums.begin() + begin, sums.begin() + end, result.begin() + begin);
    for (uint64_t i = begin; i < end && hasFloats; i++)
    {
        sums[i] = 0;
        for (const auto& input : inputs)
        {
            sums[i] += input[i];
        }
    }
}

} // namespace ns3::training
