/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "lower-bound.h"

#include "ns3/log.h"

#include <algorithm>
#include <limits>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingLowerBound");

LowerBound::LowerBound(const TopologyGraph& topology, uint32_t ranks, double goodput)
    : m_ranks(ranks),
      m_latency(ShortestPaths(topology).GetDiameter(ranks)),
      m_slowestHost(std::numeric_limits<double>::infinity())
{
    std::vector<double> host(topology.hosts, 0);    // rate of a host's links
    std::vector<double> up(topology.GetNodes(), 0); // rate from a switch to other switches
    std::vector<uint32_t> inside(topology.GetNodes(), 0);
    for (const auto& link : topology.links)
    {
        const double rate = static_cast<double>(link.rate.GetBitRate()) / 8 * goodput;
        for (const auto& [node, other] : {std::pair(link.a, link.b), std::pair(link.b, link.a)})
        {
            if (node < topology.hosts)
            {
                host[node] += rate;
                inside[other] += node < ranks ? 1 : 0;
            }
            else if (other >= topology.hosts)
            {
                up[node] += rate;
            }
        }
    }
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        m_slowestHost = std::min(m_slowestHost, host[rank]);
    }
    for (uint32_t node = topology.hosts; node < topology.GetNodes(); node++)
    {
        if (inside[node] > 0 && inside[node] < ranks)
        {
            m_cuts.push_back({1.0 * inside[node] / ranks, up[node]});
        }
    }
}

Time
LowerBound::GetLatency() const
{
    return m_latency;
}

double
LowerBound::GetSeconds(CollectiveOperation operation, uint64_t bytes) const
{
    if (m_ranks < 2 || bytes == 0)
    {
        return 0;
    }
    const auto size = static_cast<double>(bytes);
    double bound = GetBusFactor(operation, m_ranks) * size / m_slowestHost;
    if (operation == CollectiveOperation::BROADCAST)
    {
        bound = std::max(bound, m_latency.GetSeconds() / 2); // no root is closer to all than that
    }
    else if (operation == CollectiveOperation::ALL_REDUCE || bytes >= m_ranks)
    {
        bound = std::max(bound,
                         m_latency.GetSeconds()); // every rank owns a part that all contribute to
    }
    for (const Cut& cut : m_cuts)
    {
        double share = 1;
        if (operation == CollectiveOperation::REDUCE_SCATTER ||
            operation == CollectiveOperation::ALL_GATHER)
        {
            share = std::max(cut.share, 1 - cut.share);
        }
        bound = std::max(bound, share * size / cut.bytesPerSecond);
    }
    return bound;
}

} // namespace ns3::training
