/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "uec-credit.h"

#include "uec-wire-format.h"

#include <algorithm>

namespace ns3::training
{

void
UecCredit::StopSpeculating()
{
    if (m_isSpeculating)
    {
        m_isSpeculating = false;
        m_left = m_isNeeded ? std::min<int64_t>(m_left, 0) : m_left;
    }
}

bool
UecCredit::Grant(uint32_t counter)
{
    const uint64_t granted = ExtendCounter(counter, UEC_QUANTA_BITS, m_granted);
    if (granted <= m_granted)
    {
        return false;
    }
    m_left = std::min(m_left + static_cast<int64_t>((granted - m_granted) * UEC_QUANTUM), m_limit);
    m_granted = granted;
    return true;
}

uint32_t
UecCredit::GetWanted(uint64_t unsent, uint64_t need, uint64_t packet) const
{
    auto wanted = static_cast<int64_t>(std::min<uint64_t>(need, m_limit)) - m_left;
    if (m_isSpeculating && unsent > 0)
    {
        wanted = std::max(wanted, static_cast<int64_t>(packet));
    }
    const int64_t quanta = wanted > 0 ? (wanted + UEC_QUANTUM - 1) / UEC_QUANTUM : 0;
    return static_cast<uint32_t>((m_granted + static_cast<uint64_t>(quanta)) &
                                 ((1 << UEC_QUANTA_BITS) - 1));
}

} // namespace ns3::training
