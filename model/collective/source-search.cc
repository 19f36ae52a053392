/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective/source-search.h"

#include <algorithm>
#include <cmath>

namespace ns3::training
{

SourceSearch::SourceSearch(const TopologyGraph& topology,
                           const std::vector<uint32_t>& hosts,
                           uint64_t chunkBytes,
                           const ChunkSets& has)
    : m_hosts(hosts),
      m_chunkBytes(chunkBytes),
      m_has(has),
      m_hops(topology.GetNodes()),
      m_rankOf(topology.hosts, NONE),
      m_hasRanks(topology.GetNodes(), false),
      m_isBeside(topology.GetNodes(), false),
      m_isSeen(topology.GetNodes(), false),
      m_labels(topology.GetNodes())
{
    const auto linksOf = topology.GetLinksOfNodes();
    for (uint32_t node = 0; node < topology.GetNodes(); node++)
    {
        for (uint32_t index : linksOf[node])
        {
            const auto& link = topology.links[index];
            const uint32_t begin = TopologyGraph::GetPeer(link, node);
            m_hops[node].push_back({begin,
                                    2 * index + (begin == link.a ? 0 : 1),
                                    link.rate.GetBitRate(),
                                    static_cast<uint64_t>(link.delay.GetPicoSeconds())});
        }
    }
    for (const auto& link : topology.links)
    {
        m_free.insert(m_free.end(), 2, link.rate.GetBitRate());
    }
    for (uint32_t rank = 0; rank < hosts.size(); rank++)
    {
        m_rankOf[hosts[rank]] = rank;
        for (const Hop& hop : m_hops[hosts[rank]])
        {
            m_hasRanks[hop.node] = true;
        }
    }
}

void
SourceSearch::MarkBeside(uint32_t target, bool isBeside)
{
    for (const Hop& hop : m_hops[m_hosts[target]])
    {
        m_isBeside[hop.node] = isBeside;
    }
}

bool
SourceSearch::IsLast(uint32_t node) const
{
    // Paths must not pass a switch with ranks, because ranks on it are closer; the switches of the
    // target are exempt.
    return m_hasRanks[node] && !m_isBeside[node];
}

std::vector<std::vector<uint32_t>>
SourceSearch::FindFewSources(std::size_t most)
{
    std::vector<std::vector<uint32_t>> all(m_hosts.size());
    for (uint32_t target = 0; target < all.size(); target++)
    {
        MarkBeside(target, true);
        FindFew(target, most, all[target]);
        MarkBeside(target, false);
        if (all[target].size() > most)
        {
            all[target] = {};
        }
    }
    return all;
}

void
SourceSearch::FindFew(uint32_t target, std::size_t most, std::vector<uint32_t>& sources)
{
    std::vector<uint32_t> seen{m_hosts[target]};
    m_isSeen[seen[0]] = true;
    for (std::size_t i = 0; i < seen.size() && sources.size() <= most; i++)
    {
        const bool isSource = i > 0 && seen[i] < m_rankOf.size(); // hosts do not forward
        const bool isLast = IsLast(seen[i]);
        for (const Hop& hop : m_hops[seen[i]])
        {
            const bool isHost = hop.node < m_rankOf.size();
            const bool isOff = isHost ? m_rankOf[hop.node] == NONE : isLast;
            if (isSource || m_isSeen[hop.node] || isOff)
            {
                continue;
            }
            m_isSeen[hop.node] = true;
            seen.push_back(hop.node);
            if (isHost)
            {
                sources.push_back(m_rankOf[hop.node]);
            }
        }
    }
    for (uint32_t node : seen)
    {
        m_isSeen[node] = false;
    }
}

bool
SourceSearch::HasFree(uint32_t rank, bool out) const
{
    const auto& hops = m_hops[m_hosts[rank]];
    return std::any_of(hops.begin(), hops.end(), [&](const Hop& hop) {
        return m_free[out ? hop.directed ^ 1 : hop.directed] > 0;
    });
}

uint64_t
SourceSearch::GetTime(uint64_t rate)
{
    if (rate != m_lastRate)
    {
        m_lastRate = rate;
        m_lastTime = static_cast<uint64_t>(
            std::ceil(static_cast<double>(m_chunkBytes) * 8e12 / static_cast<double>(rate)));
    }
    return m_lastTime;
}

void
SourceSearch::Expand(uint32_t node, uint32_t chunk)
{
    const Label from = m_labels[node];
    const bool isLast = IsLast(node);
    for (const Hop& hop : m_hops[node])
    {
        m_visits++;
        const bool isHost = hop.node < m_rankOf.size();
        const uint32_t rank = isHost ? m_rankOf[hop.node] : NONE;
        if (m_free[hop.directed] == 0 ||
            (isHost ? rank == NONE || (chunk != NONE && !m_has.Has(rank, chunk)) : isLast))
        {
            continue;
        }
        Label label;
        label.latency = from.latency + hop.delay;
        label.rate = std::min(from.rate, hop.rate);
        label.free = std::min(from.free, m_free[hop.directed]);
        label.link = hop.directed;
        label.next = node;
        label.cost = label.latency + GetTime(label.rate);
        const bool isFull = isHost && label.free < label.rate;
        Label& known = m_labels[hop.node];
        if (isFull || label.cost >= known.cost || label.cost > m_best)
        {
            continue;
        }
        if (!isHost)
        {
            m_queue.emplace(label.cost, hop.node);
        }
        else
        {
            m_best = chunk == NONE ? NEVER : label.cost;
            if (known.link == NONE)
            {
                m_found.push_back(rank);
            }
        }
        if (known.link == NONE)
        {
            m_touched.push_back(hop.node);
        }
        known = label;
    }
}

void
SourceSearch::Find(uint32_t chunk, uint32_t target)
{
    for (uint32_t node : m_touched)
    {
        m_labels[node] = Label();
    }
    m_touched.clear();
    m_found.clear();
    m_queue = {};
    m_best = NEVER;
    const uint32_t start = m_hosts[target];
    MarkBeside(target, true);
    m_labels[start].cost = 0;
    m_touched.push_back(start);
    Expand(start, chunk);
    // A path through a node costs no less than the path from the node.
    while (!m_queue.empty() && m_queue.top().first <= m_best)
    {
        const auto [cost, node] = m_queue.top();
        m_queue.pop();
        if (cost == m_labels[node].cost)
        {
            Expand(node, chunk);
        }
    }
    MarkBeside(target, false);
}

uint64_t
SourceSearch::Occupy(uint32_t source, uint32_t target, std::vector<uint32_t>& path)
{
    const uint64_t rate = m_labels[m_hosts[source]].rate;
    path.clear();
    for (uint32_t node = m_hosts[source]; node != m_hosts[target]; node = m_labels[node].next)
    {
        path.push_back(m_labels[node].link);
        m_free[m_labels[node].link] -= rate;
    }
    return rate;
}

void
SourceSearch::Release(const std::vector<uint32_t>& path, uint64_t rate)
{
    for (uint32_t directed : path)
    {
        m_free[directed] += rate;
    }
}

} // namespace ns3::training
