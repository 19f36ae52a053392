/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "network-cuts.h"

#include "ns3/log.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace ns3::training
{

NS_LOG_COMPONENT_DEFINE("TrainingNetworkCuts");

namespace
{

/** A maximum flow (Dinic, 1970) between two vertices of an undirected graph. */
class MaximumFlow
{
  public:
    explicit MaximumFlow(uint32_t vertices)
        : m_edges(vertices)
    {
    }

    void AddEdge(uint32_t a, uint32_t b, double capacity)
    {
        m_edges[a].push_back({b, static_cast<uint32_t>(m_edges[b].size()), capacity});
        m_edges[b].push_back({a, static_cast<uint32_t>(m_edges[a].size() - 1), capacity});
    }

    double Find(uint32_t source, uint32_t sink)
    {
        double flow = 0;
        while (Layer(source, sink))
        {
            m_next.assign(m_edges.size(), 0);
            while (const double more = Push(source, sink, std::numeric_limits<double>::infinity()))
            {
                flow += more;
            }
        }
        return flow;
    }

  private:
    struct Edge
    {
        uint32_t to;
        uint32_t reverse; ///< its index there
        double capacity;  ///< that is left
    };

    /** Finds distances from the source; returns whether the sink can be reached. */
    bool Layer(uint32_t source, uint32_t sink)
    {
        m_distances.assign(m_edges.size(), 0);
        m_distances[source] = 1;
        std::vector<uint32_t> reached{source};
        for (std::size_t i = 0; i < reached.size(); i++)
        {
            for (const Edge& edge : m_edges[reached[i]])
            {
                if (edge.capacity > 0 && m_distances[edge.to] == 0)
                {
                    m_distances[edge.to] = m_distances[reached[i]] + 1;
                    reached.push_back(edge.to);
                }
            }
        }
        return m_distances[sink] > 0;
    }

    /** Adds a flow along one shortest path; returns how much. */
    double Push(uint32_t vertex, uint32_t sink, double most)
    {
        if (vertex == sink)
        {
            return most;
        }
        for (uint32_t& at = m_next[vertex]; at < m_edges[vertex].size(); at++)
        {
            Edge& edge = m_edges[vertex][at];
            if (edge.capacity > 0 && m_distances[edge.to] == m_distances[vertex] + 1)
            {
                if (const double flow = Push(edge.to, sink, std::min(most, edge.capacity)))
                {
                    edge.capacity -= flow;
                    m_edges[edge.to][edge.reverse].capacity += flow;
                    return flow;
                }
            }
        }
        return 0;
    }

    std::vector<std::vector<Edge>> m_edges;
    std::vector<uint32_t> m_distances; // 0: not reached
    std::vector<uint32_t> m_next;      // edge to go on with
};

/** Says whether a rank is in the one part. */
using Division = std::function<bool(uint32_t)>;

/** @return what can flow from the one part to the other, bit/s */
double
GetFlow(const TopologyGraph& topology, uint32_t ranks, const Division& isInside)
{
    // Switches, then the two parts; hosts forward nothing, so that a rank's links are its part's.
    const uint32_t source = topology.switches;
    const uint32_t sink = source + 1;
    const auto vertex = [&](uint32_t node) {
        return node >= topology.hosts ? node - topology.hosts : isInside(node) ? source : sink;
    };
    std::map<std::pair<uint32_t, uint32_t>, double> rates;
    for (const auto& link : topology.links)
    {
        const auto isIdle = [&](uint32_t node) { return node >= ranks && node < topology.hosts; };
        if (!isIdle(link.a) && !isIdle(link.b))
        {
            const uint32_t a = vertex(link.a);
            const uint32_t b = vertex(link.b);
            rates[{std::min(a, b), std::max(a, b)}] += static_cast<double>(link.rate.GetBitRate());
        }
    }
    MaximumFlow flow(topology.switches + 2);
    for (const auto& [ends, rate] : rates)
    {
        if (ends.first != ends.second)
        {
            flow.AddEdge(ends.first, ends.second, rate);
        }
    }
    return flow.Find(source, sink);
}

} // namespace

std::vector<NetworkCut>
FindSwitchCuts(const TopologyGraph& topology, uint32_t ranks)
{
    const auto getRate = [](const auto& link) {
        return static_cast<double>(link.rate.GetBitRate());
    };
    std::vector<double> host(topology.hosts, 0); // rate of a host's links
    for (const auto& link : topology.links)
    {
        for (uint32_t node : {link.a, link.b})
        {
            if (node < topology.hosts)
            {
                host[node] += getRate(link);
            }
        }
    }
    // What leaves a switch together with its hosts: the links of all of them but those between.
    std::vector<double> out(topology.GetNodes(), 0);
    std::vector<std::set<uint32_t>> inside(topology.GetNodes());
    for (const auto& link : topology.links)
    {
        for (const auto& [node, other] : {std::pair(link.a, link.b), std::pair(link.b, link.a)})
        {
            if (node >= topology.hosts && other < topology.hosts)
            {
                out[node] += (inside[node].insert(other).second ? host[other] : 0) - getRate(link);
            }
            else if (node >= topology.hosts)
            {
                out[node] += getRate(link);
            }
        }
    }
    std::vector<NetworkCut> cuts;
    for (uint32_t node = topology.hosts; node < topology.GetNodes(); node++)
    {
        NetworkCut cut{{inside[node].begin(), inside[node].lower_bound(ranks)}, out[node]};
        if (!cut.inside.empty() && cut.inside.size() < ranks)
        {
            cuts.push_back(std::move(cut));
        }
    }
    return cuts;
}

std::vector<NetworkCut>
FindHalves(const TopologyGraph& topology, uint32_t ranks)
{
    const TopologyShape& shape = topology.shape;
    std::vector<Division> divisions{[ranks](uint32_t rank) { return rank < ranks / 2; }};
    const uint32_t size = shape.groupSize;
    if (size > 1)
    {
        divisions.emplace_back([size](uint32_t rank) { return rank % size < size / 2; });
        divisions.emplace_back([size](uint32_t rank) { return rank / size % 2 == 0; });
    }
    uint32_t stride = 1;
    for (auto side = shape.sides.rbegin(); side != shape.sides.rend(); ++side)
    {
        divisions.emplace_back([stride, length = *side](uint32_t rank) {
            return rank / stride % length < length / 2;
        });
        stride *= *side;
    }
    std::vector<NetworkCut> cuts;
    for (const Division& isInside : divisions)
    {
        NetworkCut cut{{}, 0};
        for (uint32_t rank = 0; rank < ranks; rank++)
        {
            if (isInside(rank))
            {
                cut.inside.push_back(rank);
            }
        }
        if (!cut.inside.empty() && cut.inside.size() < ranks)
        {
            cut.rate = GetFlow(topology, ranks, isInside);
            cuts.push_back(std::move(cut));
        }
    }
    return cuts;
}

} // namespace ns3::training
