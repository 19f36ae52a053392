/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "engine/window-simulator-impl.h"

#include "ns3/assert.h"
#include "ns3/boolean.h"
#include "ns3/global-value.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/training-processes.h"

#include <algorithm>

namespace ns3::training
{

NS_OBJECT_ENSURE_REGISTERED(WindowSimulatorImpl);

namespace
{

// UIDs of events at the end of a simulation, and of the first other one: ns-3.35 has no names.
constexpr uint32_t DESTROY_UID = 2;
constexpr uint32_t FIRST_UID = 4;

} // namespace

TypeId
WindowSimulatorImpl::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::training::WindowSimulatorImpl")
            .SetParent<SimulatorImpl>()
            .SetGroupName("DistributedTraining")
            .AddConstructor<WindowSimulatorImpl>()
            .AddAttribute("Windows",
                          "Whether switches execute their events in windows, one switch after "
                          "another, which is faster and has the same results",
                          BooleanValue(true),
                          MakeBooleanAccessor(&WindowSimulatorImpl::m_usesWindows),
                          MakeBooleanChecker());
    return tid;
}

WindowSimulatorImpl::WindowSimulatorImpl()
    : m_loop(FIRST_UID),
      m_mainThread(std::this_thread::get_id())
{
}

WindowSimulatorImpl::~WindowSimulatorImpl() = default;

void
WindowSimulatorImpl::UseByDefault()
{
    GlobalValue::Bind("SimulatorImplementationType", StringValue(GetTypeId().GetName()));
}

void
WindowSimulatorImpl::SetRounds(Exchange exchange, Time lookAhead)
{
    NS_ASSERT_MSG(lookAhead.IsStrictlyPositive(), "rounds without a length");
    m_loop.SetRounds(std::move(exchange), static_cast<uint64_t>(lookAhead.GetTimeStep()));
}

void
WindowSimulatorImpl::DoDispose()
{
    m_loop.Clear();
    SimulatorImpl::DoDispose();
}

void
WindowSimulatorImpl::Destroy()
{
    while (!m_destroyEvents.empty())
    {
        const EventId event = m_destroyEvents.front();
        m_destroyEvents.pop_front();
        if (!event.PeekEventImpl()->IsCancelled())
        {
            event.PeekEventImpl()->Invoke();
        }
    }
}

void
WindowSimulatorImpl::SetScheduler(ObjectFactory schedulerFactory)
{
    m_loop.SetScheduler(schedulerFactory.Create<Scheduler>());
}

std::size_t
WindowSimulatorImpl::GetNNodes() const
{
    return m_loop.GetNNodes();
}

Time
WindowSimulatorImpl::GetWindow() const
{
    return TimeStep(m_loop.GetWindow());
}

void
WindowSimulatorImpl::Run()
{
    m_mainThread = std::this_thread::get_id();
    m_loop.Run(m_usesWindows);
}

WindowSimulatorImpl*
WindowSimulatorImpl::GetCurrent()
{
    return dynamic_cast<WindowSimulatorImpl*>(PeekPointer(Simulator::GetImplementation()));
}

std::vector<BucketScheduler::Entry>
WindowSimulatorImpl::GetEntries() const
{
    return m_loop.GetEntries();
}

void
WindowSimulatorImpl::Delay(const EventFilter& moves, uint64_t delay)
{
    m_loop.Delay(moves, delay);
}

void
WindowSimulatorImpl::Synchronize()
{
    if (WindowSimulatorImpl* loop = GetCurrent())
    {
        loop->m_loop.Synchronize();
    }
}

bool
WindowSimulatorImpl::IsFinished() const
{
    return m_loop.IsFinished();
}

void
WindowSimulatorImpl::Stop()
{
    m_loop.Stop();
}

WindowSimulatorImpl::StopResult
WindowSimulatorImpl::Stop(const Time& delay)
{
    return static_cast<StopResult>(Simulator::Schedule(delay, &Simulator::Stop));
}

EventId
WindowSimulatorImpl::Schedule(const Time& delay, EventImpl* event)
{
    NS_ASSERT_MSG(m_mainThread == std::this_thread::get_id(), "Schedule() in another thread");
    NS_ASSERT_MSG(!delay.IsStrictlyNegative(), "negative delay");
    const uint64_t time = m_loop.GetCurrent().time + static_cast<uint64_t>(delay.GetTimeStep());
    const uint32_t context = m_loop.GetCurrent().context;
    const uint32_t uid = m_loop.Insert(time, context, event);
    return EventId(event, time, context, uid);
}

void
WindowSimulatorImpl::ScheduleWithContext(uint32_t context, const Time& delay, EventImpl* event)
{
    if (m_mainThread == std::this_thread::get_id())
    {
        NS_ASSERT_MSG(!delay.IsStrictlyNegative(), "negative delay");
        const uint64_t time = m_loop.GetCurrent().time + static_cast<uint64_t>(delay.GetTimeStep());
        m_loop.Insert(time, context, event);
        return;
    }
    m_loop.GetForeign().Add({context, static_cast<uint64_t>(delay.GetTimeStep()), event});
}

EventId
WindowSimulatorImpl::ScheduleNow(EventImpl* event)
{
    return Schedule(TimeStep(0), event);
}

EventId
WindowSimulatorImpl::ScheduleDestroy(EventImpl* event)
{
    const EventId id(Ptr<EventImpl>(event, false),
                     m_loop.GetCurrent().time,
                     Simulator::NO_CONTEXT,
                     DESTROY_UID);
    m_destroyEvents.push_back(id);
    m_loop.SkipUid();
    return id;
}

void
WindowSimulatorImpl::Remove(const EventId& id)
{
    if (id.GetUid() == DESTROY_UID)
    {
        const auto found = std::find(m_destroyEvents.begin(), m_destroyEvents.end(), id);
        if (found != m_destroyEvents.end())
        {
            m_destroyEvents.erase(found);
        }
        return;
    }
    if (!IsExpired(id))
    {
        m_loop.Remove(id);
    }
}

void
WindowSimulatorImpl::Cancel(const EventId& id)
{
    if (!IsExpired(id))
    {
        id.PeekEventImpl()->Cancel();
    }
}

bool
WindowSimulatorImpl::IsExpired(const EventId& id) const
{
    if (id.PeekEventImpl() == nullptr || id.PeekEventImpl()->IsCancelled())
    {
        return true;
    }
    if (id.GetUid() == DESTROY_UID)
    {
        return std::find(m_destroyEvents.begin(), m_destroyEvents.end(), id) ==
               m_destroyEvents.end();
    }
    const CurrentEvent& current = m_loop.GetCurrent();
    return id.GetTs() < current.time || (id.GetTs() == current.time && id.GetUid() <= current.uid);
}

Time
WindowSimulatorImpl::Now() const
{
    return TimeStep(m_loop.GetCurrent().time);
}

Time
WindowSimulatorImpl::GetDelayLeft(const EventId& id) const
{
    return TimeStep(IsExpired(id) ? 0 : id.GetTs() - m_loop.GetCurrent().time);
}

Time
WindowSimulatorImpl::GetMaximumSimulationTime() const
{
    return TimeStep(0x7fffffffffffffffLL);
}

uint32_t
WindowSimulatorImpl::GetSystemId() const
{
    return Processes::GetId();
}

uint32_t
WindowSimulatorImpl::GetContext() const
{
    return m_loop.GetCurrent().context;
}

uint64_t
WindowSimulatorImpl::GetEventCount() const
{
    return m_loop.GetExecuted();
}

} // namespace ns3::training
