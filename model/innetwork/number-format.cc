/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "number-format.h"

#include "ns3/wire-bytes.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ns3::training
{

namespace
{

/** Properties of a format. */
struct Format
{
    const char* name;
    uint32_t bytes;
    int unitExponent;     ///< half a unit in the last place of 1 is 2 to this power; 0: exact
    int smallestExponent; ///< half of the smallest number is 2 to this power
};

constexpr std::array<Format, static_cast<std::size_t>(NumberFormat::COUNT)> FORMATS{{
    {"float32", 4, -24, -150},
    {"int32", 4, 0, 0},
    {"float16", 2, -11, -25},
    {"bfloat16", 2, -8, -134},
}};

const Format&
Get(NumberFormat format)
{
    return FORMATS[static_cast<std::size_t>(format)];
}

uint16_t
GetHalf(const uint8_t* from)
{
    return static_cast<uint16_t>(from[0] << 8 | from[1]);
}

void
SetHalf(uint8_t* to, uint16_t half)
{
    to[0] = static_cast<uint8_t>(half >> 8);
    to[1] = static_cast<uint8_t>(half);
}

/** @return the value of a float format's bits */
float
ReadFloat(NumberFormat format, const uint8_t* from)
{
    return format == NumberFormat::FLOAT32   ? ToFloat(GetWord(from))
           : format == NumberFormat::FLOAT16 ? FromFloat16(GetHalf(from))
                                             : FromBfloat16(GetHalf(from));
}

/** @return the value as rounded to the format */
float
WriteFloat(NumberFormat format, uint8_t* to, float value)
{
    if (format == NumberFormat::FLOAT32)
    {
        SetWord(to, ToBits(value));
    }
    else
    {
        SetHalf(to, format == NumberFormat::FLOAT16 ? ToFloat16(value) : ToBfloat16(value));
    }
    return ReadFloat(format, to);
}

bool
AddIntegers(const std::vector<const uint8_t*>& parts, uint64_t count, uint8_t* to)
{
    bool overflow = false;
    for (uint64_t i = 0; i < count; i++)
    {
        auto sum = static_cast<int32_t>(GetWord(parts[0] + 4 * i));
        for (std::size_t part = 1; part < parts.size(); part++)
        {
            const auto value = static_cast<int32_t>(GetWord(parts[part] + 4 * i));
            overflow |= __builtin_add_overflow(sum, value, &sum);
        }
        SetWord(to + 4 * i, static_cast<uint32_t>(sum));
    }
    return overflow;
}

} // namespace

NumberFormat
FindNumberFormat(const std::string& name)
{
    const auto found = std::find_if(FORMATS.begin(), FORMATS.end(), [&](const Format& format) {
        return format.name == name;
    });
    return static_cast<NumberFormat>(found - FORMATS.begin());
}

std::string
GetName(NumberFormat format)
{
    return Get(format).name;
}

uint32_t
GetBytes(NumberFormat format)
{
    return Get(format).bytes;
}

bool
IsWritable(NumberFormat format, float value)
{
    if (format == NumberFormat::INT32)
    {
        return value == std::trunc(value) && value >= -2147483648.0F && value < 2147483648.0F;
    }
    uint8_t written[4];
    return !std::isfinite(value) || std::isfinite(WriteFloat(format, written, value));
}

void
WriteNumbers(NumberFormat format, const float* values, uint64_t count, uint8_t* to)
{
    const uint32_t bytes = GetBytes(format);
    for (uint64_t i = 0; i < count; i++, to += bytes)
    {
        if (format == NumberFormat::INT32)
        {
            SetWord(to, static_cast<uint32_t>(static_cast<int32_t>(values[i])));
            continue;
        }
        WriteFloat(format, to, values[i]);
    }
}

void
ReadNumbers(NumberFormat format, const uint8_t* from, uint64_t count, float* values)
{
    const uint32_t bytes = GetBytes(format);
    for (uint64_t i = 0; i < count; i++, from += bytes)
    {
        values[i] = format == NumberFormat::INT32
                        ? static_cast<float>(static_cast<int32_t>(GetWord(from)))
                        : ReadFloat(format, from);
    }
}

bool
AddNumbers(NumberFormat format,
           const std::vector<const uint8_t*>& parts,
           uint64_t count,
           uint8_t* to)
{
    if (format == NumberFormat::INT32)
    {
        return AddIntegers(parts, count, to);
    }
    const uint32_t bytes = GetBytes(format);
    bool overflow = false;
    for (uint64_t at = 0; at < count * bytes; at += bytes)
    {
        float sum = ReadFloat(format, parts[0] + at);
        bool finite = std::isfinite(sum);
        for (std::size_t part = 1; part < parts.size(); part++)
        {
            const float value = ReadFloat(format, parts[part] + at);
            finite = finite && std::isfinite(value);
            sum += value;
        }
        overflow |= !std::isfinite(WriteFloat(format, to + at, sum)) && finite;
    }
    return overflow;
}

double
GetSumErrorBound(NumberFormat format,
                 int8_t exponent,
                 uint32_t addends,
                 uint32_t sums,
                 uint32_t height)
{
    const Format& known = Get(format);
    if (known.unitExponent == 0)
    {
        return 0;
    }
    const double n = addends;
    const bool isHalf = known.bytes == 2; // rounded once more than float32's own additions
    const double rounding =
        isHalf ? (height + 1) * std::log1p(std::ldexp(1, known.unitExponent)) : 0;
    const double relative = std::expm1(rounding + (n - 1) * std::log1p(std::ldexp(1, -24)));
    const double absolute = isHalf ? std::ldexp(n + sums, known.smallestExponent) : 0;
    // Later sums propagate the rounding of the smallest numbers.
    return std::ldexp(n, exponent) * relative + absolute * (1 + relative);
}

} // namespace ns3::training
