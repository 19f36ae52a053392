/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "steady-state.h"

#include "window-simulator-impl.h"

#include "ns3/assert.h"
#include "ns3/host-device.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/switch-device.h"
#include "ns3/training-event-kinds.h"
#include "ns3/training-mix-bits.h"

#include <algorithm>
#include <limits>
#include <typeinfo>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingSteadyState");

namespace
{

/// Number of looks in a row: longer periods are not found.
constexpr std::size_t LOOKS = 32;
/// Limit of the periods that pass between two such rows, as power of two.
constexpr uint64_t MOST_DOUBLINGS = 12;

bool
IsOfNetwork(const EventImpl& event)
{
    return typeid(event) == typeid(Frame) || typeid(event) == typeid(FabricPort);
}

/** @return a hash of an event of the network, without its sequence number */
uint64_t
HashEvent(const BucketScheduler::Entry& entry, uint64_t now)
{
    uint64_t hash = MixBits(entry.time - now);
    if (typeid(*entry.impl) == typeid(FabricPort))
    {
        const auto& port = static_cast<const FabricPort&>(*entry.impl);
        return MixBits(hash ^ (uint64_t{port.GetNodeId()} << 16 | port.GetIndex()));
    }
    const auto& frame = static_cast<const Frame&>(*entry.impl);
    hash = MixBits(hash ^ entry.order ^ uint64_t{frame.bytes} << 32);
    return MixBits(hash ^ (uint64_t{frame.destinationQp} << 32 | uint64_t{frame.opcode} << 8 |
                           frame.ackRequest));
}

} // namespace

SteadyState::SteadyState(Fabric& fabric)
    : m_fabric(fabric)
{
    for (const auto& device : m_fabric.devices)
    {
        device->GetPort().SetSteadyWatch(this);
    }
}

SteadyState::~SteadyState()
{
    m_look.Cancel();
    for (const auto& device : m_fabric.devices)
    {
        device->GetPort().SetSteadyWatch(nullptr);
    }
}

void
SteadyState::OnLongMessage(LongMessageSource& source, uint32_t flow)
{
    m_flows.push_front({&source, flow});
    if (m_flows.size() == 1 || !IsLong(m_flows.back()))
    {
        WatchNext();
    }
}

bool
SteadyState::IsLong(const Flow& flow)
{
    return flow.first->IsLong(flow.second);
}

void
SteadyState::WatchNext()
{
    while (!m_flows.empty() && !IsLong(m_flows.back()))
    {
        m_flows.back().first->ReportPeriods(m_flows.back().second, false);
        m_flows.pop_back();
    }
    if (!m_flows.empty())
    {
        m_flows.back().first->ReportPeriods(m_flows.back().second, true);
    }
    m_hashes.clear();
    m_hashOfBefore.reset();
}

void
SteadyState::OnPeriod()
{
    if (m_wait > 0)
    {
        m_wait--;
    }
    else if (m_look.IsExpired())
    {
        const auto look = Create<BystanderCall<SteadyState>>(&SteadyState::Look, this);
        m_look = Simulator::Schedule(Time(0), Ptr<EventImpl>(look));
    }
}

SteadyState::Events
SteadyState::ListEvents(uint64_t now) const
{
    Events events;
    const WindowSimulatorImpl* loop = WindowSimulatorImpl::GetCurrent();
    for (const BucketScheduler::Entry& entry :
         loop ? loop->GetEntries() : BucketScheduler::GetCurrent()->GetEntries())
    {
        if (IsOfNetwork(*entry.impl))
        {
            events.ofNetwork.push_back(entry);
            events.hash += HashEvent(entry, now);
        }
        else if (entry.time < events.nextOther && !entry.impl->IsCancelled() &&
                 !dynamic_cast<BystanderEvent*>(entry.impl))
        {
            events.nextOther = entry.time;
        }
    }
    return events;
}

void
SteadyState::Look()
{
    if (m_flows.empty() || !IsLong(m_flows.back()))
    {
        WatchNext();
        return;
    }
    WindowSimulatorImpl::Synchronize();
    const auto now = static_cast<uint64_t>(Simulator::Now().GetTimeStep());
    Events events = ListEvents(now);
    // If not only the network has acted since, this is a period only if it was as those before.
    const bool isAlone = now < m_otherOfBefore;
    if (!isAlone && now - static_cast<uint64_t>(m_before.GetTime()) != m_period)
    {
        m_hashOfBefore.reset();
    }
    if (m_hashOfBefore == events.hash)
    {
        BucketScheduler::Sort(events.ofNetwork);
        m_after.Restart(static_cast<int64_t>(now));
        Visit(m_after, events);
        if (Skip(events, !isAlone))
        {
            m_failures = 0;
            m_hashes.clear();
            return;
        }
        std::swap(m_before, m_after);
        m_otherOfBefore = events.nextOther;
    }
    else if (m_failures == 0 ||
             std::find(m_hashes.begin(), m_hashes.end(), events.hash) != m_hashes.end())
    {
        m_hashOfBefore = events.hash;
        m_otherOfBefore = events.nextOther;
        m_period = 0;
        BucketScheduler::Sort(events.ofNetwork);
        m_before.Restart(static_cast<int64_t>(now));
        Visit(m_before, events);
    }
    m_hashes.push_back(events.hash);
    if (m_hashes.size() == LOOKS)
    {
        m_wait = LOOKS << std::min(m_failures++, MOST_DOUBLINGS);
        m_hashes.clear();
        m_hashOfBefore.reset();
    }
}

void
SteadyState::Visit(StateVisitor& visitor, const Events& events) const
{
    const auto now = static_cast<uint64_t>(visitor.GetTime());
    for (const BucketScheduler::Entry& entry : events.ofNetwork)
    {
        visitor.Same(entry.time - now);
        if (typeid(*entry.impl) == typeid(FabricPort))
        {
            const auto& port = static_cast<const FabricPort&>(*entry.impl);
            visitor.Same(uint64_t{port.GetNodeId()} << 16 | port.GetIndex());
        }
        else
        {
            visitor.Same(entry.order);
            static_cast<Frame*>(entry.impl)->Visit(visitor);
        }
    }
    for (const auto& device : m_fabric.devices)
    {
        device->Visit(visitor);
    }
    for (const auto& device : m_fabric.devicesOfSwitches)
    {
        device->Visit(visitor);
    }
}

bool
SteadyState::Skip(const Events& events, bool likeBefore)
{
    uint64_t periods = StateVisitor::GetPeriods(m_before, m_after, likeBefore);
    const auto period = static_cast<uint64_t>(m_after.GetTime() - m_before.GetTime());
    NS_ASSERT_MSG(period > 0 || periods == 0, "acknowledgements take time");
    uint64_t nextOther = events.nextOther;
    if (periods > 0)
    {
        nextOther = std::min(nextOther, StateVisitor::GetDeadline(m_before, m_after));
    }
    if (period > 0 && nextOther != StateVisitor::NONE)
    {
        // All that the network has scheduled lies before the other event, so no tie is new.
        const uint64_t last = events.ofNetwork.back().time;
        const uint64_t free = nextOther > last ? nextOther - 1 - last : 0;
        periods = std::min(periods, free / period);
    }
    if (periods == 0 || periods == StateVisitor::NONE)
    {
        m_period = 0;
        return false;
    }
    m_period = period;
    NS_LOG_LOGIC("skips " << periods << " periods of " << period << " ps");
    const uint64_t hops = m_fabric.GetPacketHops();
    StateVisitor later(m_before, m_after, periods);
    Visit(later, events);
    if (WindowSimulatorImpl* loop = WindowSimulatorImpl::GetCurrent())
    {
        loop->Delay(&IsOfNetwork, periods * period);
    }
    else
    {
        BucketScheduler::GetCurrent()->Delay(&IsOfNetwork, periods * period);
    }
    m_fabric.skippedHops += m_fabric.GetPacketHops() - hops;
    m_skips++;
    // The state one period before the next look, unless something happens until then.
    m_after.Advance(m_before, periods);
    std::swap(m_before, m_after);
    m_otherOfBefore = events.nextOther;
    return true;
}

} // namespace ns3::training
