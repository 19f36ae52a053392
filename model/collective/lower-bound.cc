/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "lower-bound.h"

#include "topology/network-cuts.h"

#include "ns3/chunk-layout.h"
#include "ns3/shortest-paths.h"

#include <algorithm>
#include <limits>

namespace ns3::training
{

namespace
{

/** @return the topology with the given hosts renumbered first; the regular shape is dropped */
TopologyGraph
RenumberHostsFirst(TopologyGraph topology, const std::vector<uint32_t>& hosts)
{
    constexpr uint32_t NONE = std::numeric_limits<uint32_t>::max();
    std::vector<uint32_t> numbers(topology.hosts, NONE);
    uint32_t next = 0;
    for (uint32_t host : hosts)
    {
        numbers.at(host) = next++;
    }
    for (uint32_t& number : numbers)
    {
        number = number == NONE ? next++ : number;
    }
    for (TopologyGraph::Link& link : topology.links)
    {
        for (uint32_t* node : {&link.a, &link.b})
        {
            *node = *node < topology.hosts ? numbers[*node] : *node;
        }
        link.dimension = TopologyGraph::NO_DIMENSION;
        link.dateline = false;
    }
    topology.shape = TopologyShape();
    return topology;
}

} // namespace

LowerBound::LowerBound(const TopologyGraph& topology,
                       const std::vector<uint32_t>& hosts,
                       double goodput)
    : LowerBound(RenumberHostsFirst(topology, hosts), static_cast<uint32_t>(hosts.size()), goodput)
{
}

LowerBound::LowerBound(const TopologyGraph& topology, uint32_t ranks, double goodput)
    : m_ranks(ranks),
      m_goodput(goodput),
      m_latency(ShortestPaths(topology).GetDiameter(ranks, true)),
      m_slowestRank(std::numeric_limits<double>::infinity())
{
    std::vector<double> rates(topology.hosts, 0); // payload rate of each host, bytes/s
    for (const auto& link : topology.links)
    {
        for (uint32_t node : {link.a, link.b})
        {
            if (node < topology.hosts)
            {
                rates[node] += static_cast<double>(link.rate.GetBitRate()) / 8 * goodput;
            }
        }
    }
    std::vector<NetworkCut> cuts = FindHalves(topology, ranks);
    for (const NetworkCut& cut : FindSwitchCuts(topology, ranks))
    {
        if (cut.inside.size() ==
            1) // a torus router cannot forward more than the capacity of its own links
        {
            double& rate = rates[cut.inside[0]];
            rate = std::min(rate, cut.rate / 8 * goodput);
        }
        cuts.push_back(cut);
    }
    for (NetworkCut& cut : cuts)
    {
        const double share = static_cast<double>(cut.inside.size()) / ranks;
        m_cuts.push_back({std::move(cut.inside), share, cut.rate / 8 * goodput});
    }
    rates.resize(ranks);
    for (double rate : rates)
    {
        m_slowestRank = std::min(m_slowestRank, rate);
        m_allRanks += rate;
    }
    m_rates = std::move(rates);
}

void
LowerBound::SetSumsInNetwork(std::set<CollectiveOperation> operations, double goodput)
{
    m_inNetwork = std::move(operations);
    m_goodputInNetwork = goodput;
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
        return GetSecondsOfMatrix(*matrix);
    }
    if (bytes == 0)
    {
        return 0;
    }
    // Parts may differ by one element, and the largest part may belong to a rank with a slow link.
    const bool isInParts = operation == Operation::REDUCE_SCATTER ||
                           operation == Operation::ALL_GATHER || operation == Operation::ALL_TO_ALL;
    const bool isInNetwork = m_inNetwork.count(operation) > 0;
    const double size =
        static_cast<double>(isInParts ? m_ranks * GetPartRange(bytes, m_ranks, 0).second : bytes) *
        (isInNetwork ? m_goodput / m_goodputInNetwork : 1); // the rates below are payload rates
    double bound = GetBusFactor(operation, m_ranks) * size / m_slowestRank;
    if (operation == Operation::ALL_REDUCE)
    {
        // Every rank sends and receives S. Each element needs N-1 transfers for its reduction and
        // N-1 for its distribution; the transfers may be divided among ranks in proportion to their
        // rates.
        const double transfers = isInNetwork ? 0 : 2.0 * (m_ranks - 1) * size / m_allRanks;
        bound = std::max(size / m_slowestRank, transfers);
    }
    if (HasRoot(operation))
    {
        bound = std::max(bound, m_latency.GetSeconds() / 2); // any root has a rank this far away
    }
    else if (operation != Operation::SEND_RECEIVE && size > 0)
    {
        bound = std::max(bound,
                         m_latency.GetSeconds()); // each part depends on all ranks
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
LowerBound::GetSecondsOfMatrix(const std::vector<uint64_t>& matrix) const
{
    // The maximum of the bytes out of and into a set of ranks.
    std::vector<bool> isInside(m_ranks, false);
    const auto getMost = [&](const std::vector<uint32_t>& inside) {
        uint64_t sent = 0;
        uint64_t received = 0;
        for (uint64_t rank : inside)
        {
            isInside[rank] = true;
        }
        for (uint64_t rank : inside)
        {
            for (uint64_t peer = 0; peer < m_ranks; peer++)
            {
                if (!isInside[peer])
                {
                    sent += matrix[rank * m_ranks + peer];
                    received += matrix[peer * m_ranks + rank];
                }
            }
        }
        for (uint64_t rank : inside)
        {
            isInside[rank] = false;
        }
        return static_cast<double>(std::max(sent, received));
    };
    double bound = 0;
    for (uint32_t rank = 0; rank < m_ranks; rank++)
    {
        bound = std::max(bound, getMost({rank}) / m_rates[rank]);
    }
    for (const Cut& cut : m_cuts)
    {
        bound = std::max(bound, getMost(cut.inside) / cut.bytesPerSecond);
    }
    return bound;
}

} // namespace ns3::training
