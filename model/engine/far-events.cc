/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "engine/far-events.h"

#include "engine/window-item.h"

#include "ns3/fabric-frame.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace ns3::training
{

namespace
{

/** @return whether an event was in a list, which keeps its order without it */
bool
Erase(std::vector<FarEvents::Item>& items, const EventImpl* impl)
{
    const auto found = std::find_if(items.begin(), items.end(), [impl](const auto& item) {
        return item.impl == impl;
    });
    if (found == items.end())
    {
        return false;
    }
    items.erase(found);
    return true;
}

} // namespace

bool
FarEvents::Later::operator()(const Item& a, const Item& b) const
{
    if (a.time == b.time && (a.order ^ b.order) <= WindowItem::ACK && a.index == b.index &&
        !(a.order & WindowItem::NO_FRAME))
    {
        return static_cast<Frame*>(a.impl)->sequence > static_cast<Frame*>(b.impl)->sequence;
    }
    return std::tie(a.time, a.index, a.order) > std::tie(b.time, b.index, b.order);
}

void
FarEvents::Insert(const Item& item, uint64_t window, uint64_t current)
{
    if (window - current < SLOTS) // a link is so much longer than the shortest one
    {
        m_coming[window % SLOTS].push_back(item);
        m_nComing++;
        return;
    }
    m_far.push_back(item);
    std::push_heap(m_far.begin(), m_far.end(), Later());
}

bool
FarEvents::Remove(const EventImpl* impl, uint64_t window, uint64_t current)
{
    if (window - current < SLOTS && Erase(m_coming[window % SLOTS], impl))
    {
        m_nComing--;
        return true;
    }
    if (!Erase(m_far, impl))
    {
        return false;
    }
    std::make_heap(m_far.begin(), m_far.end(), Later());
    return true;
}

uint64_t
FarEvents::GetEarliestTime(uint64_t first, uint64_t length) const
{
    const uint64_t far = m_far.empty() ? NEVER : m_far.front().time;
    for (uint64_t window = first; m_nComing > 0; window++)
    {
        if (!m_coming[window % SLOTS].empty())
        {
            return std::min(window * length, far);
        }
    }
    return far;
}

const std::vector<FarEvents::Item>&
FarEvents::TakeReached(uint64_t first, uint64_t next, uint64_t length)
{
    m_reached.clear();
    const uint64_t end = std::min(next, first + SLOTS);
    for (uint64_t window = first; window < end && m_nComing > 0; window++)
    {
        std::vector<Item>& coming = m_coming[window % SLOTS];
        m_nComing -= coming.size();
        m_reached.insert(m_reached.end(), coming.begin(), coming.end());
        coming.clear();
    }
    while (!m_far.empty() && m_far.front().time / length < next)
    {
        m_reached.push_back(m_far.front());
        std::pop_heap(m_far.begin(), m_far.end(), Later());
        m_far.pop_back();
    }
    return m_reached;
}

std::vector<FarEvents::Item>
FarEvents::List() const
{
    std::vector<Item> all = m_far;
    for (const auto& coming : m_coming)
    {
        all.insert(all.end(), coming.begin(), coming.end());
    }
    return all;
}

std::vector<FarEvents::Item>
FarEvents::TakeAll()
{
    std::vector<Item> all = List();
    std::sort(all.begin(), all.end(), [](const Item& a, const Item& b) { return Later()(b, a); });
    for (auto& coming : m_coming)
    {
        coming.clear();
    }
    m_nComing = 0;
    m_far.clear();
    return all;
}

} // namespace ns3::training
