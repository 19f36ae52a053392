/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "lower-bound.h"

#include "ns3/log.h"
#include "ns3/shortest-paths.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingLowerBound");

LowerBound::LowerBound(const TopologyGraph& topology, uint32_t ranks, double goodput)
    : m_ranks(ranks),
      m_latency(ShortestPaths(topology).GetDiameter(ranks)),
      m_slowestHost(std::numeric_limits<double>::infinity())
{
    std::vector<double> host(topology.hosts, 0); // rate of a host's links
    for (const auto& link : topology.links)
    {
        for (uint32_t node : {link.a, link.b})
        {
            if (node < topology.hosts)
            {
                host[node] += static_cast<double>(link.rate.GetBitRate()) / 8 * goodput;
            }
        }
    }
    // What leaves a switch together with its hosts: the links of all of them but those between.
    std::vector<double> out(topology.GetNodes(), 0);
    std::vector<std::set<uint32_t>> inside(topology.GetNodes());
    for (const auto& link : topology.links)
    {
        const double rate = static_cast<double>(link.rate.GetBitRate()) / 8 * goodput;
        for (const auto& [node, other] : {std::pair(link.a, link.b), std::pair(link.b, link.a)})
        {
            if (node >= topology.hosts && other < topology.hosts)
            {
                out[node] += (inside[node].insert(other).second ? host[other] : 0) - rate;
            }
            else if (node >= topology.hosts)
            {
                out[node] += rate;
            }
        }
    }
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        m_slowestHost = std::min(m_slowestHost, host[rank]);
    }
    for (uint32_t node = topology.hosts; node < topology.GetNodes(); node++)
    {
        const auto inRanks = std::distance(inside[node].begin(), inside[node].lower_bound(ranks));
        if (inRanks > 0 && inRanks < ranks)
        {
            m_cuts.push_back({1.0 * static_cast<double>(inRanks) / ranks, out[node]});
        }
    }
}

Time
LowerBound::GetLatency() const
{
    return m_latency;
}

double
LowerBound::GetSeconds(CollectiveOperation operation,
                       uint64_t bytes,
                       const ByteMatrix& matrix) const
{
    using Operation = CollectiveOperation;
    if (m_ranks < 2)
    {
        return 0;
    }
    if (operation == Operation::BARRIER)
    {
        return m_latency.GetSeconds();
    }
    if (operation == Operation::ALL_TO_ALL_V)
    {
        return GetMost(*matrix) / m_slowestHost;
    }
    if (bytes == 0)
    {
        return 0;
    }
    const auto size = static_cast<double>(bytes);
    double bound = GetBusFactor(operation, m_ranks) * size / m_slowestHost;
    if (HasRoot(operation))
    {
        bound = std::max(bound, m_latency.GetSeconds() / 2); // no root is closer to all than that
    }
    else if (operation == Operation::ALL_REDUCE ||
             (operation != Operation::SEND_RECEIVE && bytes >= 4 * uint64_t{m_ranks}))
    {
        bound = std::max(bound,
                         m_latency.GetSeconds()); // every rank owns a part that all contribute to
    }
    for (const Cut& cut : m_cuts)
    {
        double share = 1;
        if (operation == Operation::REDUCE_SCATTER || operation == Operation::ALL_GATHER)
        {
            share = std::max(cut.share, 1 - cut.share);
        }
        else if (operation == Operation::ALL_TO_ALL)
        {
            share = m_ranks * cut.share * (1 - cut.share);
        }
        bound = std::max(bound, share * size / cut.bytesPerSecond);
    }
    return bound;
}

double
LowerBound::GetMost(const std::vector<uint64_t>& matrix) const
{
    uint64_t most = 0;
    for (uint64_t rank = 0; rank < m_ranks; rank++)
    {
        uint64_t sent = 0;
        uint64_t received = 0;
        for (uint64_t peer = 0; peer < m_ranks; peer++)
        {
            if (peer != rank)
            {
                sent += matrix[rank * m_ranks + peer];
                received += matrix[peer * m_ranks + rank];
            }
        }
        most = std::max({most, sent, received});
    }
    return static_cast<double>(most);
}

} // namespace ns3::training
