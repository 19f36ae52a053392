/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "engine/window-turn.h"

#include "ns3/fabric-port.h"

#include <algorithm>
#include <tuple>

namespace ns3::training
{

WindowTurn::WindowTurn(CurrentEvent& current)
    : m_current(current)
{
}

inline void
WindowTurn::PrefetchAhead(bool isHost, bool isLarge)
{
    const std::size_t left = m_batch.size() - m_nextInBatch;
    const WindowItem* next = m_batch.data() + m_nextInBatch;
    if (left >= AHEAD)
    {
        next[AHEAD - 1].Prefetch(isHost);
    }
    if (!isLarge)
    {
        return;
    }
    std::copy(m_egress.begin() + 1, m_egress.end(), m_egress.begin());
    m_egress.back() = nullptr;
    if (left >= MIDDLE && !(next[MIDDLE - 1].key & WindowItem::NO_FRAME))
    {
        const auto& frame = static_cast<const Frame&>(*next[MIDDLE - 1].impl);
        frame.port->GetOwner().Prefetch(frame);
    }
    if (left >= NEAR && !(next[NEAR - 1].key & WindowItem::NO_FRAME))
    {
        const auto& frame = static_cast<const Frame&>(*next[NEAR - 1].impl);
        m_egress[NEAR - 1] = frame.port->GetOwner().PrefetchSoon(frame);
    }
    if (m_egress[0]) // so the next event is the arrival of a frame
    {
        m_egress[0]->PrefetchSend(static_cast<const Frame&>(*next->impl).priority);
    }
}

inline bool
WindowTurn::TakeNext(uint64_t limit, WindowItem& item, bool isHost, bool isLarge)
{
    if (m_nextAdded < m_added.size() &&
        (m_nextInBatch == m_batch.size() ||
         EarlierItem()(m_added[m_nextAdded], m_batch[m_nextInBatch])))
    {
        item = m_added[m_nextAdded];
        if (item.key >= limit)
        {
            return false;
        }
        m_nextAdded++;
        return true;
    }
    if (m_nextInBatch == m_batch.size())
    {
        return false;
    }
    item = m_batch[m_nextInBatch++]; // all are below the limit
    PrefetchAhead(isHost, isLarge);
    return true;
}

void
WindowTurn::Execute(uint32_t index,
                    uint32_t node,
                    uint64_t begin,
                    uint64_t limit,
                    bool isHost,
                    bool isLarge)
{
    m_index = index;
    m_current.context = node;
    WindowItem item;
    while (TakeNext(limit, item, isHost, isLarge))
    {
        m_executed++;
        m_current.time = begin + (item.key >> WindowItem::OFFSET_SHIFT);
        if (item.key & WindowItem::NO_FRAME)
        {
            m_current.uid = static_cast<uint32_t>(item.key);
            item.impl->Invoke();
        }
        else
        {
            // None of the node's other events of this time has expired, see BucketScheduler.
            m_current.uid = 0;
            auto frame = static_cast<Frame*>(item.impl);
            frame->port->Arrive(frame);
        }
        item.impl->Unref();
    }
    if (std::tie(m_current.time, m_current.context) > std::tie(m_last.time, m_last.context))
    {
        m_last = m_current;
    }
}

bool
WindowTurn::Erase(const EventImpl* impl)
{
    const auto erase = [impl](WindowItems& items, std::size_t from) {
        const auto found = std::find_if(items.begin() + static_cast<std::ptrdiff_t>(from),
                                        items.end(),
                                        [impl](const auto& item) { return item.impl == impl; });
        if (found == items.end())
        {
            return false;
        }
        items.erase(found); // preserves the order
        return true;
    };
    return erase(m_batch, m_nextInBatch) || erase(m_added, m_nextAdded);
}

void
WindowTurn::End(WindowItems& items)
{
    m_index = NONE;
    items.insert(items.end(),
                 m_batch.begin() + static_cast<std::ptrdiff_t>(m_nextInBatch),
                 m_batch.end());
    items.insert(items.end(),
                 m_added.begin() + static_cast<std::ptrdiff_t>(m_nextAdded),
                 m_added.end());
    m_batch.clear();
    m_nextInBatch = 0;
    m_egress.fill(nullptr);
    m_added.clear();
    m_nextAdded = 0;
}

} // namespace ns3::training
