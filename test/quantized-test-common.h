/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_QUANTIZED_TEST_COMMON_H
#define DISTRIBUTED_TRAINING_QUANTIZED_TEST_COMMON_H

#include "ns3/training-float-bits.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

/**
 * @file
 *
 * Numbers in code, independently of the codecs.
 */

namespace ns3::training
{

using Numbers = std::vector<float>;

/** Numbers in code, and what they are decoded to. */
struct Coded
{
    std::vector<uint32_t> words; ///< of the code, filled up with zeros
    Numbers numbers;             ///< decoded
    std::vector<double> half;    ///< by number, half a step of its block
};

/** @return code of numbers, of which each block begins with its largest magnitude */
inline Coded
Quantize(const Numbers& numbers, uint32_t bits, uint64_t block)
{
    const int32_t most = (1 << (bits - 1)) - 1;
    Coded coded;
    std::vector<bool> stream;
    const auto put = [&stream](uint32_t field, uint32_t count) {
        for (uint32_t bit = 0; bit < count; bit++)
        {
            stream.push_back((field >> bit & 1) != 0);
        }
    };
    for (uint64_t first = 0; first < numbers.size(); first += block)
    {
        const uint64_t end = std::min<uint64_t>(first + block, numbers.size());
        float largest = 0;
        for (uint64_t i = first; i < end; i++)
        {
            largest = std::max(largest, std::fabs(numbers[i]));
        }
        put(ToBits(largest), 32);
        for (uint64_t i = first; i < end; i++)
        {
            const double exact = largest == 0 ? 0 : double{numbers[i]} * most / largest;
            const auto steps = static_cast<int32_t>(std::nearbyint(exact)); // there is no -0
            put(static_cast<uint32_t>(steps), bits);
            coded.numbers.push_back(static_cast<float>(double{largest} * steps / most));
            coded.half.push_back(0.5 * largest / most);
        }
    }
    coded.words.resize((stream.size() + 31) / 32);
    for (std::size_t i = 0; i < stream.size(); i++)
    {
        coded.words[i / 32] |= uint32_t{stream[i]} << i % 32;
    }
    return coded;
}

/** @return whether no number errs by more than half a step, and the rounding to float32 */
inline bool
IsClose(const Coded& coded, const Numbers& numbers)
{
    for (std::size_t i = 0; i < numbers.size(); i++)
    {
        const double error = std::fabs(double{coded.numbers[i]} - numbers[i]);
        if (error > coded.half[i] + std::ldexp(std::fabs(double{numbers[i]}), -23))
        {
            return false;
        }
    }
    return coded.numbers.size() == numbers.size();
}

/** @return bits of numbers, so that -0 differs from 0 */
inline std::vector<uint32_t>
GetBits(const Numbers& numbers)
{
    std::vector<uint32_t> bits;
    for (float number : numbers)
    {
        bits.push_back(ToBits(number));
    }
    return bits;
}

/** @return a part of some numbers */
inline Numbers
GetPart(const Numbers& numbers, uint64_t part, uint64_t count)
{
    const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(part * count);
    return {first, first + static_cast<std::ptrdiff_t>(count)};
}

/** Adds numbers to sums, which are empty at first. */
inline void
Add(Numbers& sums, const Numbers& numbers)
{
    const bool isFirst = sums.empty();
    sums.resize(numbers.size());
    for (std::size_t i = 0; i < numbers.size(); i++)
    {
        sums[i] = isFirst ? numbers[i] : sums[i] + numbers[i];
    }
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_QUANTIZED_TEST_COMMON_H
