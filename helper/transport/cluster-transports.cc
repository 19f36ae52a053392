/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "cluster-transports.h"

#include "core/random-streams.h"

#include "ns3/background-helper.h"
#include "ns3/boolean.h"
#include "ns3/string.h"
#include "ns3/training-configuration-error.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <string>

namespace ns3::training
{

ClusterTransports::ClusterTransports(const ClusterOptions& options, const AttributeList& attributes)
    : m_options(options),
      m_transport(options.GetTransport().make(options, attributes))
{
}

void
ClusterTransports::PairPorts(const Fabric& fabric, bool hasBackground, uint32_t hosts)
{
    m_fabric = &fabric;
    m_hosts = hosts;
    for (const auto& rails : fabric.rails)
    {
        m_ports = std::max(m_ports, rails.size());
    }
    const auto pair = [&](MessageUse use, uint64_t count) {
        m_portPairs[static_cast<std::size_t>(use)] =
            std::make_shared<FabricPortPairs>(fabric,
                                              static_cast<uint32_t>(count),
                                              m_options.images);
    };
    pair(MessageUse::RANKS, m_options.ranks);
    if (hasBackground)
    {
        pair(MessageUse::BACKGROUND, hosts);
    }
    if (m_options.storageHosts > 0)
    {
        pair(MessageUse::STORAGE, m_options.ranks + m_options.storageHosts);
    }
}

void
ClusterTransports::Install(const ShortestPaths::Path& longest, Time roundTrip, double gain)
{
    if (m_options.GetTransport().hasQueuePairs)
    {
        CheckQueuePairNumbers();
    }
    // The pairs of the most hosts, which are those of background, then of storage.
    std::shared_ptr<FabricPortPairs> all;
    for (const MessageUse use : {MessageUse::BACKGROUND, MessageUse::STORAGE, MessageUse::RANKS})
    {
        all = all ? all : GetPortPairs(use);
    }
    m_transport->Install({*m_fabric, m_hosts, all, longest, roundTrip, gain});
}

uint64_t
ClusterTransports::GetConnections(uint64_t hosts) const
{
    return hosts * m_ports;
}

uint64_t
ClusterTransports::GetEndOfNumbers() const
{
    const ConnectionNumbers numbers = m_transport->GetNumbers();
    return GetPortPairs(MessageUse::BACKGROUND) && numbers.ofRun == 0
               ? BackgroundHelper::FIRST_CONNECTION
               : numbers.end;
}

uint64_t
ClusterTransports::GetNumbersOfRun() const
{
    const uint64_t ofRun = m_transport->GetNumbers().ofRun;
    const uint64_t hosts =
        m_options.storageHosts > 0 ? m_options.ranks + m_options.storageHosts : 0;
    return ofRun > 0 ? ofRun : GetConnections(m_options.ranks + hosts) * m_options.queuePairs;
}

void
ClusterTransports::CheckQueuePairNumbers() const
{
    const uint64_t most = (GetEndOfNumbers() - m_transport->GetNumbers().first) /
                          (GetNumbersOfRun() / m_options.queuePairs);
    if (m_options.queuePairs > most)
    {
        throw ConfigurationError("queue pairs",
                                 std::to_string(m_options.queuePairs),
                                 " with " + std::to_string(m_options.ranks) + " ranks of " +
                                     std::to_string(GetConnections(1)) + " ports (allowed: up to " +
                                     std::to_string(most) + ", as numbers have 24 bits)");
    }
}

uint32_t
ClusterTransports::GetFirst(MessageUse use) const
{
    const ConnectionNumbers numbers = m_transport->GetNumbers();
    const uint64_t ofRanks = GetConnections(m_options.ranks) * m_options.queuePairs;
    return static_cast<uint32_t>(numbers.ofRun > 0 ? numbers.first + static_cast<uint64_t>(use)
                                 : use == MessageUse::BACKGROUND
                                     ? BackgroundHelper::FIRST_CONNECTION
                                     : numbers.first + (use == MessageUse::STORAGE ? ofRanks : 0));
}

const std::shared_ptr<FabricPortPairs>&
ClusterTransports::GetPortPairs(MessageUse use) const
{
    return m_portPairs[static_cast<std::size_t>(use)];
}

Ptr<MultiPortTransport>
ClusterTransports::Make(uint32_t host, MessageUse use)
{
    const auto transport = m_transport->Make({host, use, GetPortPairs(use), GetFirst(use)});
    const std::string portPairs = m_options.GetPortPairs();
    if (portPairs == "spray")
    {
        transport->SetAttribute("Spray", BooleanValue(true));
    }
    if (use == MessageUse::BACKGROUND)
    {
        return transport; // other options of messages are those of the job
    }
    if (portPairs == "stripe")
    {
        transport->SetAttribute("Stripe", BooleanValue(true));
    }
    if (m_options.hostLatency.IsStrictlyPositive())
    {
        transport->SetAttribute("PostLatency", TimeValue(m_options.hostLatency));
        transport->SetAttribute("PostJitter", StringValue(m_options.hostJitter));
    }
    transport->AssignStreams(
        GetRandomStream(use == MessageUse::STORAGE ? RandomUse::STORAGE : RandomUse::TRANSPORTS,
                        host));
    if (m_options.queuePairs > 1)
    {
        transport->SetAttribute("QueuePairs", UintegerValue(m_options.queuePairs));
        transport->SetAttribute("Split", BooleanValue(m_options.split));
    }
    m_transports[static_cast<std::size_t>(use)].push_back(transport);
    return transport;
}

Ptr<MultiPortTransport>
ClusterTransports::Get(uint32_t host) const
{
    return m_transports[static_cast<std::size_t>(MessageUse::RANKS)].at(host);
}

void
ClusterTransports::Restart()
{
    const auto numbers = static_cast<uint32_t>(GetNumbersOfRun());
    for (const auto& transports : m_transports)
    {
        for (const auto& transport : transports)
        {
            transport->Restart(numbers);
        }
    }
}

uint64_t
ClusterTransports::GetMostRestarts() const
{
    return (GetEndOfNumbers() - m_transport->GetNumbers().first) / GetNumbersOfRun() - 1;
}

FabricPortPairs&
ClusterTransports::GetPortPairs() const
{
    return *GetPortPairs(MessageUse::RANKS);
}

void
ClusterTransports::SetPriority(uint32_t host, std::optional<uint32_t> priority)
{
    m_transport->SetPriority(host, priority, *Get(host));
}

void
ClusterTransports::WatchConnections() const
{
    for (const auto& messages : m_transports[static_cast<std::size_t>(MessageUse::RANKS)])
    {
        m_transport->WatchConnections(*messages);
    }
}

std::vector<HostConnection>
ClusterTransports::ListConnections(uint32_t host) const
{
    return m_transport->ListConnections(host, *Get(host));
}

std::vector<OpenFlow>
ClusterTransports::ListOpenFlows(uint32_t host) const
{
    return m_transport->ListOpenFlows(host, *Get(host));
}

std::string
ClusterTransports::DescribeLimit(uint32_t host, uint32_t rail, uint32_t number) const
{
    return m_transport->DescribeLimit(host, rail, number);
}

HostTraffic
ClusterTransports::GetTraffic(uint32_t host) const
{
    return m_transport->GetTraffic(host, *Get(host));
}

} // namespace ns3::training
