/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "topology-graph.h"

#include "ns3/log.h"

#include <algorithm>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <boost/graph/filtered_graph.hpp>
#include <limits>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingTopologyGraph");

namespace
{

constexpr uint32_t UNREACHED = std::numeric_limits<uint32_t>::max();

/** A direction of a link. */
struct Arc
{
    int64_t delay; ///< propagation, time steps
    uint32_t link; ///< index
};

using Graph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, Arc>;

/** Leaves out unusable links, and what a host would have to forward: arcs out of other hosts. */
struct Forwards
{
    const Graph* graph{nullptr};
    uint32_t hosts{0};
    uint32_t root{0};
    const ShortestPaths::LinkFilter* usable{nullptr}; ///< null: all

    bool operator()(const Graph::edge_descriptor& arc) const
    {
        const auto from = boost::source(arc, *graph);
        return (from >= hosts || from == root) && (!usable || (*usable)((*graph)[arc].link));
    }
};

using View = boost::filtered_graph<Graph, Forwards>;

} // namespace

/** Both directions of all links, searched from one node at a time. */
class ShortestPaths::Search
{
  public:
    explicit Search(const TopologyGraph& topology)
        : m_hosts(topology.hosts)
    {
        std::vector<std::pair<uint32_t, uint32_t>> ends;
        std::vector<Arc> arcs;
        for (uint32_t i = 0; i < topology.links.size(); i++)
        {
            const auto& link = topology.links[i];
            ends.emplace_back(link.a, link.b);
            ends.emplace_back(link.b, link.a);
            arcs.insert(arcs.end(), 2, {link.delay.GetTimeStep(), i});
        }
        m_graph = Graph(boost::edges_are_unsorted_multi_pass,
                        ends.begin(),
                        ends.end(),
                        arcs.begin(),
                        topology.GetNodes());
    }

    /** @return links from each node to the root over usable ones (null: all) */
    std::vector<uint32_t> GetHops(uint32_t root, const LinkFilter* usable) const
    {
        std::vector<uint32_t> hops(boost::num_vertices(m_graph), UNREACHED);
        hops[root] = 0;
        boost::breadth_first_search(
            View(m_graph, Forwards{&m_graph, m_hosts, root, usable}),
            root,
            boost::visitor(boost::make_bfs_visitor(
                boost::record_distances(hops.data(), boost::on_tree_edge()))));
        return hops;
    }

    /** @return least propagation delay from each node to the root, time steps */
    std::vector<int64_t> GetDelays(uint32_t root) const
    {
        std::vector<int64_t> delays(boost::num_vertices(m_graph));
        boost::dijkstra_shortest_paths(View(m_graph, Forwards{&m_graph, m_hosts, root, nullptr}),
                                       root,
                                       boost::weight_map(boost::get(&Arc::delay, m_graph))
                                           .distance_map(boost::make_iterator_property_map(
                                               delays.begin(),
                                               boost::get(boost::vertex_index, m_graph))));
        return delays;
    }

  private:
    uint32_t m_hosts;
    Graph m_graph;
};

ShortestPaths::ShortestPaths(const TopologyGraph& topology)
    : m_topology(topology),
      m_search(std::make_unique<Search>(topology))
{
}

ShortestPaths::~ShortestPaths() = default;

ShortestPaths::NextLinks
ShortestPaths::GetRoutes(uint32_t destination, const LinkFilter& usable) const
{
    const std::vector<uint32_t> hops = m_search->GetHops(destination, &usable);
    const auto& links = m_topology.links;
    NextLinks next(m_topology.GetNodes());
    for (uint32_t i = 0; i < links.size(); i++)
    {
        if (!usable(i))
        {
            continue;
        }
        for (const auto& [from, to] :
             {std::pair(links[i].a, links[i].b), std::pair(links[i].b, links[i].a)})
        {
            const bool forwards = to >= m_topology.hosts || to == destination;
            if (forwards && hops[to] != UNREACHED && hops[from] == hops[to] + 1)
            {
                next[from].push_back(i);
            }
        }
    }
    return next;
}

Time
ShortestPaths::GetDiameter(uint32_t ranks) const
{
    int64_t longest = 0;
    for (uint32_t root = 0; root < ranks; root++)
    {
        const std::vector<int64_t> delays = m_search->GetDelays(root);
        longest = std::max(longest, *std::max_element(delays.begin(), delays.begin() + ranks));
    }
    return TimeStep(longest);
}

uint32_t
ShortestPaths::GetLongestPath(uint32_t ranks) const
{
    uint32_t longest = 0;
    for (uint32_t root = 0; root < ranks; root++)
    {
        const std::vector<uint32_t> hops = m_search->GetHops(root, nullptr);
        longest = std::max(longest, *std::max_element(hops.begin(), hops.begin() + ranks));
    }
    return longest;
}

} // namespace ns3::training
