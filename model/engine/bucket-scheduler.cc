/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "bucket-scheduler.h"

#include "ns3/assert.h"
#include "ns3/fabric-port.h"
#include "ns3/global-value.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/type-id.h"

#include <algorithm>
#include <boost/sort/pdqsort/pdqsort.hpp>
#include <iterator>
#include <limits>
#include <typeinfo>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingBucketScheduler");
NS_OBJECT_ENSURE_REGISTERED(BucketScheduler);

namespace
{

/// Number of buckets between two adjustments of the bucket width.
constexpr uint64_t ADAPT_INTERVAL = 512;
/// Target range of events per bucket: few enough to sort quickly, many enough per search for the
/// next bucket.
constexpr uint64_t MIN_EVENTS = 8;
constexpr uint64_t MAX_EVENTS = 64;
/// Number of events in the current bucket above which an insertion makes buckets narrower.
constexpr std::size_t MAX_NOW = 1024;
/// Number of events inserted into the current bucket, and their share of it, that are merged.
constexpr std::size_t MANY_ADDED = 32;
constexpr std::size_t ADDED_SHARE = 8;
/// Bounds of the bucket width as log2 of time steps: 1 ns and 17 us at picosecond resolution.
constexpr uint32_t NARROWEST = 10;
constexpr uint32_t WIDEST = 24;
/// Prefetch distances in events before the event is dequeued. There are three stages, as each stage
/// loads the address for the next one. For a frame: its port, the state of the port's owner, the
/// egress port. For a port: its queue, the first frame in the queue.
constexpr std::size_t FAR = 7;
constexpr std::size_t MIDDLE = 4;
constexpr std::size_t NEAR = 2;

using Entry = BucketScheduler::Entry;

BucketScheduler* g_current{nullptr}; // made last and not destroyed

using Later = LaterEvent;

} // namespace

TypeId
BucketScheduler::GetTypeId()
{
    static TypeId tid = TypeId("ns3::training::BucketScheduler")
                            .SetParent<Scheduler>()
                            .SetGroupName("DistributedTraining")
                            .AddConstructor<BucketScheduler>();
    return tid;
}

BucketScheduler::BucketScheduler()
    : m_buckets(BUCKETS)
{
    g_current = this;
}

BucketScheduler::~BucketScheduler()
{
    g_current = g_current == this ? nullptr : g_current;
}

BucketScheduler*
BucketScheduler::GetCurrent()
{
    return g_current;
}

void
BucketScheduler::UseByDefault()
{
    GlobalValue::Bind("SchedulerType", TypeIdValue(GetTypeId()));
}

void
BucketScheduler::Insert(const Event& ev)
{
    m_size++;
    if (m_now.size() > MAX_NOW && m_shift > NARROWEST && ev.key.m_ts >> m_shift <= m_current)
    {
        ChangeWidth(m_shift - 1);
    }
    Insert(Entry::From(ev));
}

void
BucketScheduler::Insert(const Entry& entry)
{
    const uint64_t bucket = entry.time >> m_shift;
    if (bucket <= m_current)
    {
        m_added.push_back(entry);
        std::push_heap(m_added.begin(), m_added.end(), Later());
        if (m_added.size() > MANY_ADDED && m_added.size() > m_now.size() / ADDED_SHARE)
        {
            Merge();
        }
    }
    else if (bucket < m_current + BUCKETS)
    {
        Bucket& list = m_buckets[bucket % BUCKETS];
        if (list.capacity() == 0 && !m_spare.empty())
        {
            list.swap(m_spare.back());
            m_spare.pop_back();
        }
        list.push_back(entry);
        m_occupied[bucket % BUCKETS / 64] |= uint64_t{1} << bucket % 64;
    }
    else
    {
        m_far.push_back(entry);
        std::push_heap(m_far.begin(), m_far.end(), Later());
    }
}

void
BucketScheduler::Merge()
{
    boost::sort::pdqsort_branchless(m_added.begin(), m_added.end(), Later());
    std::merge(m_now.begin(),
               m_now.end(),
               m_added.begin(),
               m_added.end(),
               std::back_inserter(m_merged),
               Later());
    m_now.swap(m_merged);
    m_merged.clear();
    m_added.clear();
}

inline const Entry&
BucketScheduler::FindFirst()
{
    if (m_added.empty())
    {
        m_isFirstAdded = false;
        return m_now.back();
    }
    m_isFirstAdded = m_now.empty() || Later()(m_now.back(), m_added.front());
    return m_isFirstAdded ? m_added.front() : m_now.back();
}

Scheduler::Event
BucketScheduler::PeekNext() const
{
    NS_ASSERT(m_size > 0);
    // May change the layout, not the contents.
    return const_cast<BucketScheduler*>(this)->Peek()->ToEvent();
}

Scheduler::Event
BucketScheduler::RemoveNext()
{
    NS_ASSERT(m_size > 0);
    const Event next = Peek()->ToEvent();
    Pop();
    return next;
}

const BucketScheduler::Entry*
BucketScheduler::Peek()
{
    if (IsNowEmpty())
    {
        if (m_size == 0)
        {
            return nullptr;
        }
        Advance();
    }
    return &FindFirst();
}

const BucketScheduler::Entry*
BucketScheduler::PeekBefore(uint64_t time)
{
    if (IsNowEmpty())
    {
        if (m_size == 0 || FindNext() << m_shift >= time)
        {
            return nullptr;
        }
        Advance();
    }
    const Entry& first = FindFirst();
    return first.time < time ? &first : nullptr;
}

uint64_t
BucketScheduler::GetEarliestTime() const
{
    if (m_size == 0)
    {
        return std::numeric_limits<uint64_t>::max();
    }
    if (IsNowEmpty())
    {
        return FindNext() << m_shift;
    }
    return std::min(m_now.empty() ? std::numeric_limits<uint64_t>::max() : m_now.back().time,
                    m_added.empty() ? std::numeric_limits<uint64_t>::max() : m_added.front().time);
}

void
BucketScheduler::Pop()
{
    if (m_isFirstAdded)
    {
        std::pop_heap(m_added.begin(), m_added.end(), Later());
        m_added.pop_back();
    }
    else
    {
        m_now.pop_back();
    }
    m_size--;
    if (Frame::IsSimulationRunning())
    {
        Prefetch();
    }
}

void
BucketScheduler::PrefetchEvents() const
{
    for (const Entry& entry : m_now)
    {
        __builtin_prefetch(entry.impl, 1);
        if (!entry.IsArrival()) // most likely the event of a port
        {
            __builtin_prefetch(reinterpret_cast<const char*>(entry.impl) + 64, 1);
        }
    }
}

void
BucketScheduler::Prefetch() const
{
    const std::size_t left = m_now.size();
    if (left >= FAR)
    {
        EventImpl& event = *m_now[left - FAR].impl;
        if (m_now[left - FAR].IsArrival())
        {
            static_cast<Frame&>(event).port->PrefetchSelf();
        }
        else if (&typeid(event) == &typeid(FabricPort))
        {
            static_cast<FabricPort&>(event).PrefetchQueue();
        }
    }
    if (left >= MIDDLE)
    {
        EventImpl& event = *m_now[left - MIDDLE].impl;
        if (m_now[left - MIDDLE].IsArrival())
        {
            auto& frame = static_cast<Frame&>(event);
            frame.port->GetOwner().Prefetch(frame);
        }
        else if (&typeid(event) == &typeid(FabricPort))
        {
            static_cast<FabricPort&>(event).PrefetchHead();
        }
    }
    if (left >= NEAR && m_now[left - NEAR].IsArrival())
    {
        auto& frame = static_cast<Frame&>(*m_now[left - NEAR].impl);
        if (const FabricPort* egress = frame.port->GetOwner().PrefetchSoon(frame))
        {
            egress->PrefetchSend(frame.priority);
        }
    }
}

uint64_t
BucketScheduler::FindNext() const
{
    // Visit the slots in time order: circularly from the slot after the current bucket.
    const uint64_t first = (m_current + 1) % BUCKETS;
    for (uint64_t i = 0; i <= m_occupied.size(); i++)
    {
        const uint64_t word = (first / 64 + i) % m_occupied.size();
        uint64_t bits = m_occupied[word];
        if (i == 0)
        {
            bits &= ~uint64_t{0} << first % 64;
        }
        else if (i == m_occupied.size())
        {
            bits &= ~(~uint64_t{0} << first % 64);
        }
        if (bits)
        {
            const uint64_t slot = word * 64 + __builtin_ctzll(bits);
            return m_current + 1 + (slot - first + BUCKETS) % BUCKETS;
        }
    }
    return m_far.front().time >> m_shift;
}

void
BucketScheduler::Advance()
{
    if (++m_advances == ADAPT_INTERVAL)
    {
        AdaptWidth();
        if (!IsNowEmpty())
        {
            return; // the buckets became wider: the next events are now in the current bucket
        }
    }
    m_current = FindNext();
    const uint64_t slot = m_current % BUCKETS;
    m_now.swap(m_buckets[slot]);
    if (m_buckets[slot].capacity() > 0)
    {
        m_spare.emplace_back(std::move(m_buckets[slot]));
    }
    m_occupied[slot / 64] &= ~(uint64_t{1} << slot % 64);
    while (!m_far.empty() && m_far.front().time >> m_shift < m_current + BUCKETS)
    {
        const Entry entry = m_far.front();
        std::pop_heap(m_far.begin(), m_far.end(), Later());
        m_far.pop_back();
        if (entry.time >> m_shift == m_current)
        {
            m_now.push_back(entry);
        }
        else
        {
            Insert(entry);
        }
    }
    PrefetchEvents();
    boost::sort::pdqsort_branchless(m_now.begin(), m_now.end(), Later());
    m_handed += m_now.size();
}

void
BucketScheduler::AdaptWidth()
{
    if (m_handed > MAX_EVENTS * m_advances && m_shift > NARROWEST)
    {
        ChangeWidth(m_shift - 1);
    }
    else if (m_handed < MIN_EVENTS * m_advances && m_shift < WIDEST)
    {
        ChangeWidth(m_shift + 1);
    }
    m_advances = 0;
    m_handed = 0;
}

void
BucketScheduler::ChangeWidth(uint32_t shift)
{
    NS_LOG_LOGIC("buckets of 2^" << shift << " time steps");
    // The remaining events are in or after the current bucket.
    m_current = !IsNowEmpty()     ? GetEarliestTime() >> shift
                : shift > m_shift ? m_current >> (shift - m_shift)
                                  : ((m_current + 1) << (m_shift - shift)) - 1;
    m_shift = shift;
    for (const Entry& entry : TakeAll())
    {
        Insert(entry);
    }
}

BucketScheduler::Bucket
BucketScheduler::TakeAll()
{
    Bucket all;
    all.swap(m_now);
    all.insert(all.end(), m_added.begin(), m_added.end());
    m_added.clear();
    all.insert(all.end(), m_far.begin(), m_far.end());
    m_far.clear();
    for (Bucket& bucket : m_buckets)
    {
        all.insert(all.end(), bucket.begin(), bucket.end());
        bucket.clear();
    }
    m_occupied.fill(0);
    return all;
}

std::vector<Entry>
BucketScheduler::GetEntries() const
{
    std::vector<Entry> all = m_now;
    all.insert(all.end(), m_added.begin(), m_added.end());
    all.insert(all.end(), m_far.begin(), m_far.end());
    for (const Bucket& bucket : m_buckets)
    {
        all.insert(all.end(), bucket.begin(), bucket.end());
    }
    return all;
}

void
BucketScheduler::Delay(const EventFilter& moves, uint64_t delay)
{
    for (Entry entry : TakeAll())
    {
        entry.time += moves(*entry.impl) ? delay : 0;
        Insert(entry);
    }
}

void
BucketScheduler::Remove(const Event& ev)
{
    const uint64_t order = Entry::From(ev).order;
    const auto erase = [&](Bucket& entries) {
        const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) {
            return entry.time == ev.key.m_ts && entry.order == order;
        });
        if (found == entries.end())
        {
            return false;
        }
        entries.erase(found); // preserves the order, which m_now requires
        return true;
    };
    const uint64_t slot = (ev.key.m_ts >> m_shift) % BUCKETS;
    if (erase(m_now))
    {
        m_size--;
    }
    else if (erase(m_added))
    {
        m_size--;
        std::make_heap(m_added.begin(), m_added.end(), Later());
    }
    else if (erase(m_buckets[slot]))
    {
        m_size--;
        if (m_buckets[slot].empty())
        {
            m_occupied[slot / 64] &= ~(uint64_t{1} << slot % 64);
        }
    }
    else if (erase(m_far))
    {
        m_size--;
        std::make_heap(m_far.begin(), m_far.end(), Later());
    }
}

} // namespace ns3::training
