/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "host-model.h"

#include "ns3/log.h"
#include "ns3/shortest-paths.h"

#include <algorithm>
#include <set>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingHostModel");

namespace
{

/** Constants of a protocol: us, and bytes sent for each byte. */
struct Protocol
{
    double base;
    double local;
    double remote;
    double inflation;
};

constexpr Protocol RING[] = {{6.6, 0.6, 2.7, 2.0}, {14, 1.9, 4, 128.0 / 120}, {8.4, 3.4, 14, 1.0}};
constexpr Protocol TREE[] = {{6.8, 0.6, 5, 2.0}, {14, 1.25, 8.5, 128.0 / 120}, {8.4, 4.0, 14, 1.0}};

} // namespace

bool
NcclHostModel::IsLocal(const TopologyGraph& topology, uint32_t a, uint32_t b)
{
    const uint32_t size = topology.shape.groupSize;
    return topology.shape.kind == "rail-optimized" && a / size == b / size;
}

NcclHostModel::NcclHostModel(const TopologyGraph& topology,
                             std::vector<uint32_t> hosts,
                             uint32_t ranks)
    : m_ranks(ranks)
{
    std::set<uint32_t> servers;
    ShortestPaths paths(topology);
    const uint32_t first = hosts.empty() ? 0 : hosts[0];
    paths.Search(first);
    const auto best = paths.GetPaths();
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        const uint32_t host = hosts.empty() ? rank : hosts[rank];
        const bool local = IsLocal(topology, first, host);
        servers.insert(topology.shape.kind == "rail-optimized" ? host / topology.shape.groupSize
                                                               : host);
        double& delay = local ? m_localDelay : m_remoteDelay;
        double& rate = local ? m_localRate : m_remoteRate;
        if (host != first)
        {
            const double seconds = best[host].delay.GetSeconds();
            const double bytes = static_cast<double>(best[host].rate) / 8;
            delay = rate == 0 ? seconds : std::min(delay, seconds);
            rate = rate == 0 ? bytes : std::min(rate, bytes);
        }
    }
    m_servers = static_cast<uint32_t>(servers.size());
}

HostCost
NcclHostModel::operator()(const CollectiveSchedule& schedule, uint64_t bytes) const
{
    const uint32_t segments = std::max<uint32_t>(1, schedule.segments);
    const uint32_t all = schedule.GetSteps();
    const double steps = all < segments ? 0 : all - segments + 1;
    // A chunk of a ring crosses from server to server as often as there are servers, each way
    // round.
    const double remoteSteps = std::min(steps, 2.0 * (m_servers - 1));
    const double rate = m_servers > 1 ? m_remoteRate : m_localRate;
    const double perByte = rate > 0 ? 1 / rate : 0;
    const double sent = GetBusFactor(schedule.operation, m_ranks) * static_cast<double>(bytes);
    const bool tree =
        schedule.algorithm.find("tree") != std::string::npos && schedule.algorithm != "multitree";
    const Protocol* fastest = nullptr;
    double least = 0;
    for (const Protocol& protocol : tree ? TREE : RING)
    {
        const double seconds = 1e-6 * (protocol.base + remoteSteps * protocol.remote +
                                       (steps - remoteSteps) * protocol.local) +
                               sent * protocol.inflation * perByte;
        if (!fastest || seconds < least)
        {
            fastest = &protocol;
            least = seconds;
        }
    }
    const auto hop = [](double microseconds, double delay) {
        return Seconds(std::max(0.0, microseconds * 1e-6 - delay));
    };
    HostCost cost;
    cost.start = Seconds(fastest->base * 1e-6);
    cost.localHop = hop(fastest->local, m_localDelay);
    cost.remoteHop = hop(fastest->remote, m_remoteDelay);
    cost.secondsPerByte = (fastest->inflation - 1) * perByte;
    return cost;
}

} // namespace ns3::training
