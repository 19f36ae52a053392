/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "state-visitor.h"

#include "ns3/assert.h"

#include <algorithm>

namespace ns3::training
{

namespace
{

constexpr uint64_t PSN_MASK = (1 << 24) - 1;

} // namespace

StateVisitor::StateVisitor(int64_t now)
    : m_now(now)
{
}

void
StateVisitor::Restart(int64_t now)
{
    m_now = now;
    m_isRefused = false;
    m_items.clear(); // keeps the memory
}

void
StateVisitor::Advance(const StateVisitor& before, uint64_t periods)
{
    for (std::size_t i = 0; i < m_items.size(); i++)
    {
        Item& item = m_items[i];
        item.growth = item.value - before.m_items[i].value;
        item.value += periods * item.growth;
        if (item.kind == Kind::PSN)
        {
            item.value &= PSN_MASK;
            item.growth &= PSN_MASK;
        }
    }
    m_now += static_cast<int64_t>(periods) * (m_now - before.m_now);
}

StateVisitor::StateVisitor(const StateVisitor& before, const StateVisitor& after, uint64_t periods)
    : m_now(after.m_now),
      m_visitsIdle(after.m_visitsIdle),
      m_before(&before),
      m_after(&after),
      m_periods(periods)
{
}

void
StateVisitor::Time(int64_t& time, uint64_t timeout, const char* file, int line)
{
    if (IsLeftOut(file, line))
    {
        return;
    }
    if (!m_before)
    {
        m_items.push_back({static_cast<uint64_t>(time), timeout, Kind::TIME, 0});
        return;
    }
    const uint64_t moved = m_after->m_items[m_next].value - m_before->m_items[m_next].value;
    time += static_cast<int64_t>(m_periods * moved);
    m_next++;
}

void
StateVisitor::Count(uint64_t& value, uint64_t end, const char* file, int line)
{
    if (IsLeftOut(file, line))
    {
        return;
    }
    if (!m_before)
    {
        m_items.push_back({value, end, Kind::COUNT, 0});
        return;
    }
    value += m_periods * (m_after->m_items[m_next].value - m_before->m_items[m_next].value);
    m_next++;
}

void
StateVisitor::Psn(uint32_t& psn, const char* file, int line)
{
    if (IsLeftOut(file, line))
    {
        return;
    }
    if (!m_before)
    {
        m_items.push_back({psn, NONE, Kind::PSN, 0});
        return;
    }
    const uint64_t grown = m_after->m_items[m_next].value - m_before->m_items[m_next].value;
    psn = static_cast<uint32_t>((psn + m_periods * grown) & PSN_MASK);
    m_next++;
}

bool
StateVisitor::Repeats(const Item& before, const Item& after, uint64_t period, uint64_t start)
{
    switch (after.kind)
    {
    case Kind::SAME:
        return before.value == after.value;
    case Kind::TIME:
        return after.value - before.value == period ||
               (after.value == before.value &&
                static_cast<int64_t>(after.value) <= static_cast<int64_t>(start));
    case Kind::COUNT:
        return before.end == after.end;
    case Kind::PSN:
        return true;
    }
    return false;
}

uint64_t
StateVisitor::GetPeriods(const StateVisitor& before, const StateVisitor& after, bool likeBefore)
{
    if (before.m_isRefused || after.m_isRefused || before.m_items.size() != after.m_items.size())
    {
        return 0;
    }
    const auto period = static_cast<uint64_t>(after.m_now - before.m_now);
    uint64_t periods = NONE;
    for (std::size_t i = 0; i < after.m_items.size(); i++)
    {
        const Item& old = before.m_items[i];
        const Item& item = after.m_items[i];
        if (old.kind != item.kind ||
            !Repeats(old, item, period, static_cast<uint64_t>(before.m_now)))
        {
            return 0;
        }
        const uint64_t grown = item.value - old.value;
        const uint64_t mask = item.kind == Kind::PSN ? PSN_MASK : NONE;
        if (likeBefore && (grown & mask) != old.growth)
        {
            return 0;
        }
        if (item.kind == Kind::COUNT && item.end != NONE && grown > 0)
        {
            NS_ASSERT(item.value < item.end);
            periods = std::min(periods, (item.end - 1 - item.value) / grown);
        }
    }
    return periods;
}

uint64_t
StateVisitor::GetDeadline(const StateVisitor& before, const StateVisitor& after)
{
    uint64_t deadline = NONE;
    for (std::size_t i = 0; i < after.m_items.size(); i++)
    {
        const Item& item = after.m_items[i];
        if (item.kind == Kind::TIME && item.end != NONE && item.value == before.m_items[i].value)
        {
            deadline = std::min(deadline, item.value + item.end);
        }
    }
    return deadline;
}

std::optional<std::size_t>
StateVisitor::FindDifference(const StateVisitor& predicted, const StateVisitor& simulated)
{
    const std::size_t size = std::min(predicted.m_items.size(), simulated.m_items.size());
    for (std::size_t i = 0; i < size; i++)
    {
        if (predicted.m_items[i].value != simulated.m_items[i].value)
        {
            return i;
        }
    }
    if (predicted.m_items.size() != simulated.m_items.size())
    {
        return size;
    }
    return {};
}

} // namespace ns3::training
