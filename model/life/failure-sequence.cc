/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "failure-sequence.h"

#include <cmath>

namespace ns3::training
{

FailureSequence::FailureSequence(FailureModel model, uint32_t nodes, int64_t stream)
    : m_model(std::move(model)),
      m_scale(m_model.GetMeanSeconds(1) / std::tgamma(1 + 1 / m_model.shape)),
      m_times(CreateObject<WeibullRandomVariable>()),
      m_causes(CreateObject<UniformRandomVariable>())
{
    m_times->SetStream(stream);
    m_causes->SetStream(stream + 1);
    if (m_model.GetPerNodeDay() <= 0)
    {
        return; // nothing ever fails
    }
    for (uint32_t node = 0; node < nodes; node++)
    {
        m_next.emplace(DrawTime(), node);
    }
}

LifeTime
FailureSequence::DrawTime()
{
    return MakeLifeTime(m_times->GetValue(m_scale, m_model.shape, 0));
}

uint32_t
FailureSequence::DrawCause()
{
    double left = m_causes->GetValue(0, m_model.GetPerNodeDay());
    uint32_t chosen = 0;
    for (uint32_t cause = 0; cause < m_model.causes.size(); cause++)
    {
        const double rate = m_model.causes[cause].perNodeDay;
        if (rate <= 0)
        {
            continue;
        }
        chosen = cause;
        if (left < rate)
        {
            break;
        }
        left -= rate;
    }
    return chosen;
}

Failure
FailureSequence::Next()
{
    if (m_next.empty())
    {
        return {};
    }
    const auto [time, node] = m_next.top();
    m_next.pop();
    const LifeTime span = DrawTime();
    if (span < LifeTime::max() - time)
    {
        m_next.emplace(time + span, node);
    }
    return {time, node, DrawCause()};
}

} // namespace ns3::training
