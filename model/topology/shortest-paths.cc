/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "shortest-paths.h"

#include "core/setup-progress.h"
#include "topology/topology-twins.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace ns3::training
{

ShortestPaths::ShortestPaths(const TopologyGraph& topology)
    : m_topology(topology),
      m_all(MakeAdjacency(topology, false)),
      m_switches(MakeAdjacency(topology, true))
{
}

ShortestPaths::Adjacency
ShortestPaths::MakeAdjacency(const TopologyGraph& topology, bool switchesOnly)
{
    const auto isLeftOut = [&](const TopologyGraph::Link& link) {
        return switchesOnly && std::min(link.a, link.b) < topology.hosts;
    };
    Adjacency adjacency;
    adjacency.first.assign(topology.GetNodes() + 1, 0);
    for (const auto& link : topology.links)
    {
        adjacency.first[link.a + 1] += !isLeftOut(link);
        adjacency.first[link.b + 1] += !isLeftOut(link);
    }
    for (uint32_t node = 0; node < topology.GetNodes(); node++)
    {
        adjacency.first[node + 1] += adjacency.first[node];
    }
    adjacency.edges.resize(adjacency.first.back());
    std::vector<uint32_t> next(adjacency.first.begin(), adjacency.first.end() - 1);
    for (uint32_t i = 0; i < topology.links.size(); i++)
    {
        const auto& link = topology.links[i];
        if (isLeftOut(link))
        {
            continue;
        }
        const bool isGrid = link.dimension != TopologyGraph::NO_DIMENSION;
        const auto down = static_cast<uint16_t>(isGrid ? 2 * (link.dimension + 1) : 0);
        const auto up = static_cast<uint16_t>(isGrid ? down + 1 : 0);
        adjacency.edges[next[link.a]++] = {link.b, i, link.cost, up};
        adjacency.edges[next[link.b]++] = {link.a, i, link.cost, down};
    }
    return adjacency;
}

void
ShortestPaths::Search(uint32_t destination, const LinkFilter& usable)
{
    SearchIn(m_all, destination, usable);
}

void
ShortestPaths::SearchSwitches(uint32_t destination, const LinkFilter& usable)
{
    SearchIn(m_switches, destination, usable);
}

void
ShortestPaths::SearchIn(const Adjacency& adjacency, uint32_t destination, const LinkFilter& usable)
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
            for (uint32_t at = adjacency.first[node]; at < adjacency.first[node + 1]; at++)
            {
                const Edge& edge = adjacency.edges[at];
                const uint32_t sum = cost + edge.cost;
                if (sum < m_costs[edge.peer] && (!m_usable || m_usable(edge.link)))
                {
                    m_costs[edge.peer] = sum;
                    if (m_frontier.size() <= sum)
                    {
                        m_frontier.resize(sum + 1);
                    }
                    m_frontier[sum].push_back(edge.peer);
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
    // Switches on the way to a switch: hosts need not be looked at, as they do not forward.
    const bool isInside = std::min(node, m_destination) >= m_topology.hosts;
    const Adjacency& adjacency = isInside ? m_switches : m_all;
    // Dimension-order routing in a grid: only the links of the highest dimension, up before down.
    uint16_t best = 0;
    for (uint32_t at = adjacency.first[node]; at < adjacency.first[node + 1]; at++)
    {
        const Edge& edge = adjacency.edges[at];
        if (m_costs[edge.peer] == UNREACHED || m_costs[node] != m_costs[edge.peer] + edge.cost ||
            !Forwards(edge.peer) || (m_usable && !m_usable(edge.link)))
        {
            continue;
        }
        if (edge.preference > 0)
        {
            if (edge.preference < best)
            {
                continue;
            }
            if (edge.preference > best)
            {
                next.clear();
                best = edge.preference;
            }
        }
        next.push_back(edge.link);
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
    const std::vector<uint32_t> twinOf = FindTwins(m_topology, 0, ranks);
    std::vector<uint32_t> distinct;
    for (uint32_t host = 0; host < ranks; host++)
    {
        if (twinOf[host] == host)
        {
            distinct.push_back(host);
        }
    }
    return distinct;
}

int64_t
ShortestPaths::GetFarthest(uint32_t root, uint32_t ranks, bool ranksForward) const
{
    constexpr int64_t FAR = std::numeric_limits<int64_t>::max();
    std::vector<int64_t> delays(m_topology.GetNodes(), FAR);
    // As SearchIn(), with delays instead of costs. Most networks have few different delays, and so
    // few buckets.
    std::map<int64_t, std::vector<uint32_t>> frontier;
    delays[root] = 0;
    frontier[0] = {root};
    while (!frontier.empty())
    {
        const int64_t delay = frontier.begin()->first;
        std::vector<uint32_t>& nodes = frontier.begin()->second;
        for (std::size_t i = 0; i < nodes.size(); i++) // grows if delays are 0
        {
            const uint32_t node = nodes[i];
            const bool isEnd = node < m_topology.hosts && !(ranksForward && node < ranks);
            if (delay > delays[node] || (isEnd && node != root))
            {
                continue;
            }
            for (uint32_t at = m_all.first[node]; at < m_all.first[node + 1]; at++)
            {
                const Edge& edge = m_all.edges[at];
                const int64_t sum = delay + m_topology.links[edge.link].delay.GetTimeStep();
                if (sum < delays[edge.peer])
                {
                    delays[edge.peer] = sum;
                    frontier[sum].push_back(edge.peer);
                }
            }
        }
        frontier.erase(frontier.begin());
    }
    return *std::max_element(delays.begin(), delays.begin() + ranks);
}

Time
ShortestPaths::GetDiameter(uint32_t ranks, bool ranksForward) const
{
    const std::vector<uint32_t> roots = GetDistinctHosts(ranks);
    if (roots.size() > 1)
    {
        const TopologyGraph merged = MergeTwins(m_topology, ranks);
        if (merged.GetNodes() < m_topology.GetNodes())
        {
            return ShortestPaths(merged).GetDiameter(merged.hosts, ranksForward);
        }
    }
    int64_t longest = 0;
    for (uint32_t root : roots)
    {
        longest = std::max(longest, GetFarthest(root, ranks, ranksForward));
    }
    return TimeStep(longest);
}

ShortestPaths::Path
ShortestPaths::GetLongestPath(uint32_t ranks)
{
    const std::vector<uint32_t> roots = GetDistinctHosts(ranks);
    if (roots.size() > 1)
    {
        const TopologyGraph merged = MergeTwins(m_topology, ranks);
        if (merged.GetNodes() < m_topology.GetNodes())
        {
            return ShortestPaths(merged).GetLongestPath(merged.hosts);
        }
    }
    Path longest;
    longest.rate = 0;
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
