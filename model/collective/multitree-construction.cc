/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective/multitree-construction.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace ns3::training
{

namespace
{

constexpr uint32_t NO_NODE = 0xffffffff;

/** A node of a tree that may get a child. */
struct Member
{
    uint32_t node;
    /// Bits of its switch's ways that may lead to nodes outside the tree, see Construction.
    uint32_t open;
};

/**
 * The trees under construction, and the links still free in the current step. A switch has up to 31
 * ways: bit 0 leads to its own nodes, bit 1 + i over the link to its neighbor i. At switches with
 * more links no way is ever closed or taken.
 */
class Construction
{
  public:
    Construction(const TreeNetwork& network, RootOrder order, StopRule rule);

    /** @return the finished trees */
    SpanningTrees Run();

  private:
    /** What a search on the nodes of a switch has found. */
    struct Found
    {
        uint32_t child;  // NO_NODE: none that can receive
        bool isComplete; // all nodes are in the tree
    };

    void StartStep();
    void RunStep();
    bool TakeTurn(uint32_t root);
    uint32_t FindChild(uint32_t root, Member& parent);
    void AddEdge(uint32_t root, uint32_t parent, uint32_t child);
    Found FindOn(uint32_t node, uint32_t root) const;
    uint32_t Walk(uint32_t from, uint32_t root, uint32_t distance, uint32_t& open);
    const std::vector<uint32_t>& GetDistances(uint32_t from);

    /** @return bit of a way over a link in masks of its switch; 0: these are too small */
    uint32_t GetWay(uint32_t from, uint32_t entry) const
    {
        return m_network.neighbors[from].size() < MAX_WAYS ? 2U << entry : 0;
    }

    static constexpr uint32_t OWN = 1;
    static constexpr std::size_t MAX_WAYS = 31;
    static constexpr uint32_t ALL_WAYS = 0xffffffff;

    const TreeNetwork& m_network;
    RootOrder m_rootOrder;
    StopRule m_rule;
    uint32_t m_nodes;
    SpanningTrees m_result;
    uint32_t m_incomplete;         // number of incomplete trees
    std::vector<uint32_t> m_order; // order of the roots

    std::vector<std::vector<uint32_t>> m_nodesOf;   // per switch
    std::vector<uint32_t> m_allWays;                // per switch, bits of all its ways
    std::vector<uint32_t> m_ownWays;                // per switch, path of no link
    std::vector<std::vector<uint32_t>> m_linkWays;  // per switch and neighbor entry, path of one
    std::vector<uint32_t> m_sizes;                  // per root, number of members
    std::vector<std::vector<Member>> m_members;     // per root, in joining order, until closed
    std::vector<std::vector<bool>> m_isMember;      // whether a node is in a root's tree
    std::vector<std::vector<uint32_t>> m_distances; // between switches; computed lazily

    // State of the current step.
    std::vector<uint32_t> m_inject;            // messages each node may still send
    std::vector<uint32_t> m_eject;             // messages each node may still receive
    uint64_t m_ejectAll{0};                    // messages all nodes may still receive
    std::vector<std::vector<bool>> m_linkUsed; // per switch and neighbor entry
    std::vector<uint32_t> m_free;              // per switch, bits of its ways that are not used
    std::vector<uint32_t> m_parents;           // per root, number of members eligible as parent
    std::vector<uint32_t> m_cursor;            // per root, first member that may still get a child
    std::vector<bool> m_hasClosed;             // per root, whether members have no open way

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
      m_hasClosed(m_nodes, false),
      m_entered(network.neighbors.size(), false)
{
    m_result.trees.resize(m_nodes);
    std::iota(m_order.begin(), m_order.end(), 0);
    std::vector<uint32_t>& ways = m_result.ways;
    for (uint32_t from = 0; from < network.neighbors.size(); from++)
    {
        const auto& list = network.neighbors[from];
        m_linkUsed.emplace_back(list.size(), false);
        m_allWays.push_back(list.size() < MAX_WAYS ? (uint64_t{2} << list.size()) - 1 : ALL_WAYS);
        m_ownWays.push_back(static_cast<uint32_t>(ways.size()));
        ways.insert(ways.end(), {1, from});
        m_linkWays.emplace_back();
        for (uint32_t next : list)
        {
            m_linkWays.back().push_back(static_cast<uint32_t>(ways.size()));
            ways.insert(ways.end(), {2, from, next});
        }
    }
    for (uint32_t node = 0; node < m_nodes; node++)
    {
        m_nodesOf[network.switchOf[node]].push_back(node);
        m_members[node] = {{node, m_allWays[network.switchOf[node]]}};
        m_isMember[node][node] = true;
        m_result.trees[node].reserve(m_nodes - 1);
    }
}

void
Construction::StartStep()
{
    m_inject = m_network.ports;
    m_eject = m_network.ports;
    m_ejectAll = std::accumulate(m_eject.begin(), m_eject.end(), uint64_t{0});
    m_free = m_allWays;
    for (auto& used : m_linkUsed)
    {
        std::fill(used.begin(), used.end(), false);
    }
    m_parents.clear();
    for (uint32_t root = 0; root < m_nodes; root++)
    {
        auto& members = m_members[root];
        if (m_hasClosed[root])
        {
            const auto isClosed = [](const Member& member) { return member.open == 0; };
            members.erase(std::remove_if(members.begin(), members.end(), isClosed), members.end());
            m_hasClosed[root] = false;
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
        distances.assign(m_network.neighbors.size(), NO_NODE);
        distances[from] = 0;
        std::vector<uint32_t> queue{from};
        for (std::size_t i = 0; i < queue.size(); i++)
        {
            for (uint32_t next : m_network.neighbors[queue[i]])
            {
                if (distances[next] == NO_NODE)
                {
                    distances[next] = distances[queue[i]] + 1;
                    queue.push_back(next);
                }
            }
        }
    }
    return distances;
}

Construction::Found
Construction::FindOn(uint32_t node, uint32_t root) const
{
    bool isComplete = true;
    for (uint32_t child : m_nodesOf[node])
    {
        if (!m_isMember[root][child])
        {
            if (m_eject[child] > 0)
            {
                return {child, false};
            }
            isComplete = false;
        }
    }
    return {NO_NODE, isComplete};
}

/** @param open ways of the start of the search; those that lead to members only are removed */
uint32_t
Construction::Walk(uint32_t from, uint32_t root, uint32_t distance, uint32_t& open)
{
    const auto& list = m_network.neighbors[from];
    for (uint32_t entry = 0; entry < list.size(); entry++)
    {
        const uint32_t next = list[entry];
        const uint32_t way = distance == 1 ? GetWay(from, entry) : 0;
        if ((way & ~(open & m_free[from])) > 0 || m_linkUsed[from][entry])
        {
            continue;
        }
        uint32_t child = NO_NODE;
        if (!m_nodesOf[next].empty())
        {
            const Found found = FindOn(next, root);
            child = found.child;
            open &= found.isComplete ? ~way : ALL_WAYS;
            // Paths must be shortest paths.
            if (child != NO_NODE && distance > 1 && GetDistances(m_start)[next] != distance)
            {
                child = NO_NODE;
            }
        }
        else if (!m_entered[next] && GetDistances(m_start)[next] == distance)
        {
            m_entered[next] = true;
            m_visited.push_back(next);
            child = Walk(next, root, distance + 1, open);
        }
        if (child != NO_NODE)
        {
            m_wayUsed.emplace_back(from, entry);
            return child;
        }
    }
    return NO_NODE;
}

/** @return the first node that the parent can reach; NO_NODE: none */
uint32_t
Construction::FindChild(uint32_t root, Member& parent)
{
    m_wayUsed.clear();
    m_start = m_network.switchOf[parent.node];
    if ((parent.open & OWN) > 0)
    {
        const Found found = FindOn(m_start, root);
        if (found.child != NO_NODE)
        {
            return found.child;
        }
        const bool isWide = m_allWays[m_start] == ALL_WAYS;
        parent.open &= found.isComplete && !isWide ? ~OWN : ALL_WAYS;
    }
    for (uint32_t visited : m_visited)
    {
        m_entered[visited] = false;
    }
    m_visited.clear();
    return Walk(m_start, root, 1, parent.open);
}

void
Construction::AddEdge(uint32_t root, uint32_t parent, uint32_t child)
{
    TreeEdge edge{child, parent, m_result.steps, m_ownWays[m_start]};
    if (m_wayUsed.size() == 1)
    {
        edge.way = m_linkWays[m_start][m_wayUsed.front().second];
    }
    else if (m_wayUsed.size() > 1)
    {
        edge.way = static_cast<uint32_t>(m_result.ways.size());
        m_result.ways.insert(m_result.ways.end(),
                             {static_cast<uint32_t>(m_wayUsed.size() + 1), m_start});
        for (auto used = m_wayUsed.rbegin(); used != m_wayUsed.rend(); ++used)
        {
            m_result.ways.push_back(m_network.neighbors[used->first][used->second]);
        }
    }
    for (const auto& [from, entry] : m_wayUsed)
    {
        m_linkUsed[from][entry] = true;
        m_free[from] &= ~GetWay(from, entry);
    }
    m_inject[parent]--;
    m_eject[child]--;
    m_ejectAll--;
    m_members[root].push_back({child, m_allWays[m_network.switchOf[child]]});
    m_isMember[root][child] = true;
    m_result.trees[root].push_back(edge);
    m_incomplete -= ++m_sizes[root] == m_nodes;
}

bool
Construction::TakeTurn(uint32_t root)
{
    auto& members = m_members[root];
    // An edge that is impossible now stays impossible until the end of the step.
    for (uint32_t& i = m_cursor[root]; i < m_parents[root] && m_ejectAll > 0; i++)
    {
        Member& parent = members[i];
        const uint32_t node = parent.node;
        if (m_inject[node] == 0 || (parent.open & m_free[m_network.switchOf[node]]) == 0)
        {
            continue;
        }
        const uint32_t child = FindChild(root, parent);
        if (child != NO_NODE)
        {
            AddEdge(root, node, child);
            return true;
        }
        m_hasClosed[root] = m_hasClosed[root] || parent.open == 0;
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
        text += root > 0 ? ";" : "";
        text += std::to_string(root) + ":";
        for (std::size_t i = 0; i < trees[root].size(); i++)
        {
            const TreeEdge& edge = trees[root][i];
            text += i > 0 ? "," : "";
            text += std::to_string(edge.child) + "<" + std::to_string(edge.parent) + "@" +
                    std::to_string(edge.step);
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
