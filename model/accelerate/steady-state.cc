/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "steady-state.h"

#include "core/event-kinds.h"
#include "engine/window-simulator-impl.h"

#include "ns3/assert.h"
#include "ns3/fatal-error.h"
#include "ns3/host-device.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/switch-device.h"
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

/** @return a number of the port in the network */
uint64_t
GetId(const FabricPort& port)
{
    return uint64_t{port.GetNodeId()} << 16 | port.GetIndex();
}

/** @return a hash of an event of the network, without its sequence number */
uint64_t
HashEvent(const BucketScheduler::Entry& entry, uint64_t now)
{
    uint64_t hash = MixBits(entry.time - now);
    if (typeid(*entry.impl) == typeid(FabricPort))
    {
        return MixBits(hash ^ GetId(static_cast<const FabricPort&>(*entry.impl)));
    }
    const auto& frame = static_cast<const Frame&>(*entry.impl);
    hash = MixBits(hash ^ entry.order ^ uint64_t{frame.bytes} << 32);
    return MixBits(hash ^ (uint64_t{frame.destinationQp} << 32 | uint64_t{frame.opcode} << 8 |
                           frame.ackRequest));
}

} // namespace

SteadyState::SteadyState(Fabric& fabric, bool verifies)
    : m_fabric(fabric),
      m_verifies(verifies)
{
    if (m_verifies)
    {
        m_before.VisitIdle();
        m_after.VisitIdle();
    }
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
    m_isPredicted = false;
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
SteadyState::ListEvents(uint64_t now)
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
    const auto now = static_cast<uint64_t>(Simulator::Now().GetTimeStep());
    if (m_isPredicted && now < static_cast<uint64_t>(m_predicted.GetTime()))
    {
        return;
    }
    WindowSimulatorImpl::Synchronize();
    Events events = ListEvents(now);
    // If not only the network has acted since, this is a period only if it was as those before.
    const bool isAlone = now < m_otherOfBefore;
    if (!isAlone && now - static_cast<uint64_t>(m_before.GetTime()) != m_period)
    {
        m_hashOfBefore.reset();
    }
    if (m_hashOfBefore == events.hash || m_isPredicted)
    {
        QueuedEvent::Sort(events.ofNetwork);
        m_after.Restart(static_cast<int64_t>(now));
        Visit(m_fabric, m_after, events);
        const bool isVerified = m_isPredicted;
        if (isVerified)
        {
            Verify(events);
        }
        const uint64_t periods = GetPeriods(events, !isAlone);
        if (periods > 0)
        {
            if (m_verifies && !isVerified)
            {
                Predict();
                m_otherOfBefore = events.nextOther;
                return;
            }
            Skip(events, periods);
            m_failures = 0;
            m_hashes.clear();
            return;
        }
        m_period = 0;
        std::swap(m_before, m_after);
        m_otherOfBefore = events.nextOther;
    }
    else if (m_failures == 0 ||
             std::find(m_hashes.begin(), m_hashes.end(), events.hash) != m_hashes.end())
    {
        m_hashOfBefore = events.hash;
        m_otherOfBefore = events.nextOther;
        m_period = 0;
        QueuedEvent::Sort(events.ofNetwork);
        m_before.Restart(static_cast<int64_t>(now));
        Visit(m_fabric, m_before, events);
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
SteadyState::Record(const Fabric& fabric, StateVisitor& visitor)
{
    Events events = ListEvents(static_cast<uint64_t>(visitor.GetTime()));
    QueuedEvent::Sort(events.ofNetwork);
    Visit(fabric, visitor, events);
}

void
SteadyState::Visit(const Fabric& fabric, StateVisitor& visitor, const Events& events)
{
    const auto now = static_cast<uint64_t>(visitor.GetTime());
    for (const BucketScheduler::Entry& entry : events.ofNetwork)
    {
        const auto* port = dynamic_cast<const FabricPort*>(entry.impl);
        visitor.Same({entry.time - now, port ? GetId(*port) : entry.order});
        if (!port)
        {
            static_cast<Frame*>(entry.impl)->Visit(visitor);
        }
    }
    for (const auto& device : fabric.devices)
    {
        device->Visit(visitor);
    }
    for (const auto& device : fabric.devicesOfSwitches)
    {
        device->Visit(visitor);
    }
}

uint64_t
SteadyState::GetPeriods(const Events& events, bool likeBefore) const
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
    return periods == StateVisitor::NONE ? 0 : periods;
}

void
SteadyState::Skip(const Events& events, uint64_t periods)
{
    m_period = static_cast<uint64_t>(m_after.GetTime() - m_before.GetTime());
    NS_LOG_LOGIC("skips " << periods << " periods of " << m_period << " ps");
    const uint64_t hops = m_fabric.GetPacketHops();
    StateVisitor later(m_before, m_after, periods);
    Visit(m_fabric, later, events);
    if (WindowSimulatorImpl* loop = WindowSimulatorImpl::GetCurrent())
    {
        loop->Delay(&IsOfNetwork, periods * m_period);
    }
    else
    {
        BucketScheduler::GetCurrent()->Delay(&IsOfNetwork, periods * m_period);
    }
    m_fabric.skippedHops += m_fabric.GetPacketHops() - hops;
    m_skips++;
    // The state one period before the next look, unless something happens until then.
    m_after.Advance(m_before, periods);
    std::swap(m_before, m_after);
    m_otherOfBefore = events.nextOther;
}

/** The next period is simulated and must end as the last one would be continued. */
void
SteadyState::Predict()
{
    m_predicted = m_after;
    m_predicted.Advance(m_before, 1);
    m_isPredicted = true;
    std::swap(m_before, m_after);
}

void
SteadyState::Verify(const Events& events)
{
    m_isPredicted = false;
    if (m_after.GetTime() != m_predicted.GetTime())
    {
        NS_FATAL_ERROR("a steady state was predicted to be the same at "
                       << m_predicted.GetTime() << " ps, but no acknowledgement came then");
    }
    const auto difference = StateVisitor::FindDifference(m_predicted, m_after);
    if (!difference)
    {
        m_verified++;
        return;
    }
    std::size_t number = 0;
    const StateVisitor::Probe probe = [&](const char* file, int line) {
        if (number++ == *difference)
        {
            NS_FATAL_ERROR("a steady state was predicted wrongly for "
                           << m_after.GetTime() << " ps: value " << *difference << ", visited at "
                           << file << ":" << line);
        }
        return true;
    };
    StateVisitor::SetProbe(&probe);
    m_after.Restart(m_after.GetTime());
    Visit(m_fabric, m_after, events);
    NS_FATAL_ERROR("a steady state was predicted wrongly: values are missing at its end");
}

} // namespace ns3::training
