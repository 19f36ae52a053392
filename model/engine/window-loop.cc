/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "engine/window-loop.h"

#include "engine/window-nodes.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/training-event-loop.h"

#include <algorithm>
#include <tuple>
#include <typeinfo>
#include <utility>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingWindowLoop");

WindowLoop::WindowLoop(uint32_t uid)
    : m_uid(uid),
      m_windows(m_current,
                [this](uint64_t time, uint32_t context, uint32_t itsUid, EventImpl* impl) {
                    InsertInOrder(time, context, itsUid, impl);
                })
{
}

void
WindowLoop::SetRounds(Exchange exchange, uint64_t lookAhead)
{
    m_exchange = std::move(exchange);
    m_lookAhead = lookAhead;
}

void
WindowLoop::SetScheduler(Ptr<Scheduler> scheduler)
{
    DrainWindows();
    while (m_events && !m_events->IsEmpty())
    {
        scheduler->Insert(TakeNext());
    }
    m_events = scheduler;
    m_buckets = dynamic_cast<BucketScheduler*>(PeekPointer(scheduler));
}

void
WindowLoop::Clear()
{
    if (m_events)
    {
        TakeForeignEvents();
        DrainWindows();
        while (!m_events->IsEmpty())
        {
            m_events->RemoveNext().impl->Unref();
        }
    }
    m_events = nullptr;
    m_buckets = nullptr;
}

Scheduler::Event
WindowLoop::TakeNext()
{
    // BucketScheduler does not return the uid of a frame, but the frame knows it.
    const uint32_t uid = m_buckets ? m_buckets->Peek()->GetInsertionUid() : 0;
    Scheduler::Event event = m_events->RemoveNext();
    if (m_buckets)
    {
        event.key.m_uid = uid;
    }
    return event;
}

inline void
WindowLoop::Place(uint64_t time, uint32_t context, uint32_t uid, EventImpl* impl)
{
    if (m_windows.Has(context) && m_windows.Insert(time, context, uid, impl))
    {
        return;
    }
    NS_ABORT_MSG_IF(m_windows.IsExecuting() && time < m_windows.GetEnd(),
                    "an event of the switch of node "
                        << m_current.context << " schedules one of node " << context
                        << " earlier than the delay of its links; the attribute Windows of "
                           "WindowSimulatorImpl set to false allows it");
    InsertInOrder(time, context, uid, impl);
}

void
WindowLoop::InsertInOrder(uint64_t time, uint32_t context, uint32_t uid, EventImpl* impl)
{
    Scheduler::Event event;
    event.impl = impl;
    event.key.m_ts = time;
    event.key.m_context = context;
    event.key.m_uid = uid;
    m_size++;
    if (m_buckets)
    {
        m_buckets->BucketScheduler::Insert(event);
    }
    else
    {
        m_events->Insert(event);
    }
}

void
WindowLoop::ScheduleFor(void* self, uint32_t context, uint64_t time, EventImpl* impl)
{
    static_cast<WindowLoop*>(self)->Insert(time, context, impl);
}

uint32_t
WindowLoop::Insert(uint64_t time, uint32_t context, EventImpl* impl)
{
    if (EventLoop::IsBehind() && m_windows.Has(context) && &typeid(*impl) != &typeid(Frame))
    {
        CatchUpNow(context); // simultaneous events of a node are executed in the order of uids
    }
    const uint32_t uid = m_uid++;
    Place(time, context, uid, impl);
    return uid;
}

void
WindowLoop::Remove(const EventId& id)
{
    EventImpl* impl = id.PeekEventImpl();
    if (!m_windows.Has(id.GetContext()) || !m_windows.Remove(id.GetTs(), id.GetContext(), impl))
    {
        Scheduler::Event event;
        event.impl = impl;
        event.key.m_ts = id.GetTs();
        event.key.m_context = id.GetContext();
        event.key.m_uid = id.GetUid();
        m_events->Remove(event);
        m_size--;
    }
    impl->Cancel();
    impl->Unref(); // that of the event list
}

void
WindowLoop::DrainWindows()
{
    m_windows.Recover();
    m_windows.Drain();
    m_windows.SetNodes({}, 1, m_current.time);
}

void
WindowLoop::ChooseNodes()
{
    m_choosesAgain = false;
    WindowNodes found;
    if (m_usesWindows && m_buckets && m_lookAhead >= SHORTEST_WINDOW)
    {
        found = FindWindowNodes(m_lookAhead);
    }
    auto& [nodes, length] = found;
    if (nodes == m_windows.GetNodes() && (nodes.empty() || length == m_windows.GetLength()))
    {
        return;
    }
    NS_LOG_INFO(nodes.size() << " nodes execute events in windows of " << length << " time steps");
    DrainWindows();
    m_windows.SetNodes(std::move(nodes), length, m_current.time);
    std::vector<Scheduler::Event> events;
    while (!m_events->IsEmpty())
    {
        events.push_back(TakeNext());
    }
    m_size = 0;
    for (const Scheduler::Event& event : events)
    {
        Place(event.key.m_ts, event.key.m_context, event.key.m_uid, event.impl);
    }
}

void
WindowLoop::TakeForeignEvents()
{
    for (const ForeignEvents::Item& event : m_foreign.Take())
    {
        Insert(m_current.time + event.delay, event.context, event.impl);
    }
}

inline void
WindowLoop::Execute(uint64_t time, uint32_t context, uint32_t uid, EventImpl* impl)
{
    m_executed++;
    m_size--;
    m_current = {time, uid, context};
    impl->Invoke();
    impl->Unref();
}

uint64_t
WindowLoop::GetEarliestTime() const
{
    if (m_buckets)
    {
        return std::min(m_buckets->GetEarliestTime(), m_windows.GetEarliestTime());
    }
    return m_events->IsEmpty() ? NEVER : m_events->PeekNext().key.m_ts;
}

bool
WindowLoop::BeginRound()
{
    if (!m_exchange)
    {
        return !IsFinished();
    }
    const uint64_t next = m_exchange(m_stop ? NEVER : GetEarliestTime());
    if (next == NEVER)
    {
        return false;
    }
    m_roundEnd = next + m_lookAhead;
    if (GetNNodes() > 0)
    {
        m_roundEnd -= m_roundEnd % m_windows.GetLength(); // which is no longer than the round
    }
    return true;
}

bool
WindowLoop::HasEventInRound() const
{
    if (m_events->IsEmpty() || m_roundEnd == NEVER)
    {
        return !m_events->IsEmpty();
    }
    return m_buckets ? m_buckets->PeekBefore(m_roundEnd) != nullptr
                     : m_events->PeekNext().key.m_ts < m_roundEnd;
}

void
WindowLoop::RunInOrder()
{
    while (!m_stop && HasEventInRound())
    {
        const Scheduler::Event next = m_events->RemoveNext();
        Execute(next.key.m_ts, next.key.m_context, next.key.m_uid, next.impl);
        TakeForeignEvents();
    }
}

void
WindowLoop::ExecuteOthers()
{
    while (!m_stop && !m_choosesAgain && GetNNodes() > 0) // an event may call SetScheduler()
    {
        auto next = m_buckets->PeekBefore(m_windows.GetEnd());
        if (!next)
        {
            return;
        }
        const uint32_t context = next->GetContext();
        const bool isGlobal = context == Simulator::NO_CONTEXT;
        EventLoop::SetBehind(false);
        if (isGlobal)
        {
            m_windows.ExecuteBefore(next->time, Simulator::NO_CONTEXT);
            m_windows.OrderAll();
        }
        else if (m_windows.Has(context))
        {
            m_windows.Order(context, next->time, next->order);
        }
        const BucketScheduler::Entry entry = *m_buckets->Peek();
        m_buckets->Pop();
        EventLoop::SetBehind(!isGlobal);
        Execute(entry.time, context, entry.GetUid(), entry.impl);
        TakeForeignEvents();
    }
}

void
WindowLoop::RunInWindows()
{
    while (!m_stop && GetNNodes() > 0 && (m_size > 0 || m_windows.GetSize() > 0))
    {
        const uint64_t earliest = GetEarliestTime();
        if (earliest >= m_roundEnd)
        {
            return;
        }
        m_windows.Enter(earliest);
        m_windows.Screen();
        ExecuteOthers();
        if (m_stop)
        {
            Synchronize();
            return;
        }
        EventLoop::SetBehind(false);
        if (m_choosesAgain)
        {
            ChooseNodes();
            continue;
        }
        const CurrentEvent others = m_current;
        m_windows.ExecuteAll();
        // As after the latest event, which may be that of a switch or of another node.
        const CurrentEvent& last = m_windows.GetLast();
        m_current = std::tie(last.time, last.context) > std::tie(others.time, others.context)
                        ? last
                        : others;
        TakeForeignEvents();
    }
}

void
WindowLoop::Run(bool usesWindows)
{
    m_usesWindows = usesWindows;
    TakeForeignEvents();
    m_stop = false;
    ChooseNodes();
    m_windows.OrderAll(); // the caller may have acted on anything
    EventLoop::Set(&m_current.time,
                   this,
                   &WindowLoop::ScheduleFor,
                   &WindowLoop::CatchUp,
                   &WindowLoop::OnSink);
    const auto end = [this] {
        EventLoop::Reset();
        m_windows.Recover();
        m_current.context = Simulator::NO_CONTEXT;
    };
    try
    {
        while (BeginRound())
        {
            GetNNodes() > 0 ? RunInWindows() : RunInOrder();
        }
    }
    catch (...)
    {
        end();
        throw;
    }
    end();
}

void
WindowLoop::Synchronize()
{
    if (EventLoop::IsBehind())
    {
        EventLoop::SetBehind(false);
        const CurrentEvent current = m_current;
        m_windows.ExecuteBefore(current.time, current.context);
        m_windows.OrderAll();
        m_current = current;
    }
}

void
WindowLoop::CatchUpNow(uint32_t node)
{
    if (!m_windows.IsHost(node))
    {
        Synchronize();
    }
    else if (node != m_current.context) // whose events are in order
    {
        EventLoop::SetBehind(false);
        const CurrentEvent current = m_current;
        m_windows.CatchUp(node, current.time, current.context);
        m_current = current;
        EventLoop::SetBehind(true);
    }
}

void
WindowLoop::CatchUp(void* self, uint32_t node)
{
    auto& loop = *static_cast<WindowLoop*>(self);
    if (loop.m_windows.Has(node))
    {
        loop.CatchUpNow(node);
    }
}

void
WindowLoop::OnSink(void* self)
{
    auto& loop = *static_cast<WindowLoop*>(self);
    loop.Synchronize();
    loop.m_choosesAgain = true;
}

std::vector<BucketScheduler::Entry>
WindowLoop::GetEntries() const
{
    std::vector<BucketScheduler::Entry> entries = m_buckets->GetEntries();
    if (m_windows.GetSize() > 0)
    {
        m_windows.AddEntries(entries);
    }
    return entries;
}

void
WindowLoop::Delay(const EventFilter& moves, uint64_t delay)
{
    m_buckets->Delay(moves, delay);
    m_windows.Delay(moves, delay);
}

} // namespace ns3::training
