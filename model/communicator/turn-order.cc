/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "turn-order.h"

#include "core/attribute-choice.h"
#include "message-tag.h"

#include <algorithm>

namespace ns3::training
{

void
TurnOrder::SetOrder(const std::string& name)
{
    if (Registry<CollectiveOrder>::All().count(name) == 0)
    {
        ThrowInvalidAttribute("ScheduledCommunicator::Order",
                              name,
                              Registry<CollectiveOrder>::Names());
    }
    m_order = &Registry<CollectiveOrder>::Find(name);
    m_name = name;
}

void
TurnOrder::Add(const WaitingCollective& collective)
{
    m_waiting.push_back(collective);
}

void
TurnOrder::OnTurn(uint64_t collective)
{
    m_turns.push_back(collective);
}

std::optional<uint64_t>
TurnOrder::Next()
{
    if (m_waiting.empty())
    {
        return std::nullopt;
    }
    auto next = m_waiting.begin();
    if (m_order->isAgreed || m_rank == 0)
    {
        next += static_cast<std::ptrdiff_t>(m_order->pick(m_waiting));
    }
    else
    {
        next = std::find_if(m_waiting.begin(), m_waiting.end(), [this](const auto& waiting) {
            return !m_turns.empty() &&
                   MessageTag::IsSameCollective(waiting.number, m_turns.front());
        });
        if (next == m_waiting.end())
        {
            return std::nullopt;
        }
        m_turns.pop_front();
    }
    const uint64_t number = next->number;
    m_waiting.erase(next);
    return number;
}

bool
TurnOrder::IsAnnouncing() const
{
    return m_rank == 0 && !m_order->isAgreed;
}

void
TurnOrder::Clear()
{
    m_waiting.clear();
    m_turns.clear();
}

} // namespace ns3::training
