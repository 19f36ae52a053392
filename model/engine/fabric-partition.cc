/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "engine/fabric-partition.h"

#include "ns3/training-configuration-error.h"

#include <algorithm>
#include <numeric>
#include <queue>

namespace ns3::training
{

namespace
{

constexpr uint32_t NOWHERE = UINT32_MAX;

/** A node at the other end of a link. */
struct Neighbour
{
    uint32_t node;
    uint64_t rate; ///< of the link, bit/s
};

using Neighbours = std::vector<std::vector<Neighbour>>; ///< by node

/** Greedy partitioner: assigns nodes one by one to the process that most of their links lead to. */
class Division
{
  public:
    Division(const Neighbours& neighbours, uint32_t processes)
        : m_processOf(neighbours.size(), NOWHERE),
          m_load(processes, 0),
          m_neighbours(neighbours)
    {
    }

    void Put(uint32_t node, uint32_t process)
    {
        m_processOf[node] = process;
        for (const auto& neighbour : m_neighbours[node])
        {
            m_load[process] += neighbour.rate;
        }
    }

    /** Assigns all remaining nodes, neighbors of assigned nodes first. */
    void AssignRest()
    {
        std::queue<uint32_t> reached;
        std::vector<bool> seen(m_processOf.size());
        for (uint32_t node = 0; node < m_processOf.size(); node++)
        {
            if (m_processOf[node] != NOWHERE)
            {
                reached.push(node);
                seen[node] = true;
            }
        }
        for (; !reached.empty(); reached.pop())
        {
            const uint32_t node = reached.front();
            if (m_processOf[node] == NOWHERE)
            {
                Put(node, Choose(node));
            }
            for (const auto& neighbour : m_neighbours[node])
            {
                if (!seen[neighbour.node])
                {
                    seen[neighbour.node] = true;
                    reached.push(neighbour.node);
                }
            }
        }
    }

    const std::vector<uint32_t>& Get() const
    {
        return m_processOf;
    }

  private:
    uint32_t Choose(uint32_t node) const
    {
        std::vector<uint64_t> rates(m_load.size(), 0);
        for (const auto& neighbour : m_neighbours[node])
        {
            if (m_processOf[neighbour.node] != NOWHERE)
            {
                rates[m_processOf[neighbour.node]] += neighbour.rate;
            }
        }
        uint32_t best = 0;
        for (uint32_t process = 1; process < rates.size(); process++)
        {
            if (rates[process] > rates[best] ||
                (rates[process] == rates[best] && m_load[process] < m_load[best]))
            {
                best = process;
            }
        }
        return best;
    }

    std::vector<uint32_t> m_processOf;
    std::vector<uint64_t> m_load; // total link rate per process, bit/s
    const Neighbours& m_neighbours;
};

/**
 * Orders of leaves whose consecutive parts are candidates: the given one, which comes first, and
 * all that sort by one digit of the position. On a grid such a digit is a coordinate, on a
 * bipartite network the layer.
 */
std::vector<std::vector<uint32_t>>
MakeOrders(const std::vector<uint32_t>& leaves)
{
    std::vector<std::vector<uint32_t>> orders{leaves};
    const uint64_t count = leaves.size();
    for (uint64_t low = 1; low < count; low++)
    {
        for (uint64_t radix = 2; count % low == 0 && low * radix < count; radix++)
        {
            if (count / low % radix == 0)
            {
                auto& order = orders.emplace_back();
                for (uint64_t digit = 0; digit < radix; digit++)
                {
                    for (uint64_t i = 0; i < count; i++)
                    {
                        if (i / low % radix == digit)
                        {
                            order.push_back(leaves[i]);
                        }
                    }
                }
            }
        }
    }
    return orders;
}

/** @return the rate of all links between two processes, bit/s */
uint64_t
GetCut(const TopologyGraph& topology, const std::vector<uint32_t>& processOf)
{
    uint64_t cut = 0;
    for (const auto& link : topology.links)
    {
        cut += processOf[link.a] != processOf[link.b] ? link.rate.GetBitRate() : 0;
    }
    return cut;
}

} // namespace

std::vector<uint32_t>
PartitionBySwitch(const TopologyGraph& topology, uint32_t ranks, uint32_t processes)
{
    std::vector<uint32_t> leafOf(topology.hosts, NOWHERE);
    for (const auto& link : topology.links)
    {
        if (std::min(link.a, link.b) < topology.hosts)
        {
            uint32_t& leaf = leafOf[std::min(link.a, link.b)];
            leaf = std::min(leaf, std::max(link.a, link.b));
        }
    }
    std::vector<uint32_t> leaves;
    for (uint32_t rank = 0; rank < ranks; rank++)
    {
        if (std::find(leaves.rbegin(), leaves.rend(), leafOf[rank]) == leaves.rend())
        {
            leaves.push_back(leafOf[rank]);
        }
    }
    if (processes > leaves.size())
    {
        throw ConfigurationError(std::to_string(processes) + " processes with topology '" +
                                 topology.name + "' (allowed: 1 to " +
                                 std::to_string(leaves.size()) +
                                 ", the number of switches that have ranks)");
    }
    Neighbours neighbours(topology.GetNodes());
    for (const auto& link : topology.links)
    {
        neighbours[link.a].push_back({link.b, link.rate.GetBitRate()});
        neighbours[link.b].push_back({link.a, link.rate.GetBitRate()});
    }
    std::vector<uint32_t> best;
    uint64_t least = UINT64_MAX;
    for (const auto& order : MakeOrders(leaves))
    {
        Division division(neighbours, processes);
        for (uint64_t i = 0; i < order.size(); i++)
        {
            division.Put(order[i], static_cast<uint32_t>(i * processes / order.size()));
        }
        for (uint32_t host = 0; host < topology.hosts; host++)
        {
            const uint32_t process = division.Get()[leafOf[host]];
            if (process != NOWHERE)
            {
                division.Put(host, process);
            }
        }
        division.AssignRest();
        const uint64_t cut = GetCut(topology, division.Get());
        if (cut < least)
        {
            least = cut;
            best = division.Get();
        }
    }
    return best;
}

} // namespace ns3::training
