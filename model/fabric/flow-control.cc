/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "flow-control.h"

#include <array>

namespace ns3::training
{

namespace
{

/// Bit times of a pause quantum.
constexpr double QUANTUM = 512;

/** Limit of a line rate. */
struct Limit
{
    uint64_t rate; ///< bit/s
    double quanta; ///< 512 bit times each
};

/// Falling by rate.
constexpr std::array<Limit, 8> LIMITS{{{400000000000, 905},
                                       {200000000000, 453},
                                       {100000000000, 394},
                                       {50000000000, 147},
                                       {40000000000, 118},
                                       {25000000000, 80},
                                       {10000000000, 67},
                                       {1000000000, 2}}};

} // namespace

Time
GetPauseResponseLimit(uint64_t bitsPerSecond)
{
    for (const Limit& limit : LIMITS)
    {
        if (bitsPerSecond >= limit.rate)
        {
            return Seconds(limit.quanta * QUANTUM / static_cast<double>(limit.rate));
        }
    }
    return Seconds(QUANTUM / static_cast<double>(bitsPerSecond));
}

} // namespace ns3::training
