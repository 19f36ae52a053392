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
#include <set>

namespace ns3::training
{

namespace
{

/// Use of a link from which it may be what holds flows up.
constexpr double BUSY = 0.5;
/// Part of its share below which a flow is slow.
constexpr double SLOW = 0.1;
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
      m_shortest(ROUND_TRIPS * cluster.GetRoundTrip()),
      m_longest(std::max(MilliSeconds(10), 100 * cluster.GetRoundTrip())),
      // A fault may be what holds flows up, and other processes know their own hosts only.
      m_isDone(!cluster.GetOptions().faults.empty() || cluster.GetTopology().GetCircuits() > 1 ||
               Processes::GetCount() > 1)
{
    if (cluster.GetOptions().loss > 0)
    {
        m_shortest = m_longest;
    }
    m_interval = m_shortest;
}

Time
SlowFlows::GetNext() const
{
    return m_isDone ? Time::Max() : m_last + m_interval;
}

void
SlowFlows::Look(bool computing)
{
    const Time now = Simulator::Now();
    if (m_isDone || now - m_last < m_shortest)
    {
        return;
    }
    const double seconds = (now - m_last).GetSeconds();
    const double use = UpdateLinks(seconds);
    std::map<Key, Flow> flows = ListFlows();
    m_sharers.clear();
    std::map<uint32_t, double> sharersOfHost;
    for (const auto& [key, flow] : flows)
    {
        m_sharers[flow.state.remote]++;
        sharersOfHost[key[0]]++;
    }
    bool isSuspicious = false;
    for (auto& [key, flow] : flows)
    {
        const auto before = m_flows.find(key);
        if (before == m_flows.end() || before->second.state.completed != flow.state.completed)
        {
            continue;
        }
        const FabricPort& port = m_cluster.GetFabric().rails.at(key[0]).at(key[1])->GetPort();
        const double bytes = static_cast<double>(flow.state.bytes - before->second.state.bytes);
        const double part = 8 * bytes / seconds / static_cast<double>(port.GetRate());
        const double sharers = std::max(sharersOfHost[key[0]], m_sharers[flow.state.remote]);
        if (part < SLOW / sharers && GetUse(key, flow) < BUSY)
        {
            flow.since = before->second.since;
            flow.before = before->second.before;
            isSuspicious = true;
        }
    }
    m_flows = std::move(flows);
    const bool isIdle = !computing && use < SLOW && GetRankProgress(m_cluster).hasMessages;
    m_idleSince = isIdle ? m_idleSince : now;
    m_last = now;
    m_isDone = Report((now - m_idleSince).GetSeconds(), use);
    // The shortest time may have grown since the last look.
    m_interval = isSuspicious ? m_shortest : std::clamp(2 * m_interval, m_shortest, m_longest);
}

/** @return highest use of a link since the last look, part of its rate */
double
SlowFlows::UpdateLinks(double seconds)
{
    const auto& channels = m_cluster.GetFabric().channels;
    const bool isFirst = m_ends.empty();
    m_bytes.resize(2 * channels.size());
    m_use.resize(m_bytes.size());
    for (uint32_t i = 0; i < m_bytes.size(); i++)
    {
        const FabricPort& port = channels[i / 2]->GetPort(i % 2);
        const uint64_t bytes = port.GetCounters().transmittedBytes;
        const auto sent = static_cast<double>(bytes - m_bytes[i]);
        m_use[i] = 8 * sent / seconds / static_cast<double>(port.GetRate());
        m_bytes[i] = bytes;
        // What is dropped is sent again after a timer, as what is lost.
        m_shortest = port.GetCounters().droppedFrames > 0 ? m_longest : m_shortest;
        if (isFirst)
        {
            m_ends[&port] = i;
        }
    }
    return *std::max_element(m_use.begin(), m_use.end());
}

std::map<SlowFlows::Key, SlowFlows::Flow>
SlowFlows::ListFlows() const
{
    std::map<Key, Flow> flows;
    for (uint32_t host = 0; host < m_cluster.GetRanks(); host++)
    {
        for (const OpenFlow& flow : m_cluster.GetTransports().ListOpenFlows(host))
        {
            flows[{host, flow.rail, flow.number}] = {flow, Simulator::Now(), flow.bytes};
        }
    }
    return flows;
}

// Ends of links, 2 * link + end, that may send frames to an endpoint: those of all equal paths.
std::vector<uint32_t>
SlowFlows::FindPath(uint32_t host, uint32_t rail, uint32_t remote) const
{
    const Fabric& fabric = m_cluster.GetFabric();
    std::set<const FabricPort*> seen;
    std::vector<const FabricPort*> left{&fabric.rails.at(host).at(rail)->GetPort()};
    std::vector<uint32_t> path;
    while (!left.empty())
    {
        const FabricPort* port = left.back();
        left.pop_back();
        const auto found = m_ends.find(port);
        if (found == m_ends.end() || !seen.insert(port).second)
        {
            continue;
        }
        path.push_back(found->second);
        const TopologyGraph::Link& link = fabric.topology.links[found->second / 2];
        const uint32_t node = found->second % 2 == 0 ? link.b : link.a;
        if (node >= fabric.topology.hosts)
        {
            const auto& device = fabric.devicesOfSwitches[node - fabric.topology.hosts];
            for (uint16_t index : device->GetTable().Get(remote))
            {
                left.push_back(&device->GetPort(index));
            }
        }
    }
    return path;
}

// Highest use of a link of its path.
double
SlowFlows::GetUse(const Key& key, const Flow& flow) const
{
    double use = 0;
    for (uint32_t end : FindPath(key[0], key[1], flow.state.remote))
    {
        use = std::max(use, m_use[end]);
    }
    return use;
}

/** @return whether there was something to report */
bool
SlowFlows::Report(double seconds, double use)
{
    const auto isSlow = [this](const auto& entry) {
        const Flow& flow = entry.second;
        return m_last - flow.since >= (flow.state.bytes > flow.before ? m_shortest : m_longest);
    };
    const auto first = std::find_if(m_flows.begin(), m_flows.end(), isSlow);
    if (first == m_flows.end() && seconds < 2 * m_longest.GetSeconds())
    {
        return false;
    }
    std::string text = "messages of the ranks were on their way";
    std::string cause = m_cluster.GetOptions().congestionControl +
                        " (see --congestion-control and its keys; times and windows of a control "
                        "must suit that round trip)";
    if (first != m_flows.end())
    {
        const Flow& flow = first->second;
        const auto slow = std::count_if(m_flows.begin(), m_flows.end(), isSlow);
        const FabricPort& port =
            m_cluster.GetFabric().rails.at(first->first[0]).at(first->first[1])->GetPort();
        seconds = (m_last - flow.since).GetSeconds();
        use = GetUse(first->first, flow);
        const auto bytes = static_cast<double>(flow.state.bytes - flow.before);
        text = "host" + std::to_string(first->first[0]) + " -> host" +
               std::to_string(m_cluster.GetFabric().hostOfEndpoint.at(flow.state.remote)) +
               ", port " + std::to_string(first->first[1]) + ", connection " +
               std::to_string(first->first[2]) +
               (slow > 1 ? ", and " + std::to_string(slow - 1) + " more" : "") + " sent " +
               (bytes == 0 ? "nothing"
                           : FormatPart(8 * bytes / seconds / static_cast<double>(port.GetRate())) +
                                 " of the line");
        cause = Describe(first->first, flow);
    }
    m_cluster.Warn(text + " for " + FormatMicroseconds(seconds) + " while no link was busy above " +
                   FormatPart(use) + (first != m_flows.end() ? " on its path: " : ": ") + cause +
                   ", the idle round trip is " +
                   FormatMicroseconds(m_cluster.GetRoundTrip().GetSeconds()));
    return true;
}

// What sets the rate of a flow, and the option against it.
std::string
SlowFlows::Describe(const Key& key, const Flow& flow) const
{
    const ClusterOptions& options = m_cluster.GetOptions();
    const std::string rule = m_cluster.GetTransports().DescribeLimit(key[0], key[1], key[2]);
    if (flow.state.bytes == flow.before && rule.empty())
    {
        return "it waits for an acknowledgement or a timer" +
               (options.GetTransport().hasQueuePairs
                    ? " of recovery " + options.GetRecovery() + " (see --recovery)"
                    : "; the congestion control is " + options.congestionControl +
                          " (see --congestion-control)");
    }
    return (flow.state.window ? "the window is " + std::to_string(*flow.state.window) + " bytes by "
                              : "the rate is that of ") +
           options.congestionControl + ", " +
           (rule.empty() ? "whose times and windows must suit the path (see --congestion-control "
                           "and its keys)"
                         : rule);
}

} // namespace ns3::training
