/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "life-ledger.h"

#include "ns3/abort.h"

namespace ns3::training
{

const char*
GetName(LifeUse use)
{
    switch (use)
    {
    case LifeUse::PRODUCTIVE:
        return "productive";
    case LifeUse::CHECKPOINT:
        return "checkpoint";
    case LifeUse::LOST:
        return "lost";
    case LifeUse::DETECTION:
        return "detection";
    case LifeUse::WAITING:
        return "waiting";
    case LifeUse::RESTART:
        return "restart";
    }
    return "";
}

void
LifeLedger::Add(Time end,
                LifeUse use,
                uint32_t iteration,
                const std::string& node,
                const std::string& detail)
{
    NS_ABORT_MSG_IF(end < m_end, "a span ends before it begins");
    if (end == m_end)
    {
        return;
    }
    m_times[static_cast<uint32_t>(use)] += end - m_end;
    m_spans.push_back({use, m_end, end, iteration, node, detail});
    m_end = end;
}

void
LifeLedger::Save(uint32_t iterations)
{
    m_saved = iterations;
}

void
LifeLedger::Lose()
{
    for (; m_checked < m_spans.size(); m_checked++)
    {
        LifeSpan& span = m_spans[m_checked];
        const bool isWork = span.use == LifeUse::PRODUCTIVE;
        if ((isWork || span.use == LifeUse::CHECKPOINT) && span.iteration >= m_saved)
        {
            m_times[static_cast<uint32_t>(span.use)] -= span.end - span.start;
            m_times[static_cast<uint32_t>(LifeUse::LOST)] += span.end - span.start;
            span.use = LifeUse::LOST;
            span.detail = isWork ? "work" : "checkpoint";
        }
    }
}

double
LifeLedger::GetEffectiveRatio() const
{
    return m_end.IsStrictlyPositive()
               ? static_cast<double>(GetTime(LifeUse::PRODUCTIVE).GetTimeStep()) /
                     static_cast<double>(m_end.GetTimeStep())
               : 1;
}

} // namespace ns3::training
