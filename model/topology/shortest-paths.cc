/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "shortest-paths.h"

#include "ns3/training-setup-progress.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

namespace ns3::training
{

ShortestPaths::ShortestPaths(const TopologyGraph& topology)
    : m_topology(topology),
      m_first(topology.GetNodes() + 1, 0),
      m_links(2 * topology.links.size())
{
    for (const auto& link : topology.links)
    {
        m_first[link.a + 1]++;
        m_first[link.b + 1]++;
    }
    for (uint32_t node = 0; node < topology.GetNodes(); node++)
    {
        m_first[node + 1] += m_first[node];
    }
    std::vector<uint32_t> next(m_first.begin(), m_first.end() - 1);
    for (uint32_t i = 0; i < topology.links.size(); i++)
    {
        m_links[next[topology.links[i].a]++] = i;
        m_links[next[topology.links[i].b]++] = i;
    }
}

void
ShortestPaths::Search(uint32_t destination, const LinkFilter& usable)
{
    m_destination = destination;
    m_usable = usable;
    m_costs.assign(m_topology.GetNodes(), UNREACHED);
    m_order.clear();
    m_costs[destination] = 0;
    m_frontier.resize(1);
    m_frontier[0] = {destination};
    // Dijkstra's algorithm with one bucket per cost (Dial, 1969), as costs are small integers.
    for (uint32_t cost = 0; cost < m_frontier.size(); cost++)
    {
        for (std::size_t i = 0; i < m_frontier[cost].size(); i++)
        {
            const uint32_t node = m_frontier[cost][i];
            if (m_costs[node] != cost)
            {
                continue; // there is a cheaper path
            }
            m_order.push_back(node);
            if (!Forwards(node))
            {
                continue;
            }
            for (uint32_t at = m_first[node]; at < m_first[node + 1]; at++)
            {
                const auto& link = m_topology.links[m_links[at]];
                const uint32_t peer = TopologyGraph::GetPeer(link, node);
                const uint32_t sum = cost + link.cost;
                if (sum < m_costs[peer] && (!m_usable || m_usable(m_links[at])))
                {
                    m_costs[peer] = sum;
                    if (m_frontier.size() <= sum)
                    {
                        m_frontier.resize(sum + 1);
                    }
                    m_frontier[sum].push_back(peer);
                }
            }
        }
        m_frontier[cost].clear();
    }
}

void
ShortestPaths::GetNextLinks(uint32_t node, std::vector<uint32_t>& next) const
{
    next.clear();
    if (!IsReached(node))
    {
        return;
    }
    // Dimension-order routing in a grid: only the links of the highest dimension, up before down.
    std::pair<uint32_t, bool> best{0, false};
    for (uint32_t at = m_first[node]; at < m_first[node + 1]; at++)
    {
        const auto& link = m_topology.links[m_links[at]];
        const uint32_t peer = TopologyGraph::GetPeer(link, node);
        if (!Forwards(peer) || !IsReached(peer) || m_costs[node] != m_costs[peer] + link.cost ||
            (m_usable && !m_usable(m_links[at])))
        {
            continue;
        }
        if (link.dimension != TopologyGraph::NO_DIMENSION)
        {
            const std::pair<uint32_t, bool> preference{link.dimension + 1, link.a == node};
            if (preference < best)
            {
                continue;
            }
            if (preference > best)
            {
                next.clear();
                best = preference;
            }
        }
        next.push_back(m_links[at]);
    }
}

std::vector<ShortestPaths::Path>
ShortestPaths::GetPaths() const
{
    std::vector<Path> paths(m_topology.GetNodes());
    std::vector<uint32_t> next;
    for (uint32_t node : m_order)
    {
        GetNextLinks(node, next);
        bool first = true;
        for (uint32_t i : next)
        {
            const auto& link = m_topology.links[i];
            Path path = paths[TopologyGraph::GetPeer(link, node)];
            path.links++;
            path.first = i;
            path.rate = std::min(path.rate, link.rate.GetBitRate());
            path.delay += link.delay;
            path.secondsPerBit += 1 / static_cast<double>(link.rate.GetBitRate());
            if (first || path.rate > paths[node].rate ||
                (path.rate == paths[node].rate && path.delay < paths[node].delay))
            {
                paths[node] = path;
                first = false;
            }
        }
    }
    return paths;
}

bool
ShortestPaths::IsTorus() const
{
    const TopologyShape& shape = m_topology.shape;
    uint64_t nodes = 1;
    for (uint32_t side : shape.sides)
    {
        nodes *= side;
    }
    const uint32_t hosts = m_topology.hosts;
    if (!shape.wraps || nodes != hosts || m_topology.switches != hosts)
    {
        return false;
    }
    // A shift by one place along any dimension must map the links onto themselves.
    using Link = std::tuple<uint32_t, uint32_t, uint64_t, int64_t, uint32_t, uint8_t>;
    uint32_t stride = hosts;
    for (uint32_t side : shape.sides)
    {
        stride /= side;
        const auto shift = [&](uint32_t node) {
            const bool isLast = node % hosts / stride % side == side - 1;
            return isLast ? node - (side - 1) * stride : node + stride;
        };
        std::vector<Link> before;
        std::vector<Link> after;
        for (const auto& link : m_topology.links)
        {
            const auto add = [&](std::vector<Link>& links, uint32_t a, uint32_t b) {
                if (side == 2 && a > b)
                {
                    std::swap(a, b); // the way up is the way down
                }
                links.emplace_back(a,
                                   b,
                                   link.rate.GetBitRate(),
                                   link.delay.GetTimeStep(),
                                   link.cost,
                                   link.dimension);
            };
            add(before, link.a, link.b);
            add(after, shift(link.a), shift(link.b));
        }
        std::sort(before.begin(), before.end());
        std::sort(after.begin(), after.end());
        if (before != after)
        {
            return false;
        }
    }
    return true;
}

std::vector<uint32_t>
ShortestPaths::GetDistinctHosts(uint32_t ranks) const
{
    if (ranks == m_topology.hosts && IsTorus())
    {
        return {0};
    }
    std::set<std::vector<std::tuple<uint32_t, uint64_t, int64_t>>> seen;
    std::vector<uint32_t> distinct;
    for (uint32_t host = 0; host < ranks; host++)
    {
        std::vector<std::tuple<uint32_t, uint64_t, int64_t>> key;
        for (uint32_t at = m_first[host]; at < m_first[host + 1]; at++)
        {
            const auto& link = m_topology.links[m_links[at]];
            key.emplace_back(TopologyGraph::GetPeer(link, host),
                             link.rate.GetBitRate(),
                             link.delay.GetTimeStep());
        }
        if (seen.insert(key).second)
        {
            distinct.push_back(host);
        }
    }
    return distinct;
}

Time
ShortestPaths::GetDiameter(uint32_t ranks, bool ranksForward) const
{
    int64_t longest = 0;
    for (uint32_t root : GetDistinctHosts(ranks))
    {
        constexpr int64_t FAR = std::numeric_limits<int64_t>::max();
        std::vector<int64_t> delays(m_topology.GetNodes(), FAR);
        using Entry = std::pair<int64_t, uint32_t>; // delay, node
        std::priority_queue<Entry, std::vector<Entry>, std::greater<>> waiting;
        delays[root] = 0;
        waiting.emplace(0, root);
        while (!waiting.empty())
        {
            const auto [delay, node] = waiting.top();
            waiting.pop();
            const bool isEnd = node < m_topology.hosts && !(ranksForward && node < ranks);
            if (delay > delays[node] || (isEnd && node != root))
            {
                continue;
            }
            for (uint32_t at = m_first[node]; at < m_first[node + 1]; at++)
            {
                const auto& link = m_topology.links[m_links[at]];
                const uint32_t peer = TopologyGraph::GetPeer(link, node);
                const int64_t sum = delay + link.delay.GetTimeStep();
                if (sum < delays[peer])
                {
                    delays[peer] = sum;
                    waiting.emplace(sum, peer);
                }
            }
        }
        longest = std::max(longest, *std::max_element(delays.begin(), delays.begin() + ranks));
    }
    return TimeStep(longest);
}

ShortestPaths::Path
ShortestPaths::GetLongestPath(uint32_t ranks)
{
    Path longest;
    longest.rate = 0;
    const std::vector<uint32_t> roots = GetDistinctHosts(ranks);
    SetupProgress progress("longest path", roots.size());
    for (uint32_t root : roots)
    {
        progress.Advance();
        Search(root);
        const std::vector<Path> paths = GetPaths();
        for (uint32_t host = 0; host < ranks; host++)
        {
            if (paths[host].links > 0)
            {
                longest.links = std::max(longest.links, paths[host].links);
                longest.rate = std::max(longest.rate, paths[host].rate);
                longest.delay = std::max(longest.delay, paths[host].delay);
                longest.secondsPerBit = std::max(longest.secondsPerBit, paths[host].secondsPerBit);
            }
        }
    }
    return longest;
}

} // namespace ns3::training
