/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef DISTRIBUTED_TRAINING_TOPOLOGY_GRAPH_H
#define DISTRIBUTED_TRAINING_TOPOLOGY_GRAPH_H

#include "ns3/data-rate.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ns3::training
{

/**
 * @ingroup distributed-training-fabric
 *
 * Which hosts and switches there are and what links join them: data, from which a fabric is built
 * and routed. Nodes are numbered from 0, all hosts before all switches; host h is endpoint h.
 */
struct TopologyGraph
{
    /** A full-duplex link. */
    struct Link
    {
        uint32_t a;    ///< node at one end
        uint32_t b;    ///< node at the other end
        DataRate rate; ///< of each direction
        Time delay;    ///< propagation
    };

    std::string name;        ///< as the user wrote it
    uint32_t hosts{0};       ///< number of hosts
    uint32_t switches{0};    ///< number of switches
    std::vector<Link> links; ///< all links; parallel ones allowed

    /** @return number of nodes */
    uint32_t GetNodes() const
    {
        return hosts + switches;
    }
};

/**
 * @ingroup distributed-training-fabric
 * Distances in a topology and shortest paths through it. Hosts forward nothing.
 */
class ShortestPaths
{
  public:
    /// For each node, the equally good links (index into TopologyGraph::links) to one destination.
    using NextLinks = std::vector<std::vector<uint32_t>>;

    /** @param topology to be looked at; must outlive this */
    explicit ShortestPaths(const TopologyGraph& topology);
    ~ShortestPaths();

    /// Says whether a path may use a link (index into TopologyGraph::links).
    using LinkFilter = std::function<bool(uint32_t)>;

    /**
     * Shortest paths by hop count to one node.
     * @param destination node
     * @param usable links that paths may use
     * @return per node, the links that lead one hop closer, in ascending order
     */
    NextLinks GetRoutes(uint32_t destination, const LinkFilter& usable) const;

    /**
     * The farthest pair among the first hosts, by propagation delay.
     * @param ranks number of hosts looked at
     * @return propagation delay between them
     */
    Time GetDiameter(uint32_t ranks) const;

    /**
     * @param ranks number of hosts looked at
     * @return most links on a shortest path between two of the first hosts
     */
    uint32_t GetLongestPath(uint32_t ranks) const;

  private:
    class Search;
    const TopologyGraph& m_topology;
    std::unique_ptr<Search> m_search;
};

} // namespace ns3::training

#endif // DISTRIBUTED_TRAINING_TOPOLOGY_GRAPH_H
