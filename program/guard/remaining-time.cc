/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "guard/remaining-time.h"

#include <algorithm>
#include <cmath>

namespace ns3::training
{

std::optional<double>
RemainingTime::Update(double now, double fraction)
{
    const double passed = now - m_now;
    if (passed <= 0 || fraction <= 0)
    {
        return m_left;
    }
    // Before something is complete, all of the time belongs to it.
    const double speed = (fraction - m_fraction) / passed;
    const double constant = std::max(LEAST_CONSTANT, CONSTANT * std::max(now, m_left.value_or(0)));
    const double weight = 1 - std::exp(-passed / constant);
    m_speed = m_left ? m_speed + weight * (speed - m_speed) : speed;
    m_now = now;
    m_fraction = fraction;
    const double left = (1 - fraction) / m_speed;
    const double mean = now * (1 - fraction) / fraction;
    const double expected = m_left ? *m_left - passed : left;
    if (expected > WRONG * mean)
    {
        m_left = mean; // the beginning was not typical, and a long time left changes slowly
        m_speed = fraction / now;
        return m_left;
    }
    m_left = std::max(0.0, expected + weight * (left - expected));
    return m_left;
}

} // namespace ns3::training
