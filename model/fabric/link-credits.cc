/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "link-credits.h"

#include "state-visitor.h"

namespace ns3::training
{

void
LinkCredits::SetSending(uint8_t classes, uint64_t bytes)
{
    m_sendingClasses = classes;
    m_balance.fill(static_cast<int64_t>(bytes));
}

void
LinkCredits::SetReceiving(uint8_t classes, uint64_t bytes)
{
    m_receivingClasses = classes;
    m_space = bytes;
    m_granted.fill(bytes);
}

uint64_t
LinkCredits::Grant(uint8_t priority, uint64_t held)
{
    // Frames that programs emit are stored, too, but have not been received.
    const uint64_t limit = m_received[priority] + m_space;
    if (limit <= m_granted[priority] + held)
    {
        return 0;
    }
    const uint64_t bytes = limit - held - m_granted[priority];
    m_granted[priority] += bytes;
    return bytes;
}

void
LinkCredits::Visit(StateVisitor& visitor)
{
    static_assert(StateVisitor::IsSize(sizeof(LinkCredits), 208),
                  "a new member: visit it unless it stays, then correct the size");
    for (uint8_t priority = 0; priority < PRIORITIES; priority++)
    {
        visitor.Same(static_cast<uint64_t>(m_balance[priority]));
        visitor.Same(m_granted[priority] - m_received[priority]);
        visitor.Count(m_received[priority]);
        visitor.Count(m_granted[priority]);
    }
}

} // namespace ns3::training
