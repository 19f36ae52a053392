/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "guard/slow-flows.h"

#include "rank-progress.h"

#include "ns3/simulator.h"
#include "ns3/training-processes.h"

#include <algorithm>
#include <cstdio>
#include <optional>

namespace ns3::training
{

namespace
{

/// Use of a link from which it may be what holds flows up.
constexpr double BUSY = 0.5;
/// Part of its share below which a flow is slow.
constexpr double SLOW = 0.1;
/// Looks in a row that messages without counters must be on their way.
constexpr uint32_t IDLE_LOOKS = 2;
/// Round trips that a flow must be slow.
constexpr int64_t ROUND_TRIPS = 20;

/** @return a time in microseconds */
std::string
FormatMicroseconds(double seconds)
{
    char text[32];
    std::snprintf(text, sizeof(text), "%.4g us", 1e6 * seconds);
    return text;
}

/** @return a part as a percentage */
std::string
FormatPart(double part)
{
    char text[32];
    std::snprintf(text, sizeof(text), "%.2g %%", 100 * part);
    return text;
}

} // namespace

SlowFlows::SlowFlows(const Cluster& cluster)
    : m_cluster(cluster),
      // A fault may be what holds flows up, and other processes know their own hosts only.
      m_isDone(!cluster.GetOptions().faults.empty() || Processes::GetCount() > 1)
{
}

void
SlowFlows::Look(bool computing)
{
    const Time now = Simulator::Now();
    if (m_isDone || now - m_last < ROUND_TRIPS * m_cluster.GetRoundTrip())
    {
        return;
    }
    const double seconds = (now - m_last).GetSeconds();
    const double use = UpdateLinks(seconds);
    Flows flows = ListOpenFlows();
    const bool hasMessages = !computing && GetRankProgress(m_cluster).hasMessages;
    m_idleLooks = m_hasMessages && hasMessages && use < SLOW ? m_idleLooks + 1 : 0;
    if (use < BUSY)
    {
        Report(flows, seconds, use);
    }
    m_last = now;
    m_flows = std::move(flows);
    m_hasMessages = hasMessages;
}

/** @return highest use of a link since the last look, part of its rate */
double
SlowFlows::UpdateLinks(double seconds)
{
    const auto& channels = m_cluster.GetFabric().channels;
    m_bytes.resize(2 * channels.size());
    double most = 0;
    for (uint32_t i = 0; i < m_bytes.size(); i++)
    {
        const FabricPort& port = channels[i / 2]->GetPort(i % 2);
        const uint64_t bytes = port.GetCounters().transmittedBytes;
        const auto sent = static_cast<double>(bytes - m_bytes[i]);
        most = std::max(most, 8 * sent / seconds / static_cast<double>(port.GetRate()));
        m_bytes[i] = bytes;
    }
    return most;
}

SlowFlows::Flows
SlowFlows::ListOpenFlows() const
{
    Flows flows;
    for (uint32_t host = 0; host < m_cluster.GetRanks(); host++)
    {
        for (const auto& connection : m_cluster.GetTransports().ListConnections(host))
        {
            const auto& counters = connection.counters;
            if (counters && counters->completedMessages < counters->postedMessages)
            {
                flows[{host, connection.rail, connection.number}] = {counters->completedMessages,
                                                                     counters->sentPackets};
            }
        }
    }
    return flows;
}

void
SlowFlows::Report(const Flows& now, double seconds, double use)
{
    const double bits = 8.0 * m_cluster.GetOptions().GetMtu();
    std::map<uint32_t, double> openAtHost;
    for (const auto& [key, flow] : now)
    {
        openAtHost[key[0]]++;
    }
    std::optional<std::array<uint32_t, 3>> first;
    double rate = 0;
    std::size_t slow = 0;
    for (const auto& [key, flow] : now)
    {
        const auto before = m_flows.find(key);
        if (before == m_flows.end() || before->second.completed != flow.completed)
        {
            continue;
        }
        // Beside a busy link, whoever shares it is not known: all flows may.
        const double sharers = use < SLOW ? openAtHost[key[0]] : static_cast<double>(now.size());
        const FabricPort& port = m_cluster.GetFabric().rails.at(key[0]).at(key[1])->GetPort();
        const double part = static_cast<double>(flow.packets - before->second.packets) * bits /
                            seconds / static_cast<double>(port.GetRate());
        if (part < SLOW / sharers)
        {
            rate = slow++ == 0 ? part : rate;
            first = first ? first : key;
        }
    }
    if (!first && m_idleLooks < IDLE_LOOKS)
    {
        return;
    }
    m_isDone = true;
    const std::string control = m_cluster.GetOptions().congestionControl;
    std::string text = "messages of the ranks were on their way";
    std::optional<uint64_t> window;
    const uint32_t host = first ? (*first)[0] : 0;
    for (const auto& connection : m_cluster.GetTransports().ListConnections(host))
    {
        if (!first || (connection.rail == (*first)[1] && connection.number == (*first)[2]))
        {
            window = std::max(window, connection.window); // of one direction it is idle
        }
    }
    if (first)
    {
        text = "host" + std::to_string(host) + " port " + std::to_string((*first)[1]) +
               " connection " + std::to_string((*first)[2]) +
               (slow > 1 ? " and " + std::to_string(slow - 1) + " more" : "") + " sent " +
               FormatPart(rate) + " of the line";
    }
    m_cluster.Warn(text + " for " + FormatMicroseconds(seconds) + " while no link was busy above " +
                   FormatPart(use) + ": the window is " +
                   (window ? std::to_string(*window) + " bytes by " : "not limited by ") + control +
                   ", the idle round trip " +
                   FormatMicroseconds(m_cluster.GetRoundTrip().GetSeconds()) +
                   " (see --congestion-control and its keys; times and windows of a control must "
                   "suit that round trip)");
}

} // namespace ns3::training
