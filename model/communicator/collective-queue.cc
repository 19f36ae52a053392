/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective-queue.h"

#include "message-grants.h"
#include "message-tag.h"

#include "ns3/simulator.h"

#include <utility>

namespace ns3::training
{

CollectiveQueue::CollectiveQueue(CommunicatorEndpoint& endpoint,
                                 const uint32_t& limit,
                                 const TracedCallback<const CollectiveRecord&>& onEnd)
    : m_endpoint(endpoint),
      m_limit(limit),
      m_onEnd(onEnd)
{
}

void
CollectiveQueue::Add(CollectiveExecution::Request request)
{
    const CollectiveRecord& record = request.record;
    const uint64_t number = record.collective;
    m_order.Add({number, record.operation, record.bytes, request.tensor->priority});
    m_waiting[number] =
        Create<CollectiveExecution>(m_endpoint,
                                    std::move(request),
                                    [this](const CollectiveExecution& ended) { OnEnd(ended); });
    // From an event, because completion must not precede the return of this call.
    Simulator::ScheduleNow(&CollectiveQueue::StartNext, this);
}

void
CollectiveQueue::StartNext()
{
    while (m_active.size() < m_limit)
    {
        const auto turn = m_order.Next();
        if (!turn)
        {
            return;
        }
        const Ptr<CollectiveExecution> next = m_waiting.extract(*turn).mapped();
        m_active.push_back(next);
        Announce(*turn);
        next->Start(m_shortcut);
    }
}

/** Tells the other ranks which collective starts, if they do not know. */
void
CollectiveQueue::Announce(uint64_t collective) const
{
    if (!m_order.IsAnnouncing())
    {
        return;
    }
    const uint64_t tag = MessageTag{m_endpoint.GetNumber(), collective, MessageTag::TURN, 0}.Pack();
    for (uint32_t peer = 1; peer < m_endpoint.GetSize(); peer++)
    {
        m_endpoint.Signal(peer, tag);
    }
}

void
CollectiveQueue::OnEnd(const CollectiveExecution& execution)
{
    const CollectiveExecution::Request& request = execution.GetRequest();
    m_onEnd(request.record);
    m_active.remove_if([&](const auto& other) { return PeekPointer(other) == &execution; });
    StartNext();
    if (!request.done.IsNull())
    {
        request.done();
    }
}

CollectiveExecution*
CollectiveQueue::Find(uint64_t collective) const
{
    for (const auto& execution : m_active)
    {
        if (MessageTag::IsSameCollective(execution->GetRequest().record.collective, collective))
        {
            return PeekPointer(execution);
        }
    }
    return nullptr;
}

void
CollectiveQueue::OnTurn(uint64_t collective)
{
    m_order.OnTurn(collective);
    StartNext();
}

void
CollectiveQueue::OnGrant(uint32_t peer, uint64_t tag)
{
    const uint64_t granted = MessageGrants::GetGranted(tag);
    if (const auto index = m_endpoint.GetGrants().OnGrant(peer, granted))
    {
        Find(MessageTag::Unpack(granted).collective)->SendChunk(*index);
    }
}

void
CollectiveQueue::OnChunk(uint32_t peer, uint64_t tag, const CommunicatorEndpoint::Chunk& chunk)
{
    const MessageTag parts = MessageTag::Unpack(tag);
    CollectiveExecution* const active = Find(parts.collective);
    if (!active || !active->Receive(peer, parts, chunk))
    {
        m_endpoint.Keep(peer, tag, chunk);
    }
}

std::string
CollectiveQueue::DescribeMissing() const
{
    return m_active.empty() ? "" : m_active.front()->DescribeMissing();
}

void
CollectiveQueue::Clear()
{
    for (const auto& execution : m_active)
    {
        execution->Abandon();
    }
    m_active.clear();
    m_waiting.clear();
    m_order.Clear();
}

} // namespace ns3::training
