/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "link-impairment.h"

#include <cmath>

namespace ns3::training
{

LinkImpairment::LinkImpairment(const Configuration& configuration, int64_t stream)
    : m_configuration(configuration),
      m_random(CreateObject<UniformRandomVariable>())
{
    m_random->SetStream(stream);
}

bool
LinkImpairment::Draw(double probability)
{
    return probability > 0 && m_random->GetValue() < probability;
}

LinkImpairment::Fate
LinkImpairment::Decide(uint32_t bytes)
{
    if (m_configuration.down)
    {
        return {true, DropReason::LINK_DOWN};
    }
    if (m_bad ? Draw(m_configuration.badToGood) : Draw(m_configuration.goodToBad))
    {
        m_bad = !m_bad;
    }
    // log1p and expm1 keep small bit error rates that a power of 1 - p would lose to rounding.
    const double damage = -std::expm1(8.0 * bytes * std::log1p(-m_configuration.bitErrorRate));
    Fate fate;
    const int64_t retry =
        m_configuration.retries ? m_configuration.retryResponse.GetTimeStep() : Fate::NEVER;
    if (Draw(m_configuration.loss) || (m_bad && Draw(m_configuration.lossInBad)))
    {
        return {true, DropReason::LINK_LOSS, false, 0, retry};
    }
    if (Draw(damage))
    {
        return {true, DropReason::CORRUPTED, false, 0, retry};
    }
    fate.duplicated = Draw(m_configuration.duplicate);
    fate.delay = Draw(m_configuration.reorder) ? m_configuration.reorderDelay.GetTimeStep() : 0;
    return fate;
}

} // namespace ns3::training
