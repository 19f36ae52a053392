/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "block-quantizer.h"

#include "number-format.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ns3::training
{

namespace
{

constexpr int32_t EXPONENT_BIAS = 126; // 2^(field - 126) exceeds all numbers with that field
constexpr uint32_t MAX_EXPONENT_FIELD = 253;
constexpr double LARGEST_INTEGER = std::numeric_limits<int32_t>::max();

/** @return the exponent field of the largest magnitude */
uint32_t
GetLargestExponentField(const float* values, uint64_t count)
{
    uint32_t largest = 0;
    for (uint64_t i = 0; i < count; i++)
    {
        largest = std::max(largest, ToBits(values[i]) >> 23 & 0xff);
    }
    return largest;
}

} // namespace

bool
IsQuantizable(const float* values, uint64_t count)
{
    return GetLargestExponentField(values, count) <= MAX_EXPONENT_FIELD;
}

bool
AreIntegers(const float* values, uint64_t count)
{
    return std::all_of(values, values + count, [](float value) {
        return value == std::trunc(value) && value >= -2147483648.0F && value < 2147483648.0F;
    });
}

int8_t
GetBlockExponent(const float* values, uint64_t count)
{
    const auto field = static_cast<int32_t>(GetLargestExponentField(values, count));
    return static_cast<int8_t>(field - EXPONENT_BIAS);
}

double
GetQuantizationScale(int8_t exponent, uint32_t workers)
{
    return std::ldexp(LARGEST_INTEGER / workers, -exponent);
}

int32_t
Quantize(float value, double scale)
{
    return static_cast<int32_t>(std::lrint(value * scale));
}

float
Dequantize(int32_t sum, double scale)
{
    return static_cast<float>(sum / scale);
}

double
GetQuantizationErrorBound(int8_t exponent, uint32_t workers)
{
    const double n = workers;
    return std::ldexp(n * n / (2 * LARGEST_INTEGER), exponent) + std::ldexp(n, exponent - 24);
}

} // namespace ns3::training
