/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "aggregation-tree.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <string>

namespace ns3::training
{

namespace
{

/** @return the neighbors of each node */
std::vector<std::vector<uint32_t>>
GetNeighbors(const TopologyGraph& topology)
{
    std::vector<std::vector<uint32_t>> neighbors(topology.GetNodes());
    for (const auto& link : topology.links)
    {
        neighbors[link.a].push_back(link.b);
        neighbors[link.b].push_back(link.a);
    }
    return neighbors;
}

/** @return hops from a switch to each node, through switches only */
std::vector<uint32_t>
GetDistances(const TopologyGraph& topology,
             const std::vector<std::vector<uint32_t>>& neighbors,
             uint32_t from)
{
    std::vector<uint32_t> distances(topology.GetNodes(), AggregationNode::NONE);
    distances[from] = 0;
    std::deque<uint32_t> queue{from};
    while (!queue.empty())
    {
        const uint32_t node = queue.front();
        queue.pop_front();
        for (uint32_t next : neighbors[node])
        {
            if (next >= topology.hosts && distances[next] == AggregationNode::NONE)
            {
                distances[next] = distances[node] + 1;
                queue.push_back(next);
            }
        }
    }
    return distances;
}

/** A tree over switches under construction. */
class Builder
{
  public:
    Builder(const TopologyGraph& topology,
            const std::vector<uint32_t>& hosts,
            const std::vector<uint32_t>& links,
            uint32_t choice)
        : m_topology(topology),
          m_neighbors(GetNeighbors(topology)),
          m_choice(choice)
    {
        for (std::size_t i = 0; i < hosts.size(); i++)
        {
            const auto& all = m_neighbors[hosts[i]];
            const uint32_t first = all.empty() ? 0 : all.front();
            const uint32_t node =
                links.empty() ? first : TopologyGraph::GetPeer(topology.links[links[i]], hosts[i]);
            if (node < topology.hosts)
            {
                throw ConfigurationError("topology '" + topology.name + "': host " +
                                         std::to_string(hosts[i]) +
                                         " is linked to no switch that could add (allowed: all "
                                         "are)");
            }
            m_hostsOf[node].push_back(hosts[i]);
        }
        m_root = FindRoot();
    }

    /** @return the root and the leaf switches below it */
    std::vector<AggregationNode> BuildTwoLevels() const
    {
        std::map<uint32_t, uint32_t> parents;
        for (const auto& [node, there] : m_hostsOf)
        {
            parents.emplace(node, m_root);
        }
        return Assemble(parents);
    }

    /** @return every switch where several paths merge */
    std::vector<AggregationNode> BuildAllLevels() const
    {
        const auto distances = GetDistances(m_topology, m_neighbors, m_root);
        std::vector<std::set<uint32_t>> levels(1);
        for (const auto& [node, there] : m_hostsOf)
        {
            levels.resize(std::max<std::size_t>(levels.size(), distances[node] + 1));
            levels[distances[node]].insert(node);
        }
        std::map<uint32_t, uint32_t> parents;
        for (std::size_t distance = levels.size() - 1; distance > 0; distance--)
        {
            ChooseParents(levels[distance], levels[distance - 1], distances, parents);
        }
        Shorten(parents);
        return Assemble(parents);
    }

  private:
    /** @return a switch with minimum distance to the farthest leaf switch */
    uint32_t FindRoot() const
    {
        if (m_hostsOf.size() == 1)
        {
            return m_hostsOf.begin()->first;
        }
        std::vector<uint32_t> farthest(m_topology.GetNodes(), 0);
        for (const auto& [node, there] : m_hostsOf)
        {
            const auto distances = GetDistances(m_topology, m_neighbors, node);
            for (uint32_t i = m_topology.hosts; i < m_topology.GetNodes(); i++)
            {
                farthest[i] = std::max(farthest[i], distances[i]);
            }
        }
        const auto first = farthest.begin() + m_topology.hosts;
        const uint32_t least = *std::min_element(first, farthest.end());
        if (least == AggregationNode::NONE)
        {
            throw ConfigurationError("topology '" + m_topology.name +
                                     "': switches of hosts do not reach each other through "
                                     "switches (allowed: hosts whose switches do)");
        }
        std::vector<uint32_t> roots;
        for (uint32_t i = m_topology.hosts; i < m_topology.GetNodes(); i++)
        {
            if (farthest[i] == least)
            {
                roots.push_back(i);
            }
        }
        return roots[m_choice % roots.size()];
    }

    /** Chooses a parent for each switch of a level, greedily with as few parents as possible. */
    void ChooseParents(const std::set<uint32_t>& level,
                       std::set<uint32_t>& above,
                       const std::vector<uint32_t>& distances,
                       std::map<uint32_t, uint32_t>& parents) const
    {
        std::map<uint32_t, std::set<uint32_t>> able; // potential children of each potential parent
        for (uint32_t node : level)
        {
            for (uint32_t next : m_neighbors[node])
            {
                if (next >= m_topology.hosts && distances[next] + 1 == distances[node])
                {
                    able[next].insert(node);
                }
            }
        }
        const auto take = [&](uint32_t parent) {
            const std::set<uint32_t> children = able[parent];
            above.insert(parent);
            for (auto& [other, nodes] : able)
            {
                for (uint32_t child : children)
                {
                    nodes.erase(child);
                }
            }
            for (uint32_t child : children)
            {
                parents[child] = parent;
            }
        };
        for (uint32_t parent : std::set<uint32_t>(above)) // these aggregate anyway
        {
            if (able.count(parent) > 0)
            {
                take(parent);
            }
        }
        while (true)
        {
            std::vector<uint32_t> best;
            std::size_t most = 1;
            for (const auto& [parent, nodes] : able)
            {
                if (nodes.size() > most)
                {
                    most = nodes.size();
                    best.clear();
                }
                if (nodes.size() == most)
                {
                    best.push_back(parent);
                }
            }
            if (best.empty())
            {
                return;
            }
            take(best[m_choice % best.size()]);
        }
    }

    /** Removes switches with only one child. */
    void Shorten(std::map<uint32_t, uint32_t>& parents) const
    {
        std::map<uint32_t, std::size_t> children;
        for (const auto& [node, parent] : parents)
        {
            children[parent]++;
        }
        const auto isAlone = [&](uint32_t node) {
            return node != m_root && m_hostsOf.count(node) == 0 && children[node] == 1;
        };
        for (auto& [node, parent] : parents)
        {
            while (isAlone(parent))
            {
                parent = parents.at(parent);
            }
        }
        for (auto at = parents.begin(); at != parents.end();)
        {
            at = isAlone(at->first) ? parents.erase(at) : std::next(at);
        }
    }

    /** @return the tree, given the parent of each switch */
    std::vector<AggregationNode> Assemble(std::map<uint32_t, uint32_t> parents) const
    {
        parents.erase(m_root);
        std::vector<AggregationNode> tree(1);
        std::map<uint32_t, uint32_t> places{{m_root, 0}};
        for (const auto& [node, parent] : parents)
        {
            places[node] = static_cast<uint32_t>(tree.size());
            tree.emplace_back();
        }
        for (const auto& [node, place] : places)
        {
            tree[place].switchIndex = node - m_topology.hosts;
            const auto there = m_hostsOf.find(node);
            if (there != m_hostsOf.end())
            {
                tree[place].hosts = there->second;
            }
            if (place > 0)
            {
                tree[place].parent = places.at(parents.at(node));
                tree[tree[place].parent].below.push_back(place);
            }
        }
        return tree;
    }

    const TopologyGraph& m_topology;
    std::vector<std::vector<uint32_t>> m_neighbors;
    uint32_t m_choice;
    std::map<uint32_t, std::vector<uint32_t>> m_hostsOf; // hosts by leaf switch
    uint32_t m_root{0};
};

} // namespace

std::vector<AggregationNode>
BuildAggregationTree(const TopologyGraph& topology,
                     const std::vector<uint32_t>& hosts,
                     uint32_t choice,
                     AggregationLevels levels,
                     const std::vector<uint32_t>& links)
{
    const Builder builder(topology, hosts, links, choice);
    return levels == AggregationLevels::TWO ? builder.BuildTwoLevels() : builder.BuildAllLevels();
}

std::vector<uint32_t>
ChooseAggregationLinks(const TopologyGraph& topology, const std::vector<uint32_t>& hosts)
{
    const auto neighbors = GetNeighbors(topology);
    const auto linksOf = topology.GetLinksOfNodes();
    std::set<uint32_t> switches; // leaf switches
    for (uint32_t host : hosts)
    {
        for (uint32_t link : linksOf[host])
        {
            const uint32_t node = TopologyGraph::GetPeer(topology.links[link], host);
            if (node >= topology.hosts)
            {
                switches.insert(node);
            }
        }
    }
    std::map<uint32_t, std::vector<uint32_t>> distances; // by leaf switch
    for (uint32_t node : switches)
    {
        distances[node] = GetDistances(topology, neighbors, node);
    }
    // The best link of each host, for each candidate root.
    std::vector<uint32_t> best;
    uint32_t lowest = AggregationNode::NONE;
    for (uint32_t root = topology.hosts; root < topology.GetNodes(); root++)
    {
        std::vector<uint32_t> links;
        uint32_t farthest = 0;
        for (uint32_t host : hosts)
        {
            uint32_t nearest = AggregationNode::NONE;
            links.push_back(0);
            for (uint32_t link : linksOf[host])
            {
                const auto found =
                    distances.find(TopologyGraph::GetPeer(topology.links[link], host));
                if (found != distances.end() && found->second[root] < nearest)
                {
                    nearest = found->second[root];
                    links.back() = link;
                }
            }
            farthest = std::max(farthest, nearest);
            if (nearest == AggregationNode::NONE || farthest >= lowest)
            {
                farthest = AggregationNode::NONE;
                break;
            }
        }
        if (farthest < lowest)
        {
            lowest = farthest;
            best = std::move(links);
        }
    }
    if (best.empty())
    {
        throw ConfigurationError("topology '" + topology.name +
                                 "': no switch is reached by all hosts through switches (allowed: "
                                 "hosts whose switches reach each other)");
    }
    return best;
}

} // namespace ns3::training
