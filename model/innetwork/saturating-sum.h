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
 * Sums that stay at the end of the range of 32 bits once they have reached it, as ATP's switch
 * makes them. What has been saturated stays so when it is added to something else: so no overflow
 * is silent.
 */
namespace ns3::training
{

/**
 * @param value a sum
 * @return whether it has reached the end of the range
 */
inline bool
IsSaturated(int32_t value)
{
    return value == std::numeric_limits<int32_t>::max() ||
           value == std::numeric_limits<int32_t>::min();
}

/**
 * @param a a sum
 * @param b another
 * @return their sum
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
 * @param sums to be added to
 * @param from integers in network byte order
 * @param count how many of both
 * @return whether any of the sums has reached the end of the range
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
