/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "record/run-statistics.h"

#include <array>
#include <cmath>

namespace ns3::training
{

namespace
{

/// Quantile 0.975 of Student's t distribution with 1, 2, ... degrees of freedom.
constexpr std::array<double, 30> QUANTILES{
    12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
    2.2010,  2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860,
    2.0796,  2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423};

/** @return quantile 0.975 of Student's t distribution */
double
GetQuantile(std::size_t freedom)
{
    if (freedom <= QUANTILES.size())
    {
        return QUANTILES[freedom - 1];
    }
    // Abramowitz and Stegun, 26.7.5: an expansion about the normal distribution.
    constexpr double Z = 1.959964;
    const auto n = static_cast<double>(freedom);
    return Z + (std::pow(Z, 3) + Z) / (4 * n) +
           (5 * std::pow(Z, 5) + 16 * std::pow(Z, 3) + 3 * Z) / (96 * n * n);
}

} // namespace

MeanEstimate
EstimateMean(const std::vector<double>& values)
{
    const auto count = static_cast<double>(values.size());
    MeanEstimate estimate;
    for (const double value : values)
    {
        estimate.mean += value / count;
    }
    if (values.size() > 1)
    {
        double squares = 0;
        for (const double value : values)
        {
            squares += std::pow(value - estimate.mean, 2);
        }
        estimate.halfWidth =
            GetQuantile(values.size() - 1) * std::sqrt(squares / (count - 1) / count);
    }
    return estimate;
}

} // namespace ns3::training
