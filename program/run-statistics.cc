/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "run-statistics.h"

#include "ns3/rng-seed-manager.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-processes.h"

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

void
RepeatedRuns::AddTo(ProgramOptions& options)
{
    options.AddUnsigned("runs",
                        "runs with the numbers --RngRun, --RngRun + 1, ...; gives means and their "
                        "95 % confidence intervals",
                        m_count,
                        1,
                        MAX_RUNS);
}

void
RepeatedRuns::Check(const ProgramOptions& options, const std::vector<std::string>& excluded) const
{
    if (m_count == 1)
    {
        return;
    }
    const std::string option = "--runs=" + std::to_string(m_count) + " with ";
    if (Processes::GetCount() > 1)
    {
        throw ConfigurationError(option + "several processes (allowed: one)");
    }
    for (const std::string& name : excluded)
    {
        if (options.IsGiven(name))
        {
            throw ConfigurationError(option + "--" + name + " (allowed: without)");
        }
    }
}

uint64_t
RepeatedRuns::GetCount() const
{
    return m_count;
}

void
RepeatedRuns::ForEach(const std::function<bool(uint64_t run)>& work) const
{
    const uint64_t first = RngSeedManager::GetRun();
    for (uint64_t i = 0; i < m_count; i++)
    {
        RngSeedManager::SetRun(first + i);
        if (!work(first + i))
        {
            break;
        }
    }
    RngSeedManager::SetRun(first);
}

} // namespace ns3::training
