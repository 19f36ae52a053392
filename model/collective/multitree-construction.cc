/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "multitree-construction.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace ns3::training
{

namespace
{

constexpr uint32_t NONE = 0xffffffff;

/** The trees under construction, and the links still free in the current step. */
class Construction
{
  public:
    Construction(const TreeNetwork& network, RootOrder order, StopRule rule);

    /** @return the finished trees */
    SpanningTrees Run();

  private:
    void StartStep();
    void RunStep();
    bool TakeTurn(uint32_t root);
    uint32_t FindOn(uint32_t node, uint32_t root) const;
    bool IsExhausted(uint32_t start, uint32_t root) const;
    uint32_t Walk(uint32_t from, uint32_t root, uint32_t distance);
    const std::vector<uint32_t>& GetDistances(uint32_t from);

    const TreeNetwork& m_network;
    RootOrder m_rootOrder;
    StopRule m_rule;
    uint32_t m_nodes;
    SpanningTrees m_result;
    uint32_t m_incomplete;         // number of incomplete trees
    std::vector<uint32_t> m_order; // order of the roots

    std::vector<std::vector<uint32_t>> m_nodesOf;   // per switch
    std::vector<uint32_t> m_sizes;                  // per root, number of members
    std::vector<std::vector<uint32_t>> m_members;   // per root, in joining order, until exhausted
    std::vector<std::vector<bool>> m_isMember;      // whether a node is in a root's tree
    std::vector<std::vector<uint32_t>> m_distances; // between switches; computed lazily

    // State of the current step.
    std::vector<uint32_t> m_inject;            // messages each node may still send
    std::vector<uint32_t> m_eject;             // messages each node may still receive
    std::vector<std::vector<bool>> m_linkUsed; // per switch and neighbor entry
    std::vector<uint32_t> m_parents;           // per root, number of members eligible as parent
    std::vector<uint32_t> m_cursor;            // per root, first member that may still get a child
    std::vector<bool> m_hasExhausted;          // per root, whether members are marked by NONE

    // State of the current search.
    uint32_t m_start{0};
    std::vector<bool> m_entered;                          // visited switches without nodes
    std::vector<uint32_t> m_visited;                      // these switches
    std::vector<std::pair<uint32_t, uint32_t>> m_wayUsed; // path as switch and neighbor entry
};

Construction::Construction(const TreeNetwork& network, RootOrder order, StopRule rule)
    : m_network(network),
      m_rootOrder(order),
      m_rule(rule),
      m_nodes(network.GetNodes()),
      m_incomplete(m_nodes),
      m_order(m_nodes),
      m_nodesOf(network.neighbors.size()),
      m_sizes(m_nodes, 1),
      m_members(m_nodes),
      m_isMember(m_nodes, std::vector<bool>(m_nodes, false)),
      m_distances(network.neighbors.size()),
      m_hasExhausted(m_nodes, false),
      m_entered(network.neighbors.size(), false)
{
    m_result.trees.resize(m_nodes);
    std::iota(m_order.begin(), m_order.end(), 0);
    for (uint32_t node = 0; node < m_nodes; node++)
    {
        m_nodesOf[network.switchOf[node]].push_back(node);
        m_members[node] = {node};
        m_isMember[node][node] = true;
    }
    for (const auto& list : network.neighbors)
    {
        m_linkUsed.emplace_back(list.size(), false);
    }
}

void
Construction::StartStep()
{
    m_inject = m_network.ports;
    m_eject = m_network.ports;
    for (auto& used : m_linkUsed)
    {
        std::fill(used.begin(), used.end(), false);
    }
    m_parents.clear();
    for (uint32_t root = 0; root < m_nodes; root++)
    {
        auto& members = m_members[root];
        if (m_hasExhausted[root])
        {
            members.erase(std::remove(members.begin(), members.end(), NONE), members.end());
            m_hasExhausted[root] = false;
        }
        m_parents.push_back(static_cast<uint32_t>(members.size()));
    }
    m_cursor.assign(m_nodes, 0);
}

const std::vector<uint32_t>&
Construction::GetDistances(uint32_t from)
{
    auto& distances = m_distances[from];
    if (distances.empty())
    {
        distances.assign(m_network.neighbors.size(), NONE);
        distances[from] = 0;
        std::vector<uint32_t> queue{from};
        for (std::size_t i = 0; i < queue.size(); i++)
        {
            for (uint32_t next : m_network.neighbors[queue[i]])
            {
                if (distances[next] == NONE)
                {
                    distances[next] = distances[queue[i]] + 1;
                    queue.push_back(next);
                }
            }
        }
    }
    return distances;
}

uint32_t
Construction::FindOn(uint32_t node, uint32_t root) const
{
    for (uint32_t child : m_nodesOf[node])
    {
        if (m_eject[child] > 0 && !m_isMember[root][child])
        {
            return child;
        }
    }
    return NONE;
}

/**
 * @return whether a member at a switch will never get a child: all nodes on the switch and its
 *         neighbors are members, and these are all switches with nodes
 */
bool
Construction::IsExhausted(uint32_t start, uint32_t root) const
{
    const auto isComplete = [&](uint32_t node) {
        const auto& nodes = m_nodesOf[node];
        return std::all_of(nodes.begin(), nodes.end(), [&](uint32_t child) {
            return m_isMember[root][child];
        });
    };
    const auto& next = m_network.neighbors[start];
    return isComplete(start) && std::all_of(next.begin(), next.end(), [&](uint32_t node) {
               return !m_nodesOf[node].empty() && isComplete(node);
           });
}

uint32_t
Construction::Walk(uint32_t from, uint32_t root, uint32_t distance)
{
    const auto& list = m_network.neighbors[from];
    for (uint32_t entry = 0; entry < list.size(); entry++)
    {
        const uint32_t next = list[entry];
        if (m_linkUsed[from][entry])
        {
            continue;
        }
        uint32_t child = NONE;
        if (!m_nodesOf[next].empty())
        {
            child = FindOn(next, root);
            // Paths must be shortest paths.
            if (child != NONE && distance > 1 && GetDistances(m_start)[next] != distance)
            {
                child = NONE;
            }
        }
        else if (!m_entered[next] && GetDistances(m_start)[next] == distance)
        {
            m_entered[next] = true;
            m_visited.push_back(next);
            child = Walk(next, root, distance + 1);
        }
        if (child != NONE)
        {
            m_wayUsed.emplace_back(from, entry);
            return child;
        }
    }
    return NONE;
}

bool
Construction::TakeTurn(uint32_t root)
{
    auto& members = m_members[root];
    // An edge that is impossible now stays impossible until the end of the step.
    for (uint32_t& i = m_cursor[root]; i < m_parents[root]; i++)
    {
        const uint32_t parent = members[i];
        if (parent == NONE || m_inject[parent] == 0)
        {
            continue;
        }
        m_wayUsed.clear();
        m_start = m_network.switchOf[parent];
        uint32_t child = FindOn(m_start, root);
        if (child == NONE)
        {
            for (uint32_t visited : m_visited)
            {
                m_entered[visited] = false;
            }
            m_visited.clear();
            child = Walk(m_start, root, 1);
        }
        if (child != NONE)
        {
            TreeEdge edge{child, parent, m_result.steps, {m_start}};
            for (auto used = m_wayUsed.rbegin(); used != m_wayUsed.rend(); ++used)
            {
                m_linkUsed[used->first][used->second] = true;
                edge.path.push_back(m_network.neighbors[used->first][used->second]);
            }
            m_inject[parent]--;
            m_eject[child]--;
            members.push_back(child);
            m_isMember[root][child] = true;
            m_result.trees[root].push_back(std::move(edge));
            m_incomplete -= ++m_sizes[root] == m_nodes;
            return true;
        }
        if (IsExhausted(m_start, root))
        {
            members[i] = NONE;
            m_hasExhausted[root] = true;
        }
    }
    return false;
}

void
Construction::RunStep()
{
    bool anyInStep = false;
    bool goesOn = true;
    while (goesOn)
    {
        bool any = false;
        bool last = false;
        for (uint32_t root : m_order)
        {
            last = m_sizes[root] < m_nodes && TakeTurn(root);
            any |= last;
            if (m_incomplete == 0)
            {
                return;
            }
        }
        if (m_rootOrder == RootOrder::SORTED)
        {
            std::sort(m_order.begin(), m_order.end(), [&](uint32_t a, uint32_t b) {
                return std::tie(m_network.priority[a], a) > std::tie(m_network.priority[b], b);
            });
        }
        anyInStep |= any;
        goesOn = m_rule == StopRule::LAST ? last : any;
    }
    if (!anyInStep)
    {
        const auto isIncomplete = [&](uint32_t size) { return size < m_nodes; };
        const auto tree = std::find_if(m_sizes.begin(), m_sizes.end(), isIncomplete);
        const auto root = tree - m_sizes.begin();
        const auto& joined = m_isMember[root];
        throw ConfigurationError(
            "multitree: no way from rank " + std::to_string(root) + " to rank " +
            std::to_string(std::find(joined.begin(), joined.end(), false) - joined.begin()) +
            " (allowed: topologies that join all ranks)");
    }
}

SpanningTrees
Construction::Run()
{
    m_incomplete = m_nodes > 1 ? m_nodes : 0;
    while (m_incomplete > 0)
    {
        StartStep();
        RunStep();
        m_result.steps++;
    }
    return std::move(m_result);
}

} // namespace

std::string
SpanningTrees::Serialize() const
{
    std::string text;
    for (std::size_t root = 0; root < trees.size(); root++)
    {
        text += (root > 0 ? ";" : "") + std::to_string(root) + ":";
        for (std::size_t i = 0; i < trees[root].size(); i++)
        {
            const TreeEdge& edge = trees[root][i];
            text += (i > 0 ? "," : "") + std::to_string(edge.child) + "<" +
                    std::to_string(edge.parent) + "@" + std::to_string(edge.step);
        }
    }
    return text;
}

SpanningTrees
BuildSpanningTrees(const TreeNetwork& network, RootOrder order, StopRule rule)
{
    return Construction(network, order, rule).Run();
}

} // namespace ns3::training
