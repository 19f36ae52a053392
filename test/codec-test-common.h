/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_CODEC_TEST_COMMON_H
#define DISTRIBUTED_TRAINING_CODEC_TEST_COMMON_H

#include "test-case.h"

#include "ns3/gradient-codec.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace ns3::training::tests
{

/** @return the code of numbers */
inline std::vector<uint8_t>
Encode(const GradientCodec& codec, const std::vector<float>& values, const CodecKey& key = {})
{
    std::vector<uint8_t> code;
    codec.Encode(values.data(), values.size(), key, code);
    return code;
}

/** @return the numbers of a code */
inline std::vector<float>
Decode(const GradientCodec& codec,
       const std::vector<uint8_t>& code,
       uint64_t count,
       const CodecKey& key = {})
{
    std::vector<float> values(count);
    codec.Decode(code.data(), code.size(), key, values.data(), count);
    return values;
}

/** @return the CodecError of an action; empty if it succeeds */
inline std::string
GetCodecError(const std::function<void()>& action)
{
    try
    {
        action();
    }
    catch (const CodecError& error)
    {
        return error.what();
    }
    return "";
}

/** @return normal numbers by Box and Muller's method */
inline std::vector<float>
MakeNormal(uint64_t count, double sigma, uint64_t seed)
{
    const CodecRandom random({seed}, 99);
    std::vector<float> values;
    for (uint64_t i = 0; i < count; i++)
    {
        const double radius = std::sqrt(-2 * std::log(1 - random.GetUniform(2 * i)));
        const double angle = 2 * M_PI * random.GetUniform(2 * i + 1);
        values.push_back(static_cast<float>(sigma * radius * std::cos(angle)));
    }
    return values;
}

/** @return the largest distance of two vectors */
template <class A, class B>
double
GetDistance(const A& a, const B& b)
{
    double distance = a.size() == b.size() ? 0 : std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < a.size(); i++)
    {
        distance = std::max(distance, std::abs(double{a[i]} - double{b[i]}));
    }
    return distance;
}

/** @return the square of the norm */
template <class A>
double
GetSquares(const A& values)
{
    return std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
}

/** @return mean bits that INCEPTIONN takes for a normal number, with a bound of 2^-level */
inline double
GetMeanBits(uint32_t level, double sigma)
{
    const auto below = [&](double limit) { return std::erf(limit / (sigma * std::sqrt(2))); };
    const double bound = below(std::ldexp(1, -static_cast<int>(level)));
    const double middle = below(std::ldexp(1, -static_cast<int>(level / 2)));
    return 2 + 8 * (middle - bound) + 16 * (below(1) - middle) + 32 * (1 - below(1));
}

} // namespace ns3::training::tests

#endif // DISTRIBUTED_TRAINING_CODEC_TEST_COMMON_H
