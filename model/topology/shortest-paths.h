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
 * Routes through a topology: the paths of least cost. On a grid, routing is in dimension order, and
 * of two equally long ways around a ring only the one with rising ids is used. Hosts do not
 * forward.
 *
 * A search finds the routes to one destination; the result is valid until the next search.
 */
class ShortestPaths
{
  public:
    /** @param topology topology to search; must outlive this */
    explicit ShortestPaths(const TopologyGraph& topology);

    /// Returns whether a path may use a link (index into TopologyGraph::links).
    using LinkFilter = std::function<bool(uint32_t)>;

    /**
     * The best route between two nodes: the route of highest bottleneck rate and, among these, of
     * least delay.
     */
    struct Path
    {
        uint32_t links{0};                                   ///< number of hops
        uint64_t rate{std::numeric_limits<uint64_t>::max()}; ///< rate of its slowest link, bit/s
        Time delay;                                          ///< propagation delay of all links
        double secondsPerBit{0};                             ///< sum of 1 / rate over all links
        uint32_t first{0};                                   ///< its first link, see GetNextLinks()
    };

    /**
     * Finds the routes from all nodes to one.
     * @param destination destination node
     * @param usable filter of the links that paths may use; null: all links
     */
    void Search(uint32_t destination, const LinkFilter& usable = nullptr);

    /**
     * Finds the routes from all switches to one, and no routes from hosts, which takes less time.
     * @param destination destination node, a switch
     * @param usable filter of the links that paths may use; null: all links
     */
    void SearchSwitches(uint32_t destination, const LinkFilter& usable = nullptr);

    /**
     * @param node a node of the topology
     * @return whether the last search found a route from the node
     */
    bool IsReached(uint32_t node) const
    {
        return m_costs[node] != UNREACHED;
    }

    /**
     * @param node a reached node, see IsReached()
     * @return cost of its routes to the destination
     */
    uint32_t GetCost(uint32_t node) const
    {
        return m_costs[node];
    }

    /**
     * @param node a node of the topology
     * @param next receives the next-hop links of the node, in ascending order
     */
    void GetNextLinks(uint32_t node, std::vector<uint32_t>& next) const;

    /** @return for each reached node, its best path to the destination */
    std::vector<Path> GetPaths() const;

    /**
     * Computes the largest propagation delay between any two of the first hosts, on the path of
     * least delay, which need not be a route.
     * @param ranks number of hosts
     * @param ranksForward whether paths may pass through these hosts, as when ranks relay messages
     * @return the propagation delay
     */
    Time GetDiameter(uint32_t ranks, bool ranksForward = false) const;

    /**
     * @param ranks number of hosts
     * @return maximum of each field over the paths between any two of the first hosts; zeros for
     *         one host
     */
    Path GetLongestPath(uint32_t ranks);

    /**
     * Finds classes of equivalent hosts. Hosts with links of equal rates and delays to the same
     * switches have equal distances to all other hosts. In a torus all hosts see the same
     * distances, if all of them have ranks and the links of each dimension are alike.
     * @param ranks number of hosts
     * @return the first host of each class
     */
    std::vector<uint32_t> GetDistinctHosts(uint32_t ranks) const;

  private:
    static constexpr uint32_t UNREACHED = std::numeric_limits<uint32_t>::max();

    /** A link as a node sees it. */
    struct Edge
    {
        uint32_t peer;
        uint32_t link; ///< index of the link
        uint32_t cost;
        uint16_t preference; ///< in a grid: highest dimension first, then up before down; else 0
    };

    /** Links of nodes, in ascending order; those of node i: edges[first[i]] to edges[first[i + 1]].
     */
    struct Adjacency
    {
        std::vector<uint32_t> first;
        std::vector<Edge> edges;
    };

    static Adjacency MakeAdjacency(const TopologyGraph& topology, bool switchesOnly);

    bool Forwards(uint32_t node) const
    {
        return node >= m_topology.hosts || node == m_destination;
    }

    void SearchIn(const Adjacency& adjacency, uint32_t destination, const LinkFilter& usable);
    bool IsTorus() const;
    int64_t GetFarthest(uint32_t root, uint32_t ranks, bool ranksForward) const;

    const TopologyGraph& m_topology;
    Adjacency m_all;
    Adjacency m_switches; // links between switches only
    uint32_t m_destination{0};
    LinkFilter m_usable;
    std::vector<uint32_t> m_costs;
    std::vector<uint32_t> m_order;                 // reached nodes, by rising cost
    std::vector<std::vector<uint32_t>> m_frontier; // nodes by cost, during a search
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_SHORTEST_PATHS_H
