/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "line-use.h"

#include "ns3/training-quantity.h"

#include <algorithm>
#include <cmath>

namespace ns3::training
{

namespace
{

/// Operations of fewer windows measure latencies.
constexpr uint64_t MIN_WINDOWS = 8;
/// Share of the line above which nothing limits a worker.
constexpr double GOOD_LINE_USE = 0.8;
/// Share of a closed form that a measurement reaches.
constexpr double CLOSE = 0.9;

} // namespace

void
LineUse::Note(uint64_t packets, Time time)
{
    if (m_limits.window > 0 && packets >= MIN_WINDOWS * m_limits.window)
    {
        const double seconds = time.GetSeconds() / static_cast<double>(packets);
        m_leastSeconds = m_leastSeconds > 0 ? std::min(m_leastSeconds, seconds) : seconds;
    }
}

std::string
LineUse::Describe(const std::string& system) const
{
    const double use = Get();
    if (use == 0 || use >= GOOD_LINE_USE)
    {
        return "";
    }
    const std::string share = " to " + std::to_string(std::lround(100 * use)) + " % of the line (";
    // Rate of the recirculation port that would do for a full line.
    const double wanted = m_limits.recirculationBits / m_limits.lineSeconds;
    if (use * wanted >= CLOSE * static_cast<double>(m_limits.recirculationRate) &&
        m_limits.recirculationRate > 0)
    {
        const auto gigabits = static_cast<uint64_t>(std::ceil(wanted * 1e-9));
        return "the recirculation ports of the switches, with " +
               FormatRate(DataRate(m_limits.recirculationRate)) + ", limit " + system + share +
               "a full line takes ns3::training::SwitchDevice::RecirculationRate=" +
               std::to_string(gigabits) + "Gbps or more)";
    }
    // A larger window may have longer queues, and then takes even more.
    const auto least = static_cast<uint64_t>(std::ceil(static_cast<double>(m_limits.value) / use));
    return m_limits.key + "=" + std::to_string(m_limits.value) + " limits " + system + share +
           "packets in flight wait for answers; a full line takes " + m_limits.key + "=" +
           std::to_string(least) + " or more)";
}

} // namespace ns3::training
