/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "flow-measurement.h"

#include "core/memory.h"
#include "core/random-streams.h"
#include "guard/progress-line.h"

#include "ns3/rdma-nic.h"
#include "ns3/roce-wire-format.h"
#include "ns3/simulator.h"
#include "ns3/training-attribute-list.h"
#include "ns3/training-configuration-error.h"
#include "ns3/training-quantity.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ns3::training
{

namespace
{

/// Memory of a flow with RDMA, two queue pairs, bytes.
constexpr double BYTES_PER_FLOW = 4000;
/// Numbers of connections of a port.
constexpr uint64_t CONNECTION_NUMBERS = 1 << 23;
/// Number of rows by size.
constexpr uint32_t SIZE_ROWS = 10;
/// An acknowledgement on the line, without telemetry, bytes.
constexpr uint32_t ACK_BYTES =
    ROCE_BYTES + AETH_BYTES + Frame::ETHERNET_BYTES + Frame::PREAMBLE_BYTES + Frame::GAP_BYTES;

/** @return the paths of flows on an idle cluster */
IdlePaths
MakeIdlePaths(const Cluster& cluster)
{
    const HostTransport& transport = cluster.GetTransports().GetTransport();
    const auto& switches = cluster.GetFabric().devicesOfSwitches;
    const Time pipeline = switches.empty() ? Time(0) : switches[0]->GetPipelineDelay();
    return IdlePaths(cluster.GetTopology(),
                     transport.GetPacketSize(),
                     pipeline,
                     transport.GetFlowHeaders());
}

/** @return rate of all ports of the host for which it is lowest, bit/s */
double
GetLowestRate(const Cluster& cluster)
{
    const TopologyGraph& topology = cluster.GetTopology();
    std::vector<double> rates(topology.hosts + topology.switches);
    for (const auto& link : topology.links)
    {
        rates[link.a] += static_cast<double>(link.rate.GetBitRate());
        rates[link.b] += static_cast<double>(link.rate.GetBitRate());
    }
    return *std::min_element(rates.begin(), rates.begin() + cluster.GetRanks());
}

} // namespace

FlowMeasurement::FlowMeasurement(const Cluster& cluster, const FlowSettings& settings)
    : m_cluster(cluster),
      m_settings(settings),
      m_hasQueuePairs(cluster.GetOptions().GetTransport().hasQueuePairs),
      m_idle(MakeIdlePaths(cluster)),
      m_run(cluster),
      m_handler([](const FlowRow&) {})
{
    auto flows = static_cast<double>(m_settings.listed.size());
    for (const ListedFlow& flow : m_settings.listed)
    {
        m_listedBytes += flow.bytes;
    }
    std::string what = "the flow file";
    if (!m_settings.listed.empty())
    {
        CheckPriorities();
    }
    else
    {
        flows = AddArrivals();
        what = "--duration=" + FormatTime(m_settings.duration);
    }
    if (flows > MAX_FLOWS)
    {
        throw ConfigurationError(what + " for " + FormatDouble(std::ceil(flows)) +
                                 " flows (allowed: up to " + FormatDouble(MAX_FLOWS) + ")");
    }
    // Those after the measured ones start, but need not end.
    const Time end = m_settings.warmUp + m_settings.duration;
    m_expected =
        flows * (m_arrivals ? end.GetSeconds() / (end + m_settings.duration).GetSeconds() : 1);
    CheckMemory(flows * BYTES_PER_FLOW, what);
    if (!m_hasQueuePairs)
    {
        ConnectTransports();
    }
}

/** @return number of random flows that are expected */
double
FlowMeasurement::AddArrivals()
{
    auto random = CreateObject<UniformRandomVariable>();
    random->SetStream(GetRandomStream(RandomUse::FLOWS, PoissonFlows::STREAMS));
    const auto make = [&](const Choice<FlowPatternEntry>& choice) {
        return choice.entry->make(choice.values, m_cluster.GetRanks(), *random);
    };
    const double rate = GetLowestRate(m_cluster);
    const double seconds = (m_settings.warmUp + 2 * m_settings.duration).GetSeconds();
    const auto count = [&](const FlowPattern& pattern, double gap) {
        return seconds / gap * pattern.GetProcesses() * pattern.GetFlowsPerEvent();
    };
    auto pattern = make(m_settings.pattern);
    const double gap = pattern->GetMeanGap(m_settings.load, rate, m_settings.sizes.GetMean());
    double flows = count(*pattern, gap);
    m_meanBytes = m_settings.sizes.GetMean();
    m_arrivals = std::make_unique<PoissonFlows>(
        m_settings.sizes,
        std::move(pattern),
        gap,
        GetRandomStream(RandomUse::FLOWS),
        [this](const HostPair& ends, uint64_t bytes) { Start(ends, bytes, std::nullopt); });
    const FlowSettings::Incasts& incasts = m_settings.incasts;
    if (incasts.load > 0)
    {
        const auto bytes = static_cast<double>(incasts.bytes);
        auto group =
            make(Choose<FlowPatternEntry>("incast:senders=" + std::to_string(incasts.senders)));
        const double groupGap = group->GetMeanGap(incasts.load, rate, bytes);
        const double more = count(*group, groupGap);
        m_meanBytes = (flows * m_meanBytes + more * bytes) / (flows + more);
        flows += more;
        m_incasts = std::make_unique<PoissonFlows>(
            FlowSizes({{bytes, 1}}),
            std::move(group),
            groupGap,
            GetRandomStream(RandomUse::FLOWS, PoissonFlows::STREAMS + 1),
            [this](const HostPair& ends, uint64_t size) {
                const uint64_t before = m_incasts->GetFlows() - 1; // without this one
                Start(ends, size, std::nullopt, before / m_settings.incasts.senders + 1);
            });
    }
    return flows;
}

double
FlowMeasurement::GetOfferedLoad(bool isIncast) const
{
    const double capacity =
        GetLowestRate(m_cluster) / 8 * m_cluster.GetRanks() * m_settings.duration.GetSeconds();
    return static_cast<double>(m_measuredStarted[isIncast ? 1 : 0]) / capacity;
}

void
FlowMeasurement::CheckPriorities() const
{
    const std::string name = "DataPriority";
    if (m_hasQueuePairs && !IsDefaultUnchanged(RdmaNic::GetTypeId(), name))
    {
        throw ConfigurationError("--ns3::training::RdmaNic::" + name +
                                 " with a flow file (allowed: one of them, as the file has the "
                                 "priority of each flow)");
    }
    const std::vector<ListedFlow>& listed = m_settings.listed;
    for (const ListedFlow& flow : listed)
    {
        if (!m_hasQueuePairs && flow.priority != listed[0].priority)
        {
            throw ConfigurationError("the flow file has priorities " +
                                     std::to_string(listed[0].priority) + " and " +
                                     std::to_string(flow.priority) +
                                     " with --transport=" + m_cluster.GetOptions().transport +
                                     " (allowed: one priority, or --transport=rdma)");
        }
    }
}

/** Sets the traffic class of the next queue pairs of two hosts. */
void
FlowMeasurement::SetPriority(const HostPair& ends, uint8_t priority)
{
    for (uint32_t host : {ends.source, ends.destination})
    {
        const auto [last, isNew] = m_priorities.try_emplace(host, priority);
        if (!isNew && last->second == priority)
        {
            continue;
        }
        last->second = priority;
        for (const auto& nic : m_cluster.GetNics(host))
        {
            nic->SetAttribute("DataPriority", UintegerValue(priority));
        }
    }
}

void
FlowMeasurement::ConnectTransports()
{
    std::size_t ports = 1;
    for (const auto& rails : m_cluster.GetFabric().rails)
    {
        ports = std::max(ports, rails.size());
    }
    const uint64_t most = CONNECTION_NUMBERS / (uint64_t{m_cluster.GetRanks()} * ports);
    const uint64_t connections = std::clamp<uint64_t>(most, 1, MAX_CONNECTIONS);
    for (uint32_t host = 0; host < m_cluster.GetRanks(); host++)
    {
        const auto transport = DynamicCast<MultiPortTransport>(m_cluster.GetTransport(host));
        transport->UsePool();
        transport->SetAttribute("QueuePairs", UintegerValue(connections));
        transport->SetMessageHandler(
            [this](uint32_t, const Message& message) { Arrive(message.tag, message.bytes); });
        transport->SetErrorHandler([this, host](uint32_t peer, const std::string& reason) {
            m_run.Fail(peer,
                       "a flow from host " + std::to_string(host) + " to host " +
                           std::to_string(peer) + " failed: " + reason);
        });
    }
}

void
FlowMeasurement::SetHandler(std::function<void(const FlowRow&)> ended)
{
    m_handler = std::move(ended);
}

double
FlowMeasurement::GetExpectedBytes() const
{
    return m_arrivals ? m_expected * m_meanBytes : static_cast<double>(m_listedBytes);
}

std::vector<uint64_t>
FlowMeasurement::GetBins() const
{
    std::vector<uint64_t> sizes;
    for (const ListedFlow& flow : m_settings.listed)
    {
        sizes.push_back(flow.bytes);
    }
    std::sort(sizes.begin(), sizes.end());
    std::vector<uint64_t> bins;
    for (uint32_t i = 1; i <= SIZE_ROWS; i++)
    {
        const double part = static_cast<double>(i) / SIZE_ROWS;
        const auto last = static_cast<std::size_t>(std::ceil(part * sizes.size()));
        bins.push_back(sizes.empty()
                           ? static_cast<uint64_t>(std::ceil(m_settings.sizes.GetQuantile(part)))
                           : sizes[std::max<std::size_t>(last, 1) - 1]);
    }
    bins.erase(std::unique(bins.begin(), bins.end()), bins.end());
    return bins;
}

void
FlowMeasurement::Run()
{
    const Time end = m_settings.warmUp + m_settings.duration;
    if (m_arrivals)
    {
        m_arrivals->Run(Time(0), end + m_settings.duration);
        if (m_incasts)
        {
            m_incasts->Run(Time(0), end + m_settings.duration);
        }
        Simulator::Schedule(end, &FlowMeasurement::CheckEnd, this);
    }
    else
    {
        Simulator::Schedule(m_settings.listed.front().start, &FlowMeasurement::StartListed, this);
    }
    m_run.SetComputing([this] { return IsComing(); });
    const ProgressLine progress(m_cluster.GetFabric(), [this] { return GetProgress(); });
    m_run.Run();
}

bool
FlowMeasurement::IsComing() const
{
    return m_arrivals ? Simulator::Now() < m_settings.warmUp + m_settings.duration
                      : m_next < m_settings.listed.size();
}

double
FlowMeasurement::GetProgress() const
{
    if (!m_arrivals)
    {
        return static_cast<double>(m_measuredArrived) / static_cast<double>(m_listedBytes);
    }
    // The bytes of the flows that are still to come are those of the load.
    const double passed =
        Simulator::Now().GetSeconds() / (m_settings.warmUp + m_settings.duration).GetSeconds();
    const double arrived =
        m_startedBytes > 0 ? static_cast<double>(m_endedBytes) / static_cast<double>(m_startedBytes)
                           : 0;
    return passed < 1 ? passed * arrived : arrived;
}

void
FlowMeasurement::StartListed()
{
    const std::vector<ListedFlow>& listed = m_settings.listed;
    while (m_next < listed.size() && listed[m_next].start <= Simulator::Now())
    {
        const ListedFlow& flow = listed[m_next++];
        Start(flow.ends, flow.bytes, flow.priority);
    }
    if (m_next < listed.size())
    {
        Simulator::Schedule(listed[m_next].start - Simulator::Now(),
                            &FlowMeasurement::StartListed,
                            this);
    }
}

void
FlowMeasurement::Start(const HostPair& ends,
                       uint64_t bytes,
                       std::optional<uint8_t> priority,
                       uint64_t incast)
{
    const Time now = Simulator::Now();
    FlowRow row;
    row.number = m_flows.size();
    row.source = ends.source;
    row.destination = ends.destination;
    row.bytes = bytes;
    row.startS = now.GetSeconds();
    row.idleS = m_settings.isAcknowledged
                    ? m_idle.GetAcknowledgedTime(ends.source, ends.destination, bytes, ACK_BYTES)
                    : m_idle.GetTime(ends.source, ends.destination, bytes);
    row.isMeasured =
        !m_arrivals || (now >= m_settings.warmUp && now < m_settings.warmUp + m_settings.duration);
    row.incast = incast;
    m_flows.push_back({row, now, bytes});
    m_startedBytes += bytes;
    if (row.isMeasured)
    {
        (incast > 0 ? m_measuredIncasts : m_measured)++;
        m_measuredStarted[incast > 0 ? 1 : 0] += bytes;
    }
    if (m_hasQueuePairs)
    {
        if (priority)
        {
            SetPriority(ends, *priority);
        }
        Write(row.number);
        return;
    }
    m_cluster.GetTransport(ends.source)->Send(ends.destination, {row.number, bytes});
}

void
FlowMeasurement::Write(uint64_t number)
{
    const FlowRow& row = m_flows[number].row;
    const auto ways =
        m_cluster.GetTransports().GetPortPairs().GetPortPairs(row.source, row.destination);
    const auto back =
        m_cluster.GetTransports().GetPortPairs().GetPortPairs(row.destination, row.source);
    const std::size_t turn = m_turns[{row.source, row.destination}]++ % ways.size();
    const PortPair& way = ways[turn];
    const PortPair& wayBack = back[turn];
    // Both ends have the number of the flow, which no other queue pair of their NICs has.
    const auto name =
        static_cast<uint32_t>(FIRST_QUEUE_PAIR + number % (PSN_MODULUS - FIRST_QUEUE_PAIR));
    const auto sender = m_cluster.GetNics(row.source)[way.rail]->CreateQueuePair(name,
                                                                                 way.remoteEndpoint,
                                                                                 name,
                                                                                 way.rate,
                                                                                 way.pathRate);
    const auto receiver =
        m_cluster.GetNics(row.destination)[wayBack.rail]->CreateQueuePair(name,
                                                                          wayBack.remoteEndpoint,
                                                                          name,
                                                                          wayBack.rate,
                                                                          wayBack.pathRate);
    if (m_settings.isAcknowledged)
    {
        sender->SetCompletionHandler([this, number, left = row.bytes](uint64_t) mutable {
            const uint64_t bytes = std::min(left, MAX_REQUEST);
            left -= bytes;
            Arrive(number, bytes);
        });
    }
    else
    {
        receiver->SetMessageHandler(
            [this, number](const Message& message) { Arrive(number, message.bytes); });
    }
    sender->SetErrorHandler([this, number](const std::string& reason) {
        const FlowRow& flow = m_flows[number].row;
        m_run.Fail(flow.destination,
                   "flow " + std::to_string(number) + " from host " + std::to_string(flow.source) +
                       " to host " + std::to_string(flow.destination) + " failed: " + reason);
    });
    for (uint64_t left = row.bytes; left > 0;)
    {
        Message request;
        request.bytes = std::min(left, MAX_REQUEST);
        left -= request.bytes;
        sender->Write(request);
    }
}

void
FlowMeasurement::Arrive(uint64_t number, uint64_t bytes)
{
    Flow& flow = m_flows[number];
    flow.left -= bytes;
    if (flow.left > 0)
    {
        return;
    }
    FlowRow& row = flow.row;
    row.endS = Simulator::Now().GetSeconds();
    row.timeS = (Simulator::Now() - flow.start).GetSeconds();
    row.slowdown = row.timeS / row.idleS;
    if (m_settings.isAcknowledged)
    {
        row.slowdown = std::max(1.0, row.slowdown); // the idle time is approximate
    }
    m_ended++;
    m_endedBytes += row.bytes;
    m_handler(row);
    if (row.isMeasured)
    {
        m_measuredArrived += row.bytes;
        (row.incast > 0 ? m_incastStatistics : m_statistics)
            .Add(row.bytes, row.slowdown, row.timeS);
        CheckEnd();
    }
}

void
FlowMeasurement::CheckEnd()
{
    if (!m_isDone && !IsComing() && m_statistics.GetFlows() == m_measured &&
        m_incastStatistics.GetFlows() == m_measuredIncasts)
    {
        m_isDone = true;
        m_run.End();
    }
}

} // namespace ns3::training
