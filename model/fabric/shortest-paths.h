/*
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
 * Routes through a topology: paths of least cost, of which on a grid those in dimension order are
 * left, and of two equally long ways around that of rising ids. Hosts forward nothing.
 *
 * The topology is searched from one destination at a time; what a search finds is valid until the
 * next one.
 */
class ShortestPaths
{
  public:
    /** @param topology to be looked at; must outlive this */
    explicit ShortestPaths(const TopologyGraph& topology);

    /// Says whether a path may use a link (index into TopologyGraph::links).
    using LinkFilter = std::function<bool(uint32_t)>;

    /** A path between two nodes: the widest of the routes, of these the one of least delay. */
    struct Path
    {
        uint32_t links{0};                                   ///< number of links
        uint64_t rate{std::numeric_limits<uint64_t>::max()}; ///< of its slowest link, bit/s
        Time delay;                                          ///< propagation, all links
        double secondsPerBit{0};                             ///< all links together
    };

    /**
     * Finds the routes to one node from all others.
     * @param destination node
     * @param usable links that paths may use; null: all
     */
    void Search(uint32_t destination, const LinkFilter& usable = nullptr);

    /**
     * @param node of the topology
     * @return whether the last search has found a way from it
     */
    bool IsReached(uint32_t node) const
    {
        return m_costs[node] != UNREACHED;
    }

    /**
     * @param node that has been reached
     * @return cost of the routes from it
     */
    uint32_t GetCost(uint32_t node) const
    {
        return m_costs[node];
    }

    /**
     * @param node of the topology
     * @param next to be filled with the links of the routes from it, in ascending order
     */
    void GetNextLinks(uint32_t node, std::vector<uint32_t>& next) const;

    /** @return for each node that has been reached, its path to the destination */
    std::vector<Path> GetPaths() const;

    /**
     * The farthest pair among the first hosts, by propagation delay on the fastest way there is,
     * route or not.
     * @param ranks number of hosts looked at
     * @param ranksForward whether these hosts may be on the way, as those are that pass messages on
     * @return propagation delay between them
     */
    Time GetDiameter(uint32_t ranks, bool ranksForward = false) const;

    /**
     * @param ranks number of hosts looked at
     * @return of the paths between two of the first hosts, the highest of each field; zeros for one
     */
    Path GetLongestPath(uint32_t ranks);

    /**
     * Hosts with links of the same rate and delay to the same switches are the same distance from
     * all others.
     * @param ranks number of hosts looked at
     * @return of each set of such hosts the first
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
