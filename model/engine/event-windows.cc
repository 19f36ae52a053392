/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "engine/event-windows.h"

#include "ns3/abort.h"
#include "ns3/assert.h"
#include "ns3/fabric-port.h"
#include "ns3/host-device.h"

#include <algorithm>
#include <typeinfo>
#include <utility>

namespace ns3::training
{

namespace
{

/// Number of nodes whose state is not cached any more when their turn comes.
constexpr std::size_t MANY = 1000;

} // namespace

EventWindows::EventWindows(CurrentEvent& current, Taker passOn)
    : m_current(current),
      m_hosts(m_lists, std::move(passOn)),
      m_turn(current)
{
}

void
EventWindows::SetNodes(std::vector<WindowNode> nodes, uint64_t length, uint64_t now)
{
    NS_ASSERT_MSG(GetSize() == 0, "events of the old nodes");
    NS_ASSERT_MSG(length > 0 && length <= MAX_LENGTH, "a window of " << length);
    m_who = std::move(nodes);
    m_indices.clear();
    m_switches = 0;
    for (uint32_t index = 0; index < m_who.size(); index++)
    {
        m_indices.resize(std::max<std::size_t>(m_indices.size(), m_who[index].id + 1), NONE);
        m_indices[m_who[index].id] = index;
        NS_ASSERT_MSG(m_switches == index || !m_who[index].devices.empty(), "switches come first");
        m_switches += m_who[index].devices.empty() ? 1 : 0;
    }
    m_lists.SetNodes(m_who.size(), m_switches);
    m_hosts.SetNodes(m_who, m_switches, length);
    m_isLarge = m_who.size() > MANY;
    m_length = length;
    m_window = now / length;
    m_end = (m_window + 1) * length;
    m_hosts.Enter(m_window);
}

inline bool
EventWindows::Keeps(uint64_t time, uint32_t index, const EventImpl& impl) const
{
    if (time < m_end && (index == m_turn.GetIndex() || m_hosts.IsOrdered(index)))
    {
        return index == m_turn.GetIndex(); // what a quiet event schedules is quiet
    }
    return !m_hosts.IsLoud(index) && WindowHosts::MayBeQuiet(impl, m_who[index].id);
}

bool
EventWindows::Insert(uint64_t time, uint32_t context, uint32_t uid, EventImpl* impl)
{
    const uint32_t index = m_indices[context];
    const bool isHost = index >= m_switches;
    const bool isFrame = &typeid(*impl) == &typeid(Frame); // same library: addresses are enough
    if (isHost)
    {
        if (!Keeps(time, index, *impl))
        {
            return false;
        }
    }
    else if (index != m_turn.GetIndex() && !isFrame && !WindowHosts::MayBeQuiet(*impl, context))
    {
        return false; // an event of a program, which may act on any node
    }
    m_kept++;
    if (isFrame)
    {
        auto& frame = static_cast<Frame&>(*impl);
        frame.sequence = uid;
        const uint64_t ack = isHost && frame.kind == FrameKind::ROCE_ACK ? Item::ACK : 0;
        Place(time, uint64_t{frame.ingress} << Item::INGRESS_SHIFT | ack, index, impl);
    }
    else
    {
        Place(time, Item::NO_FRAME | uid, index, impl);
    }
    return true;
}

void
EventWindows::Place(uint64_t time, uint64_t order, uint32_t index, EventImpl* impl)
{
    if (time < m_end)
    {
        const uint64_t key = (time - (m_end - m_length)) << Item::OFFSET_SHIFT | order;
        if (index == m_turn.GetIndex())
        {
            m_turn.Insert(key, impl);
            return;
        }
        NS_ABORT_MSG_IF(IsExecuting(),
                        "an event of node " << m_current.context << " schedules one of node "
                                            << m_who[index].id
                                            << " earlier than the delay of its links");
        m_lists.Append(m_window, index, key, impl);
        return;
    }
    const uint64_t beyond = time - m_end;
    // Nearly all events lie in the next two windows.
    const uint64_t ahead = beyond < m_length       ? 1
                           : beyond < 2 * m_length ? 2
                                                   : beyond / m_length + 1;
    if (ahead < WindowLists::SLOTS)
    {
        const uint64_t offset = beyond - (ahead - 1) * m_length;
        m_lists.Append(m_window + ahead, index, offset << Item::OFFSET_SHIFT | order, impl);
        return;
    }
    m_far.Insert({time, order, impl, index}, m_window + ahead, m_window);
}

bool
EventWindows::Remove(uint64_t time, uint32_t context, const EventImpl* impl)
{
    const uint32_t index = m_indices[context];
    const uint64_t window = time / m_length;
    bool wasThere = time < m_end && index == m_turn.GetIndex() && m_turn.Erase(impl);
    if (!wasThere)
    {
        wasThere = window < m_window + WindowLists::SLOTS // far events are beyond, see Enter()
                       ? m_lists.Remove(window, index, impl)
                       : m_far.Remove(impl, window, m_window);
    }
    m_kept -= wasThere ? 1 : 0;
    return wasThere;
}

uint64_t
EventWindows::GetEarliestTime() const
{
    const uint64_t end = m_window + WindowLists::SLOTS;
    const uint64_t window = m_lists.FindWindow(m_window);
    return window < end ? window * m_length : m_far.GetEarliestTime(end, m_length);
}

void
EventWindows::Enter(uint64_t time)
{
    const uint64_t before = m_window;
    m_window = std::max(time / m_length, m_window);
    m_end = (m_window + 1) * m_length;
    m_hosts.Enter(m_window);
    for (const auto& far :
         m_far.TakeReached(before + WindowLists::SLOTS, m_window + WindowLists::SLOTS, m_length))
    {
        Place(far.time, far.order, far.index, far.impl);
    }
}

void
EventWindows::Sort(Items& items, uint32_t index)
{
    m_sorter.Sort(items, m_length);
    for (std::size_t i = 0; i < std::min(WindowTurn::AHEAD, items.size()); i++)
    {
        items[i].Prefetch(index >= m_switches);
    }
}

void
EventWindows::Execute(uint32_t index, uint64_t limit)
{
    m_turn.Execute(index, m_who[index].id, m_end - m_length, limit, index >= m_switches, m_isLarge);
    Recover();
}

void
EventWindows::Recover()
{
    if (IsExecuting())
    {
        m_turn.End(m_lists.Get(m_window, m_turn.GetIndex()));
    }
}

void
EventWindows::ExecuteUpTo(uint32_t index, uint64_t limit)
{
    Items& items = m_lists.Get(m_window, index);
    const auto later = std::partition(items.begin(), items.end(), [=](const Item& item) {
        return item.key < limit;
    });
    if (later != items.begin())
    {
        m_turn.GetBatch().assign(items.begin(), later);
        items.erase(items.begin(), later);
        Sort(m_turn.GetBatch(), index);
        Execute(index, limit);
    }
}

void
EventWindows::ExecuteBefore(uint64_t time, uint32_t context)
{
    auto& active = m_lists.GetActive(m_window);
    if (active.empty())
    {
        return;
    }
    const uint64_t offset = time - (m_end - m_length);
    for (std::size_t i = 0; i < active.size(); i++)
    {
        const bool isEarlier = m_who[active[i]].id < context;
        ExecuteUpTo(active[i], (offset + (isEarlier ? 1 : 0)) << Item::OFFSET_SHIFT);
    }
    active.erase(
        std::remove_if(active.begin(),
                       active.end(),
                       [&](uint32_t index) { return m_lists.Get(m_window, index).empty(); }),
        active.end());
}

void
EventWindows::ExecuteAll()
{
    auto& active = m_lists.GetActive(m_window);
    if (!active.empty())
    {
        Sort(m_lists.Get(m_window, active.front()), active.front());
    }
    for (std::size_t i = 0; i < active.size(); i++)
    {
        if (m_isLarge)
        {
            m_hosts.Prefetch(i);
        }
        if (i + 1 < active.size())
        {
            // Its frames are there when its turn comes.
            Sort(m_lists.Get(m_window, active[i + 1]), active[i + 1]);
        }
        Items& batch = m_turn.GetBatch();
        batch = std::exchange(m_lists.Get(m_window, active[i]), Items());
        if (!batch.empty()) // a node may be active twice, or without events, see Remove()
        {
            Execute(active[i], std::numeric_limits<uint64_t>::max());
        }
        m_lists.Recycle(active[i], batch);
    }
    active.clear();
}

std::vector<FarEvents::Item>
EventWindows::TakeAll()
{
    std::vector<FarEvents::Item> all = m_lists.TakeAll(m_window, m_length);
    const std::vector<FarEvents::Item> far = m_far.TakeAll();
    all.insert(all.end(), far.begin(), far.end());
    return all;
}

void
EventWindows::Drain()
{
    for (const FarEvents::Item& item : TakeAll())
    {
        m_hosts.PassOn(item);
    }
}

void
EventWindows::AddEntries(std::vector<BucketScheduler::Entry>& entries) const
{
    const auto add = [&](const FarEvents::Item& item) {
        const uint64_t ofNode =
            item.order & Item::NO_FRAME ? item.order : item.order >> Item::INGRESS_SHIFT;
        entries.push_back(
            {item.impl, item.time, uint64_t{m_who[item.index].id} << Item::OFFSET_SHIFT | ofNode});
    };
    for (const FarEvents::Item& item : m_lists.List(m_window, m_length))
    {
        add(item);
    }
    for (const FarEvents::Item& item : m_far.List())
    {
        add(item);
    }
}

void
EventWindows::Delay(const EventFilter& moves, uint64_t delay)
{
    NS_ASSERT_MSG(!IsExecuting(), "the events of a node are being executed");
    for (const FarEvents::Item& item : TakeAll())
    {
        const uint64_t time = item.time + (moves(*item.impl) ? delay : 0);
        Place(time, item.order, item.index, item.impl);
    }
}

void
EventWindows::Order(uint32_t context, uint64_t time, uint64_t order)
{
    const uint32_t index = m_indices[context];
    const uint64_t ofNode =
        order & Item::NO_FRAME ? order & Item::ORDER : (order & Item::ORDER) << Item::INGRESS_SHIFT;
    const uint64_t key = (time - (m_end - m_length)) << Item::OFFSET_SHIFT | ofNode;
    index < m_switches ? ExecuteUpTo(index, key) : OrderFrom(index, key);
}

void
EventWindows::CatchUp(uint32_t host, uint64_t time, uint32_t context)
{
    OrderFrom(m_indices[host],
              (time - (m_end - m_length) + (host < context)) << Item::OFFSET_SHIFT);
}

void
EventWindows::OrderFrom(uint32_t index, uint64_t key)
{
    if (!m_hosts.IsOrdered(index))
    {
        m_hosts.Order(index);
        ExecuteUpTo(index, key);
        m_hosts.PassOnAll(index);
    }
}

} // namespace ns3::training
