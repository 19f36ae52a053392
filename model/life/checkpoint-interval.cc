/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "life/checkpoint-interval.h"

#include <cmath>

namespace ns3::training
{

double
GetYoungInterval(double checkpoint, double mean)
{
    return std::sqrt(2 * checkpoint * mean);
}

double
GetDalyInterval(double checkpoint, double mean)
{
    if (checkpoint >= 2 * mean)
    {
        return mean;
    }
    const double part = checkpoint / (2 * mean);
    return GetYoungInterval(checkpoint, mean) * (1 + std::sqrt(part) / 3 + part / 9) - checkpoint;
}

double
GetBestInterval(double checkpoint, double mean)
{
    // The derivative is zero where (1 - x) exp(x + checkpoint / mean) = 1, x = interval / mean. The
    // left side falls from 0 to 1.
    const double part = checkpoint / mean;
    double low = 0;
    double high = 1;
    for (int step = 0; step < 60; step++)
    {
        const double x = (low + high) / 2;
        (std::log1p(-x) + x + part > 0 ? low : high) = x;
    }
    return mean * low;
}

double
GetExpectedEfficiency(double interval, double checkpoint, double restart, double mean)
{
    if (std::isinf(mean))
    {
        return interval / (interval + checkpoint);
    }
    return interval / mean /
           (std::exp(restart / mean) * std::expm1((interval + checkpoint) / mean));
}

} // namespace ns3::training
