/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "link-impairment.h"

#include "ns3/log.h"

#include <cmath>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingLinkImpairment");

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
    Fate fate;
    if (m_configuration.down)
    {
        fate.lost = true;
        return fate;
    }
    if (m_bad ? Draw(m_configuration.badToGood) : Draw(m_configuration.goodToBad))
    {
        m_bad = !m_bad;
    }
    // A product of 1 - p each would lose small bit error rates to rounding.
    const double damage = -std::expm1(8.0 * bytes * std::log1p(-m_configuration.bitErrorRate));
    fate.lost =
        Draw(m_configuration.loss) || (m_bad && Draw(m_configuration.lossInBad)) || Draw(damage);
    if (!fate.lost)
    {
        fate.duplicated = Draw(m_configuration.duplicate);
        fate.delay = Draw(m_configuration.reorder) ? m_configuration.reorderDelay.GetTimeStep() : 0;
    }
    return fate;
}

} // namespace ns3::training
