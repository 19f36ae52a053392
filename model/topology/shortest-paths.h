/*
 * Copyright (c) 2026 The distributed-training authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_SHORTEST_PATHS_H
#define DISTRIBUTED_TRAINING_SHORTEST_PATHS_H

#include "topology-graph.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * Routes through a topology: the paths of least cost. On a grid only those in dimension order
 * remain, and of two equally long ways around a ring the one of rising ids. Hosts do not forward.
 *
 * A search finds the routes to one destination; they are valid until the next search.
 */
class ShortestPaths
{
  public:
    /** @param topology to be searched; must outlive this */
    explicit ShortestPaths(const TopologyGraph& topology);

    /// Returns whether a path may use a link (index into TopologyGraph::links).
    using LinkFilter = std::function<bool(uint32_t)>;

    /** The best route between two nodes: the widest, and of several the one of least delay. */
    struct Path
    {
        uint32_t links{0};                                   ///< number of links
        uint64_t rate{std::numeric_limits<uint64_t>::max()}; ///< rate of its slowest link, bit/s
        Time delay;                                          ///< propagation delay of all links
        double secondsPerBit{0};                             ///< sum over all links
    };

    /**
     * Finds the routes from all nodes to one.
     * @param destination node
     * @param usable links that paths may use; null: all
     */
    void Search(uint32_t destination, const LinkFilter& usable = nullptr);

    /**
     * @param node of the topology
     * @return whether the last search has found a route from it
     */
    bool IsReached(uint32_t node) const
    {
        return m_costs[node] != UNREACHED;
    }

    /**
     * @param node that has been reached
     * @return cost of its routes
     */
    uint32_t GetCost(uint32_t node) const
    {
        return m_costs[node];
    }

    /**
     * @param node of the topology
     * @param next gets the first links of its routes, in ascending order
     */
    void GetNextLinks(uint32_t node, std::vector<uint32_t>& next) const;

    /** @return for each node that has been reached, its path to the destination */
    std::vector<Path> GetPaths() const;

    /**
     * The largest propagation delay between two of the first hosts, on the fastest path, whether it
     * is a route or not.
     * @param ranks number of hosts
     * @param ranksForward whether paths may lead through these hosts, as ranks pass messages on
     * @return propagation delay
     */
    Time GetDiameter(uint32_t ranks, bool ranksForward = false) const;

    /**
     * @param ranks number of hosts
     * @return maximum of each field over the paths between two of the first hosts; zeros for one
     */
    Path GetLongestPath(uint32_t ranks);

    /**
     * Hosts with links of equal rates and delays to the same switches have equal distances to all
     * others.
     * @param ranks number of hosts
     * @return the first host of each set of such hosts
     */
    std::vector<uint32_t> GetDistinctHosts(uint32_t ranks) const;

  private:
    static constexpr uint32_t UNREACHED = std::numeric_limits<uint32_t>::max();

    bool Forwards(uint32_t node) const
    {
        return node >= m_topology.hosts || node == m_destination;
    }

    const TopologyGraph& m_topology;
    // All links of node i: m_links[m_first[i]] to m_links[m_first[i + 1]], in ascending order.
    std::vector<uint32_t> m_first;
    std::vector<uint32_t> m_links;
    uint32_t m_destination{0};
    LinkFilter m_usable;
    std::vector<uint32_t> m_costs;
    std::vector<uint32_t> m_order;                 // nodes reached, by rising cost
    std::vector<std::vector<uint32_t>> m_frontier; // nodes by cost, during a search
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SHORTEST_PATHS_H
