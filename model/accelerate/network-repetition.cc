/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "network-repetition.h"

#include "engine/window-simulator-impl.h"
#include "fabric/port-growth.h"

#include "ns3/bucket-scheduler.h"
#include "ns3/double.h"
#include "ns3/fabric-frame.h"
#include "ns3/host-device.h"
#include "ns3/object-factory.h"
#include "ns3/rdma-congestion-control.h"
#include "ns3/rdma-nic.h"
#include "ns3/rdma-queue-pair.h"
#include "ns3/simulator.h"
#include "ns3/switch-device.h"
#include "ns3/training-key-values.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <typeinfo>

namespace ns3::training
{

namespace
{

/** @return a double attribute of a switch */
double
GetAttribute(const SwitchDevice& device, const std::string& name)
{
    DoubleValue value;
    device.GetAttribute(name, value);
    return value.Get();
}

/** @return whether two rates are the same */
bool
IsSameRate(double one, double other)
{
    return NetworkRepetition::IsWithin(NetworkRepetition::TOLERANCE, one, other);
}

} // namespace

PortCounters
NetworkRepetition::Span::GetSum() const
{
    PortCounters sum;
    for (const PortCounters& each : ports)
    {
        sum += each;
    }
    return sum;
}

NetworkRepetition::NetworkRepetition(const Fabric& fabric,
                                     uint32_t hosts,
                                     const std::optional<std::string>& congestionControl)
    : m_fabric(fabric),
      m_hosts(hosts)
{
    if (!congestionControl)
    {
        return;
    }
    const auto& control =
        Registry<CongestionControlEntry>::Find(KeyValues::Split(*congestionControl).GetName());
    ObjectFactory factory;
    factory.SetTypeId(control.getTypeId());
    const RdmaCongestionControl::Needs needs = factory.Create<RdmaCongestionControl>()->GetNeeds();
    m_reactsToMarks = control.ecnStepPerGbps > 0 || needs.cnp;
    m_hasHiddenState = needs.acks || needs.telemetry;
}

bool
NetworkRepetition::IsWithin(double part, double one, double other)
{
    return std::abs(one - other) <= part * std::max(std::abs(one), std::abs(other));
}

bool
NetworkRepetition::AreSame(const Span& one, const Span& other, bool comparesMarks)
{
    const auto areEqual = [comparesMarks](const PortCounters& a, const PortCounters& b) {
        return HasEqualCounts(a, b, comparesMarks);
    };
    return !other.raisesPeaks && one.state == other.state &&
           std::equal(one.rates.begin(),
                      one.rates.end(),
                      other.rates.begin(),
                      other.rates.end(),
                      &IsSameRate) &&
           std::equal(one.ports.begin(),
                      one.ports.end(),
                      other.ports.begin(),
                      other.ports.end(),
                      areEqual);
}

bool
NetworkRepetition::AreAbout(const Span& one, const Span& other)
{
    const auto areAbout = [](double a, double b) { return IsWithin(ABOUT, a, b); };
    const auto sendAbout = [](const PortCounters& a, const PortCounters& b) {
        constexpr double ACKS = 10000; // bytes
        const auto sent = static_cast<double>(a.transmittedBytes);
        const auto others = static_cast<double>(b.transmittedBytes);
        return IsWithin(ABOUT, sent, others) || std::abs(sent - others) < ACKS;
    };
    return one.state.size() == other.state.size() &&
           std::equal(one.rates.begin(),
                      one.rates.end(),
                      other.rates.begin(),
                      other.rates.end(),
                      areAbout) &&
           std::equal(one.ports.begin(),
                      one.ports.end(),
                      other.ports.begin(),
                      other.ports.end(),
                      sendAbout);
}

bool
NetworkRepetition::MarksAtRandom() const
{
    for (const auto& device : m_fabric.devicesOfSwitches)
    {
        const double least = GetAttribute(*device, "EcnKminPerGbps");
        const bool isStep = least == GetAttribute(*device, "EcnKmaxPerGbps");
        const bool drops = GetAttribute(*device, "WredPmax") > 0;
        for (uint16_t index = 0; index < device->GetNPorts() && (!isStep || drops); index++)
        {
            const FabricPort& port = device->GetPort(index);
            const double gbps = static_cast<double>(port.GetRate()) * 1e-9;
            const double limit = drops ? 0 : least * gbps;
            for (const PriorityCounters& ofClass : port.GetCounters().byPriority)
            {
                if (static_cast<double>(ofClass.peakQueueBytes) > limit)
                {
                    return true;
                }
            }
        }
    }
    return false;
}

NetworkRepetition::Span
NetworkRepetition::Take()
{
    Span span;
    AddPorts(span);
    AddConnections(span);
    return span;
}

void
NetworkRepetition::Repeat(const Span& span) const
{
    for (std::size_t port = 0; port < span.ports.size(); port++)
    {
        FabricPort& each = m_fabric.channels[port / 2]->GetPort(port % 2);
        PortCounters counters = each.GetCounters();
        Grow(counters, span.ports[port]);
        each.SetCounters(counters);
    }
}

/** Adds queues, pauses and frames. */
void
NetworkRepetition::AddPorts(Span& span)
{
    const auto& channels = m_fabric.channels;
    m_ports.resize(2 * channels.size());
    span.isIdle = true;
    for (std::size_t i = 0; i < m_ports.size(); i++)
    {
        const FabricPort& port = channels[i / 2]->GetPort(i % 2);
        const PortCounters& sent = port.GetCounters();
        const PortCounters& received = channels[i / 2]->GetPort(1 - i % 2).GetCounters();
        const uint64_t underWay = sent.transmittedFrames + sent.duplicatedFrames -
                                  received.receivedFrames - sent.lostFrames;
        span.state.push_back(underWay);
        span.isIdle = span.isIdle && underWay == 0;
        for (uint8_t priority = 0; priority < PRIORITIES; priority++)
        {
            const uint64_t queue = port.GetQueueBytes(priority);
            span.state.push_back(2 * queue + (port.IsPaused(priority) ? 1 : 0));
            span.isIdle = span.isIdle && queue == 0;
        }
        span.ports.push_back(GetGrowth(m_ports[i], sent));
        span.raisesPeaks = span.raisesPeaks || !HasEqualPeaks(m_ports[i], sent);
        m_ports[i] = sent;
    }
    if (!span.isIdle)
    {
        AddFrames(span.state);
    }
}

/** Adds the frames on the links, and when they arrive. */
void
NetworkRepetition::AddFrames(std::vector<uint64_t>& state)
{
    const auto now = static_cast<uint64_t>(Simulator::Now().GetTimeStep());
    if (!BucketScheduler::GetCurrent())
    {
        state.push_back(now); // never the same
        return;
    }
    const WindowSimulatorImpl* loop = WindowSimulatorImpl::GetCurrent();
    std::vector<BucketScheduler::Entry> entries =
        loop ? loop->GetEntries() : BucketScheduler::GetCurrent()->GetEntries();
    QueuedEvent::Sort(entries);
    for (const BucketScheduler::Entry& entry : entries)
    {
        if (typeid(*entry.impl) == typeid(Frame))
        {
            const auto& frame = static_cast<const Frame&>(*entry.impl);
            state.insert(state.end(),
                         {entry.time - now,
                          entry.order,
                          uint64_t{frame.bytes} << 32 | frame.destination,
                          uint64_t{frame.destinationQp} << 8 | frame.opcode});
        }
    }
}

/** @return the NIC on each port of a host */
std::vector<Ptr<RdmaNic>>
NetworkRepetition::GetNics(uint32_t host) const
{
    std::vector<Ptr<RdmaNic>> nics;
    for (const auto& device : m_fabric.rails.at(host))
    {
        if (const auto nic = device->GetObject<RdmaNic>())
        {
            nics.push_back(nic);
        }
    }
    return nics;
}

uint64_t
NetworkRepetition::CountPostedMessages(uint32_t host) const
{
    uint64_t messages = 0;
    for (const auto& nic : GetNics(host))
    {
        for (const auto& [number, queuePair] : nic->GetQueuePairs())
        {
            messages += queuePair->GetCounters().postedMessages;
        }
    }
    return messages;
}

/** Adds the messages and the congestion control of every queue pair. */
void
NetworkRepetition::AddConnections(Span& span)
{
    const int64_t now = Simulator::Now().GetTimeStep();
    for (uint32_t host = 0; host < m_hosts; host++)
    {
        for (const auto& nic : GetNics(host))
        {
            UintegerValue ackInterval;
            nic->GetAttribute("AckInterval", ackInterval);
            const auto& queuePairs = nic->GetQueuePairs();
            const std::map<uint32_t, Ptr<RdmaQueuePair>> inOrder(queuePairs.begin(),
                                                                 queuePairs.end());
            for (const auto& [number, queuePair] : inOrder)
            {
                const QueuePairCounters counters = queuePair->GetCounters();
                const uint64_t packets = counters.sentPackets - counters.retransmittedPackets;
                span.state.insert(span.state.end(),
                                  {number,
                                   counters.postedMessages - counters.completedMessages,
                                   packets % std::max<uint64_t>(ackInterval.Get(), 1),
                                   counters.retransmittedPackets,
                                   counters.timeouts});
                const auto control = queuePair->GetCongestionControl();
                const int64_t quota = control->GetByteQuota();
                if (control->GetNeeds().sentBytes && quota < std::numeric_limits<int64_t>::max())
                {
                    m_countsBytes = true;
                    return; // GetRate() would have to be told of them first
                }
                span.rates.push_back(control->GetRate(now));
                span.rates.push_back(static_cast<double>(control->GetWindow()));
            }
        }
    }
}

} // namespace ns3::training
