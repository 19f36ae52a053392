/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "topology-graph.h"

#include "ns3/log.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <limits>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingTopologyGraph");

namespace
{

using Graph = boost::adjacency_list<boost::vecS,
                                    boost::vecS,
                                    boost::directedS,
                                    boost::no_property,
                                    boost::property<boost::edge_weight_t, int64_t>>;

constexpr uint32_t UNREACHED = std::numeric_limits<uint32_t>::max();

/**
 * @return the links as arcs against the direction of travel, towards `root` first. Arcs out of a
 *         host are left out except at the root: a host forwards nothing.
 */
Graph
MakeGraph(const TopologyGraph& topology, uint32_t root)
{
    Graph graph(topology.GetNodes());
    for (const auto& link : topology.links)
    {
        for (const auto& [from, to] : {std::pair(link.a, link.b), std::pair(link.b, link.a)})
        {
            if (from >= topology.hosts || from == root)
            {
                boost::add_edge(from, to, link.delay.GetTimeStep(), graph);
            }
        }
    }
    return graph;
}

/** @return links from each node to the root */
std::vector<uint32_t>
GetDistances(const Graph& graph, uint32_t root)
{
    std::vector<uint32_t> distance(boost::num_vertices(graph), UNREACHED);
    distance[root] = 0;
    boost::breadth_first_search(
        graph,
        root,
        boost::visitor(boost::make_bfs_visitor(
            boost::record_distances(distance.data(), boost::on_tree_edge()))));
    return distance;
}

} // namespace

TopologyGraph::NextLinks
TopologyGraph::GetRoutes(uint32_t destination) const
{
    const std::vector<uint32_t> distance = GetDistances(MakeGraph(*this, destination), destination);
    NextLinks next(GetNodes());
    for (uint32_t i = 0; i < links.size(); i++)
    {
        for (const auto& [from, to] :
             {std::pair(links[i].a, links[i].b), std::pair(links[i].b, links[i].a)})
        {
            const bool forwards = to >= hosts || to == destination;
            if (forwards && distance[to] != UNREACHED && distance[from] == distance[to] + 1)
            {
                next[from].push_back(i);
            }
        }
    }
    return next;
}

uint32_t
TopologyGraph::GetLongestPath(uint32_t ranks) const
{
    uint32_t longest = 0;
    for (uint32_t root = 0; root < ranks; root++)
    {
        const std::vector<uint32_t> distance = GetDistances(MakeGraph(*this, root), root);
        longest = std::max(longest, *std::max_element(distance.begin(), distance.begin() + ranks));
    }
    return longest;
}

Time
TopologyGraph::GetDiameter(uint32_t ranks) const
{
    int64_t longest = 0;
    for (uint32_t root = 0; root < ranks; root++)
    {
        const Graph graph = MakeGraph(*this, root);
        std::vector<int64_t> delay(GetNodes());
        boost::dijkstra_shortest_paths(graph, root, boost::distance_map(delay.data()));
        longest = std::max(longest, *std::max_element(delay.begin(), delay.begin() + ranks));
    }
    return TimeStep(longest);
}

} // namespace ns3::training
