/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_FLOAT_BITS_H
#define DISTRIBUTED_TRAINING_FLOAT_BITS_H

#include <cmath>
#include <cstdint>
#include <cstring>

/**
 * @file
 * @ingroup distributed-training
 * Float32 as bits, and the two 16-bit formats. Conversions round to nearest, ties to even.
 */
namespace ns3::training
{

/**
 * @param value a float32
 * @return its bits
 */
inline uint32_t
ToBits(float value)
{
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/**
 * @param bits of a float32
 * @return the number
 */
inline float
ToFloat(uint32_t bits)
{
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
}

/**
 * @param value a number
 * @return its bfloat16, the upper half of a float32; a NaN stays one, quiet
 */
inline uint16_t
ToBfloat16(float value)
{
    const uint32_t bits = ToBits(value);
    if (std::isnan(value))
    {
        return static_cast<uint16_t>(bits >> 16 | 0x40);
    }
    return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/**
 * @param bits of a bfloat16
 * @return the number
 */
inline float
FromBfloat16(uint16_t bits)
{
    return ToFloat(uint32_t{bits} << 16);
}

/**
 * @param value a number
 * @return its IEEE 754 binary16: infinite from 65520 on; a NaN is 7e00 with its sign
 */
inline uint16_t
ToFloat16(float value)
{
    const uint32_t bits = ToBits(value);
    const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
    const float magnitude = std::abs(value);
    if (std::isnan(value))
    {
        return sign | 0x7e00;
    }
    if (magnitude >= 65520.0F) // halfway to the next power of two; ties round up
    {
        return sign | 0x7c00;
    }
    if (magnitude < 0x1p-14F)
    {
        return sign | static_cast<uint16_t>(std::lrint(magnitude * 0x1p24F));
    }
    const uint32_t rebased = ToBits(magnitude) - (112U << 23); // changes the bias from 127 to 15
    return sign | static_cast<uint16_t>((rebased + 0xfff + (rebased >> 13 & 1)) >> 13);
}

/**
 * @param bits of an IEEE 754 binary16
 * @return the number
 */
inline float
FromFloat16(uint16_t bits)
{
    const uint32_t sign = uint32_t{bits & 0x8000U} << 16;
    const uint32_t rest = bits & 0x7fffU;
    if (rest < 0x400)
    {
        return ToFloat(sign | ToBits(static_cast<float>(rest) * 0x1p-24F));
    }
    return ToFloat(sign | ((rest << 13) + (rest >= 0x7c00 ? 224U << 23 : 112U << 23)));
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_FLOAT_BITS_H
