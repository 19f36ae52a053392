/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SATURATING_SUM_H
#define DISTRIBUTED_TRAINING_SATURATING_SUM_H

#include "ns3/wire-bytes.h"

#include <cstdint>
#include <limits>

/**
 * @file
 * @ingroup distributed-training-innetwork
 * Saturating 32-bit sums, as in ATP's switch. A saturated sum stays saturated when numbers are
 * added, so no overflow is silent.
 */
namespace ns3::training
{

/**
 * @param value a sum
 * @return whether it is saturated
 */
inline bool
IsSaturated(int32_t value)
{
    return value == std::numeric_limits<int32_t>::max() ||
           value == std::numeric_limits<int32_t>::min();
}

/**
 * @param a a sum
 * @param b another sum
 * @return their saturating sum
 */
inline int32_t
AddSaturating(int32_t a, int32_t b)
{
    int32_t sum;
    if (IsSaturated(a) || IsSaturated(b))
    {
        return IsSaturated(a) ? a : b;
    }
    return !__builtin_add_overflow(a, b, &sum) ? sum
           : a > 0                             ? std::numeric_limits<int32_t>::max()
                                               : std::numeric_limits<int32_t>::min();
}

/**
 * @param sums accumulators
 * @param from integers to add, in network byte order
 * @param count number of integers
 * @return whether any of the sums is saturated
 */
inline bool
AddSaturating(int32_t* sums, const uint8_t* from, uint32_t count)
{
    bool isSaturated = false;
    for (uint32_t i = 0; i < count; i++)
    {
        sums[i] = AddSaturating(sums[i], static_cast<int32_t>(GetWord(from + 4 * i)));
        isSaturated |= IsSaturated(sums[i]);
    }
    return isSaturated;
}

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SATURATING_SUM_H
