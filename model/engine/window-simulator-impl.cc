/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "engine/window-simulator-impl.h"

#include "bucket-scheduler.h"

#include "ns3/abort.h"
#include "ns3/assert.h"
#include "ns3/boolean.h"
#include "ns3/global-value.h"
#include "ns3/host-device.h"
#include "ns3/log.h"
#include "ns3/node-list.h"
#include "ns3/node.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/switch-device.h"
#include "ns3/training-event-loop.h"
#include "ns3/training-processes.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <typeinfo>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingWindowSimulator");
NS_OBJECT_ENSURE_REGISTERED(WindowSimulatorImpl);

namespace
{

/// Shortest lookahead of a node that takes part, time steps. A shorter window holds few events of a
/// node, and costs more than it saves.
constexpr uint64_t SHORTEST = 100000;

// UIDs of events at the end of a simulation, and of the first other one: ns-3.35 has no names.
constexpr uint32_t DESTROY_UID = 2;
constexpr uint32_t FIRST_UID = 4;

/** @return shortest time between an event at one end of a link and one at the other, time steps */
uint64_t
GetLookahead(const FabricPort& port)
{
    // AddLatency() only adds to it, and the line adds the time of a frame.
    const int64_t back = port.GetPeer() ? port.GetPeer()->GetDelay().GetTimeStep() : 0;
    return static_cast<uint64_t>(std::min(port.GetDelay().GetTimeStep(), back));
}

/** A node that may take part. */
struct Candidate
{
    WindowNode node;
    uint64_t lookahead{EventWindows::MAX_LENGTH}; // to its neighbors, time steps
};

/** @return a node with a switch that nobody observes, or an empty optional */
std::optional<Candidate>
FindSwitch(const Node& node)
{
    const auto device = node.GetObject<SwitchDevice>();
    if (!device || node.GetNDevices() > 0 || node.GetNApplications() > 0 || !device->IsUnobserved())
    {
        return std::nullopt;
    }
    Candidate found{{node.GetId(), {}}};
    for (uint16_t i = 0; i < device->GetNPorts(); i++)
    {
        found.lookahead = std::min(found.lookahead, GetLookahead(device->GetPort(i)));
    }
    return found;
}

/** @return a host all of whose ports have RDMA engines that nobody observes */
std::optional<Candidate>
FindHost(const Node& node)
{
    Candidate found{{node.GetId(), {}}};
    for (uint32_t i = 0; i < node.GetNDevices(); i++)
    {
        const auto device = DynamicCast<HostDevice>(node.GetDevice(i));
        if (!device || !device->IsUnobserved())
        {
            return std::nullopt;
        }
        found.node.devices.push_back(PeekPointer(device));
        found.lookahead = std::min(found.lookahead, GetLookahead(device->GetPort()));
    }
    return found.node.devices.empty() || node.GetObject<SwitchDevice>() ? std::nullopt
                                                                        : std::optional(found);
}

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
    : m_uid(FIRST_UID),
      m_windows(m_current,
                [this](uint64_t time, uint32_t context, uint32_t uid, EventImpl* impl) {
                    InsertInOrder(time, context, uid, impl);
                }),
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
    m_exchange = std::move(exchange);
    m_lookAhead = static_cast<uint64_t>(lookAhead.GetTimeStep());
}

void
WindowSimulatorImpl::DoDispose()
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
    const auto scheduler = schedulerFactory.Create<Scheduler>();
    DrainWindows();
    while (m_events && !m_events->IsEmpty())
    {
        scheduler->Insert(TakeNext());
    }
    m_events = scheduler;
    m_buckets = dynamic_cast<BucketScheduler*>(PeekPointer(scheduler));
}

Scheduler::Event
WindowSimulatorImpl::TakeNext()
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

std::size_t
WindowSimulatorImpl::GetNNodes() const
{
    return m_windows.GetNodes().size();
}

Time
WindowSimulatorImpl::GetWindow() const
{
    return TimeStep(GetNNodes() > 0 ? m_windows.GetLength() : 0);
}

inline void
WindowSimulatorImpl::Insert(uint64_t time, uint32_t context, uint32_t uid, EventImpl* impl)
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
WindowSimulatorImpl::InsertInOrder(uint64_t time, uint32_t context, uint32_t uid, EventImpl* impl)
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
WindowSimulatorImpl::ScheduleFor(void* self, uint32_t context, uint64_t time, EventImpl* impl)
{
    static_cast<WindowSimulatorImpl*>(self)->InsertNew(time, context, impl);
}

inline uint32_t
WindowSimulatorImpl::InsertNew(uint64_t time, uint32_t context, EventImpl* impl)
{
    if (EventLoop::IsBehind() && m_windows.Has(context) && &typeid(*impl) != &typeid(Frame))
    {
        CatchUpNow(context); // simultaneous events of a node are executed in the order of uids
    }
    const uint32_t uid = m_uid++;
    Insert(time, context, uid, impl);
    return uid;
}

void
WindowSimulatorImpl::DrainWindows()
{
    m_windows.Recover();
    m_windows.Drain();
    m_windows.SetNodes({}, 1, m_current.time);
}

void
WindowSimulatorImpl::ChooseNodes()
{
    m_choosesAgain = false;
    const bool allows = m_usesWindows && m_buckets && m_lookAhead >= SHORTEST;
    std::vector<WindowNode> nodes;
    uint64_t length = std::min(EventWindows::MAX_LENGTH, m_lookAhead);
    for (const auto find : {&FindSwitch, &FindHost})
    {
        for (auto i = NodeList::Begin(); allows && i != NodeList::End(); ++i)
        {
            const Node& node = **i;
            const auto found = node.GetSystemId() == GetSystemId() ? find(node) : std::nullopt;
            if (found && found->lookahead >= SHORTEST)
            {
                nodes.push_back(found->node);
                length = std::min(length, found->lookahead);
            }
        }
    }
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
        Insert(event.key.m_ts, event.key.m_context, event.key.m_uid, event.impl);
    }
}

void
WindowSimulatorImpl::TakeForeignEvents()
{
    if (!m_hasForeignEvents.load(std::memory_order_acquire))
    {
        return;
    }
    std::vector<ForeignEvent> events;
    {
        const std::lock_guard lock(m_foreignMutex);
        events.swap(m_foreignEvents);
        m_hasForeignEvents = false;
    }
    for (const ForeignEvent& event : events)
    {
        InsertNew(m_current.time + event.delay, event.context, event.impl);
    }
}

inline void
WindowSimulatorImpl::Execute(uint64_t time, uint32_t context, uint32_t uid, EventImpl* impl)
{
    m_executed++;
    m_size--;
    m_current = {time, uid, context};
    impl->Invoke();
    impl->Unref();
}

uint64_t
WindowSimulatorImpl::GetEarliestTime() const
{
    if (m_buckets)
    {
        return std::min(m_buckets->GetEarliestTime(), m_windows.GetEarliestTime());
    }
    return m_events->IsEmpty() ? NEVER : m_events->PeekNext().key.m_ts;
}

bool
WindowSimulatorImpl::BeginRound()
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
WindowSimulatorImpl::HasEventInRound() const
{
    if (m_events->IsEmpty() || m_roundEnd == NEVER)
    {
        return !m_events->IsEmpty();
    }
    return m_buckets ? m_buckets->PeekBefore(m_roundEnd) != nullptr
                     : m_events->PeekNext().key.m_ts < m_roundEnd;
}

void
WindowSimulatorImpl::RunInOrder()
{
    while (!m_stop && HasEventInRound())
    {
        const Scheduler::Event next = m_events->RemoveNext();
        Execute(next.key.m_ts, next.key.m_context, next.key.m_uid, next.impl);
        TakeForeignEvents();
    }
}

void
WindowSimulatorImpl::ExecuteOthers()
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
WindowSimulatorImpl::RunInWindows()
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
            SynchronizeNow();
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
WindowSimulatorImpl::Run()
{
    m_mainThread = std::this_thread::get_id();
    TakeForeignEvents();
    m_stop = false;
    ChooseNodes();
    m_windows.OrderAll(); // the caller may have acted on anything
    EventLoop::Set(&m_current.time,
                   this,
                   &WindowSimulatorImpl::ScheduleFor,
                   &WindowSimulatorImpl::CatchUp,
                   &WindowSimulatorImpl::OnSink);
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
WindowSimulatorImpl::SynchronizeNow()
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
WindowSimulatorImpl::CatchUpNow(uint32_t node)
{
    if (!m_windows.IsHost(node))
    {
        SynchronizeNow();
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
WindowSimulatorImpl::CatchUp(void* self, uint32_t node)
{
    auto& loop = *static_cast<WindowSimulatorImpl*>(self);
    if (loop.m_windows.Has(node))
    {
        loop.CatchUpNow(node);
    }
}

void
WindowSimulatorImpl::OnSink(void* self)
{
    auto& loop = *static_cast<WindowSimulatorImpl*>(self);
    loop.SynchronizeNow();
    loop.m_choosesAgain = true;
}

WindowSimulatorImpl*
WindowSimulatorImpl::GetCurrent()
{
    return dynamic_cast<WindowSimulatorImpl*>(PeekPointer(Simulator::GetImplementation()));
}

std::vector<BucketScheduler::Entry>
WindowSimulatorImpl::GetEntries() const
{
    std::vector<BucketScheduler::Entry> entries = m_buckets->GetEntries();
    if (m_windows.GetSize() > 0)
    {
        m_windows.AddEntries(entries);
    }
    return entries;
}

void
WindowSimulatorImpl::Delay(bool (*moves)(const EventImpl& event), uint64_t delay)
{
    m_buckets->Delay(moves, delay);
    m_windows.Delay(moves, delay);
}

void
WindowSimulatorImpl::Synchronize()
{
    if (WindowSimulatorImpl* loop = GetCurrent())
    {
        loop->SynchronizeNow();
    }
}

bool
WindowSimulatorImpl::IsFinished() const
{
    return m_stop || (m_size == 0 && m_windows.GetSize() == 0);
}

void
WindowSimulatorImpl::Stop()
{
    m_stop = true; // nothing else, as signal handlers may call it
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
    const uint64_t time = m_current.time + static_cast<uint64_t>(delay.GetTimeStep());
    const uint32_t uid = InsertNew(time, m_current.context, event);
    return EventId(event, time, m_current.context, uid);
}

void
WindowSimulatorImpl::ScheduleWithContext(uint32_t context, const Time& delay, EventImpl* event)
{
    if (m_mainThread == std::this_thread::get_id())
    {
        NS_ASSERT_MSG(!delay.IsStrictlyNegative(), "negative delay");
        const uint64_t time = m_current.time + static_cast<uint64_t>(delay.GetTimeStep());
        InsertNew(time, context, event);
        return;
    }
    const std::lock_guard lock(m_foreignMutex);
    m_foreignEvents.push_back({context, static_cast<uint64_t>(delay.GetTimeStep()), event});
    m_hasForeignEvents.store(true, std::memory_order_release);
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
                     m_current.time,
                     Simulator::NO_CONTEXT,
                     DESTROY_UID);
    m_destroyEvents.push_back(id);
    m_uid++;
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
    if (IsExpired(id))
    {
        return;
    }
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
    return id.GetTs() < m_current.time ||
           (id.GetTs() == m_current.time && id.GetUid() <= m_current.uid);
}

Time
WindowSimulatorImpl::Now() const
{
    return TimeStep(m_current.time);
}

Time
WindowSimulatorImpl::GetDelayLeft(const EventId& id) const
{
    return TimeStep(IsExpired(id) ? 0 : id.GetTs() - m_current.time);
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
    return m_current.context;
}

uint64_t
WindowSimulatorImpl::GetEventCount() const
{
    return m_executed + m_windows.GetExecuted();
}

} // namespace ns3::training
