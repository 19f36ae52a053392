/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "accelerate/steady-part.h"

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
#include <numeric>
#include <typeinfo>
#include <utility>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingSteadyState");

namespace
{

/// Number of looks in a row: longer periods are not found.
constexpr std::size_t LOOKS = 32;
/// Limit of the periods that pass between two such rows, as power of two. So a search in vain costs
/// little, and a steady state that begins later is found soon.
constexpr uint64_t MOST_DOUBLINGS = 7;

/** @return the port at which an event of a network happens; null: it is no such event */
const FabricPort*
FindPort(const EventImpl& event)
{
    return typeid(event) == typeid(Frame)        ? static_cast<const Frame&>(event).port
           : typeid(event) == typeid(FabricPort) ? static_cast<const FabricPort*>(&event)
                                                 : nullptr;
}

/** @return the ports of devices that frames may pass: hosts that nobody simulates send none */
std::vector<FabricPort*>
ListPorts(const SteadyPart::Devices& devices)
{
    std::vector<FabricPort*> ports;
    for (HostDevice* device : devices.ofHosts)
    {
        ports.push_back(&device->GetPort());
    }
    for (SwitchDevice* device : devices.ofSwitches)
    {
        const std::vector<FabricPort*>& active = device->ListActivePorts();
        ports.insert(ports.end(), active.begin(), active.end());
    }
    return ports;
}

/** Tells ports who watches them. */
void
SetWatch(const std::vector<FabricPort*>& ports, SteadyWatch* watch)
{
    for (FabricPort* port : ports)
    {
        port->SetSteadyWatch(watch);
    }
}

/** @return frames that ports have sent */
uint64_t
CountHops(const std::vector<FabricPort*>& ports)
{
    return std::accumulate(ports.begin(), ports.end(), uint64_t{0}, [](uint64_t sum, auto* port) {
        return sum + port->GetTransmittedFrames();
    });
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

SteadyPart::SteadyPart(Fabric& fabric, Devices devices, bool verifies)
    : m_fabric(fabric),
      m_devices(std::move(devices)),
      m_ports(ListPorts(m_devices)),
      m_verifies(verifies)
{
    if (m_verifies)
    {
        m_before.VisitIdle();
        m_after.VisitIdle();
    }
    SetWatch(m_ports, this);
}

SteadyPart::~SteadyPart()
{
    m_look.Cancel();
    SetWatch(m_ports, nullptr);
}

void
SteadyPart::OnLongMessage(LongMessageSource& source, uint32_t flow)
{
    m_flows.push_front({&source, flow});
    if (m_flows.size() == 1 || !IsLong(m_flows.back()))
    {
        WatchNext();
    }
}

bool
SteadyPart::IsLong(const Flow& flow)
{
    return flow.first->IsLong(flow.second);
}

void
SteadyPart::WatchNext()
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
SteadyPart::OnPeriod()
{
    if (m_wait > 0)
    {
        m_wait--;
    }
    else if (m_look.IsExpired())
    {
        const auto look = Create<BystanderCall<SteadyPart>>(&SteadyPart::Look, this);
        m_look = Simulator::Schedule(Time(0), Ptr<EventImpl>(look));
    }
}

SteadyPart::Events
SteadyPart::ListEvents(uint64_t now, const SteadyPart* part)
{
    Events events;
    const WindowSimulatorImpl* loop = WindowSimulatorImpl::GetCurrent();
    for (const BucketScheduler::Entry& entry :
         loop ? loop->GetEntries() : BucketScheduler::GetCurrent()->GetEntries())
    {
        if (const FabricPort* port = FindPort(*entry.impl))
        {
            const auto* of = static_cast<const SteadyPart*>(port->GetSteadyWatch());
            if (!part || of == part)
            {
                events.ofPart.push_back(entry);
                events.hash += HashEvent(entry, now);
            }
            else
            {
                uint64_t& next = events.next.try_emplace(of, entry.time).first->second;
                next = std::min(next, entry.time);
            }
        }
        else if (entry.time < events.nextOther && !entry.impl->IsCancelled() &&
                 !dynamic_cast<BystanderEvent*>(entry.impl))
        {
            events.nextOther = entry.time;
        }
    }
    return events;
}

/** @return time from its next event until one of its messages may end or arrive, at least, ps */
uint64_t
SteadyPart::GetLeastTimeToEnd() const
{
    uint64_t least = StateVisitor::NONE;
    for (const HostDevice* device : m_devices.ofHosts)
    {
        least = std::min(least, device->IsUnobserved() ? device->GetLeastTimeToEnd() : 0);
    }
    const bool isObserved =
        std::any_of(m_devices.ofSwitches.begin(),
                    m_devices.ofSwitches.end(),
                    [](const SwitchDevice* device) { return !device->IsUnobserved(); });
    return isObserved ? 0 : least;
}

void
SteadyPart::Look()
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
    Events events = ListEvents(now, this);
    // If not only the network has acted since, this is a period only if it was as those before.
    const bool isAlone = now < m_otherOfBefore;
    if (!isAlone && now - static_cast<uint64_t>(m_before.GetTime()) != m_period)
    {
        m_hashOfBefore.reset();
    }
    if (m_hashOfBefore == events.hash || m_isPredicted)
    {
        m_after.Restart(static_cast<int64_t>(now));
        Record(m_after, events);
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
        m_period = 0;
        m_before.Restart(static_cast<int64_t>(now));
        Record(m_before, events);
        m_otherOfBefore = events.nextOther;
    }
    m_hashes.push_back(events.hash);
    if (m_hashes.size() == LOOKS)
    {
        m_wait = LOOKS << std::min(m_failures++, MOST_DOUBLINGS);
        m_hashes.clear();
        m_hashOfBefore.reset();
    }
}

/** Visits the part, and finds out until when other parts leave it alone. */
void
SteadyPart::Record(StateVisitor& visitor, Events& events)
{
    QueuedEvent::Sort(events.ofPart);
    Visit(m_devices, visitor, events);
    for (const auto& [part, next] : events.next)
    {
        const uint64_t least = part->GetLeastTimeToEnd();
        const uint64_t end = least < StateVisitor::NONE - next ? next + least : StateVisitor::NONE;
        events.nextOther = std::min(events.nextOther, end);
    }
}

void
SteadyPart::Visit(const Devices& devices, StateVisitor& visitor, const Events& events)
{
    const auto now = static_cast<uint64_t>(visitor.GetTime());
    for (const BucketScheduler::Entry& entry : events.ofPart)
    {
        const auto* port = dynamic_cast<const FabricPort*>(entry.impl);
        visitor.Same({entry.time - now, port ? GetId(*port) : entry.order});
        if (!port)
        {
            static_cast<Frame*>(entry.impl)->Visit(visitor);
        }
    }
    for (HostDevice* device : devices.ofHosts)
    {
        device->Visit(visitor);
    }
    for (SwitchDevice* device : devices.ofSwitches)
    {
        device->Visit(visitor);
    }
}

uint64_t
SteadyPart::GetPeriods(const Events& events, bool likeBefore) const
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
        const uint64_t last = events.ofPart.back().time;
        const uint64_t free = nextOther > last ? nextOther - 1 - last : 0;
        periods = std::min(periods, free / period);
    }
    return periods == StateVisitor::NONE ? 0 : periods;
}

void
SteadyPart::Skip(const Events& events, uint64_t periods)
{
    m_period = static_cast<uint64_t>(m_after.GetTime() - m_before.GetTime());
    NS_LOG_LOGIC("skips " << periods << " periods of " << m_period << " ps");
    const uint64_t hops = CountHops(m_ports);
    StateVisitor later(m_before, m_after, periods);
    Visit(m_devices, later, events);
    const EventFilter isOfPart = [this](const EventImpl& event) {
        const FabricPort* port = FindPort(event);
        return port && port->GetSteadyWatch() == this;
    };
    if (WindowSimulatorImpl* loop = WindowSimulatorImpl::GetCurrent())
    {
        loop->Delay(isOfPart, periods * m_period);
    }
    else
    {
        BucketScheduler::GetCurrent()->Delay(isOfPart, periods * m_period);
    }
    m_fabric.skippedHops += CountHops(m_ports) - hops;
    m_skips++;
    // The state one period before the next look, unless something happens until then.
    m_after.Advance(m_before, periods);
    std::swap(m_before, m_after);
    m_otherOfBefore = events.nextOther;
}

/** The next period is simulated and must end as the last one would be continued. */
void
SteadyPart::Predict()
{
    m_predicted = m_after;
    m_predicted.Advance(m_before, 1);
    m_isPredicted = true;
    std::swap(m_before, m_after);
}

void
SteadyPart::Verify(const Events& events)
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
    Visit(m_devices, m_after, events);
    NS_FATAL_ERROR("a steady state was predicted wrongly: values are missing at its end");
}

} // namespace ns3::training
