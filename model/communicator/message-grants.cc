/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "message-grants.h"

namespace ns3::training
{

bool
MessageGrants::Grant(uint32_t peer, uint64_t tag)
{
    return m_sent.emplace(peer, tag).second;
}

void
MessageGrants::Forget(uint32_t peer, uint64_t tag)
{
    m_sent.erase({peer, tag});
}

bool
MessageGrants::Take(uint32_t peer, uint64_t tag, uint32_t action)
{
    if (m_received.erase({peer, tag}) > 0)
    {
        return true;
    }
    m_waiting[{peer, tag}] = action;
    return false;
}

std::optional<uint32_t>
MessageGrants::OnGrant(uint32_t peer, uint64_t tag)
{
    const auto waiting = m_waiting.find({peer, tag});
    if (waiting == m_waiting.end())
    {
        m_received.emplace(peer, tag);
        return std::nullopt;
    }
    const uint32_t action = waiting->second;
    m_waiting.erase(waiting);
    return action;
}

void
MessageGrants::Clear()
{
    m_sent.clear();
    m_received.clear();
    m_waiting.clear();
}

} // namespace ns3::training
