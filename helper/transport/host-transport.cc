/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "host-transport.h"

#include "ns3/background-helper.h"

namespace ns3::training
{

HostTransport::HostTransport(const ClusterOptions& options, const AttributeList& attributes)
    : m_options(options),
      m_attributes(attributes)
{
}

HostTransport::~HostTransport() = default;

FlowHeaders
HostTransport::GetFlowHeaders() const
{
    return {};
}

bool
HostTransport::UsesEcn() const
{
    return false;
}

double
HostTransport::GetEcnStep() const
{
    return 0;
}

uint64_t
HostTransport::GetSegmentBytes() const
{
    return 0;
}

ConnectionNumbers
HostTransport::GetNumbers() const
{
    return {};
}

void
HostTransport::SetUp(FabricHelper&, Time)
{
}

void
HostTransport::SetPriority(uint32_t, std::optional<uint32_t>, MultiPortTransport&)
{
}

void
HostTransport::WatchConnections(MultiPortTransport&) const
{
}

std::vector<HostConnection>
HostTransport::ListConnections(uint32_t, const MultiPortTransport&) const
{
    return {};
}

HostTraffic
HostTransport::GetTraffic(uint32_t host, const MultiPortTransport& messages) const
{
    HostTraffic traffic;
    for (const HostConnection& connection : ListConnections(host, messages))
    {
        if (connection.counters && connection.number < BackgroundHelper::FIRST_CONNECTION)
        {
            const QueuePairCounters& counters = *connection.counters;
            traffic.count += counters.postedMessages + counters.completedMessages +
                             counters.receivedPackets + counters.receivedAcks;
            traffic.open += static_cast<int64_t>(counters.postedMessages) -
                            static_cast<int64_t>(counters.completedMessages);
            traffic.bytes += static_cast<double>(counters.receivedPackets) * m_options.GetMtu();
        }
    }
    return traffic;
}

std::vector<OpenFlow>
HostTransport::ListOpenFlows(uint32_t host, const MultiPortTransport& messages) const
{
    std::vector<OpenFlow> flows;
    for (const HostConnection& connection : ListConnections(host, messages))
    {
        const auto& counters = connection.counters;
        if (counters && counters->completedMessages < counters->postedMessages)
        {
            flows.push_back({connection.rail,
                             connection.number,
                             connection.remote,
                             counters->completedMessages,
                             counters->sentPackets * m_options.GetMtu(),
                             connection.window});
        }
    }
    return flows;
}

std::string
HostTransport::DescribeLimit(uint32_t, uint32_t, uint32_t) const
{
    return "";
}

std::vector<std::string>
HostTransport::GetWarnings() const
{
    return {};
}

} // namespace ns3::training
