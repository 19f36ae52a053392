/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "codec/eight-bit-float.h"

#include "ns3/training-float-bits.h"

#include <cmath>
#include <limits>

namespace ns3::training
{

namespace
{

/** Properties of a format. */
struct Layout
{
    uint32_t mantissa;  // bits
    uint32_t bias;      // of the exponent
    uint8_t largest;    // code of the largest finite number
    uint8_t infinity;   // code of infinity, or of NaN
    uint8_t notANumber; // code of NaN
};

Layout
GetLayout(EightBitFloat::Format format)
{
    return format == EightBitFloat::Format::E4M3 ? Layout{3, 7, 0x7e, 0x7f, 0x7f}
                                                 : Layout{2, 15, 0x7b, 0x7c, 0x7e};
}

} // namespace

uint8_t
EightBitFloat::Encode(Format format, float value)
{
    const Layout layout = GetLayout(format);
    const uint32_t bits = ToBits(value);
    const auto sign = static_cast<uint8_t>(bits >> 24 & 0x80);
    const float magnitude = std::abs(value);
    if (std::isnan(value))
    {
        return sign | layout.notANumber;
    }
    if (std::isinf(value))
    {
        return sign | layout.infinity;
    }
    if (magnitude >= GetLargest(format))
    {
        return sign | layout.largest;
    }
    const uint32_t rebias = 127 - layout.bias;
    if (magnitude < ToFloat((rebias + 1) << 23)) // subnormal: whole steps
    {
        const float steps = magnitude * ToFloat((127 + layout.bias - 1 + layout.mantissa) << 23);
        return sign | static_cast<uint8_t>(std::lrint(steps));
    }
    const uint32_t dropped = 23 - layout.mantissa;
    const uint32_t rebased = (bits & 0x7fffffff) - (rebias << 23);
    const uint32_t half = (1U << (dropped - 1)) - 1 + (rebased >> dropped & 1);
    return sign | static_cast<uint8_t>((rebased + half) >> dropped);
}

float
EightBitFloat::Decode(Format format, uint8_t code)
{
    const Layout layout = GetLayout(format);
    const uint32_t magnitude = code & 0x7f;
    const float sign = (code & 0x80) != 0 ? -1 : 1;
    if (magnitude > layout.largest)
    {
        const bool isInfinite = format == Format::E5M2 && magnitude == layout.infinity;
        return std::copysign(isInfinite ? std::numeric_limits<float>::infinity()
                                        : std::numeric_limits<float>::quiet_NaN(),
                             sign);
    }
    const uint32_t exponent = magnitude >> layout.mantissa;
    if (exponent == 0)
    {
        const uint32_t step = 127 - (layout.bias - 1 + layout.mantissa);
        return sign * static_cast<float>(magnitude) * ToFloat(step << 23);
    }
    return sign * ToFloat((magnitude << (23 - layout.mantissa)) + ((127 - layout.bias) << 23));
}

float
EightBitFloat::GetLargest(Format format)
{
    return Decode(format, GetLayout(format).largest);
}

} // namespace ns3::training
