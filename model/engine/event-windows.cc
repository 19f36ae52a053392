/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "engine/event-windows.h"

#include "core/event-kinds.h"

#include "ns3/abort.h"
#include "ns3/assert.h"
#include "ns3/fabric-port.h"
#include "ns3/host-device.h"
#include "ns3/roce-opcode.h"

#include <algorithm>
#include <boost/sort/pdqsort/pdqsort.hpp>
#include <limits>
#include <numeric>
#include <tuple>
#include <typeinfo>
#include <utility>

namespace ns3::training
{

namespace
{

/// Number of events that are sorted by insertion, in a window or in a part of it.
constexpr std::size_t FEW = 24;
/// Prefetch distance in nodes.
constexpr std::size_t NODES_AHEAD = 4;
/// Number of nodes whose state is not cached any more when their turn comes.
constexpr std::size_t MANY = 1000;

/** @return whether a frame that arrives at a quiet host is quiet, unless it is an ACK */
bool
IsQuietArrival(const Frame& frame)
{
    switch (frame.kind)
    {
    case FrameKind::ROCE_DATA:
        return !IsLast(frame.opcode);
    case FrameKind::ROCE_ACK:
    case FrameKind::ROCE_CNP:
        return true;
    default:
        return false;
    }
}

/** @return whether an event of a quiet host is quiet, unless it is the arrival of an ACK */
bool
MayBeQuiet(const EventImpl& impl, uint32_t node)
{
    if (&typeid(impl) == &typeid(Frame)) // same library, so comparing addresses is enough
    {
        return IsQuietArrival(static_cast<const Frame&>(impl));
    }
    if (&typeid(impl) == &typeid(FabricPort)) // the line is free
    {
        return true;
    }
    const auto* quiet = dynamic_cast<const QuietEvent*>(&impl);
    return quiet && quiet->GetNode() == node;
}

} // namespace

bool
EventWindows::Earlier::operator()(const Item& a, const Item& b) const
{
    if ((a.key ^ b.key) <= ACK && !(a.key & NO_FRAME))
    {
        return static_cast<Frame*>(a.impl)->sequence < static_cast<Frame*>(b.impl)->sequence;
    }
    return a.key < b.key;
}

bool
EventWindows::FarLater::operator()(const FarItem& a, const FarItem& b) const
{
    if (a.time == b.time && (a.order ^ b.order) <= ACK && a.index == b.index &&
        !(a.order & NO_FRAME))
    {
        return static_cast<Frame*>(a.impl)->sequence > static_cast<Frame*>(b.impl)->sequence;
    }
    return std::tie(a.time, a.index, a.order) > std::tie(b.time, b.index, b.order);
}

EventWindows::EventWindows(CurrentEvent& current, Taker passOn)
    : m_current(current),
      m_passOn(std::move(passOn))
{
}

void
EventWindows::SetNodes(std::vector<WindowNode> nodes, uint64_t length, uint64_t now)
{
    NS_ASSERT_MSG(m_size == 0, "events of the old nodes");
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
    m_nodes.clear();
    m_nodes.resize(m_who.size());
    m_isLarge = m_who.size() > MANY;
    m_hosts.assign(m_who.size() - m_switches, {});
    for (std::size_t i = 0; i < m_hosts.size(); i++)
    {
        m_hosts[i].device = m_who[m_switches + i].devices.front();
    }
    m_ordered = NEVER;
    for (auto& active : m_active)
    {
        active.clear();
    }
    m_length = length;
    m_window = now / length;
    m_end = (m_window + 1) * length;
}

inline bool
EventWindows::Keeps(uint64_t time, uint32_t index, const EventImpl& impl) const
{
    if (time < m_end && (index == m_executing || IsOrdered(index)))
    {
        return index == m_executing; // what a quiet event schedules is quiet
    }
    return !m_hosts[index - m_switches].isLoud && MayBeQuiet(impl, m_who[index].id);
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
    else if (index != m_executing && !isFrame && !MayBeQuiet(*impl, context))
    {
        return false; // an event of a program, which may act on any node
    }
    m_size++;
    if (isFrame)
    {
        auto& frame = static_cast<Frame&>(*impl);
        frame.sequence = uid;
        const uint64_t ack = isHost && frame.kind == FrameKind::ROCE_ACK ? ACK : 0;
        Place(time, uint64_t{frame.ingress} << INGRESS_SHIFT | ack, index, impl);
    }
    else
    {
        Place(time, NO_FRAME | uid, index, impl);
    }
    return true;
}

inline void
EventWindows::Append(uint64_t slot, uint32_t index, uint64_t key, EventImpl* impl)
{
    Items& items = m_nodes[index].items[slot];
    if ((key & (NO_FRAME | ACK)) == ACK)
    {
        m_acks[slot].push_back({{key, impl}, index});
    }
    if (items.empty())
    {
        m_active[slot].push_back(index);
        std::vector<Items>& spare = m_spare[index >= m_switches];
        if (items.capacity() == 0 && !spare.empty())
        {
            items.swap(spare.back());
            spare.pop_back();
        }
    }
    items.emplace_back(key, impl);
}

void
EventWindows::Place(uint64_t time, uint64_t order, uint32_t index, EventImpl* impl)
{
    if (time < m_end)
    {
        const uint64_t key = (time - (m_end - m_length)) << OFFSET_SHIFT | order;
        if (index == m_executing)
        {
            InsertNow(key, impl);
            return;
        }
        NS_ABORT_MSG_IF(IsExecuting(),
                        "an event of node " << m_current.context << " schedules one of node "
                                            << m_who[index].id
                                            << " earlier than the delay of its links");
        Append(m_window % SLOTS, index, key, impl);
        return;
    }
    const uint64_t beyond = time - m_end;
    // Nearly all events lie in the next two windows.
    const uint64_t ahead = beyond < m_length       ? 1
                           : beyond < 2 * m_length ? 2
                                                   : beyond / m_length + 1;
    if (ahead < SLOTS)
    {
        const uint64_t offset = beyond - (ahead - 1) * m_length;
        Append((m_window + ahead) % SLOTS, index, offset << OFFSET_SHIFT | order, impl);
        return;
    }
    if (ahead < FAR_SLOTS) // a link is so much longer than the shortest one
    {
        m_coming[(m_window + ahead) % FAR_SLOTS].push_back({time, order, impl, index});
        m_nComing++;
        return;
    }
    m_far.push_back({time, order, impl, index});
    std::push_heap(m_far.begin(), m_far.end(), FarLater());
}

inline void
EventWindows::InsertNow(uint64_t key, EventImpl* impl)
{
    if (m_nextAdded == m_added.size())
    {
        m_added.clear();
        m_nextAdded = 0;
    }
    m_added.emplace_back(key, impl);
    // Most events are later than those that were added before.
    for (std::size_t place = m_added.size() - 1;
         place > m_nextAdded && Earlier()(m_added[place], m_added[place - 1]);
         place--)
    {
        std::swap(m_added[place], m_added[place - 1]);
    }
}

bool
EventWindows::Remove(uint64_t time, uint32_t context, const EventImpl* impl)
{
    const uint32_t index = m_indices[context];
    const auto isSought = [&](const auto& item) { return item.impl == impl; };
    const auto erase = [&](auto& items, std::size_t from) {
        const auto found =
            std::find_if(items.begin() + static_cast<std::ptrdiff_t>(from), items.end(), isSought);
        if (found == items.end())
        {
            return false;
        }
        items.erase(found); // preserves the order
        m_size--;
        return true;
    };
    if (time < m_end && index == m_executing &&
        (erase(m_batch, m_nextInBatch) || erase(m_added, m_nextAdded)))
    {
        return true;
    }
    const uint64_t window = time / m_length;
    if (window < m_window + SLOTS) // far events are beyond, see Enter()
    {
        return erase(m_nodes[index].items[window % SLOTS],
                     0); // the node stays active, perhaps without an event
    }
    if (window < m_window + FAR_SLOTS && erase(m_coming[window % FAR_SLOTS], 0))
    {
        m_nComing--;
        return true;
    }
    if (!erase(m_far, 0))
    {
        return false;
    }
    std::make_heap(m_far.begin(), m_far.end(), FarLater());
    return true;
}

uint64_t
EventWindows::GetEarliestTime() const
{
    for (uint64_t window = m_window; window < m_window + SLOTS; window++)
    {
        if (!m_active[window % SLOTS].empty())
        {
            return window * m_length;
        }
    }
    const uint64_t far = m_far.empty() ? NEVER : m_far.front().time;
    for (uint64_t window = m_window + SLOTS; m_nComing > 0; window++)
    {
        if (!m_coming[window % FAR_SLOTS].empty())
        {
            return std::min(window * m_length, far);
        }
    }
    return far;
}

void
EventWindows::Enter(uint64_t time)
{
    const uint64_t before = m_window;
    m_window = std::max(time / m_length, m_window);
    m_end = (m_window + 1) * m_length;
    const uint64_t steps = std::min(m_window - before, FAR_SLOTS);
    for (uint64_t i = 0; i < steps && m_nComing > 0; i++)
    {
        m_reached.swap(m_coming[(before + SLOTS + i) % FAR_SLOTS]);
        m_nComing -= m_reached.size();
        for (const FarItem& item : m_reached)
        {
            Place(item.time, item.order, item.index, item.impl);
        }
        m_reached.clear();
    }
    while (!m_far.empty() && m_far.front().time / m_length < m_window + SLOTS)
    {
        const FarItem far = m_far.front();
        std::pop_heap(m_far.begin(), m_far.end(), FarLater());
        m_far.pop_back();
        Place(far.time, far.order, far.index, far.impl);
    }
}

bool
EventWindows::SortRoughly(Items& items)
{
    // Times are spread over the window: buckets of a part of it have about one event each.
    const uint32_t bits = 64 - static_cast<uint32_t>(__builtin_clzll(items.size() - 1));
    const uint64_t factor = (uint64_t{1} << (32 + bits)) / m_length;
    const auto getBucket = [factor](const Item& item) {
        return (item.key >> OFFSET_SHIFT) * factor >> 32;
    };
    m_begins.assign((std::size_t{1} << bits) + 1, 0);
    uint32_t most = 0;
    for (const Item& item : items)
    {
        most = std::max(most, ++m_begins[getBucket(item) + 1]);
    }
    if (most > FEW)
    {
        return false;
    }
    std::partial_sum(m_begins.begin(), m_begins.end(), m_begins.begin());
    m_sorted.resize(items.size());
    for (const Item& item : items)
    {
        m_sorted[m_begins[getBucket(item)]++] = item;
    }
    std::copy(m_sorted.begin(), m_sorted.end(), items.begin()); // each keeps its memory
    return true;
}

void
EventWindows::Sort(Items& items, uint32_t index)
{
    if (items.size() > FEW && !SortRoughly(items))
    {
        boost::sort::pdqsort(items.begin(), items.end(), Earlier());
    }
    else
    {
        for (std::size_t i = 1; i < items.size(); i++)
        {
            const Item item = items[i];
            std::size_t place = i;
            for (; place > 0 && Earlier()(item, items[place - 1]); place--)
            {
                items[place] = items[place - 1];
            }
            items[place] = item;
        }
    }
    for (std::size_t i = 0; i < std::min(AHEAD, items.size()); i++)
    {
        Prefetch(items[i], index >= m_switches);
    }
}

inline void
EventWindows::PrefetchList(uint32_t index) const
{
    const Items& items = m_nodes[index].items[m_window % SLOTS];
    PrefetchBytes(items.data(), items.size() * sizeof(Item));
}

inline void
EventWindows::PrefetchNodes(const std::vector<uint32_t>& active, std::size_t current) const
{
    if (current + NODES_AHEAD < active.size())
    {
        PrefetchList(active[current + NODES_AHEAD]);
    }
    for (uint32_t stage = 0; stage < HostDevice::TURN_STAGES; stage++)
    {
        const std::size_t ahead = current + HostDevice::TURN_STAGES - stage;
        if (ahead < active.size() && active[ahead] >= m_switches)
        {
            m_hosts[active[ahead] - m_switches].device->PrefetchTurn(stage);
        }
    }
}

inline void
EventWindows::PrefetchAhead()
{
    const std::size_t left = m_batch.size() - m_nextInBatch;
    const Item* next = m_batch.data() + m_nextInBatch;
    if (left >= AHEAD)
    {
        Prefetch(next[AHEAD - 1], m_executing >= m_switches);
    }
    if (!m_isLarge)
    {
        return;
    }
    std::copy(m_egress.begin() + 1, m_egress.end(), m_egress.begin());
    m_egress.back() = nullptr;
    if (left >= MIDDLE && !(next[MIDDLE - 1].key & NO_FRAME))
    {
        const auto& frame = static_cast<const Frame&>(*next[MIDDLE - 1].impl);
        frame.port->GetOwner().Prefetch(frame);
    }
    if (left >= NEAR && !(next[NEAR - 1].key & NO_FRAME))
    {
        const auto& frame = static_cast<const Frame&>(*next[NEAR - 1].impl);
        m_egress[NEAR - 1] = frame.port->GetOwner().PrefetchSoon(frame);
    }
    if (m_egress[0]) // so the next event is the arrival of a frame
    {
        m_egress[0]->PrefetchSend(static_cast<const Frame&>(*next->impl).priority);
    }
}

void
EventWindows::Execute(uint32_t index, uint64_t limit)
{
    m_executing = index;
    m_current.context = m_who[index].id;
    const uint64_t begin = m_end - m_length;
    while (true)
    {
        Item item;
        if (m_nextAdded < m_added.size() &&
            (m_nextInBatch == m_batch.size() ||
             Earlier()(m_added[m_nextAdded], m_batch[m_nextInBatch])))
        {
            item = m_added[m_nextAdded];
            if (item.key >= limit)
            {
                break;
            }
            m_nextAdded++;
        }
        else if (m_nextInBatch < m_batch.size())
        {
            item = m_batch[m_nextInBatch++]; // all are below the limit
            PrefetchAhead();
        }
        else
        {
            break;
        }
        m_size--;
        m_executed++;
        m_current.time = begin + (item.key >> OFFSET_SHIFT);
        if (item.key & NO_FRAME)
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
    Recover();
}

void
EventWindows::PutBack()
{
    Items& items = m_nodes[std::exchange(m_executing, NONE)].items[m_window % SLOTS];
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

void
EventWindows::Recover()
{
    if (IsExecuting())
    {
        PutBack();
    }
}

void
EventWindows::ExecuteUpTo(uint32_t index, uint64_t limit)
{
    Items& items = m_nodes[index].items[m_window % SLOTS];
    const auto later = std::partition(items.begin(), items.end(), [=](const Item& item) {
        return item.key < limit;
    });
    if (later != items.begin())
    {
        m_batch.assign(items.begin(), later);
        items.erase(items.begin(), later);
        Sort(m_batch, index);
        Execute(index, limit);
    }
}

void
EventWindows::ExecuteBefore(uint64_t time, uint32_t context)
{
    const uint64_t slot = m_window % SLOTS;
    auto& active = m_active[slot];
    if (active.empty())
    {
        return;
    }
    const uint64_t offset = time - (m_end - m_length);
    for (std::size_t i = 0; i < active.size(); i++)
    {
        const bool isEarlier = m_who[active[i]].id < context;
        ExecuteUpTo(active[i], (offset + (isEarlier ? 1 : 0)) << OFFSET_SHIFT);
    }
    active.erase(std::remove_if(active.begin(),
                                active.end(),
                                [&](uint32_t index) { return m_nodes[index].items[slot].empty(); }),
                 active.end());
}

void
EventWindows::ExecuteAll()
{
    const uint64_t slot = m_window % SLOTS;
    auto& active = m_active[slot];
    if (!active.empty())
    {
        Sort(m_nodes[active.front()].items[slot], active.front());
    }
    for (std::size_t i = 0; i < active.size(); i++)
    {
        if (m_isLarge)
        {
            PrefetchNodes(active, i);
        }
        if (i + 1 < active.size())
        {
            // Its frames are there when its turn comes.
            Sort(m_nodes[active[i + 1]].items[slot], active[i + 1]);
        }
        m_batch = std::exchange(m_nodes[active[i]].items[slot], Items());
        if (!m_batch.empty()) // a node may be active twice, or without events, see Remove()
        {
            Execute(active[i], std::numeric_limits<uint64_t>::max());
        }
        if (m_batch.capacity() > 0)
        {
            m_spare[active[i] >= m_switches].push_back(std::exchange(m_batch, Items()));
        }
    }
    active.clear();
}

std::vector<EventWindows::FarItem>
EventWindows::TakeAll()
{
    std::vector<FarItem> all;
    all.reserve(m_size);
    for (uint64_t window = m_window; window < m_window + SLOTS; window++)
    {
        const uint64_t slot = window % SLOTS;
        for (const uint32_t index : m_active[slot])
        {
            Items& items = m_nodes[index].items[slot];
            std::sort(items.begin(), items.end(), Earlier());
            for (const Item& item : std::exchange(items, Items()))
            {
                all.push_back({window * m_length + (item.key >> OFFSET_SHIFT),
                               item.key & ORDER,
                               item.impl,
                               index});
            }
        }
        m_active[slot].clear();
        m_acks[slot].clear();
    }
    for (auto& coming : m_coming)
    {
        m_far.insert(m_far.end(), coming.begin(), coming.end());
        coming.clear();
    }
    m_nComing = 0;
    std::sort(m_far.begin(), m_far.end(), [](const FarItem& a, const FarItem& b) {
        return FarLater()(b, a);
    });
    all.insert(all.end(), m_far.begin(), m_far.end());
    m_far.clear();
    return all;
}

void
EventWindows::Drain()
{
    for (const FarItem& item : TakeAll())
    {
        PassOn(item.time, item.order, item.index, item.impl);
    }
}

void
EventWindows::AddEntries(std::vector<BucketScheduler::Entry>& entries) const
{
    const auto add = [&](uint64_t time, uint32_t index, uint64_t order, EventImpl* impl) {
        const uint64_t ofNode = order & NO_FRAME ? order : order >> INGRESS_SHIFT;
        entries.push_back({impl, time, uint64_t{m_who[index].id} << OFFSET_SHIFT | ofNode});
    };
    for (uint64_t window = m_window; window < m_window + SLOTS; window++)
    {
        std::vector<uint32_t> active = m_active[window % SLOTS];
        std::sort(active.begin(), active.end()); // a node may be active twice
        active.erase(std::unique(active.begin(), active.end()), active.end());
        for (const uint32_t index : active)
        {
            for (const Item& item : m_nodes[index].items[window % SLOTS])
            {
                const uint64_t time = window * m_length + (item.key >> OFFSET_SHIFT);
                add(time, index, item.key & ORDER, item.impl);
            }
        }
    }
    for (const auto& coming : m_coming)
    {
        for (const FarItem& item : coming)
        {
            add(item.time, item.index, item.order, item.impl);
        }
    }
    for (const FarItem& item : m_far)
    {
        add(item.time, item.index, item.order, item.impl);
    }
}

void
EventWindows::Delay(bool (*moves)(const EventImpl& event), uint64_t delay)
{
    NS_ASSERT_MSG(!IsExecuting(), "the events of a node are being executed");
    for (const FarItem& item : TakeAll())
    {
        const uint64_t time = item.time + (moves(*item.impl) ? delay : 0);
        Place(time, item.order, item.index, item.impl);
    }
}

} // namespace ns3::training
